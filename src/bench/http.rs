//! A lean MCP client: one connection that is kept, one call at a time, nothing looked at that is not needed.

use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::client::Refused;

/// Longest that a call may take, in seconds.
const CALL_SECONDS: u64 = 30;

/// A kept connection.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    path: Uri,
    host: HeaderValue,
}

/// Who calls.
#[derive(Debug, Clone)]
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    pub(super) fn new(token: &str) -> anyhow::Result<Bearer> {
        Ok(Bearer(HeaderValue::try_from(format!("Bearer {token}"))?))
    }
}

/// An answer, and what it cost to get it.
pub(super) struct Answer<Data> {
    pub(super) data: Data,
    pub(super) took: Duration,
    pub(super) request_bytes: usize,
    pub(super) answer_bytes: usize,
}

#[derive(Deserialize)]
struct Message<Data> {
    result: Option<CallResult<Data>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<Data> {
    structured_content: Outcome<Data>,
}

#[derive(Deserialize)]
struct Outcome<Data> {
    data: Option<Data>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
    message: String,
    #[serde(default)]
    issues: Vec<String>,
}

impl Connection {
    pub(super) async fn open(mcp: &str) -> anyhow::Result<Connection> {
        let uri: Uri = mcp.parse().with_context(|| mcp.to_owned())?;
        let host = uri.authority().ok_or_else(|| anyhow!("{mcp} names no host"))?.to_string();
        let stream = TcpStream::connect(&host).await.with_context(|| mcp.to_owned())?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with the sender.
        tokio::spawn(connection);
        Ok(Connection { sender, path: uri.path().parse()?, host: HeaderValue::try_from(host)? })
    }

    /// Calls a tool. A refusal is an error here.
    pub(super) async fn call<Data: DeserializeOwned>(
        &mut self,
        who: &Bearer,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<Answer<Data>> {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
        });
        let body = Bytes::from(message.to_string());
        let request_bytes = body.len();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(AUTHORIZATION, who.0.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-11-25"));

        let started = Instant::now();
        let answering = async {
            self.sender.ready().await?;
            let response = self.sender.send_request(request).await?;
            let status = response.status();
            anyhow::Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        let (status, body) = tokio::time::timeout(Duration::from_secs(CALL_SECONDS), answering)
            .await
            .with_context(|| format!("{tool} was not answered within {CALL_SECONDS} seconds"))??;
        let took = started.elapsed();
        if status != StatusCode::OK {
            bail!("{tool} was answered {status}: {}", String::from_utf8_lossy(&body));
        }
        let message: Message<Data> = serde_json::from_slice(&body).with_context(|| format!("the answer to {tool}"))?;
        let outcome = match message {
            Message { result: Some(result), .. } => result.structured_content,
            Message { error, .. } => bail!("{tool}: {}", error.unwrap_or_default()),
        };
        match outcome {
            Outcome { data: Some(data), .. } => Ok(Answer { data, took, request_bytes, answer_bytes: body.len() }),
            Outcome { error: Some(Refusal { code, message, issues }), .. } => {
                Err(anyhow::Error::from(Refused { code, message, issues }).context(format!("{tool} was refused")))
            }
            Outcome { .. } => bail!("{tool} was answered neither data nor a refusal"),
        }
    }
}
