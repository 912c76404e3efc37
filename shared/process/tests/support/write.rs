//! A JSON value as YAML, in one of several spellings that mean the same.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;

use super::Written;

/// How to spell a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    flow: bool,
    reverse: bool,
    single: bool,
    literal: bool,
    crlf: bool,
    comments: bool,
    bom: bool,
}

impl Arbitrary for Style {
    type Parameters = ();
    type Strategy = BoxedStrategy<Style>;

    fn arbitrary_with((): ()) -> BoxedStrategy<Style> {
        any::<[bool; 7]>()
            .prop_map(|[flow, reverse, single, literal, crlf, comments, bom]| Style {
                flow,
                reverse,
                single,
                literal,
                crlf,
                comments,
                bom,
            })
            .boxed()
    }
}

/// The file.
pub fn file(written: &Written, style: Style) -> String {
    let mut yaml = String::new();
    if style.flow {
        flow(&written.frontmatter, style, &mut yaml);
        yaml.push('\n');
    } else {
        block(&written.frontmatter, 0, style, &mut yaml);
    }
    if style.comments {
        yaml = format!("# a comment\n\n{yaml}# another\n");
    }
    let mut head = format!("---\n{yaml}---\n");
    if style.crlf {
        head = head.replace('\n', "\r\n");
    }
    format!("{}{head}{}", if style.bom { "\u{feff}" } else { "" }, written.body)
}

fn entries(map: &serde_json::Map<String, Value>, style: Style) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = map.iter().collect();
    if style.reverse {
        entries.reverse();
    }
    entries
}

fn flow(value: &Value, style: Style, out: &mut String) {
    match value {
        Value::Array(list) => {
            out.push('[');
            for (n, item) in list.iter().enumerate() {
                out.push_str(if n == 0 { " " } else { ", " });
                flow(item, style, out);
            }
            out.push_str(" ]");
        }
        Value::Object(map) => {
            out.push('{');
            for (n, (key, item)) in entries(map, style).into_iter().enumerate() {
                out.push_str(if n == 0 { " " } else { ", " });
                scalar(key, style, out);
                out.push_str(": ");
                flow(item, style, out);
            }
            out.push_str(" }");
        }
        Value::String(text) => scalar(text, style, out),
        other => out.push_str(&other.to_string()),
    }
}

fn block(value: &Value, indent: usize, style: Style, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Array(list) if !list.is_empty() => {
            for item in list {
                write!(out, "{pad}-").unwrap();
                nested(item, indent + 2, style, out);
            }
        }
        Value::Object(map) if !map.is_empty() => {
            for (key, item) in entries(map, style) {
                out.push_str(&pad);
                scalar(key, style, out);
                out.push(':');
                nested(item, indent + 2, style, out);
            }
        }
        other => {
            out.push_str(&pad);
            flow(other, style, out);
            out.push('\n');
        }
    }
}

fn nested(value: &Value, indent: usize, style: Style, out: &mut String) {
    match value {
        Value::Array(list) if !list.is_empty() => {
            out.push('\n');
            block(value, indent, style, out);
        }
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent, style, out);
        }
        Value::String(text) if style.literal && is_literal(text) => {
            let chomp = if text.ends_with('\n') { "" } else { "-" };
            writeln!(out, " |{chomp}").unwrap();
            for line in text.lines() {
                if line.is_empty() {
                    out.push('\n');
                } else {
                    writeln!(out, "{}{line}", " ".repeat(indent)).unwrap();
                }
            }
        }
        other => {
            out.push(' ');
            flow(other, style, out);
            out.push('\n');
        }
    }
}

/// Text that a literal block can hold as it is.
fn is_literal(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_graphic())
        && text.chars().all(|c| c == '\n' || (' '..='~').contains(&c))
        && !text.ends_with("\n\n")
}

fn scalar(text: &str, style: Style, out: &mut String) {
    let plain = text.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_')
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !matches!(text, "null" | "true" | "false");
    let printable = text.chars().all(|c| (' '..='~').contains(&c));
    if plain && !style.single {
        out.push_str(text);
    } else if style.single && printable {
        write!(out, "'{}'", text.replace('\'', "''")).unwrap();
    } else {
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                ' '..='~' => out.push(c),
                'ä' | '€' | '😀' => out.push(c),
                other => write!(out, "\\U{:08x}", other as u32).unwrap(),
            }
        }
        out.push('"');
    }
}
