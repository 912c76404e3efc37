//! How runs end (core §3.5): by a finish, a failure, a rejection or an operator; and what an end does to all that is open.

use serde_json::{Value, json};

use crate::harness::{Org, item, refused, refused_as, scenarios, states, without_urls};

scenarios! {
    any: [
        a_finish_ends_the_run_with_its_outcome,
        an_operator_cancels_with_a_reason,
        an_end_takes_work_items_and_tokens_along,
        every_write_to_an_ended_run_is_run_ended_before_anything_else,
        who_may_cancel,
        a_replay_wins_over_run_ended,
    ],
}

const BOTH: &str = "
steps:
  - { id: work, agent: Work., output: { text: string } }
  - { id: look, task: Look., person: clerk, next: [good, bad] }
  - { id: bad, finish: failed }
  - { id: good, finish: rejected }
";

fn a_finish_ends_the_run_with_its_outcome(org: &Org) {
    // Outcomes may be named like the built-in ones.
    for (next, outcome) in [("good", "rejected"), ("bad", "failed")] {
        let run = org.run("both", BOTH, json!({}));
        org.agent.work_on(&run, "work", json!({ "text": "t" }), json!({}));
        let ended = org.staff.decide(&run, "look", "completed", json!({ "next": next, "reason": "So." }));
        let other = if next == "good" { "bad=- good=done" } else { "bad=done good=-" };
        assert_eq!(states(&ended), format!("ended/{outcome} work=done look=done {other}"));
        let how = &ended["run"]["ended"];
        assert_eq!((&how["by"], &how["note"]), (&json!("server"), &Value::Null));
        assert_eq!(how["at"], ended["run"]["updatedAt"]);
        assert!(ended["data"]["steps"].get(next).is_none(), "a finish records nothing");
        assert_eq!(org.agent.view(&run), ended);
    }
}

fn an_operator_cancels_with_a_reason(org: &Org) {
    let run = org.run("both", BOTH, json!({}));
    let cancel = |reason: Value| org.operator.call("cancel", json!({ "runId": run["run"]["id"], "reason": reason }));
    refused(cancel(json!("")), "invalid", &["reason: missing"]);
    refused(cancel(json!(" \n")), "invalid", &["reason: missing"]);
    refused(cancel(json!("r".repeat(4_001))), "invalid", &["reason: longer than 4000 characters"]);
    let view = cancel(json!("Ordered twice.")).unwrap();
    assert_eq!(states(&view), "cancelled/- work=cancelled look=- bad=- good=-");
    let how = &view["run"]["ended"];
    assert_eq!((&how["by"], &how["note"]), (&json!(org.operator.subject()), &json!("Ordered twice.")));
    refused(cancel(json!("Again.")), "conflict", &["run_ended"]);
    assert!(org.agent.work_of(&run).is_empty());
}

fn an_end_takes_work_items_and_tokens_along(org: &Org) {
    let run = org.run("both", BOTH, json!({}));
    let claimed = org.agent.claim(&run, "work");
    org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Enough." }));
    refused(org.agent.submit(&claimed, json!({ "text": "t" }), json!({})), "conflict", &["run_ended"]);
    let waiting = org.run("both", BOTH, json!({}));
    org.agent.work_on(&waiting, "work", json!({ "text": "t" }), json!({}));
    assert_eq!(org.staff.work_of(&waiting).len(), 1);
    let view = org.operator.ok("cancel", json!({ "runId": waiting["run"]["id"], "reason": "Enough." }));
    assert_eq!(states(&view), "cancelled/- work=done look=cancelled bad=- good=-");
    assert!(org.staff.work_of(&waiting).is_empty());
    let escalated = org.run("both", BOTH, json!({}));
    let claimed = org.agent.claim(&escalated, "work");
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    org.operator.ok("cancel", json!({ "runId": escalated["run"]["id"], "reason": "Enough." }));
    assert!(org.operator.work_of(&escalated).is_empty());
    let failed = org.run("both", BOTH, json!({}));
    org.agent.work_on(&failed, "work", json!({ "text": "t" }), json!({}));
    let view = org.staff.decide(&failed, "look", "failed", json!({ "note": "No." }));
    assert_eq!(states(&view), "ended/failed work=done look=failed bad=- good=-");
    assert_eq!(view["run"]["ended"]["by"], org.staff.subject());
}

fn every_write_to_an_ended_run_is_run_ended_before_anything_else(org: &Org) {
    let run = org.run("both", BOTH, json!({}));
    let claimed = org.agent.claim(&run, "work");
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"] }));
    org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Enough." }));
    let id = &run["run"]["id"];
    let decide = json!({ "runId": id, "workItemId": "w_none", "snapshot": "old", "decision": "approved" });
    for client in [&org.agent, &org.other, &org.staff, &org.outsider, &org.operator] {
        for (tool, arguments) in [
            ("claim", json!({ "runId": id, "stepId": "nowhere" })),
            ("claim", json!({ "runId": id, "stepId": "look" })),
            ("renew", json!({ "token": claimed["token"] })),
            ("renew", json!({ "token": renewed["token"] })),
            ("submit", json!({ "token": claimed["token"], "output": { "wrong": 1 } })),
            ("escalate", json!({ "token": renewed["token"], "note": "Stuck." })),
            ("decide", decide.clone()),
            ("cancel", json!({ "runId": id, "reason": "Again." })),
            ("send_event", json!({ "runId": id, "name": "Not A Name" })),
        ] {
            refused(client.call(tool, arguments), "conflict", &["run_ended"]);
        }
    }
    // Two things come before it: what is wrong with the arguments, and what is not there at all.
    refused_as(org.agent.exact("claim", json!({ "runId": id })), "invalid");
    refused_as(org.foreign().agent.call("claim", json!({ "runId": id, "stepId": "work" })), "not_found");
    refused_as(org.agent.call("renew", json!({ "token": "made up" })), "invalid");
}

fn who_may_cancel(org: &Org) {
    let run = org.run("both", BOTH, json!({}));
    let call = json!({ "runId": run["run"]["id"], "reason": "Mine." });
    for client in [&org.agent, &org.staff, &org.outsider] {
        refused_as(client.call("cancel", call.clone()), "forbidden");
    }
    refused_as(org.foreign().operator.call("cancel", call.clone()), "not_found");
    let machine = org.client("agent", "pipeline", &[], true);
    assert_eq!(machine.ok("cancel", call)["run"]["ended"]["by"], "pipeline");
}

fn a_replay_wins_over_run_ended(org: &Org) {
    let run = org.run("both", BOTH, json!({}));
    let claim = json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": "the-claim" });
    let claimed = org.agent.ok("claim", claim.clone());
    let submit = json!({
        "token": claimed["token"], "output": { "text": "t" }, "summary": "Done.", "requestId": "the-submit",
    });
    let submitted = org.agent.ok("submit", submit.clone());
    let mut decide = item(&submitted, "look")["decide"]["arguments"].clone();
    decide["requestId"] = json!("the-decision");
    decide["decision"] = json!("failed");
    decide["note"] = json!("No.");
    let decided = org.staff.ok("decide", decide.clone());
    assert_eq!(org.agent.ok("claim", claim), claimed);
    assert_eq!(without_urls(org.agent.ok("submit", submit.clone())), without_urls(submitted));
    assert_eq!(org.staff.ok("decide", decide.clone()), decided);
    // The id with other arguments is told before the end of the run, too.
    let mut other = submit;
    other["summary"] = json!("Done differently.");
    let error = refused_as(org.agent.call("submit", other), "conflict");
    assert_ne!(error.issues, ["run_ended"], "{error:?}");
}
