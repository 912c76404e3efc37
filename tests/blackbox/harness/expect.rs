//! Small readings of answers that scenarios expect something of.

use serde_json::{Value, json};

use super::{Answer, ToolError};

/// The refusal that a call must have met, with this code.
#[track_caller]
pub fn refused_as(answer: Answer, code: &str) -> ToolError {
    match answer {
        Err(error) if error.code == code => {
            assert!(!error.message.trim().is_empty(), "{code} without a message");
            error
        }
        other => panic!("expected {code}, got {other:?}"),
    }
}

/// The refusal that a call must have met, with this code and exactly these issues.
#[track_caller]
pub fn refused(answer: Answer, code: &str, issues: &[&str]) -> ToolError {
    let error = refused_as(answer, code);
    assert_eq!(error.issues, issues, "{}", error.message);
    error
}

/// The state of a step in a run view.
#[track_caller]
pub fn state<'a>(view: &'a Value, step: &str) -> &'a Value {
    let steps = view["steps"].as_array().unwrap();
    &steps.iter().find(|s| s["id"] == step).unwrap_or_else(|| panic!("no step {step}"))["state"]
}

/// The run's state and outcome, and every step's state, as one short text.
pub fn states(view: &Value) -> String {
    let plain = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let steps = view["steps"].as_array().unwrap().iter();
    let steps: Vec<String> = steps.map(|s| format!("{}={}", plain(&s["id"]), plain(&s["state"]))).collect();
    format!("{}/{} {}", plain(&view["run"]["state"]), plain(&view["run"]["outcome"]), steps.join(" "))
}

/// The open work item of a step in a run view.
#[track_caller]
pub fn item<'a>(view: &'a Value, step: &str) -> &'a Value {
    let items = view["workItems"].as_array().unwrap();
    items.iter().find(|i| i["stepId"] == step).unwrap_or_else(|| panic!("no open work item of {step} in {view}"))
}

/// The same with every evidence link replaced, since links are made anew on every read.
pub fn without_urls(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(map) => {
                if map.get("kind") == Some(&json!("file")) && map.contains_key("url") {
                    map["url"] = json!("…");
                }
                map.values_mut().for_each(walk);
            }
            Value::Array(list) => list.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}
