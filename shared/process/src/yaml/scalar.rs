//! The core schema: what an untagged plain scalar is, and how its number is written in JSON.
//!
//! The forms are those of YAML 1.2.2 §10.3.2 and no others: `yes`, `on` and `1_000` are text, `0o14` is twelve, `014`
//! is fourteen. A number keeps its digits wherever JSON allows them; other spellings become the equal JSON number. An
//! exponent reads `e+3` or `e-3`, the way `serde_json` spells one that arrives as JSON.

use serde_json::Number;

use super::Data;

/// Why a scalar has no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// `.inf` or `.nan`.
    NotJson,
    /// Beyond the range of a double.
    TooLarge,
    /// The text is none of what its tag says.
    NotOfTag,
}

/// What a plain scalar without a tag is.
pub(super) fn plain(text: &str) -> Result<Data, Refused> {
    if let Some(data) = null(text).or_else(|| boolean(text)) {
        return Ok(data);
    }
    match number(text) {
        Some(result) => result,
        None => Ok(Data::Text(text.to_owned())),
    }
}

/// What a scalar with a tag of the core schema is; `suffix` follows `tag:yaml.org,2002:`. `None` for other tags.
pub(super) fn tagged(suffix: &str, text: &str) -> Option<Result<Data, Refused>> {
    let result = match suffix {
        "str" => Ok(Data::Text(text.to_owned())),
        "null" => null(text).ok_or(Refused::NotOfTag),
        "bool" => boolean(text).ok_or(Refused::NotOfTag),
        "int" => integer(text).unwrap_or(Err(Refused::NotOfTag)),
        "float" => number(text).unwrap_or(Err(Refused::NotOfTag)),
        _ => return None,
    };
    Some(result)
}

fn null(text: &str) -> Option<Data> {
    matches!(text, "" | "~" | "null" | "Null" | "NULL").then_some(Data::Null)
}

fn boolean(text: &str) -> Option<Data> {
    match text {
        "true" | "True" | "TRUE" => Some(Data::Bool(true)),
        "false" | "False" | "FALSE" => Some(Data::Bool(false)),
        _ => None,
    }
}

/// The number, why it is refused, or `None` when the text is no number.
fn number(text: &str) -> Option<Result<Data, Refused>> {
    if let Some(result) = integer(text) {
        return Some(result);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Err(Refused::NotJson));
    }
    decimal(text).map(|json| finite(&json))
}

/// An integer in any of its three forms.
fn integer(text: &str) -> Option<Result<Data, Refused>> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
                return None;
            }
            return Some(from_radix(digits, radix).ok_or(Refused::TooLarge).and_then(|json| finite(&json)));
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let all_digits = !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit());
    if all_digits { decimal(text).map(|json| finite(&json)) } else { None }
}

/// A decimal number in JSON's spelling: no plus sign, no leading zeros, digits on both sides of the point.
fn decimal(text: &str) -> Option<String> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at(at),
        None => (unsigned, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
        return None;
    }
    if !exponent.is_empty() {
        let power = exponent.get(1..).unwrap_or("");
        let power = power.strip_prefix(['-', '+']).unwrap_or(power);
        if power.is_empty() || !digits(power) {
            return None;
        }
    }
    let whole = whole.trim_start_matches('0');
    let mut json = String::with_capacity(text.len() + 2);
    if negative {
        json.push('-');
    }
    json.push_str(if whole.is_empty() { "0" } else { whole });
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    json.push_str(exponent);
    Some(json)
}

