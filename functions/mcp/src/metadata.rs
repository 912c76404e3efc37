//! What a client that has no token yet may know: the document of RFC 9728. Public, and the same for everybody.

use crate::config::EndpointConfig;
use serde_json::{Value, json};

/// The document at the root of the host.
pub(crate) const ROOT_PATH: &str = "/.well-known/oauth-protected-resource";

/// The document of the endpoint's own path.
pub(crate) const MCP_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// The document. `resource` is the configured address, letter by letter, whatever host the request named.
pub(crate) fn document(config: &EndpointConfig) -> Value {
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
