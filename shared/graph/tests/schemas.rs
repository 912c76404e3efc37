//! The published schemas and the types say the same: every field, every word, and what is closed. And documents show it:
//! what a schema accepts its type reads and writes back, and what either does not know both refuse.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};

use graph::documents::*;
use jsonschema::{Retrieve, Uri, Validator};
use schemars::schema_for;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const IDENTITY: &str = "urn:procession:schemas:agent-graph:";

fn published(name: &str) -> Value {
    serde_json::from_str(graph::schema_named(name).unwrap()).unwrap()
}

/// What a schema says of a value, without what only people read and without what narrows a text or a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Any,
    Types(BTreeSet<String>),
    Words(BTreeSet<String>),
    List(Box<Shape>),
    /// Keys of any name.
    Map(Box<Shape>),
    Object {
        fields: BTreeMap<String, Shape>,
        required: BTreeSet<String>,
        closed: bool,
    },
    Either(BTreeSet<Shape>),
}

/// The shape of a schema. Both kinds of schema are read by the same rules; `null` is dropped beside other types, since it is
/// how a type says that a field may be left out.
fn shape(schema: &Value, root: &Value) -> Shape {
    if *schema == Value::Bool(true) {
        return Shape::Any;
    }
    let schema = schema.as_object().unwrap();
    if let Some(word) = schema.get("const") {
        return Shape::Words([word.to_string()].into());
    }
    if let Some(words) = schema.get("enum") {
        return Shape::Words(words.as_array().unwrap().iter().map(Value::to_string).collect());
    }
    if let Some(to) = schema.get("$ref") {
        let to = to.as_str().unwrap();
        return match to.strip_prefix('#') {
            Some(pointer) => shape(root.pointer(pointer).unwrap(), root),
            None => {
                let other = published(to.strip_prefix(IDENTITY).unwrap());
                shape(&other, &other)
            }
        };
    }
    if let Some(fields) = schema.get("properties") {
        assert_eq!(schema["type"], "object");
        let fields = fields.as_object().unwrap();
        let required = schema.get("required").map_or(&[][..], |required| required.as_array().unwrap());
        return Shape::Object {
            fields: fields.iter().map(|(name, field)| (name.clone(), shape(field, root))).collect(),
            required: required.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
            closed: schema.get("additionalProperties") == Some(&Value::Bool(false)),
        };
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(choice) {
            let choices = choices.as_array().unwrap().iter().map(|choice| shape(choice, root));
            return either(choices.filter(|choice| *choice != Shape::Types(["null".to_owned()].into())).collect());
        }
    }
    let Some(types) = schema.get("type") else {
        assert!(!schema.contains_key("items") && !schema.contains_key("additionalProperties"), "{schema:?}");
        return Shape::Any;
    };
    let mut types: BTreeSet<String> = match types {
        Value::Array(types) => types.iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
        one => [one.as_str().unwrap().to_owned()].into(),
    };
    if types.len() > 1 {
        types.remove("null");
    }
    let inner = |keyword: &str| Box::new(schema.get(keyword).map_or(Shape::Any, |inner| shape(inner, root)));
    match types.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["array"] => Shape::List(inner("items")),
        ["object"] => Shape::Map(inner("additionalProperties")),
        _ => Shape::Types(types),
    }
}

/// One of several; words are one set of words.
fn either(choices: BTreeSet<Shape>) -> Shape {
    if choices.len() == 1 {
        return choices.into_iter().next().unwrap();
    }
    let words: Option<Vec<BTreeSet<String>>> = choices
        .iter()
        .map(|choice| if let Shape::Words(words) = choice { Some(words.clone()) } else { None })
        .collect();
    words.map_or(Shape::Either(choices), |words| Shape::Words(words.into_iter().flatten().collect()))
}