/// Digits of base 8 or 16 as decimal digits, exactly; `None` when the number is beyond the range of a double.
fn from_radix(digits: &str, radix: u32) -> Option<String> {
    // A double ends below 2^1024, which is 256 digits of base 16 or 342 of base 8: no long arithmetic on longer ones.
    const MOST_DIGITS: usize = 342;
    const LIMB: u64 = 1_000_000_000;
    let digits = digits.trim_start_matches('0');
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits.chars() {
        let mut carry = u64::from(digit.to_digit(radix)?);
        for limb in &mut limbs {
            let value = *limb * u64::from(radix) + carry;
            *limb = value % LIMB;
            carry = value / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut out = String::new();
    for (n, limb) in limbs.iter().rev().enumerate() {
        out.push_str(&if n == 0 { limb.to_string() } else { format!("{limb:09}") });
    }
    Some(out)
}

/// The content hash is over doubles (RFC 8785), so a number must be finite as one.
fn finite(json: &str) -> Result<Data, Refused> {
    match json.parse::<f64>() {
        Ok(double) if double.is_finite() => {}
        _ => return Err(Refused::TooLarge),
    }
    json.parse::<Number>().map(Data::Number).map_err(|_| Refused::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_core_schema() {
        let check = |text: &str, expect: &str| {
            let got = match plain(text) {
                Ok(Data::Null) => "null".to_owned(),
                Ok(Data::Bool(b)) => format!("bool {b}"),
                Ok(Data::Number(n)) => format!("number {n}"),
                Ok(Data::Text(s)) => format!("text {s}"),
                Ok(other) => format!("{other:?}"),
                Err(why) => format!("{why:?}"),
            };
            assert_eq!(got, expect, "{text}");
        };
        for text in ["", "~", "null", "Null", "NULL"] {
            check(text, "null");
        }
        for text in ["true", "True", "TRUE"] {
            check(text, "bool true");
        }
        for text in ["false", "False", "FALSE"] {
            check(text, "bool false");
        }
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "n",
            "Yes",
            "nULL",
            "tRUE",
            "1_000",
            "0b11",
            "1:30",
            "2026-01-01",
            "0x",
            "0o",
            "0o8",
            "0xg",
            "-0x1",
            "+0o7",
            "-",
            "+",
            ".",
            "-.",
            "e5",
            ".e5",
            "1e",
            "1e+",
            "1.2.3",
            "--1",
            "+-1",
            "inf",
            "nan",
            ".iNF",
            "-.nan",
            "+.nan",
            "0x 1",
            "1 ",
            "١",
        ] {
            check(text, &format!("text {text}"));
        }
        for (text, json) in [
            ("0", "0"),
            ("-0", "-0"),
            ("7", "7"),
            ("+7", "7"),
            ("-7", "-7"),
            ("014", "14"),
            ("-0014", "-14"),
            ("000", "0"),
            ("0o14", "12"),
            ("0o0", "0"),
            ("0x1F", "31"),
            ("0x00ff", "255"),
            ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1.50", "1.50"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("1.", "1.0"),
            ("+1.e3", "1.0e+3"),
            ("1e3", "1e+3"),
            ("1E+3", "1e+3"),
            ("00.10", "0.10"),
            ("1e-400", "1e-400"),
            ("0.1000000000000000000000001", "0.1000000000000000000000001"),
        ] {
            check(text, &format!("number {json}"));
        }
        for text in [".inf", "-.inf", "+.Inf", ".INF", ".nan", ".NaN", ".NAN"] {
            check(text, "NotJson");
        }
        for text in ["1e400", "-1e309", "1e99999999999999999999"] {
            check(text, "TooLarge");
        }
        check(&format!("0x{}", "f".repeat(300)), "TooLarge");
        check(&format!("0x{}", "f".repeat(256)), "TooLarge");
        check(&format!("0o{}", "7".repeat(60_000)), "TooLarge");
        check(&"9".repeat(310), "TooLarge");
        check(&format!("0x{}1", "0".repeat(1000)), "number 1");
    }

    #[test]
    fn tags_say_what_a_scalar_is() {
        assert_eq!(tagged("str", "12"), Some(Ok(Data::Text("12".into()))));
        assert_eq!(tagged("int", "0x10"), Some(Ok(Data::Number(16.into()))));
        assert_eq!(tagged("int", "1.5"), Some(Err(Refused::NotOfTag)));
        assert_eq!(tagged("float", "1"), Some(Ok(Data::Number(1.into()))));
        assert_eq!(tagged("float", ".inf"), Some(Err(Refused::NotJson)));
        assert_eq!(tagged("bool", "yes"), Some(Err(Refused::NotOfTag)));
        assert_eq!(tagged("null", ""), Some(Ok(Data::Null)));
        assert_eq!(tagged("binary", "aGk="), None);
    }
}
