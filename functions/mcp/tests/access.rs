//! Who gets in: tokens, methods, origins, hosts, and the documents that need no token.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use serde_json::json;
use support::{CANONICAL, ISSUER, start, start_with};

const METADATA: &str = "https://processes.example/.well-known/oauth-protected-resource/mcp";

#[tokio::test]
async fn without_a_token_every_method_is_401_and_told_where_to_get_one() {
    let server = start().await;
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "POST"] {
        let method: reqwest::Method = method.parse().expect("a method");
        let answer = server.send(server.http.request(method.clone(), server.mcp())).await;
        assert_eq!(answer.status, 401, "{method}");
        assert_eq!(answer.header("www-authenticate"), format!("Bearer resource_metadata=\"{METADATA}\""), "{method}");
    }
}

#[tokio::test]
async fn with_a_token_only_post_is_served() {
    let server = start().await;
    for method in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"] {
        let method: reqwest::Method = method.parse().expect("a method");
        let request = server.http.request(method.clone(), server.mcp()).header("accept", "text/event-stream");
        let answer = server.send(request.bearer_auth(server.token())).await;
        assert_eq!((answer.status, answer.header("allow")), (405, "POST"), "{method}");
    }
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn a_get_does_nothing_whatever_it_carries() {
    let server = start().await;
    for path in ["/mcp", "/mcp?method=tools/call&name=echo", "/mcp/tools/call", "/decide?decision=approved"] {
        let request = server.http.get(format!("{}{path}", server.base)).bearer_auth(server.token());
        let answer = server.send(request.body(support::call("echo", "{}"))).await;
        assert!(matches!(answer.status, 404 | 405), "{path}: {}", answer.status);
    }
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn a_bad_token_is_named_by_its_fault() {
    let server = start().await;
    let now = server.now();
    let header = |changes| format!("Bearer {}", server.token_with(&changes));
    for (authorization, words) in [
        ("Basic dTpw".to_owned(), "malformed"),
        ("Bearer nonsense".to_owned(), "malformed"),
        ("Bearer eyJhbGciOiJub25lIn0.e30.".to_owned(), "not signed"),
        (header(json!({ "exp": now - 3600 })), "expired"),
        (header(json!({ "nbf": now + 3600 })), "not valid yet"),
        (header(json!({ "aud": "other" })), "another audience"),
        (header(json!({ "iss": "https://evil.example" })), "not trusted"),
        (header(json!({ "sub": " " })), "subject"),
        (header(json!({ "org": null })), "organization"),
    ] {
        let request = server.http.post(server.mcp()).header("content-type", "application/json");
        let request = request.header("authorization", &authorization).body(support::call("echo", "{}"));
        let answer = server.send(request).await;
        assert_eq!(answer.status, 401, "{words}");
        let challenge = answer.header("www-authenticate");
        assert!(challenge.starts_with(&format!("Bearer resource_metadata=\"{METADATA}\", error=\"invalid_token\"")));
        assert!(challenge.contains(words), "{words} in {challenge}");
        assert!(answer.json()["error"]["message"].as_str().expect("a message").contains(words), "{}", answer.text);
    }
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn two_authorization_headers_are_refused() {
    let server = start().await;
    let request =
        server.post(support::call("echo", "{}")).header("authorization", format!("Bearer {}", server.token()));
    let answer = server.send(request).await;
    assert_eq!(answer.status, 401, "{}", answer.text);
}

#[tokio::test]
async fn the_token_in_the_query_is_no_token() {
    let server = start().await;
    let url = format!("{}?access_token={}", server.mcp(), server.token());
    let request = server.http.post(url).header("content-type", "application/json");
    assert_eq!(server.send(request.body(support::call("echo", "{}"))).await.status, 401);
}

#[tokio::test]
async fn the_tool_sees_the_verified_caller() {
    let server = start().await;
    let answer = server.call("whoami", "{}").await;
    let expected = json!({ "ok": true, "data": { "org": "acme", "subject": "a_screener", "kind": "agent" } });
    assert_eq!(answer.json()["result"]["structuredContent"], expected);
}

#[tokio::test]
async fn only_listed_origins_may_call() {
    let server = start().await;
    for (origin, status) in [
        (None, 200),
        (Some("https://portal.example"), 200),
        (Some("https://evil.example"), 403),
        (Some("http://localhost:3000"), 403),
        (Some("null"), 403),
    ] {
        let mut request = server.post(support::request("ping", json!({})));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let answer = server.send(request).await;
        assert_eq!(answer.status, status, "{origin:?}: {}", answer.text);
        let shared = if status == 200 { origin.unwrap_or_default() } else { "" };
        assert_eq!(answer.header("access-control-allow-origin"), shared, "{origin:?}");
    }
    let get = server.http.get(server.mcp()).header("origin", "https://evil.example");
    assert_eq!(server.send(get).await.status, 403);
}

#[tokio::test]
async fn pages_of_this_machine_may_call_a_development_server() {
    let server = start_with(|config| config.loopback_origins = true).await;
    for (origin, status) in [("http://localhost:6274", 200), ("http://127.0.0.1:1", 200), ("http://evil.example", 403)]
    {
        let answer = server.send(server.post(support::request("ping", json!({}))).header("origin", origin)).await;
        assert_eq!(answer.status, status, "{origin}");
    }
}

#[tokio::test]
async fn a_browser_may_ask_first() {
    let server = start().await;
    let ask = |origin: &str| {
        let request = server.http.request(reqwest::Method::OPTIONS, server.mcp()).header("origin", origin);
        request.header("access-control-request-method", "POST")
    };
    let answer = server.send(ask("https://portal.example")).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), "https://portal.example");
    assert_eq!(answer.header("access-control-allow-methods"), "POST");
    assert!(answer.header("access-control-allow-headers").contains("authorization"));
    assert_eq!(server.send(ask("https://evil.example")).await.status, 403);
}

#[tokio::test]
async fn only_listed_hosts_are_served_when_any_is_listed() {
    let server = start_with(|config| config.allowed_hosts = vec!["processes.example".into()]).await;
    let ask = |host: &str| server.post(support::request("ping", json!({}))).header("host", host);
    assert_eq!(server.send(ask("processes.example")).await.status, 200);
    assert_eq!(server.send(ask("evil.example")).await.status, 403);
}

#[tokio::test]
async fn the_resource_is_the_configured_address_letter_by_letter() {
    let server = start_with(|config| config.scopes = vec!["runs".into()]).await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let request = server.http.get(format!("{}{path}", server.base)).header("host", "evil.example");
        let answer = server.send(request).await;
        let expected = json!({ "resource": CANONICAL, "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"], "resource_name": "Procession", "scopes_supported": ["runs"] });
        assert_eq!((answer.status, answer.json()), (200, expected), "{path}");
    }
}

#[tokio::test]
async fn health_needs_no_token() {
    let server = start().await;
    assert_eq!(server.send(server.http.get(format!("{}/healthz", server.base))).await.status, 200);
}
