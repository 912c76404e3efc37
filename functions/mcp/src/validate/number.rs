//! Numbers as they were written, beside integers: nothing is rounded, and no number is too large.

use std::cmp::Ordering;

use serde_json::Number;

/// Most digits of an integer that is worked out; one of more lies beyond every limit.
const MOST_DIGITS: usize = 38;

/// Whether the number has no fraction: `1.0` and `1e1` are integers like any other.
pub(super) fn is_integer(number: &Number) -> bool {
    number.is_u64() || number.is_i64() || !Parts::of(number).fraction
}

/// How the number stands to an integer.
pub(super) fn compare(number: &Number, integer: i64) -> Ordering {
    if let Some(own) = number.as_i64() {
        return own.cmp(&integer);
    }
    let Parts { negative, whole, fraction } = Parts::of(number);
    let whole = if negative { -whole } else { whole };
    let beyond = match (fraction, negative) {
        (false, _) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (true, true) => Ordering::Less,
    };
    whole.cmp(&i128::from(integer)).then(beyond)
}

struct Parts {
    negative: bool,
    /// What stands before the point; where that is too long, more than any limit.
    whole: i128,
    /// Whether anything but zeros stands behind it.
    fraction: bool,
}

impl Parts {
    fn of(number: &Number) -> Parts {
        let normal = process::value::normal_form(number);
        let (negative, unsigned) = match normal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, normal.as_str()),
        };
        let (digits, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = match power.parse::<i64>() {
            // An exponent of that many digits makes it huge, or next to nothing.
            Err(_) if power.starts_with('-') => (0, true),
            Err(_) => (i128::MAX, false),
            Ok(power) => {
                let count = i64::try_from(digits.len()).unwrap_or(i64::MAX).saturating_add(power);
                match usize::try_from(count) {
                    Err(_) => (0, true),
                    Ok(count) if count > MOST_DIGITS => (i128::MAX, power < 0),
                    // Digits of the normal form do not end in zeros, so whatever stands behind the point is something.
                    Ok(count) => (format!("{digits:0<count$}").get(..count).map_or(0, integer), power < 0),
                }
            }
        };
        Parts { negative, whole, fraction }
    }
}

fn integer(digits: &str) -> i128 {
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).expect("a number")
    }

    #[test]
    fn an_integer_is_one_however_it_is_written() {
        for text in ["0", "-0", "0.0", "1.0", "1e1", "70e-1", "-1.20e1", "1e400", "0e-9", "1e99999999999999999999"] {
            assert!(is_integer(&number(text)), "{text}");
        }
        let huge = format!("{}.5", "9".repeat(50));
        for text in ["1.5", "-0.1", "1e-1", "12e-400", "0.1e0", "1e-99999999999999999999", &huge] {
            assert!(!is_integer(&number(text)), "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_without_rounding() {
        use Ordering::{Equal, Greater, Less};
        let huge = "9".repeat(50);
        for (text, integer, expected) in [
            ("7", 7, Equal),
            ("70e-1", 7, Equal),
            ("0.7e1", 7, Equal),
            ("-0.0", 0, Equal),
            ("100.00000000000000000000000000000001", 100, Greater),
            ("99.99999999999999999999999999999999", 100, Less),
            ("-7.5", -7, Less),
            ("-7.5", -8, Greater),
            ("-0.5", 0, Less),
            ("0.5", 0, Greater),
            ("1e-400", 0, Greater),
            ("9007199254740991.5", 9_007_199_254_740_991, Greater),
            ("18446744073709551615", i64::MAX, Greater),
            ("-9223372036854775809", i64::MIN, Less),
            (&huge, i64::MAX, Greater),
            ("1e400", 100, Greater),
            ("-1e400", 100, Less),
            ("1e99999999999999999999", 100, Greater),
            ("-1e99999999999999999999", 100, Less),
            ("1e-99999999999999999999", 1, Less),
            ("0e99999999999999999999", 0, Equal),
        ] {
            assert_eq!(compare(&number(text), integer), expected, "{text} to {integer}");
        }
    }
}
