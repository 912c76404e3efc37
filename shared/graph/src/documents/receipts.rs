//! `agent-graph.resource-read-receipts.v1`: what the current conversation has read (section-resources).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;

identity!(/** The identity of read receipts. */ ReadReceiptsSchema, "agent-graph.resource-read-receipts.v1");

/// What the current conversation has read of one Provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadReceipts {
    /// The identity.
    pub schema: ReadReceiptsSchema,
    /// The Provider.
    pub provider: String,
    /// One a Resource that was read.
    pub receipts: Vec<ReadReceipt>,
}

/// One Resource that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadReceipt {
    /// The Resource.
    pub id: String,
    /// The digest of what was read.
    pub digest: String,
    /// The Route revision that selected it, of a dynamic one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}
