//! Frontmatter and body: a first line `---`, a closing line `---`, and the body from the byte after its line break.

use crate::limits::{BODY_BYTES, FRONTMATTER_BYTES};
use crate::problem::{Path, Position, Report};

/// The line on which the frontmatter begins: the one after the opening `---`.
pub(super) const FRONTMATTER_LINE: u32 = 2;

/// Where a file begins.
pub(super) const START: Position = Position { line: 1, column: 1 };

/// The two parts of a file.
pub(super) struct Parts<'b> {
    /// The YAML between the `---` lines.
    pub(super) frontmatter: &'b str,
    /// The bytes behind the closing `---` and its line break.
    pub(super) body: &'b str,
}

/// The parts of the file; reports why there are none.
pub(super) fn split<'b>(bytes: &'b [u8], report: &mut Report) -> Option<Parts<'b>> {
    let start = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (first, mut rest) = take_line(start);
    if first != b"---" {
        let what = if is_delimiter_with_blanks(first) {
            "the first line has blanks after `---`; remove them"
        } else {
            "a process file begins with a line `---`, then the frontmatter, then another line `---`; \
             the first line is something else"
        };
        report.error(START, &Path::Root, what);
        return None;
    }
    let frontmatter_at = rest;
    let mut line_number = FRONTMATTER_LINE;
    let (frontmatter, body) = loop {
        let taken = frontmatter_at.len() - rest.len();
        if taken > FRONTMATTER_BYTES {
            let what = format!("the frontmatter is larger than {FRONTMATTER_BYTES} bytes; move text to the body");
            report.error(Position { line: line_number, column: 1 }, &Path::Root, what);
            return None;
        }
        if rest.is_empty() {
            let what = "the frontmatter is never closed; add a line `---` where it ends and the body begins";
            report.error(START, &Path::Root, what);
            return None;
        }
        let (line, after) = take_line(rest);
        if line == b"---" {
            break (frontmatter_at.get(..taken).unwrap_or_default(), after);
        }
        if is_delimiter_with_blanks(line) {
            let what = "this line has blanks after `---`, so it does not close the frontmatter; remove them";
            report.error(Position { line: line_number, column: 4 }, &Path::Root, what);
            return None;
        }
        rest = after;
        line_number = line_number.saturating_add(1);
    };
    let body_at = Position { line: line_number.saturating_add(1), column: 1 };
    if body.len() > BODY_BYTES {
        let what = format!("the body is {} bytes long; at most {BODY_BYTES} are allowed", body.len());
        report.error(body_at, &Path::Root, what);
    }
    let frontmatter = utf8(frontmatter, Position { line: FRONTMATTER_LINE, column: 1 }, false, report);
    let body = match body.get(..BODY_BYTES) {
        Some(cut) if body.len() > BODY_BYTES => utf8(cut, body_at, true, report),
        _ => utf8(body, body_at, false, report),
    };
    let frontmatter = frontmatter?;
    // A body that is refused leaves the frontmatter to be checked all the same.
    Some(Parts { frontmatter, body: body.unwrap_or_default() })
}

/// The first line without its break (`\n` or `\r\n`), and what follows the break.
fn take_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let Some(end) = bytes.iter().position(|b| *b == b'\n') else { return (bytes, &[]) };
    let line = bytes.get(..end).unwrap_or_default();
    (line.strip_suffix(b"\r").unwrap_or(line), bytes.get(end + 1..).unwrap_or_default())
}

fn is_delimiter_with_blanks(line: &[u8]) -> bool {
    line.strip_prefix(b"---")
        .is_some_and(|blanks| !blanks.is_empty() && blanks.iter().all(|b| matches!(b, b' ' | b'\t')))
}

/// The bytes as text; reports the first byte that is none. Bytes that were cut may end within a character.
fn utf8<'b>(bytes: &'b [u8], at: Position, cut: bool, report: &mut Report) -> Option<&'b str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            if cut && error.error_len().is_none() {
                return None;
            }
            let valid = String::from_utf8_lossy(valid);
            let breaks = valid.bytes().filter(|b| *b == b'\n').count();
            let column = valid.rsplit('\n').next().unwrap_or_default().chars().count();
            let at = Position {
                line: at.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX)),
                column: u32::try_from(column).unwrap_or(u32::MAX).saturating_add(1),
            };
            report.error(at, &Path::Root, "this byte is not UTF-8; save the file as UTF-8");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[u8]) -> Result<(String, String), Vec<String>> {
        let mut report = Report::default();
        let parts = split(bytes, &mut report).map(|p| (p.frontmatter.to_owned(), p.body.to_owned()));
        let problems: Vec<String> = report.finish(None).problems.iter().map(ToString::to_string).collect();
        if problems.is_empty() { Ok(parts.unwrap()) } else { Err(problems) }
    }

    #[test]
    fn the_body_is_every_byte_after_the_closing_line() {
        let check = |file: &str, frontmatter: &str, body: &str| {
            assert_eq!(parts(file.as_bytes()), Ok((frontmatter.into(), body.into())), "{file:?}");
        };
        check("---\na: 1\n---\nbody\n", "a: 1\n", "body\n");
        check("---\na: 1\n---\n\n\nbody", "a: 1\n", "\n\nbody");
        check("---\na: 1\n---\n", "a: 1\n", "");
        check("---\na: 1\n---", "a: 1\n", "");
        check("---\n---\n---\n", "", "---\n");
        check("\u{feff}---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\r\n", "body\r\n");
        check("---\na: |\n  ---\n ---\n---\nb", "a: |\n  ---\n ---\n", "b");
        check("---\na: 1\n---\n\u{feff}b\0", "a: 1\n", "\u{feff}b\0");
        check("---\na: 1\n----\n--- b\n---\n", "a: 1\n----\n--- b\n", "");
    }

    #[test]
    fn what_is_no_process_file_is_refused_with_the_remedy() {
        let check = |file: &[u8], expect: &str| {
            let problems = parts(file).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].contains(expect), "{problems:?}");
        };
        check(b"", "1:1: a process file begins with a line `---`");
        check(b"# Title\n---\n", "1:1: a process file begins");
        check(b"\n---\na: 1\n---\n", "1:1: a process file begins");
        check(b"--- \na: 1\n---\n", "1:1: the first line has blanks");
        check(b"---\na: 1\n--- \t\nb", "3:4: this line has blanks");
        check(b"---\na: 1\n", "1:1: the frontmatter is never closed");
        check(b"---", "1:1: the frontmatter is never closed");
        check(b"---\na: \xff\n---\n", "2:4: this byte is not UTF-8");
        check(b"---\na: 1\n---\nok\n\xc3\xa4\xc3", "5:2: this byte is not UTF-8");
    }

    #[test]
    fn limits_are_exact() {
        let file = |frontmatter: usize, body: usize| {
            let line = "#".repeat(frontmatter - 1);
            parts(format!("---\n{line}\n---\n{}", "b".repeat(body)).as_bytes())
        };
        assert!(file(FRONTMATTER_BYTES, BODY_BYTES).is_ok());
        assert!(file(FRONTMATTER_BYTES + 1, 1).unwrap_err()[0].contains("larger than 65536 bytes"));
        assert!(file(10, BODY_BYTES + 1).unwrap_err()[0].contains("4:1: the body is 131073 bytes"));
        let umlauts = format!("---\na: 1\n---\nb{}", "ä".repeat(BODY_BYTES / 2));
        assert_eq!(parts(umlauts.as_bytes()).unwrap_err().len(), 1);
    }
}
