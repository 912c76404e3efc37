//! The endpoint around the tools: who is let in, what a GET can do, and the protocols that are spoken.

use serde_json::{Value, json};

use crate::harness::{Client, Options, Org, Server, anonymous, item, refused_as, scenarios};

scenarios! {
    any: [
        a_mail_scanners_get_decides_nothing,
        nobody_is_told_where_to_get_a_token,
        authentication_comes_before_everything,
        bad_tokens_are_refused,
        one_canonical_address_everywhere,
        clients_of_each_protocol_version_are_served,
        what_is_not_a_message_is_refused_as_json_rpc,
        a_strange_origin_is_refused,
        describe_is_true_to_what_is_offered,
        every_tool_explains_itself,
    ],
    own: [a_body_over_the_limit_is_refused, the_command_makes_tokens, a_token_of_another_server_is_refused, the_log_tells_no_secrets],
}

const SIGN: &str = "
inputs: { secret: { type: string, optional: true } }
steps:
  - { id: sign, approve: Sign., person: boss, next: work }
  - { id: work, agent: Work., output: { text: { type: string, optional: true } } }
  - { id: end, finish: signed }
";

fn a_mail_scanners_get_decides_nothing(org: &Org) {
    let run = org.run("signing", SIGN, json!({}));
    let view = org.staff.view(&run);
    let call = &item(&view, "sign")["decide"]["arguments"];
    let query = format!(
        "runId={}&workItemId={}&snapshot={}&decision=approved&requestId=x",
        call["runId"].as_str().unwrap(),
        call["workItemId"].as_str().unwrap(),
        call["snapshot"].as_str().unwrap()
    );
    let mcp = org.server.mcp();
    let base = org.server.base();
    for url in
        [mcp.clone(), format!("{mcp}?{query}"), format!("{mcp}/decide?{query}"), format!("{base}/decide?{query}")]
    {
        for method in ["GET", "HEAD"] {
            let stranger = anonymous(method, &url, None).status;
            assert!((400..500).contains(&stranger), "{method} {url}: {stranger}");
            let own = org.staff.request(method, &url).status;
            assert!((400..500).contains(&own), "{method} {url}: {own}");
        }
    }
    assert_eq!(org.staff.view(&run), view);
    assert_eq!(org.staff.request("GET", &mcp).status, 405, "a client that asks for a stream is told there is none");
    assert_eq!(org.staff.request("DELETE", &mcp).status, 405);
    assert_eq!(org.staff.request("GET", &mcp).headers["allow"], "POST");
}

fn nobody_is_told_where_to_get_a_token(org: &Org) {
    let refused = anonymous("POST", &org.server.mcp(), Some(message("describe")));
    assert_eq!(refused.status, 401);
    let told = refused.headers["www-authenticate"].to_str().unwrap().to_owned();
    assert!(told.starts_with("Bearer "), "{told}");
    let url = told.split("resource_metadata=\"").nth(1).and_then(|t| t.split('"').next()).expect("where to look");
    let metadata = anonymous("GET", url, None);
    assert_eq!(metadata.status, 200);
    assert!(!metadata.json()["authorization_servers"].as_array().unwrap().is_empty());
}

fn message(tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
}

fn authentication_comes_before_everything(org: &Org) {
    let mcp = org.server.mcp();
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(anonymous(method, &mcp, None).status, 401, "{method}: before 405");
    }
    for tool in ["describe", "get_work", "no_such_tool"] {
        assert_eq!(anonymous("POST", &mcp, Some(message(tool))).status, 401, "{tool}");
    }
    for method in ["initialize", "tools/list", "ping", "server/discover"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        assert_eq!(anonymous("POST", &mcp, Some(body)).status, 401, "{method}");
    }
    assert_eq!(anonymous("POST", &mcp, Some(json!("not a message"))).status, 401);
    assert_eq!(anonymous("GET", &format!("{}/healthz", org.server.base()), None).status, 200);
}

