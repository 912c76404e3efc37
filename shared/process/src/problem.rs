//! What a reading finds wrong: positions, severities, and the collector that keeps the report bounded.
//!
//! Invariant: a [`Reading`] holds a document exactly when none of its problems is an error.

use std::cell::Cell;
use std::fmt;

use crate::limits::{PROBLEMS, QUOTE_CHARACTERS, SUGGESTIONS};
use crate::model::Document;

/// What came of reading a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The document; `Some` exactly when no problem is an error.
    pub document: Option<Document>,
    /// Every problem, sorted by position; at most [`PROBLEMS`] and one line that counts the rest.
    pub problems: Vec<Problem>,
}

/// Whether a problem refuses the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is refused.
    Error,
    /// The file is accepted; whoever wrote it should know.
    Warning,
}

/// One thing that is wrong with a file, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line in the file, from 1.
    pub line: u32,
    /// The column in the file, in characters from 1.
    pub column: u32,
    /// Whether it refuses the file.
    pub severity: Severity,
    /// Where in the data, such as `steps[2].next`; empty when it concerns the file as a whole.
    pub path: String,
    /// What is wrong and what to do, beginning with the path.
    pub message: String,
    /// The profile that the file would need, when that is the problem (core §8).
    pub profile: Option<&'static str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// A position in the file, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Where in the data a rule looks; a chain on the stack, spelled out only when there is something to report.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The file as a whole.
    Root,
    /// A key of a mapping.
    Key(&'a Path<'a>, &'a str),
    /// An element of a list.
    Element(&'a Path<'a>, usize),
}

impl Path<'_> {
    /// The path under `key`.
    pub(crate) fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path::Key(self, key)
    }

    /// The path at `index`.
    pub(crate) fn element(&self, index: usize) -> Path<'_> {
        Path::Element(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(parent, key) if key.trim().is_empty() => write!(f, "{parent}.\"{key}\""),
            Path::Key(Path::Root, key) => f.write_str(&shorten(key)),
            Path::Key(parent, key) => write!(f, "{parent}.{}", shorten(key)),
            Path::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Collects problems, up to a number that keeps the report bounded whatever the input.
#[derive(Debug, Default)]
pub(crate) struct Report {
    problems: Vec<Problem>,
    dropped: usize,
    errors: usize,
    suggestions: Cell<usize>,
}

impl Report {
    /// The file is refused because of this.
    pub(crate) fn error(&mut self, at: Position, path: &Path<'_>, what: impl fmt::Display) {
        self.push(at, path, Severity::Error, &what, None);
    }

    /// Whoever wrote the file should know this.
    pub(crate) fn warning(&mut self, at: Position, path: &Path<'_>, what: impl fmt::Display) {
        self.push(at, path, Severity::Warning, &what, None);
    }

    /// The file is refused because it uses a key of a profile that is not offered.
    /// `lacks` is what the server would have to have.
    pub(crate) fn profile(
        &mut self,
        at: Position,
        path: &Path<'_>,
        profile: &'static str,
        what: impl fmt::Display,
        lacks: &str,
    ) {
        let what = format!("{what} needs profile {profile}, which this server does not offer: it has no {lacks}");
        self.push(at, path, Severity::Error, &what, Some(profile));
    }

    fn push(
        &mut self,
        at: Position,
        path: &Path<'_>,
        severity: Severity,
        what: &dyn fmt::Display,
        profile: Option<&'static str>,
    ) {
        if severity == Severity::Error {
            self.errors += 1;
        }
        if self.problems.len() >= PROBLEMS {
            self.dropped += 1;
            return;
        }
        let path = path.to_string();
        let message = if path.is_empty() { what.to_string() } else { format!("{path}: {what}") };
        self.problems.push(Problem { line: at.line, column: at.column, severity, path, message, profile });
    }

    /// Whether anything so far refuses the file.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The candidate that was probably meant, or `None`: nothing is close, or this reading has searched enough.
    pub(crate) fn suggest<'c>(&self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        if self.suggestions.get() >= SUGGESTIONS {
            return None;
        }
        self.suggestions.set(self.suggestions.get() + 1);
        closest(word, candidates)
    }

    /// Closes the report: sorted, without repeats, the count of what was left out at the end.
    pub(crate) fn finish(mut self, document: Option<Document>) -> Reading {
        self.problems.sort_by(|a, b| {
            (a.line, a.column, a.severity, &a.message).cmp(&(b.line, b.column, b.severity, &b.message))
        });
        self.problems.dedup();
        if self.dropped > 0 {
            let last = self.problems.last().map(|p| (p.line, p.column)).unwrap_or((1, 1));
            self.problems.push(Problem {
                line: last.0,
                column: last.1,
                severity: if self.errors > 0 { Severity::Error } else { Severity::Warning },
                path: String::new(),
                message: format!("{} more problems are not shown; mend these first", self.dropped),
                profile: None,
            });
        }
        let document = if self.errors > 0 { None } else { document };
        Reading { document, problems: self.problems }
    }
}

