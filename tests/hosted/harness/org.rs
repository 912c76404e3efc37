//! An organization that nobody else uses, and what its members call.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Map, Value, json};
use store::keys;

use super::{Aws, fresh, stack};

/// Most repetitions of a call that is told to try again, or has no answer.
const REPEATS: usize = 10;

/// Who calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Who {
    /// The agent of this number.
    Agent(usize),
    /// A person of the group `staff`, and an operator.
    Olga,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// It was accepted.
    Done(Value),
    /// It was refused, with a code and issues.
    Refused(String, Vec<String>),
    /// There was no answer of the product's: HTTP said this.
    Lost(u16),
}

/// What was called, and how that ended.
#[derive(Debug, Clone)]
pub struct Answer {
    pub who: Who,
    pub tool: &'static str,
    pub arguments: Value,
    pub ended: Ended,
}

/// The tools that change nothing.
const READS: [&str; 2] = ["get_run", "list_runs"];

/// The group that every role is bound to.
const GROUP: &str = "staff";

/// An organization.
pub struct Org {
    pub name: String,
    pub aws: Aws,
    http: reqwest::Client,
    tokens: Mutex<HashMap<Who, String>>,
}

impl Org {
    pub fn new(hint: &str) -> Org {
        let name = format!("{hint}-{}", fresh());
        Org { name, aws: stack().aws(), http: stack().http(), tokens: Mutex::default() }
    }

    fn token(&self, who: Who) -> String {
        let mut tokens = self.tokens.lock().unwrap();
        tokens.entry(who).or_insert_with(|| token(&self.name, who)).clone()
    }

    /// Makes these members' tokens, so that they do not wait for each other later.
    pub fn invite(&self, agents: usize) {
        (0..agents).for_each(|n| drop(self.token(Who::Agent(n))));
    }