fn bad_tokens_are_refused(org: &Org) {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let token = org.staff.token().to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    assert_eq!(parts.len(), 3);
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    let none = format!("{}.{}.", part(json!({ "alg": "none", "typ": "JWT" })), parts[1]);
    claims["operator"] = json!(true);
    let raised = format!("{}.{}.{}", parts[0], part(claims), parts[2]);
    let unsigned = format!("{}.{}.", parts[0], parts[1]);
    for bad in ["x", "", none.as_str(), raised.as_str(), unsigned.as_str(), &token[..token.len() - 2]] {
        let answer = org.staff.with_token(bad.to_owned()).post(&[], message("describe").to_string().into_bytes());
        assert_eq!(answer.status, 401, "{bad}: {}", answer.text());
        assert!(answer.headers.contains_key("www-authenticate"));
    }
    let answer =
        org.staff.post(&[("authorization", &format!("Basic {token}"))], message("describe").to_string().into());
    assert_eq!(answer.status, 401);
}

fn one_canonical_address_everywhere(org: &Org) {
    let (mcp, base) = (org.server.mcp(), org.server.base());
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let document = anonymous("GET", &format!("{base}{path}"), None).json();
        assert_eq!(document["resource"], mcp, "{path}");
        assert!(!document["resource"].as_str().unwrap().ends_with('/'));
        // Another spelling is not another resource: there is nothing at it.
        assert_eq!(anonymous("GET", &format!("{base}{path}/"), None).status, 404, "{path}/");
    }
    assert_eq!(anonymous("POST", &format!("{mcp}/"), Some(message("describe"))).status, 404);
    for method in ["GET", "POST"] {
        assert_eq!(org.staff.request(method, &format!("{mcp}/")).status, 404, "{method}");
    }
}

fn clients_of_each_protocol_version_are_served(org: &Org) {
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "blackbox", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answer = org.agent.post(&[], body.to_string().into_bytes());
        // The youngest version has no handshake; a client of the older ones gets the version that it asked for.
        if version != "2026-07-28" {
            assert_eq!(answer.json()["result"]["protocolVersion"], version, "{}", answer.text());
            assert!(answer.headers.get("mcp-session-id").is_none(), "there are no sessions");
        }
        let mut call = message("describe");
        let headers = [("mcp-protocol-version", version), ("mcp-method", "tools/call"), ("mcp-name", "describe")];
        call["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "blackbox", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let used = if version == "2026-07-28" { &headers[..] } else { &headers[..1] };
        let answer = org.agent.post(used, call.to_string().into_bytes());
        assert_eq!(answer.status, 200, "{version}: {}", answer.text());
        assert_eq!(answer.json()["result"]["structuredContent"]["data"]["version"], "core-2", "{version}");
    }
    let unknown = org.agent.post(&[("mcp-protocol-version", "1999-01-01")], message("describe").to_string().into());
    assert_eq!(unknown.status, 400);
}

fn what_is_not_a_message_is_refused_as_json_rpc(org: &Org) {
    for (body, code) in [
        ("{", -32700),
        ("", -32700),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe","arguments":7}}"#, -32602),
    ] {
        let answer = org.agent.post(&[], body.as_bytes().to_vec());
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {}", answer.text());
    }
    // No arguments are no arguments.
    let answer = org.agent.rpc("tools/call", json!({ "name": "describe" }));
    assert_eq!(answer["structuredContent"]["ok"], true);
}

fn a_body_over_the_limit_is_refused() {
    use std::io::{Read, Write};
    let org = Org::new(&Server::shared(), "bodies");
    let base = org.server.base();
    let address = base.strip_prefix("http://").unwrap();
    // Announced and not sent: a client that sends on while it is refused may never see the answer.
    let limit = org.agent.ok("describe", json!({}))["maxUploadBytes"].as_u64().unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         accept: application/json\r\ncontent-length: {}\r\n\r\n",
        org.agent.token(),
        limit * 2
    );
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
}

fn a_strange_origin_is_refused(org: &Org) {
    let body = message("describe").to_string().into_bytes();
    assert_eq!(org.agent.post(&[("origin", "https://evil.example")], body.clone()).status, 403);
    assert_eq!(org.agent.post(&[("origin", "null")], body.clone()).status, 403);
    assert_eq!(org.agent.post(&[("content-type", "text/plain")], body).status, 415, "no form of a web page gets in");
}

