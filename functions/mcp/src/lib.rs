//! The MCP endpoint.
//!
//! [`router`] is all of it, served by the development server and behind a function URL alike. A request passes `front`
//! (origin, token, method, size, JSON), then `rpc` (the protocol, by rmcp), then the [`Tools`]. Invariants: no request
//! reaches a tool without a verified caller; every answer to a GET is harmless; arguments and results keep the digits
//! of their numbers (an exponent is spelled `e+3` or `e-3`, as `serde_json` spells it); nothing of a token, of arguments
//! or of results is ever logged.

pub mod config;
mod envelope;
pub mod error;
mod front;
mod log;
mod metadata;
mod origin;
mod rpc;
pub mod schemas;
pub mod seam;
pub mod tools;
pub mod validate;

use axum::Router;
use axum::routing::{any, get};
use identity::Verifier;
use std::sync::Arc;

pub use config::EndpointConfig;
pub use error::{Code, ToolError};
pub use seam::{Failure, Meter, ToolAnswer, ToolInfo, Tools};
pub use tools::ProcessTools;

/// Protocol versions served, oldest first.
pub const PROTOCOL_VERSIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// Where the endpoint answers.
pub const MCP_PATH: &str = "/mcp";

/// What the endpoint is made of.
pub struct App {
    /// How it is reached, and its limits.
    pub config: EndpointConfig,
    /// Who is trusted.
    pub verifier: Verifier,
    /// What can be called.
    pub tools: Arc<dyn Tools>,
}

/// The whole endpoint: `/mcp`, `/healthz` and the metadata documents.
pub fn router(app: Arc<App>) -> Router {
    let front = Arc::new(front::Front::new(Arc::clone(&app)));
    Router::new()
        .route(MCP_PATH, any(move |request| async move { front.handle(request).await }))
        .route("/healthz", get(|| std::future::ready("ok\n")))
        .merge(metadata::routes(&app.config))
}
