//! The schemas that clients are told, derived from the types that the tools read and write.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

/// The schema of a tool's arguments. The type refuses unknown fields, so that the schema does.
pub fn arguments<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = derived::<T>(Contract::Deserialize);
    // An agent reads the tool's description; the type's is for those who read the code.
    schema.remove("title");
    schema.remove("description");
    schema.entry("type").or_insert_with(|| json!("object"));
    // Left out is not null: a default of null would teach a client to send it, and it would be refused.
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        if property.get("default").is_some_and(Value::is_null) {
            property.remove("default");
        }
    }
    schema
}

/// The schema of a tool's whole result, from the type of its `data`.
pub fn result_of<T: JsonSchema>() -> Map<String, Value> {
    result(data::<T>())
}

/// The schema of the `data` of a tool's result, or of a shape that stands in one. A field that may be null is still there.
pub fn data<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = Value::Object(derived::<T>(Contract::Serialize));
    absent_is_not_null(&mut schema, SCHEMA_LEVELS);
    let mut schema = if let Value::Object(schema) = schema { schema } else { Map::new() };
    told_once(&mut schema);
    schema
}

/// Locations of resources are told once where a schema has several: a route's would be four times as long otherwise.
fn told_once(schema: &mut Map<String, Value>) {
    use graph::documents::{FileLocation, ResourceLocation};
    name_repeated::<ResourceLocation>(schema, "resource-location");
    name_repeated::<FileLocation>(schema, "file-location");
}

/// Defines the shape of `T` under this name and refers to it, if it stands in several places.
fn name_repeated<T: JsonSchema>(schema: &mut Map<String, Value>, name: &str) {
    let mut shape = Value::Object(derived::<T>(Contract::Serialize));
    absent_is_not_null(&mut shape, SCHEMA_LEVELS);
    let Value::Object(shape) = shape else { return };
    let mut short = Value::Object(schema.clone());
    if refer(&mut short, &shape, &format!("#/$defs/{name}"), SCHEMA_LEVELS) < 2 {
        return;
    }
    if let Value::Object(short) = short {
        *schema = short;
        let definitions = schema.entry("$defs").or_insert_with(|| json!({}));
        if let Value::Object(definitions) = definitions {
            definitions.insert(name.to_owned(), Value::Object(shape));
        }
    }
}

/// Refers to a definition wherever its shape stands, under whatever description, and says how often that was.
fn refer(within: &mut Value, shape: &Map<String, Value>, definition: &str, levels: usize) -> usize {
    let Some(levels) = levels.checked_sub(1) else { return 0 };
    match within {
        Value::Array(list) => list.iter_mut().map(|part| refer(part, shape, definition, levels)).sum(),
        Value::Object(map) if same_shape(map, shape) => {
            map.retain(|key, _| key == "description");
            if map.get("description") == shape.get("description") {
                map.clear();
            }
            map.insert("$ref".to_owned(), json!(definition));
            1
        }
        Value::Object(map) => map.values_mut().map(|part| refer(part, shape, definition, levels)).sum(),
        _ => 0,
    }
}

/// Whether two schemas say the same but for their descriptions.
fn same_shape(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let said = |schema: &Map<String, Value>| schema.keys().filter(|key| *key != "description").count();
    said(one) == said(other) && one.iter().all(|(key, rule)| key == "description" || other.get(key) == Some(rule))
}

/// How deep a schema is followed; the types that derive one are not deeper than a few levels.
const SCHEMA_LEVELS: usize = 64;

/// A field that may be absent is never null: what is not there is left out. The derived schema allows both.
fn absent_is_not_null(schema: &mut Value, levels: usize) {
    let Some(levels) = levels.checked_sub(1) else { return };
    match schema {
        Value::Array(list) => list.iter_mut().for_each(|s| absent_is_not_null(s, levels)),
        Value::Object(map) => {
            let required: Vec<Value> = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) {
                let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|r| r == name.as_str()));
                optional.for_each(|(_, property)| without_null(property));
            }
            map.values_mut().for_each(|s| absent_is_not_null(s, levels));
        }
        _ => {}
    }
}

fn without_null(property: &mut Value) {
    let Some(map) = property.as_object_mut() else { return };
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(any)) = map.get_mut("anyOf") {
        any.retain(|s| s.get("type").is_none_or(|t| t != "null"));
    }
}

