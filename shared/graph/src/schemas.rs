//! The published schemas, and documents held to them: every fault at once, each with `schema.<keyword>`.
//!
//! A schema is compiled when it is first asked for, and once. They refer to each other by `$id` and to nothing else.

mod bounds;
mod faults;

use std::borrow::Cow;
use std::sync::OnceLock;

use jsonschema::{Retrieve, Uri, Validator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Diagnostic, Failure, Severity};
use crate::faults::Faults;

pub(crate) use bounds::{Unusable, affordable, compile};
pub(crate) use faults::{brief, quote, said, tell};

macro_rules! published {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../schemas/agent-graph/", $name, ".schema.json")))),*]
    };
}

/// The published schemas by name, in the order in which they are listed: the files of `schemas/agent-graph`.
pub const SCHEMAS: &[(&str, &str)] = published!(
    "action",
    "bundle",
    "code-catalog",
    "code-location",
    "error",
    "evaluation",
    "graph",
    "host-action-result",
    "provider",
    "resource-file",
    "resource-graph-action",
    "resource-host-action",
    "resource-location-file",
    "resource-location-graph-action",
    "resource-location-host-action",
    "resource-read-receipts",
    "route",
    "run",
    "skill-binding",
    "test-case",
);

/// What stands before a schema's name in its `$id`.
const IDENTITY: &str = "urn:procession:schemas:agent-graph:";

/// The text of a published schema.
///
/// # Errors
///
/// `schema-type-unknown`.
pub fn schema_named(name: &str) -> Result<&'static str, Failure> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<&str> = SCHEMAS.iter().map(|(name, _)| *name).collect();
        Failure::new("schema-type-unknown", format!("there is no schema `{name}`; there are: {}", names.join(", ")))
    })
}

/// Hands over published schemas, and nothing from anywhere else.
struct Published;

impl Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().strip_prefix(IDENTITY).ok_or("it is no published schema")?;
        Ok(serde_json::from_str(schema_named(name)?)?)
    }
}

/// The compiled form of a published schema.
fn validator(name: &str) -> Result<&'static Validator, Failure> {
    static COMPILED: [OnceLock<Result<Validator, String>>; SCHEMAS.len()] = [const { OnceLock::new() }; SCHEMAS.len()];
    let text = schema_named(name)?;
    let slot = SCHEMAS.iter().zip(&COMPILED).find(|((known, _), _)| *known == name).map(|(_, slot)| slot);
    let compiled = slot.ok_or_else(|| Failure::new("schema-type-unknown", name.to_owned()))?.get_or_init(|| {
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let options = jsonschema::options().with_retriever(Published).should_validate_formats(true);
        options.build(&schema).map_err(|error| error.to_string())
    });
    compiled
        .as_ref()
        .map_err(|error| Failure::new("schema-compile-failed", format!("the published schema `{name}`: {error}")))
}

/// A file of YAML or JSON as a value.
///
/// # Errors
///
/// `parse-failed`, with a diagnostic a fault when there are several.
pub(crate) fn parse(path: &str, text: &[u8]) -> Result<Value, Failure> {
    let text = std::str::from_utf8(text).map_err(|error| {
        Failure::new("parse-failed", format!("{path}: not UTF-8 from byte {}", error.valid_up_to().saturating_add(1)))
    })?;
    process::yaml(&paired(text)).map_err(|problems| {
        // A file of JSON that is broken is told about as JSON, where it is broken.
        if path.ends_with(".json")
            && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
        {
            let place = format!("{path}:{}:{}", error.line(), error.column());
            let said = error.to_string();
            let said = said.split(" at line ").next().unwrap_or_default();
            return Failure::new("parse-failed", format!("{place}: this is not valid JSON: {said}"));
        }
        let mut faults = Faults::default();
        for problem in problems {
            let place = format!("{path}:{}:{}", problem.line, problem.column);
            let mut message = problem.message;
            // A scalar that goes on over a line is told about where it begins.
            let line = usize::try_from(problem.line).unwrap_or_default().saturating_sub(1);
            let tab = |line: &str| line.chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t');
            if text.lines().skip(line).take(2).any(tab) && !message.contains("indent with spaces") {
                message.push_str("; a line begins with a tab: indent with spaces");
            }
            faults.add(Diagnostic::new("parse-failed", Severity::Error, message).at(place));
        }
        if faults.is_empty() {
            faults.add(Diagnostic::new("parse-failed", Severity::Error, "cannot be read").at(path));
        }
        faults.failure()
    })
}

