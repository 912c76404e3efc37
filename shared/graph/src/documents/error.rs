//! `agent-graph.error.v1`: why something was refused (section-scope).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity;
use crate::failure::{Diagnostic, Failure};

identity!(/** The identity of an error. */ ErrorSchema, "agent-graph.error.v1");
identity!(/** The state of an error. */ ErrorState, "error");

/// Why something was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ErrorEnvelope {
    /// The identity.
    pub schema: ErrorSchema,
    /// Always `error`.
    pub state: ErrorState,
    /// What is wrong.
    pub error: ErrorBody,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ErrorBody {
    /// The stable code.
    pub code: String,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// Each fault, when there is more than one thing to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Failure> for ErrorEnvelope {
    fn from(failure: Failure) -> ErrorEnvelope {
        let error =
            ErrorBody { code: failure.code.into_owned(), message: failure.message, diagnostics: failure.diagnostics };
        ErrorEnvelope { schema: ErrorSchema::V1, state: ErrorState::V1, error }
    }
}
