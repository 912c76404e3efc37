//! `agent-graph.action.v1` (section-actions).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;

identity!(/** The identity of an Action. */ ActionSchema, "agent-graph.action.v1");

/// Who carries an Action out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// A shell command.
    Command,
    /// A script of the Provider.
    Script,
    /// An agent with a Skill.
    Agent,
    /// A handler of the host.
    Host,
}

/// What an Action may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing.
    Read,
    /// Local state.
    Write,
    /// State elsewhere.
    External,
}

/// What a script runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Node.js.
    Node,
    /// Bun.
    Bun,
    /// Python.
    Python,
    /// The shell.
    Shell,
}

/// Where an Action runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cwd {
    /// In the workspace.
    #[default]
    Workspace,
    /// In the Provider root.
    Provider,
}

/// An Action. Which fields it may have follows from its runner; the loader holds it to that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// The identity.
    pub schema: ActionSchema,
    /// Identifies the Action in its Provider.
    pub id: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who carries it out.
    pub runner: Runner,
    /// What it may change.
    pub effect: Effect,
    /// The exact command; `command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The script's path; `script`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What the script runs in; `script`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// The handler; `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// The Skill's path; `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Arguments of the script; `script`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// More files to package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Cwd>,
    /// The schema of what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<String>,
    /// The schema of what it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<String>,
}
