//! `agent-graph.bundle.v1`: the manifest of a built bundle (section-run).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;

identity!(/** The identity of a bundle's manifest. */ BundleSchema, "agent-graph.bundle.v1");

/// The manifest of a built bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bundle {
    /// The identity.
    pub schema: BundleSchema,
    /// The Provider.
    pub provider: BundleProvider,
    /// The Provider manifest's path in the bundle.
    pub provider_manifest: String,
    /// The Graphs.
    pub graphs: Vec<BundleEntry>,
    /// The Actions.
    pub actions: Vec<BundleEntry>,
    /// The Resources.
    pub resources: Vec<BundleEntry>,
    /// The schemas that Actions name.
    pub schemas: Vec<BundleEntry>,
    /// Every file but the manifest itself.
    pub files: Vec<BundleFile>,
    /// The Graphs that each Graph enters.
    pub graph_dependencies: BTreeMap<String, Vec<String>>,
    /// The digest of everything above.
    pub digest: String,
}

/// The Provider of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundleProvider {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
}

/// One entry of a catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundleEntry {
    /// Its id; a schema's is its path.
    pub id: String,
    /// Its path.
    pub path: String,
    /// The digest of the file.
    pub digest: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BundleFile {
    /// Its path.
    pub path: String,
    /// The digest of its bytes.
    pub digest: String,
}
