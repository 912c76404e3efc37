//! A Provider manifest in its one normal form: YAML in blocks, fields in the protocol's order, no comments, nothing folded.

use serde_json::{Map, Value};

use crate::documents::ProviderManifest;

/// The normal form. Reading it gives the same manifest.
pub(super) fn yaml(manifest: &ProviderManifest) -> String {
    let mut out = String::new();
    // A document type has a JSON form always.
    if let Ok(Value::Object(fields)) = serde_json::to_value(manifest) {
        block(&mut out, &fields, 0);
    }
    out
}

fn block(out: &mut String, fields: &Map<String, Value>, depth: usize) {
    for (key, value) in fields {
        indent(out, depth);
        out.push_str(key);
        out.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                block(out, inner, depth + 1);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                for item in items {
                    indent(out, depth + 1);
                    out.push_str("- ");
                    out.push_str(&scalar(item));
                    out.push('\n');
                }
            }
            other => {
                out.push(' ');
                out.push_str(&scalar(other));
                out.push('\n');
            }
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A value in one line. What is no text is JSON, which YAML reads as well.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// Whether a text can stand without quotes: it begins with no sign that means something else, and is read back as it is.
fn plain(text: &str) -> bool {
    const SIGNS: &str = "-?:,[]{}#&*!|>'\"%@`= ";
    let begins = text.chars().next().is_some_and(|first| !SIGNS.contains(first));
    let same = |document: String, expected: Value| process::yaml(&document).is_ok_and(|read| read == expected);
    begins
        && !text.chars().any(special)
        && same(format!("k: {text}\n"), serde_json::json!({ "k": text }))
        && same(format!("k:\n  - {text}\n"), serde_json::json!({ "k": [text] }))
}

/// What a line of YAML cannot show as it is.
fn special(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if special(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{plain, scalar, yaml};
    use crate::documents::{Catalogs, Compatibility, ProviderManifest, ProviderSchema};
    use serde_json::{Value, json};

    #[test]
    fn only_texts_that_read_back_stand_plain() {
        for text in ["graphs/a.yaml", "^0.3.0", "0.1.0", "A short sentence, with more.", "a:b", "x#y", "it's", "ä"] {
            assert!(plain(text), "{text}");
        }
        let texts = [
            "",
            " a",
            "a ",
            ">=20",
            "a: b",
            "a #b",
            "20",
            "1.5",
            "true",
            "null",
            "~",
            "- a",
            "-",
            "? a",
            "[a]",
            "{a}",
            "*a",
            "&a",
            "!a",
            "|",
            "%a",
            "@a",
            "`a",
            "'a'",
            "\"a\"",
            "a\nb",
            "a\tb",
            "a:",
            "0x1f",
            "\u{7f}",
            "\u{feff}a",
            "=",
            "--- a",
            ".inf",
            "a\u{2028}b",
            "\\",
        ];
        for text in texts {
            let written = scalar(&json!(text));
            assert_eq!(process::yaml(&format!("k: {written}\n")).unwrap(), json!({ "k": text }), "{written}");
            assert_eq!(process::yaml(&format!("k:\n  - {written}\n")).unwrap(), json!({ "k": [text] }), "{written}");
        }
    }

    #[test]
    fn a_manifest_has_one_form() {
        let mut manifest = ProviderManifest {
            schema: ProviderSchema::V1,
            id: "acme/release".to_owned(),
            version: "1.0.0".to_owned(),
            name: None,
            description: Some("Two lines:\nboth kept.".to_owned()),
            graphs: vec!["graphs/a.yaml".to_owned(), "graphs/b.yaml".to_owned()],
            catalogs: Some(Catalogs { codes: Some("codes.yaml".to_owned()) }),
            compatibility: Some(Compatibility { agent_graph: Some(">=0.3.0".to_owned()), node: None }),
        };
        let expected = "schema: agent-graph.provider.v1\nid: acme/release\nversion: 1.0.0\n\
            description: \"Two lines:\\nboth kept.\"\ngraphs:\n  - graphs/a.yaml\n  - graphs/b.yaml\ncatalogs:\n  \
            codes: codes.yaml\ncompatibility:\n  agentGraph: \">=0.3.0\"\n";
        assert_eq!(yaml(&manifest), expected);
        manifest.catalogs = Some(Catalogs::default());
        manifest.compatibility = None;
        let read: Value = process::yaml(&yaml(&manifest)).unwrap();
        assert_eq!(read, serde_json::to_value(&manifest).unwrap());
    }
}
