//! A key that nothing shows.

use std::fmt;

/// A key. Neither `Debug` nor `Display` shows it, so it cannot get into a log by being part of something else.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The key without the blanks around it, such as the line end of a file; `None` when nothing is left.
    pub fn new(text: &str) -> Option<Secret> {
        let text = text.trim();
        (!text.is_empty()).then(|| Secret(text.to_owned()))
    }

    /// The key itself, for the one place that sends it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nowhere() {
        let key = Secret::new(" sk-very-secret\n").expect("a key");
        assert_eq!(key.reveal(), "sk-very-secret");
        assert_eq!(format!("{key} {key:?} {:#?}", Some(&key)), "hidden Secret(hidden) Some(\n    Secret(hidden),\n)");
        assert!(Secret::new(" \n").is_none());
    }
}
