//! Fetching an issuer's public documents.
//!
//! The seam is one trait, so that what is cached and when it is fetched again can be tested without a network. Invariants
//! of the real one: bounded time and size, no redirects, no proxy for loopback, TLS for everything that leaves the machine.

use async_trait::async_trait;
use std::sync::OnceLock;
use std::time::Duration;

/// Longest that one fetch may take, in seconds.
pub const FETCH_SECONDS: u64 = 5;

/// Most bytes read of one document.
pub const DOCUMENT_BYTES: usize = 1_048_576;

/// Why a document could not be fetched. Carries no secret: the documents are public.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct FetchError {
    /// What was fetched.
    pub url: String,
    /// What went wrong.
    pub reason: String,
}

/// Something that fetches a public document by its URL.
#[async_trait]
pub trait FetchKeys: Send + Sync {
    /// The bytes of the document at `url`.
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError>;
}

/// Fetches over HTTP: https anywhere, plain http on loopback only.
#[derive(Debug, Default)]
pub struct HttpFetch {
    // Two clients, because the one for https reads the machine's certificate store, which a machine that only ever asks
    // its own development issuer need not have.
    loopback: OnceLock<Result<reqwest::Client, String>>,
    remote: OnceLock<Result<reqwest::Client, String>>,
}

impl HttpFetch {
    /// A fetcher; nothing is connected before the first fetch.
    pub fn new() -> Self {
        Self::default()
    }

    fn client(&self, loopback: bool) -> Result<&reqwest::Client, String> {
        let cell = if loopback { &self.loopback } else { &self.remote };
        cell.get_or_init(|| build(loopback)).as_ref().map_err(Clone::clone)
    }
}

/// Chooses the one TLS implementation of this program for every HTTP client in the process. Call it before building a
/// `reqwest::Client`, which panics without; calling it again does nothing.
pub fn install_tls() {
    // A second installation is refused and harmless: some provider is in place then.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn build(loopback: bool) -> Result<reqwest::Client, String> {
    install_tls();
    let builder = reqwest::Client::builder()
        .timeout(Duration::from_secs(FETCH_SECONDS))
        .redirect(reqwest::redirect::Policy::none());
    let builder = if loopback { builder.no_proxy().tls_certs_only([]) } else { builder.https_only(true) };
    builder.build().map_err(|error| format!("no HTTP client: {error}"))
}

#[async_trait]
impl FetchKeys for HttpFetch {
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        let failed = |reason: String| FetchError { url: url.to_owned(), reason };
        if !is_safe_url(url) {
            return Err(failed("not an https URL; plain http is for loopback only".into()));
        }
        let client = self.client(is_loopback_http(url)).map_err(failed)?;
        let mut response = client.get(url).send().await.map_err(|error| failed(error.without_url().to_string()))?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(failed(format!("answered {}", response.status())));
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(error.without_url().to_string()))? {
            if bytes.len() + chunk.len() > DOCUMENT_BYTES {
                return Err(failed(format!("longer than {DOCUMENT_BYTES} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// Whether keys may be fetched from here: https, or plain http to this machine.
pub(crate) fn is_safe_url(text: &str) -> bool {
    is_loopback_http(text)
        || reqwest::Url::parse(text).is_ok_and(|url| url.scheme() == "https" && url.host_str().is_some())
}

fn is_loopback_http(text: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(text) else { return false };
    // `host_str` keeps the brackets of an IPv6 address.
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    url.scheme() == "http" && (loopback || host == "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;

    #[test]
    fn plain_http_is_for_loopback_only() {
        for (url, safe) in [
            ("https://id.example/jwks", true),
            ("http://127.0.0.1:8484/issuer/jwks.json", true),
            ("http://[::1]:8484/", true),
            ("http://localhost/", true),
            ("http://id.example/jwks", false),
            ("http://127.0.0.1.evil.example/", false),
            ("http://localhost.evil.example/", false),
            ("http://127.0.0.1@evil.example/", false),
            ("file:///etc/passwd", false),
            ("urn:a", false),
            ("", false),
        ] {
            assert_eq!(is_safe_url(url), safe, "{url}");
        }
    }

    async fn serve() -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new()
            .route("/keys", get(|| async { "{}" }))
            .route("/missing", get(|| async { (StatusCode::NOT_FOUND, "no") }))
            .route("/moved", get(|| async { (StatusCode::FOUND, [("location", "/keys")], "") }))
            .route("/large", get(|| async { vec![b' '; DOCUMENT_BYTES + 1] }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    #[tokio::test]
    async fn documents_come_over_loopback_within_limits() {
        let base = serve().await;
        let fetch = HttpFetch::new();
        assert_eq!(fetch.fetch(&format!("{base}/keys")).await.expect("the document"), b"{}");
        for (path, reason) in [("missing", "404"), ("moved", "302"), ("large", "longer than 1048576 bytes")] {
            let error = fetch.fetch(&format!("{base}/{path}")).await.expect_err(path);
            assert!(error.reason.contains(reason), "{path}: {error}");
        }
        let error = fetch.fetch("http://id.example/keys").await.expect_err("not safe");
        assert!(error.reason.contains("https"), "{error}");
    }
}
