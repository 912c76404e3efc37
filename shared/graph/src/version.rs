//! Which of two versions is the higher one (Semantic Versioning 2.0.0, §11).

use std::cmp::Ordering;

/// How two versions compare. Build metadata does not count; what is no version is below every version, and total order is
/// kept among such texts too.
pub fn precedence(left: &str, right: &str) -> Ordering {
    match (Version::of(left), Version::of(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => left.cmp(right),
    }
}

/// Whether this is a version before its release, such as `1.0.0-beta.2`.
pub fn is_prerelease(version: &str) -> bool {
    Version::of(version).is_none_or(|version| !version.before.0.is_empty())
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Version<'a> {
    numbers: [Number<'a>; 3],
    before: Before<'a>,
}

/// What stands before a release, if anything: a release has nothing and is the higher one.
#[derive(PartialEq, Eq)]
struct Before<'a>(Vec<Part<'a>>);

/// One part of it: numbers are below names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(Number<'a>),
    Name(&'a str),
}

/// A number of any length, without zeros at its front: the longer one is the higher one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Number<'a> {
    digits: usize,
    text: &'a str,
}

impl<'a> Number<'a> {
    fn of(text: &'a str) -> Option<Number<'a>> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let text = text.trim_start_matches('0');
        Some(Number { digits: text.len(), text })
    }
}

impl<'a> Version<'a> {
    fn of(text: &'a str) -> Option<Version<'a>> {
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (release, before) = text.split_once('-').map_or((text, None), |(release, before)| (release, Some(before)));
        let mut numbers = release.split('.').map(Number::of);
        let numbers = match (numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()) {
            (major, minor, patch, None) => [major, minor, patch],
            _ => return None,
        };
        let part = |part| Number::of(part).map_or(Part::Name(part), Part::Number);
        let before = before.map(|before| before.split('.').map(part).collect()).unwrap_or_default();
        Some(Version { numbers, before: Before(before) })
    }
}

impl Ord for Before<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0.is_empty(), other.0.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Before<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_rise_in_this_order() {
        let rising = [
            "",
            "latest",
            "0.9.10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.9",
            "1.0.10",
            "1.2.0",
            "10.0.0",
            "99999999999999999999999999.0.0",
        ];
        for (at, low) in rising.iter().enumerate() {
            assert_eq!(precedence(low, low), Ordering::Equal);
            for high in rising.iter().skip(at + 1) {
                assert_eq!(precedence(low, high), Ordering::Less, "{low} is below {high}");
                assert_eq!(precedence(high, low), Ordering::Greater, "{high} is above {low}");
            }
        }
        assert_eq!(precedence("1.0.0+one", "1.0.0+two"), Ordering::Equal);
    }

    #[test]
    fn a_release_is_no_prerelease() {
        for (version, before) in [("1.0.0", false), ("1.0.0+b-1", false), ("1.0.0-rc.1", true), ("1.0", true)] {
            assert_eq!(is_prerelease(version), before, "{version}");
        }
    }
}