/// JSON writes a character beyond U+FFFF as two escapes; YAML has one escape for it. Text that is no JSON stays as it is.
fn paired(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") || serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
        return Cow::Borrowed(text);
    }
    let half = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        // Both escapes are ASCII, six bytes each.
        let high = half(escape).filter(|half| (0xD800..0xDC00).contains(half));
        let low = escape.get(6..).and_then(half).filter(|half| (0xDC00..0xE000).contains(half));
        let (kept, length) = match high.zip(low) {
            Some((high, low)) => {
                let point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (format!("\\U{point:08X}"), 12)
            }
            None => (escape.get(..2).unwrap_or(escape).to_owned(), 2),
        };
        out.push_str(&kept);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Names the node or the edge that a fault is of beside its pointer, and the schema that was broken.
fn about(fault: &mut Diagnostic, name: &str, path: &str, value: &Value) {
    let pointer = fault.path.as_deref().and_then(|place| place.strip_prefix(path)?.strip_prefix("#/"));
    let mut parts = pointer.unwrap_or_default().split('/');
    if let (Some(list @ ("nodes" | "edges")), Some(at)) = (parts.next(), parts.next())
        && let Some(item) = at.parse::<usize>().ok().and_then(|at| value.get(list)?.get(at))
    {
        let text = |field: &str| item.get(field).and_then(Value::as_str);
        let named = match (text("id"), text("from"), text("to")) {
            (Some(id), _, _) if list == "nodes" => Some(format!("({})", brief(id))),
            (_, Some(from), Some(to)) if list == "edges" => Some(format!("({} to {})", brief(from), brief(to))),
            _ => None,
        };
        fault.message = named.map_or_else(|| fault.message.clone(), |named| format!("{named} {}", fault.message));
    }
    fault.detail = Some(serde_json::json!({ "schema": name }));
}

/// A document of the named schema, from the text of a file (YAML or JSON) at `path`.
///
/// # Errors
///
/// `parse-failed`, `schema-invalid` with a diagnostic a fault.
pub(crate) fn document<T: DeserializeOwned>(name: &str, path: &str, text: &[u8]) -> Result<T, Failure> {
    valid(name, path, &parse(path, text)?)
}

/// A value held to a published schema and read into its type.
///
/// # Errors
///
/// `schema-invalid` with a diagnostic a fault.
pub(crate) fn valid<T: DeserializeOwned>(name: &str, path: &str, value: &Value) -> Result<T, Failure> {
    let validator = validator(name)?;
    if !validator.is_valid(value) {
        let mut faults = Faults::default();
        let schema = schema_named(name).ok().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        for error in validator.iter_errors(value) {
            tell(&error, path, &schema, &mut faults);
        }
        if !faults.is_empty() {
            faults.each(|fault| about(fault, name, path, value));
            return Err(faults.failure());
        }
    }
    T::deserialize(value).map_err(|error| {
        // The schema and the type say the same, so what is left is what a machine word cannot hold.
        let fault = Diagnostic::new("schema.type", Severity::Error, error.to_string()).at(path);
        Failure::new("schema-invalid", format!("{path}: {error}")).with(vec![fault])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_schema_compiles_and_is_named_for_its_file() {
        for (name, text) in SCHEMAS {
            let schema: Value = serde_json::from_str(text).unwrap();
            assert_eq!(schema["$id"], format!("{IDENTITY}{name}"));
            assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
            validator(name).unwrap();
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_told_as_what_it_is() {
        let said = |path: &str, text: &str| parse(path, text.as_bytes()).unwrap_err().message;
        assert_eq!(said("a.json", "{\"a\": 1\n \"b\": 2}"), "a.json:2:2: this is not valid JSON: expected `,` or `}`");
        for text in ["a:\n\tb: 1", "a:\n  - b: 1\n\tc: 2"] {
            assert!(said("a.yaml", text).contains("indent with spaces"), "{}", said("a.yaml", text));
        }
    }

    #[test]
    fn json_may_write_a_character_as_two_escapes() {
        let text = r#"{"a": "ship \ud83d\ude80!", "b": ["\\ud83d\\ude80", "\u00e9\\", "\uD83D\uDE80\uD83D\uDE80"], "é": 1.50}"#;
        for path in ["a.json", "a.yaml"] {
            let read = parse(path, text.as_bytes()).unwrap();
            assert_eq!(read, serde_json::from_str::<Value>(text).unwrap());
            assert_eq!(read["a"], "ship 🚀!");
        }
        // YAML that is no JSON has other escapes, and plain text has none.
        assert_eq!(parse("a.yaml", br"a: \ud83d\ude80").unwrap()["a"], r"\ud83d\ude80");
        assert!(parse("a.yaml", br#"a: "\ud83d\ude80""#).is_err());
        assert!(parse("a.json", br#"{"a": "\ud83d"}"#).is_err());
    }

    #[test]
    fn a_schema_that_there_is_not_is_named_with_those_there_are() {
        let failure = schema_named("grph").unwrap_err();
        assert_eq!(failure.code, "schema-type-unknown");
        assert!(failure.message.contains("host-action-result"));
    }
}
