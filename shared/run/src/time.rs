//! An instant as the journal writes it: milliseconds since 1970, as RFC 3339 text in UTC.
//!
//! The text always has three digits of milliseconds and a `Z`, so the order of the text is the order of time.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The last instant that has a text: the end of the year 9999, in milliseconds since 1970.
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// An instant, in milliseconds since 1970-01-01T00:00:00Z, from 1970 to the year 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// The instant this many milliseconds after 1970, moved into the years that have a text.
    pub fn from_millis(millis: i64) -> Time {
        Time(millis.clamp(0, LAST_MILLIS))
    }

    /// Milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// The instant this many seconds later; the year 9999 is the end of time.
    pub fn plus_seconds(self, seconds: u64) -> Time {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        Time::from_millis(self.0.saturating_add(millis))
    }

    /// Reads the text this type writes, and any other `datetime` (core §2.3): an instant before 1970 is read as 1970.
    pub fn parse(text: &str) -> Option<Time> {
        process::value::parse_datetime(text).map(Time::from_millis)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not by way of a `Timestamp`: its years end a day before those that a datetime of run data may name.
        let text = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).saturating_add(SignedDuration::from_millis(self.0));
        write!(f, "{text:.3}Z")
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Time::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

impl schemars::JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_three_digits_and_sorts_as_time_does() {
        let a = Time::from_millis(1_791_277_200_000);
        assert_eq!(a.to_string(), "2026-10-06T09:00:00.000Z");
        assert_eq!(Time::parse("2026-10-06T11:00:00+02:00"), Some(a));
        let b = Time::from_millis(a.millis() + 1);
        assert!(a.to_string() < b.to_string());
        assert_eq!(serde_json::to_string(&b).unwrap(), "\"2026-10-06T09:00:00.001Z\"");
    }

    #[test]
    fn the_end_of_time_has_a_text() {
        let end = Time::from_millis(0).plus_seconds(u64::MAX);
        assert_eq!(end.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Time::parse("9999-12-31T23:59:59.999Z"), Some(end));
        assert_eq!(Time::parse("9999-12-31T23:59:59.999-12:00"), Some(end), "later than the end is the end");
    }

    #[test]
    fn every_datetime_that_run_data_may_hold_is_read() {
        for (text, shown) in [
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("0001-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
            ("2024-02-29T23:59:59.9999999+00:00", "2024-02-29T23:59:59.999Z"),
            ("9999-12-31T10:00:00Z", "9999-12-31T10:00:00.000Z"),
        ] {
            assert_eq!(Time::parse(text).map(|t| t.to_string()).as_deref(), Some(shown), "{text}");
        }
        for text in ["", "2026-10-06", "2026-10-06T09:00:00", "2026-10-06 09:00:00Z", "2026-02-30T00:00:00Z"] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
