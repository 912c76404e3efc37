//! What a person may make of a submission that a check was unsure of (profile check-1): adopt it whole, or none of it.

use serde_json::{Value, json};

use super::check_escalations::{FILE, REPORT, completing, held, unsure, work, work_as, writing};
use super::evidence::alter;
use crate::harness::{
    Options, Org, Script, Server, anonymous, item, refused, refused_as, scenarios, state, states, without_urls,
};

scenarios! {
    checked: [
        the_candidate_opens_wherever_it_is_shown,
        a_large_candidate_is_shown_whole,
        completed_without_output_adopts_the_whole_candidate,
        completed_with_output_uses_nothing_of_the_candidate,
        half_a_submission_is_neither,
        nothing_to_adopt_without_a_candidate,
        a_person_is_checked_on_a_task_and_never_on_an_escalation,
        a_verdict_that_waits_is_shown_though_the_step_completed_before,
        a_verdict_that_waits_stands_beside_history_alone,
    ],
    own: [a_candidate_whose_file_was_altered_is_not_adopted],
}

fn the_candidate_opens_wherever_it_is_shown(org: &Org) {
    let (_, view) = held(org, &unsure());
    let mut shown = vec![item(&view, "report").clone()];
    shown.extend([&org.operator, &org.agent].map(|client| item(&client.view(&view), "report").clone()));
    let listed = org.operator.work_of(&view);
    assert_eq!(listed.len(), 1);
    shown.push(listed[0]["workItem"].clone());
    for work in &shown {
        let file = &work["escalation"]["candidate"]["evidence"][0];
        assert_eq!(anonymous("GET", file["url"].as_str().expect("a link"), None).body, FILE);
        assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(without_urls(work.clone()), without_urls(shown[0].clone()), "the same item everywhere");
    }
}

fn a_large_candidate_is_shown_whole(org: &Org) {
    let limit = org.agent.ok("describe", json!({}))["limits"]["runDataBytes"].as_u64().unwrap();
    let rest = "
steps:
  - { id: report, agent: Report., output: { text: string }, check: [{ ask: Sound?, pass: 0.9, fail: 0.5 }] }
  - { id: end, finish: reported }
";
    let run = org.run("large", rest, json!({}));
    let text = "ü".repeat(usize::try_from(limit / 2).unwrap() - 2_000);
    let script = Script::new().yes(0.6);
    let view = org.agent.work_on(&run, "report", json!({ "text": text }), json!({ "summary": script.summary() }));
    let listed = org.operator.work_of(&run).remove(0);
    assert_eq!(listed["workItem"]["escalation"]["candidate"]["output"]["text"], json!(text));
    assert_eq!(&listed["workItem"], item(&view, "report"));
    let ended = org.operator.decide(&run, "report", "completed", json!({}));
    assert_eq!(ended["data"]["steps"]["report"]["output"]["text"], json!(text));
}

fn completed_without_output_adopts_the_whole_candidate(org: &Org) {
    let script = unsure();
    let (submission, view) = held(org, &script);
    let escalation = item(&view, "report")["escalation"].clone();
    let view = org.operator.decide(&view, "report", "completed", json!({}));
    assert_eq!(states(&view), "waiting/- report=done sign=waiting end=-", "by the candidate's route");
    let entry = &view["data"]["steps"]["report"];
    for field in ["output", "summary", "next", "reason"] {
        assert_eq!(entry[field], submission[field], "{field}");
    }
    let bare = |evidence: &Value| without_urls(evidence.clone());
    assert_eq!(bare(&entry["evidence"]), bare(&escalation["candidate"]["evidence"]));
    let url = entry["evidence"][0]["url"].as_str().unwrap();
    assert_eq!(anonymous("GET", url, None).body, FILE);
    assert_eq!(entry["by"], org.operator.subject(), "the deciding person");
    assert_eq!((&entry["at"], &entry["check"]), (&view["run"]["updatedAt"], &escalation["check"]));
    assert_eq!(script.asked(), 2, "a person is not checked again");
    let ended = org.staff.decide(&view, "sign", "approved", json!({}));
    assert_eq!(states(&ended), "ended/reported report=done sign=done end=done");
}

