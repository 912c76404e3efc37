//! `agent-graph.code-catalog.v1` and where a code leads (section-codes).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ResourceLocation, identity};
use crate::failure::Severity;

identity!(/** The identity of a Code Catalog. */ CodeCatalogSchema, "agent-graph.code-catalog.v1");
identity!(/** The identity of a code's location. */ CodeLocationSchema, "agent-graph.code-location.v1");

/// A Code Catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeCatalog {
    /// The identity.
    pub schema: CodeCatalogSchema,
    /// The codes.
    pub codes: Vec<CodeEntry>,
}

/// What a code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CodeKind {
    /// Why a Route is taken.
    RouteReason,
    /// A diagnostic of the product.
    Diagnostic,
}

/// One code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeEntry {
    /// The code.
    pub code: String,
    /// What it is.
    pub kind: CodeKind,
    /// A hint for people; never a condition.
    pub summary: String,
    /// How much it weighs; diagnostics only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// A static Resource that says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// Where a code leads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CodeLocation {
    /// The identity.
    pub schema: CodeLocationSchema,
    /// The Provider.
    pub provider: String,
    /// The code.
    pub code: String,
    /// What it is.
    pub kind: CodeKind,
    /// A hint for people.
    pub summary: String,
    /// How much it weighs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Where its document is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<ResourceLocation>,
}
