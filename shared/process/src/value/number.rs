//! Numbers as text, compared by their exact value.

/// Two JSON numbers have the same value exactly when this is the same: sign, digits without zeros at either end, and
/// the power of ten of the last digit. An exponent of more than 18 digits is no longer worked out: such a number equals
/// only one that is written the same.
pub(super) fn identity(text: &str) -> String {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at).unwrap_or_default(), unsigned.get(at + 1..).unwrap_or_default()),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(fraction.chars()).collect();
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    let kept = significant.trim_end_matches('0');
    let Some(exponent) = small(exponent) else { return text.to_owned() };
    let dropped = i128::try_from(significant.len() - kept.len()).unwrap_or(0);
    let fraction = i128::try_from(fraction.len()).unwrap_or(0);
    let power = i128::from(exponent) - fraction + dropped;
    format!("{}{kept}e{power}", if negative { "-" } else { "" })
}

fn small(exponent: &str) -> Option<i64> {
    let (negative, digits) = match exponent.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    let digits = digits.trim_start_matches('0');
    if digits.len() > 18 {
        return None;
    }
    let value: i64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        let same = [
            vec!["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+00", "100e-0002"],
            vec!["0", "-0", "0.000", "0e99", "-0e-99999999999999999999999"],
            vec!["-120", "-1.2e2", "-12e1", "-0.012e4"],
            vec!["12345678901234567890123.5", "123456789012345678901235e-1"],
            vec!["0.1", "1e-1"],
            vec!["1e18", "1000000000000000000"],
        ];
        for (n, group) in same.iter().enumerate() {
            for text in group {
                assert_eq!(identity(text), identity(group[0]), "{text}");
            }
            for (m, other) in same.iter().enumerate() {
                assert!(n == m || identity(group[0]) != identity(other[0]));
            }
        }
    }

    #[test]
    fn nothing_is_rounded() {
        assert_ne!(identity("12345678901234567890"), identity("12345678901234567891"));
        assert_ne!(identity("0.1"), identity("0.1000000000000000055511151231257827"));
        assert_ne!(identity("1e999999999999999999"), identity("1e999999999999999998"));
        assert_ne!(identity("1"), identity("-1"));
        assert_eq!(identity("1e99999999999999999999"), identity("1e99999999999999999999"));
    }
}
