//! The endpoint behind a function URL: events as Lambda sends them, answers as it takes them, by the conversion that the
//! function itself uses.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

#[path = "../src/event.rs"]
mod event;
mod support;

use std::sync::Arc;

use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, Context, LambdaEvent, Service};
use mcp::EndpointConfig;
use serde_json::{Value, json};
use support::{CANONICAL, ISSUER, call};

/// What a function may answer with, in bytes.
const ANSWER_BYTES: usize = 6_291_556;

/// A function URL's event.
fn said(method: &str, path: &str, headers: &Value, body: Option<(&str, bool)>) -> Value {
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

/// What the endpoint with this configuration answers the event with.
async fn answer_of(change: impl FnOnce(&mut EndpointConfig), event: Value) -> Value {
    // From text, as it comes from Lambda.
    let request: LambdaRequest = serde_json::from_str(&event.to_string()).unwrap();
    let (app, _) = support::app(change).await;
    let mut function = Adapter::from(mcp::router(Arc::new(app)));
    let answer = function.call(event::plain(LambdaEvent::new(request, Context::default()))).await.unwrap();
    serde_json::to_value(answer).unwrap()
}

async fn answer(event: Value) -> Value {
    answer_of(|_| {}, event).await
}

/// A tool's call by somebody who may.
fn called(tool: &str, arguments: &Value) -> Value {
    let token = format!("Bearer {}", support::token(support::now(), &json!({})));
    let headers = json!({ "content-type": "application/json", "accept": "application/json", "authorization": token });
    said("POST", "/mcp", &headers, Some((&call(tool, &arguments.to_string()), false)))
}

fn body(answer: &Value) -> Value {
    assert_eq!(answer["isBase64Encoded"], false);
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn health_and_metadata_are_answered_to_anybody() {
    let answered = answer(said("GET", "/healthz", &json!({}), None)).await;
    assert_eq!((&answered["statusCode"], &answered["body"]), (&json!(200), &json!("ok\n")));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answered = answer(said("GET", path, &json!({}), None)).await;
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
    let answered = answer(said("POST", "/mcp", &headers, Some((body, false)))).await;
    assert_eq!(answered["statusCode"], 401, "{answered}");
    let challenge = answered["headers"]["www-authenticate"].as_str().unwrap();
    assert!(challenge.contains("https://processes.example/.well-known/oauth-protected-resource/mcp"), "{challenge}");
    // A body that Lambda has encoded is no other body.
    let answered = answer(said("POST", "/mcp", &headers, Some(("e30=", true)))).await;
    assert_eq!(answered["statusCode"], 401, "{answered}");
    assert_eq!(answer(said("GET", "/elsewhere", &json!({}), None)).await["statusCode"], 404);
}

#[tokio::test]
async fn where_to_get_a_token_is_found_by_the_path_alone_and_never_from_what_was_called() {
    // Everything that could name another address.
    let called = json!({
        "host": "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", "x-forwarded-port": "81",
        "x-forwarded-prefix": "/evil", "forwarded": "host=evil.example;proto=http", "x-original-url": "/evil"
    });
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answered = answer(said("GET", path, &called, None)).await;
        assert_eq!(answered["headers"]["content-type"], "application/json");
        let metadata = body(&answered);
        assert_eq!((&metadata["resource"], &metadata["authorization_servers"]), (&json!(CANONICAL), &json!([ISSUER])));
        assert!(!answered.to_string().contains("evil"), "{answered}");
        // A page of any origin may read what is public.
        assert_eq!(answered["headers"]["access-control-allow-origin"], "*");
        let answered = answer(said("HEAD", path, &called, None)).await;
        assert_eq!((&answered["statusCode"], answered["body"].as_str().unwrap_or("")), (&json!(200), ""));
        let answered = answer(said("OPTIONS", path, &called, None)).await;
        assert_eq!(
            (&answered["statusCode"], &answered["headers"]["allow"]),
            (&json!(204), &json!("GET, HEAD, OPTIONS"))
        );
        for method in ["POST", "PUT", "DELETE"] {
            assert_eq!(answer(said(method, path, &called, None)).await["statusCode"], 405, "{method}");
        }
    }
    let answered = answer(said("POST", "/mcp", &called, None)).await;
    assert_eq!(answered["statusCode"], 401);
    assert!(!answered.to_string().contains("evil"), "{answered}");

    // Reached under a path of its own, it is found under that.
    let under = |config: &mut EndpointConfig| config.canonical_url = "https://own.example/work/mcp".to_owned();
    let own = "/.well-known/oauth-protected-resource/work/mcp";
    let answered = answer_of(under, said("GET", own, &json!({}), None)).await;
    assert_eq!(body(&answered)["resource"], "https://own.example/work/mcp");
    assert_eq!(answer(said("GET", own, &json!({}), None)).await["statusCode"], 404);
}

#[tokio::test]
async fn a_call_is_answered_however_its_body_travels() {
    let plain = called("echo", &json!({ "text": "grüße \u{1f600} \"quoted\" \\" }));
    let answered = answer(plain.clone()).await;
    assert_eq!(answered["statusCode"], 200, "{answered}");
    let expected = body(&answered);
    assert_eq!(expected["result"]["structuredContent"]["data"]["text"], "grüße \u{1f600} \"quoted\" \\");
    let mut encoded = plain;
    encoded["body"] = json!(base64(encoded["body"].as_str().unwrap().as_bytes()));
    encoded["isBase64Encoded"] = json!(true);
    assert_eq!(body(&answer(encoded).await), expected);
    // What is missing or nonsense is refused, not a failure of the function.
    for text in [None, Some(""), Some("{"), Some("[]")] {
        let mut event = called("echo", &json!({}));
        match text {
            Some(text) => event["body"] = json!(text),
            None => drop(event.as_object_mut().unwrap().remove("body")),
        }
        assert_eq!(answer(event).await["statusCode"], 400, "{text:?}");
    }
}

#[tokio::test]
async fn no_address_ends_the_function() {
    for path in [
        "",
        "mcp",
        "//",
        "//evil.example/mcp",
        "/\\evil",
        "/%",
        "/%zz",
        "/%00",
        "/\u{0}",
        "/ä ö",
        "/a b",
        "/[",
        "/{x}",
        "/`^|<>\"",
        "@evil.example/mcp",
        ":99999999/",
        "http://evil.example/mcp",
        "/../..//..",
        "/mcp/",
        "/MCP",
        "?x",
        "#x",
    ] {
        let answered = answer(said("GET", path, &json!({}), None)).await;
        assert_eq!(answered["statusCode"], if path == "mcp" { 401 } else { 404 }, "{path:?} {answered}");
    }
    for query in ["a=b", "<>", "\"", " ", "ä", "%", "%zz", "#", "?", "\u{0}"] {
        let mut event = called("whoami", &json!({}));
        event["rawQueryString"] = json!(query);
        event["queryStringParameters"] = json!({ "a": query });
        assert_eq!(answer(event).await["statusCode"], 200, "{query:?}");
    }
    for (name, values) in [
        ("host", ["", " ", "a b", "a/b?c#d", "[", "x:y", "ä.example"]),
        ("x-forwarded-proto", ["", " ", "a b", "gopher", "javascript", "[", ":"]),
    ] {
        for value in values {
            let mut event = called("whoami", &json!({}));
            event["headers"][name] = json!(value);
            assert_eq!(answer(event).await["statusCode"], 200, "{name}: {value:?}");
        }
    }
    let mut event = called("whoami", &json!({}));
    event["requestContext"]["stage"] = json!("a b/../?");
    event["headers"].as_object_mut().unwrap().remove("host");
    assert_eq!(answer(event).await["statusCode"], 200);
}

#[tokio::test]
async fn a_header_that_was_sent_twice_comes_as_one_and_is_no_token() {
    let mut event = called("whoami", &json!({}));
    let token = event["headers"]["authorization"].as_str().unwrap().to_owned();
    event["headers"]["authorization"] = json!(format!("{token},{token}"));
    assert_eq!(answer(event).await["statusCode"], 401);
}

#[tokio::test]
async fn other_methods_and_pages_of_other_origins_are_told_so() {
    let token = called("whoami", &json!({}))["headers"]["authorization"].clone();
    for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answered = answer(said(method, "/mcp", &json!({ "authorization": token }), None)).await;
        assert_eq!((&answered["statusCode"], &answered["headers"]["allow"]), (&json!(405), &json!("POST")), "{method}");
        assert_eq!(answer(said(method, "/mcp", &json!({}), None)).await["statusCode"], 401, "{method}");
    }
    let asking = |origin: &str| json!({ "origin": origin, "access-control-request-method": "POST" });
    let answered = answer(said("OPTIONS", "/mcp", &asking("https://portal.example"), None)).await;
    assert_eq!(answered["statusCode"], 204);
    assert_eq!(answered["headers"]["access-control-allow-origin"], "https://portal.example");
    // A page reads the challenge under the name that it arrives by.
    assert!(
        answered["headers"]["access-control-expose-headers"].to_string().contains("x-amzn-remapped-www-authenticate")
    );
    let answered = answer(said("OPTIONS", "/mcp", &asking("https://evil.example"), None)).await;
    assert_eq!(answered["statusCode"], 403);
    assert!(answered["headers"].get("access-control-allow-origin").is_none());
    let mut event = called("whoami", &json!({}));
    event["headers"]["origin"] = json!("https://evil.example");
    assert_eq!(answer(event).await["statusCode"], 403);
}

