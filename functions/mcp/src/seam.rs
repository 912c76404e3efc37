//! Where the protocol ends and the tools begin.

use crate::error::ToolError;
use async_trait::async_trait;
use identity::Caller;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a client is told about a tool.
#[derive(Debug, Clone)]
pub struct ToolInfo {
    /// The name it is called by.
    pub name: &'static str,
    /// A few words for people.
    pub title: &'static str,
    /// What it does and when to use it, for an agent that knows nothing else.
    pub description: &'static str,
    /// JSON Schema of the arguments; an object at its root.
    pub input_schema: Arc<Map<String, Value>>,
    /// JSON Schema of the whole result, `ok` included; see [`crate::schemas::result`].
    pub output_schema: Arc<Map<String, Value>>,
    /// Changes nothing.
    pub read_only: bool,
    /// Repeating a call with the same arguments changes nothing further.
    pub idempotent: bool,
    /// May end or undo what others rely on.
    pub destructive: bool,
}

/// What a call is worth knowing by afterwards, for the request log. Nothing of arguments or results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meter {
    /// The run that was touched.
    pub run: Option<String>,
    /// Calls made to storage.
    pub storage_calls: u64,
    /// Rounds of them: calls made in parallel are one.
    pub storage_rounds: u64,
    /// How many of them were transactions.
    pub storage_transactions: u64,
}

/// Why a tool has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The tool refused: a result of its own on the wire.
    Refused(ToolError),
    /// The server met a state that cannot be and changed nothing. No code of the contract says that, so the client gets a
    /// JSON-RPC internal error; what it was is in the log, for the operator.
    Broken,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The `data` of the result, or why there is none.
    pub outcome: Result<Value, Failure>,
    /// For the log.
    pub meter: Meter,
}

impl From<Result<Value, ToolError>> for ToolAnswer {
    fn from(outcome: Result<Value, ToolError>) -> Self {
        ToolAnswer { outcome: outcome.map_err(Failure::Refused), meter: Meter::default() }
    }
}

/// All tools of a server.
#[async_trait]
pub trait Tools: Send + Sync + 'static {
    /// The tools, in the order in which they are listed. The same at every call.
    fn list(&self) -> Vec<ToolInfo>;

    /// The name of the tool that is called by it, if there is one.
    fn name(&self, name: &str) -> Option<&'static str> {
        self.list().into_iter().map(|info| info.name).find(|known| *known == name)
    }

    /// How to use the tools together, for an agent that knows nothing else.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// Calls the tool `name`, which is one of the list. Checking the arguments is the tool's part.
    async fn call(&self, caller: &Caller, name: &str, arguments: Map<String, Value>) -> ToolAnswer;
}
