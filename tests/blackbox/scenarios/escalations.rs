//! An agent that cannot finish (core §3.3, §3.4), and what each attempt hands on.

use serde_json::{Value, json};

use crate::harness::{Org, eventually, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        an_escalation_goes_to_the_operator_queue,
        a_returned_step_is_ready_again_with_the_note,
        a_person_may_finish_it_in_the_agents_place,
        a_person_may_fail_the_run,
        an_escalation_loses_the_claim,
        who_may_decide_an_escalation,
        each_escalation_has_an_item_of_its_own,
        the_handoff_holds_the_latest_of_each_kind,
        the_handoff_is_cleared_by_completion_and_by_rework,
        an_escalated_item_shows_the_handoff,
    ],
    brief: [a_handoff_survives_lease_escalation_and_return],
}

const HARD: &str = "
steps:
  - id: solve
    agent: Solve it.
    output: { answer: string }
    evidence: [link]
    next: [end, check]
  - { id: check, approve: Is it solved?, person: boss, on_reject: solve, next: end }
  - { id: end, finish: solved }
";

fn escalated(org: &Org) -> Value {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "I lack access." }))
}

fn answer(next: &str) -> Value {
    json!({
        "output": { "answer": "42" }, "evidence": [{ "kind": "link", "ref": "DOC" }], "next": next, "reason": "It fits.",
    })
}

fn an_escalation_goes_to_the_operator_queue(org: &Org) {
    let view = escalated(org);
    assert_eq!(states(&view), "waiting/- solve=waiting check=- end=-");
    let work = item(&view, "solve");
    assert_eq!(work["kind"], "agent");
    assert_eq!(work["text"], "Solve it.");
    assert_eq!((&work["escalation"]["note"], &work["escalation"]["by"]), (&json!("I lack access."), &json!("a_one")));
    assert_eq!(work["escalation"]["at"], view["run"]["updatedAt"]);
    assert_eq!(work["output"], json!({ "answer": "string" }));
    assert_eq!(work["evidence"], json!(["link"]));
    assert_eq!(work["next"], json!([{ "to": "end" }, { "to": "check" }]));
    assert_eq!(work["decide"]["decisions"], json!(["returned", "completed", "failed"]));
    let listed = org.operator.work_of(&view);
    assert_eq!(listed.len(), 1);
    assert_eq!(&listed[0]["workItem"], work);
    assert!(org.staff.work_of(&view).is_empty());
    assert!(org.agent.work_of(&view).is_empty());
}

fn a_returned_step_is_ready_again_with_the_note(org: &Org) {
    let view = escalated(org);
    refused(org.operator.try_decide(&view, "solve", "returned", json!({})), "invalid", &["note: missing"]);
    let back = org.operator.decide(&view, "solve", "returned", json!({ "note": "Access granted." }));
    assert_eq!(states(&back), "active/- solve=ready check=- end=-");
    assert_eq!(back["data"]["steps"], json!({}), "a return completes nothing");
    let listed = org.other.work_of(&view).remove(0);
    let returned = &listed["handoff"]["returned"];
    assert_eq!((&returned["note"], &returned["by"]), (&json!("Access granted."), &json!(org.operator.subject())));
    assert!(returned["at"].is_string());
    let claimed = org.other.claim(&view, "solve");
    assert_eq!(claimed["handoff"], listed["handoff"]);
    org.other.submit(&claimed, answer("end")["output"].clone(), answer("end")).unwrap();
}

fn a_person_may_finish_it_in_the_agents_place(org: &Org) {
    let view = escalated(org);
    let error = refused_as(
        org.operator.try_decide(&view, "solve", "completed", json!({ "output": { "answer": 42 } })),
        "not_accepted",
    );
    assert_eq!(
        error.issues,
        [
            "output.answer: expected string",
            "evidence: link required",
            "next: required, one of end, check",
            "reason: required"
        ]
    );
    let ended = org.operator.decide(&view, "solve", "completed", answer("end"));
    assert_eq!(states(&ended), "ended/solved solve=done check=- end=done");
    let entry = &ended["data"]["steps"]["solve"];
    assert_eq!(entry["by"], org.operator.subject(), "an escalated completion records who decided");
    assert_eq!((&entry["output"]["answer"], &entry["reason"]), (&json!("42"), &json!("It fits.")));
}

fn a_person_may_fail_the_run(org: &Org) {
    let view = escalated(org);
    let ended = org.operator.decide(&view, "solve", "failed", json!({ "note": "Cannot be done." }));
    assert_eq!(states(&ended), "ended/failed solve=failed check=- end=-");
    let entry = &ended["data"]["steps"]["solve"];
    assert_eq!((&entry["decision"], &entry["note"]), (&json!("failed"), &json!("Cannot be done.")));
    assert_eq!(entry["by"], org.operator.subject());
    assert_eq!(ended["run"]["ended"]["note"], "Cannot be done.");
    assert!(org.operator.work_of(&view).is_empty());
}

