//! `agent-graph.graph.v1`: nodes and edges (section-graph).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{identity, maybe_whole, present};

identity!(/** The identity of a Graph. */ GraphSchema, "agent-graph.graph.v1");

/// What became of a node (section-evaluation). None stands for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Done.
    Completed,
    /// Some of it done.
    Partial,
    /// Not done.
    Failed,
    /// Said to be done, without proof.
    Unverified,
    /// Left out.
    Skipped,
    /// Not begun.
    Pending,
    /// Cannot go on.
    Blocked,
    /// A person must act.
    WaitingUser,
}

/// A Graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Graph {
    /// The identity.
    pub schema: GraphSchema,
    /// Identifies the Graph in its Provider.
    pub id: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Public entry names and the node each begins at. In the order of the file where it matters nowhere.
    pub entrypoints: BTreeMap<String, String>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// An Action can be selected.
    Action,
    /// A policy boundary that an authority resolves.
    Gate,
    /// Enters another Graph of the Provider.
    Subgraph,
    /// Ends the frame.
    Terminal,
}

/// How incoming edges join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// All of them must match.
    #[default]
    All,
    /// One must match.
    Any,
}

/// A node. Which fields it may have follows from its kind; the loader holds it to that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Node {
    /// Identifies the node in its Graph.
    pub id: String,
    /// What it is.
    pub kind: NodeKind,
    /// A short label for people; never a condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `route.<id>`; Action and Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// Ranks Routes of one availability, higher first.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "maybe_whole")]
    pub priority: Option<i32>,
    /// How incoming edges join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// The Action's path; Action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The Graph to enter; Subgraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// The entry of that Graph; Subgraph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The policy; Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The Action that prepares evidence; Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_action: Option<String>,
    /// The Action that records the decision; Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_action: Option<String>,
    /// What is otherwise when a session authority resolves; Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated: Option<Delegated>,
    /// How the frame ends; Terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_outcome: Option<Outcome>,
    /// Facts without which the node is not legal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_facts: Option<Vec<FactCheck>>,
    /// Facts that prove it complete; Action and Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satisfied_by: Option<Vec<FactCheck>>,
    /// What to read; Action and Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<NodeResources>,
}

/// The policy of a Gate (section-gates).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gate {
    /// Identifies the Gate.
    pub id: String,
    /// A short question.
    pub prompt: String,
    /// The authority that may resolve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Whether a session authority can resolve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegatable: Option<bool>,
}

/// What is otherwise on the delegated Route of a Gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delegated {
    /// Whether the inspection is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection: Option<DelegatedInspection>,
    /// Replaces the resolution Action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_action: Option<String>,
    /// Replaces the Gate's resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<NodeResources>,
}

/// Whether the inspection is shown on the delegated Route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelegatedInspection {
    /// It is.
    #[default]
    Required,
    /// It is not.
    Skip,
}

/// One check of one Fact: exactly one of `equals` and `exists` (section-facts).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FactCheck {
    /// A dotted path; numeric segments index arrays.
    pub path: String,
    /// The scalar that must stand there. `Some(Value::Null)` is a check for null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(extend("type" = ["string", "number", "boolean", "null"]))]
    pub equals: Option<Value>,
    /// Whether something must stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
}

/// The resources of a node, as paths below the Provider root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeResources {
    /// Must be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// May help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Vec<String>>,
}

/// What an edge means (section-edges).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum EdgeKind {
    /// A general transition.
    #[default]
    Flow,
    /// The target uses what the source made.
    Consumes,
    /// The source is a legal prerequisite.
    Requires,
    /// A Gate resolves the target's boundary.
    GatedBy,
    /// A matching Outcome sets an Action or Gate back to pending.
    Repeat,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Edge {
    /// The node it leaves.
    pub from: String,
    /// The node it enters.
    pub to: String,
    /// The Outcomes it is taken at; `[completed]` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Vec<Outcome>>,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EdgeKind>,
}
