//! Numbers keep their text on the way from a JSON value to a type of ours.
//!
//! `serde_json` hands a number of a value on as a machine number wherever one is equal to it, and so `-0` becomes `0` and
//! `0.0000001` becomes `1e-7`. Read from text, it keeps what it read. Invariant: whatever [`typed`] reads holds every
//! number as it was written.

use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// Reads a value as a type; numbers within free values keep their text.
///
/// # Errors
///
/// What `serde_json` finds wrong.
pub fn typed<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    if every_number_stays(&value) {
        return serde_json::from_value(value);
    }
    serde_json::from_str(&value.to_string())
}

// As deep as the value, which whatever parsed it bounded.
fn every_number_stays(value: &Value) -> bool {
    match value {
        Value::Number(number) => stays(number),
        Value::Array(list) => list.iter().all(every_number_stays),
        Value::Object(map) => map.values().all(every_number_stays),
        _ => true,
    }
}

/// Whether the number, handed on as the machine number it may be equal to, is written the same again.
fn stays(number: &Number) -> bool {
    let text = number.as_str();
    if text.bytes().all(|b| b.is_ascii_digit()) && text.len() <= DIGITS {
        return true;
    }
    // An integer is taken for a machine integer first, and `-0` is one.
    match text.parse::<i128>() {
        Ok(integer) => integer.to_string() == text,
        Err(_) => match number.as_f64().filter(|f| f.to_string() == text) {
            Some(float) => Number::from_f64(float).is_some_and(|n| n.as_str() == text),
            None => true,
        },
    }
}

/// So many digits always are a machine integer.
const DIGITS: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn numbers_keep_their_text() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "1.10",
            "0.1",
            "0.0000001",
            "0.00001",
            "1e-7",
            "1.0",
            "-1",
            "18446744073709551616",
            "-170141183460469231731687303715884105729",
            "340282366920938463463374607431768211456",
            "1000000000000000000000000000000000000000000",
            "1e+400",
            "100000000000000000000000.0",
            "3.14159265358979323846264338327950288",
        ] {
            let source = format!(r#"{{"a":[{text},{{"b":{text}}}]}}"#);
            let value: Value = serde_json::from_str(&source).unwrap();
            let map: Map<String, Value> = typed(value).unwrap();
            assert_eq!(Value::Object(map).to_string(), source);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_either_way() {
        for text in [r#"{"a":1}"#, r#"{"a":-0}"#] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(typed::<Vec<String>>(value).is_err());
        }
    }
}
