//! How the endpoint is reached, and its limits. Checked once, before anything is served.

use axum::http::Uri;
use serde::{Deserialize, Serialize};

/// Most bytes of a request's body, unless configured otherwise: a file of 10 MiB in base64, and its envelope.
pub const BODY_BYTES: usize = 14_680_064;

/// Longest that a client may take to send a request's body, in seconds.
pub const BODY_SECONDS: u64 = 30;

/// How the endpoint is reached, and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EndpointConfig {
    /// The endpoint's one address, such as `https://processes.example/mcp`: the `resource` of the metadata, letter by
    /// letter. Never taken from a request.
    pub canonical_url: String,
    /// The addresses of the authorization servers whose tokens are taken.
    pub authorization_servers: Vec<String>,
    /// Scopes to name in the metadata; none by default.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Origins of browser clients that may call, such as `https://portal.example`. A request without an `Origin` does not
    /// come from a browser's page and passes.
    #[serde(default)]
    pub allowed_origins: Vec<String>,
    /// Whether pages served from this machine may call too; for the development server.
    #[serde(default)]
    pub loopback_origins: bool,
    /// Accepted `Host` names, with or without a port; empty accepts every one, for use behind a gateway that has checked.
    #[serde(default)]
    pub allowed_hosts: Vec<String>,
    /// Most bytes of a request's body.
    #[serde(default = "body_bytes")]
    pub max_body_bytes: usize,
    /// Most bytes of an answer, counted as a function hands it over: as text in JSON once more. Without a limit when left
    /// out, as where answers go straight to the client.
    #[serde(default)]
    pub max_answer_bytes: Option<usize>,
}

fn body_bytes() -> usize {
    BODY_BYTES
}

impl EndpointConfig {
    /// An endpoint at this address, with every default.
    pub fn new(canonical_url: impl Into<String>) -> Self {
        EndpointConfig {
            canonical_url: canonical_url.into(),
            authorization_servers: Vec::new(),
            scopes: Vec::new(),
            allowed_origins: Vec::new(),
            loopback_origins: false,
            allowed_hosts: Vec::new(),
            max_body_bytes: BODY_BYTES,
            max_answer_bytes: None,
        }
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// Every problem, each naming its key and what to do.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        if metadata_url(&self.canonical_url).is_none() {
            problems.push(format!(
                "canonicalUrl: `{}` is not an absolute http or https URL without query and fragment",
                self.canonical_url
            ));
        }
        for origin in &self.allowed_origins {
            if crate::origin::parse(origin).is_none() {
                problems
                    .push(format!("allowedOrigins: `{origin}` is not an origin; write it as https://portal.example"));
            }
        }
        if self.max_body_bytes == 0 {
            problems.push("maxBodyBytes: 0 would refuse everything; give the limit in bytes".to_owned());
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Where the metadata of a resource is found: the well-known path goes between its host and its own path.
pub(crate) fn metadata_url(canonical: &str) -> Option<String> {
    let uri: Uri = canonical.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
    if uri.query().is_some() || canonical.contains('#') {
        return None;
    }
    let path = uri.path().trim_end_matches('/');
    Some(format!("{scheme}://{authority}{}{path}", crate::metadata::ROOT_PATH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_lies_between_host_and_path() {
        for (canonical, expected) in [
            ("https://p.example/mcp", Some("https://p.example/.well-known/oauth-protected-resource/mcp")),
            ("http://127.0.0.1:8484/mcp", Some("http://127.0.0.1:8484/.well-known/oauth-protected-resource/mcp")),
            ("https://p.example", Some("https://p.example/.well-known/oauth-protected-resource")),
            ("https://p.example/mcp?x", None),
            ("https://p.example/mcp#x", None),
            ("https://u@p.example/mcp", None),
            ("/mcp", None),
            ("ftp://p.example/mcp", None),
            ("", None),
        ] {
            assert_eq!(metadata_url(canonical).as_deref(), expected, "{canonical}");
        }
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let config = EndpointConfig {
            allowed_origins: vec!["portal.example".into(), "https://fine.example".into()],
            max_body_bytes: 0,
            ..EndpointConfig::new("nowhere")
        };
        let problems = config.check().expect_err("refused");
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert_eq!(EndpointConfig::new("https://p.example/mcp").check(), Ok(()));
    }
}