fn completed_with_output_uses_nothing_of_the_candidate(org: &Org) {
    let script = unsure();
    let (_, view) = held(org, &script);
    let issues = ["evidence: file required", "next: required, one of sign, end", "reason: required"];
    let own = json!({ "output": { "text": "As I see it." } });
    refused(org.operator.try_decide(&view, "report", "completed", own.clone()), "not_accepted", &issues);
    let kept = org.operator.view(&view);
    assert_eq!(
        without_urls(item(&kept, "report")["escalation"].clone()),
        without_urls(item(&view, "report")["escalation"].clone())
    );
    let file = org.operator.upload("mine.txt", b"mine");
    let mut own = own;
    own["evidence"] = json!([{ "kind": "file", "ref": file["id"] }]);
    (own["next"], own["reason"]) = (json!("end"), json!("No need to sign."));
    let ended = org.operator.decide(&view, "report", "completed", own);
    assert_eq!(states(&ended), "ended/reported report=done sign=- end=done");
    let entry = &ended["data"]["steps"]["report"];
    assert_eq!((&entry["output"], &entry["by"]), (&json!({ "text": "As I see it." }), &json!(org.operator.subject())));
    assert_eq!((entry.get("summary"), entry.get("check")), (None, None), "{entry}");
    assert_eq!(entry["evidence"].as_array().unwrap().len(), 1);
    assert_eq!(script.asked(), 2, "a person completing an escalated step is not checked");
}

fn half_a_submission_is_neither(org: &Org) {
    let (_, view) = held(org, &unsure());
    for half in [
        json!({ "evidence": [{ "kind": "link", "ref": "DOC-2" }] }),
        json!({ "summary": "As it is." }),
        json!({ "next": "end", "reason": "So." }),
        json!({ "next": "end" }),
    ] {
        let error = refused_as(org.operator.try_decide(&view, "report", "completed", half.clone()), "invalid");
        assert!(error.message.contains("output"), "{half}: {error:?}");
    }
    assert_eq!(without_urls(org.operator.view(&view)), without_urls(view.clone()), "nothing changed");
    org.operator.decide(&view, "report", "completed", json!({}));
}

fn nothing_to_adopt_without_a_candidate(org: &Org) {
    let run = org.run("report", REPORT, json!({}));
    let claimed = org.agent.claim(&run, "report");
    let view = org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    let escalation = &item(&view, "report")["escalation"];
    assert_eq!((escalation.get("check"), escalation.get("candidate")), (None, None), "{escalation}");
    let error = org.operator.try_decide(&run, "report", "completed", json!({})).unwrap_err();
    assert!(["invalid", "not_accepted"].contains(&error.code.as_str()), "{error:?}");
    assert!(error.issues.iter().any(|i| i.starts_with("output")), "{error:?}");
    assert_eq!(state(&org.operator.view(&run), "report"), "waiting");
}

fn a_person_is_checked_on_a_task_and_never_on_an_escalation(org: &Org) {
    let (run, writer, _) = writing(org);
    let first = Script::new().yes(0.6);
    writer.decide(&run, "write", "completed", completing(&first));
    assert_eq!(first.asked(), 1);
    // The operator's own words would fail.
    let own = Script::new().yes(0.0);
    let ended = org.operator.decide(&run, "write", "completed", completing(&own));
    assert_eq!(states(&ended), "ended/sent write=done end=done");
    assert_eq!((own.asked(), first.asked()), (0, 1));
    assert_eq!(ended["data"]["steps"]["write"].get("check"), None);
}

