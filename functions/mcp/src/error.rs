//! The one place where codes meet the wire: what a tool refuses, what JSON-RPC refuses, and what HTTP refuses.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Map, Value, json};

pub use run::Code;

/// A tool's refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// Which kind.
    pub code: Code,
    /// What is wrong and what to do next.
    pub message: String,
    /// Each single fault; left out on the wire when empty.
    pub issues: Vec<String>,
}

impl ToolError {
    /// A refusal without single faults.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        ToolError { code, message: message.into(), issues: Vec::new() }
    }

    /// The same refusal with its single faults.
    #[must_use]
    pub fn with_issues(self, issues: Vec<String>) -> Self {
        ToolError { issues, ..self }
    }
}

/// A tool's whole result on the wire. Moves the data, which may be large, instead of copying it.
pub(crate) fn result(outcome: Result<Value, ToolError>) -> Value {
    let mut wire = Map::new();
    wire.insert("ok".to_owned(), Value::Bool(outcome.is_ok()));
    match outcome {
        Ok(data) => wire.insert("data".to_owned(), data),
        Err(ToolError { code, message, issues }) => {
            let mut error = Map::new();
            error.insert("code".to_owned(), Value::from(code.as_str()));
            error.insert("message".to_owned(), Value::from(message));
            if !issues.is_empty() {
                error.insert("issues".to_owned(), Value::from(issues));
            }
            wire.insert("error".to_owned(), Value::Object(error))
        }
    };
    Value::Object(wire)
}

/// JSON-RPC: what a client is told when the server met a state that cannot be.
pub(crate) const BROKEN: &str = "the server met a state that should not be and changed nothing; its operator finds it in \
                                 the log. Repeating the call with the same requestId is safe";
/// JSON-RPC: the body is not JSON.
pub(crate) const PARSE_ERROR: i32 = -32_700;
/// JSON-RPC: the body is JSON, but not one request.
pub(crate) const INVALID_REQUEST: i32 = -32_600;
/// JSON-RPC: the parameters do not fit the method.
pub(crate) const INVALID_PARAMS: i32 = -32_602;

/// An HTTP answer that carries a JSON-RPC error, for everything that is refused before the protocol sees it.
pub(crate) fn refusal(status: StatusCode, id: &Value, code: i32, message: &str) -> Response<Body> {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// 401, with the way to a token (RFC 6750, RFC 9728). A request that brought no token is told no fault.
pub(crate) fn unauthorized(metadata_url: &str, error: &identity::AuthError) -> Response<Body> {
    let mut challenge = format!("Bearer resource_metadata=\"{metadata_url}\"");
    let (status, fault) = match error {
        identity::AuthError::Missing => (StatusCode::UNAUTHORIZED, None),
        // Not the token's fault: with 401 a client would throw a good token away.
        identity::AuthError::KeysUnavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, None),
        _ => (StatusCode::UNAUTHORIZED, Some("invalid_token")),
    };
    let message = match error {
        identity::AuthError::KeysUnavailable(_) => {
            "the issuer's keys cannot be fetched now; repeat the request later".to_owned()
        }
        other => other.to_string(),
    };
    if let Some(fault) = fault {
        // The texts hold no quotes beyond backticks, and nothing of the token.
        let description: String = message.chars().filter(|c| !matches!(c, '"' | '\\') && c.is_ascii()).collect();
        challenge.push_str(&format!(", error=\"{fault}\", error_description=\"{description}\""));
    }
    let mut response = refusal(status, &Value::Null, INVALID_REQUEST, &message);
    if status == StatusCode::UNAUTHORIZED
        && let Ok(value) = HeaderValue::try_from(challenge)
    {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_one_of_two_forms() {
        assert_eq!(result(Ok(json!({ "a": 1 }))).to_string(), r#"{"ok":true,"data":{"a":1}}"#);
        let error = ToolError::new(Code::NotFound, "no such run");
        assert_eq!(
            result(Err(error.clone())),
            json!({ "ok": false, "error": { "code": "not_found", "message": "no such run" } })
        );
        let error = error.with_issues(vec!["a".into()]);
        assert_eq!(result(Err(error))["error"]["issues"], json!(["a"]));
    }

    #[test]
    fn codes_are_told_apart() {
        let mut words: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Code::ALL.len());
    }
}
