//! The small words of a file: names, ids, roles, outcomes, durations (core §2.1, §2.2, §2.4).

use crate::limits::{
    ANSWER_NAME_CHARACTERS, FACT_PATH_CHARACTERS, FACT_PATH_NAMES, GRAPH_ID_CHARACTERS, ID_CHARACTERS, NAME_CHARACTERS,
    PROVIDER_VERSION_CHARACTERS, SPAN_DAYS,
};
use crate::model::Span;

/// `^[a-z0-9]+(-[a-z0-9]+)*$`, 1–64 characters.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_CHARACTERS
        && text
            .split('-')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// `^[a-z][a-z0-9_-]{0,63}$`.
pub(super) fn is_id(text: &str) -> bool {
    text.len() <= ID_CHARACTERS
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'))
}

/// `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`: wide enough for whatever an id or a name may be, and it fits on a command line.
pub(super) fn is_role(text: &str) -> bool {
    text.len() <= ID_CHARACTERS
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// `^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?$`: what names a provider, a graph and an entry (graph-1).
pub(super) fn is_graph_id(text: &str) -> bool {
    let end = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.len() <= GRAPH_ID_CHARACTERS
        && end(text.bytes().next())
        && end(text.bytes().next_back())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'/' | b'-'))
}

/// Three numbers joined by dots, and maybe what follows a hyphen: a version of a provider (graph-1).
pub(super) fn is_version(text: &str) -> bool {
    let (numbers, label) = match text.split_once('-') {
        Some((numbers, label)) => (numbers, Some(label)),
        None => (text, None),
    };
    let number = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let labelled =
        |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
    text.len() <= PROVIDER_VERSION_CHARACTERS
        && numbers.split('.').count() == 3
        && numbers.split('.').all(number)
        && label.is_none_or(labelled)
}

/// Names joined by dots, each of letters, digits, `_` and `-`: where a fact stands (graph-1).
pub(super) fn is_fact_path(text: &str) -> bool {
    let name =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    text.len() <= FACT_PATH_CHARACTERS && text.split('.').count() <= FACT_PATH_NAMES && text.split('.').all(name)
}

/// One line of 1–64 characters, with something on it.
pub(super) fn is_outcome(text: &str) -> bool {
    is_line(text, ID_CHARACTERS)
}

/// One line of 1–64 characters, with something on it.
pub(super) fn is_answer(text: &str) -> bool {
    is_line(text, ANSWER_NAME_CHARACTERS)
}

fn is_line(text: &str, characters: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= characters && !text.chars().any(is_break_or_control)
}

fn is_break_or_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// A duration, or what is wrong with it.
pub(super) fn span(text: &str) -> Result<Span, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, unit)) => text.split_at_checked(at).map(|(digits, _)| (digits, unit)).unwrap_or(("", unit)),
        None => ("", ' '),
    };
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => 0,
    };
    if seconds == 0 || digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("is not a duration; write a whole number and m, h or d, such as `30m`, `4h` or `3d`".to_owned());
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|count| count.checked_mul(seconds))
        .filter(|seconds| *seconds <= SPAN_DAYS * 86_400)
        .map(|seconds| Span { seconds })
        .ok_or_else(|| format!("is longer than {SPAN_DAYS} days, the most a duration may be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ids_roles_and_outcomes() {
        for good in ["a", "0", "a-b", "a1-2b-c", &"x".repeat(64)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "-", "a-", "-a", "a--b", "A", "a_b", "a b", "ä", "a\n", &"x".repeat(65)] {
            assert!(!is_name(bad), "{bad}");
        }
        for good in ["a", "a_b-c9", "ready", &"x".repeat(64)] {
            assert!(is_id(good), "{good}");
        }
        for bad in ["", "_a", "-a", "1a", "A", "aB", "a.b", "a b", "ä", "aä", "a\n", &"x".repeat(65)] {
            assert!(!is_id(bad), "{bad}");
        }
        for good in ["finance-approver", "AP", "2nd_line", &"x".repeat(64)] {
            assert!(is_role(good), "{good}");
        }
        for bad in ["", "-a", "_a", "a.b", "a b", "a=b", "ä", &"x".repeat(65)] {
            assert!(!is_role(bad), "{bad}");
        }
        for good in ["onboarded", "paid in full", "rejected", "übernommen", &"ü".repeat(64)] {
            assert!(is_outcome(good), "{good}");
        }
        for bad in ["", " ", "\u{a0}", "a\nb", "a\u{2028}b", "a\tb", "a\0", &"x".repeat(65)] {
            assert!(!is_outcome(bad), "{bad:?}");
        }
    }

    #[test]
    fn graphs_versions_and_facts() {
        for good in ["a", "acme/release", "a.b_c-d/e9", "0", &"x".repeat(160)] {
            assert!(is_graph_id(good), "{good}");
        }
        for bad in ["", "/a", "a/", "-a", "a.", "A", "a b", "a@1.0.0", "\u{e4}", &"x".repeat(161)] {
            assert!(!is_graph_id(bad), "{bad}");
        }
        for good in ["0.0.0", "1.20.3", "1.2.3-rc.1", "1.2.3-a-b"] {
            assert!(is_version(good), "{good}");
        }
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "1.2.3-", "1.2.3-\u{e4}", "^1.2.3", "1..3", "latest"]
        {
            assert!(!is_version(bad), "{bad}");
        }
        for good in ["a", "a.b", "items.0.id", "A_b-c", &"x".repeat(160), &["x"; 16].join(".")] {
            assert!(is_fact_path(good), "{good}");
        }
        for bad in ["", ".", "a.", ".a", "a..b", "a b", "a/b", "\u{e4}", &"x".repeat(161), &["x"; 17].join(".")] {
            assert!(!is_fact_path(bad), "{bad}");
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in
            [("30m", 1_800), ("4h", 14_400), ("3d", 259_200), ("0m", 0), ("007d", 604_800), ("365000d", 31_536_000_000)]
        {
            assert_eq!(span(text), Ok(Span { seconds }), "{text}");
        }
        for bad in [
            "", "m", "3", "3s", "3w", "3 d", " 3d", "3d ", "3D", "-3d", "+3d", "3.5h", "1d2h", "1_0m", "٣d", "3dä", "ä",
        ] {
            assert!(span(bad).unwrap_err().contains("not a duration"), "{bad}");
        }
        for bad in ["365001d", "99999999999999999999d", "18446744073709551615d", &format!("{}m", "9".repeat(1000))] {
            assert!(span(bad).unwrap_err().contains("longer than 365000 days"), "{bad}");
        }
    }
}
