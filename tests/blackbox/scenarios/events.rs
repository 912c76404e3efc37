//! Events (core §3.6): delivered to the wait that is ready, or held for one to come.

use serde_json::{Value, json};

use crate::harness::{Org, refused, refused_as, scenarios, states};

scenarios! {
    any: [
        an_event_sent_before_its_wait_is_consumed_when_it_is_reached,
        an_event_for_a_ready_wait_is_consumed_at_once,
        held_events_are_consumed_oldest_first,
        an_event_nobody_waits_for_is_held_to_the_end,
        names_match_exactly_and_are_well_formed,
        who_may_send_events,
        held_events_count_against_the_cap,
        an_event_sent_right_after_the_start_is_never_lost,
    ],
}

const TWO: &str = "
steps:
  - { id: work, agent: Work. }
  - { id: first, wait_for: paid }
  - { id: second, wait_for: paid }
  - { id: third, wait_for: paid }
  - { id: end, finish: over }
";

fn send(org: &Org, run: &Value, name: &str, data: Value) -> Value {
    let arguments = json!({ "runId": run["run"]["id"], "name": name, "data": data });
    org.agent.ok("send_event", arguments)["consumedBy"].clone()
}

fn an_event_sent_before_its_wait_is_consumed_when_it_is_reached(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    assert_eq!(send(org, &run, "paid", json!({ "n": 1 })), Value::Null);
    assert_eq!(org.agent.view(&run)["data"]["steps"], json!({}), "a held event is not run data");
    let view = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&view), "waiting/- work=done first=done second=waiting third=- end=-");
    let entry = &view["data"]["steps"]["first"];
    assert_eq!((&entry["output"], &entry["by"]), (&json!({ "n": 1 }), &json!(org.agent.subject())));
    assert_eq!(entry["at"], view["data"]["steps"]["work"]["at"], "the time of consumption");
}

fn an_event_for_a_ready_wait_is_consumed_at_once(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let event = json!({ "runId": run["run"]["id"], "name": "paid" });
    assert_eq!(org.operator.ok("send_event", event), json!({ "consumedBy": "first" }));
    let entry = org.agent.view(&run)["data"]["steps"]["first"].clone();
    assert_eq!((&entry["output"], &entry["by"]), (&json!({}), &json!(org.operator.subject())));
    assert!(entry.get("summary").is_none() && entry.get("evidence").is_none(), "{entry}");
    // One delivery satisfies one wait.
    assert_eq!(states(&org.agent.view(&run)), "waiting/- work=done first=done second=waiting third=- end=-");
}

fn held_events_are_consumed_oldest_first(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    for n in 1..=3 {
        assert_eq!(send(org, &run, "paid", json!({ "n": n })), Value::Null);
    }
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    let n = |step: &str| ended["data"]["steps"][step]["output"]["n"].clone();
    assert_eq!((n("first"), n("second"), n("third")), (json!(1), json!(2), json!(3)));
    assert_eq!(ended["run"]["outcome"], "over", "a write returns after every automatic transition");
}

fn an_event_nobody_waits_for_is_held_to_the_end(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    assert_eq!(send(org, &run, "unheard-of", json!({})), Value::Null);
    for _ in 0..4 {
        send(org, &run, "paid", json!({}));
    }
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over", "one was left over and is discarded");
    let event = json!({ "runId": run["run"]["id"], "name": "paid" });
    refused(org.agent.call("send_event", event), "conflict", &["run_ended"]);
}

fn names_match_exactly_and_are_well_formed(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    for other in ["paid_", "paid-", "paidd", "pai", "first"] {
        assert_eq!(send(org, &run, other, json!({})), Value::Null, "{other}");
    }
    for bad in ["Paid", "1paid", "paid in full", "_paid", "pa.id", &"p".repeat(65)] {
        let event = json!({ "runId": run["run"]["id"], "name": bad });
        let error = refused_as(org.agent.call("send_event", event), "invalid");
        assert!(error.issues[0].starts_with("name:"), "{bad}: {error:?}");
    }
    assert_eq!(send(org, &run, "paid", json!({})), "first");
}

fn who_may_send_events(org: &Org) {
    let run = org.run("payments", TWO, json!({}));
    let event = json!({ "runId": run["run"]["id"], "name": "other" });
    for person in [&org.staff, &org.outsider] {
        refused_as(person.call("send_event", event.clone()), "forbidden");
    }
    refused_as(org.foreign().agent.call("send_event", event.clone()), "not_found");
    let machine = org.client("agent", "pipeline", &[], true);
    for sender in [&org.agent, &org.other, &org.operator, &machine] {
        sender.ok("send_event", event.clone());
    }
}

fn held_events_count_against_the_cap(org: &Org) {
    let limit = org.agent.ok("describe", json!({}))["limits"]["runDataBytes"].as_u64().unwrap();
    let run = org.run("payments", TWO, json!({}));
    let half = "x".repeat(usize::try_from(limit / 2).unwrap());
    assert_eq!(send(org, &run, "paid", json!({ "text": half })), Value::Null);
    let event = json!({ "runId": run["run"]["id"], "name": "paid", "data": { "text": half } });
    let error = refused_as(org.agent.call("send_event", event), "invalid");
    assert!(error.issues[0].contains(&limit.to_string()), "{error:?}");
    // What is held fits the run when it is consumed.
    let view = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&view), "waiting/- work=done first=done second=waiting third=- end=-");
    // The cap is on data; a note does not count, so a run that is full can be ended with a reason.
    let reason = "n".repeat(4_000);
    org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": reason }));
}

fn an_event_sent_right_after_the_start_is_never_lost(org: &Org) {
    let rest = "steps:\n  - { id: work, agent: Work. }\n  - { id: heard, wait_for: go }\n  - { id: end, finish: over }";
    org.publish(&crate::harness::file("race", rest));
    // The event and the submission that makes its wait ready, at once: whoever comes first, it is consumed.
    for _ in 0..6 {
        let run = org.agent.start("race", json!({}));
        let claimed = org.agent.claim(&run, "work");
        crate::harness::at_once(2, |n| match n {
            0 => drop(org.agent.submit(&claimed, json!({}), json!({})).unwrap()),
            _ => drop(send(org, &run, "go", json!({ "k": "v" }))),
        });
        let view = org.agent.view(&run);
        assert_eq!(states(&view), "ended/over work=done heard=done end=done");
        assert_eq!(view["data"]["steps"]["heard"]["output"], json!({ "k": "v" }));
    }
}
