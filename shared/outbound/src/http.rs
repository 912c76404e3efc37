//! One HTTP exchange.
//!
//! Invariants: no redirect is followed, so a key goes nowhere but where it was meant to; an answer is read up to a limit
//! and no further; TLS by the one implementation of this program; a proxy of the environment is used for https only,
//! because what is asked over plain http is near. Whoever sends bounds the time.

use std::fmt;
use std::sync::OnceLock;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};

/// Why an exchange brought no answer.
#[derive(Debug)]
pub enum Fault {
    /// The answer is longer than so many bytes.
    TooLong(usize),
    /// There is no connection, or it broke; with the cause.
    Broken(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TooLong(most) => write!(f, "answered more than {most} bytes"),
            Fault::Broken(cause) => write!(f, "could not be asked: {cause}"),
        }
    }
}

impl std::error::Error for Fault {}

/// The clients. Nothing is connected before the first exchange.
#[derive(Debug)]
pub struct Http {
    answer_bytes: usize,
    // Two, because the one for https reads the machine's certificate store, which a machine that asks a model on itself
    // need not have.
    plain: OnceLock<Result<reqwest::Client, String>>,
    tls: OnceLock<Result<reqwest::Client, String>>,
}

impl Http {
    /// Clients that read at most so many bytes of an answer.
    pub fn new(answer_bytes: usize) -> Http {
        Http { answer_bytes, plain: OnceLock::new(), tls: OnceLock::new() }
    }

    /// Sends the request, and reads the answer whole.
    ///
    /// # Errors
    ///
    /// There was no answer, or one that is too long.
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Fault> {
        let plain = request.uri().scheme() == Some(&http::uri::Scheme::HTTP);
        let cell = if plain { &self.plain } else { &self.tls };
        let client = cell.get_or_init(|| build(plain)).as_ref().map_err(|why| Fault::Broken(why.clone()))?;
        let request = reqwest::Request::try_from(request).map_err(broken)?;
        let mut answer = client.execute(request).await.map_err(broken)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > self.answer_bytes {
                return Err(Fault::TooLong(self.answer_bytes));
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = Response::new(body.freeze());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(response)
    }
}

fn build(plain: bool) -> Result<reqwest::Client, String> {
    identity::install_tls();
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).referer(false);
    let builder = if plain { builder.no_proxy().tls_certs_only([]) } else { builder.https_only(true) };
    builder.build().map_err(|error| format!("no HTTP client: {error}"))
}

/// The innermost cause, such as a refused connection: the outer ones only say that there is one.
fn broken(error: reqwest::Error) -> Fault {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Fault::Broken(cause.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;

    const ANSWER_BYTES: usize = 1_000;

    async fn serve() -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new()
            .route("/", get(|| async { (StatusCode::CREATED, [("x-said", "this")], "hello") }))
            .route("/moved", get(|| async { (StatusCode::TEMPORARY_REDIRECT, [("location", "/")], "there") }))
            .route("/full", get(|| async { "x".repeat(ANSWER_BYTES) }))
            .route("/long", get(|| async { "x".repeat(ANSWER_BYTES + 1) }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    async fn ask(url: &str) -> Result<Response<Bytes>, Fault> {
        let request = Request::get(url).body(Bytes::new()).expect("a request");
        Http::new(ANSWER_BYTES).send(request).await
    }

    #[tokio::test]
    async fn an_answer_comes_whole_and_no_redirect_is_followed() {
        let base = serve().await;
        let answer = ask(&base).await.expect("an answer");
        assert_eq!((answer.status(), answer.headers()["x-said"].as_bytes()), (StatusCode::CREATED, &b"this"[..]));
        assert_eq!(answer.body(), "hello");
        let moved = ask(&format!("{base}/moved")).await.expect("an answer");
        assert_eq!((moved.status(), moved.body().as_ref()), (StatusCode::TEMPORARY_REDIRECT, &b"there"[..]));
    }

    #[tokio::test]
    async fn an_answer_is_read_up_to_the_limit_and_no_further() {
        let base = serve().await;
        assert_eq!(ask(&format!("{base}/full")).await.expect("an answer").body().len(), ANSWER_BYTES);
        let fault = ask(&format!("{base}/long")).await.expect_err("too long");
        assert_eq!(fault.to_string(), "answered more than 1000 bytes");
    }

    #[tokio::test]
    async fn without_a_connection_the_cause_is_said() {
        // A port that was free a moment ago.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let fault = ask(&format!("http://{address}/key")).await.expect_err("nobody there");
        assert!(matches!(&fault, Fault::Broken(cause) if cause.contains("refused")), "{fault}");
        assert!(!fault.to_string().contains("key"), "{fault}");
    }
}
