//! An MCP client of a process server: connect with a token, call a tool, get its data or its refusal.
//!
//! Invariants: a token leaves this machine over TLS only, and never follows a redirect; numbers of arguments and results
//! keep the digits they were written with (an exponent is spelled `e+3` or `e-3`, as the server spells it).

use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use reqwest::Url;
use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use serde_json::{Map, Value};

/// Longest that one call may take, in seconds.
const CALL_SECONDS: u64 = 60;

/// How often a call is made when its answers are lost, the first time included.
const CALL_TRIES: u32 = 4;

/// Pause before the second try, in milliseconds; it doubles with each further one.
const PAUSE_MILLIS: u64 = 200;

type HttpError = StreamableHttpError<reqwest::Error>;

/// A connected client.
pub struct Client {
    service: RunningService<RoleClient, ClientConfig>,
    url: Url,
}

/// What a tool refused: the server understood the call and changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// One word of core §4.3, such as `invalid`.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
    /// Each single fault; may be empty.
    pub issues: Vec<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        self.issues.iter().try_for_each(|issue| write!(f, "\n  {issue}"))
    }
}

impl std::error::Error for Refused {}

/// Why a call gave no data.
#[derive(Debug)]
pub enum Failure {
    /// The tool said no.
    Refused(Refused),
    /// No answer came: the call may or may not have happened. Repeating it with the same `requestId` is safe.
    Lost(anyhow::Error),
    /// The server will not talk with this client: repeating changes nothing.
    Broken(anyhow::Error),
}

impl From<Failure> for anyhow::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refused) => refused.into(),
            Failure::Lost(error) | Failure::Broken(error) => error,
        }
    }
}

impl Client {
    /// Connects to an endpoint, such as `https://processes.example/mcp`.
    ///
    /// # Errors
    ///
    /// An address that is none or would carry the token unencrypted, a server that does not answer, a token it does not
    /// take.
    pub async fn connect(url: &str, token: &str) -> anyhow::Result<Client> {
        let url = endpoint(url)?;
        let token = token.trim();
        if token.is_empty() || token.chars().any(|c| c.is_whitespace() || c.is_control()) {
            bail!("the token is empty or has blanks in it; it is one word, as `procession token` prints it");
        }
        let http = http_client(&url)?;
        let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).auth_header(token);
        let transport = StreamableHttpClientTransport::with_client(http, config);
        let mut about = ClientConfig::default();
        about.client_info = Implementation::new("procession", env!("CARGO_PKG_VERSION"));
        let connecting = about.serve(transport);
        let service = match tokio::time::timeout(Duration::from_secs(CALL_SECONDS), connecting).await {
            Ok(Ok(service)) => service,
            Ok(Err(error)) => return Err(explain(&url, &error)),
            Err(_) => bail!("{url} did not answer within {CALL_SECONDS} seconds"),
        };
        Ok(Client { service, url })
    }

    /// Calls a tool once.
    ///
    /// # Errors
    ///
    /// [`Failure`]: a refusal, a lost answer, or a server that does not talk with us.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, Failure> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let calling = self.service.call_tool(params);
        let result = match tokio::time::timeout(Duration::from_secs(CALL_SECONDS), calling).await {
            Ok(Ok(result)) => result,
            Ok(Err(ServiceError::McpError(error))) => {
                return Err(Failure::Broken(anyhow!("{}: {tool}: {}", self.url, error.message)));
            }
            Ok(Err(error)) if error.auth_challenge().is_some() => {
                return Err(Failure::Broken(explain(&self.url, &error)));
            }
            Ok(Err(error)) => return Err(Failure::Lost(explain(&self.url, &error))),
            Err(_) => {
                let lost = anyhow!("{}: {tool} was not answered within {CALL_SECONDS} seconds", self.url);
                return Err(Failure::Lost(lost));
            }
        };
        let strange = || Failure::Broken(anyhow!("{}: {tool} answered nothing that a process server says", self.url));
        outcome(result.structured_content.ok_or_else(strange)?).ok_or_else(strange)?.map_err(Failure::Refused)
    }

    /// Calls a write, and repeats it with the same `requestId` while its answer is lost or the server is busy.
    ///
    /// # Errors
    ///
    /// As [`Client::call`], after [`CALL_TRIES`] tries.
    pub async fn write(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, Failure> {
        let mut pause = Duration::from_millis(PAUSE_MILLIS);
        for _ in 1..CALL_TRIES {
            match self.call(tool, arguments.clone()).await {
                Err(Failure::Lost(_)) => {}
                Err(Failure::Refused(refused)) if refused.code == "retry" => {}
                done => return done,
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        self.call(tool, arguments.clone()).await
    }

    /// Ends the connection.
    pub async fn close(self) {
        let _ = self.service.cancel().await;
    }
}

/// A `requestId` that nobody used before.
pub fn request_id() -> String {
    use store::Ids as _;
    store::RandomIds.fresh()
}

/// The arguments of a call from a JSON object.
pub fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// What an answer holds at this JSON pointer; null when nothing is there.
pub fn at<'a>(answer: &'a Value, pointer: &str) -> &'a Value {
    answer.pointer(pointer).unwrap_or(&Value::Null)
}