fn a_verdict_that_waits_is_shown_though_the_step_completed_before(org: &Org) {
    let run = org.run("report", REPORT, json!({}));
    let good = Script::new();
    let submission = work(org, &good);
    org.agent.work_on(&run, "report", submission["output"].clone(), submission.clone());
    org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    let doubtful = unsure();
    let again = work_as(&submission, &doubtful);
    let view = org.agent.work_on(&run, "report", again["output"].clone(), again.clone());
    let entry = &view["data"]["steps"]["report"];
    assert_eq!(entry["check"], item(&view, "report")["escalation"]["check"], "the verdict that waits on a person");
    assert_eq!((&entry["summary"], &entry["by"]), (&json!(good.summary()), &json!("a_one")), "the last completion");
    assert_eq!(entry["history"], json!([]));
    let back = org.operator.decide(&run, "report", "returned", json!({ "note": "Mend it." }));
    let entry = &back["data"]["steps"]["report"];
    assert_eq!(entry["check"]["verdict"], "pass", "nothing waits: the completion's own");
    let view = org.agent.work_on(&run, "report", again["output"].clone(), again);
    assert_eq!(view["data"]["steps"]["report"]["check"]["verdict"], "unsure");
    let view = org.operator.decide(&run, "report", "completed", json!({}));
    let entry = &view["data"]["steps"]["report"];
    assert_eq!((&entry["check"]["verdict"], &entry["summary"]), (&json!("unsure"), &json!(doubtful.summary())));
    assert_eq!(entry["history"][0]["check"]["verdict"], "pass");
    assert_eq!(entry["history"].as_array().unwrap().len(), 1);
}

fn a_verdict_that_waits_stands_beside_history_alone(org: &Org) {
    let rest = "
steps:
  - { id: collect, agent: Collect. }
  - { id: report, agent: Report., check: [{ ask: Is it sound?, pass: 0.9, fail: 0.5 }] }
  - { id: sign, approve: Sign., person: boss, on_reject: collect }
  - { id: end, finish: reported }
";
    let run = org.run("rewound", rest, json!({}));
    let report = |script: &Script| org.agent.work_on(&run, "report", json!({}), json!({ "summary": script.summary() }));
    org.agent.work_on(&run, "collect", json!({}), json!({}));
    report(&Script::new());
    let back = org.staff.decide(&run, "sign", "rejected", json!({ "note": "From the start." }));
    let rewound = &back["data"]["steps"]["report"];
    assert_eq!(rewound["history"].as_array().unwrap().len(), 1);
    assert_eq!((rewound.get("check"), rewound.get("by")), (None, None), "{rewound}");
    org.agent.work_on(&run, "collect", json!({}), json!({}));
    let view = report(&Script::new().yes(0.6));
    let waiting = &view["data"]["steps"]["report"];
    assert_eq!(waiting["check"], item(&view, "report")["escalation"]["check"]);
    assert_eq!((&waiting["history"], waiting.get("by")), (&rewound["history"], None), "{waiting}");
    let back = org.operator.decide(&run, "report", "returned", json!({ "note": "Mend it." }));
    assert_eq!(&back["data"]["steps"]["report"], rewound, "as it was");
    let claimed = org.agent.claim(&run, "report");
    assert_eq!(&claimed["data"]["steps"]["report"], rewound);
    let more = json!({ "summary": Script::new().summary() });
    let view = org.agent.submit(&claimed, json!({}), more).unwrap();
    assert_eq!(view["data"]["steps"]["report"]["check"]["verdict"], "pass");
}

fn a_candidate_whose_file_was_altered_is_not_adopted() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "altered");
    let (submission, view) = held(&org, &unsure());
    alter(&server, FILE, b"what was faked");
    // It is accepted anew, and evidence is what was uploaded or nothing.
    let error = refused_as(org.operator.try_decide(&view, "report", "completed", json!({})), "not_accepted");
    let id = submission["evidence"][0]["ref"].as_str().unwrap();
    assert!(error.issues.iter().any(|i| i.starts_with(&format!("evidence {id}: "))), "{error:?}");
    let back = org.operator.decide(&view, "report", "returned", json!({ "note": "Attach it anew." }));
    assert_eq!(state(&back, "report"), "ready");
}
