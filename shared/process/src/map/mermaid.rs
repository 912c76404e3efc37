//! A process as a Mermaid flowchart. People and agents differ in shape and class, rejections are dashed, and a dark box
//! with the name of a parallel step begins its branches, another joins them.

use std::fmt::Write;

use super::facts::{self, Actor, Why};
use crate::model::Document;

/// The most characters of a label; what is longer is cut, since it would make the picture unreadable.
const LABEL_CHARACTERS: usize = 120;

/// The process as a Mermaid flowchart. Any text of the file is escaped, so the result is always valid Mermaid.
pub fn mermaid(document: &Document) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = draw(document, &mut out);
    out
}

fn draw(document: &Document, out: &mut String) -> std::fmt::Result {
    writeln!(out, "flowchart TD")?;
    writeln!(out, "  accTitle: {}", document.name)?;
    writeln!(out, "  start(( )) --> s0")?;
    for (n, step) in document.steps.iter().enumerate() {
        let actor = facts::actor(step);
        let mut lines = vec![step.id.clone(), facts::headline(step)];
        if matches!(actor, Actor::Server | Actor::Fork | Actor::End) {
            lines.push(facts::saying(step));
        }
        lines.extend(facts::terms(step));
        let text: Vec<String> = lines.iter().map(|line| escape(line)).collect();
        let (open, close) = match actor {
            Actor::Agent => ("{{", "}}"),
            Actor::Person => ("(", ")"),
            Actor::Approver => ("[/", "\\]"),
            Actor::Server => ("[[", "]]"),
            Actor::Fork => ("[", "]"),
            Actor::End => ("([", "])"),
        };
        writeln!(out, "  s{n}{open}\"{}\"{close}:::{}", text.join("<br/>"), class(actor))?;
    }
    for (n, region) in document.regions.iter().enumerate() {
        writeln!(out, "  j{n}[\"join of {}\"]:::{}", escape(&region.step), class(Actor::Fork))?;
    }
    let node = |n: usize| match n.checked_sub(document.steps.len()) {
        Some(join) => format!("j{join}"),
        None => format!("s{n}"),
    };
    let edges = facts::edges(document);
    for edge in &edges {
        let arrow = if edge.why == Why::Reject { "-.->" } else { "-->" };
        let label = edge.label.as_ref().map(|l| format!("|\"{}\"|", escape(l))).unwrap_or_default();
        writeln!(out, "  {} {arrow}{label} {}", node(edge.from), node(edge.to))?;
    }
    for (class, style) in [
        ("agent", "fill:#e6eefc,stroke:#2f5fc4,color:#14213d"),
        ("person", "fill:#fff1d6,stroke:#a8650a,color:#3b2503"),
        ("server", "fill:#eceff1,stroke:#546670,color:#1d262b"),
        ("finish", "fill:#e2f4e8,stroke:#23774a,color:#0d2e1c"),
    ] {
        writeln!(out, "  classDef {class} {style}")?;
    }
    if !document.regions.is_empty() {
        writeln!(out, "  classDef {} fill:#5b3f94,stroke:#3f2a6b,color:#ffffff", class(Actor::Fork))?;
    }
    // The edge from `start` is number 0.
    let rejects: Vec<String> =
        edges.iter().enumerate().filter(|(_, e)| e.why == Why::Reject).map(|(n, _)| (n + 1).to_string()).collect();
    if !rejects.is_empty() {
        writeln!(out, "  linkStyle {} stroke:#b3261e,color:#b3261e", rejects.join(","))?;
    }
    Ok(())
}

fn class(actor: Actor) -> &'static str {
    match actor {
        Actor::Agent => "agent",
        Actor::Person | Actor::Approver => "person",
        Actor::Server => "server",
        Actor::Fork => "fork",
        Actor::End => "finish",
    }
}

/// Text for a quoted Mermaid string: whatever could mean something to Mermaid, Markdown or HTML becomes an entity.
fn escape(text: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 {
            out.push(' ');
            length += 1;
        }
        for c in word.chars() {
            if length >= LABEL_CHARACTERS {
                out.push('…');
                return out;
            }
            length += 1;
            match c {
                _ if c.is_alphanumeric() => out.push(c),
                ',' | '.' | '-' | '?' | '…' | '_' | ':' => out.push(c),
                _ if c.is_control() => {}
                _ => {
                    let _ = write!(out, "#{};", c as u32);
                }
            }
        }
    }
    out
}
