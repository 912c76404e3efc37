//! Starting runs (tool contracts, start_run): inputs, versions, and what is already there when the call returns.

use serde_json::{Value, json};

use crate::harness::{Org, file, item, refused, refused_as, scenarios, states};

scenarios! {
    any: [
        inputs_are_checked_all_at_once,
        a_run_view_says_everything_about_a_new_run,
        the_version_is_the_latest_or_the_one_asked_for,
        a_run_keeps_the_version_it_started_with,
        any_kind_of_step_may_come_first,
        what_cannot_be_started_is_not_found,
        people_and_agents_start_runs,
    ],
}

fn inputs_are_checked_all_at_once(org: &Org) {
    let rest = "
inputs:
  name: string
  amount: { type: number, description: In euros }
  when: { type: date, optional: true }
  kind: { type: string, one_of: [new, old], optional: true }
  tags: { type: list, items: { type: string }, optional: true }
steps:
  - { id: end, finish: over }
";
    org.publish(&file("inputs", rest));
    let start = |inputs: Value| org.agent.call("start_run", json!({ "process": "inputs", "inputs": inputs }));
    refused(
        start(json!({ "amount": "12", "when": "2026-13-01", "kind": "older", "tags": ["a", 1], "more": null })),
        "invalid",
        &[
            "inputs.name: missing",
            "inputs.amount: expected number",
            "inputs.when: expected date",
            "inputs.kind: expected one of new, old",
            "inputs.tags[1]: expected string",
            "inputs.more: not declared",
        ],
    );
    assert!(org.agent.pages("list_runs", json!({})).is_empty(), "a refused start leaves nothing behind");
    start(json!({ "name": "n", "amount": 1 })).unwrap();
    let missing = org.agent.call("start_run", json!({ "process": "inputs" }));
    refused(missing, "invalid", &["inputs: missing"]);
}

fn a_run_view_says_everything_about_a_new_run(org: &Org) {
    let rest = "
inputs: { topic: string }
steps:
  - { id: work, agent: Work., due: 1d }
  - { id: look, approve: Look., person: boss }
  - { id: hear, wait_for: signal }
  - { id: rest, wait: 1d }
  - { id: end, finish: over }
";
    let run = org.run("whole", rest, json!({ "topic": "rain" }));
    let (id, at, due) = (&run["run"]["id"], &run["run"]["startedAt"], &run["steps"][0]["due"]);
    let expected = json!({
        "run": {
            "id": id, "process": "whole", "version": 1, "mode": "live", "state": "active", "outcome": null,
            "ended": null, "startedBy": org.agent.subject(), "startedAt": at, "updatedAt": at,
        },
        "data": { "inputs": { "topic": "rain" }, "steps": {} },
        "steps": [
            { "id": "work", "kind": "agent", "state": "ready", "due": due, "overdue": false },
            { "id": "look", "kind": "approve", "state": null },
            { "id": "hear", "kind": "wait_for", "state": null },
            { "id": "rest", "kind": "wait", "state": null },
            { "id": "end", "kind": "finish", "state": null },
        ],
        "workItems": [],
        "body": "\n# whole\n\nIn plain words.\n",
    });
    assert_eq!(run, expected);
    for client in [&org.agent, &org.other, &org.staff, &org.outsider, &org.operator] {
        assert_eq!(client.view(&run), run, "everybody in the organization reads the same");
    }
    let claimed = org.agent.claim(&run, "work");
    let view = org.agent.view(&run);
    assert_eq!(view["run"]["updatedAt"], *at, "a claim is not a change of the run");
    assert_eq!(view["steps"][0]["state"], "claimed");
    org.agent.ok("renew", json!({ "token": claimed["token"] }));
    assert_eq!(org.agent.view(&run)["run"]["updatedAt"], *at);
}