fn describe_is_true_to_what_is_offered(org: &Org) {
    let described = org.outsider.ok("describe", json!({}));
    assert_eq!((&described["protocol"], &described["version"]), (&json!("agentprocess"), &json!("core-2")));
    assert!(described["leaseSeconds"].as_u64().unwrap() >= 1);
    assert!(described["maxUploadBytes"].as_u64().unwrap() >= 1);
    assert!(described["limits"]["runDataBytes"].as_u64().unwrap() >= 1);
    assert!(described["person"]["format"].is_string());
    let listed = org.agent.rpc("tools/list", json!({}));
    let names: Vec<&Value> = listed["tools"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(described["tools"].as_array().unwrap().iter().collect::<Vec<_>>(), names);
    // The lease that is told is the lease that is given.
    let run = org.run("leased", "steps:\n  - { id: a, agent: Do. }\n  - { id: b, finish: f }", json!({}));
    let claimed = org.agent.claim(&run, "a");
    let seconds =
        (super::waits::millis(&claimed["expiresAt"]) - super::waits::millis(&run["run"]["startedAt"])) / 1_000;
    let told = i64::try_from(described["leaseSeconds"].as_u64().unwrap()).unwrap();
    assert!((told..told + 20).contains(&seconds), "{seconds}, not {told}");
}

fn every_tool_explains_itself(org: &Org) {
    let listed = org.agent.rpc("tools/list", json!({}));
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["title"].as_str().is_some_and(|t| t.len() > 3), "{name}");
        assert!(tool["description"].as_str().is_some_and(|t| t.len() > 80), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        let writes = tool["inputSchema"]["properties"].get("requestId").is_some();
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{name}");
        assert_eq!(tool["annotations"]["idempotentHint"], true, "{name}");
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            assert!(schema["description"].is_string(), "{name}.{argument} is not described");
        }
    }
}

fn a_token_of_another_server_is_refused() {
    let (one, two) = (Server::shared(), Server::brief());
    let (ours, theirs) = (Org::new(&one, "tokens"), Org::new(&two, "tokens"));
    let stranger = ours.operator.with_token(theirs.operator.token().to_owned());
    assert_eq!(stranger.post(&[], message("describe").to_string().into_bytes()).status, 401);
}

fn the_log_tells_no_secrets() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "log");
    let run = org.run("signing", SIGN, json!({ "secret": "a-secret-input" }));
    org.staff.decide(&run, "sign", "approved", json!({ "note": "a-secret-note" }));
    let claimed = org.agent.claim(&run, "work");
    org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "a-secret-progress" }));
    let _ = org.agent.submit(&claimed, json!({ "text": "a-secret-output" }), json!({ "summary": "a-secret-summary" }));
    let _ = org.agent.exact("submit", json!({ "a-secret-argument": "a-secret-value" }));
    org.agent.upload("a-secret-file", b"a-secret-content");
    org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "a-secret-reason" }));
    let log = server.log();
    assert!(log.lines().any(|l| l.contains("renew") && l.contains(run["run"]["id"].as_str().unwrap())), "{log}");
    let (claim, bearer) = (claimed["token"].as_str().unwrap(), org.agent.token());
    for secret in ["a-secret", claim, bearer, claim.rsplit('.').next().unwrap(), bearer.rsplit('.').next().unwrap()] {
        assert!(!log.contains(secret), "the log tells {secret}");
    }
    for line in log.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("not a JSON line: {line}"));
    }
}

fn the_command_makes_tokens() {
    let org = Org::new(&Server::shared(), "command");
    let by_command = |client: &Client| client.with_token(org.server.token_by_command(&client.who));
    let operator = by_command(&org.operator);
    let source = crate::harness::file("signing", SIGN);
    operator.ok("import_process", json!({ "source": source }));
    operator.ok("publish_process", json!({ "name": "signing", "roles": { "boss": "staff" } }));
    let run = by_command(&org.agent).start("signing", json!({}));
    assert_eq!(run["run"]["startedBy"], org.agent.subject());
    refused_as(by_command(&org.outsider).try_decide(&run, "sign", "approved", json!({})), "forbidden");
    let view = by_command(&org.staff).decide(&run, "sign", "approved", json!({}));
    assert_eq!(view["data"]["steps"]["sign"]["by"], org.staff.subject());
}
