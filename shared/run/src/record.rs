//! Completions of steps, the evidence attached to them, and a submission that is held (core §3.1, §5).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Time, Verdict};

/// One completion of a step (core §3.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The submitted output, or the event's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// The attached evidence, verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Evidence>>,
    /// What was done and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The chosen route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why that route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What an approver decided, or `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decided>,
    /// The note of a decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The verdict of the check on what was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Box<Verdict>>,
    /// Who completed it: a subject, or `server`.
    pub by: String,
    /// When.
    pub at: Time,
    /// Its place among the run's completions.
    pub seq: u32,
}

/// What a decision was, as it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Decided {
    /// An approval.
    Approved,
    /// A rejection.
    Rejected,
    /// The run was failed here.
    Failed,
}

/// An attached evidence item, with what the server verified (core §5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Evidence {
    /// An uploaded file.
    File(EvidenceFile),
    /// A URL or document number, recorded as stated.
    Link {
        /// As stated.
        r#ref: String,
    },
}

/// An uploaded file as cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceFile {
    /// The upload's id.
    pub r#ref: String,
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// The name it was uploaded under.
    pub file_name: String,
    /// The media type it was uploaded with.
    pub content_type: String,
}

/// A submission that a check was unsure of, held for a person to adopt (check-1). It met the objective rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The submitted output.
    pub output: Map<String, Value>,
    /// The attached evidence, verified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// What was done and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The chosen route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why that route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who submitted it.
    pub by: String,
    /// When.
    pub at: Time,
}
