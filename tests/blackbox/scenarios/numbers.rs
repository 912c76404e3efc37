//! Numbers are never rounded (core §2.3): what was sent is what is read, digit for digit.

use serde_json::{Value, json};

use crate::harness::{Org, file, scenarios};

scenarios! {
    any: [numbers_keep_their_text_everywhere, a_number_is_equal_by_value_to_an_allowed_one],
}

/// Numbers that a double, a machine integer or a decimal of some width would change, or write in another way.
const NUMBERS: [&str; 14] = [
    "1.10",
    "0.1",
    "-0",
    "-0.0",
    "9007199254740993",
    "123456789012345678901234567890",
    "3.14159265358979323846264338327950288",
    "1e+400",
    "1.0e-7",
    "0.0000001",
    "1e-7",
    "1.0",
    "1000000000000000000000000000000000000000000",
    "100",
];

/// Sends arguments that are written out here, and gives the answer's text. It holds the result twice, as structured
/// content and as text.
fn raw(org: &Org, tool: &str, arguments: &str) -> String {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let answer = org.agent.post(&[], message.into_bytes()).text();
    let parsed: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(parsed["result"]["structuredContent"]["ok"], true, "{answer}");
    answer
}

fn numbers_keep_their_text_everywhere(org: &Org) {
    let rest = "
inputs: { all: { type: list, items: number }, thing: { type: object, optional: true } }
steps:
  - { id: work, agent: Work., output: { all: { type: list, items: number } } }
  - { id: heard, wait_for: event }
  - { id: more, agent: Work. }
  - { id: end, finish: over }
";
    org.publish(&file("numbers", rest));
    let list = format!("[{}]", NUMBERS.join(","));
    let inputs = format!(r#"{{"all":{list},"thing":{{"deep":{list}}}}}"#);
    let started = raw(org, "start_run", &format!(r#"{{"process":"numbers","inputs":{inputs},"requestId":"start"}}"#));
    assert_eq!(started.matches(&list).count(), 4, "{started}");
    let run: Value = serde_json::from_str(&started).unwrap();
    let run = run["result"]["structuredContent"]["data"].clone();
    let id = run["run"]["id"].as_str().unwrap();
    let claimed = org.agent.claim(&run, "work");
    assert_eq!(claimed["data"]["inputs"]["all"].to_string(), list);
    let token = claimed["token"].as_str().unwrap();
    let submit = format!(r#"{{"token":"{token}","output":{{"all":{list}}},"summary":"s","requestId":"submit"}}"#);
    assert_eq!(raw(org, "submit", &submit).matches(&list).count(), 6);
    raw(org, "send_event", &format!(r#"{{"runId":"{id}","name":"event","data":{{"all":{list}}},"requestId":"e"}}"#));
    let read = raw(org, "get_run", &format!(r#"{{"runId":"{id}"}}"#));
    assert_eq!(read.matches(&list).count(), 8, "inputs twice, output and event: {read}");
    let listed = raw(org, "list_runs", &format!(r#"{{"inputs":{{"all":{list}}}}}"#));
    assert_eq!(listed.matches(&list).count(), 4, "{listed}");
    let again = org.agent.claim(&run, "more");
    assert_eq!(again["data"]["steps"]["heard"]["output"]["all"].to_string(), list);
}

fn a_number_is_equal_by_value_to_an_allowed_one(org: &Org) {
    let rest = "
inputs: { rate: { type: number, one_of: [2.50, 9007199254740993, 0.1] } }
steps:
  - { id: end, finish: over }
";
    org.publish(&file("rates", rest));
    for (text, allowed) in [
        ("2.5", true),
        ("25e-1", true),
        ("9007199254740993", true),
        ("9007199254740993.0", true),
        ("0.10", true),
        ("9007199254740992", false),
        ("0.1000000000000000055511151231257827", false),
    ] {
        let rate: Value = serde_json::from_str(text).unwrap();
        let answer = org.agent.call("start_run", json!({ "process": "rates", "inputs": { "rate": rate } }));
        assert_eq!(answer.is_ok(), allowed, "{text}: {answer:?}");
    }
}
