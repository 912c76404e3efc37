//! The function itself: its binary, in the surroundings that Lambda gives it.
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on fails, and this is how")]

#[path = "support/lambda.rs"]
mod lambda;

use serde_json::{Value, json};

const FUNCTION: &str = env!("CARGO_BIN_EXE_mcp-function");

fn event(method: &str, path: &str) -> Value {
    let http = json!({ "method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1" });
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": { "host": "a.lambda-url.eu-central-1.on.aws", "content-type": "application/json" },
        "requestContext": { "http": http, "requestId": "f0a1", "stage": "$default", "timeEpoch": 1 },
        "isBase64Encoded": false
    })
}

#[tokio::test]
async fn it_starts_and_answers() {
    let metadata = "/.well-known/oauth-protected-resource/mcp";
    let events = [event("GET", "/healthz"), event("POST", "/mcp"), event("GET", metadata)];
    let (ended, asked) = lambda::run(FUNCTION, &[], &events).await;
    let status: Vec<(&str, &Value)> = ended.iter().map(|(how, said)| (how.as_str(), &said["statusCode"])).collect();
    assert_eq!(status, [("response", &json!(200)), ("response", &json!(401)), ("response", &json!(200))]);
    let metadata: Value = serde_json::from_str(ended[2].1["body"].as_str().expect("a body")).expect("JSON");
    assert_eq!(metadata["resource"], "https://p.example/mcp", "as the secret says");
    assert_eq!(metadata["authorization_servers"], json!(["https://id.example"]));
    assert_eq!(asked, ["secretsmanager.GetSecretValue"; 2], "nothing else is asked before there is need");
    let own = [("PROCESSION_URL", "https://own.example/mcp")];
    let (ended, _) = lambda::run(FUNCTION, &own, &events[2..]).await;
    assert!(ended[0].1["body"].as_str().expect("a body").contains("https://own.example/mcp"), "as is set");
}

#[tokio::test]
async fn no_address_that_anybody_calls_ends_it() {
    let mut odd = event("GET", "/[\u{0}");
    odd["rawQueryString"] = json!("<\"> \u{1}");
    odd["headers"]["host"] = json!("[evil");
    odd["headers"]["x-forwarded-proto"] = json!("not a scheme");
    let (ended, _) = lambda::run(FUNCTION, &[], &[odd, event("GET", "/healthz")]).await;
    let status: Vec<(&str, &Value)> = ended.iter().map(|(how, said)| (how.as_str(), &said["statusCode"])).collect();
    assert_eq!(status, [("response", &json!(404)), ("response", &json!(200))]);
}

#[tokio::test]
async fn it_says_everything_that_it_is_not_told() {
    let said = lambda::refusal(FUNCTION, &[("PROCESSION_LEASE_SECONDS", "0")]).await;
    for name in ["PROCESSION_TABLE", "PROCESSION_ISSUERS", "AWS_REGION", "PROCESSION_LEASE_SECONDS"] {
        assert!(said.contains(name), "{name} in {said}");
    }
}
