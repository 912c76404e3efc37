//! A probability or a confidence, rounded once: what is compared with a threshold is what is recorded and shown.

use serde_json::Number;

/// One part of this many is the smallest difference that is told: four decimals.
const PARTS: f64 = 10_000.0;

/// A number from 0 to 1 in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share(u16);

impl Share {
    /// The nearest ten-thousandth; what is outside 0 to 1 counts as the end it is nearer to.
    pub(super) fn rounded(value: f64) -> Share {
        // Within the type by the clamp; what is no number becomes 0.
        Share((value * PARTS).round().clamp(0.0, PARTS) as u16)
    }

    /// As a number to compare: the one that the same decimal in a file is read as.
    pub(super) fn value(self) -> f64 {
        f64::from(self.0) / PARTS
    }

    /// As the shortest decimal: `0`, `0.42`, `1`.
    pub(super) fn number(self) -> Number {
        match self.value() {
            whole if whole.fract() == 0.0 => Number::from(whole as u8),
            part => Number::from_f64(part).unwrap_or_else(|| Number::from(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed;
    use serde_json::Value;

    #[test]
    fn every_share_is_written_as_its_shortest_decimal_and_read_again_as_itself() {
        for parts in 0..=10_000_u16 {
            let share = Share(parts);
            let decimal = format!("{}.{:04}", parts / 10_000, parts % 10_000);
            let wanted = decimal.trim_end_matches('0').trim_end_matches('.');
            assert_eq!(share.number().to_string(), wanted);
            assert_eq!(
                wanted.parse::<f64>().unwrap().to_bits(),
                share.value().to_bits(),
                "equal to the threshold {wanted}"
            );
            assert_eq!(Share::rounded(share.value()), share);
            let stored: Value = serde_json::from_str(wanted).unwrap();
            assert_eq!(typed::<Number>(stored).unwrap().to_string(), wanted, "by way of a stored value");
        }
    }

    #[test]
    fn rounding_is_to_the_nearest() {
        for (value, wanted) in [
            (0.123_449, "0.1234"),
            (0.123_451, "0.1235"),
            (0.899_96, "0.9"),
            (0.899_94, "0.8999"),
            (0.999_96, "1"),
            (0.000_04, "0"),
            (1.0 / 3.0, "0.3333"),
            (-0.0, "0"),
            (-3.0, "0"),
            (7.0, "1"),
            (f64::NAN, "0"),
        ] {
            assert_eq!(Share::rounded(value).number().to_string(), wanted, "{value}");
        }
    }
}
