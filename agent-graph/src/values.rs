//! Values of options: JSON on the command line, or `@` and a file of JSON or YAML.

use std::collections::BTreeMap;
use std::path::Path;

use graph::documents::{GivenOutcome, Outcome};
use graph::{Diagnostic, Failure, Severity};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use crate::files;

/// The value of an option.
///
/// # Errors
///
/// `json-invalid` for what is on the command line; `file-missing`, `file-read-failed` and `parse-failed` for a file.
pub fn value(option: &str, text: &str) -> Result<Value, Failure> {
    match text.strip_prefix('@') {
        Some(path) => document(Path::new(path)),
        None => serde_json::from_str(text).map_err(|error| {
            let message =
                format!("{option} is no JSON: {error}. Write JSON, or @ and the path of a file that holds it");
            Failure::new("json-invalid", message)
        }),
    }
}

/// The value of an option that is an object.
///
/// # Errors
///
/// As for [`value`], and `json-object-required`.
pub fn object(option: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    match value(option, text)? {
        Value::Object(object) => Ok(object),
        other => {
            let message = format!("{option} must be a JSON object such as {{\"key\": 1}}, not {}", kind(&other));
            Err(Failure::new("json-object-required", message))
        }
    }
}

/// A file of JSON or YAML.
///
/// # Errors
///
/// `file-missing`, `file-read-failed`, `parse-failed`.
pub fn document(path: &Path) -> Result<Value, Failure> {
    parsed(path, &files::read_text(path)?)
}

/// Text of JSON or YAML, from the file at this path.
///
/// # Errors
///
/// `parse-failed`.
pub fn parsed(path: &Path, text: &str) -> Result<Value, Failure> {
    // What is JSON is read as JSON: numbers keep every digit, and it is quicker.
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    process::yaml(text).map_err(|problems| {
        let told = problems.iter().map(|p| format!("{}:{p}", path.display())).collect::<Vec<_>>();
        let message = format!("{} is neither JSON nor YAML: {}", path.display(), told.join("; "));
        Failure::new("parse-failed", message)
    })
}

/// Outcomes by state key: words, or records as a Run keeps them.
///
/// # Errors
///
/// As for [`object`], and `outcome-invalid` with a diagnostic for each.
pub fn outcomes(option: &str, text: &str) -> Result<BTreeMap<String, Outcome>, Failure> {
    let (mut outcomes, mut faults) = (BTreeMap::new(), Vec::new());
    for (key, given) in object(option, text)? {
        match GivenOutcome::deserialize(&given) {
            Ok(given) => {
                outcomes.insert(key, given.outcome());
            }
            Err(_) => {
                let message = format!("{given} is no Outcome; write one of {}", words());
                faults.push(Diagnostic::new("outcome-invalid", Severity::Error, message).at(key));
            }
        }
    }
    match faults.as_slice() {
        [] => Ok(outcomes),
        [one] => {
            let message = format!("the Outcome of {}: {}", one.path.as_deref().unwrap_or_default(), one.message);
            Err(Failure::new("outcome-invalid", message))
        }
        many => {
            let message = format!("{} values of {option} are no Outcomes", many.len());
            Err(Failure::new("outcome-invalid", message).with(faults))
        }
    }
}

/// An Outcome by its word.
///
/// # Errors
///
/// `outcome-invalid`.
pub fn outcome(word: &str) -> Result<Outcome, Failure> {
    Outcome::deserialize(Value::from(word))
        .map_err(|_| Failure::new("outcome-invalid", format!("`{word}` is no Outcome; write one of {}", words())))
}

/// Every Outcome's word.
pub const OUTCOMES: [&str; 8] =
    ["completed", "partial", "failed", "unverified", "skipped", "pending", "blocked", "waiting-user"];

fn words() -> String {
    OUTCOMES.join(", ")
}

/// A whole number from 1 to `most`.
///
/// # Errors
///
/// `option-invalid`.
pub fn number(option: &str, text: &str, most: u64) -> Result<u64, Failure> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => {
            let message = format!("{option} must be a whole number from 1 to {most}, not `{text}`");
            Err(Failure::new("option-invalid", message))
        }
    }
}

/// A Route revision, by its shape.
///
/// # Errors
///
/// `revision-invalid`.
pub fn revision(text: &str) -> Result<&str, Failure> {
    let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    match text.strip_prefix("sha256:") {
        Some(digits) if digits.len() == 64 && digits.chars().all(hex) => Ok(text),
        _ => {
            let message = format!("`{text}` is no revision: it is sha256: and 64 hex digits, as a Route carries it");
            Err(Failure::new("revision-invalid", message))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json_or_a_file() {
        assert_eq!(value("--facts", "{\"a\":1.50}").unwrap().to_string(), "{\"a\":1.50}");
        assert_eq!(value("--facts", "{a: 1}").unwrap_err().code, "json-invalid");
        let file = tempfile::NamedTempFile::new().unwrap();
        let at = format!("@{}", file.path().display());
        for (text, want) in [("{\"a\": [1]}", "{\"a\":[1]}"), ("a:\n  - 1\n", "{\"a\":[1]}")] {
            std::fs::write(file.path(), text).unwrap();
            assert_eq!(value("--facts", &at).unwrap().to_string(), want);
        }
        std::fs::write(file.path(), "a: [").unwrap();
        assert_eq!(value("--facts", &at).unwrap_err().code, "parse-failed");
        assert_eq!(value("--facts", "@/no/such/file").unwrap_err().code, "file-missing");
        assert_eq!(object("--facts", "[]").unwrap_err().code, "json-object-required");
    }

    #[test]
    fn outcomes_are_words_or_records() {
        let record = r#"{"a/b":"partial","a/c":{"outcome":"failed","recordedAt":"2026-01-01T00:00:00.000Z"}}"#;
        let read = outcomes("--outcomes", record).unwrap();
        assert_eq!(read.into_values().collect::<Vec<_>>(), [Outcome::Partial, Outcome::Failed]);
        let failure = outcomes("--outcomes", r#"{"a/b":"done","a/c":1,"a/d":"failed"}"#).unwrap_err();
        assert_eq!((failure.code.as_ref(), failure.diagnostics.len()), ("outcome-invalid", 2));
        for word in OUTCOMES {
            assert_eq!(serde_json::to_value(outcome(word).unwrap()).unwrap(), word);
        }
        assert_eq!(outcome("done").unwrap_err().code, "outcome-invalid");
    }

    #[test]
    fn numbers_and_revisions_have_their_shape() {
        assert_eq!(number("--timeout-ms", "5", 10).unwrap(), 5);
        for text in ["0", "11", "-1", "1.5", "x", ""] {
            assert_eq!(number("--timeout-ms", text, 10).unwrap_err().code, "option-invalid", "{text}");
        }
        let good = format!("sha256:{}", "0a".repeat(32));
        assert_eq!(revision(&good).unwrap(), good);
        for text in ["sha256:0a", &good.to_uppercase(), &good.replace("sha256:", "")] {
            assert_eq!(revision(text).unwrap_err().code, "revision-invalid", "{text}");
        }
    }
}
