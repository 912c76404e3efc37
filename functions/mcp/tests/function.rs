//! The endpoint behind a function URL: events as Lambda sends them, answers as it takes them, by the conversion that the
//! function itself uses.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod support;

use std::sync::Arc;

use identity::{Config, HttpFetch, IssuerConfig, Verifier};
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Context, LambdaEvent, Service};
use mcp::{App, EndpointConfig};
use serde_json::{Value, json};
use support::{CANONICAL, EchoTools, ISSUER};

fn router() -> axum::Router {
    let issuers = vec![IssuerConfig::new(ISSUER, "procession")];
    let verifier = Verifier::new(Config { issuers }, Arc::new(HttpFetch::new())).unwrap();
    let config = EndpointConfig { authorization_servers: vec![ISSUER.to_owned()], ..EndpointConfig::new(CANONICAL) };
    mcp::router(Arc::new(App { config, verifier, tools: Arc::new(EchoTools::default()) }))
}

/// A function URL's event.
fn event(method: &str, path: &str, headers: &Value, body: Option<(&str, bool)>) -> Value {
    let host = "abcdefghij.lambda-url.eu-central-1.on.aws";
    let mut event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": { "host": host, "x-forwarded-proto": "https", "x-forwarded-port": "443" },
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "abcdefghij",
            "domainName": host,
            "domainPrefix": "abcdefghij",
            "http": {
                "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "test"
            },
            "requestId": "f0a1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "02/Mar/2026:08:15:30 +0000",
            "timeEpoch": 1_772_439_330_000_u64
        },
        "isBase64Encoded": body.is_some_and(|(_, base64)| base64)
    });
    for (name, value) in headers.as_object().unwrap() {
        event["headers"][name] = value.clone();
    }
    if let Some((body, _)) = body {
        event["body"] = json!(body);
    }
    event
}

/// What the function answers the event with.
async fn answer(event: Value) -> Value {
    // From text, as it comes from Lambda.
    let request: LambdaRequest = serde_json::from_str(&event.to_string()).unwrap();
    let mut function = Adapter::from(router());
    let answer = function.call(LambdaEvent::new(request, Context::default())).await.unwrap();
    serde_json::to_value(answer).unwrap()
}

#[tokio::test]
async fn health_and_metadata_are_answered_to_anybody() {
    let answered = answer(event("GET", "/healthz", &json!({}), None)).await;
    assert_eq!((&answered["statusCode"], &answered["body"]), (&json!(200), &json!("ok\n")));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answered = answer(event("GET", path, &json!({}), None)).await;
        assert_eq!(answered["statusCode"], 200, "{path}");
        let metadata: Value = serde_json::from_str(answered["body"].as_str().unwrap()).unwrap();
        // From the settings, never from the host that was called.
        assert_eq!(metadata["resource"], CANONICAL);
        assert_eq!(metadata["authorization_servers"], json!([ISSUER]));
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_answered() {
    let headers = json!({ "content-type": "application/json", "accept": "application/json" });
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answered = answer(event("POST", "/mcp", &headers, Some((body, false)))).await;
    assert_eq!(answered["statusCode"], 401, "{answered}");
    let challenge = answered["headers"]["www-authenticate"].as_str().unwrap();
    assert!(challenge.contains("https://processes.example/.well-known/oauth-protected-resource/mcp"), "{challenge}");
    // A body that Lambda has encoded is no other body.
    let answered = answer(event("POST", "/mcp", &headers, Some(("e30=", true)))).await;
    assert_eq!(answered["statusCode"], 401, "{answered}");
    assert_eq!(answer(event("GET", "/elsewhere", &json!({}), None)).await["statusCode"], 404);
}
