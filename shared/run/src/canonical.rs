//! One text for one JSON value: keys sorted, numbers by their text, no space.
//!
//! This is what requests are compared by and what a snapshot hashes. It is not RFC 8785: that rounds numbers, and two
//! requests that differ in the last digit of an amount are two requests.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The canonical text of a value.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// SHA-256 of the canonical text, lower-case hex.
pub fn digest(value: &Value) -> String {
    hex(&Sha256::digest(canonical(value).as_bytes()))
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(bytes.len() * 2);
    for b in bytes {
        let _ = write!(out, "{b:02x}");
    }
    out
}

// The recursion is as deep as the value, and whatever parsed the value bounded that (serde_json: 128).
fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(n) => out.push_str(&n.to_string()),
        Value::String(s) => string(s, out),
        Value::Array(list) => {
            out.push('[');
            for (i, v) in list.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(v, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by(|a, b| a.0.cmp(b.0));
            out.push('{');
            for (i, (k, v)) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                string(k, out);
                out.push(':');
                write(v, out);
            }
            out.push('}');
        }
    }
}

fn string(s: &str, out: &mut String) {
    match serde_json::to_string(s) {
        Ok(text) => out.push_str(&text),
        // Writing a string to memory has no way to fail; the debug form would still be one text for one value.
        Err(_) => out.push_str(&format!("{s:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_is_aside_and_number_text_is_not() {
        let v = |t: &str| serde_json::from_str::<Value>(t).unwrap();
        assert_eq!(canonical(&v(r#"{"b":1.10,"a":[null,true,"é\n"]}"#)), r#"{"a":[null,true,"é\n"],"b":1.10}"#);
        assert_eq!(digest(&v(r#"{"a":1,"b":2}"#)), digest(&v(r#"{"b":2, "a":1}"#)));
        assert_ne!(digest(&v("1.0")), digest(&v("1.00")));
        assert_ne!(digest(&v("12345678901234567890.1")), digest(&v("12345678901234567890.2")));
    }
}
