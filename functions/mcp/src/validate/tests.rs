//! What is told of arguments that break a schema, and that what fits it is read.

use super::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Arguments {
    #[schemars(length(min = 1, max = 128), regex(pattern = r"\S"))]
    request_id: String,
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    #[schemars(length(max = 4000))]
    note: Option<String>,
    mode: Option<Mode>,
    // As the tools have it: what may be left out is not null.
    #[serde(default)]
    #[schemars(with = "Documented")]
    kind: Option<Documented>,
    evidence: Option<Vec<Evidence>>,
    output: Option<Map<String, Value>>,
    names: Option<HashMap<String, String>>,
    #[serde(default)]
    #[schemars(with = "Evidence")]
    single: Option<Evidence>,
    bare: Option<i64>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Live,
    Test,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Documented {
    /// One.
    File,
    /// Another.
    Link,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Evidence {
    kind: Documented,
    #[serde(rename = "ref")]
    reference: String,
}

fn validator() -> Validator {
    Validator::new("claim", &Value::Object(crate::schemas::arguments::<Arguments>())).expect("a valid schema")
}

fn issues(arguments: Value) -> Vec<String> {
    validator().check(&arguments).err().unwrap_or_default()
}

#[test]
fn each_fault_says_what_to_do() {
    let with = |name: &str, value: Value| {
        let mut arguments = json!({ "requestId": "r" });
        arguments[name] = value;
        arguments
    };
    for (arguments, expected) in [
        (json!({}), "requestId: missing"),
        (with("requestId", json!("")), "requestId: missing"),
        (with("requestId", json!(" \t")), "requestId: missing"),
        (with("requestId", json!("x".repeat(129))), "requestId: longer than 128 characters"),
        (with("requestId", json!(7)), "requestId: expected string"),
        (with("requestId", json!(null)), "requestId: expected string"),
        (with("limit", json!("ten")), "limit: expected integer"),
        (with("limit", json!(1.5)), "limit: expected integer"),
        (with("limit", json!(0)), "limit: 1 to 100"),
        (with("limit", json!(101)), "limit: 1 to 100"),
        (with("note", json!("x".repeat(4001))), "note: longer than 4000 characters"),
        (with("note", json!([])), "note: expected string"),
        (with("mode", json!("real")), "mode: one of live, test"),
        (with("kind", json!("photo")), "kind: one of file, link"),
        (with("foo", json!(1)), "foo: not an argument of claim"),
        (with("", json!(1)), ": not an argument of claim"),
        (with("evidence", json!({})), "evidence: expected array"),
        (with("evidence", json!([7])), "evidence[0]: expected object"),
        (with("evidence", json!([{ "kind": "file" }])), "evidence[0].ref: missing"),
        (with("evidence", json!([{ "kind": "x", "ref": "f" }])), "evidence[0].kind: one of file, link"),
        (with("evidence", json!([{ "kind": "file", "ref": "f", "x": 1 }])), "evidence[0].x: not declared"),
        (with("output", json!("text")), "output: expected object"),
        (with("names", json!({ "a": "b", "c.d": 7 })), "names.c.d: expected string"),
        (with("single", json!({ "kind": "file" })), "single.ref: missing"),
        (with("single", json!("text")), "single: expected object"),
        (json!([]), "arguments: expected object"),
    ] {
        assert_eq!(issues(arguments.clone()), [expected], "{arguments}");
    }
}

#[test]
fn a_tool_without_arguments_names_what_is_too_much() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    let validator = Validator::new("describe", &Value::Object(crate::schemas::arguments::<Nothing>())).expect("valid");
    let issues = validator.check(&json!({ "a": 1, "b": 2 })).expect_err("too much");
    assert_eq!(issues, ["a: not an argument of describe", "b: not an argument of describe"]);
}

#[test]
fn an_integer_may_be_written_with_a_fraction() {
    let read = |limit: &str| {
        let text = format!(r#"{{"requestId":"r","limit":{limit}}}"#);
        validator().read::<Arguments>(serde_json::from_str(&text).expect("JSON")).map(|arguments| arguments.limit)
    };
    for (text, limit) in [("7", 7), ("7.0", 7), ("1e1", 10), ("70e-1", 7)] {
        assert_eq!(read(text), Ok(Some(limit)), "{text}");
    }
    assert_eq!(read("7.5"), Err(vec!["limit: expected integer".to_owned()]));
    assert_eq!(read("1e400"), Err(vec!["limit: 1 to 100".to_owned()]));
    assert_eq!(read("-1.0"), Err(vec!["limit: 1 to 100".to_owned()]));
}

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
    let read = |levels| {
        let arguments = Map::from_iter([("requestId".to_owned(), json!("r")), ("output".to_owned(), nested(levels))]);
        validator().read::<Arguments>(arguments)
    };
    assert!(read(DEPTH_LEVELS - 1).is_ok());
    assert_eq!(read(DEPTH_LEVELS).expect_err("too deep"), ["output: nested deeper than 64 levels"]);
    assert!(read(120).is_err());
}

#[test]
fn all_faults_come_at_once_in_the_order_of_the_schema() {
    let wrong = json!({ "zeta": 1, "names": { "a": 7 }, "alpha": 1, "note": 7, "limit": 0, "evidence": [{}] });
    let expected = [
        "requestId: missing",
        "limit: 1 to 100",
        "note: expected string",
        "evidence[0].kind: missing",
        "evidence[0].ref: missing",
        "names.a: expected string",
        "zeta: not an argument of claim",
        "alpha: not an argument of claim",
    ];
    for _ in 0..3 {
        assert_eq!(issues(wrong.clone()), expected);
    }
}

#[test]
fn right_arguments_are_read_with_their_numbers_text() {
    let text = r#"{"requestId":"r","output":{"a":1.10,"b":12345678901234567890.123,"c":1e-400}}"#;
    let Value::Object(arguments) = serde_json::from_str(text).expect("JSON") else { panic!("an object") };
    let read: Arguments = validator().read(arguments).expect("right");
    let output = Value::Object(read.output.expect("output")).to_string();
    assert_eq!(output, r#"{"a":1.10,"b":12345678901234567890.123,"c":1e-400}"#);
}

#[test]
fn what_the_type_cannot_hold_is_an_issue_too() {
    for arguments in [json!({ "requestId": "r", "bare": -1.0 }), json!({ "requestId": "r", "bare": 1e30 })] {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let issues = validator().read::<Arguments>(arguments.clone()).expect_err("refused");
        assert_eq!(issues.len(), 1, "{arguments:?}: {issues:?}");
    }
}

#[test]
fn a_flood_of_faults_is_cut_short() {
    let mut arguments = Map::new();
    arguments.insert("requestId".into(), json!("r"));
    for index in 0..MOST_ISSUES + 5 {
        arguments.insert(format!("x{index}"), json!(1));
    }
    arguments.insert("y".repeat(10_000), json!(1));
    let issues = issues(Value::Object(arguments));
    assert_eq!(issues.len(), MOST_ISSUES + 1);
    assert_eq!(issues.last().map(String::as_str), Some("and 6 more"));
    assert!(issues.iter().all(|issue| issue.chars().count() < 200));
}

#[test]
fn a_schema_that_says_more_than_is_checked_is_refused() {
    for (schema, at) in [
        (json!({ "type": 7 }), "#/type"),
        (json!({ "type": "text" }), "#/type"),
        (json!({ "properties": { "a": { "pattern": "^a" } } }), "#/properties/a/pattern"),
        (json!({ "items": { "multipleOf": 2 } }), "#/items/multipleOf"),
        (json!({ "minimum": 0.5 }), "#/minimum"),
        (json!({ "oneOf": [{ "type": "string" }] }), "#/oneOf"),
        (json!({ "oneOf": [{ "const": "a", "maxLength": 1 }] }), "#/oneOf"),
        (json!({ "enum": [1] }), "#"),
        (json!({ "additionalProperties": { "$ref": "#" } }), "#/additionalProperties/$ref"),
        (json!({ "items": false }), "#/items"),
    ] {
        let error = Validator::new("claim", &schema).expect_err("refused");
        assert!(error.starts_with(&format!("the schema of claim is wrong: {at} ")), "{error}");
    }
}
