//! No arguments whatever bring the validator down; it takes what a full implementation of JSON Schema takes, by the schemas
//! that are published, and what it says of the others stays short. `PROPTEST_CASES` set to a large
//! number searches for hours instead of a moment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::LazyLock;

use mcp::validate::{DEPTH_LEVELS, Validator};
use proptest::prelude::*;
use proptest::string::{RegexGeneratorStrategy, string_regex};
use serde_json::{Map, Value, json};

/// Most faults of the schema that are told of one call; one more issue counts the others.
const ISSUES: usize = 100;

/// Longest that one issue may be, in characters: names of a client's own are shortened.
const ISSUE_CHARS: usize = 500;

/// Most arguments of one call that [`arguments`] nests too deep; each has an issue of its own.
const DEEP: usize = 2;

/// Fewest calls that are tried: some for each tool.
const CASES: u32 = 1_024;

/// A tool's schema with the validator of it.
#[derive(Debug)]
struct Known {
    names: Vec<String>,
    /// A value that each argument takes, in the order of the names.
    right: Vec<Value>,
    validator: Validator,
    schema: jsonschema::Validator,
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let schemas = mcp::tools::published().into_iter().chain(mcp::tools::published_graphs());
    schemas.filter_map(|(path, schema)| Some(known(path.strip_suffix(".arguments.json")?, &schema))).collect()
});

fn known(tool: &str, schema: &Value) -> Known {
    let properties = || schema["properties"].as_object().into_iter().flatten();
    Known {
        names: properties().map(|(name, _)| name.clone()).collect(),
        right: properties().map(|(name, property)| right(name, property)).collect(),
        schema: jsonschema::options().build(schema).unwrap(),
        validator: Validator::new(tool, schema).unwrap(),
    }
}

fn text(pattern: &'static str) -> RegexGeneratorStrategy<String> {
    string_regex(pattern).unwrap()
}

/// Any value.
fn value() -> impl Strategy<Value = Value> {
    let number = text(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?(e[+-][0-9]{1,5})?");
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number.prop_map(|number| serde_json::from_str(&number).unwrap()),
        text(".{0,150}").prop_map(Value::from),
    ];
    let word = prop::sample::select(&["file", "link", "active", "test", "approved"][..]).prop_map(Value::from);
    let leaf = prop_oneof![4 => leaf, 1 => word, 1 => text("[ \\u{85}\\u{a0}\\u{feff}\\t]{1,3}").prop_map(Value::from)];
    let name = prop_oneof![Just("kind".to_owned()), Just("ref".to_owned()), text(".{0,150}")];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let object = prop::collection::vec((name.clone(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value that the argument takes.
fn right(name: &str, property: &Value) -> Value {
    match name {
        "output" | "inputs" | "data" | "facts" | "detail" => json!({ "total": 1.10 }),
        "outcomes" => json!({ "release/build": "completed" }),
        "outcome" => json!("partial"),
        "authorities" => json!(["review"]),
        "replace" => json!(true),
        "files" => json!([{ "path": "manifest.json", "contentBase64": "e30=" }]),
        "receipts" => json!({
            "schema": "agent-graph.resource-read-receipts.v1", "provider": "acme/release",
            "receipts": [{ "id": "checklist", "digest": "sha256:0" }],
        }),
        "roles" => json!({ "clerk": "clerks" }),
        _ if property["type"] == "integer" => json!(7),
        "mode" => json!("test"),
        "state" => json!("active"),
        "evidence" => json!([{ "kind": "link", "ref": "INV-7" }]),
        "decision" => json!("approved"),
        _ => json!("some text"),
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}

/// The tool's own arguments, a few of them left out or wrong; some that it does not know; some very deep.
fn arguments(known: &'static Known) -> impl Strategy<Value = Map<String, Value>> {
    let own: Vec<_> = known
        .right
        .iter()
        .map(|right| prop_oneof![8 => Just(Some(right.clone())), 1 => Just(None), 1 => value().prop_map(Some)])
        .collect();
    let surplus = |count| prop::collection::vec((text(".{0,120}"), Just(json!(1))), count);
    let surplus = prop_oneof![6 => Just(Vec::new()), 3 => surplus(1..5), 1 => surplus(90..200)];
    // A tool without arguments is sent some all the same.
    let names = if known.names.is_empty() { vec!["output".to_owned()] } else { known.names.clone() };
    let deep = prop::collection::vec((prop::sample::select(names), 50..120_usize), 0..=DEEP);
    let deep = prop_oneof![3 => Just(Vec::new()), 1 => deep];
    (own, surplus, deep).prop_map(|(own, surplus, deep)| {
        let own = known.names.iter().cloned().zip(own).filter_map(|(name, value)| Some((name, value?)));
        let deep = deep.into_iter().map(|(name, levels)| (name, nested(levels)));
        own.chain(surplus).chain(deep).collect()
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Accepted, unchanged, exactly when the schema takes it and it is not too deep; else told why, shortly.
fn is_answered(known: &Known, arguments: Map<String, Value>) {
    let sent = Value::Object(arguments.clone());
    let fits = known.schema.is_valid(&sent) && depth(&sent) <= DEPTH_LEVELS;
    match known.validator.read::<Value>(arguments) {
        Ok(read) => {
            assert!(fits, "accepted: {sent}");
            assert_eq!(read.to_string(), sent.to_string());
        }
        Err(issues) => {
            assert!(!fits, "refused: {sent}: {issues:?}");
            assert!((1..=ISSUES + 1 + DEEP).contains(&issues.len()), "{} issues", issues.len());
            let long = issues.iter().find(|issue| issue.is_empty() || issue.chars().count() > ISSUE_CHARS);
            assert_eq!(long, None);
        }
    }
}

/// A tool, and arguments for it.
fn call() -> impl Strategy<Value = (&'static Known, Map<String, Value>)> {
    let known = prop::sample::select(KNOWN.iter().collect::<Vec<_>>());
    known.prop_flat_map(|known| (Just(known), arguments(known)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES.max(ProptestConfig::default().cases), ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_are_answered((known, arguments) in call()) {
        is_answered(known, arguments);
    }
}

#[test]
fn every_tool_is_known() {
    assert_eq!(KNOWN.len(), identity::TOOLS.len());
}
