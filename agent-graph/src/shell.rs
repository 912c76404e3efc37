//! Command lines to copy: words quoted for a POSIX shell.

/// A word as a shell reads it back.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A command line of these words.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_when_a_shell_would_read_them_otherwise() {
        assert_eq!(
            line(["run", "a b", "it's", "", "main/n>x", r#"{"a":1}"#]),
            r#"run 'a b' 'it'\''s' '' 'main/n>x' '{"a":1}'"#
        );
    }
}
