//! The request log: what it holds, and that no secret gets into it even at the finest level.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use serde_json::{Value, json};
use std::io::Write;
use std::sync::{Arc, Mutex};
use support::{call, start};
use tracing::level_filters::LevelFilter;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const SECRET: &str = "SECRET-7f3a";

/// One test only: the subscriber is the process's.
#[tokio::test]
async fn a_line_tells_who_called_what_and_no_secret() {
    let sink = Sink::default();
    let writer = sink.clone();
    let subscriber = logs::subscriber(move || writer.clone(), LevelFilter::TRACE);
    tracing::subscriber::set_global_default(subscriber).expect("the first");
    let server = start().await;
    let secret = format!(r#"{{"{SECRET}":"{SECRET}"}}"#);
    let token = server.token();
    server.call("echo", &secret).await;
    server.call("refuse", &secret).await;
    server.call(SECRET, &secret).await;
    server.rpc(SECRET, json!({ "x": SECRET })).await;
    server.send(server.post(SECRET)).await;
    server.send(server.post(call("echo", &secret)).header("mcp-protocol-version", SECRET)).await;
    server.send(server.http.post(server.mcp()).bearer_auth(SECRET).body(SECRET)).await;
    server.send(server.http.post(server.mcp()).bearer_auth(server.token_with(&json!({ "kind": SECRET })))).await;
    let notification = json!({ "jsonrpc": "2.0", "method": SECRET, "params": { "x": SECRET } }).to_string();
    server.send(server.post(notification)).await;

    let text = String::from_utf8(sink.0.lock().expect("lock").clone()).expect("text");
    assert!(!text.contains(SECRET), "{text}");
    for part in token.split('.') {
        assert!(!text.contains(part), "a part of the token in {text}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let requests: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 9, "{text}");
    let echo = requests[0];
    for (name, value) in [
        ("method", json!("tools/call")),
        ("tool", json!("echo")),
        ("kind", json!("agent")),
        ("subject", json!("a_screener")),
        ("org", json!("acme")),
        ("run", json!("r_1")),
        ("outcome", json!("ok")),
        ("status", json!(200)),
        ("storage_calls", json!(3)),
    ] {
        assert_eq!(echo[name], value, "{name} in {echo}");
    }
    assert!(echo["ms"].as_f64().is_some_and(|ms| ms > 0.0), "{echo}");
    assert_eq!(requests[1]["outcome"], "conflict");
    let statuses: Vec<_> = requests.iter().map(|line| line["status"].as_u64().unwrap_or_default()).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 400, 400, 401, 401, 202]);
}