/// Every difference, each with where it is.
fn differences(at: &str, published: &Shape, typed: &Shape, found: &mut Vec<String>) {
    match (published, typed) {
        (Shape::List(a), Shape::List(b)) | (Shape::Map(a), Shape::Map(b)) => {
            differences(&format!("{at}[]"), a, b, found)
        }
        (
            Shape::Object { fields: a, required: ra, closed: ca },
            Shape::Object { fields: b, required: rb, closed: cb },
        ) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                match (a.get(name), b.get(name)) {
                    (Some(a), Some(b)) => differences(&format!("{at}.{name}"), a, b, found),
                    (in_schema, _) => found.push(format!("{at}.{name}: only in the {}", side(in_schema.is_some()))),
                }
            }
            for name in ra.symmetric_difference(rb) {
                found.push(format!("{at}.{name}: required only by the {}", side(ra.contains(name))));
            }
            if !ca || !cb {
                found.push(format!("{at}: open: schema {}, type {}", !ca, !cb));
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!("{at}: {a:?} in the schema, {b:?} in the type")),
    }
}

fn side(schema: bool) -> &'static str {
    if schema { "schema" } else { "type" }
}

struct Published;

impl Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(published(uri.as_str().strip_prefix(IDENTITY).unwrap()))
    }
}

/// A published schema with its type behind a function.
struct Pair {
    name: &'static str,
    typed: Value,
    read: fn(&Value) -> Option<Value>,
    validator: Validator,
}

fn read<T: DeserializeOwned + Serialize>(value: &Value) -> Option<Value> {
    // Over the text, as a file is read.
    serde_json::from_str::<T>(&value.to_string()).ok().map(|read| serde_json::to_value(read).unwrap())
}

macro_rules! pairs {
    ($($name:literal: $type:ty),* $(,)?) => {
        vec![$(Pair {
            name: $name,
            typed: schema_for!($type).to_value(),
            read: read::<$type>,
            validator: jsonschema::options()
                .with_retriever(Published)
                .should_validate_formats(true)
                .build(&published($name))
                .unwrap(),
        }),*]
    };
}

fn pairs() -> Vec<Pair> {
    pairs!(
        "action": Action,
        "bundle": Bundle,
        "code-catalog": CodeCatalog,
        "code-location": CodeLocation,
        "error": ErrorEnvelope,
        "evaluation": Evaluation,
        "graph": Graph,
        "host-action-result": HostActionResult,
        "provider": ProviderManifest,
        "resource-file": FileResource,
        "resource-graph-action": GraphActionResource,
        "resource-host-action": HostActionResource,
        "resource-location-file": FileLocation,
        "resource-location-graph-action": GraphActionLocation,
        "resource-location-host-action": HostActionLocation,
        "resource-read-receipts": ReadReceipts,
        "route": Route,
        "run": Run,
        "skill-binding": SkillBinding,
        "test-case": TestCase,
    )
}

