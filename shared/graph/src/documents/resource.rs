//! The three resource protocols (section-resources).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity;

identity!(/** The identity of a file Resource. */ FileResourceSchema, "agent-graph.resource.file.v1");
identity!(/** The identity of a Graph-action Resource. */ GraphActionResourceSchema, "agent-graph.resource.graph-action.v1");
identity!(/** The identity of a Host-action Resource. */ HostActionResourceSchema, "agent-graph.resource.host-action.v1");

/// What a Resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceKind {
    /// How to do something.
    Procedure,
    /// What a diagnostic means.
    Diagnostic,
    /// Something to fill in.
    Template,
    /// A JSON Schema.
    Schema,
    /// A view that an Action makes.
    ContextView,
    /// A Skill.
    Skill,
}

/// A descriptor of a static file. A Markdown file says the same in its frontmatter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileResource {
    /// The identity.
    pub schema: FileResourceSchema,
    /// Identifies the Resource in its Provider.
    pub id: String,
    /// What it is; never `context-view`.
    #[schemars(extend("enum" = ["procedure", "diagnostic", "template", "schema", "skill"]))]
    pub kind: ResourceKind,
    /// The media type of the file.
    pub media_type: String,
    /// The file, below the Provider root.
    pub path: String,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A view that a `read` command or script of the Provider makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GraphActionResource {
    /// The identity.
    pub schema: GraphActionResourceSchema,
    /// Identifies the Resource in its Provider.
    pub id: String,
    /// Always `context-view`.
    #[schemars(extend("const" = "context-view"))]
    pub kind: ResourceKind,
    /// The media type of what is made.
    pub media_type: String,
    /// The Action that makes it.
    pub materializer: String,
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Something that a `read` handler of the host makes from an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostActionResource {
    /// The identity.
    pub schema: HostActionResourceSchema,
    /// Identifies the Resource in its Provider.
    pub id: String,
    /// What it is.
    pub kind: ResourceKind,
    /// The media type of what is made.
    pub media_type: String,
    /// The host Action that makes it.
    pub materializer: String,
    /// What the handler takes; held to the Action's input schema.
    pub input: Value,
    /// What it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Any Resource descriptor.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Resource {
    /// A static file.
    File(FileResource),
    /// Made by an Action of the Provider.
    GraphAction(GraphActionResource),
    /// Made by the host.
    HostAction(HostActionResource),
}

impl Resource {
    /// Identifies the Resource in its Provider.
    pub fn id(&self) -> &str {
        match self {
            Resource::File(r) => &r.id,
            Resource::GraphAction(r) => &r.id,
            Resource::HostAction(r) => &r.id,
        }
    }

    /// What it is.
    pub fn kind(&self) -> ResourceKind {
        match self {
            Resource::File(r) => r.kind,
            Resource::GraphAction(r) => r.kind,
            Resource::HostAction(r) => r.kind,
        }
    }

    /// The media type of the file, or of what is made.
    pub fn media_type(&self) -> &str {
        match self {
            Resource::File(r) => &r.media_type,
            Resource::GraphAction(r) => &r.media_type,
            Resource::HostAction(r) => &r.media_type,
        }
    }

    /// Whether it is made when it is asked for.
    pub fn dynamic(&self) -> bool {
        !matches!(self, Resource::File(_))
    }
}
