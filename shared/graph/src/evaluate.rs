//! Evaluation: which Routes are open in a state (section-evaluation). Linear in the nodes and edges that are reached.

mod facts;
mod index;
mod noted;
mod revision;
mod tell;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

pub use self::tell::proof;
use self::walk::{End, Frame, Walk};
use crate::documents::{Availability, Evaluation, EvaluationSchema, Outcome, StatusCode};
use crate::failure::Failure;
use crate::limits::ALTERNATIVE_ROUTES;
use crate::load::Provider;
use crate::schemas::brief;

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
    /// The keys of nodes whose repeat edges set it back, one more than [`crate::limits::SET_BACK_NODES`] at most.
    pub set_back_by: Vec<String>,
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

/// Evaluates a Graph of a loaded Provider. Nothing is changed; equal inputs give equal answers.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`; `evaluation-too-large` over one of the limits `EVALUATION_…` and `CALL_LEVELS`.
pub fn evaluate(provider: &Provider, graph: &str, entry: &str, state: &State) -> Result<Evaluated, Failure> {
    let (graph, entry) = selected(provider, graph, entry)?;
    let revision = revision::revision(provider, graph, entry, state);
    let mut walk = Walk::new(provider, state);
    let end = walk.frame(Frame { graph, prefix: format!("{graph}/"), path: Arc::new([]), entry })?;
    let (ranked, diagnostics) = (tell::ranked(&walk, &revision), tell::diagnostics(provider, &walk, state));
    let (status_code, outcome) = match end {
        End::Complete(outcome) => (StatusCode::Complete, Some(outcome)),
        End::Ambiguous => (StatusCode::Error, None),
        End::Open(availability) => (tell::status(availability), None),
        End::Stuck => (StatusCode::Blocked, None),
    };
    let mut shown = ranked.iter().map(|(candidate, node)| tell::summary(provider, candidate, node));
    let evaluation = Evaluation {
        schema: EvaluationSchema::V1,
        provider: provider.id().to_owned(),
        graph: graph.to_owned(),
        entry: entry.to_owned(),
        status_code,
        outcome,
        primary_route: shown.next(),
        alternative_routes: shown.take(ALTERNATIVE_ROUTES).collect(),
        diagnostics,
        revision,
    };
    let candidates = ranked.into_iter().map(|(candidate, _)| candidate).collect();
    Ok(Evaluated { evaluation, candidates, visited: walk.visited })
}

/// The ids of a Graph and an entry as the Provider holds them.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`.
pub(crate) fn selected<'p>(provider: &'p Provider, graph: &str, entry: &str) -> Result<(&'p str, &'p str), Failure> {
    let Some((id, loaded)) = provider.graphs.get_key_value(graph) else {
        let ids = provider.graphs.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let message = format!("Provider {} has no graph {}; it has {ids}.", provider.id(), brief(graph));
        return Err(Failure::new("graph-missing", message));
    };
    let Some((entry, _)) = loaded.value.entrypoints.get_key_value(entry) else {
        let names = loaded.value.entrypoints.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(Failure::new(
            "entry-missing",
            format!("Graph {id} has no entry {}; it has {names}.", brief(entry)),
        ));
    };
    Ok((id, entry))
}
