//! People decide (core §3.4, §6.4): work items, who may decide them, snapshots, and the order of the checks.

use serde_json::{Value, json};

use crate::harness::{Org, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        a_work_item_carries_the_exact_call,
        the_first_decision_wins_and_the_second_person_learns_it,
        the_checks_come_in_the_published_order,
        what_does_not_fit_a_decision_is_invalid,
        each_kind_of_item_takes_its_own_decisions,
        a_task_is_accepted_like_an_agents_work,
        a_persons_summary_is_optional,
        a_snapshot_of_older_data_is_stale,
        an_approval_records_only_what_it_has,
        membership_is_checked_when_deciding,
        a_closed_item_leaves_the_inbox_with_the_decision,
        people_see_work_items_and_agents_see_steps,
        an_operator_machine_does_not_decide,
        a_group_bound_anew_leaves_open_items_alone,
        an_item_of_another_run_is_not_found,
        a_note_fits_a_run_that_is_full,
    ],
}

const PAYMENT: &str = "
inputs: { amount: number }
steps:
  - id: pay
    task: Pay the invoice.
    person: clerk
    output: { reference: string }
    evidence: [link]
    next:
      - { to: sign, when: It is over 100 }
      - end
  - id: sign
    approve: Was this right?
    person: boss
    on_reject: pay
    next: end
  - { id: end, finish: paid }
";

fn paying(org: &Org) -> Value {
    org.run("payment", PAYMENT, json!({ "amount": 120 }))
}

/// What completes the task of [`PAYMENT`].
fn payment(next: &str) -> Value {
    json!({
        "output": { "reference": "T-1" }, "evidence": [{ "kind": "link", "ref": "bank:1" }], "next": next,
        "reason": "By the amount.",
    })
}

/// A decision on the open item of a step, as this view shows it.
fn decision(view: &Value, step: &str, decision: &str, more: Value) -> Value {
    let mut arguments = item(view, step)["decide"]["arguments"].clone();
    arguments.as_object_mut().unwrap().shift_remove("requestId");
    arguments["decision"] = json!(decision);
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    arguments
}

