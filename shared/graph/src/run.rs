//! Runs as a pure machine: a Run and a change in, the Run after and its new event out (section-run).
//!
//! Times and ids come from outside.

use serde_json::{Map, Value};

use crate::documents::{Outcome, Run, RunEvent};
use crate::evaluate::State;
use crate::failure::Failure;
use crate::load::Provider;

/// A Run with the event that a change added.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The Run after it.
    pub run: Run,
    /// What was added to its events, the last of them.
    pub event: RunEvent,
}

impl Run {
    /// What routing is decided from.
    pub fn state(&self) -> State {
        todo!()
    }
}

/// Starts a Run of a Graph.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`.
pub fn start(
    provider: &Provider,
    graph: &str,
    entry: &str,
    id: &str,
    workspace: Option<&str>,
    facts: Map<String, Value>,
    at: &str,
) -> Result<Change, Failure> {
    let _ = (provider, graph, entry, id, workspace, facts, at);
    todo!()
}

/// Records an Outcome under a state key.
pub fn record(run: &Run, node: &str, outcome: Outcome, detail: Option<Value>, at: &str) -> Change {
    let _ = (run, node, outcome, detail, at);
    todo!()
}

/// Sets Facts: merged over those there are, or in their place.
pub fn set_facts(run: &Run, facts: Map<String, Value>, replace: bool, at: &str) -> Change {
    let _ = (run, facts, replace, at);
    todo!()
}

/// Sets the authorities of this session.
pub fn set_authorities(run: &Run, authorities: Vec<String>, at: &str) -> Change {
    let _ = (run, authorities, at);
    todo!()
}

/// Notes a checkpoint of this name. The checkpoint itself is the Run after it without authorities.
pub fn checkpoint(run: &Run, name: &str, at: &str) -> (Change, Run) {
    let _ = (run, name, at);
    todo!()
}

/// Goes on from a checkpoint of this name: authorities cleared, one event more.
pub fn resume(checkpoint: &Run, name: &str, at: &str) -> Change {
    let _ = (checkpoint, name, at);
    todo!()
}

/// A Run from its JSON, held to its schema and to its own numbering.
///
/// # Errors
///
/// `schema-invalid`.
pub fn read(path: &str, value: &Value) -> Result<Run, Failure> {
    let _ = (path, value);
    todo!()
}
