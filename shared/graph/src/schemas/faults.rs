//! What the validator finds, as diagnostics that say what to do.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use crate::failure::{Diagnostic, Severity};
use crate::faults::Faults;
use crate::limits::QUOTE_CHARACTERS;

/// Adds what one error says. A choice of forms adds the faults of the form that was meant, when that is plain.
pub(crate) fn tell(error: &ValidationError<'_>, path: &str, faults: &mut Faults) {
    let place = place(path, error);
    let mut add = |keyword: &str, message: String| {
        faults.add(Diagnostic::new(format!("schema.{keyword}"), Severity::Error, message).at(place.clone()));
    };
    let keyword = error.kind().keyword();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } => {
            for field in unexpected {
                add(keyword, format!("there is no field {}", quote(field)));
            }
        }
        Kind::OneOfNotValid { context } => {
            // What is wrong with the form that was meant says more than that no form fits, so it comes first.
            let mut meant = context.iter().filter(|branch| !branch.iter().any(discriminates));
            if let (Some(branch), None) = (meant.next(), meant.next()) {
                branch.iter().for_each(|error| tell(error, path, faults));
            }
            let choice = choice(error.instance());
            faults.add(Diagnostic::new(format!("schema.{keyword}"), Severity::Error, choice).at(place));
        }
        Kind::PropertyNames { error: inner } => {
            add(keyword, format!("the key {} {}", quote(&text(inner.instance())), said(inner)));
        }
        _ => add(keyword, said(error)),
    }
}

/// The place of an error in a file: a JSON pointer behind the file's path, which alone means the whole document.
fn place(path: &str, error: &ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => path.to_owned(),
        pointer => format!("{path}#{pointer}"),
    }
}

/// Whether this error says that a branch of a choice is for another kind of thing.
fn discriminates(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. })
}

/// What to say of a value that has none of the forms it may have.
fn choice(value: &Value) -> String {
    for field in ["kind", "runner"] {
        if let Some(kind) = value.get(field).and_then(Value::as_str) {
            return format!("the fields are not those of the {field} {}", quote(kind));
        }
    }
    "has none of the forms it may have, or more than one of them".into()
}

/// What one error says of its value.
pub(crate) fn said(error: &ValidationError<'_>) -> String {
    let value = error.instance();
    match error.kind() {
        Kind::Constant { expected_value } => format!("must be {}, not {}", text(expected_value), quote(&text(value))),
        Kind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(text).collect();
            format!("must be one of {}, not {}", options.join(", "), quote(&text(value)))
        }
        Kind::Type { kind: TypeKind::Single(one) } => format!("must be of type {one}, not {}", what(value)),
        Kind::Type { kind: TypeKind::Multiple(many) } => {
            let many: Vec<String> = many.iter().map(|one| one.to_string()).collect();
            format!("must be of type {}, not {}", many.join(" or "), what(value))
        }
        Kind::Required { property } => format!("the field {} is missing", quote(&text(property))),
        Kind::Not { schema } if schema.get("pattern").is_some() => {
            format!("must be a path below the Provider root, without `..`, not {}", quote(&text(value)))
        }
        Kind::Not { schema } => {
            let unfit: Vec<String> = unfit(schema, value).map(quote).collect();
            format!("must not have the fields {}", unfit.join(", "))
        }
        Kind::Pattern { pattern } => format!("must match {pattern}, unlike {}", quote(&text(value))),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::Minimum { limit } => format!("must be at least {limit}, not {}", quote(&text(value))),
        Kind::Maximum { limit } => format!("must be at most {limit}, not {}", quote(&text(value))),
        Kind::UniqueItems => "must not have an element twice".into(),
        Kind::Format { format } => format!("must have the format {format}, unlike {}", quote(&text(value))),
        Kind::OneOfMultipleValid { .. } => "must have exactly one of the forms it may have".into(),
        Kind::Referencing(error) => error.to_string(),
        other => format!("breaks the rule `{}`", other.keyword()),
    }
}

/// The fields of the value that the negated schema names.
fn unfit<'a>(schema: &'a Value, value: &'a Value) -> impl Iterator<Item = &'a str> {
    let branches = schema.get("anyOf").and_then(Value::as_array).map_or(std::slice::from_ref(schema), Vec::as_slice);
    let named = branches.iter().filter_map(|branch| branch.get("required")?.as_array()).flatten();
    named.filter_map(Value::as_str).filter(|field| value.get(field).is_some())
}

/// What kind of value this is.
fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A scalar as it was written; of anything else, what it is.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => what(value).into(),
        scalar => scalar.to_string(),
    }
}

/// A piece of somebody's file, short and on one line.
pub(crate) fn quote(text: &str) -> String {
    let mut out: String = text.chars().take(QUOTE_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTE_CHARACTERS).is_some() {
        out.push('…');
    }
    format!("`{out}`")
}