fn a_work_item_carries_the_exact_call(org: &Org) {
    let run = paying(org);
    assert_eq!(states(&run), "waiting/- pay=waiting sign=- end=-");
    let listed = org.staff.work_of(&run).remove(0);
    assert_eq!(listed["process"], "payment");
    assert_eq!((&listed["version"], &listed["mode"]), (&json!(1), &json!("live")));
    let work = &listed["workItem"];
    assert_eq!(work, item(&org.staff.view(&run), "pay"), "get_work and get_run show the same item");
    let expected = json!({
        "id": work["id"], "stepId": "pay", "kind": "task", "text": "Pay the invoice.",
        "output": { "reference": "string" }, "evidence": ["link"],
        "next": [{ "to": "sign", "when": "It is over 100" }, { "to": "end" }],
        "assignedTo": { "group": "staff" }, "snapshot": work["snapshot"], "due": null, "escalation": null,
        "handoff": null,
        "decide": {
            "tool": "decide",
            "arguments": {
                "runId": run["run"]["id"], "workItemId": work["id"], "snapshot": work["snapshot"],
                "requestId": "<new UUID>",
            },
            "decisions": ["completed", "failed"],
        },
    });
    assert_eq!(work, &expected);
    let mut call = work["decide"]["arguments"].clone();
    call["requestId"] = json!(crate::harness::fresh());
    call["decision"] = json!("completed");
    for (name, value) in payment("sign").as_object().unwrap() {
        call[name] = value.clone();
    }
    let view = org.staff.ok("decide", call);
    assert_eq!(states(&view), "waiting/- pay=done sign=waiting end=-");
    let sign = item(&view, "sign");
    assert_eq!((&sign["output"], &sign["evidence"], &sign["next"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(sign["decide"]["decisions"], json!(["approved", "rejected", "failed"]));
}

fn the_first_decision_wins_and_the_second_person_learns_it(org: &Org) {
    let run = paying(org);
    let second = org.person("sara@acme.example", &["staff"]);
    let view = second.view(&run);
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    let late = second.call("decide", decision(&view, "pay", "completed", payment("sign")));
    refused(late, "conflict", &["already_decided"]);
}

fn the_checks_come_in_the_published_order(org: &Org) {
    let run = paying(org);
    let view = org.staff.view(&run);
    let bad = json!({ "snapshot": "old", "workItemId": "w_none" });
    // 1. Faults of the arguments alone, whatever the rest.
    let mut call = decision(&view, "pay", "rejected", bad.clone());
    refused(org.agent.call("decide", call.clone()), "invalid", &["note: missing"]);
    // 4. An item that never was, before the snapshot and the identity.
    call["note"] = json!("No.");
    refused_as(org.agent.call("decide", call.clone()), "not_found");
    // 5. The snapshot, before the identity.
    let call = decision(&view, "pay", "approved", json!({ "snapshot": "old" }));
    refused_as(org.agent.call("decide", call.clone()), "stale");
    refused_as(org.outsider.call("decide", call), "stale");
    // 6. The identity, before the decision that does not suit.
    let call = decision(&view, "pay", "approved", json!({}));
    refused_as(org.agent.call("decide", call.clone()), "forbidden");
    refused_as(org.outsider.call("decide", call.clone()), "forbidden");
    refused_as(org.operator.call("decide", call.clone()), "forbidden");
    // 7. The decision that does not suit, before acceptance.
    refused(org.staff.call("decide", call), "invalid", &["decision: one of completed, failed"]);
    // 8. Acceptance.
    let error = refused_as(org.staff.call("decide", decision(&view, "pay", "completed", json!({}))), "not_accepted");
    assert_eq!(error.issues.len(), 4, "{error:?}");
    // 3. An item that was decided, before the snapshot and the identity.
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    let call = decision(&view, "pay", "approved", json!({ "snapshot": "old" }));
    refused(org.agent.call("decide", call.clone()), "conflict", &["already_decided"]);
    // 2. The end of the run, before all but the arguments.
    org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Enough." }));
    refused(org.agent.call("decide", call), "conflict", &["run_ended"]);
    let mut call = decision(&view, "pay", "approved", bad);
    refused(org.agent.call("decide", call.clone()), "conflict", &["run_ended"]);
    call["output"] = json!({});
    refused_as(org.agent.call("decide", call), "invalid");
}

fn what_does_not_fit_a_decision_is_invalid(org: &Org) {
    let run = paying(org);
    let view = org.staff.view(&run);
    for (word, more, names) in [
        ("rejected", json!({}), vec!["note"]),
        ("returned", json!({ "note": " \t" }), vec!["note"]),
        ("failed", json!({ "note": "" }), vec!["note"]),
        ("completed", json!({ "note": "n", "output": {} }), vec!["note"]),
        ("approved", json!({ "output": {}, "evidence": [], "summary": "s" }), vec!["output", "evidence", "summary"]),
        ("approved", json!({ "next": "end", "reason": "r" }), vec!["next", "reason"]),
        ("rejected", json!({ "next": "end", "output": {} }), vec!["note", "output", "next"]),
        ("returned", json!({ "note": "n", "reason": "r" }), vec!["reason"]),
        ("failed", json!({ "note": "n", "summary": "s" }), vec!["summary"]),
    ] {
        let error = refused_as(org.staff.call("decide", decision(&view, "pay", word, more)), "invalid");
        let told: Vec<&str> = error.issues.iter().map(|i| i.split(':').next().unwrap()).collect();
        assert_eq!(told, names, "{word}: {error:?}");
    }
    refused_as(org.staff.call("decide", decision(&view, "pay", "accepted", json!({}))), "invalid");
    assert_eq!(org.staff.view(&run), view, "nothing of this changed anything");
}

fn each_kind_of_item_takes_its_own_decisions(org: &Org) {
    let run = paying(org);
    let take = |step: &str, word: &str, more: Value| org.staff.try_decide(&run, step, word, more);
    refused_as(take("pay", "approved", json!({})), "invalid");
    refused_as(take("pay", "rejected", json!({ "note": "n" })), "invalid");
    refused_as(take("pay", "returned", json!({ "note": "n" })), "invalid");
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    refused_as(take("sign", "completed", json!({ "output": {} })), "invalid");
    refused_as(take("sign", "returned", json!({ "note": "n" })), "invalid");
    let ended = take("sign", "failed", json!({ "note": "The bank is closed." })).unwrap();
    assert_eq!(states(&ended), "ended/failed pay=done sign=failed end=-");
    assert_eq!(ended["run"]["ended"]["note"], "The bank is closed.");
    let entry = &ended["data"]["steps"]["sign"];
    assert_eq!((&entry["decision"], &entry["note"]), (&json!("failed"), &json!("The bank is closed.")));
    assert_eq!(entry["by"], org.staff.subject());
}

fn a_task_is_accepted_like_an_agents_work(org: &Org) {
    let run = paying(org);
    let wrong = json!({ "output": { "reference": 1, "more": 2 }, "next": "pay" });
    let error = refused(
        org.staff.try_decide(&run, "pay", "completed", wrong),
        "not_accepted",
        &[
            "output.reference: expected string",
            "output.more: not declared",
            "evidence: link required",
            "next: expected one of sign, end",
            "reason: required",
        ],
    );
    // The issues are there for whoever works on it next.
    let view = org.staff.view(&run);
    assert_eq!(item(&view, "pay")["handoff"]["issues"], json!(error.issues));
    let ended = org.staff.decide(&run, "pay", "completed", payment("end"));
    assert_eq!(states(&ended), "ended/paid pay=done sign=- end=done");
    let entry = &ended["data"]["steps"]["pay"];
    assert_eq!((&entry["next"], &entry["reason"]), (&json!("end"), &json!("By the amount.")));
    assert_eq!(entry["evidence"], json!([{ "kind": "link", "ref": "bank:1" }]));
    let simple = org.run("simple", "steps:\n  - { id: a, task: Do., person: p }\n  - { id: b, finish: f }", json!({}));
    let error = refused_as(
        org.staff.try_decide(&simple, "a", "completed", json!({ "output": {}, "next": "b", "reason": "r" })),
        "not_accepted",
    );
    assert_eq!(error.issues.len(), 2, "a route where there is no list: {error:?}");
}

fn a_persons_summary_is_optional(org: &Org) {
    let rest = "steps:\n  - { id: a, task: Do., person: p }\n  - { id: b, finish: f }";
    for (more, recorded) in [
        (json!({}), None),
        (json!({ "output": {}, "summary": "  " }), None),
        (json!({ "output": {}, "summary": "Called them." }), Some("Called them.")),
    ] {
        let run = org.run("simple", rest, json!({}));
        let ended = org.staff.decide(&run, "a", "completed", more);
        let entry = &ended["data"]["steps"]["a"];
        assert_eq!(entry.get("summary").and_then(Value::as_str), recorded, "{entry}");
    }
}

fn a_snapshot_of_older_data_is_stale(org: &Org) {
    let run = paying(org);
    let old = org.staff.view(&run)["workItems"][0]["snapshot"].clone();
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    let view = org.staff.view(&run);
    assert_ne!(item(&view, "sign")["snapshot"], old);
    let call = decision(&view, "sign", "approved", json!({ "snapshot": old, "requestId": "tried" }));
    refused_as(org.staff.call("decide", call), "stale");
    // The same decision with a fresh snapshot may be sent again, under the same id: nothing was recorded.
    let call = decision(&org.staff.view(&run), "sign", "approved", json!({ "requestId": "tried" }));
    org.staff.ok("decide", call);
}

fn an_approval_records_only_what_it_has(org: &Org) {
    for (more, note) in [(json!({}), None), (json!({ "note": "Fine." }), Some("Fine.")), (json!({ "note": " " }), None)]
    {
        let run = paying(org);
        org.staff.decide(&run, "pay", "completed", payment("sign"));
        let ended = org.staff.decide(&run, "sign", "approved", more);
        let entry = ended["data"]["steps"]["sign"].as_object().unwrap();
        let mut names: Vec<&str> = entry.keys().map(String::as_str).collect();
        names.sort_unstable();
        let expected: &[&str] = match note {
            Some(_) => &["at", "by", "decision", "history", "note"],
            None => &["at", "by", "decision", "history"],
        };
        assert_eq!(names, expected);
        assert_eq!(entry["decision"], "approved");
        assert_eq!(entry.get("note").and_then(Value::as_str), note);
        assert_eq!(entry["history"], json!([]));
    }
}

fn membership_is_checked_when_deciding(org: &Org) {
    let run = paying(org);
    let view = org.staff.view(&run);
    // The same person, whose token says that they left the group since.
    let left = org.person(org.staff.subject(), &["other"]);
    assert!(left.work_of(&run).is_empty());
    refused_as(left.call("decide", decision(&view, "pay", "completed", payment("end"))), "forbidden");
    let joined = org.person(org.outsider.subject(), &["other", "staff"]);
    assert_eq!(joined.work_of(&run).len(), 1);
    joined.ok("decide", decision(&view, "pay", "completed", payment("end")));
}

fn a_group_bound_anew_leaves_open_items_alone(org: &Org) {
    let run = paying(org);
    let source = crate::harness::file("payment", PAYMENT);
    org.operator.ok("import_process", json!({ "source": source }));
    let roles = json!({ "clerk": "night-shift", "boss": "night-shift" });
    org.operator.ok("publish_process", json!({ "name": "payment", "roles": roles }));
    let night = org.person("nina@acme.example", &["night-shift"]);
    assert!(night.work_of(&run).is_empty());
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    assert_eq!(org.staff.work_of(&run).len(), 1, "later items of the run too: a run keeps its version");
    let new = org.agent.start("payment", json!({ "amount": 1 }));
    assert_eq!(item(&new, "pay")["assignedTo"], json!({ "group": "night-shift" }));
}

fn a_closed_item_leaves_the_inbox_with_the_decision(org: &Org) {
    let run = paying(org);
    assert_eq!(org.staff.work().len(), 1);
    org.staff.decide(&run, "pay", "completed", payment("sign"));
    let work = org.staff.work();
    assert_eq!(work.len(), 1);
    assert_eq!(work[0]["workItem"]["stepId"], "sign");
    org.staff.decide(&run, "sign", "rejected", json!({ "note": "Wrong account." }));
    let work = org.staff.work();
    assert_eq!(work.len(), 1);
    assert_eq!(work[0]["workItem"]["stepId"], "pay");
    org.staff.decide(&run, "pay", "completed", payment("end"));
    assert!(org.staff.work().is_empty());
}

fn people_see_work_items_and_agents_see_steps(org: &Org) {
    let run = paying(org);
    let steps = org.run("steps", "steps:\n  - { id: a, agent: Do. }\n  - { id: b, finish: f }", json!({}));
    let machine = org.client("agent", "pipeline", &["staff"], true);
    for agent in [&org.agent, &machine] {
        let work = agent.work();
        assert_eq!(work.len(), 1, "no work item for a machine, whatever it carries");
        assert_eq!(work[0]["runId"], steps["run"]["id"]);
        assert!(work[0].get("workItem").is_none());
    }
    let work = org.staff.work();
    assert_eq!(work.len(), 1);
    assert_eq!(work[0]["runId"], run["run"]["id"]);
    assert!(work[0].get("claim").is_none());
    assert!(org.outsider.work().is_empty());
    assert!(org.operator.work().is_empty(), "the operator right does not put other people's items into an inbox");
}

fn an_operator_machine_does_not_decide(org: &Org) {
    let run = paying(org);
    let machine = org.client("agent", "pipeline", &["staff"], true);
    refused_as(machine.try_decide(&run, "pay", "completed", payment("end")), "forbidden");
    refused_as(org.agent.try_decide(&run, "pay", "failed", json!({ "note": "n" })), "forbidden");
    assert_eq!(state(&org.staff.view(&run), "pay"), "waiting");
}

fn an_item_of_another_run_is_not_found(org: &Org) {
    let (one, two) = (paying(org), org.agent.start("payment", json!({ "amount": 1 })));
    let view = org.staff.view(&two);
    for other in [item(&one, "pay")["id"].as_str().unwrap(), "w_1", "w_", "", "../w", "w_\u{0}", &"w".repeat(3_000)] {
        let call = decision(&view, "pay", "completed", json!({ "workItemId": other, "output": {} }));
        refused_as(org.staff.call("decide", call), if other.is_empty() { "invalid" } else { "not_found" });
    }
    let mut call = decision(&view, "pay", "completed", payment("end"));
    call["runId"] = one["run"]["id"].clone();
    refused_as(org.staff.call("decide", call), "not_found");
}

fn a_note_fits_a_run_that_is_full(org: &Org) {
    let limit = org.agent.ok("describe", json!({}))["limits"]["runDataBytes"].as_u64().unwrap();
    let rest = "
inputs: { text: string }
steps:
  - { id: sign, approve: Sign., person: boss, on_reject: sign }
  - { id: end, finish: over }
";
    let text = "x".repeat(usize::try_from(limit).unwrap() - 1_000);
    let run = org.run("full", rest, json!({ "text": text }));
    let note = json!({ "note": "n".repeat(4_000) });
    org.staff.decide(&run, "sign", "rejected", note.clone());
    let ended = org.staff.decide(&run, "sign", "failed", note);
    assert_eq!(ended["run"]["outcome"], "failed");
}
