//! YAML 1.2 with the core schema and nothing else (core §2.1): events in, a tree with positions out.
//!
//! Invariants of the tree: keys are text and unique in their mapping; numbers are JSON numbers that are finite as
//! doubles, with the file's own digits; no node lies deeper than [`limits::DEPTH_LEVELS`], aliases followed, so code
//! that recurses over it is bounded. An alias shares what it stands for, so the tree is never larger than the file,
//! and what it stands for is bounded by [`limits::ALIAS_NODES`] and [`limits::ALIAS_BYTES`].

mod load;
mod scalar;

use std::rc::Rc;

use serde_json::{Map, Number, Value};

use crate::problem::{Position, Problem, Report};

pub(crate) use load::load;

#[cfg(doc)]
use crate::limits;

/// A value with the position where it stands in the file. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Where the value begins; for an alias, where the alias stands.
    pub(crate) at: Position,
    /// The value.
    pub(crate) data: Rc<Data>,
    size: Size,
}

/// What a node amounts to with every alias under it written out.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    levels: usize,
}

/// A value as the core schema resolves it.
#[derive(Debug, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Something already reported; rules stay silent about it.
    Broken,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Position,
    pub(crate) value: Node,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Node {
    /// What kind of value this is, for messages.
    pub(crate) fn what(&self) -> &'static str {
        match &*self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a boolean",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
            Data::Broken => "a broken value",
        }
    }

    /// The text, when it is text.
    pub(crate) fn text(&self) -> Option<&str> {
        match &*self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this was already reported.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(&*self.data, Data::Broken)
    }

    /// The same value as JSON, key order and number text kept.
    pub(crate) fn to_json(&self) -> Value {
        match &*self.data {
            Data::Null | Data::Broken => Value::Null,
            Data::Bool(b) => Value::Bool(*b),
            Data::Number(n) => Value::Number(n.clone()),
            Data::Text(s) => Value::String(s.clone()),
            Data::List(list) => Value::Array(list.iter().map(Node::to_json).collect()),
            Data::Map(entries) => Value::Object(json_object(entries)),
        }
    }
}

/// The entries as a JSON object, in their order.
pub(crate) fn json_object(entries: &[Entry]) -> Map<String, Value> {
    entries.iter().map(|e| (e.key.clone(), e.value.to_json())).collect()
}

/// One YAML 1.2 document of the core schema as JSON, for other files than a PROCESS.md. JSON is such a document.
///
/// # Errors
///
/// Every problem with its position: broken YAML, a key twice, a key that is not text, a tag, a merge key, a number that JSON
/// cannot carry, and what lies deeper than [`limits::DEPTH_LEVELS`](crate::limits::DEPTH_LEVELS).
pub fn yaml(text: &str) -> Result<Value, Vec<Problem>> {
    let mut report = Report::default();
    let root = load(text, 1, &mut report);
    let problems = report.finish(None).problems;
    match root {
        Some(root) if problems.is_empty() => Ok(root.to_json()),
        _ => Err(problems),
    }
}
