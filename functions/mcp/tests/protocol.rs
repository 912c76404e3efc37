//! MCP over HTTP: the protocol versions, what is tolerated, and what is refused in which words.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use serde_json::{Value, json};
use support::{BODY_BYTES, call, request, start};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

#[tokio::test]
async fn a_bare_call_works() {
    let server = start().await;
    let answer = server.call("echo", r#"{"a":"b"}"#).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.header("content-type").starts_with("application/json"));
    let result = &answer.json()["result"];
    let wire = json!({ "ok": true, "data": { "a": "b" } });
    assert_eq!(result["structuredContent"], wire);
    assert_eq!(result["content"], json!([{ "type": "text", "text": wire.to_string() }]));
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn a_refusal_of_a_tool_is_a_result_marked_as_error() {
    let server = start().await;
    let result = server.call("refuse", "{}").await.json()["result"].clone();
    let wire = json!({ "ok": false, "error": { "code": "conflict", "message": "not now", "issues": ["run_ended"] } });
    assert_eq!(result["structuredContent"], wire);
    assert_eq!(result["content"][0]["text"], wire.to_string());
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn a_state_that_cannot_be_is_no_refusal_of_a_tool() {
    let server = start().await;
    let answer = server.call("break", "{}").await.json();
    assert_eq!(answer["error"]["code"], -32_603);
    assert_eq!(answer["result"], Value::Null);
}

#[tokio::test]
async fn versions_with_initialize_are_negotiated_and_served() {
    let server = start().await;
    for (asked, agreed) in [
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // Older and unknown ones are offered the newest that has `initialize`.
        ("2024-11-05", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let answer = server.rpc("initialize", initialize(asked)).await;
        assert_eq!(answer.status, 200, "{asked}: {}", answer.text);
        let result = &answer.json()["result"];
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "procession");
        assert_eq!(result["instructions"], "Echo first.");
        assert_eq!(result["capabilities"], json!({ "tools": {} }));
        assert_eq!(answer.header("mcp-session-id"), "", "stateless");
    }
    for version in ["2025-06-18", "2025-11-25"] {
        for (method, params) in
            [("ping", json!({})), ("tools/list", json!({})), ("tools/call", json!({ "name": "echo" }))]
        {
            let answer =
                server.send(server.post(request(method, params)).header("mcp-protocol-version", version)).await;
            assert_eq!(answer.status, 200, "{version} {method}: {}", answer.text);
            let result = answer.json();
            assert!(result["result"].is_object(), "{version} {method}: {result}");
            assert_eq!(result["result"].get("resultType"), None, "{version} {method}");
        }
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let answer = server.send(server.post(initialized).header("mcp-protocol-version", version)).await;
        assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{version}");
    }
}

/// A request of the version without `initialize`: everything about the client is in its own `_meta`.
fn modern(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

#[tokio::test]
async fn the_version_without_initialize_is_served() {
    let server = start().await;
    let send = async |method: &str, name: Option<&str>, params: Value| {
        let mut post = server.post(modern(method, params)).header("mcp-protocol-version", "2026-07-28");
        post = post.header("mcp-method", method);
        if let Some(name) = name {
            post = post.header("mcp-name", name);
        }
        server.send(post).await
    };
    let answer = send("server/discover", None, json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let result = answer.json()["result"].clone();
    assert_eq!(result["supportedVersions"], json!(["2025-06-18", "2025-11-25", "2026-07-28"]), "{result}");
    let answer = send("tools/list", None, json!({})).await;
    assert_eq!(answer.json()["result"]["tools"].as_array().map(Vec::len), Some(4), "{}", answer.text);
    let answer = send("tools/call", Some("echo"), json!({ "name": "echo", "arguments": { "a": 1.10 } })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.json()["result"]["structuredContent"]["data"]["a"].to_string(), "1.1");
    assert_eq!(answer.json()["result"]["resultType"], "complete");
    // The headers that a gateway may route by must agree with the body.
    let answer = send("tools/call", Some("whoami"), json!({ "name": "echo" })).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    let answer = send("no/such", None, json!({})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!(-32601)), "{}", answer.text);
    assert_eq!(server.ran(), 1);
}

#[tokio::test]
async fn an_unknown_version_is_400_and_told_the_served_ones() {
    let server = start().await;
    for version in ["1999-01-01", "2024-11-05", "latest", ""] {
        let answer = server.send(server.post(call("echo", "{}")).header("mcp-protocol-version", version)).await;
        assert_eq!(answer.status, 400, "{version}");
        let message = answer.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(message.contains("2025-06-18, 2025-11-25, 2026-07-28"), "{version}: {message}");
    }
    let body = modern("tools/call", json!({ "name": "echo" })).replace("2026-07-28", "2030-01-01");
    let post = server.post(body).header("mcp-protocol-version", "2030-01-01");
    let answer = server.send(post.header("mcp-method", "tools/call").header("mcp-name", "echo")).await;
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert!(answer.text.contains("2026-07-28"), "{}", answer.text);
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn malformed_json_is_a_parse_error() {
    let server = start().await;
    for body in ["", "{", "not json", "{\"jsonrpc\":\"2.0\",}", "{\"a\":1}x"] {
        let answer = server.send(server.post(body)).await;
        let json = answer.json();
        assert_eq!((answer.status, &json["error"]["code"], &json["id"]), (400, &json!(-32700), &Value::Null), "{body}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_told_why() {
    let server = start().await;
    for (body, code) in [
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[1]}}"#, -32602),
    ] {
        let answer = server.send(server.post(body)).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(code)), "{body}: {}", answer.text);
    }
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn unknown_methods_and_tools_have_their_codes() {
    let server = start().await;
    for method in ["no/such", "resources/list", "prompts/list", "logging/setLevel", "completion/complete"] {
        let params = json!({ "level": "info", "ref": { "type": "ref/prompt", "name": "x" },
                             "argument": { "name": "a", "value": "b" } });
        let answer = server.rpc(method, params).await;
        assert_eq!(answer.json()["error"]["code"], -32601, "{method}: {}", answer.text);
    }
    let answer = server.call("no_such", "{}").await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32602)), "{}", answer.text);
    let answer = server.rpc("tools/call", json!({ "arguments": {} })).await;
    assert!(answer.json()["error"]["code"].as_i64().is_some(), "{}", answer.text);
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn a_call_without_an_id_is_a_notification_and_runs_nothing() {
    let server = start().await;
    let answer = server.send(server.post(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}"#)).await;
    assert_eq!((answer.status, answer.text.as_str()), (202, ""));
    assert_eq!(server.ran(), 0);
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let server = start().await;
    for id in ["0", "-1", "9223372036854775807", "\"a\"", "\"\"", "\"1\""] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let answer = server.send(server.post(body)).await;
        assert_eq!(answer.json()["id"].to_string(), id, "{}", answer.text);
    }
}

#[tokio::test]
async fn accept_is_read_generously_and_content_type_is_not() {
    let server = start().await;
    let post = || server.http.post(server.mcp()).bearer_auth(server.token()).body(call("echo", "{}"));
    let json = || post().header("content-type", "application/json; charset=utf-8");
    for (accept, status) in [
        (None, 200),
        (Some("*/*"), 200),
        (Some("application/json"), 200),
        (Some("application/*;q=0.5"), 200),
        (Some("text/event-stream, APPLICATION/JSON"), 200),
        (Some("text/event-stream"), 406),
        (Some("text/html"), 406),
        (Some("application/json;q=0"), 406),
    ] {
        let request = match accept {
            Some(accept) => json().header("accept", accept),
            None => json(),
        };
        let answer = server.send(request).await;
        assert_eq!(answer.status, status, "{accept:?}: {}", answer.text);
    }
    for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/json5")] {
        let request = match kind {
            Some(kind) => post().header("content-type", kind),
            None => post(),
        };
        let answer = server.send(request).await;
        assert_eq!(answer.status, 415, "{kind:?}");
        assert!(answer.text.contains("application/json"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_names_the_limit() {
    let server = start().await;
    let padded = |bytes: usize| {
        let empty = call("echo", r#"{"x":""}"#);
        call("echo", &format!(r#"{{"x":"{}"}}"#, "x".repeat(bytes - empty.len())))
    };
    assert_eq!(server.send(server.post(padded(BODY_BYTES))).await.status, 200);
    let answer = server.send(server.post(padded(BODY_BYTES + 1))).await;
    assert_eq!(answer.status, 413);
    assert!(answer.text.contains(&format!("has {} bytes", BODY_BYTES + 1)), "{}", answer.text);
    assert!(answer.text.contains(&format!("at most {BODY_BYTES} bytes")), "{}", answer.text);
    assert_eq!(server.ran(), 1);
}

#[tokio::test]
async fn a_body_of_unknown_length_is_stopped_at_the_limit() {
    let server = start().await;
    let mut stream =
        tokio::net::TcpStream::connect(server.base.trim_start_matches("http://")).await.expect("connected");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n",
        server.token()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    // One more than fits; the server answers without waiting for the end, which never comes.
    for _ in 0..=BODY_BYTES / 0x4000 {
        stream.write_all(chunk.as_bytes()).await.expect("sent");
    }
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).await.expect("an answer");
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains(&format!("at most {BODY_BYTES} bytes")), "{answer}");
}

#[tokio::test]
async fn tools_are_listed_with_their_schemas_and_hints() {
    let server = start().await;
    let tools = server.rpc("tools/list", json!({})).await.json()["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["echo", "refuse", "whoami", "break"]);
    assert_eq!(tools[0]["title"], "A test tool");
    assert_eq!(tools[0]["inputSchema"]["type"], "object");
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    let hints = json!({ "title": "A test tool", "readOnlyHint": true, "destructiveHint": false,
                        "idempotentHint": true, "openWorldHint": false });
    assert_eq!(tools[0]["annotations"], hints);
}

#[tokio::test]
async fn numbers_keep_their_digits_in_every_protocol_version() {
    let server = start().await;
    let sent = r#"{"a":1.10,"b":12345678901234567890.123,"c":1e+400,"d":-0.0,"e":[100,1.0,0.1e-7],"f":{"g":18446744073709551616}}"#;
    let expected = format!(r#""structuredContent":{{"ok":true,"data":{sent}}}"#);
    let mirrored = serde_json::to_string(&format!(r#"{{"ok":true,"data":{sent}}}"#)).expect("JSON");
    for version in ["2025-06-18", "2025-11-25"] {
        let answer = server.send(server.post(call("echo", sent)).header("mcp-protocol-version", version)).await;
        assert!(answer.text.contains(&expected), "{version}: {}", answer.text);
        assert!(answer.text.contains(&mirrored), "{version}: {}", answer.text);
    }
    let body = modern("tools/call", json!({ "name": "echo" }))
        .replace(r#""name":"echo""#, &format!(r#""name":"echo","arguments":{sent}"#));
    let post = server.post(body).header("mcp-protocol-version", "2026-07-28");
    let answer = server.send(post.header("mcp-method", "tools/call").header("mcp-name", "echo")).await;
    assert!(answer.text.contains(&expected), "{}", answer.text);
    // A `+` is put into an exponent that has no sign; nothing else of a number changes.
    let answer = server.call("echo", r#"{"c":1E400}"#).await;
    assert!(answer.text.contains(r#""data":{"c":1e+400}"#), "{}", answer.text);
}
