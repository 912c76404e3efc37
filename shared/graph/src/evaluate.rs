//! Evaluation: which Routes are open in a state (section-evaluation). Linear in the nodes and edges that are reached.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::documents::{Availability, Evaluation, Outcome};
use crate::failure::Failure;
use crate::load::Provider;

/// What routing is decided from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The Facts.
    pub facts: Map<String, Value>,
    /// The latest Outcome of each state key.
    pub outcomes: BTreeMap<String, Outcome>,
    /// The authorities of this session.
    pub authorities: BTreeSet<String>,
}

/// An open Route before it is resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// `route:` and 20 hex digits.
    pub route_id: String,
    /// The Graph of the node.
    pub graph: String,
    /// The node.
    pub node: String,
    /// The Subgraph nodes above it as `<graph>/<node>`, outermost first.
    pub call_path: Arc<[String]>,
    /// The key that its Outcome is recorded under.
    pub state_key: String,
    /// Whether it can be taken.
    pub availability: Availability,
    /// Whether a session authority resolves it (Gates).
    pub delegated: bool,
}

/// An Evaluation with every open Route in order, also those that the Evaluation does not show.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// What is told.
    pub evaluation: Evaluation,
    /// Every open Route, first the primary one.
    pub candidates: Vec<Candidate>,
    /// How many nodes and edges were looked at: what the time is in proportion to.
    pub visited: usize,
}

/// Evaluates a Graph of a loaded Provider.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`.
pub fn evaluate(provider: &Provider, graph: &str, entry: &str, state: &State) -> Result<Evaluated, Failure> {
    let _ = (provider, graph, entry, state);
    todo!()
}
