//! Which keys stand where (core §2.1–§2.3), and the words for one that does not belong.

use super::ReadOptions;
use crate::limits::QUESTION_CHARACTERS;
use crate::model::FieldType;
use crate::problem::{Path, Report, did_you_mean};
use crate::yaml::{Data, Entry, Node};

/// The keys of the frontmatter.
pub(super) const DOCUMENT: &[&str] = &["name", "description", "inputs", "requires", "steps"];

/// The keys of `requires`.
pub(super) const REQUIRES: &[&str] = &["systems"];

/// The keys of a field object.
pub(super) const FIELD: &[&str] = &["type", "description", "optional", "one_of", "items"];

/// The keys of a route.
pub(super) const ROUTE: &[&str] = &["to", "when"];

/// The keys of a step that only a server with an evaluator takes (profile check-1).
pub(super) const CHECK: &[&str] = &["check", "advisory"];

/// The key of a step that only a server with graphs takes (profile graph-1).
pub(super) const GRAPH: &str = "graph";

/// The keys of a step, whatever its kind. What is not offered is left out, so that nothing suggests it.
pub(super) fn step(options: &ReadOptions<'_>) -> Vec<&'static str> {
    let checks = CHECK.iter().copied().filter(|_| options.check);
    STEP.iter().copied().chain(checks).chain(options.graph.then_some(GRAPH)).collect()
}

const STEP: &[&str] = &[
    "id",
    "agent",
    "task",
    "approve",
    "wait",
    "wait_until",
    "wait_for",
    "parallel",
    "finish",
    "output",
    "evidence",
    "next",
    "person",
    "on_reject",
    "due",
    "timeout",
    "on_timeout",
];

/// The key that says what a step is (core §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KindKey {
    Agent,
    Task,
    Approve,
    Wait,
    WaitUntil,
    WaitFor,
    Parallel,
    Finish,
}

impl KindKey {
    /// The kind that this key names.
    pub(super) fn of(key: &str) -> Option<KindKey> {
        Some(match key {
            "agent" => KindKey::Agent,
            "task" => KindKey::Task,
            "approve" => KindKey::Approve,
            "wait" => KindKey::Wait,
            "wait_until" => KindKey::WaitUntil,
            "wait_for" => KindKey::WaitFor,
            "parallel" => KindKey::Parallel,
            "finish" => KindKey::Finish,
            _ => return None,
        })
    }

    /// The key.
    pub(super) fn name(self) -> &'static str {
        match self {
            KindKey::Agent => "agent",
            KindKey::Task => "task",
            KindKey::Approve => "approve",
            KindKey::Wait => "wait",
            KindKey::WaitUntil => "wait_until",
            KindKey::WaitFor => "wait_for",
            KindKey::Parallel => "parallel",
            KindKey::Finish => "finish",
        }
    }

    /// Whether a step of this kind takes the key.
    pub(super) fn takes(self, key: &str) -> bool {
        takers(key).contains(&self)
    }
}

/// The kinds that take an optional key.
pub(super) fn takers(key: &str) -> &'static [KindKey] {
    use KindKey::{Agent, Approve, Parallel, Task, Wait, WaitFor, WaitUntil};
    match key {
        "output" | "evidence" | "check" | "advisory" => &[Agent, Task],
        "next" => &[Agent, Task, Approve, Wait, WaitUntil, WaitFor, Parallel],
        GRAPH => &[Agent],
        "person" => &[Task, Approve],
        "on_reject" => &[Approve],
        "due" => &[Agent, Task, Approve],
        "timeout" | "on_timeout" => &[WaitFor],
        _ => &[],
    }
}

/// The type with its article.
pub(super) fn a(kind: FieldType) -> String {
    let name = kind.name();
    format!("{} {name}", if name.starts_with('o') { "an" } else { "a" })
}

/// Reports a key that belongs nowhere in `place`, and returns the key that was probably meant.
pub(super) fn unknown<'k>(
    entry: &Entry,
    path: &Path<'_>,
    place: &str,
    known: &[&'k str],
    report: &mut Report,
) -> Option<&'k str> {
    let meant = report.suggest(&entry.key, known.iter().copied());
    let what = match meant {
        // What `{ when: One, two }` comes to.
        None if *entry.value.data == Data::Null && entry.key.contains(' ') => {
            format!(
                "unknown key without a value; text with a comma needs quotes within braces; {place} takes {}",
                known.join(", ")
            )
        }
        Some(_) => format!("unknown key{}", did_you_mean(meant)),
        None => format!("unknown key; {place} takes {}", known.join(", ")),
    };
    report.error(entry.key_at, &path.key(&entry.key), what);
    meant
}

/// The text of a value that must be text.
pub(super) fn text<'n>(node: &'n Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<&'n str> {
    match &*node.data {
        Data::Text(text) => Some(text),
        Data::Broken => None,
        Data::Null => {
            report.error(node.at, path, format!("has no value; write {wanted}"));
            None
        }
        Data::Bool(_) | Data::Number(_) => {
            report.error(node.at, path, format!("expected {wanted}, found {}; put text in quotes", node.what()));
            None
        }
        Data::List(_) | Data::Map(_) => {
            report.error(node.at, path, format!("expected {wanted}, found {}", node.what()));
            None
        }
    }
}

/// The text of a value that must be text with something in it.
pub(super) fn filled<'n>(node: &'n Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<&'n str> {
    let text = text(node, path, wanted, report)?;
    if text.trim().is_empty() {
        report.error(node.at, path, format!("is blank; write {wanted}"));
        return None;
    }
    Some(text)
}

/// The value of a key that is true or false.
pub(super) fn boolean(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<bool> {
    match &*node.data {
        Data::Bool(value) => Some(*value),
        Data::Broken => None,
        _ => {
            report.error(node.at, path, format!("expected true or false, found {}", node.what()));
            None
        }
    }
}

/// The text of a value that must be text of a line or two: a verdict records a question, and an issue repeats an answer.
pub(super) fn short<'n>(node: &'n Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<&'n str> {
    let text = filled(node, path, wanted, report)?;
    // Stored, each would take six bytes, and nobody sees it.
    if let Some(odd) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let what = format!("has the control character {}; leave it out", odd.escape_unicode());
        report.error(node.at, path, what);
        return None;
    }
    let characters = text.chars().count();
    if characters > QUESTION_CHARACTERS {
        let what = format!("has {characters} characters; at most {QUESTION_CHARACTERS} are allowed: say it shorter");
        report.error(node.at, path, what);
        return None;
    }
    Some(text)
}

/// The elements of a value that must be a list.
pub(super) fn list<'n>(node: &'n Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<&'n [Node]> {
    match &*node.data {
        Data::List(list) => Some(list),
        Data::Broken => None,
        Data::Null => {
            report.error(node.at, path, format!("has no value; write {wanted}"));
            None
        }
        _ => {
            report.error(node.at, path, format!("expected {wanted}, found {}", node.what()));
            None
        }
    }
}

/// The entries of a value that must be a mapping.
pub(super) fn map<'n>(node: &'n Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<&'n [Entry]> {
    match &*node.data {
        Data::Map(entries) => Some(entries),
        Data::Broken => None,
        Data::Null => {
            report.error(node.at, path, format!("has no value; write {wanted}"));
            None
        }
        _ => {
            report.error(node.at, path, format!("expected {wanted}, found {}", node.what()));
            None
        }
    }
}
