//! `agent-graph.evaluation.v1` (section-evaluation).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Outcome, identity};
use crate::failure::Diagnostic;

identity!(/** The identity of an Evaluation. */ EvaluationSchema, "agent-graph.evaluation.v1");

/// What can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusCode {
    /// A Route can be taken at once.
    Actionable,
    /// A person must act.
    WaitingUser,
    /// No Route is open.
    Blocked,
    /// A Terminal was reached.
    Complete,
    /// The state contradicts itself.
    Error,
}

/// Whether a Route can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    /// At once.
    Immediate,
    /// By a person.
    RequiresUser,
    /// Not now.
    Blocked,
}

/// An Evaluation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Evaluation {
    /// The identity.
    pub schema: EvaluationSchema,
    /// The Provider.
    pub provider: String,
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
    /// Digest of the Graph's closure, the Facts, the Outcomes and the authorities.
    pub revision: String,
    /// What can be done.
    pub status_code: StatusCode,
    /// The Terminal's Outcome, when complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// The first of the Routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_route: Option<RouteSummary>,
    /// The next Routes, at most three.
    pub alternative_routes: Vec<RouteSummary>,
    /// What else is worth knowing.
    pub diagnostics: Vec<Diagnostic>,
}

/// A Route in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouteSummary {
    /// `route:` and 20 hex digits.
    pub route_id: String,
    /// The Graph of the node.
    pub graph: String,
    /// The node.
    pub node: String,
    /// What can be done with it.
    pub status_code: StatusCode,
    /// Why it is there.
    pub reason_code: String,
    /// The Code Catalog's summary of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether it can be taken.
    pub availability: Availability,
    /// The node's description, or its id.
    pub label: String,
}
