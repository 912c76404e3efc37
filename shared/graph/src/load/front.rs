//! The frontmatter of Markdown files.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::schemas;

/// The fields between the two `---` lines at the head of a Markdown file.
///
/// # Errors
///
/// `frontmatter-missing`, `frontmatter-invalid`.
pub(crate) fn frontmatter(path: &str, bytes: &[u8]) -> Result<Map<String, Value>, Failure> {
    let invalid = |said: String| Failure::new("frontmatter-invalid", format!("{path}: {said}"));
    let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8".into()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n').map(|line| (line.trim_end(), line.len()));
    let opening = lines.next().filter(|(line, _)| *line == "---").map(|(_, length)| length);
    let missing = || {
        Failure::new(
            "frontmatter-missing",
            format!("{path}: begin it with frontmatter: a line `---`, fields, a line `---`"),
        )
    };
    let start = opening.ok_or_else(missing)?;
    let mut end = start;
    let closed = lines.any(|(line, length)| {
        let closing = line == "---";
        if !closing {
            end = end.saturating_add(length);
        }
        closing
    });
    if !closed {
        return Err(invalid("the frontmatter has no closing line `---`".into()));
    }
    // An empty line for the opening one, so that places are those of the file.
    let fields = format!("\n{}", text.get(start..end).unwrap_or_default());
    match schemas::parse(path, fields.as_bytes()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid("the frontmatter is no mapping of fields".into())),
        Err(failure) => Err(Failure { code: "frontmatter-invalid".into(), ..failure }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_between_two_lines() {
        let of = |text: &str| frontmatter("a.md", text.as_bytes()).map_err(|failure| failure.code.into_owned());
        assert_eq!(of("---\nid: a\n---\n# A\n").unwrap()["id"], "a");
        assert_eq!(of("---\r\nid: a\r\n---\r\n").unwrap()["id"], "a");
        assert_eq!(of("---\nid: a\n---").unwrap()["id"], "a");
        for (text, code) in [
            ("", "frontmatter-missing"),
            ("# A\n---\nid: a\n---\n", "frontmatter-missing"),
            ("--- \n", "frontmatter-invalid"),
            ("---\nid: a\n", "frontmatter-invalid"),
            ("---\n---\n", "frontmatter-invalid"),
            ("---\n- a\n---\n", "frontmatter-invalid"),
            ("---\na: [\n---\n", "frontmatter-invalid"),
        ] {
            assert_eq!(of(text).unwrap_err(), code, "{text:?}");
        }
        assert_eq!(frontmatter("a.md", b"---\n\xff\n---\n").unwrap_err().code, "frontmatter-invalid");
    }
}
