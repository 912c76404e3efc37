//! Everything that is decided before the protocol: origin, token, method, media types, size, JSON, version.
//!
//! Order: `Origin` (403), token (401), method (405), media types (415, 406), size (413), JSON-RPC (400), protocol version
//! (400). A request without a token therefore learns how to get one, whatever its method; and nothing of a body is read
//! for somebody who is not known.

use crate::config::BODY_SECONDS;
use crate::envelope::{self, Malformed, Message};
use crate::error::{INVALID_REQUEST, refusal, unauthorized};
use crate::log::{Line, Record};
use crate::origin::Allowed;
use crate::rpc::{Call, Handler};
use crate::{App, PROTOCOL_VERSIONS};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use identity::{AuthError, Caller};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const VERSION_HEADER: &str = "mcp-protocol-version";

/// What rmcp insists on. Whether a client can read the answer is checked here, less strictly.
const ACCEPT_BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// How long a browser may remember what it may send, in seconds.
const PREFLIGHT_SECONDS: &str = "600";

/// Headers that a browser client may send.
const REQUEST_HEADERS: &str =
    "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id";

/// Headers that a page may read. The second is the first as a function URL renames it.
const EXPOSED_HEADERS: &str = "www-authenticate, x-amzn-remapped-www-authenticate";

pub(crate) struct Front {
    app: Arc<App>,
    origins: Allowed,
    metadata_url: String,
    protocol: StreamableHttpService<Handler, NeverSessionManager>,
}

/// A refusal is an answer; boxed, because it is large and rare.
type Refused = Box<Response<Body>>;

impl Front {
    pub(crate) fn new(app: Arc<App>) -> Self {
        let handler = Handler::new(Arc::clone(&app.tools), app.config.max_answer_bytes);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_sse_keep_alive(None)
            .with_allowed_hosts(app.config.allowed_hosts.clone())
            .with_max_request_body_bytes(app.config.max_body_bytes);
        Front {
            origins: Allowed::new(&app.config.allowed_origins, app.config.loopback_origins),
            metadata_url: crate::config::metadata_url(&app.config.canonical_url).unwrap_or_default(),
            protocol: StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config),
            app,
        }
    }

    /// Answers any request to the endpoint.
    pub(crate) async fn handle(&self, request: Request<Body>) -> Response<Body> {
        let mut line = Line::start();
        let origin = request.headers().get(header::ORIGIN).cloned();
        let record = line.record.clone();
        let has_body = !axum::body::HttpBody::is_end_stream(request.body());
        let mut response = match self.answer(request, &record).await {
            Ok(response) => response,
            Err(mut refused) => {
                // Its body may not have been read. What is left of it cannot be told from a next request, so the
                // connection ends with the answer, and the client is told so.
                if has_body {
                    refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                *refused
            }
        };
        line.answered(response.status());
        if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
            share(response.headers_mut(), origin);
        }
        response
    }

    async fn answer(&self, request: Request<Body>, record: &Record) -> Result<Response<Body>, Refused> {
        if !self.origin_allowed(request.headers()) {
            let message = "this origin may not call; add it to the allowed origins of the server";
            return refuse(StatusCode::FORBIDDEN, message);
        }
        if is_preflight(&request) {
            return Ok(preflight());
        }
        let caller = self.caller(request.headers()).await?;
        record.caller(Arc::clone(&caller));
        if request.method() != Method::POST {
            let message = "this endpoint has no streams and no sessions: everything is a POST";
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, &Value::Null, INVALID_REQUEST, message);
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
            return Ok(response);
        }
        check_media_types(request.headers())?;
        let (mut parts, body) = request.into_parts();
        let body = self.body(&parts.headers, body).await?;
        let message = envelope::read(&body)
            .map_err(|Malformed { id, code, message }| Box::new(refusal(Malformed::STATUS, &id, code, &message)))?;
        // A large body is not kept while the tool runs; what is needed of it has been taken out.
        drop(body);
        record.method(&message.method);
        check_version(&parts.headers, &message)?;
        // The protocol layer sees neither token nor arguments, so that it cannot log them.
        parts.headers.remove(header::AUTHORIZATION);
        parts.headers.insert(header::ACCEPT, ACCEPT_BOTH);
        let arguments = Arc::new(Mutex::new(message.arguments));
        parts.extensions.insert(Call { caller, arguments, record: record.clone() });
        let response = self.protocol.handle(Request::from_parts(parts, Full::new(message.rest))).await;
        Ok(response.map(Body::new))
    }

    fn origin_allowed(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().all(|origin| origin.to_str().is_ok_and(|text| self.origins.allows(text)))
    }

    async fn caller(&self, headers: &HeaderMap) -> Result<Arc<Caller>, Refused> {
        let mut sent = headers.get_all(header::AUTHORIZATION).iter();
        let verified = match (sent.next(), sent.next()) {
            (_, Some(_)) => Err(AuthError::Malformed("the Authorization header is sent twice")),
            (None, None) => Err(AuthError::Missing),
            (Some(value), None) => match value.to_str() {
                // Real time, whatever clock the processes run by: see `identity::Verifier::verify`.
                Ok(text) => self.app.verifier.verify(Some(text), real_seconds()).await,
                Err(_) => Err(AuthError::Malformed("the Authorization header is not plain text")),
            },
        };
        verified.map_err(|error| {
            if let AuthError::KeysUnavailable(reason) = &error {
                tracing::warn!(%reason, "an issuer's keys cannot be fetched");
            }
            Box::new(unauthorized(&self.metadata_url, &error))
        })
    }

    async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Refused> {
        let limit = self.app.config.max_body_bytes;
        let too_large = |size: &str| {
            let message = format!("the request's body {size}; this server takes at most {limit} bytes");
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &message)
        };
        let declared = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if let Some(declared) = declared.filter(|declared| usize::try_from(*declared).map_or(true, |n| n > limit)) {
            return too_large(&format!("has {declared} bytes"));
        }
        let reading = Limited::new(body, limit).collect();
        match tokio::time::timeout(Duration::from_secs(BODY_SECONDS), reading).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => too_large("is larger"),
            Ok(Err(_)) => refuse(StatusCode::BAD_REQUEST, "the request's body ended before it was whole"),
            Err(_) => {
                let message = format!("the request's body did not arrive within {BODY_SECONDS} seconds");
                refuse(StatusCode::REQUEST_TIMEOUT, &message)
            }
        }
    }
}