#[test]
fn every_schema_says_what_its_type_says() {
    let pairs = pairs();
    let names: Vec<&str> = pairs.iter().map(|pair| pair.name).collect();
    assert_eq!(names, graph::SCHEMAS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let mut found = Vec::new();
    for pair in &pairs {
        let published = published(pair.name);
        differences(pair.name, &shape(&published, &published), &shape(&pair.typed, &pair.typed), &mut found);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_difference_anywhere_is_found() {
    // Every place of every schema that says something is changed once, and each time that must be found.
    let mut changed = 0;
    for pair in pairs() {
        let typed = shape(&pair.typed, &pair.typed);
        for other in changes(&published(pair.name)) {
            let mut found = Vec::new();
            differences(pair.name, &shape(&other, &other), &typed, &mut found);
            assert!(!found.is_empty(), "{}: a change was not found: {other}", pair.name);
            changed += 1;
        }
    }
    assert!(changed > 700, "{changed}");
}

/// The schema with one field, one required name, one word or one lock less, in every way there is. What is in a choice of
/// forms narrows a shape and is none of its own, except where words or locations are chosen.
fn changes(schema: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut places = vec![String::new()];
    while let Some(place) = places.pop() {
        let here = schema.pointer(&place).unwrap();
        let Some(object) = here.as_object() else { continue };
        let mut change = |edit: &dyn Fn(&mut Value)| {
            let mut other = schema.clone();
            edit(other.pointer_mut(&place).unwrap());
            all.push(other);
        };
        if object.contains_key("properties") {
            for name in object["properties"].as_object().unwrap().keys() {
                change(&|here| drop(here["properties"].as_object_mut().unwrap().remove(name)));
                places.push(format!("{place}/properties/{name}"));
            }
            for at in 0..object.get("required").map_or(0, |required| required.as_array().unwrap().len()) {
                change(&|here| drop(here["required"].as_array_mut().unwrap().remove(at)));
            }
            change(&|here| drop(here.as_object_mut().unwrap().remove("additionalProperties")));
        }
        for at in 0..object.get("enum").map_or(0, |words| words.as_array().unwrap().len()) {
            change(&|here| drop(here["enum"].as_array_mut().unwrap().remove(at)));
        }
        if object.contains_key("const") {
            change(&|here| here["const"] = json!("other"));
        }
        if let Some(kind) =
            object.get("type").filter(|kind| !["object", "array"].contains(&kind.as_str().unwrap_or("")))
            && !object.contains_key("enum")
        {
            let other = if *kind == json!("boolean") { "string" } else { "boolean" };
            change(&|here| here["type"] = json!(other));
        }
        if object.contains_key("items") {
            places.push(format!("{place}/items"));
        }
        if let Some(definitions) = object.get("$defs") {
            // What nothing refers to by itself (an id is a text like another) is checked where it is used.
            places.extend(definitions.as_object().unwrap().keys().map(|name| format!("{place}/$defs/{name}")));
        }
    }
    all
}

/// Documents that use every field there is, one or more a schema.
fn documents() -> BTreeMap<&'static str, Vec<Value>> {
    let text = include_str!("schemas/documents.json");
    let all: BTreeMap<String, Vec<Value>> = serde_json::from_str(text).unwrap();
    pairs().iter().map(|pair| (pair.name, all[pair.name].clone())).collect()
}

/// Every place in a document, as pointers.
fn places(document: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while at < all.len() {
        let place = all[at].clone();
        match document.pointer(&place).unwrap() {
            Value::Object(fields) => {
                let escaped = fields.keys().map(|key| key.replace('~', "~0").replace('/', "~1"));
                all.extend(escaped.map(|key| format!("{place}/{key}")));
            }
            Value::Array(list) => all.extend((0..list.len()).map(|index| format!("{place}/{index}"))),
            _ => {}
        }
        at += 1;
    }
    all
}

/// The names of fields that a published schema has anywhere.
fn fields(shape: &Shape, at: &str, all: &mut BTreeSet<String>) {
    match shape {
        Shape::List(inner) | Shape::Map(inner) => fields(inner, &format!("{at}[]"), all),
        Shape::Object { fields: of, .. } => {
            for (name, inner) in of {
                all.insert(format!("{at}.{name}"));
                fields(inner, &format!("{at}.{name}"), all);
            }
        }
        Shape::Either(choices) => choices.iter().for_each(|choice| fields(choice, at, all)),
        _ => {}
    }
}

/// The same of a document.
fn used(value: &Value, at: &str, shape: &Shape, all: &mut BTreeSet<String>) {
    match (value, shape) {
        (Value::Array(list), Shape::List(inner)) => {
            list.iter().for_each(|value| used(value, &format!("{at}[]"), inner, all))
        }
        (Value::Object(map), Shape::Map(inner)) => {
            map.values().for_each(|value| used(value, &format!("{at}[]"), inner, all))
        }
        (Value::Object(map), Shape::Object { fields, .. }) => {
            for (name, value) in map {
                // Another choice may have been meant, whose inner fields are others.
                if let Some(inner) = fields.get(name) {
                    all.insert(format!("{at}.{name}"));
                    used(value, &format!("{at}.{name}"), inner, all);
                }
            }
        }
        (Value::Object(map), Shape::Either(choices)) => {
            for choice in choices {
                if matches!(choice, Shape::Object { fields, .. } if map.keys().all(|name| fields.contains_key(name))) {
                    used(value, at, choice, all);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn documents_are_read_and_written_back_and_together_use_every_field() {
    let documents = documents();
    for pair in pairs() {
        let published = published(pair.name);
        let shape = shape(&published, &published);
        let (mut known, mut seen) = (BTreeSet::new(), BTreeSet::new());
        fields(&shape, pair.name, &mut known);
        for document in &documents[pair.name] {
            if let Err(error) = pair.validator.validate(document) {
                panic!("{}: {error} at {}", pair.name, error.instance_path());
            }
            assert_eq!((pair.read)(document).as_ref(), Some(document), "{}", pair.name);
            used(document, pair.name, &shape, &mut seen);
        }
        assert_eq!(known.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new(), "not in any document");
    }
}

#[test]
fn a_field_that_is_not_known_is_refused_by_both() {
    let documents = documents();
    for pair in pairs() {
        let mut refused = 0;
        for document in &documents[pair.name] {
            for place in places(document) {
                let mut other = document.clone();
                let Some(object) = other.pointer_mut(&place).unwrap().as_object_mut() else { continue };
                object.insert("unheard-of".into(), json!(7));
                let (schema, read) = (pair.validator.is_valid(&other), (pair.read)(&other).is_some());
                assert_eq!(schema, read, "{} with an unknown field at {place}: {other}", pair.name);
                refused += usize::from(!schema);
                assert!(!place.is_empty() || !schema, "{}", pair.name);
            }
        }
        assert!(refused > 0);
    }
}

#[test]
fn what_a_schema_accepts_its_type_reads_and_writes_back() {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-7),
        json!(1.5),
        json!("other"),
        json!("sha256:0"),
        json!("context-view"),
        json!("repeat"),
        json!([]),
        json!({}),
        json!(["other"]),
        json!("2026-01-31T10:00:00Z"),
    ];
    let documents = documents();
    let (mut accepted, mut refused) = (0, 0);
    for pair in pairs() {
        for document in &documents[pair.name] {
            for place in places(document) {
                let mut changed: Vec<Value> = Vec::new();
                for other in &others {
                    let mut document = document.clone();
                    *document.pointer_mut(&place).unwrap() = other.clone();
                    changed.push(document);
                }
                if let Some((parent, name)) = place.rsplit_once('/') {
                    let mut document = document.clone();
                    match document.pointer_mut(parent).unwrap() {
                        Value::Object(object) => drop(object.remove(&name.replace("~1", "/").replace("~0", "~"))),
                        Value::Array(list) => drop(list.remove(name.parse().unwrap())),
                        _ => {}
                    }
                    changed.push(document);
                }
                for document in changed {
                    if pair.validator.is_valid(&document) {
                        accepted += 1;
                        assert_eq!((pair.read)(&document).as_ref(), Some(&document), "{} at {place}", pair.name);
                    } else {
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(accepted > 1_000 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_whole_number_may_be_written_with_a_point() {
    let graph = |priority: &str| {
        let node =
            format!(r#"{{"id": "a", "kind": "terminal", "terminalOutcome": "skipped", "priority": {priority}}}"#);
        serde_json::from_str(&format!(
            r#"{{"schema": "agent-graph.graph.v1", "id": "g", "entrypoints": {{"e": "a"}}, "nodes": [{node}], "edges": []}}"#
        ))
        .unwrap()
    };
    let pairs = pairs();
    let pair = pairs.iter().find(|pair| pair.name == "graph").unwrap();
    for (priority, whole) in [("5", 5), ("5.0", 5), ("-1e3", -1000), ("-0.0", 0), ("1000.000", 1000)] {
        let document: Value = graph(priority);
        assert!(pair.validator.is_valid(&document), "{priority}");
        assert_eq!((pair.read)(&document).unwrap()["nodes"][0]["priority"], whole);
    }
    for priority in ["5.5", "1001.0", "1e99", "\"5\"", "null"] {
        let document: Value = graph(priority);
        assert!(!pair.validator.is_valid(&document), "{priority}");
    }
}
