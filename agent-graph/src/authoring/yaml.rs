//! YAML as it is written here: block style, in the order of the value. Reading it back gives the same value.

use serde_json::Value;

/// The text of a value.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(list) if !list.is_empty() => block(value, 0, &mut out),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

/// Adds items to the list under a key at the top of a document. What else the document says stays as it was written,
/// comments included, where that can be done; where it cannot, the whole document is written anew.
///
/// `None` when it is no such document.
pub fn extended(document: &str, key: &str, items: &[Value]) -> Option<String> {
    let mut wanted = process::yaml(document).ok()?;
    wanted.get_mut(key)?.as_array_mut()?.extend(items.iter().cloned());
    let right = |candidate: &String| process::yaml(candidate).is_ok_and(|value| value == wanted);
    Some(in_place(document, key, items).filter(right).unwrap_or_else(|| text(&wanted)))
}

/// A guess at the extended document, to be read back.
fn in_place(document: &str, key: &str, items: &[Value]) -> Option<String> {
    let mut lines: Vec<String> = document.lines().map(str::to_owned).collect();
    let head = lines.iter().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))?;
    let line = lines.get_mut(head)?;
    if let Some(end) = line.rfind(']') {
        let comma = if line.get(..end)?.trim_end().ends_with('[') { "" } else { ", " };
        let more = items.iter().map(flow).collect::<Vec<_>>().join(", ");
        line.insert_str(end, &format!("{comma}{more}"));
    } else {
        let below = lines.get(head + 1..)?;
        let within = |line: &&String| line.is_empty() || line.starts_with([' ', '#']) || line.starts_with("- ");
        let block: Vec<&String> = below.iter().take_while(within).collect();
        let last = block.iter().rposition(|line| !line.is_empty() && !line.trim_start().starts_with('#'))?;
        let first = block.iter().find(|line| line.trim_start().starts_with("- "))?;
        let indent = first.len() - first.trim_start().len();
        let mut more = String::new();
        block_list(items, indent, &mut more);
        let at = head + 1 + last + 1;
        lines.splice(at..at, more.lines().map(str::to_owned));
    }
    Some(lines.join("\n") + "\n")
}

/// A collection as lines.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                out.push_str(&" ".repeat(indent));
                out.push_str(&scalar(key));
                out.push(':');
                nested(value, indent + 2, out);
            }
        }
        Value::Array(list) => block_list(list, indent, out),
        scalar => out.push_str(&inline(scalar)),
    }
}

fn block_list(list: &[Value], indent: usize, out: &mut String) {
    for value in list {
        out.push_str(&" ".repeat(indent));
        out.push('-');
        match value {
            Value::Object(map) if !map.is_empty() => {
                // The first key stands beside the dash.
                let mut lines = String::new();
                block(value, indent + 2, &mut lines);
                out.push(' ');
                out.push_str(lines.trim_start_matches(' '));
            }
            other => nested(other, indent + 2, out),
        }
    }
}

/// What follows a colon or a dash.
fn nested(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        Value::Array(list) if !list.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        other => {
            out.push(' ');
            out.push_str(&inline(other));
            out.push('\n');
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A value on one line: JSON is YAML.
fn flow(value: &Value) -> String {
    match value {
        // A comma or a bracket ends a plain text here.
        Value::String(text) if !text.contains([',', '[', ']', '{', '}', ':']) => scalar(text),
        other => other.to_string(),
    }
}

/// A text: as it is where it reads back as itself, quoted otherwise. (JSON's quoting is YAML's.)
fn scalar(text: &str) -> String {
    let tame = |c: char| c.is_alphanumeric() || " _./:@+=,;()'<>~^$-".contains(c);
    let begins = text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/' || c == '.');
    let plain = begins && !text.ends_with(' ') && text.chars().all(tame);
    if plain && process::yaml(text).is_ok_and(|value| value == *text) {
        return text.to_owned();
    }
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_back_as_the_same_value() {
        for value in [
            json!({"a": 1, "b": [], "c": {}, "d": null, "e": true, "f": 1.5, "g": [[1, 2], [], [[3]]]}),
            json!([{"a": {"b": [{"c": "d"}, {"e": ["f"]}]}}, {}, "x"]),
            json!({"on": "yes", "no": "null", "1": "1", "t": "2026-01-01", "~": "~", "e": "", "s": " x ", "k v": "a: b"}),
            json!({"c": "npm test && echo \"x\" # not\nnext\tline", "d": "- x", "e": "a #b", "f": "é → 𝄞", "g": "&a *b !c %d"}),
            json!({"v": "0.1.0", "h": ">=20", "hex": "0x1f", "oct": "0o17", "inf": ".inf", "q": "'a'", "n": "1e3", "d": "---"}),
            json!("plain"),
            json!([]),
        ] {
            let text = text(&value);
            assert_eq!(process::yaml(&text).map_err(|p| format!("{p:?}\n{text}")).unwrap(), value, "{text}");
        }
        assert_eq!(text(&json!({"a": [{"b": "c", "d": ["e"]}]})), "a:\n  - b: c\n    d:\n      - e\n");
    }

    #[test]
    fn a_list_grows_in_place() {
        let more = [json!("graphs/new.yaml")];
        for (before, after) in [
            (
                "id: a\ngraphs: [graphs/a.yaml] # all\nx: 1\n",
                "id: a\ngraphs: [graphs/a.yaml, graphs/new.yaml] # all\nx: 1\n",
            ),
            (
                "graphs:\n  # one\n  - a\n\n# end\nx: 1\n",
                "graphs:\n  # one\n  - a\n  - graphs/new.yaml\n\n# end\nx: 1\n",
            ),
            ("graphs:\n- a\nx: 1\n", "graphs:\n- a\n- graphs/new.yaml\nx: 1\n"),
            ("graphs: []\n", "graphs: [graphs/new.yaml]\n"),
            // Here the whole document is written anew.
            ("graphs: [a,\n  b]\n", "graphs:\n  - a\n  - b\n  - graphs/new.yaml\n"),
            ("{\"graphs\": [\"a\"], \"x\": [1]}", "graphs:\n  - a\n  - graphs/new.yaml\nx:\n  - 1\n"),
        ] {
            assert_eq!(extended(before, "graphs", &more).unwrap(), after);
        }
        let entry = [json!({"code": "route.a", "kind": "route-reason"})];
        assert_eq!(
            extended("codes:\n  - code: x\n    kind: y\n", "codes", &entry).unwrap(),
            "codes:\n  - code: x\n    kind: y\n  - code: route.a\n    kind: route-reason\n"
        );
        assert_eq!(
            extended("codes: []\n", "codes", &entry).unwrap(),
            "codes: [{\"code\":\"route.a\",\"kind\":\"route-reason\"}]\n"
        );
        for none in ["graphs: x\n", "x: 1\n", "a: ["] {
            assert_eq!(extended(none, "graphs", &more), None);
        }
    }
}