fn refuse<T>(status: StatusCode, message: &str) -> Result<T, Refused> {
    Err(Box::new(refusal(status, &Value::Null, INVALID_REQUEST, message)))
}

fn real_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn is_preflight(request: &Request<Body>) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// A browser asks before it sends a token; the asking itself carries none.
fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers: [(HeaderName, &'static str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Lets the page of an allowed origin read the answer.
fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

fn check_media_types(headers: &HeaderMap) -> Result<(), Refused> {
    let essence = |text: &str| text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let sent = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(essence);
    if sent.as_deref() != Some("application/json") {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON, as `Content-Type: application/json`");
    }
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    let readable = |entry: &str| {
        let refused = entry.split(';').skip(1).any(|parameter| {
            let parameter: String = parameter.chars().filter(|c| !c.is_whitespace()).collect();
            matches!(parameter.as_str(), "q=0" | "q=0." | "q=0.0" | "q=0.00" | "q=0.000")
        });
        !refused && matches!(essence(entry).as_str(), "application/json" | "application/*" | "*/*")
    };
    // No `Accept` at all accepts everything.
    let any = accepted.peek().is_none() || accepted.flat_map(|value| value.split(',')).any(readable);
    if any { Ok(()) } else { refuse(StatusCode::NOT_ACCEPTABLE, "answers are JSON: accept `application/json`") }
}

/// A version that the message names in its own `_meta` is for the protocol layer to judge, and so is that of `initialize`,
/// which negotiates.
fn check_version(headers: &HeaderMap, message: &Message) -> Result<(), Refused> {
    let Some(value) = headers.get(VERSION_HEADER) else { return Ok(()) };
    let known = value.to_str().is_ok_and(|version| PROTOCOL_VERSIONS.contains(&version));
    if known || message.names_version || message.method == "initialize" {
        return Ok(());
    }
    let text = format!("this MCP-Protocol-Version is not served; use one of {}", PROTOCOL_VERSIONS.join(", "));
    Err(Box::new(refusal(StatusCode::BAD_REQUEST, &message.id, INVALID_REQUEST, &text)))
}
