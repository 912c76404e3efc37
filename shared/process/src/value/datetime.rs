//! Dates and datetimes (core §2.3), strictly.

use jiff::civil::Date;

/// Whether this is `YYYY-MM-DD` and a real calendar date.
pub fn is_date(text: &str) -> bool {
    date(text).is_some()
}

/// RFC 3339 with offset, `2026-10-06T09:30:00.5+02:00`: the instant in milliseconds since 1970-01-01T00:00:00Z, what is
/// finer cut off towards the past. `None` when it is anything else. As RFC 3339 has it, `t` and `z` may be small letters,
/// seconds are required, and a leap second (`:60`, at the end of an hour) is the first instant after it.
pub fn parse_datetime(text: &str) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = date(day)?;
    let (time, rest) = rest.strip_prefix(['T', 't'])?.split_at_checked(8)?;
    let seconds = clock(time)?;
    let (fraction, offset) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
            rest.split_at_checked(end)?
        }
    };
    let milliseconds = fraction.bytes().chain(*b"000").take(3).fold(0, |ms, digit| ms * 10 + i64::from(digit - b'0'));
    let offset_seconds = match offset.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        ("+", time) => hours_minutes(time)?,
        ("-", time) => -hours_minutes(time)?,
        _ => return None,
    };
    let days = day.duration_since(Date::constant(1970, 1, 1)).as_secs() / 86_400;
    Some((days * 86_400 + seconds - offset_seconds) * 1_000 + milliseconds)
}

fn date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, rest) = rest.strip_prefix('-')?.split_at_checked(2)?;
    let day = rest.strip_prefix('-')?;
    let year = i16::try_from(digits(year, 4)?).ok()?;
    let month = i8::try_from(digits(month, 2)?).ok()?;
    let day = i8::try_from(digits(day, 2)?).ok()?;
    Date::new(year, month, day).ok()
}

/// `hh:mm:ss` in seconds.
fn clock(text: &str) -> Option<i64> {
    let (start, seconds) = text.split_at_checked(5)?;
    let seconds = digits(seconds.strip_prefix(':')?, 2)?;
    let leap = seconds == 60 && start.ends_with(":59");
    (seconds < 60 || leap).then_some(())?;
    Some(hours_minutes(start)? + seconds)
}

/// `hh:mm` in seconds.
fn hours_minutes(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let hours = digits(hours, 2).filter(|h| *h < 24)?;
    let minutes = digits(minutes, 2).filter(|m| *m < 60)?;
    Some(hours * 3_600 + minutes * 60)
}

/// Exactly so many ASCII digits as a number.
fn digits(text: &str, count: usize) -> Option<i64> {
    if text.len() != count || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_real() {
        for good in ["2026-10-06", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-04-31",
            "2026-01-00",
            "26-01-01",
            "2026-1-1",
            "2026/01/01",
            "20260101",
            "2026-01-01T00:00:00Z",
            " 2026-01-01",
            "2026-01-01 ",
            "-001-01-01",
            "+202-01-01",
            "２０２６-01-01",
            "2026-W01-1",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }

    #[test]
    fn datetimes_have_seconds_and_an_offset() {
        for (text, milliseconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00+00:00", 0),
            ("1970-01-01T00:00:00-00:00", 0),
            ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("1969-12-31T23:59:59.9999Z", -1),
            ("2026-10-06T09:30:00Z", 1_791_279_000_000),
            ("2026-10-06T09:30:00.5+02:00", 1_791_271_800_500),
            ("2026-10-06T09:30:00.1239-23:59", 1_791_365_340_123),
            ("2026-10-06t09:30:00z", 1_791_279_000_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ] {
            assert_eq!(parse_datetime(text), Some(milliseconds), "{text}");
        }
        for bad in [
            "",
            "2026-10-06",
            "2026-10-06T09:30Z",
            "2026-10-06T09:30:00",
            "2026-10-06 09:30:00Z",
            "2026-10-06T24:00:00Z",
            "2026-10-06T09:60:00Z",
            "2026-10-06T23:58:60Z",
            "2026-10-06T23:59:61Z",
            "2026-10-06T09:30:00.Z",
            "2026-10-06T09:30:00,5Z",
            "2026-10-06T09:30:00+2:00",
            "2026-10-06T09:30:00+0200",
            "2026-10-06T09:30:00+24:00",
            "2026-10-06T09:30:00+02:60",
            "2026-02-30T09:30:00Z",
            "2026-10-06T09:30:00ZZ",
            "2026-10-06T09:30:00Z ",
            "2026-10-06T09:30:00.5",
            "2026-10-06T9:30:00Z",
            "2026-10-06T09:30:0äZ",
            "2026-10-06T09:30:00[Europe/Berlin]",
            "2026-10-06T09:30:00+02:00[Europe/Berlin]",
        ] {
            assert_eq!(parse_datetime(bad), None, "{bad}");
        }
    }
}