/// A tool's data or refusal from its result; nothing when it is neither.
pub(crate) fn outcome(result: Value) -> Option<Result<Value, Refused>> {
    let Value::Object(mut result) = result else { return None };
    if result.get("ok")?.as_bool()? {
        return result.remove("data").map(Ok);
    }
    let error = result.get("error")?;
    let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
    let issues = error.get("issues").and_then(Value::as_array).into_iter().flatten();
    let issues = issues.filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Err(Refused { code: text("code")?, message: text("message")?, issues }))
}

/// Reads the address of an endpoint.
fn endpoint(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).with_context(|| {
        format!("`{text}` is not an address; give the endpoint's, such as http://127.0.0.1:8484/mcp")
    })?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => bail!("{url} would carry the token unencrypted; use https, plain http is for this machine only"),
        other => bail!("{url}: `{other}` is not spoken here; use https, or http for this machine"),
    }
}

fn is_loopback(url: &Url) -> bool {
    // An IPv6 address stands in brackets.
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// An HTTP client for this address.
pub(crate) fn http_client(url: &Url) -> anyhow::Result<reqwest::Client> {
    identity::install_tls();
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tcp_nodelay(true);
    // A machine that only talks to itself need not have a certificate store, and no proxy should see the token.
    let builder = match url.scheme() {
        "https" => builder.https_only(true),
        _ => builder.no_proxy().tls_certs_only([]),
    };
    builder.build().context("no HTTP client can be made")
}

/// Says why a server does not talk with us, in words that help: the reason lies deep in a chain of errors.
fn explain(url: &Url, error: &(dyn std::error::Error + 'static)) -> anyhow::Error {
    let mut texts: Vec<String> = Vec::new();
    let mut current = Some(error);
    while let Some(cause) = current {
        if let Some(error) = cause.downcast_ref::<reqwest::Error>()
            && error.is_connect()
        {
            let reason = root(error);
            return anyhow!("{url} does not answer ({reason}). Is the server running, and is this its address?");
        }
        if cause.is::<AuthRequiredError>() {
            return anyhow!(
                "{url} does not take this token: it may have ended, or be another server's. Make a new one with \
                 `procession token`, or get one from your identity provider."
            );
        }
        texts.push(cause.to_string());
        // Two links of the chain do not name their source.
        current = if let Some(ClientInitializeError::TransportError { error, .. }) = cause.downcast_ref() {
            Some(error.error.as_ref())
        } else if let Some(StreamableHttpError::Client(error)) = cause.downcast_ref::<HttpError>() {
            Some(error)
        } else {
            cause.source()
        };
    }
    anyhow!(
        "{url} does not talk like a process server ({}). Is this its endpoint? It usually ends in /mcp.",
        texts.last().map_or("", |text| text.trim_end_matches([':', ' ']))
    )
}

/// The last reason of a chain.
fn root(error: &dyn std::error::Error) -> String {
    let mut reason = error.to_string();
    let mut current = error.source();
    while let Some(cause) = current {
        reason = cause.to_string();
        current = cause.source();
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::routing::any;
    use serde_json::json;

    #[test]
    fn a_token_is_never_sent_unencrypted() {
        for url in ["https://p.example/mcp", "http://127.0.0.1:1/mcp", "http://[::1]:1/mcp", "http://localhost/mcp"] {
            assert!(endpoint(url).is_ok(), "{url}");
        }
        for (url, words) in [
            ("http://p.example/mcp", "unencrypted"),
            ("http://127.0.0.1.evil.example/", "unencrypted"),
            ("ftp://127.0.0.1/", "use https"),
            ("127.0.0.1:8484", "not an address"),
            ("", "not an address"),
        ] {
            let error = format!("{:#}", endpoint(url).expect_err(url));
            assert!(error.contains(words), "{url}: {error}");
        }
    }

    #[test]
    fn results_are_data_or_a_refusal() {
        assert_eq!(outcome(json!({ "ok": true, "data": [1] })), Some(Ok(json!([1]))));
        let refused = outcome(json!({ "ok": false, "error": { "code": "invalid", "message": "m", "issues": ["a"] } }));
        let expected = Refused { code: "invalid".into(), message: "m".into(), issues: vec!["a".into()] };
        assert_eq!(refused, Some(Err(expected.clone())));
        assert_eq!(expected.to_string(), "invalid: m\n  a");
        for strange in [json!(1), json!({}), json!({ "ok": 1 }), json!({ "ok": true }), json!({ "ok": false })] {
            assert_eq!(outcome(strange.clone()), None, "{strange}");
        }
    }

    /// Serves a router on a free port of this machine.
    async fn serve(router: Router) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/mcp")
    }

    #[tokio::test]
    async fn a_server_that_does_not_answer_is_named() {
        let error = Client::connect("http://127.0.0.1:9/mcp", "t").await.err().expect("refused").to_string();
        assert!(error.contains("127.0.0.1:9") && error.contains("Is the server running"), "{error}");
        let error = Client::connect("http://127.0.0.1:9/mcp", " a b ").await.err().expect("refused").to_string();
        assert!(error.contains("one word"), "{error}");
    }

    #[tokio::test]
    async fn a_refused_token_is_said_to_be_one() {
        let challenge = [("www-authenticate", "Bearer")];
        let url = serve(Router::new().route("/mcp", any(move || async move { (http(401), challenge, "") }))).await;
        let error = Client::connect(&url, "t").await.err().expect("refused").to_string();
        assert!(error.contains("does not take this token"), "{error}");
    }

    #[tokio::test]
    async fn something_else_than_an_mcp_server_is_no_server() {
        let url = serve(Router::new().route("/mcp", any(|| async { "hello" }))).await;
        let error = Client::connect(&url, "t").await.err().expect("refused").to_string();
        assert!(error.contains(&url), "{error}");
    }

    #[tokio::test]
    async fn numbers_keep_their_digits_both_ways() {
        const PROCESS: &str = "---\nname: sums\ndescription: D\ninputs:\n  numbers: { type: list, items: number }\nsteps:\n  \
                               - { id: add, agent: Add., next: end }\n  - { id: end, finish: done }\n---\n";
        let dir = tempfile::tempdir().expect("a folder");
        let options = crate::server::Options { data: dir.path().to_owned(), ..Default::default() };
        let server = crate::server::start(options).await.expect("a server");
        let token = local::issuer::TokenRequest {
            kind: identity::Kind::Agent,
            subject: "a".to_owned(),
            org: "o".to_owned(),
            groups: Vec::new(),
            operator: true,
            person: None,
            ttl: Duration::from_secs(60),
        };
        let token = server.issuer.token(&token).expect("a token");
        let client = Client::connect(&server.mcp, &token).await.expect("connected");
        let call = async |tool: &str, with: Value| client.write(tool, &arguments(with)).await.expect(tool);
        call("import_process", json!({ "source": PROCESS, "requestId": request_id() })).await;
        call("publish_process", json!({ "name": "sums", "roles": {}, "requestId": request_id() })).await;
        let text = "[1.10,-0.0,123456789012345678901234567890.10,1e+400,7]";
        let numbers: Value = serde_json::from_str(text).expect("numbers");
        let start = json!({ "process": "sums", "inputs": { "numbers": numbers }, "requestId": request_id() });
        let view = call("start_run", start).await;
        assert_eq!(at(&view, "/data/inputs/numbers").to_string(), text);
        let run = at(&view, "/run/id");
        let view = call("get_run", json!({ "runId": run })).await;
        assert_eq!(at(&view, "/data/inputs/numbers").to_string(), text);
        client.close().await;
        server.stop().await;
    }

    fn http(code: u16) -> axum::http::StatusCode {
        axum::http::StatusCode::from_u16(code).expect("a status")
    }
}