fn the_version_is_the_latest_or_the_one_asked_for(org: &Org) {
    let version = |n: u32| format!("steps:\n  - {{ id: work, agent: Work {n}. }}\n  - {{ id: end, finish: over }}");
    for n in 1..=3 {
        assert_eq!(org.publish(&file("versions", &version(n)))["version"], n);
    }
    let start = |version: Value| {
        let mut arguments = json!({ "process": "versions", "inputs": {} });
        if !version.is_null() {
            arguments["version"] = version;
        }
        org.agent.call("start_run", arguments)
    };
    assert_eq!(start(Value::Null).unwrap()["run"]["version"], 3);
    let second = start(json!(2)).unwrap();
    assert_eq!(second["run"]["version"], 2);
    assert_eq!(org.agent.claim(&second, "work")["step"]["instructions"], "Work 2.");
    refused_as(start(json!(4)), "not_found");
    for bad in [json!(0), json!(-1), json!(1.5), json!("1")] {
        refused_as(start(bad), "invalid");
    }
}

fn a_run_keeps_the_version_it_started_with(org: &Org) {
    let one = "steps:\n  - { id: ask, approve: Old text., person: boss }\n  - { id: end, finish: old }";
    let run = org.run("edited", one, json!({}));
    // The approval that is open is not in the new version at all.
    let two = "steps:\n  - { id: work, agent: New. }\n  - { id: end, finish: new }";
    org.publish(&file("edited", two));
    let view = org.staff.view(&run);
    assert_eq!(view["run"]["version"], 1);
    assert_eq!(item(&view, "ask")["text"], "Old text.");
    assert_eq!(org.staff.work_of(&run)[0]["version"], 1);
    let ended = org.staff.decide(&run, "ask", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "old");
    assert_eq!(org.agent.start("edited", json!({}))["run"]["version"], 2);
}

fn any_kind_of_step_may_come_first(org: &Org) {
    let run = org.run("finish-first", "steps:\n  - { id: end, finish: over }", json!({}));
    assert_eq!(states(&run), "ended/over end=done");
    assert_eq!(run["data"]["steps"], json!({}));
    assert_eq!(run["run"]["ended"]["by"], "server");
    let rest = "steps:\n  - { id: ask, approve: May it?, person: boss }\n  - { id: end, finish: over }";
    assert_eq!(states(&org.run("approve-first", rest, json!({}))), "waiting/- ask=waiting end=-");
    let rest = "steps:\n  - { id: hear, wait_for: go }\n  - { id: end, finish: over }";
    assert_eq!(states(&org.run("event-first", rest, json!({}))), "waiting/- hear=waiting end=-");
    let rest = "steps:\n  - { id: pause, wait: 1d }\n  - { id: end, finish: over }";
    assert_eq!(states(&org.run("wait-first", rest, json!({}))), "waiting/- pause=waiting end=-");
    let rest = "
inputs: { who: { type: person, optional: true } }
steps:
  - { id: ask, task: Do., person: inputs.who }
  - { id: end, finish: over }
";
    assert_eq!(states(&org.run("nobody-first", rest, json!({}))), "ended/failed ask=failed end=-");
    // Step ids may equal the words for states.
    let rest = "steps:\n  - { id: ready, agent: Do. }\n  - { id: done, finish: over }";
    let run = org.run("words", rest, json!({}));
    assert_eq!(states(&org.agent.work_on(&run, "ready", json!({}), json!({}))), "ended/over ready=done done=done");
}

fn what_cannot_be_started_is_not_found(org: &Org) {
    let source = file("draft-only", "steps:\n  - { id: end, finish: over }");
    org.operator.ok("import_process", json!({ "source": source }));
    for process in ["draft-only", "nothing", "No Name", "../x", &"x".repeat(5_000)] {
        refused_as(org.agent.call("start_run", json!({ "process": process, "inputs": {} })), "not_found");
    }
    org.operator.ok("publish_process", json!({ "name": "draft-only", "roles": {} }));
    let foreign = org.foreign();
    refused_as(foreign.agent.call("start_run", json!({ "process": "draft-only", "inputs": {} })), "not_found");
    org.agent.start("draft-only", json!({}));
}

fn people_and_agents_start_runs(org: &Org) {
    org.publish(&file("plain", "steps:\n  - { id: end, finish: over }"));
    for client in [&org.agent, &org.staff, &org.outsider, &org.operator] {
        assert_eq!(client.start("plain", json!({}))["run"]["startedBy"], client.subject());
    }
}
