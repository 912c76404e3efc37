//! The protocol: rmcp's server, stateless, over the tools.
//!
//! Arguments do not come through it (see [`crate::envelope`]); results go out through it as `structuredContent` and once
//! more as text.

use crate::error;
use crate::log::Record;
use crate::seam::{Failure, ToolInfo, Tools};
use identity::Caller;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the front hands to a tool past the protocol.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) caller: Arc<Caller>,
    /// Taken by the tool call.
    pub(crate) arguments: Arc<Mutex<Option<Map<String, Value>>>>,
    pub(crate) record: Record,
}

/// The handler of every request; a copy is cheap.
#[derive(Clone)]
pub(crate) struct Handler {
    tools: Arc<dyn Tools>,
    /// Made when a client first asks: a function that starts for a call need not derive what nobody wants to see.
    listed: Arc<OnceLock<Vec<Tool>>>,
    instructions: Option<Arc<str>>,
    max_answer_bytes: usize,
}

/// Room for what stands around a result on its way, in bytes: the protocol's frame with the client's id, and the headers.
const FRAME_BYTES: usize = 16 * 1024;

const VERSIONS: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

impl Handler {
    pub(crate) fn new(tools: Arc<dyn Tools>, max_answer_bytes: Option<usize>) -> Self {
        let instructions = tools.instructions().map(Arc::from);
        let max_answer_bytes = max_answer_bytes.unwrap_or(usize::MAX);
        Handler { tools, listed: Arc::default(), instructions, max_answer_bytes }
    }

    /// The result, if it is small enough to be sent. A function that answers with more fails, and nobody learns why.
    fn sendable(&self, result: CallToolResult) -> Result<CallToolResponse, ErrorData> {
        let text = result.content.first().and_then(|block| block.as_text()).map_or("", |block| &block.text);
        let bytes = sent_bytes(text).saturating_add(FRAME_BYTES);
        if bytes <= self.max_answer_bytes {
            return Ok(result.into());
        }
        tracing::warn!(bytes, "an answer is too large to be sent");
        let limit = self.max_answer_bytes;
        let message = format!(
            "the answer has {bytes} bytes as it is sent, and this server can send {limit}. What the call was to change is \
             changed. Ask for less: a smaller limit, or fewer inputs and roles"
        );
        Err(ErrorData::internal_error(message, None))
    }
}

/// The bytes that a result of this JSON text takes in what a function hands over. It stands there as it is and once more as a
/// string, and both in a body that is a string itself: each quote and backslash of it gets one more in the first, three in
/// the second.
fn sent_bytes(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    text.len().saturating_mul(2).saturating_add(escaped.saturating_mul(4))
}

fn describe(info: ToolInfo) -> Tool {
    let annotations = ToolAnnotations::from_raw(
        Some(info.title.to_owned()),
        Some(info.read_only),
        Some(info.destructive),
        Some(info.idempotent),
        Some(false),
    );
    Tool::new(info.name, info.description, info.input_schema)
        .with_title(info.title)
        .with_raw_output_schema(info.output_schema)
        .with_annotations(annotations)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let mut server = Implementation::new("procession", env!("CARGO_PKG_VERSION"));
        server.title = Some("Procession".to_owned());
        let config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        match &self.instructions {
            Some(text) => config.with_instructions(&**text),
            None => config,
        }
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.listed.get_or_init(|| self.tools.list().into_iter().map(describe).collect());
        Ok(ListToolsResult::with_all_items(listed.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(name) = self.tools.name(&request.name) else {
            // The name is not told back: it is text of the client's, and rmcp logs the message.
            return Err(ErrorData::invalid_params("unknown tool; tools/list names those there are", None));
        };
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let Some(call) = parts.and_then(|parts| parts.extensions.get::<Call>()) else {
            return Err(ErrorData::internal_error("the call came without its caller", None));
        };
        let arguments = call.arguments.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        let answer = self.tools.call(&call.caller, name, arguments).await;
        let outcome = match &answer.outcome {
            Ok(_) => "ok",
            Err(Failure::Refused(error)) => error.code.as_str(),
            Err(Failure::Broken) => "broken",
        };
        call.record.tool(name, outcome, answer.meter);
        match answer.outcome {
            Ok(data) => self.sendable(CallToolResult::structured(error::result(Ok(data)))),
            Err(Failure::Refused(error)) => self.sendable(CallToolResult::structured_error(error::result(Err(error)))),
            Err(Failure::Broken) => Err(ErrorData::internal_error(error::BROKEN, None)),
        }
    }
}
