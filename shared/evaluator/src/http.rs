//! One HTTP exchange, for both kinds of endpoint.
//!
//! Invariants: no redirect is followed, so a key goes nowhere but where it was meant to; an answer is read up to a limit
//! and no further; TLS by the one implementation of this program; a proxy of the environment is used for https only,
//! because what is asked over plain http is near. Whoever sends bounds the time.

use std::fmt;
use std::sync::OnceLock;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};

/// Most bytes of an answer.
pub(crate) const ANSWER_BYTES: usize = 1_048_576;

/// Why an exchange brought no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The answer is longer than [`ANSWER_BYTES`].
    TooLong,
    /// There is no connection, or it broke; with the cause.
    Broken(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::TooLong => write!(f, "answered more than {ANSWER_BYTES} bytes"),
            Fault::Broken(cause) => write!(f, "could not be asked: {cause}"),
        }
    }
}

impl std::error::Error for Fault {}

/// The clients. Nothing is connected before the first exchange.
#[derive(Debug, Default)]
pub(crate) struct Http {
    // Two, because the one for https reads the machine's certificate store, which a machine that asks a model on itself
    // need not have.
    plain: OnceLock<Result<reqwest::Client, String>>,
    tls: OnceLock<Result<reqwest::Client, String>>,
}

impl Http {
    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Fault> {
        let plain = request.uri().scheme() == Some(&http::uri::Scheme::HTTP);
        let cell = if plain { &self.plain } else { &self.tls };
        let client = cell.get_or_init(|| build(plain)).as_ref().map_err(|why| Fault::Broken(why.clone()))?;
        let request = reqwest::Request::try_from(request).map_err(broken)?;
        let mut answer = client.execute(request).await.map_err(broken)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(broken)? {
            if body.len() + chunk.len() > ANSWER_BYTES {
                return Err(Fault::TooLong);
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