    /// Calls a tool with exactly these arguments.
    pub async fn exact(&self, who: Who, tool: &str, arguments: &Value) -> Ended {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
        });
        let request = self.http.post(&stack().mcp).bearer_auth(self.token(who)).body(body.to_string());
        let request = request.header("content-type", "application/json").header("accept", "application/json");
        let answer = request.send().await.unwrap_or_else(|e| panic!("{tool}: {e}"));
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        if status != 200 {
            assert!(status >= 500, "{tool}: {status} {text}");
            return Ended::Lost(status);
        }
        let message: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{tool}: {text}"));
        let result = &message["result"]["structuredContent"];
        match result["ok"].as_bool() {
            Some(true) => Ended::Done(without_urls(result["data"].clone())),
            Some(false) => {
                let error = &result["error"];
                let issues = error["issues"].as_array().into_iter().flatten();
                let issues = issues.map(|issue| issue.as_str().unwrap().to_owned()).collect();
                Ended::Refused(error["code"].as_str().unwrap().to_owned(), issues)
            }
            None => panic!("{tool} {arguments}: {text}"),
        }
    }

    /// Calls a tool once; a write under a new request id.
    pub async fn once(&self, who: Who, tool: &'static str, mut arguments: Value) -> Answer {
        if !READS.contains(&tool) {
            arguments["requestId"] = json!(fresh());
        }
        let ended = self.exact(who, tool, &arguments).await;
        Answer { who, tool, arguments, ended }
    }

    /// Makes the same call again.
    pub async fn again(&self, answer: &Answer) -> Ended {
        self.exact(answer.who, answer.tool, &answer.arguments).await
    }

    /// Makes the same call again for as long as it has no answer or is told to try again.
    pub async fn patient(&self, who: Who, tool: &str, arguments: &Value) -> Ended {
        for _ in 0..REPEATS {
            match self.exact(who, tool, arguments).await {
                Ended::Lost(_) => {}
                Ended::Refused(code, _) if code == "retry" => {}
                ended => return ended,
            }
        }
        panic!("{tool}: neither done nor refused after {REPEATS} calls")
    }

    /// Calls a tool that must not refuse.
    pub async fn ok(&self, who: Who, tool: &'static str, arguments: Value) -> Value {
        match self.once(who, tool, arguments).await.ended {
            Ended::Done(data) => data,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Publishes a process of this name, with the rest of its frontmatter.
    pub async fn publish(&self, name: &str, rest: &str) {
        let rest = rest.trim_matches('\n');
        let source = format!("---\nname: {name}\ndescription: What {name} is for.\n{rest}\n---\n\nIn plain words.\n");
        let imported = self.ok(Who::Olga, "import_process", json!({ "source": source })).await;
        let roles = imported["roles"].as_array().unwrap().iter();
        let roles: Map<String, Value> = roles.map(|role| (role.as_str().unwrap().to_owned(), json!(GROUP))).collect();
        self.ok(Who::Olga, "publish_process", json!({ "name": name, "roles": roles })).await;
    }

    /// Publishes a process and starts a run of it with these inputs. Gives the run's id.
    pub async fn run(&self, name: &str, rest: &str, inputs: Value) -> String {
        self.publish(name, rest).await;
        self.start(name, inputs, "live").await
    }

    /// Starts a run.
    pub async fn start(&self, name: &str, inputs: Value, mode: &str) -> String {
        let arguments = json!({ "process": name, "inputs": inputs, "mode": mode });
        let started = self.ok(Who::Agent(0), "start_run", arguments).await;
        started["run"]["id"].as_str().unwrap().to_owned()
    }

    /// The run view.
    pub async fn view(&self, run: &str) -> Value {
        let arguments = json!({ "runId": run });
        match self.patient(Who::Agent(0), "get_run", &arguments).await {
            Ended::Done(view) => view,
            other => panic!("get_run: {other:?}"),
        }
    }

    /// The run's state and outcome, and every step's state, as one short text.
    pub async fn states(&self, run: &str) -> String {
        let view = self.view(run).await;
        let plain = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let steps = view["steps"].as_array().unwrap().iter();
        let steps: Vec<String> = steps.map(|s| format!("{}={}", plain(&s["id"]), plain(&s["state"]))).collect();
        format!("{}/{} {}", plain(&view["run"]["state"]), plain(&view["run"]["outcome"]), steps.join(" "))
    }

    /// Claims a step and returns the token.
    pub async fn claim(&self, run: &str, step: &str) -> Value {
        self.ok(Who::Agent(0), "claim", json!({ "runId": run, "stepId": step })).await["token"].take()
    }

    /// Claims a step and submits its work.
    pub async fn work(&self, run: &str, step: &str) {
        let token = self.claim(run, step).await;
        self.ok(Who::Agent(0), "submit", submission(&token)).await;
    }

    /// The arguments of a decision on the run's open work item.
    pub async fn decision(&self, run: &str, decision: &str) -> Value {
        let view = self.view(run).await;
        let item = &view["workItems"][0];
        let mut arguments = json!({
            "runId": run, "workItemId": item["id"], "snapshot": item["snapshot"], "decision": decision,
        });
        if decision == "completed" {
            arguments["output"] = json!({});
        }
        arguments
    }

    /// The pieces of work that are listed for the group, of all runs of the organization.
    pub async fn listed(&self) -> usize {
        self.aws.partition(&keys::group_inbox(&self.name, GROUP)).await.len()
    }

    /// The run's stored journal: the tool of each entry. Every entry is at its place and there is one for each.
    pub async fn journal(&self, run: &str) -> Vec<String> {
        let items = self.aws.partition(&keys::run(&self.name, run)).await;
        let entries = items.iter().filter(|item| item["sk"]["S"].as_str().unwrap().starts_with("j/"));
        let mut tools = Vec::new();
        for (place, entry) in entries.enumerate() {
            let expected = keys::journal(&self.name, run, place as u64 + 1);
            assert_eq!(entry["sk"]["S"], expected.sort.as_str(), "the journal of {run} has a gap");
            let entry: Value = serde_json::from_str(entry["doc"]["S"].as_str().unwrap()).unwrap();
            tools.push(
                entry["tool"].as_str().unwrap_or_else(|| panic!("an entry without its tool: {entry}")).to_owned(),
            );
        }
        tools
    }
}

/// The arguments that submit the work of a claim.
pub fn submission(token: &Value) -> Value {
    json!({ "token": token, "output": {}, "summary": "Done as asked." })
}

fn token(org: &str, who: Who) -> String {
    let script = format!("{} \"$@\"", stack().token_command);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", "--org", org]);
    match who {
        Who::Agent(n) => command.args(["--kind", "agent", "--subject", &format!("a_{n}")]),
        Who::Olga => {
            command.args(["--kind", "person", "--subject", "olga@acme.example", "--group", GROUP, "--operator"])
        }
    };
    let output = command.output().unwrap();
    assert!(output.status.success(), "no token: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The same without links, which are made anew for each answer.
fn without_urls(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.shift_remove("url");
                map.values_mut().for_each(walk);
            }
            Value::Array(list) => list.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}
