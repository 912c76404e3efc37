//! Lists: their order, their filters, their pages, and whose cursors work where.

use serde_json::{Value, json};

use crate::harness::{Org, file, refused_as, scenarios};

scenarios! {
    any: [
        get_work_is_oldest_first_page_by_page,
        get_work_filters_by_process,
        a_persons_inbox_is_oldest_first_page_by_page,
        list_runs_is_newest_first_page_by_page,
        list_runs_filters_by_process_state_and_inputs,
        list_processes_is_by_name_with_the_latest_version,
        a_cursor_belongs_to_its_caller_and_its_filters,
        organizations_see_only_their_own,
        odd_names_are_not_found,
        what_became_ready_at_one_instant_has_one_order,
    ],
}

const AGENT: &str = "
inputs: { n: number, kind: { type: string, optional: true } }
steps:
  - { id: work, agent: Work. }
  - { id: look, task: Look., person: clerk }
  - { id: end, finish: over }
";

fn ids(items: &[Value], field: &str) -> Vec<String> {
    items.iter().map(|i| i[field].as_str().unwrap().to_owned()).collect()
}

/// Starts some runs and gives their ids, oldest first.
fn started(org: &Org, process: &str, count: usize) -> Vec<String> {
    let start = |n| org.agent.start(process, json!({ "n": n }));
    (0..count).map(|n| start(n)["run"]["id"].as_str().unwrap().to_owned()).collect()
}

fn get_work_is_oldest_first_page_by_page(org: &Org) {
    org.publish(&file("lists", AGENT));
    let runs = started(org, "lists", 7);
    let all = org.agent.ok("get_work", json!({}));
    assert_eq!(ids(all["items"].as_array().unwrap(), "runId"), runs);
    assert_eq!(all["nextCursor"], Value::Null);
    let first = org.agent.ok("get_work", json!({ "limit": 3 }));
    assert_eq!(ids(first["items"].as_array().unwrap(), "runId"), runs[..3]);
    // What happens between two pages: the first is claimed, another run starts.
    org.agent.ok("claim", json!({ "runId": runs[0], "stepId": "work" }));
    let later = started(org, "lists", 1);
    let second = org.agent.ok("get_work", json!({ "limit": 3, "cursor": first["nextCursor"] }));
    assert_eq!(ids(second["items"].as_array().unwrap(), "runId"), runs[3..6], "no item twice, none left out");
    let third = org.agent.ok("get_work", json!({ "limit": 3, "cursor": second["nextCursor"] }));
    assert_eq!(ids(third["items"].as_array().unwrap(), "runId"), [runs[6].clone(), later[0].clone()]);
    assert_eq!(third["nextCursor"], Value::Null);
    assert_eq!(ids(&org.agent.pages("get_work", json!({ "limit": 1 })), "runId").len(), 7);
}

fn get_work_filters_by_process(org: &Org) {
    org.publish(&file("one", AGENT));
    org.publish(&file("two", AGENT));
    let (one, two) = (started(org, "one", 2), started(org, "two", 2));
    assert_eq!(ids(&org.agent.pages("get_work", json!({ "process": "one" })), "runId"), one);
    assert_eq!(ids(&org.agent.pages("get_work", json!({ "process": "two", "limit": 1 })), "runId"), two);
    assert!(org.agent.pages("get_work", json!({ "process": "three" })).is_empty());
    let claimed = org.agent.ok("claim", json!({ "runId": one[0], "stepId": "work" }));
    org.agent.ok("submit", json!({ "token": claimed["token"], "output": {}, "summary": "s" }));
    assert_eq!(org.staff.pages("get_work", json!({ "process": "one" })).len(), 1);
    assert!(org.staff.pages("get_work", json!({ "process": "two" })).is_empty());
}

fn a_persons_inbox_is_oldest_first_page_by_page(org: &Org) {
    org.publish(&file("inbox", &AGENT.replace("  - { id: work, agent: Work. }\n", "")));
    let mut runs = started(org, "inbox", 5);
    assert_eq!(ids(&org.staff.work(), "runId"), runs);
    let first = org.staff.ok("get_work", json!({ "limit": 2 }));
    assert_eq!(ids(first["items"].as_array().unwrap(), "runId"), runs[..2]);
    let second = org.staff.ok("get_work", json!({ "limit": 100, "cursor": first["nextCursor"] }));
    assert_eq!(ids(second["items"].as_array().unwrap(), "runId"), runs[2..]);
    // Items of a person and of two groups are one list.
    let rest = "steps:\n  - { id: mine, task: Mine., person: initiator }\n  - { id: end, finish: over }";
    org.publish(&file("own", rest));
    runs.push(org.staff.start("own", json!({}))["run"]["id"].as_str().unwrap().to_owned());
    runs.extend(started(org, "inbox", 1));
    assert_eq!(ids(&org.staff.work(), "runId"), runs);
    assert_eq!(ids(&org.staff.pages("get_work", json!({ "limit": 1 })), "runId"), runs);
}

