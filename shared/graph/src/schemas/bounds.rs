//! What a JSON Schema of somebody else may cost: how large it is, and what holding a value to it takes.
//!
//! A validator follows references by recursion and tries every branch of a choice, so a small schema can ask for more than
//! there is of stack and time. Here the same way is walked beforehand with a count, and what costs too much is refused.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{FancyRegex, PatternOptions, ReferencingError, Validator};
use serde_json::Value;

use crate::limits::{
    BACKTRACKING_STEPS, PATTERN_BYTES, SCHEMA_NODES, SCHEMA_REFERENCES, VALIDATION_LEVELS, VALIDATION_STEPS,
};

/// Why a schema cannot be used.
#[derive(Debug, Clone)]
pub(crate) struct Unusable {
    /// What is wrong.
    pub(crate) said: String,
    /// The place in it, a JSON Pointer.
    pub(crate) pointer: String,
    /// Whether it is one that asks for another schema, or for another way of reading it: no fault of its own.
    pub(crate) elsewhere: bool,
}

/// Compiles a schema of somebody else. Nothing is fetched for it.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn compile(schema: &Value) -> Result<Validator, Unusable> {
    usable(schema).map_err(|said| Unusable { said, pointer: String::new(), elsewhere: false })?;
    let patterns: PatternOptions<FancyRegex> = PatternOptions::fancy_regex();
    let patterns = patterns.backtrack_limit(BACKTRACKING_STEPS).size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    options.build(schema).map_err(|error| {
        let elsewhere = matches!(
            error.kind(),
            ValidationErrorKind::Referencing(
                ReferencingError::Unretrievable { .. } | ReferencingError::UnknownSpecification { .. }
            )
        );
        Unusable { said: super::said(&error), pointer: error.instance_path().to_string(), elsewhere }
    })
}

/// Whether a schema is small enough to be compiled.
fn usable(schema: &Value) -> Result<(), String> {
    let (mut nodes, mut references) = (0_usize, 0_usize);
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                references = references.saturating_add(object.keys().filter(|key| is_reference(key)).count());
                open.extend(object.values());
            }
            Value::Array(list) => open.extend(list),
            _ => continue,
        }
        nodes = nodes.saturating_add(1);
    }
    if nodes > SCHEMA_NODES {
        return Err(format!("it has {nodes} objects and lists; a schema may have {SCHEMA_NODES}"));
    }
    if references > SCHEMA_REFERENCES {
        return Err(format!("it has {references} references; a schema may have {SCHEMA_REFERENCES}"));
    }
    Ok(())
}

fn is_reference(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef" | "$recursiveRef")
}

/// Whether a value can be held to a schema in bounded time and on a bounded stack.
///
/// # Errors
///
/// What is over which limit.
pub(crate) fn affordable(schema: &Value, value: &Value) -> Result<(), String> {
    let mut anchors: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        if let Some(object) = value.as_object() {
            for name in ["$id", "$anchor", "$dynamicAnchor", "id"] {
                if let Some(name) = object.get(name).and_then(Value::as_str) {
                    anchors.entry(name).or_default().push(value);
                }
            }
            open.extend(object.values());
        } else if let Some(list) = value.as_array() {
            open.extend(list);
        }
    }
    Walk { root: schema, anchors, steps: 0 }.visit(schema, value, 0)
}

struct Walk<'a> {
    root: &'a Value,
    anchors: BTreeMap<&'a str, Vec<&'a Value>>,
    steps: usize,
}

impl<'a> Walk<'a> {
    /// One schema over one value, with all that follows from it. The recursion ends at [`VALIDATION_LEVELS`].
    fn visit(&mut self, schema: &'a Value, value: &Value, level: usize) -> Result<(), String> {
        self.steps = self.steps.saturating_add(1);
        if self.steps > VALIDATION_STEPS {
            return Err(format!("holding the value to its schema takes more than {VALIDATION_STEPS} steps"));
        }
        if level > VALIDATION_LEVELS {
            return Err(format!("the schema leads deeper than {VALIDATION_LEVELS} levels"));
        }
        let Some(object) = schema.as_object() else { return Ok(()) };
        // What no keyword has looked at is found by looking once more.
        let rounds = if object.keys().any(|keyword| keyword.starts_with("unevaluated")) { 2 } else { 1 };
        for (keyword, inner) in std::iter::repeat_n(object, rounds).flatten() {
            self.keyword(keyword, inner, value, level.saturating_add(1))?;
        }
        Ok(())
    }

    fn keyword(&mut self, keyword: &str, inner: &'a Value, value: &Value, level: usize) -> Result<(), String> {
        match keyword {
            _ if is_reference(keyword) => {
                for target in self.targets(inner.as_str().unwrap_or_default()) {
                    self.visit(target, value, level)?;
                }
            }
            "allOf" | "anyOf" | "oneOf" => {
                for branch in inner.as_array().into_iter().flatten() {
                    self.visit(branch, value, level)?;
                }
            }
            "not" | "if" | "then" | "else" => self.visit(inner, value, level)?,
            "dependentSchemas" | "dependencies" => {
                for branch in inner.as_object().into_iter().flat_map(|object| object.values()) {
                    self.visit(branch, value, level)?;
                }
            }
            "properties" => {
                for (name, branch) in inner.as_object().into_iter().flatten() {
                    if let Some(child) = value.get(name) {
                        self.visit(branch, child, level)?;
                    }
                }
            }
            "patternProperties" => {
                for branch in inner.as_object().into_iter().flat_map(|object| object.values()) {
                    self.children(branch, value, level)?;
                }
            }
            "prefixItems" | "items" if inner.is_array() => {
                for (branch, child) in
                    inner.as_array().into_iter().flatten().zip(value.as_array().into_iter().flatten())
                {
                    self.visit(branch, child, level)?;
                }
            }
            "propertyNames" => {
                for _ in value.as_object().into_iter().flatten() {
                    self.visit(inner, &Value::Null, level)?;
                }
            }
            "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties" => self.children(inner, value, level)?,
            _ => {}
        }
        Ok(())
    }

