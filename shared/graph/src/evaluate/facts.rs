//! Fact checks (section-facts): a dotted lookup and a comparison, nothing else. Nothing allocates, nothing panics, and
//! nothing is found that the Facts do not hold themselves.

use serde_json::{Map, Number, Value};

use crate::documents::FactCheck;

/// Whether every check holds; no checks always do.
pub(super) fn hold(facts: &Map<String, Value>, checks: Option<&[FactCheck]>) -> bool {
    checks.unwrap_or_default().iter().all(|check| holds(facts, check))
}

/// Whether one check holds. One that says both or neither (the loader refuses it) does not.
pub(super) fn holds(facts: &Map<String, Value>, check: &FactCheck) -> bool {
    let found = lookup(facts, &check.path);
    match (&check.exists, &check.equals) {
        (Some(exists), None) => found.is_some() == *exists,
        (None, Some(expected)) => found.is_some_and(|found| same(found, expected)),
        _ => false,
    }
}

/// What stands at a dotted path; null stands there too.
fn lookup<'f>(facts: &'f Map<String, Value>, path: &str) -> Option<&'f Value> {
    let mut segments = path.split('.');
    let mut found = facts.get(segments.next()?)?;
    for segment in segments {
        found = match found {
            Value::Object(map) => map.get(segment)?,
            Value::Array(list) => list.get(index(segment)?)?,
            _ => return None,
        };
    }
    Some(found)
}

/// A place in an array: decimal digits without leading zeros, as the place is written when it is a key.
fn index(segment: &str) -> Option<usize> {
    let plain = segment == "0" || !segment.starts_with('0');
    (plain && segment.bytes().all(|byte| byte.is_ascii_digit())).then(|| segment.parse().ok())?
}

/// Whether two scalars are the same. A list or an object is the same as nothing: `equals` is a scalar.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(found), Value::Bool(expected)) => found == expected,
        (Value::String(found), Value::String(expected)) => found == expected,
        (Value::Number(found), Value::Number(expected)) => Amount::of(found).same(&Amount::of(expected)),
        _ => false,
    }
}

/// What a number amounts to, however it is written: `1`, `1.0` and `1e0` are one.
#[derive(Debug, PartialEq)]
pub(super) enum Amount<'n> {
    /// A whole number.
    Whole(i128),
    /// Another number that a double holds.
    Double(f64),
    /// One beyond both, as it is written.
    Text(&'n str),
}

impl Amount<'_> {
    /// Up to here every whole double is exactly one whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    pub(super) fn of(number: &Number) -> Amount<'_> {
        let text = number.as_str();
        if let Ok(whole) = text.parse() {
            return Amount::Whole(whole);
        }
        match text.parse::<f64>() {
            // Below the bound the whole number is the double, so nothing is cut off.
            #[allow(clippy::cast_possible_truncation)]
            Ok(double) if double.fract() == 0.0 && double.abs() <= Self::EXACT => Amount::Whole(double as i128),
            Ok(double) if double.is_finite() => Amount::Double(double),
            _ => Amount::Text(text),
        }
    }

    fn same(&self, other: &Amount<'_>) -> bool {
        match (self, other) {
            // The double may stand for many whole numbers; this one is among them.
            #[allow(clippy::cast_precision_loss)]
            (Amount::Whole(whole), Amount::Double(double)) | (Amount::Double(double), Amount::Whole(whole)) => {
                *whole as f64 == *double
            }
            _ => self == other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, key: &str, value: Value) -> FactCheck {
        serde_json::from_value(json!({ "path": path, key: value })).unwrap()
    }

    #[track_caller]
    fn expect(facts: &Value, path: &str, key: &str, value: Value, expected: bool) {
        let check = check(path, key, value);
        assert_eq!(holds(facts.as_object().unwrap(), &check), expected, "{check:?} on {facts}");
    }

    #[test]
    fn a_path_walks_objects_and_lists() {
        let facts = json!({ "items": [{ "digest": "x" }, null], "deep": { "a": { "b": 0 } }, "map": { "0": true }, "": { "": 1 } });
        for (path, there) in [
            ("items", true),
            ("items.0.digest", true),
            ("items.1", true),
            ("items.2", false),
            ("items.00", false),
            ("items.-1", false),
            ("items.+1", false),
            ("items.99999999999999999999999", false),
            ("items.length", false),
            ("items.", false),
            ("items.1.digest", false),
            ("deep.a.b", true),
            ("deep.a.b.c", false),
            ("deep.a.c", false),
            ("deep.constructor", false),
            ("deep.__proto__", false),
            ("toString", false),
            ("map.0", true),
            ("", true),
            (".", true),
            ("..", false),
        ] {
            expect(&facts, path, "exists", json!(true), there);
            expect(&facts, path, "exists", json!(false), !there);
        }
    }

    #[test]
    fn scalars_are_the_same_or_not() {
        let facts = json!({ "null": null, "no": false, "zero": 0, "empty": "", "list": [], "map": {}, "text": "1" });
        for (path, value, same) in [
            ("null", json!(null), true),
            ("no", json!(null), false),
            ("gone", json!(null), false),
            ("no", json!(false), true),
            ("zero", json!(false), false),
            ("zero", json!(0), true),
            ("zero", json!(""), false),
            ("empty", json!(""), true),
            ("text", json!(1), false),
            ("list", json!([]), false),
            ("map", json!({}), false),
        ] {
            expect(&facts, path, "equals", value, same);
        }
    }

    #[test]
    fn numbers_are_what_they_amount_to() {
        for (found, expected, same) in [
            ("1", "1.0", true),
            ("1e2", "100", true),
            ("-0", "0", true),
            ("-0.0", "0", true),
            ("0.1", "1e-1", true),
            ("0.1", "0.10", true),
            ("0.1", "0.2", false),
            ("1e30", "1000000000000000000000000000000", true),
            ("9007199254740993", "9007199254740992", false),
            ("9007199254740993", "9007199254740993", true),
            ("1e400", "1e400", true),
            ("1e400", "2e400", false),
            ("1e400", "-1e400", false),
        ] {
            let facts: Value = serde_json::from_str(&format!(r#"{{"n":{found}}}"#)).unwrap();
            expect(&facts, "n", "equals", serde_json::from_str(expected).unwrap(), same);
        }
    }

    #[test]
    fn a_check_of_both_or_neither_never_holds() {
        let facts = json!({ "a": 1 });
        for check in [json!({ "path": "a" }), json!({ "path": "a", "exists": true, "equals": 1 })] {
            let check: FactCheck = serde_json::from_value(check).unwrap();
            assert!(!holds(facts.as_object().unwrap(), &check));
        }
        assert!(hold(facts.as_object().unwrap(), None));
    }
}
