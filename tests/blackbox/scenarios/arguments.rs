//! Arguments (tool contracts): each fault is named, all of them at once, before anything is looked up.

use serde_json::{Map, Value, json};

use crate::harness::{Org, file, fresh, refused, refused_as, scenarios};

scenarios! {
    any: [
        every_missing_argument_is_named,
        every_mistyped_argument_is_named,
        undeclared_arguments_are_invalid,
        blank_counts_as_missing,
        texts_have_their_limits,
        page_limits_are_1_to_100,
        a_request_id_has_1_to_128_characters,
        control_characters_and_odd_texts_are_data,
        what_is_accepted_however_deep_stays_readable,
    ],
}

/// Every tool as the server lists it: its name and the schema of its arguments.
fn tools(org: &Org) -> Vec<(String, Value)> {
    let list = org.agent.rpc("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap().iter();
    tools.map(|t| (t["name"].as_str().unwrap().to_owned(), t["inputSchema"].clone())).collect()
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.map(|n| n.as_str().unwrap().to_owned()).collect()
}

/// Some value of each required argument that its schema takes.
fn filled(schema: &Value) -> Map<String, Value> {
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("integer") => json!(1),
        _ if name == "decision" => json!("approved"),
        _ if name == "outcome" => json!("completed"),
        _ => json!("x"),
    };
    required(schema).iter().map(|name| (name.clone(), value(name))).collect()
}

fn every_missing_argument_is_named(org: &Org) {
    let mut writes = 0;
    for (tool, schema) in tools(org) {
        let required = required(&schema);
        if required.is_empty() {
            continue;
        }
        let mut told = refused_as(org.operator.exact(&tool, json!({})), "invalid").issues;
        // Summary is the submission's to miss, not the call's.
        let mut expected: Vec<String> = required.iter().map(|name| format!("{name}: missing")).collect();
        told.sort();
        expected.sort();
        assert_eq!(told, expected, "{tool}");
        writes += usize::from(required.iter().any(|name| name == "requestId"));
        for name in &required {
            let mut arguments = filled(&schema);
            arguments.shift_remove(name);
            let told = refused_as(org.operator.exact(&tool, Value::Object(arguments)), "invalid").issues;
            assert_eq!(told, [format!("{name}: missing")], "{tool}");
        }
    }
    assert!(writes >= 9, "every write takes a requestId");
}

fn every_mistyped_argument_is_named(org: &Org) {
    for (tool, schema) in tools(org) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let kind = property["type"].as_str().unwrap_or("string");
            let wrong = if kind == "object" { json!("text") } else { json!({ "an": "object" }) };
            for value in [wrong, Value::Null, json!([[]])] {
                let mut arguments = filled(&schema);
                arguments.insert(name.clone(), value.clone());
                let error = refused_as(org.operator.exact(&tool, Value::Object(arguments)), "invalid");
                let named =
                    |issue: &String| issue.starts_with(&format!("{name}: ")) || issue.starts_with(&format!("{name}["));
                assert!(!error.issues.is_empty() && error.issues.iter().all(named), "{tool} {name} {value}: {error:?}");
            }
        }
    }
}

fn undeclared_arguments_are_invalid(org: &Org) {
    for (tool, schema) in tools(org) {
        let mut arguments = filled(&schema);
        arguments.insert("surplus".to_owned(), json!(1));
        let error = refused_as(org.operator.exact(&tool, Value::Object(arguments)), "invalid");
        assert_eq!(error.issues, [format!("surplus: not an argument of {tool}")]);
    }
}

fn blank_counts_as_missing(org: &Org) {
    for (tool, schema) in tools(org) {
        for name in required(&schema) {
            if schema["properties"][&name]["type"] != "string" || ["decision", "outcome"].contains(&name.as_str()) {
                continue;
            }
            for blank in ["", " ", "\t\n", "\u{a0}"] {
                let mut arguments = filled(&schema);
                arguments.insert(name.clone(), json!(blank));
                let error = refused_as(org.operator.exact(&tool, Value::Object(arguments)), "invalid");
                assert_eq!(error.issues, [format!("{name}: missing")], "{tool}");
            }
        }
    }
}

const PROCESS: &str = "
steps:
  - { id: work, agent: Work., next: [look, end] }
  - { id: look, approve: Look., person: boss, on_reject: work }
  - { id: end, finish: over }
";

fn texts_have_their_limits(org: &Org) {
    let run = org.run("limits", PROCESS, json!({}));
    let id = &run["run"]["id"];
    let claimed = org.agent.claim(&run, "work");
    let text = |n: usize| json!("é".repeat(n));
    let upload = |name: Value, kind: Value| {
        org.agent.call("upload", json!({ "fileName": name, "contentType": kind, "contentBase64": "aGVsbG8=" }))
    };
    refused(upload(text(256), json!("a")), "invalid", &["fileName: longer than 255 characters"]);
    let kind = |n: usize| json!(format!("text/{}", "x".repeat(n - 5)));
    refused(upload(text(1), kind(161)), "invalid", &["contentType: longer than 160 characters"]);
    upload(text(255), kind(160)).unwrap();
    let renew = |token: &Value, n| org.agent.call("renew", json!({ "token": token, "progress": text(n) }));
    refused(renew(&claimed["token"], 4_001), "invalid", &["progress: longer than 4000 characters"]);
    let renewed = renew(&claimed["token"], 4_000).unwrap();
    let routed = |n| json!({ "next": "look", "reason": text(n) });
    let long = org.agent.submit(&renewed, json!({}), routed(4_001));
    refused(long, "invalid", &["reason: longer than 4000 characters"]);
    org.agent.submit(&renewed, json!({}), routed(4_000)).unwrap();
    let reject = |n| org.staff.try_decide(&run, "look", "rejected", json!({ "note": text(n) }));
    refused(reject(4_001), "invalid", &["note: longer than 4000 characters"]);
    let view = reject(4_000).unwrap();
    assert_eq!(view["data"]["steps"]["look"]["note"].as_str().unwrap().chars().count(), 4_000);
    let claimed = org.agent.claim(&run, "work");
    let escalate = |n| org.agent.call("escalate", json!({ "token": claimed["token"], "note": text(n) }));
    refused(escalate(4_001), "invalid", &["note: longer than 4000 characters"]);
    escalate(4_000).unwrap();
    let cancel = |n| org.operator.call("cancel", json!({ "runId": id, "reason": text(n) }));
    refused(cancel(4_001), "invalid", &["reason: longer than 4000 characters"]);
    cancel(4_000).unwrap();
}