fn list_runs_is_newest_first_page_by_page(org: &Org) {
    org.publish(&file("lists", AGENT));
    let mut runs = started(org, "lists", 5);
    org.operator.ok("cancel", json!({ "runId": runs[2], "reason": "Enough." }));
    runs.reverse();
    let all = org.staff.ok("list_runs", json!({}));
    assert_eq!(ids(all["items"].as_array().unwrap(), "id"), runs, "open and ended ones are one list");
    assert_eq!(all["nextCursor"], Value::Null);
    assert_eq!(ids(&org.staff.pages("list_runs", json!({ "limit": 2 })), "id"), runs);
    let item = &all["items"][0];
    let view = org.staff.ok("get_run", json!({ "runId": item["id"] }));
    let expected = json!({
        "id": runs[0], "process": "lists", "version": 1, "state": "active", "outcome": null,
        "startedAt": view["run"]["startedAt"], "updatedAt": view["run"]["updatedAt"], "inputs": { "n": 4 },
    });
    assert_eq!(item, &expected);
    let first = org.staff.ok("list_runs", json!({ "limit": 2 }));
    started(org, "lists", 1);
    let second = org.staff.ok("list_runs", json!({ "limit": 2, "cursor": first["nextCursor"] }));
    assert_eq!(ids(second["items"].as_array().unwrap(), "id"), runs[2..4]);
}