/// The schema of a tool's whole result, from the schema of its `data`: an object at its root, with `data` exactly when `ok`
/// is true and `error` exactly when it is not.
pub fn result(mut data: Map<String, Value>) -> Map<String, Value> {
    let definitions = data.remove("$defs");
    data.remove("$schema");
    let codes: Vec<&str> = crate::error::Code::ALL.iter().map(|code| code.as_str()).collect();
    let error = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "enum": codes },
            "message": { "type": "string", "description": "What is wrong and what to do next." },
            "issues": { "type": "array", "items": { "type": "string" }, "description": "Each single fault." },
        },
        "required": ["code", "message"],
        "additionalProperties": false,
    });
    let mut schema = Map::new();
    let mut set = |key: &str, value: Value| schema.insert(key.to_owned(), value);
    set("$schema", json!("https://json-schema.org/draft/2020-12/schema"));
    set("type", json!("object"));
    set("properties", json!({ "ok": { "type": "boolean" }, "data": Value::Object(data), "error": error }));
    set("required", json!(["ok"]));
    set("additionalProperties", json!(false));
    set(
        "oneOf",
        json!([
            { "properties": { "ok": { "const": true } }, "required": ["data"], "not": { "required": ["error"] } },
            { "properties": { "ok": { "const": false } }, "required": ["error"], "not": { "required": ["data"] } },
        ]),
    );
    if let Some(definitions) = definitions {
        set("$defs", definitions);
    }
    schema
}

fn derived<T: JsonSchema>(contract: Contract) -> Map<String, Value> {
    // Inlined, because some clients do not follow references; a recursive type keeps its own, under `$defs`.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let mut generator = settings.into_generator();
    // Not as the root: then a recursive type would refer to `#`, which is somewhere else once it is wrapped.
    let schema = generator.subschema_for::<T>().to_value();
    let definitions = generator.take_definitions(true);
    // `true`, the schema of anything, is the only one that is no object.
    let mut schema = if let Value::Object(schema) = schema { schema } else { Map::new() };
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Arguments {
        /// The run.
        #[serde(rename = "runId")]
        run_id: String,
        tree: Option<Tree>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Tree {
        children: Vec<Tree>,
    }

    #[test]
    fn arguments_are_a_closed_object() {
        let schema = arguments::<Arguments>();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["runId"]));
        assert_eq!(schema["properties"]["runId"]["description"], "The run.");
    }

    #[test]
    fn what_may_be_absent_is_never_null() {
        #[derive(JsonSchema, serde::Serialize)]
        struct Data {
            #[serde(skip_serializing_if = "Option::is_none")]
            absent: Option<String>,
            null: Option<String>,
        }
        let schema = data::<Data>();
        assert_eq!(schema["properties"]["absent"]["type"], "string");
        assert_eq!(schema["properties"]["null"]["type"], json!(["string", "null"]));
        assert_eq!(schema["required"], json!(["null"]));
    }

    #[test]
    fn what_stands_in_several_places_is_told_once() {
        use graph::documents::{FileLocation, ResourceLocation, RouteAction, RouteResources};
        let schema = data::<RouteAction>();
        assert_eq!(schema["$defs"].as_object().map(Map::len), Some(1));
        let skill = &schema["properties"]["skill"];
        assert_eq!(skill["$ref"], "#/$defs/file-location");
        assert!(skill["description"].is_string(), "{skill}");
        let validator = jsonschema::options().build(&Value::Object(schema)).expect("a valid schema");
        let mut action = json!({
            "id": "a", "runner": "agent", "effect": "read",
            "skill": {
                "schema": "agent-graph.resource-location.file.v1", "id": "skill.a", "kind": "skill",
                "mediaType": "text/markdown", "digest": "sha256:0", "filePath": "a/SKILL.md",
            },
        });
        assert!(validator.is_valid(&action), "{action}");
        action["skill"]["surplus"] = json!(1);
        assert!(!validator.is_valid(&action), "{action}");
        assert_eq!(data::<RouteResources>()["$defs"].as_object().map(Map::len), Some(1));
        for alone in [data::<ResourceLocation>(), data::<FileLocation>()] {
            assert!(!alone.contains_key("$defs"), "one is told in its place");
        }
    }

    #[test]
    fn results_are_told_apart_by_ok() {
        let schema = Value::Object(result_of::<Tree>());
        assert_eq!(schema["type"], "object");
        let validator = jsonschema::options().build(&schema).expect("a valid schema");
        for (result, valid) in [
            (json!({ "ok": true, "data": { "children": [{ "children": [] }] } }), true),
            (json!({ "ok": false, "error": { "code": "stale", "message": "m" } }), true),
            (json!({ "ok": false, "error": { "code": "stale", "message": "m", "issues": ["i"] } }), true),
            (json!({ "ok": true, "data": { "children": [{}] } }), false),
            (json!({ "ok": true }), false),
            (json!({ "ok": false, "data": { "children": [] } }), false),
            (json!({ "ok": true, "data": { "children": [] }, "error": { "code": "stale", "message": "m" } }), false),
            (json!({ "ok": false, "error": { "code": "other", "message": "m" } }), false),
            (json!({ "data": { "children": [] } }), false),
        ] {
            assert_eq!(validator.is_valid(&result), valid, "{result}");
        }
    }
}