fn page_limits_are_1_to_100(org: &Org) {
    for tool in ["get_work", "list_runs", "list_providers"] {
        for bad in [json!(0), json!(101), json!(-1), json!(1e30)] {
            refused(org.agent.call(tool, json!({ "limit": bad })), "invalid", &["limit: 1 to 100"]);
        }
        refused(org.agent.call(tool, json!({ "limit": 1.5 })), "invalid", &["limit: expected integer"]);
        for good in [json!(1), json!(100), json!(5.0)] {
            org.agent.ok(tool, json!({ "limit": good }));
        }
    }
    org.publish(&file("limits", PROCESS));
    for _ in 0..21 {
        org.agent.exact("start_run", json!({ "process": "limits", "inputs": {}, "requestId": fresh() })).unwrap();
    }
    for tool in ["get_work", "list_runs"] {
        let page = org.agent.ok(tool, json!({}));
        assert_eq!(page["items"].as_array().unwrap().len(), 20, "{tool}: the default");
    }
}

fn a_request_id_has_1_to_128_characters(org: &Org) {
    org.publish(&file("limits", PROCESS));
    let start = |id: &str| org.agent.call("start_run", json!({ "process": "limits", "inputs": {}, "requestId": id }));
    refused(start(&"x".repeat(129)), "invalid", &["requestId: longer than 128 characters"]);
    for good in ["x".repeat(128), "😀".repeat(128), "/../#?%00".to_owned(), "a\u{0}b".to_owned(), "1".to_owned()] {
        start(&good).unwrap();
    }
    assert_eq!(org.agent.pages("list_runs", json!({})).len(), 5);
}

fn control_characters_and_odd_texts_are_data(org: &Org) {
    let rest = "
inputs: { text: string, thing: object }
steps:
  - { id: work, agent: Work., output: { text: string } }
  - { id: end, finish: over }
";
    org.publish(&file("texts", rest));
    let odd = "\u{0}\u{1}\u{7f}\u{2028} \"quotes\" \\ <script> 'ümlaut' 😀 \r\n\t\u{feff}";
    let inputs = json!({ "text": odd, "thing": { odd: [odd, { "": odd }], "constructor": null, "$ref": "#/x" } });
    let run = org.agent.start("texts", inputs.clone());
    assert_eq!(run["data"]["inputs"], inputs);
    let more = json!({ "summary": odd, "evidence": [{ "kind": "link", "ref": odd }] });
    let ended = org.agent.work_on(&run, "work", json!({ "text": odd }), more);
    let entry = &org.agent.view(&run)["data"]["steps"]["work"];
    assert_eq!((&entry["output"]["text"], &entry["summary"]), (&json!(odd), &json!(odd)));
    assert_eq!(entry["evidence"][0]["ref"], odd);
    assert_eq!(ended["run"]["outcome"], "over");
}

fn what_is_accepted_however_deep_stays_readable(org: &Org) {
    let rest = "
inputs: { thing: object }
steps:
  - { id: work, agent: Work., output: { thing: object } }
  - { id: heard, wait_for: signal }
  - { id: end, finish: over }
";
    org.publish(&file("depths", rest));
    // What is shown is nested deeper than what was sent, and what is stored too.
    for levels in [40, 62, 63, 64, 90, 110, 118, 120, 121, 122, 123] {
        let nested = (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        let start = |thing: &Value| {
            org.agent.exact(
                "start_run",
                json!({
                    "process": "depths", "inputs": { "thing": thing }, "requestId": fresh(),
                }),
            )
        };
        let deep = start(&nested);
        let run = start(&json!({})).unwrap();
        let claimed = org.agent.claim(&run, "work");
        let submitted = org.agent.submit(&claimed, json!({ "thing": nested }), json!({}));
        let event = json!({ "runId": run["run"]["id"], "name": "other", "data": nested });
        let held = org.agent.call("send_event", event);
        for answer in [&deep, &submitted, &held] {
            if let Err(error) = answer {
                assert!(levels > 60, "{levels} levels are not too many");
                assert_eq!(error.code, "invalid", "{levels}: {error:?}");
                assert!(error.issues[0].contains("nested deeper than"), "{levels}: {error:?}");
            }
        }
        if let Ok(deep) = deep {
            assert_eq!(org.agent.view(&deep)["data"]["inputs"]["thing"], nested);
            org.agent.work_on(&deep, "work", json!({ "thing": {} }), json!({}));
        }
        org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Too deep." }));
    }
    assert!(org.agent.pages("list_runs", json!({})).len() >= 11);
}
