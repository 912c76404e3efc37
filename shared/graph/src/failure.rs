//! What goes wrong, with the stable code that programs branch on (section-compat).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::documents::present;

/// How much a [`Diagnostic`] weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Probably not meant.
    Warning,
    /// Refused, or in the way.
    Error,
}

/// One thing that is worth knowing about a document or a state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diagnostic {
    /// The stable code.
    #[schemars(length(min = 1))]
    pub code: Cow<'static, str>,
    /// How much it weighs.
    pub severity: Severity,
    /// For people.
    pub message: String,
    /// Where: a file, or a place in a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The document that a Code Catalog gives for the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub document_ref: Option<String>,
    /// More, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub detail: Option<Value>,
}

/// A refusal: nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The stable code.
    pub code: Cow<'static, str>,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// Everything that is wrong, when there is more than one thing to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A refusal with this code.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Failure {
        Failure { code: code.into(), message: message.into(), diagnostics: Vec::new() }
    }

    /// The same with these diagnostics.
    #[must_use]
    pub fn with(mut self, diagnostics: Vec<Diagnostic>) -> Failure {
        self.diagnostics = diagnostics;
        self
    }
}

impl Failure {
    /// The refusal as one diagnostic of something larger.
    pub(crate) fn diagnostic(self) -> Diagnostic {
        Diagnostic::new(self.code, Severity::Error, self.message)
    }
}

impl Diagnostic {
    /// A diagnostic of this code.
    pub fn new(code: impl Into<Cow<'static, str>>, severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code: code.into(),
            severity,
            message: message.into(),
            path: None,
            document_ref: None,
            detail: None,
        }
    }

    /// The same at this place.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Diagnostic {
        self.path = Some(path.into());
        self
    }
}
