//! Colours on a terminal, plain text everywhere else.

use std::fmt;
use std::io::IsTerminal;

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(bool);

impl Paint {
    /// Colours when standard output is a terminal that can show them and nobody asked for plain text (`NO_COLOR`).
    pub fn detect() -> Paint {
        let asked_for_plain = std::env::var_os("NO_COLOR").is_some_and(|text| !text.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|text| text == "dumb");
        Paint(std::io::stdout().is_terminal() && !asked_for_plain && !dumb)
    }

    /// Never colours.
    pub fn plain() -> Paint {
        Paint(false)
    }

    /// A line with text of somebody else's in it, without anything that would steer a terminal but what was painted.
    pub fn line(self, line: &str) -> String {
        let mut parts = line.split('\u{1b}');
        let mut clean = crate::clean(parts.next().unwrap_or_default());
        for part in parts {
            let code = part.strip_prefix('[').and_then(|rest| rest.split_once('m')).map(|(code, _)| code);
            let painted = self.0 && code.is_some_and(|code| code.chars().all(|c| c.is_ascii_digit() || c == ';'));
            clean.push(if painted { '\u{1b}' } else { char::REPLACEMENT_CHARACTER });
            clean.push_str(&crate::clean(part));
        }
        clean
    }

    /// A heading.
    pub fn title(self, text: impl fmt::Display) -> String {
        self.with("1", text)
    }

    /// Who acts.
    pub fn actor(self, text: impl fmt::Display) -> String {
        self.with("36", text)
    }

    /// What to type, or what is called.
    pub fn typed(self, text: impl fmt::Display) -> String {
        self.with("1;34", text)
    }

    /// What went as it should.
    pub fn good(self, text: impl fmt::Display) -> String {
        self.with("32", text)
    }

    /// What waits for somebody, or asks to be looked at.
    pub fn waiting(self, text: impl fmt::Display) -> String {
        self.with("33", text)
    }

    /// What should not be.
    pub fn bad(self, text: impl fmt::Display) -> String {
        self.with("1;31", text)
    }

    /// What matters less.
    pub fn dim(self, text: impl fmt::Display) -> String {
        self.with("2", text)
    }

    fn with(self, code: &str, text: impl fmt::Display) -> String {
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_colours() {
        assert_eq!(Paint::plain().bad("x"), "x");
        assert_eq!(Paint(true).good("x"), "\u{1b}[32mx\u{1b}[0m");
        let line = format!("{} \u{1b}[2J\u{1b}]0;t\u{7}\u{1b}", Paint(true).good("x"));
        assert_eq!(Paint(true).line(&line), "\u{1b}[32mx\u{1b}[0m \u{fffd}[2J\u{fffd}]0;t\u{fffd}\u{fffd}");
        assert_eq!(Paint::plain().line("\u{1b}[32mx\ty"), "\u{fffd}[32mx\ty");
        // Tests do not run on a terminal, or their output would be what is under test.
        if !std::io::stdout().is_terminal() {
            assert_eq!(Paint::detect(), Paint::plain());
        }
    }
}
