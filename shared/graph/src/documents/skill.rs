//! `agent-graph.skill-binding.v1`: a Skill's resolved binding (section-provider).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;

identity!(/** The identity of a resolved Skill binding. */ SkillBindingSchema, "agent-graph.skill-binding.v1");

/// A Skill's resolved binding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkillBinding {
    /// The identity.
    pub schema: SkillBindingSchema,
    /// The `SKILL.md`.
    pub skill_path: String,
    /// The locator as it was written.
    pub locator: String,
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
    /// The Provider manifest.
    pub manifest_path: String,
    /// The Provider.
    pub provider: String,
}