    /// One schema over every element and field.
    fn children(&mut self, schema: &'a Value, value: &Value, level: usize) -> Result<(), String> {
        for child in value.as_array().into_iter().flatten() {
            self.visit(schema, child, level)?;
        }
        for (_, child) in value.as_object().into_iter().flatten() {
            self.visit(schema, child, level)?;
        }
        Ok(())
    }

    /// The schemas that a reference may mean.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let documents = match document {
            "" => vec![self.root],
            id => self.anchors.get(id).cloned().unwrap_or_else(|| vec![self.root]),
        };
        if fragment.is_empty() {
            documents
        } else if fragment.starts_with('/') {
            documents.iter().filter_map(|document| document.pointer(fragment)).collect()
        } else {
            self.anchors.get(fragment).cloned().unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Definitions `a1…aN`, each made of the one before it; a reference to the last.
    fn chain(levels: usize, link: impl Fn(Value) -> Value) -> Value {
        let mut definitions = serde_json::Map::from_iter([("a0".to_owned(), json!({"type": "string"}))]);
        for level in 1..=levels {
            definitions.insert(format!("a{level}"), link(json!({"$ref": format!("#/$defs/a{}", level - 1)})));
        }
        json!({"$defs": definitions, "$ref": format!("#/$defs/a{levels}")})
    }

    #[test]
    fn what_is_affordable_is_compiled_and_used() {
        let recursive = json!({"$id": "urn:tree:v1", "type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "urn:tree:v1"}}});
        let tree = (0..50).fold(json!({}), |tree, _| json!({"left": tree}));
        for (schema, value) in [
            (json!({"type": "object"}), json!({"a": [1, 2, 3]})),
            (recursive, tree),
            (chain(400, |before| before), json!("text")),
            (json!({"items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}), json!(vec![1; 10_000])),
        ] {
            let compiled = compile(&schema).unwrap();
            affordable(&schema, &value).unwrap();
            assert!(compiled.is_valid(&value));
            assert_eq!(compiled.iter_errors(&value).count(), 0);
        }
    }

    #[test]
    fn what_costs_too_much_is_refused_before_it_is_tried() {
        let twice = |before: Value| json!({"anyOf": [before.clone(), before]});
        let doubled = json!({"anyOf": [{"properties": {"x": {"$ref": "#"}}}, {"additionalProperties": {"$ref": "#"}}]});
        let deep = (0..60).fold(json!({}), |deep, _| json!({"x": deep}));
        for (schema, value, said) in [
            (chain(40, twice), json!(1), "steps"),
            (doubled, deep, "steps"),
            (json!({"$ref": "#"}), json!(1), "levels"),
            (json!({"not": {"$dynamicRef": "#a"}, "$dynamicAnchor": "a"}), json!(1), "levels"),
            (json!({"items": {"items": {"enum": [1]}}}), json!(vec![vec![1; 1_000]; 1_000]), "steps"),
        ] {
            let failure = affordable(&schema, &value).unwrap_err();
            assert!(failure.contains(said), "{failure}");
        }
        assert!(compile(&chain(500, |before| before)).unwrap_err().said.contains("501 references"));
        assert!(compile(&json!({"enum": vec![json!([]); 5_000]})).unwrap_err().said.contains("5002 objects"));
        assert!(compile(&json!({"pattern": "(a{1000}){1000}"})).is_err());
        for elsewhere in ["https://acme.test/a", "other.json"] {
            assert!(compile(&json!({ "$ref": elsewhere })).unwrap_err().elsewhere, "{elsewhere}");
        }
        assert!(compile(&json!({"$schema": "https://acme.test/schema"})).unwrap_err().elsewhere);
        assert!(!compile(&json!({"$ref": "#/$defs/none"})).unwrap_err().elsewhere);
    }

    #[test]
    fn the_largest_schema_that_may_be_needs_little_stack() {
        // 500 references with nine objects and lists around each: as deep as a way through a schema can be.
        let nested = |before| {
            (0..4).fold(before, |inner, at| if at % 2 == 0 { json!({"allOf": [inner]}) } else { json!({"not": inner}) })
        };
        let schema = chain(499, nested);
        let small = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
        let worked = small.spawn(move || compile(&schema).map(|_| affordable(&schema, &json!({"a": 1})).unwrap_err()));
        assert!(worked.unwrap().join().unwrap().unwrap().contains("levels"));
    }

    #[test]
    fn a_pattern_that_goes_back_and_forth_ends() {
        let schema = json!({"pattern": "^(?=(a+)+$)(a|aa)+b\\1$"});
        let compiled = compile(&schema).unwrap();
        assert!(!compiled.is_valid(&json!("a".repeat(10_000))));
    }
}