fn an_escalation_loses_the_claim(org: &Org) {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    refused(
        org.agent.call("escalate", json!({ "token": claimed["token"], "note": "  " })),
        "invalid",
        &["note: missing"],
    );
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    refused_as(org.agent.call("escalate", json!({ "token": claimed["token"], "note": "Stuck." })), "stale");
    refused_as(org.agent.call("renew", json!({ "token": claimed["token"] })), "stale");
    refused_as(org.agent.submit(&claimed, json!({ "answer": "42" }), answer("end")), "stale");
    refused(org.agent.try_claim(&run, "solve"), "conflict", &["not_ready"]);
    // Returned, the old token stays dead: it was of an earlier claim.
    org.operator.decide(&run, "solve", "returned", json!({ "note": "Go on." }));
    refused_as(org.agent.submit(&claimed, json!({ "answer": "42" }), answer("end")), "stale");
}

fn who_may_decide_an_escalation(org: &Org) {
    let view = escalated(org);
    let group = item(&view, "solve")["assignedTo"]["group"].as_str().unwrap().to_owned();
    let note = json!({ "note": "Go on." });
    for client in [&org.staff, &org.outsider, &org.agent, &org.client("agent", "pipeline", &[&group], true)] {
        refused_as(client.try_decide(&view, "solve", "returned", note.clone()), "forbidden");
    }
    let member = org.person("mia@acme.example", &[&group]);
    assert_eq!(member.work_of(&view).len(), 1, "a member of the operators group, without the right itself");
    member.decide(&view, "solve", "returned", note);
}

fn each_escalation_has_an_item_of_its_own(org: &Org) {
    let view = escalated(org);
    let first = item(&view, "solve").clone();
    org.operator.decide(&view, "solve", "returned", json!({ "note": "Go on." }));
    let claimed = org.agent.claim(&view, "solve");
    let view = org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Still stuck." }));
    let second = item(&view, "solve");
    assert_ne!(second["id"], first["id"]);
    assert_eq!(second["escalation"]["note"], "Still stuck.");
    let mut call = first["decide"]["arguments"].clone();
    call.as_object_mut().unwrap().shift_remove("requestId");
    call["decision"] = json!("returned");
    call["note"] = json!("Go on.");
    refused(org.operator.call("decide", call), "conflict", &["already_decided"]);
}

fn the_handoff_holds_the_latest_of_each_kind(org: &Org) {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "One." }));
    let renewed = org.agent.ok("renew", json!({ "token": renewed["token"], "progress": "Two." }));
    let renewed = org.agent.ok("renew", json!({ "token": renewed["token"] }));
    refused_as(org.agent.submit(&renewed, json!({ "wrong": 1 }), json!({})), "not_accepted");
    let error = refused_as(org.agent.submit(&renewed, json!({}), json!({})), "not_accepted");
    org.agent.ok("escalate", json!({ "token": renewed["token"], "note": "Stuck." }));
    org.operator.decide(&run, "solve", "returned", json!({ "note": "First." }));
    let claimed = org.other.claim(&run, "solve");
    org.other.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck too." }));
    org.operator.decide(&run, "solve", "returned", json!({ "note": "Second." }));
    let handoff = org.agent.claim(&run, "solve")["handoff"].clone();
    assert_eq!(handoff["progress"], "Two.", "a renewal without a note keeps the one before");
    assert_eq!(handoff["issues"], json!(error.issues));
    assert_eq!(handoff["returned"]["note"], "Second.");
    assert_eq!(handoff.as_object().unwrap().len(), 3, "{handoff}");
}

fn the_handoff_is_cleared_by_completion_and_by_rework(org: &Org) {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "One." }));
    refused_as(org.agent.submit(&renewed, json!({}), json!({})), "not_accepted");
    let view = org.agent.submit(&renewed, json!({ "answer": "42" }), answer("check")).unwrap();
    assert_eq!(item(&view, "check")["handoff"], Value::Null);
    org.staff.decide(&run, "check", "rejected", json!({ "note": "No." }));
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!(listed["handoff"], Value::Null);
    assert_eq!(org.agent.claim(&run, "solve")["handoff"], Value::Null);
}

fn an_escalated_item_shows_the_handoff(org: &Org) {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "Half." }));
    let view = org.agent.ok("escalate", json!({ "token": renewed["token"], "note": "Stuck." }));
    assert_eq!(item(&view, "solve")["handoff"], json!({ "progress": "Half." }));
    assert_eq!(org.operator.work_of(&run)[0]["workItem"]["handoff"], json!({ "progress": "Half." }));
    refused_as(org.operator.try_decide(&run, "solve", "completed", json!({ "output": {} })), "not_accepted");
    let work = org.operator.work_of(&run).remove(0);
    assert_eq!(work["workItem"]["handoff"]["issues"][0], "output.answer: missing");
    assert_eq!(&work["workItem"], item(&org.operator.view(&run), "solve"));
}

fn a_handoff_survives_lease_escalation_and_return(org: &Org) {
    let run = org.run("hard", HARD, json!({}));
    let claimed = org.agent.claim(&run, "solve");
    org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "Half." }));
    eventually("the lease ends", || org.other.work_of(&run).pop());
    let claimed = org.other.claim(&run, "solve");
    assert_eq!(claimed["handoff"], json!({ "progress": "Half." }));
    let view = org.other.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    assert_eq!(item(&view, "solve")["handoff"], json!({ "progress": "Half." }));
    let view = org.operator.decide(&run, "solve", "returned", json!({ "note": "Go on." }));
    assert_eq!(state(&view, "solve"), "ready");
    let handoff = org.agent.claim(&run, "solve")["handoff"].clone();
    assert_eq!((&handoff["progress"], &handoff["returned"]["note"]), (&json!("Half."), &json!("Go on.")));
}