/// The answer to a call whose result holds so many quotes and letters, and its bytes as the function hands it over.
async fn large(quotes: usize, letters: usize) -> (Value, usize) {
    let limited = |config: &mut EndpointConfig| config.max_answer_bytes = Some(ANSWER_BYTES);
    let answered = answer_of(limited, called("echo", &json!({ "quotes": quotes, "letters": letters }))).await;
    assert_eq!(answered["statusCode"], 200);
    let bytes = answered.to_string().len();
    (body(&answered), bytes)
}

#[tokio::test]
async fn an_answer_that_lambda_would_not_take_is_a_clear_error_and_no_other_is_lost() {
    // A letter stands in it twice. A quote is `\"` in JSON: twice two bytes, four of which are escaped in the one copy and
    // twice four in the other.
    for (quotes, letters) in [(0, 3_130_000), (510_000, 0), (200_000, 1_900_000)] {
        let (answered, bytes) = large(quotes, letters).await;
        let text = answered["result"]["structuredContent"]["data"]["text"].as_str().unwrap();
        assert_eq!(text.len(), quotes + letters);
        assert!(bytes <= ANSWER_BYTES && bytes > ANSWER_BYTES - 200_000, "{quotes} {letters}: {bytes}");
    }
    for (quotes, letters) in [(0, 3_145_778), (530_000, 0), (1_000_000, 3_000_000)] {
        let (answered, bytes) = large(quotes, letters).await;
        let message = answered["error"]["message"].as_str().unwrap();
        assert!(message.contains("Ask for less") && message.contains("6291556"), "{message}");
        assert!(bytes < 2_000);
    }
    let answered = answer(called("echo", &json!({ "quotes": 0, "letters": 7_000_000 }))).await;
    assert!(body(&answered)["result"].is_object(), "elsewhere there is no such limit");
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let held = chunk.iter().chain([&0; 2]).take(3).fold(0usize, |held, byte| (held << 8) | usize::from(*byte));
        for place in 0..4 {
            let digit = char::from(ALPHABET[(held >> (18 - 6 * place)) & 63]);
            out.push(if place <= chunk.len() { digit } else { '=' });
        }
    }
    out
}
