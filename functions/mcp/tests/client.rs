//! A real MCP client against the endpoint.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod support;

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use support::start;

#[tokio::test]
async fn a_real_client_lists_and_calls() {
    let server = start().await;
    let config = StreamableHttpClientTransportConfig::with_uri(server.mcp()).auth_header(server.token());
    let transport = StreamableHttpClientTransport::with_client(server.http.clone(), config);
    let client = ().serve(transport).await.expect("initialized");
    let tools = client.list_all_tools().await.expect("listed");
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["echo", "refuse", "whoami", "break"]);
    for round in 0..20 {
        let Value::Object(arguments) = json!({ "round": round }) else { panic!("an object") };
        let request = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = client.call_tool(request).await.expect("called");
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.structured_content, Some(json!({ "ok": true, "data": { "round": round } })));
    }
    let refused = client.call_tool(CallToolRequestParams::new("refuse")).await.expect("called");
    assert_eq!(refused.is_error, Some(true));
    assert!(client.call_tool(CallToolRequestParams::new("no_such")).await.is_err());
    client.cancel().await.expect("ended");
    assert_eq!(server.ran(), 21);
}
