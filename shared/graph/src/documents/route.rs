//! `agent-graph.route.v1` (section-evaluation).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Availability, Cwd, Effect, FileLocation, ResourceLocation, Runner, StatusCode, identity};
use crate::failure::Diagnostic;

identity!(/** The identity of a Route. */ RouteSchema, "agent-graph.route.v1");

/// One legal next move, with all that is needed to take it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Route {
    /// The identity.
    pub schema: RouteSchema,
    /// The Provider.
    pub provider: String,
    /// The revision it is bound to.
    pub revision: String,
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
    /// The state keys of the Subgraph nodes above it, outermost first.
    pub call_path: Vec<String>,
    /// The Action of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<RouteAction>,
    /// What to run; empty while a person must act.
    pub command_plan: Vec<PlannedCommand>,
    /// What to read.
    pub resources: RouteResources,
    /// The Gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<RouteGate>,
    /// What else is worth knowing.
    pub diagnostics: Vec<Diagnostic>,
    /// What follows.
    pub after_action: AfterAction,
}

/// An Action of a Route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouteAction {
    /// The Action.
    pub id: String,
    /// Who carries it out.
    pub runner: Runner,
    /// What it may change.
    pub effect: Effect,
    /// The Skill; `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<FileLocation>")]
    pub skill: Option<ResourceLocation>,
    /// The schema of what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<FileLocation>")]
    pub input_schema: Option<ResourceLocation>,
    /// The schema of what it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<FileLocation>")]
    pub output_schema: Option<ResourceLocation>,
}

/// One step of a plan: exactly one of `command` and `handler`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlannedCommand {
    /// The shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The host's handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// What it may change.
    pub effect: Effect,
    /// Where it runs.
    pub cwd: Cwd,
    /// The same as a folder.
    pub working_directory: String,
}

/// What to read for a Route.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouteResources {
    /// Must be read.
    pub required: Vec<ResourceLocation>,
    /// May help.
    pub recommended: Vec<ResourceLocation>,
}

/// Who resolves a Gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// A person.
    User,
    /// The authority of this session.
    SessionAuthority,
}

/// The Gate of a Route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RouteGate {
    /// The Gate.
    pub id: String,
    /// Its question.
    pub prompt: String,
    /// The authority that may resolve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<String>,
    /// Whether a session authority can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegatable: Option<bool>,
    /// Who resolves it now.
    pub resolution: Resolution,
    /// Prepares evidence; safe while waiting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inspection_action: Option<GateAction>,
    /// Records the decision after it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_action: Option<GateAction>,
}

/// An Action of a Gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateAction {
    /// The Action.
    pub action: RouteAction,
    /// What to run.
    pub command_plan: Vec<PlannedCommand>,
}

/// What follows an Action: record, and evaluate again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AfterAction {
    /// Always true.
    #[schemars(extend("const" = true))]
    pub evaluate: bool,
    /// The state key to record the Outcome under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_node: Option<String>,
}