fn list_runs_filters_by_process_state_and_inputs(org: &Org) {
    org.publish(&file("one", AGENT));
    org.publish(&file("two", AGENT));
    let one = started(org, "one", 3);
    started(org, "two", 2);
    let claimed = org.agent.ok("claim", json!({ "runId": one[0], "stepId": "work" }));
    org.agent.ok("submit", json!({ "token": claimed["token"], "output": {}, "summary": "s" }));
    org.operator.ok("cancel", json!({ "runId": one[1], "reason": "Enough." }));
    let tagged = org.agent.start("two", json!({ "n": 1, "kind": "rare" }));
    let ended = org.run("three", "steps:\n  - { id: end, finish: over }", json!({}));
    let list = |filter: Value| ids(&org.agent.pages("list_runs", filter), "id");
    assert_eq!(list(json!({ "process": "one" })).len(), 3);
    assert_eq!(list(json!({ "process": "one", "state": "waiting" })), [one[0].clone()]);
    assert_eq!(list(json!({ "process": "one", "state": "cancelled" })), [one[1].clone()]);
    assert_eq!(list(json!({ "process": "one", "state": "active" })), [one[2].clone()]);
    assert_eq!(list(json!({ "state": "ended" })), [ended["run"]["id"].as_str().unwrap()]);
    assert_eq!(list(json!({ "inputs": { "n": 1 } })).len(), 3, "of every process");
    assert_eq!(list(json!({ "inputs": { "n": 1, "kind": "rare" } })), [tagged["run"]["id"].as_str().unwrap()]);
    assert_eq!(list(json!({ "process": "two", "inputs": { "n": 1 }, "limit": 1 })).len(), 2);
    assert_eq!(list(json!({ "inputs": {} })).len(), 7);
    let spelled: Value = serde_json::from_str(r#"{ "inputs": { "n": 10e-1 } }"#).unwrap();
    assert_eq!(list(spelled).len(), 3, "who asks did not see how the number was written");
    for none in [json!({ "process": "four" }), json!({ "inputs": { "n": "1" } }), json!({ "inputs": { "m": 1 } })] {
        assert!(list(none.clone()).is_empty(), "{none}");
    }
    refused_as(org.agent.call("list_runs", json!({ "state": "open" })), "invalid");
}

fn list_processes_is_by_name_with_the_latest_version(org: &Org) {
    let plain = "steps:\n  - { id: end, finish: over }";
    let rich = "
inputs:
  vendor: string
  amount: { type: number, description: In euros }
  tags: { type: list, items: { type: string, one_of: [a, b] }, optional: true }
requires: { systems: [crm, mail] }
steps:
  - { id: end, finish: over }
";
    assert_eq!(org.agent.ok("list_processes", json!({})), json!({ "items": [], "nextCursor": null }));
    for (name, rest) in [("zebra", plain), ("b", plain), ("b-c", plain), ("a1", rich), ("b", rich)] {
        org.publish(&file(name, rest));
    }
    org.operator.ok("import_process", json!({ "source": file("only-a-draft", plain) }));
    let items = org.outsider.pages("list_processes", json!({}));
    assert_eq!(ids(&items, "name"), ["a1", "b", "b-c", "zebra"]);
    let versions: Vec<&Value> = items.iter().map(|i| &i["version"]).collect();
    assert_eq!(versions, [1, 2, 1, 1]);
    let expected = json!({
        "name": "a1", "description": "What a1 is for.", "version": 1,
        "inputs": {
            "vendor": "string", "amount": { "type": "number", "description": "In euros" },
            "tags": { "type": "list", "items": { "type": "string", "one_of": ["a", "b"] }, "optional": true },
        },
        "requires": { "systems": ["crm", "mail"] },
    });
    assert_eq!(items[0], expected);
    assert_eq!(items[2], json!({ "name": "b-c", "description": "What b-c is for.", "version": 1, "inputs": {} }));
}

fn a_cursor_belongs_to_its_caller_and_its_filters(org: &Org) {
    org.publish(&file("lists", AGENT));
    started(org, "lists", 3);
    let work = org.agent.ok("get_work", json!({ "limit": 1 }))["nextCursor"].clone();
    let runs = org.agent.ok("list_runs", json!({ "limit": 1 }))["nextCursor"].clone();
    assert!(work.is_string() && runs.is_string());
    org.agent.ok("get_work", json!({ "limit": 2, "cursor": work }));
    for (client, tool, arguments) in [
        (&org.other, "get_work", json!({ "cursor": work })),
        (&org.staff, "get_work", json!({ "cursor": work })),
        (&org.agent, "get_work", json!({ "cursor": work, "process": "lists" })),
        (&org.agent, "get_work", json!({ "cursor": runs })),
        (&org.agent, "list_runs", json!({ "cursor": work })),
        (&org.other, "list_runs", json!({ "cursor": runs })),
        (&org.agent, "list_runs", json!({ "cursor": runs, "state": "active" })),
        (&org.agent, "list_runs", json!({ "cursor": runs, "inputs": {} })),
        (&org.agent, "list_processes", json!({ "cursor": runs })),
        (&org.agent, "get_work", json!({ "cursor": "made up" })),
        (&org.agent, "list_runs", json!({ "cursor": "local.e30.x" })),
        (&org.agent, "list_processes", json!({ "cursor": "0" })),
    ] {
        refused_as(client.call(tool, arguments.clone()), "invalid");
    }
    refused_as(org.foreign().agent.call("list_runs", json!({ "cursor": runs })), "invalid");
}

fn organizations_see_only_their_own(org: &Org) {
    let foreign = org.foreign();
    let run = org.run("ours", AGENT, json!({ "n": 1 }));
    let claimed = org.agent.claim(&run, "work");
    org.agent.submit(&claimed, json!({}), json!({})).unwrap();
    org.run("ours", AGENT, json!({ "n": 2 }));
    for client in [&foreign.agent, &foreign.staff, &foreign.operator] {
        refused_as(client.call("get_run", json!({ "runId": run["run"]["id"] })), "not_found");
        assert!(client.pages("list_runs", json!({})).is_empty());
        assert!(client.pages("list_processes", json!({})).is_empty());
        assert!(client.work().is_empty());
    }
    refused_as(foreign.operator.call("get_process", json!({ "name": "ours" })), "not_found");
}

fn odd_names_are_not_found(org: &Org) {
    let run = org.run("ours", AGENT, json!({ "n": 1 }));
    let long = "x".repeat(100_000);
    for odd in ["r_", "r_none", "../..", "run/1", "\u{0}", "r_\u{7f}", "😀", "%00", "' or 1=1", long.as_str()] {
        refused_as(org.agent.call("get_run", json!({ "runId": odd })), "not_found");
        refused_as(org.agent.call("claim", json!({ "runId": odd, "stepId": "work" })), "not_found");
        refused_as(org.agent.call("claim", json!({ "runId": run["run"]["id"], "stepId": odd })), "not_found");
        refused_as(org.operator.call("get_process", json!({ "name": odd })), "not_found");
        refused_as(org.operator.call("cancel", json!({ "runId": odd, "reason": "Enough." })), "not_found");
        assert!(org.agent.pages("get_work", json!({ "process": odd })).is_empty());
        assert!(org.agent.pages("list_runs", json!({ "process": odd })).is_empty());
        assert!(org.agent.pages("list_runs", json!({ "inputs": { odd: 1 } })).is_empty());
    }
}

fn what_became_ready_at_one_instant_has_one_order(org: &Org) {
    org.publish(&file("lists", AGENT));
    crate::harness::at_once(8, |n| org.agent.start("lists", json!({ "n": n })));
    for (tool, field) in [("get_work", "runId"), ("list_runs", "id")] {
        let whole = ids(&org.agent.pages(tool, json!({})), field);
        assert_eq!(whole.len(), 8);
        for limit in [1, 3] {
            assert_eq!(ids(&org.agent.pages(tool, json!({ "limit": limit })), field), whole, "{tool} by {limit}");
        }
    }
}
