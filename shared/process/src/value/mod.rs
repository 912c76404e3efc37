//! Values against field declarations (core §2.3, §6.3): inputs, outputs, and the declarations' own `one_of`.
//!
//! Issues read as the tool contracts show them: `output.cleared: expected boolean`. Numbers are compared by their exact
//! value, never as doubles. An address of a person is compared without case, everything else as written.

mod datetime;
mod number;

use serde_json::{Map, Number, Value};

use crate::limits::{EMAIL_BYTES, VALUE_ISSUES};
use crate::model::{Field, FieldType, Fields};

pub use datetime::{is_date, parse_datetime};

/// Checks one value. Each issue is a place within the value (empty for the value itself, `[0]` for an element) and what
/// is wrong there, such as `expected boolean` or `expected one of a, b`. At most [`VALUE_ISSUES`] are listed, and a last
/// one that counts the rest.
pub fn check_value(field: &Field, value: &Value) -> Result<(), Vec<(String, String)>> {
    let mut issues = Issues::default();
    check(field, value, "", &mut issues);
    if issues.more > 0 {
        issues.list.push((String::new(), format!("{} more issues are not listed", issues.more)));
    }
    if issues.list.is_empty() { Ok(()) } else { Err(issues.list) }
}

/// Checks an object against declared fields: first the declared ones in file order, then what is not declared in the
/// order given. Empty when all is well.
pub fn check_fields(prefix: &str, fields: &Fields, object: &Map<String, Value>) -> Vec<String> {
    let mut issues = Vec::new();
    for (name, field) in fields.iter() {
        match object.get(name) {
            None if field.optional => {}
            None => issues.push(format!("{prefix}.{name}: missing")),
            Some(value) => {
                let found = check_value(field, value).err().unwrap_or_default();
                issues.extend(found.into_iter().map(|(place, what)| format!("{prefix}.{name}{place}: {what}")));
            }
        }
    }
    let declared: std::collections::HashSet<&str> = fields.iter().map(|(name, _)| name).collect();
    let undeclared = object.keys().filter(|name| !declared.contains(name.as_str()));
    issues.extend(undeclared.map(|name| format!("{prefix}.{name}: not declared")));
    issues
}

#[derive(Default)]
struct Issues {
    list: Vec<(String, String)>,
    more: usize,
}

/// Recurses along `items`, which the depth of the file bounds.
fn check(field: &Field, value: &Value, place: &str, issues: &mut Issues) {
    let what = if !is_of_type(field.kind, value) {
        format!("expected {}", field.kind.name())
    } else if let Some(allowed) = field.one_of.as_ref().filter(|allowed| !is_one_of(field.kind, value, allowed)) {
        let allowed: Vec<String> = allowed.iter().map(plain).collect();
        format!("expected one of {}", allowed.join(", "))
    } else {
        if let (Some(items), Value::Array(list)) = (&field.items, value) {
            for (n, element) in list.iter().enumerate() {
                check(items, element, &format!("{place}[{n}]"), issues);
            }
        }
        return;
    };
    if issues.list.len() < VALUE_ISSUES {
        issues.list.push((place.to_owned(), what));
    } else {
        issues.more += 1;
    }
}

/// Whether the value has the type. `null` has none.
pub(crate) fn is_of_type(kind: FieldType, value: &Value) -> bool {
    match (kind, value) {
        (FieldType::String, Value::String(_))
        | (FieldType::Number, Value::Number(_))
        | (FieldType::Boolean, Value::Bool(_))
        | (FieldType::List, Value::Array(_))
        | (FieldType::Object, Value::Object(_)) => true,
        (FieldType::Date, Value::String(text)) => is_date(text),
        (FieldType::Datetime, Value::String(text)) => parse_datetime(text).is_some(),
        (FieldType::Person, Value::String(text)) => is_email(text),
        _ => false,
    }
}

/// What a value of the type looks like, for those who write a file.
pub(crate) fn expectation(kind: FieldType) -> &'static str {
    match kind {
        FieldType::String => "text",
        FieldType::Number => "a number",
        FieldType::Boolean => "true or false",
        FieldType::Date => "a date such as 2026-10-06",
        FieldType::Datetime => "a datetime such as 2026-10-06T09:30:00Z",
        FieldType::List => "a list",
        FieldType::Object => "an object",
        FieldType::Person => "a person's e-mail address",
    }
}

/// Two values of one type are the same allowed value exactly when this text is the same.
pub(crate) fn identity(kind: FieldType, value: &Value) -> String {
    match (kind, value) {
        (FieldType::Person, Value::String(text)) => text.to_lowercase(),
        (_, Value::String(text)) => text.clone(),
        (_, Value::Number(number)) => number::identity(&number.to_string()),
        (_, other) => other.to_string(),
    }
}

/// A number as text that two numbers share exactly when they have the same value: sign, digits without zeros at either end,
/// and the power of ten of the last digit, such as `-12e3`; or `0`. A number whose exponent has more than 18 digits is kept as
/// it was written.
pub fn normal_form(number: &Number) -> String {
    number::identity(&number.to_string())
}

/// Whether two values are equal: numbers by their exact value, however written; objects whatever the order of their keys.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            number::identity(&left.to_string()) == number::identity(&right.to_string())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}

fn is_one_of(kind: FieldType, value: &Value, allowed: &[Value]) -> bool {
    let own = identity(kind, value);
    allowed.iter().any(|other| identity(kind, other) == own)
}

/// An allowed value as a message shows it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An e-mail address: one `@`, the characters that mail forms accept before it, host labels after it.
pub fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.split_once('@') else { return false };
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= EMAIL_BYTES
        && (1..=64).contains(&local.len())
        && local.bytes().all(|b| b.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&b))
        && host.split('.').all(label)
}

#[cfg(test)]
mod tests;
