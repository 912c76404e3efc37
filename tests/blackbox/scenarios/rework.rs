//! Going back (core §3.1, §3.2): routes with their reasons, rejections, and the history they leave.

use serde_json::{Value, json};

use crate::harness::{Org, item, refused, scenarios, states};

scenarios! {
    any: [
        a_chosen_route_is_recorded_with_its_reason,
        a_rejection_moves_what_came_after_into_history,
        history_is_oldest_first_and_never_nested,
        a_rejection_without_on_reject_ends_the_run,
        a_rejection_into_a_finish_ends_with_its_outcome,
        a_rejection_into_the_approval_itself_asks_again,
        a_rejection_into_a_later_step_goes_on_there,
        evidence_is_attached_anew_on_rework,
        an_item_of_an_earlier_attempt_is_already_decided,
        held_events_stay_held_through_rework,
        a_rejection_into_a_step_that_never_completed_moves_what_lies_forward,
    ],
}

const LETTER: &str = "
steps:
  - id: draft
    agent: Draft.
    output: { text: string }
    next: [polish, sign]
  - { id: polish, agent: Polish., output: { style: string } }
  - { id: read, task: Read it., person: editor }
  - { id: sign, approve: Sign., person: boss, on_reject: draft, next: end }
  - { id: end, finish: sent }
";

fn to(next: &str) -> Value {
    json!({ "next": next, "reason": format!("{next} is right.") })
}

/// Everything up to the open approval, by way of both steps between.
fn long_way(org: &Org, run: &Value, round: u32) -> Value {
    org.agent.work_on(run, "draft", json!({ "text": format!("draft {round}") }), to("polish"));
    org.agent.work_on(run, "polish", json!({ "style": format!("style {round}") }), json!({}));
    org.staff.decide(run, "read", "completed", json!({ "output": {}, "summary": format!("read {round}") }))
}

fn a_chosen_route_is_recorded_with_its_reason(org: &Org) {
    let run = org.run("letter", LETTER, json!({}));
    let view = org.agent.work_on(&run, "draft", json!({ "text": "t" }), to("sign"));
    assert_eq!(states(&view), "waiting/- draft=done polish=- read=- sign=waiting end=-");
    let entry = &view["data"]["steps"]["draft"];
    assert_eq!((&entry["next"], &entry["reason"]), (&json!("sign"), &json!("sign is right.")));
    assert_eq!(entry["summary"], "Done as asked.");
    assert_eq!(entry["by"], org.agent.subject());
    let polished = org.run("letter", LETTER, json!({}));
    org.agent.work_on(&polished, "draft", json!({ "text": "t" }), to("polish"));
    let view = org.agent.work_on(&polished, "polish", json!({ "style": "s" }), json!({}));
    let entry = view["data"]["steps"]["polish"].as_object().unwrap();
    assert!(!entry.contains_key("next") && !entry.contains_key("reason"), "{entry:?}");
}

fn a_rejection_moves_what_came_after_into_history(org: &Org) {
    let run = org.run("letter", LETTER, json!({}));
    let before = long_way(org, &run, 1);
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Too long." }));
    assert_eq!(states(&view), "active/- draft=ready polish=- read=- sign=- end=-");
    let (was, is) = (&before["data"]["steps"], &view["data"]["steps"]);
    // The returned-to step keeps its last completion until it completes anew.
    assert_eq!(is["draft"], was["draft"]);
    // What came between moved to history and has no current value.
    for step in ["polish", "read"] {
        let mut moved = was[step].clone();
        moved.as_object_mut().unwrap().shift_remove("history");
        assert_eq!(is[step], json!({ "history": [moved] }), "{step}");
    }
    // The rejecting approval keeps its own, so that the returned-to step can read the note.
    let sign = &is["sign"];
    assert_eq!((&sign["decision"], &sign["note"]), (&json!("rejected"), &json!("Too long.")));
    assert_eq!((&sign["by"], &sign["history"]), (&json!(org.staff.subject()), &json!([])));
    let claimed = org.agent.claim(&run, "draft");
    assert_eq!(claimed["data"]["steps"]["sign"]["note"], "Too long.");
    assert_eq!(claimed["handoff"], Value::Null, "rework is a new attempt");
    // Now it completes anew, and only now the first draft is history.
    let view = org.agent.submit(&claimed, json!({ "text": "shorter" }), to("sign")).unwrap();
    let draft = &view["data"]["steps"]["draft"];
    assert_eq!(draft["output"]["text"], "shorter");
    assert_eq!(draft["history"].as_array().unwrap().len(), 1);
    assert_eq!(draft["history"][0]["output"]["text"], "draft 1");
    assert_eq!(draft["history"][0]["next"], "polish");
    assert_eq!(view["data"]["steps"]["sign"]["decision"], "rejected", "current until the approval completes again");
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    let sign = &ended["data"]["steps"]["sign"];
    assert_eq!((&sign["decision"], &sign["history"][0]["decision"]), (&json!("approved"), &json!("rejected")));
    assert_eq!(sign["history"][0]["note"], "Too long.");
    assert!(sign.get("note").is_none());
    assert_eq!(ended["data"]["steps"]["polish"]["history"].as_array().unwrap().len(), 1, "skipped this time");
    assert_eq!(states(&ended), "ended/sent draft=done polish=- read=- sign=done end=done");
}

