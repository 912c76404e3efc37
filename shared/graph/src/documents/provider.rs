//! `agent-graph.provider.v1`: the Provider manifest (section-provider).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;

identity!(/** The identity of a Provider manifest. */ ProviderSchema, "agent-graph.provider.v1");

/// A Provider manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderManifest {
    /// The identity.
    pub schema: ProviderSchema,
    /// Identifies the Provider.
    pub id: String,
    /// Its semantic version.
    pub version: String,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The Graphs, as paths below the Provider root.
    pub graphs: Vec<String>,
    /// The catalogs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogs: Option<Catalogs>,
    /// What it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<Compatibility>,
}

/// The catalogs of a Provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Catalogs {
    /// The Code Catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<String>,
}

/// What a Provider needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Compatibility {
    /// The range of toolchain versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_graph: Option<String>,
    /// The range of Node.js versions, for its scripts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}
