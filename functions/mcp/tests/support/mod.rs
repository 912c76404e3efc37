//! A server on loopback: a test issuer whose keys are fetched over HTTP, and three small tools behind the real endpoint.

#![allow(dead_code, reason = "each test file uses a part of it")]

use async_trait::async_trait;
use identity::{Caller, Config, HttpFetch, IssuerConfig, Verifier};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use mcp::{App, Code, EndpointConfig, Failure, Meter, ToolAnswer, ToolError, ToolInfo, Tools};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub const ISSUER: &str = "https://issuer.test.invalid";
pub const CANONICAL: &str = "https://processes.example/mcp";

/// Small, so that a test can pass it.
pub const BODY_BYTES: usize = 65_536;

/// How often a tool ran.
#[derive(Default)]
pub struct Ran(AtomicUsize);

#[derive(Default)]
pub struct EchoTools {
    ran: Arc<Ran>,
}

fn info(name: &'static str, read_only: bool) -> ToolInfo {
    let open = json!({ "type": "object" });
    let Value::Object(open) = open else { panic!("an object") };
    ToolInfo {
        name,
        title: "A test tool",
        description: "Answers with what it was given.",
        input_schema: Arc::new(open.clone()),
        output_schema: Arc::new(mcp::schemas::result(open)),
        read_only,
        idempotent: true,
        destructive: false,
    }
}

#[async_trait]
impl Tools for EchoTools {
    fn list(&self) -> Vec<ToolInfo> {
        vec![info("echo", true), info("refuse", false), info("whoami", true), info("break", false)]
    }

    fn instructions(&self) -> Option<String> {
        Some("Echo first.".to_owned())
    }

    async fn call(&self, caller: &Caller, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        self.ran.0.fetch_add(1, Ordering::SeqCst);
        let outcome = match name {
            "refuse" => {
                let refusal = ToolError::new(Code::Conflict, "not now").with_issues(vec!["run_ended".into()]);
                Err(Failure::Refused(refusal))
            }
            "break" => Err(Failure::Broken),
            // An answer may be larger than a request.
            _ if arguments.contains_key("letters") => {
                let many = |name: &str| usize::try_from(arguments[name].as_u64().expect("a number")).expect("a size");
                Ok(json!({ "text": "\"".repeat(many("quotes")) + &"x".repeat(many("letters")) }))
            }
            "whoami" => Ok(json!({ "org": caller.org, "subject": caller.subject, "kind": caller.kind.as_str() })),
            _ => Ok(Value::Object(arguments)),
        };
        ToolAnswer { outcome, meter: Meter { run: Some("r_1".into()), storage_calls: 3, ..Meter::default() } }
    }
}

pub struct Server {
    pub base: String,
    pub http: reqwest::Client,
    ran: Arc<Ran>,
    now: u64,
}

fn signing_key() -> EncodingKey {
    let mut der = vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    der.extend_from_slice(&[7; 32]);
    EncodingKey::from_ed_der(&der)
}

async fn listen(router: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

pub async fn start() -> Server {
    start_with(|_| {}).await
}

pub async fn start_with(change: impl FnOnce(&mut EndpointConfig)) -> Server {
    let (app, ran) = app(change).await;
    let base = listen(mcp::router(Arc::new(app))).await;
    identity::install_tls();
    // No certificates: everything here is loopback.
    let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
    Server { base, http, ran, now: now() }
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// The endpoint, and how often its tools ran. Its issuer's keys are served.
pub async fn app(change: impl FnOnce(&mut EndpointConfig)) -> (App, Arc<Ran>) {
    let mut jwk = Jwk::from_encoding_key(&signing_key(), Algorithm::EdDSA).expect("a public key");
    jwk.common.key_id = Some("k".to_owned());
    let keys = json!({ "keys": [jwk] });
    let issuer =
        axum::Router::new().route("/jwks", axum::routing::get(move || std::future::ready(axum::Json(keys.clone()))));
    let jwks = format!("{}/jwks", listen(issuer).await);
    let trusted = IssuerConfig {
        jwks_uri: Some(jwks),
        people_clients: vec!["portal".into()],
        ..IssuerConfig::new(ISSUER, "procession")
    };
    let verifier = Verifier::new(Config { issuers: vec![trusted] }, Arc::new(HttpFetch::new())).expect("checked");
    let mut config = EndpointConfig {
        authorization_servers: vec![ISSUER.to_owned()],
        allowed_origins: vec!["https://portal.example".into()],
        max_body_bytes: BODY_BYTES,
        ..EndpointConfig::new(CANONICAL)
    };
    change(&mut config);
    config.check().expect("a valid configuration");
    let ran = Arc::new(Ran::default());
    let tools = Arc::new(EchoTools { ran: Arc::clone(&ran) });
    (App { config, verifier, tools }, ran)
}

/// A token whose claims are changed; null removes one.
pub fn token(now: u64, changes: &Value) -> String {
    let mut claims = json!({ "iss": ISSUER, "aud": "procession", "sub": "a_screener", "org": "acme", "kind": "agent",
                             "exp": now + 600, "iat": now });
    for (name, value) in changes.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
    let header = Header { kid: Some("k".into()), ..Header::new(Algorithm::EdDSA) };
    encode(&header, &claims, &signing_key()).expect("a token")
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().expect("text")).unwrap_or_default()
    }
}

impl Server {
    pub fn mcp(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub fn ran(&self) -> usize {
        self.ran.0.load(Ordering::SeqCst)
    }

    pub fn token(&self) -> String {
        self.token_with(&json!({}))
    }

    /// A token whose claims are changed; null removes one.
    pub fn token_with(&self, changes: &Value) -> String {
        token(self.now, changes)
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answer { status, headers, text: response.text().await.expect("a body") }
    }

    /// A POST with a good token and usual headers.
    pub fn post(&self, body: impl Into<String>) -> reqwest::RequestBuilder {
        self.http
            .post(self.mcp())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .bearer_auth(self.token())
            .body(body.into())
    }

    pub async fn rpc(&self, method: &str, params: Value) -> Answer {
        self.send(self.post(request(method, params))).await
    }

    /// Calls a tool with raw argument text.
    pub async fn call(&self, tool: &str, arguments: &str) -> Answer {
        self.send(self.post(call(tool, arguments))).await
    }
}

pub fn request(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

pub fn call(tool: &str, arguments: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#)
}
