//! One identity that calls tools.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::{HTTP, Identity, RUNTIME, Server, check, graphs, record};

/// The refusal of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    pub code: String,
    pub message: String,
    pub issues: Vec<String>,
}

/// What a tool answers.
pub type Answer = Result<Value, ToolError>;

/// An answer of HTTP.
#[derive(Debug)]
pub struct Http {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl Http {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request id that nobody used.
pub fn fresh() -> String {
    let bytes: [u8; 16] = rand::random();
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// An identity that calls a server.
#[derive(Clone)]
pub struct Client {
    server: Arc<Server>,
    pub who: Identity,
    token: Arc<OnceLock<String>>,
}

impl Client {
    pub fn new(server: &Arc<Server>, who: Identity) -> Client {
        Client { server: server.clone(), who, token: Arc::default() }
    }

    /// The same identity with a token that was made elsewhere.
    pub fn with_token(&self, token: String) -> Client {
        Client { server: self.server.clone(), who: self.who.clone(), token: Arc::new(OnceLock::from(token)) }
    }

    /// The subject, as `by` records it.
    pub fn subject(&self) -> &str {
        &self.who.subject
    }

    /// The bearer token.
    pub fn token(&self) -> &str {
        self.token.get_or_init(|| self.server.token(&self.who))
    }

    /// Calls a tool with exactly these arguments. `None` when the answer was lost on the way.
    pub fn try_exact(&self, tool: &str, arguments: &Value) -> Option<Answer> {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
        });
        let http = self.try_post(&self.server.try_mcp()?, &[], body.to_string().into_bytes()).ok()?;
        assert_eq!(http.status, 200, "{tool} {arguments}: {}", http.text());
        let message = http.json();
        let result = &message["result"];
        let structured = &result["structuredContent"];
        assert!(structured.is_object(), "{tool} {arguments}: no structured content in {message}");
        record::append(tool, arguments, structured);
        let text = result["content"][0]["text"].as_str().expect("the result as text");
        assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), structured, "{tool}: the text says something else");
        let ok = structured["ok"].as_bool().expect("ok is true or false");
        assert_eq!(result["isError"], json!(!ok), "{tool}: isError and ok disagree");
        check::against_schemas(self, tool, arguments, structured);
        Some(if ok {
            check::consistent(tool, &structured["data"]);
            graphs::consistent(tool, &structured["data"]);
            Ok(structured["data"].clone())
        } else {
            let error = &structured["error"];
            let issues = error["issues"].as_array().into_iter().flatten();
            Err(ToolError {
                code: error["code"].as_str().unwrap().to_owned(),
                message: error["message"].as_str().unwrap().to_owned(),
                issues: issues.map(|i| i.as_str().unwrap().to_owned()).collect(),
            })
        })
    }

    /// Calls a tool with exactly these arguments.
    #[track_caller]
    pub fn exact(&self, tool: &str, arguments: Value) -> Answer {
        self.try_exact(tool, &arguments).unwrap_or_else(|| panic!("{tool}: no answer"))
    }

    /// Calls a tool; a write that has no request id gets a new one. A write that succeeds is repeated at once and must
    /// have the same answer.
    #[track_caller]
    pub fn call(&self, tool: &str, mut arguments: Value) -> Answer {
        let write = check::takes_request_id(self, tool);
        if write && arguments.get("requestId").is_none() {
            arguments["requestId"] = json!(fresh());
        }
        let answer = self.exact(tool, arguments.clone());
        if write && answer.is_ok() {
            let again = self.exact(tool, arguments);
            let bare = |answer: &Answer| answer.clone().map(super::without_urls);
            assert_eq!(bare(&again), bare(&answer), "{tool}: repeated, it had another answer");
        }
        answer
    }

    /// Calls a tool that must not refuse.
    #[track_caller]
    pub fn ok(&self, tool: &str, arguments: Value) -> Value {
        match self.call(tool, arguments) {
            Ok(data) => data,
            Err(error) => panic!("{tool} was refused: {error:?}"),
        }
    }

    /// Starts a run.
    #[track_caller]
    pub fn start(&self, process: &str, inputs: Value) -> Value {
        self.ok("start_run", json!({ "process": process, "inputs": inputs }))
    }

    /// The run view.
    #[track_caller]
    pub fn view(&self, run: &Value) -> Value {
        self.ok("get_run", json!({ "runId": run["run"]["id"] }))
    }

    /// Everything that get_work lists, all pages.
    #[track_caller]
    pub fn work(&self) -> Vec<Value> {
        self.pages("get_work", json!({ "limit": 100 }))
    }

    /// All items of a list, page after page.
    #[track_caller]
    pub fn pages(&self, tool: &str, arguments: Value) -> Vec<Value> {
        let (mut items, mut arguments) = (Vec::new(), arguments);
        for _ in 0..PAGES {
            let page = self.ok(tool, arguments.clone());
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            if page["nextCursor"].is_null() {
                return items;
            }
            arguments["cursor"] = page["nextCursor"].clone();
        }
        panic!("{tool}: more than {PAGES} pages");
    }

    /// What get_work lists of one run.
    #[track_caller]
    pub fn work_of(&self, run: &Value) -> Vec<Value> {
        self.work().into_iter().filter(|w| w["runId"] == run["run"]["id"]).collect()
    }

    /// Claims a step.
    #[track_caller]
    pub fn try_claim(&self, run: &Value, step: &str) -> Answer {
        self.call("claim", json!({ "runId": run["run"]["id"], "stepId": step }))
    }

    /// Claims a step that must be free.
    #[track_caller]
    pub fn claim(&self, run: &Value, step: &str) -> Value {
        self.try_claim(run, step).unwrap_or_else(|e| panic!("claim {step} was refused: {e:?}"))
    }

    /// Submits the work of a claim: `more` may add evidence, a summary, a route and its reason.
    #[track_caller]
    pub fn submit(&self, claimed: &Value, output: Value, more: Value) -> Answer {
        let mut arguments = json!({ "token": claimed["token"], "output": output, "summary": "Done as asked." });
        merge(&mut arguments, more);
        self.call("submit", arguments)
    }

    /// Claims a step and submits its work, which must be accepted.
    #[track_caller]
    pub fn work_on(&self, run: &Value, step: &str, output: Value, more: Value) -> Value {
        let claimed = self.claim(run, step);
        self.submit(&claimed, output, more).unwrap_or_else(|e| panic!("submit of {step} was refused: {e:?}"))
    }

    /// Decides the open work item of a step, after reading the run afresh.
    #[track_caller]
    pub fn try_decide(&self, run: &Value, step: &str, decision: &str, more: Value) -> Answer {
        let view = self.view(run);
        let mut arguments = super::item(&view, step)["decide"]["arguments"].clone();
        arguments.as_object_mut().unwrap().shift_remove("requestId");
        arguments["decision"] = json!(decision);
        merge(&mut arguments, more);
        self.call("decide", arguments)
    }

    /// Decides the open work item of a step; it must not be refused.
    #[track_caller]
    pub fn decide(&self, run: &Value, step: &str, decision: &str, more: Value) -> Value {
        self.try_decide(run, step, decision, more).unwrap_or_else(|e| panic!("{decision} {step} was refused: {e:?}"))
    }

    /// Uploads a file.
    #[track_caller]
    pub fn upload(&self, name: &str, bytes: &[u8]) -> Value {
        use base64::Engine;
        let content = base64::engine::general_purpose::STANDARD.encode(bytes);
        self.ok("upload", json!({ "fileName": name, "contentType": "text/plain", "contentBase64": content }))
    }

    /// Sends any JSON-RPC message and gives its result.
    #[track_caller]
    pub fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let http = self.post(&[], body.to_string().into_bytes());
        assert_eq!(http.status, 200, "{method}: {}", http.text());
        http.json()["result"].clone()
    }

    /// POSTs this body with the client's token and these headers in place of the usual ones.
    #[track_caller]
    pub fn post(&self, headers: &[(&str, &str)], body: Vec<u8>) -> Http {
        self.try_post(&self.server.mcp(), headers, body).expect("an answer")
    }

    fn try_post(&self, url: &str, headers: &[(&str, &str)], body: Vec<u8>) -> reqwest::Result<Http> {
        let authorization = format!("Bearer {}", self.token());
        let usual = [
            ("authorization", authorization.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let kept = usual.iter().filter(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        let mut request = HTTP.post(url).body(body);
        for (name, value) in kept.chain(headers) {
            request = request.header(*name, *value);
        }
        answer(request)
    }

    /// Any request with the client's token.
    #[track_caller]
    pub fn request(&self, method: &str, url: &str) -> Http {
        let method = method.parse().unwrap();
        answer(HTTP.request(method, url).bearer_auth(self.token())).expect("an answer")
    }
}

/// A request that carries no token.
#[track_caller]
pub fn anonymous(method: &str, url: &str, body: Option<Value>) -> Http {
    let mut request = HTTP.request(method.parse().unwrap(), url);
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_string());
    }
    answer(request).expect("an answer")
}

fn answer(request: reqwest::RequestBuilder) -> reqwest::Result<Http> {
    RUNTIME.block_on(async {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Http { status, headers, body: response.bytes().await?.to_vec() })
    })
}

/// Most pages that a list is read for.
const PAGES: usize = 200;

fn merge(arguments: &mut Value, more: Value) {
    let more: Map<String, Value> = match more {
        Value::Object(more) => more,
        Value::Null => return,
        other => panic!("not arguments: {other}"),
    };
    for (name, value) in more {
        arguments[name] = value;
    }
}
