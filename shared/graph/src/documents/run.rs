//! `agent-graph.run.v1`: what a host remembers of a Graph's execution (section-run).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Outcome, identity, present, whole};

identity!(/** The identity of a Run. */ RunSchema, "agent-graph.run.v1");

/// A Run. A checkpoint is the same without authorities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// The identity.
    pub schema: RunSchema,
    /// Identifies the Run.
    pub id: String,
    /// The Provider.
    pub provider: String,
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
    /// Where its Actions run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub created_at: String,
    /// When it changed last.
    pub updated_at: String,
    /// The Facts.
    pub facts: Map<String, Value>,
    /// The latest Outcome of each state key, in the order of their first recording.
    pub outcomes: OutcomeRecords,
    /// The authorities of this session.
    pub authorities: Vec<String>,
    /// All that happened, numbered from 1.
    pub events: Vec<RunEvent>,
}

/// Outcomes by state key. (`serde_json::Map` keeps the order of recording; this sorts: nothing depends on it.)
pub type OutcomeRecords = BTreeMap<String, OutcomeRecord>;

/// An Outcome that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutcomeRecord {
    /// The Outcome.
    pub outcome: Outcome,
    /// When it was recorded.
    pub recorded_at: String,
    /// More, for people and programs.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub detail: Option<Value>,
}

/// One event of a Run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunEvent {
    /// Its number, from 1.
    #[serde(deserialize_with = "whole")]
    pub sequence: u64,
    /// When it happened.
    pub at: String,
    /// What happened: `run.started`, `node.outcome-recorded`, `facts.updated`, `authorities.updated`,
    /// `run.checkpointed`, `run.resumed`.
    pub r#type: String,
    /// The state key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The Outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// More.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub detail: Option<Value>,
}
