//! What a client that has no token yet may know: the document of RFC 9728. Public, and the same for everybody.
//!
//! It must suffice to find the way to a token: what stands before a function renames the header that would lead here.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use serde_json::{Value, json};

use crate::config::{EndpointConfig, metadata_url};

/// The document at the root of the host.
pub(crate) const ROOT_PATH: &str = "/.well-known/oauth-protected-resource";

/// The document of the endpoint's own path.
const MCP_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// What may be done with the document.
const METHODS: &str = "GET, HEAD, OPTIONS";

/// Serves the document where a client looks that knows the endpoint's address: at the root, for `/mcp`, and for the path of
/// the configured address, should another name lead here under a path of its own. Any page may read it.
pub(crate) fn routes(config: &EndpointConfig) -> Router {
    let text = document(config).to_string();
    let own = metadata_url(&config.canonical_url).and_then(|url| Some(url.parse::<Uri>().ok()?.path().to_owned()));
    let served = move |method: Method| std::future::ready(answer(&method, &text));
    let elsewhere = served.clone();
    let fallback = move |method: Method, uri: Uri| {
        let found = own.as_deref() == Some(uri.path());
        async move { if found { elsewhere(method).await } else { StatusCode::NOT_FOUND.into_response() } }
    };
    Router::new().route(ROOT_PATH, any(served.clone())).route(MCP_PATH, any(served)).fallback(fallback)
}

fn answer(method: &Method, text: &str) -> Response {
    let mut response = match *method {
        Method::GET | Method::HEAD => Body::from(text.to_owned()).into_response(),
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    };
    let headers = response.headers_mut();
    if matches!(*method, Method::GET | Method::HEAD) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    } else {
        headers.insert(header::ALLOW, HeaderValue::from_static(METHODS));
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("mcp-protocol-version"));
    response
}

/// The document. `resource` is the configured address, letter by letter, whatever host the request named.
fn document(config: &EndpointConfig) -> Value {
    let mut document = json!({
        "resource": config.canonical_url,
        "authorization_servers": config.authorization_servers,
        "bearer_methods_supported": ["header"],
        "resource_name": "Procession",
    });
    if !config.scopes.is_empty()
        && let Some(object) = document.as_object_mut()
    {
        object.insert("scopes_supported".to_owned(), json!(config.scopes));
    }
    document
}