fn history_is_oldest_first_and_never_nested(org: &Org) {
    let run = org.run("letter", LETTER, json!({}));
    for round in 1..=3 {
        long_way(org, &run, round);
        org.staff.decide(&run, "sign", "rejected", json!({ "note": format!("no {round}") }));
    }
    let view = long_way(org, &run, 4);
    let texts = |step: &str, field: &str| -> Vec<String> {
        let history = view["data"]["steps"][step]["history"].as_array().unwrap().iter();
        history.map(|h| h.pointer(field).unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts("draft", "/output/text"), ["draft 1", "draft 2", "draft 3"]);
    assert_eq!(texts("polish", "/output/style"), ["style 1", "style 2", "style 3"]);
    assert_eq!(texts("read", "/summary"), ["read 1", "read 2", "read 3"]);
    assert_eq!(texts("sign", "/note"), ["no 1", "no 2"], "the third is still current");
    assert_eq!(view["data"]["steps"]["sign"]["note"], "no 3");
}

fn a_rejection_without_on_reject_ends_the_run(org: &Org) {
    let rest = "steps:\n  - { id: sign, approve: Sign., person: boss }\n  - { id: end, finish: signed }";
    let run = org.run("once", rest, json!({}));
    let ended = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Never." }));
    assert_eq!(states(&ended), "ended/rejected sign=done end=-");
    let how = &ended["run"]["ended"];
    assert_eq!((&how["by"], &how["note"]), (&json!(org.staff.subject()), &json!("Never.")));
    assert_eq!(ended["data"]["steps"]["sign"]["decision"], "rejected");
}

fn a_rejection_into_a_finish_ends_with_its_outcome(org: &Org) {
    let rest = "
steps:
  - { id: sign, approve: Sign., person: boss, on_reject: declined, next: agreed }
  - { id: declined, finish: turned down }
  - { id: agreed, finish: signed }
";
    let run = org.run("either", rest, json!({}));
    let ended = org.staff.decide(&run, "sign", "rejected", json!({ "note": "No." }));
    assert_eq!(states(&ended), "ended/turned down sign=done declined=done agreed=-");
    let how = &ended["run"]["ended"];
    assert_eq!((&how["by"], &how["note"]), (&json!("server"), &Value::Null));
    assert_eq!(ended["data"]["steps"]["sign"]["note"], "No.");
}

fn a_rejection_into_the_approval_itself_asks_again(org: &Org) {
    let rest =
        "steps:\n  - { id: sign, approve: Sign., person: boss, on_reject: sign }\n  - { id: end, finish: signed }";
    let run = org.run("again", rest, json!({}));
    let first = item(&run, "sign")["id"].clone();
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Not today." }));
    assert_eq!(states(&view), "waiting/- sign=waiting end=-");
    assert_ne!(item(&view, "sign")["id"], first, "each attempt has an item of its own");
    assert_eq!(view["data"]["steps"]["sign"]["note"], "Not today.");
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(ended["data"]["steps"]["sign"]["history"][0]["note"], "Not today.");
}

fn a_rejection_into_a_later_step_goes_on_there(org: &Org) {
    let rest = "
steps:
  - { id: sign, approve: Sign., person: boss, on_reject: mend, next: end }
  - { id: mend, agent: Mend., next: end }
  - { id: end, finish: over }
";
    let run = org.run("forward", rest, json!({}));
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Mend it." }));
    assert_eq!(states(&view), "active/- sign=- mend=ready end=-");
    assert_eq!(view["data"]["steps"]["sign"]["note"], "Mend it.");
    let ended = org.agent.work_on(&run, "mend", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
}

fn evidence_is_attached_anew_on_rework(org: &Org) {
    let rest = "
steps:
  - { id: scan, agent: Scan., evidence: [file] }
  - { id: sign, approve: Sign., person: boss, on_reject: scan }
  - { id: end, finish: over }
";
    let run = org.run("scans", rest, json!({}));
    let file = org.agent.upload("scan.txt", b"a scan");
    let evidence = json!({ "evidence": [{ "kind": "file", "ref": file["id"] }] });
    org.agent.work_on(&run, "scan", json!({}), evidence.clone());
    org.staff.decide(&run, "sign", "rejected", json!({ "note": "Blurred." }));
    let claimed = org.agent.claim(&run, "scan");
    refused(org.agent.submit(&claimed, json!({}), json!({})), "not_accepted", &["evidence: file required"]);
    let view = org.agent.submit(&claimed, json!({}), evidence).unwrap();
    let scan = &view["data"]["steps"]["scan"];
    for item in [&scan["evidence"][0], &scan["history"][0]["evidence"][0]] {
        assert_eq!(item["ref"], file["id"]);
        assert_eq!(item["sha256"], file["sha256"]);
        assert!(item["url"].as_str().unwrap().starts_with("http"), "history has links too");
    }
}

fn an_item_of_an_earlier_attempt_is_already_decided(org: &Org) {
    let rest = "
steps:
  - { id: fill, task: Fill in., person: clerk }
  - { id: sign, approve: Sign., person: boss, on_reject: fill }
  - { id: end, finish: over }
";
    let run = org.run("forms", rest, json!({}));
    let old = item(&run, "fill").clone();
    org.staff.decide(&run, "fill", "completed", json!({}));
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    assert_ne!(item(&view, "fill")["id"], old["id"]);
    let mut call = item(&view, "fill")["decide"]["arguments"].clone();
    call.as_object_mut().unwrap().shift_remove("requestId");
    call["workItemId"] = old["id"].clone();
    call["decision"] = json!("completed");
    refused(org.staff.call("decide", call), "conflict", &["already_decided"]);
}

fn held_events_stay_held_through_rework(org: &Org) {
    let rest = "
steps:
  - { id: work, agent: Work. }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: heard, wait_for: signal }
  - { id: end, finish: over }
";
    let run = org.run("holding", rest, json!({}));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let event = json!({ "runId": run["run"]["id"], "name": "signal", "data": { "n": 1 } });
    assert_eq!(org.agent.ok("send_event", event)["consumedBy"], Value::Null);
    org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
    assert_eq!(ended["data"]["steps"]["heard"]["output"], json!({ "n": 1 }));
}

fn a_rejection_into_a_step_that_never_completed_moves_what_lies_forward(org: &Org) {
    let rest = "
steps:
  - { id: plan, agent: Plan., next: [extra, build] }
  - { id: extra, agent: Extra., next: build }
  - { id: build, agent: Build., next: sign }
  - { id: sign, approve: Sign., person: boss, on_reject: extra }
  - { id: end, finish: over }
";
    let run = org.run("detour", rest, json!({}));
    org.agent.work_on(&run, "plan", json!({}), to("build"));
    org.agent.work_on(&run, "build", json!({}), json!({}));
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Not without the extra." }));
    assert_eq!(states(&view), "active/- plan=done extra=ready build=- sign=- end=-");
    assert!(view["data"]["steps"].get("extra").is_none(), "never completed, nothing to show");
    assert!(view["data"]["steps"]["plan"].get("by").is_some(), "what lies before stays");
    let build = view["data"]["steps"]["build"].as_object().unwrap();
    assert_eq!(build.keys().collect::<Vec<_>>(), ["history"]);
    org.agent.work_on(&run, "extra", json!({}), json!({}));
    org.agent.work_on(&run, "build", json!({}), json!({}));
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(states(&ended), "ended/over plan=done extra=done build=done sign=done end=done");
}
