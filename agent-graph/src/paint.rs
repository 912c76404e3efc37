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

    /// A heading.
    pub fn title(self, text: impl fmt::Display) -> String {
        self.with("1", text)
    }

    /// What to type.
    pub fn typed(self, text: impl fmt::Display) -> String {
        self.with("1;34", text)
    }

    /// What went as it should.
    pub fn good(self, text: impl fmt::Display) -> String {
        self.with("32", text)
    }

    /// What waits for somebody.
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
        let text = crate::out::clean(&text.to_string());
        if self.0 { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_no_colours() {
        assert_eq!(Paint::plain().bad("x"), "x");
        assert_eq!(Paint(true).good("x"), "\u{1b}[32mx\u{1b}[0m");
        // Tests do not run on a terminal, or their output would be what is under test.
        if !std::io::stdout().is_terminal() {
            assert_eq!(Paint::detect(), Paint::plain());
        }
    }
}