/// Text of the file's own, cut to a length that a message can carry, with control characters made visible.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTE_CHARACTERS) {
        Some((end, _)) => visible(text.get(..end).unwrap_or_default()) + "…",
        None => visible(text),
    }
}

/// Text with control characters made visible, so that a message is one line and moves no cursor.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {
                out.extend(c.escape_unicode());
            }
            _ if c.is_control() => out.extend(c.escape_default()),
            _ => out.push(c),
        }
    }
    out
}

/// `; did you mean `x`?`, or nothing.
pub(crate) fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|s| format!("; did you mean `{}`?", shorten(s))).unwrap_or_default()
}

/// The first of the candidates nearest to `word`, when it is near enough to be a slip of the pen.
fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const FAR: usize = 3;
    let word: Vec<char> = word.chars().take(QUOTE_CHARACTERS + 10).flat_map(|c| fold(c).to_lowercase()).collect();
    // One edit turns any word of two letters into half of another: that is no slip of the pen.
    let allowed = match word.len() {
        0..=2 => 0,
        letters => (letters / 3).clamp(1, FAR - 1),
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.chars().flat_map(|c| fold(c).to_lowercase()).collect();
        if word.len().abs_diff(other.len()) > allowed {
            continue;
        }
        let far = distance(&word, &other, allowed);
        if far <= allowed && best.is_none_or(|(b, _)| far < b) {
            best = Some((far, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Words that differ only in how they join their parts are the same word.
fn fold(c: char) -> char {
    if c == '-' || c == ' ' { '_' } else { c }
}

/// Edits between two words, a swap of neighbours counted once; more than `limit` reads as `limit + 1`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    let mut before: Vec<usize> = vec![limit + 1; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        let mut least = i + 1;
        for (j, y) in b.iter().enumerate() {
            let diagonal = above.get(j).copied().unwrap_or(limit) + usize::from(x != y);
            let up = above.get(j + 1).copied().unwrap_or(limit) + 1;
            let left = row.get(j).copied().unwrap_or(limit) + 1;
            let mut cost = diagonal.min(up).min(left);
            if i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x) {
                cost = cost.min(before.get(j - 1).copied().unwrap_or(limit) + 1);
            }
            least = least.min(cost);
            row.push(cost);
        }
        if least > limit {
            return limit + 1;
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_word() {
        let words = ["approve", "decline", "done", "check_vendor"];
        let check = |word: &str, expect: Option<&str>| assert_eq!(closest(word, words), expect, "{word}");
        check("aprove", Some("approve"));
        check("approev", Some("approve"));
        check("Approve", Some("approve"));
        check("check-vendor", Some("check_vendor"));
        check("dnoe", Some("done"));
        check("finish", None);
        check("d", None);
        assert_eq!(closest("b", ["a", "ab"]), None);
        assert_eq!(closest("A", ["b", "a"]), Some("a"));
        check("", None);
    }

    #[test]
    fn the_report_is_bounded_and_says_what_it_left_out() {
        let mut report = Report::default();
        for n in 0..PROBLEMS + 5 {
            report.error(Position { line: 1, column: n as u32 + 1 }, &Path::Root, "wrong");
        }
        let reading = report.finish(None);
        assert_eq!(reading.problems.len(), PROBLEMS + 1);
        assert_eq!(reading.problems[PROBLEMS].message, "5 more problems are not shown; mend these first");
    }
}
