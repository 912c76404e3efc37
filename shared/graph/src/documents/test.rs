//! `agent-graph.test.v1`: a Graph test (section-run).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Availability, Outcome, OutcomeRecord, Resolution, StatusCode, identity};

identity!(/** The identity of a Graph test. */ TestSchema, "agent-graph.test.v1");

/// A Graph test: a state, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestCase {
    /// The identity.
    pub schema: TestSchema,
    /// What it shows.
    pub name: String,
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
    /// The state; empty when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<TestState>,
    /// What is expected.
    pub expect: Expect,
}

/// The state of a test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestState {
    /// The Facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Map<String, Value>>,
    /// The Outcomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<BTreeMap<String, GivenOutcome>>,
    /// The authorities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorities: Option<Vec<String>>,
}

/// An Outcome as it is given: the word alone, or a record of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GivenOutcome {
    /// The word alone.
    Word(Outcome),
    /// A record.
    Record(OutcomeRecord),
}

impl GivenOutcome {
    /// The Outcome.
    pub fn outcome(&self) -> Outcome {
        match self {
            GivenOutcome::Word(outcome) => *outcome,
            GivenOutcome::Record(record) => record.outcome,
        }
    }
}

/// What is expected of a state; what is left out is not looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// The status.
    pub status_code: StatusCode,
    /// The node of the primary Route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_node: Option<String>,
    /// The reason of the primary Route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_reason_code: Option<String>,
    /// The nodes of the alternative Routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative_nodes: Option<Vec<String>>,
    /// The availability of the primary Route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// The command of its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The handler of its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The ids of its required Resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_resources: Option<Vec<String>>,
    /// The ids of its recommended Resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_resources: Option<Vec<String>>,
    /// Who resolves its Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_resolution: Option<Resolution>,
    /// The command of the Gate's inspection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_command: Option<String>,
    /// The handler of the Gate's inspection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_handler: Option<String>,
    /// The Skill of the Gate's inspection, by Resource id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_skill: Option<String>,
    /// The input schema of the Gate's inspection, by Resource id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_input_schema: Option<String>,
    /// The command of the Gate's resolution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_command: Option<String>,
    /// The handler of the Gate's resolution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_handler: Option<String>,
    /// The Skill of the Gate's resolution, by Resource id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_skill: Option<String>,
    /// The input schema of the Gate's resolution, by Resource id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_input_schema: Option<String>,
    /// The state key to record under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_node: Option<String>,
    /// The Terminal's Outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Codes that must be among the diagnostics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics_include: Option<Vec<String>>,
}
