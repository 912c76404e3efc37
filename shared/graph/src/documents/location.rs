//! The three protocols of resolved Resource locations (section-resources).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ResourceKind, identity};

identity!(/** The identity of a file location. */ FileLocationSchema, "agent-graph.resource-location.file.v1");
identity!(
    /** The identity of a Graph-action location. */ GraphActionLocationSchema, "agent-graph.resource-location.graph-action.v1"
);
identity!(
    /** The identity of a Host-action location. */ HostActionLocationSchema, "agent-graph.resource-location.host-action.v1"
);

/// Whether the current conversation has read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadState {
    /// It must be read.
    ReadRequired,
    /// It was read as it is now.
    Current,
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileLocation {
    /// The identity.
    pub schema: FileLocationSchema,
    /// The Resource.
    pub id: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Its media type.
    pub media_type: String,
    /// The Route revision it was made for, of something materialized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The digest of its bytes.
    pub digest: String,
    /// Where the file is.
    pub file_path: String,
    /// Whether it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_state: Option<ReadState>,
}

/// How a Graph-action Resource is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GraphActionLocation {
    /// The identity.
    pub schema: GraphActionLocationSchema,
    /// The Resource.
    pub id: String,
    /// What it is.
    #[schemars(extend("const" = "context-view"))]
    pub kind: ResourceKind,
    /// Its media type.
    pub media_type: String,
    /// The Route revision that selected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// What to ask `resource materialize` for.
    pub materialize: GraphMaterialize,
    /// Whether it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_state: Option<ReadState>,
}

/// What to ask `resource materialize` for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GraphMaterialize {
    /// The Resource.
    pub resource_id: String,
}

/// How the host makes a Host-action Resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostActionLocation {
    /// The identity.
    pub schema: HostActionLocationSchema,
    /// The Resource.
    pub id: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Its media type.
    pub media_type: String,
    /// The Route revision that selected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// What to ask the host for.
    pub materialize: HostMaterialize,
    /// Whether it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_state: Option<ReadState>,
}

/// What to ask the host for. The names are the protocol's own, with an underscore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostMaterialize {
    /// The handler.
    pub handler: String,
    /// What it takes.
    pub input: HostInput,
    /// The protocol identity of what it gives.
    pub output_schema: String,
}

/// What a host handler takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostInput {
    /// The versioned protocol identity of the value: the `$id` of the Action's input schema.
    pub schema: String,
    /// The value.
    pub value: Value,
}

/// Any location.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResourceLocation {
    /// A file.
    File(FileLocation),
    /// Made by an Action of the Provider.
    GraphAction(GraphActionLocation),
    /// Made by the host.
    HostAction(HostActionLocation),
}

impl ResourceLocation {
    /// The Resource.
    pub fn id(&self) -> &str {
        match self {
            ResourceLocation::File(l) => &l.id,
            ResourceLocation::GraphAction(l) => &l.id,
            ResourceLocation::HostAction(l) => &l.id,
        }
    }
}
