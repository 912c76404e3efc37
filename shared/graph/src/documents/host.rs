//! `agent-graph.host-action-result.v1`: what a host made (section-resources).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{identity, present};

identity!(/** The identity of a host's result. */ HostActionResultSchema, "agent-graph.host-action-result.v1");

/// What a host made. The names are the protocol's own, with underscores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostActionResult {
    /// The identity.
    pub schema: HostActionResultSchema,
    /// The handler that made it.
    pub handler: String,
    /// The digest of `{handler, input.schema, input.value}`.
    pub input_digest: String,
    /// What was made.
    pub output: HostOutput,
    /// Who made it.
    pub receipt: HostReceipt,
}

/// What a host made: exactly one of `inline` and `resource`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostOutput {
    /// The protocol identity of the value.
    pub schema: String,
    /// The value itself.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub inline: Option<Value>,
    /// Where the value is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<HostOutputResource>,
}

/// Where a value is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostOutputResource {
    /// The host's own reference.
    pub r#ref: String,
    /// The digest of its bytes.
    pub digest: String,
}

/// Who made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostReceipt {
    /// The adapter.
    pub adapter: String,
    /// Its version.
    pub adapter_version: String,
}
