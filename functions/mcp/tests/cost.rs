//! What one call of each tool costs in storage: calls, rounds of them, and transactions, exactly.
//!
//! Every tool of the list has a row, and a row is one accepted call with the process's version in memory, as on a server
//! that has been up for a while. The table yields before it answers, so that calls made together are under way together.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use identity::{Caller, Kind};
use mcp::{ProcessTools, Tools as _};
use serde_json::{Value, json};
use store::counting::{Counting, Turns};
use store::files::{Files, FilesError, Shown};
use store::memory::MemoryTable;
use store::{Evaluator, NoAlarms, Parts, RandomIds, Seal, SealKey, Settings, Store, SystemClock};

/// Tool, which call of it, and its calls, rounds and transactions.
const COSTS: [(&str, &str, [u64; 3]); 52] = [
    ("describe", "", [0, 0, 0]),
    ("list_processes", "", [1, 1, 0]),
    ("start_run", "", [3, 2, 1]),
    ("get_run", "", [1, 1, 0]),
    // Every shard's list, of steps that wait and of steps whose lease ended.
    ("get_work", "of an agent", [8, 1, 0]),
    // The inboxes of the person, of the person's one group and of operators.
    ("get_work", "of a person", [3, 1, 0]),
    // The journal entries that hold the candidates.
    ("get_work", "of a person, with a candidate", [4, 2, 0]),
    ("claim", "", [3, 2, 1]),
    // The run of the graph is read, even where there is none yet.
    ("claim", "of a step with a graph", [4, 3, 1]),
    ("renew", "", [3, 2, 1]),
    ("upload", "", [2, 2, 1]),
    ("submit", "", [3, 2, 1]),
    ("submit", "with a file", [4, 2, 1]),
    // Asking a model is no call to storage.
    ("submit", "with a check", [3, 2, 1]),
    ("submit", "with a file and a check that is unsure", [4, 2, 1]),
    ("submit", "with a graph that must be complete", [4, 3, 1]),
    ("submit", "with a graph that only guides", [3, 2, 1]),
    ("submit", "that forks", [3, 2, 1]),
    ("submit", "beside a branch", [3, 2, 1]),
    ("submit", "that joins", [3, 2, 1]),
    ("escalate", "", [3, 2, 1]),
    ("decide", "", [3, 2, 1]),
    ("decide", "completed with a file", [4, 2, 1]),
    // Only the run says which files the candidate has; they are verified again.
    ("decide", "completed with a candidate that has a file", [4, 3, 1]),
    ("decide", "beside a branch", [3, 2, 1]),
    ("decide", "back to a parallel step", [3, 2, 1]),
    ("cancel", "", [3, 2, 1]),
    ("send_event", "", [3, 2, 1]),
    // The processes, then every shard's open runs and the ended runs of each, here of two, then the inputs.
    ("list_runs", "", [12, 3, 0]),
    ("list_runs", "of a process", [6, 2, 0]),
    ("import_process", "", [2, 2, 1]),
    ("publish_process", "", [2, 2, 1]),
    // Both steps name the provider alike; its bundle is in memory.
    ("publish_process", "with two graphs", [3, 3, 1]),
    ("get_process", "", [1, 1, 0]),
    ("get_process", "of a version", [1, 1, 0]),
    // The version is not in memory yet.
    ("get_process", "just published", [2, 2, 0]),
    // The bundle goes to the bucket in between.
    ("publish_provider", "", [2, 2, 1]),
    ("publish_provider", "the same again", [2, 2, 1]),
    ("list_providers", "", [1, 1, 0]),
    // The latest version, whose bundle is in memory.
    ("evaluate_graph", "of a provider", [1, 1, 0]),
    // The digest says all.
    ("evaluate_graph", "of a digest", [0, 0, 0]),
    ("evaluate_graph", "of a run", [1, 1, 0]),
    ("get_route", "of a provider", [1, 1, 0]),
    ("get_route", "of a run", [1, 1, 0]),
    ("start_graph_run", "", [3, 2, 1]),
    ("record_outcome", "", [3, 2, 1]),
    ("set_facts", "", [3, 2, 1]),
    ("set_authorities", "", [3, 2, 1]),
    ("get_graph_run", "", [1, 1, 0]),
    ("checkpoint_graph_run", "", [3, 2, 1]),
    ("resume_graph_run", "", [3, 2, 1]),
    // The link is signed without asking anybody.
    ("locate_resource", "", [1, 1, 0]),
];

/// Two agent steps, the second with a file, an approval, an event.
const LETTER: &str = "---
name: letter
description: A letter.
steps:
  - { id: draft, agent: Draft it., output: { text: string } }
  - { id: print, agent: Print it., evidence: [file] }
  - { id: sign, person: editor, approve: Sign it? }
  - { id: posted, wait_for: posted }
  - { id: sent, finish: sent }
---
Letters.
";

/// Two checked steps, the second with a file, and two branches for agents beside one for a person.
const BOOK: &str = "---
name: book
description: A book.
steps:
  - { id: write, agent: Write it., check: Is it good? }
  - { id: draw, agent: Draw it., evidence: [file], check: [{ ask: Is it good?, fail: 0.2 }] }
  - { id: proof, agent: Read it. }
  - { id: make, parallel: [print, bind, praise], next: sign }
  - { id: print, agent: Print it., next: join }
  - { id: bind, agent: Bind it., next: join }
  - { id: praise, person: editor, task: Praise it., next: join }
  - { id: sign, person: editor, approve: Is it done?, on_reject: make }
  - { id: end, finish: done }
---
Books.
";

#[tokio::test]
async fn a_call_of_each_tool_costs_what_it_did() {
    let (bot, ann) = (caller("bot", Kind::Agent), caller("ann", Kind::Person));
    let mut desk = Desk::new();

    let publish = |name: &str| json!({ "name": name, "roles": { "editor": "editor" } });
    for (name, source) in [("book", BOOK), ("letter", LETTER)] {
        desk.call(&ann, "import_process", json!({ "source": source })).await;
        desk.call(&ann, "publish_process", publish(name)).await;
        desk.start(name).await;
    }
    desk.measured.clear();

    desk.call(&bot, "describe", json!({})).await;
    desk.call(&bot, "list_processes", json!({})).await;
    desk.call(&ann, "get_process", json!({ "name": "letter" })).await;
    desk.case("of a version").call(&ann, "get_process", json!({ "name": "letter", "version": 1 })).await;

    let run = desk.start("letter").await;
    desk.call(&bot, "get_run", json!({ "runId": run })).await;
    desk.call(&bot, "list_runs", json!({})).await;
    desk.case("of a process").call(&bot, "list_runs", json!({ "process": "letter" })).await;
    desk.case("of an agent").call(&bot, "get_work", json!({})).await;

    let token = desk.claim(&bot, &run, "draft").await;
    let renewed = desk.call(&bot, "renew", json!({ "token": token, "progress": "Half." })).await;
    let draft = json!({ "token": renewed["token"], "output": { "text": "Dear" }, "summary": "Drafted." });
    desk.call(&bot, "submit", draft).await;
    let token = desk.claim(&bot, &run, "print").await;
    let evidence = desk.file(&bot).await;
    let print = json!({ "token": token, "output": {}, "evidence": evidence, "summary": "Printed." });
    desk.case("with a file").call(&bot, "submit", print).await;
    let work = desk.case("of a person").call(&ann, "get_work", json!({})).await;
    assert_eq!(work["items"].as_array().map(Vec::len), Some(1), "{work}");
    desk.decide(&ann, &run, json!({ "decision": "approved" })).await;
    let sent = desk.call(&bot, "send_event", json!({ "runId": run, "name": "posted" })).await;
    assert_eq!(sent["consumedBy"], "posted", "{sent}");

    let run = desk.start("letter").await;
    let token = desk.claim(&bot, &run, "draft").await;
    let draft = json!({ "token": token, "output": { "text": "Dear" }, "summary": "Drafted." });
    desk.call(&bot, "submit", draft).await;
    let token = desk.claim(&bot, &run, "print").await;
    desk.call(&bot, "escalate", json!({ "token": token, "note": "No paper." })).await;
    let evidence = desk.file(&ann).await;
    let completed = json!({ "decision": "completed", "output": {}, "evidence": evidence });
    desk.case("completed with a file").decide(&ann, &run, completed).await;
    desk.call(&ann, "cancel", json!({ "runId": run, "reason": "Moved." })).await;

    checked_and_forked(&mut desk, &bot, &ann).await;
    guided(&mut desk, &bot, &ann).await;
    stamped(&mut desk, &bot, &ann).await;

    let next = LETTER.replace("A letter.", "Another letter.");
    desk.call(&ann, "import_process", json!({ "source": next })).await;
    desk.call(&ann, "publish_process", publish("letter")).await;

    let listed: BTreeSet<&str> = desk.tools.list().iter().map(|tool| tool.name).collect();
    assert_eq!(COSTS.iter().map(|(tool, ..)| *tool).collect::<BTreeSet<_>>(), listed);
    let costs = COSTS.iter().map(|(tool, case, cost)| ((*tool, *case), BTreeSet::from([*cost])));
    assert_eq!(desk.measured, costs.collect::<BTreeMap<_, _>>());
}

/// A book is written, drawn so that nobody can tell whether it is good, and made in three branches, twice.
async fn checked_and_forked(desk: &mut Desk, bot: &Caller, ann: &Caller) {
    let run = desk.start("book").await;
    let token = desk.claim(bot, &run, "write").await;
    let write = json!({ "token": token, "output": {}, "summary": "Good." });
    desk.case("with a check").call(bot, "submit", write).await;
    let token = desk.claim(bot, &run, "draw").await;
    let evidence = desk.file(bot).await;
    let draw = json!({ "token": token, "output": {}, "evidence": evidence, "summary": "Who knows?" });
    desk.case("with a file and a check that is unsure").call(bot, "submit", draw).await;
    let work = desk.case("of a person, with a candidate").call(ann, "get_work", json!({})).await;
    assert_eq!(work["items"][0]["workItem"]["escalation"]["candidate"]["summary"], "Who knows?", "{work}");
    let adopt = json!({ "decision": "completed" });
    desk.case("completed with a candidate that has a file").decide(ann, &run, adopt).await;
    desk.finish(bot, &run, "proof", "that forks").await;
    desk.finish(bot, &run, "print", "beside a branch").await;
    desk.case("beside a branch").decide(ann, &run, json!({ "decision": "completed", "output": {} })).await;
    desk.finish(bot, &run, "bind", "that joins").await;
    let again = json!({ "decision": "rejected", "note": "All of it anew." });
    desk.case("back to a parallel step").decide(ann, &run, again).await;
    let work = desk.case("of an agent").call(bot, "get_work", json!({ "process": "book" })).await;
    let ready = work["items"].as_array().map(|items| items.iter().filter(|i| i["runId"] == run.as_str()).count());
    assert_eq!(ready, Some(2), "{work}");
}

/// A provider of one graph: an action with something to read, and a gate.
const STAMP: [(&str, &str); 4] = [
    ("provider.yaml", "schema: agent-graph.provider.v1\nid: acme/stamp\nversion: 1.0.0\ngraphs: [graphs/stamp.yaml]\n"),
    (
        "graphs/stamp.yaml",
        "schema: agent-graph.graph.v1
id: stamp
entrypoints: { default: lick }
nodes:
  - id: lick
    kind: action
    reasonCode: route.stamp.lick
    action: actions/lick.yaml
    resources: { required: [resources/stamps.md] }
  - id: post
    kind: gate
    reasonCode: route.stamp.post
    gate: { id: post, prompt: May it go?, authority: post, delegatable: true }
  - { id: posted, kind: terminal, terminalOutcome: completed }
edges:
  - { from: lick, to: post }
  - { from: post, to: posted }
",
    ),
    (
        "actions/lick.yaml",
        "schema: agent-graph.action.v1\nid: lick\nrunner: command\neffect: write\ncommand: lick --once\n",
    ),
    ("resources/stamps.md", "---\nid: stamps\nkind: procedure\nmedia-type: text/markdown\n---\n\n# Stamps\n"),
];

/// The files of its bundle, as an argument has them.
fn bundle() -> Value {
    let files = STAMP.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes())));
    let source = graph::Memory(files.collect());
    let provider = graph::load(&source, "provider.yaml").unwrap();
    let built = graph::build(&source, &provider).unwrap();
    let text = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    built.files.iter().map(|(path, bytes)| json!({ "path": path, "contentBase64": text(bytes) })).collect()
}

/// A stamp is published, asked about, licked, and let go.
async fn guided(desk: &mut Desk, bot: &Caller, ann: &Caller) {
    desk.call(ann, "publish_provider", json!({ "files": bundle() })).await;
    desk.case("the same again").call(ann, "publish_provider", json!({ "files": bundle() })).await;
    let listed = desk.call(bot, "list_providers", json!({})).await;
    let stamp = json!({ "provider": "acme/stamp", "graph": "stamp" });
    desk.case("of a provider").call(bot, "evaluate_graph", stamp.clone()).await;
    let pinned = json!({ "provider": "acme/stamp", "graph": "stamp", "digest": listed["items"][0]["digest"] });
    desk.case("of a digest").call(bot, "evaluate_graph", pinned).await;
    desk.case("of a provider").call(bot, "get_route", stamp.clone()).await;
    desk.call(bot, "locate_resource", json!({ "provider": "acme/stamp", "id": "stamps" })).await;
    let started = desk.call(bot, "start_graph_run", stamp).await;
    let run = json!({ "graphRunId": started["run"]["id"] });
    let with = |more: Value| {
        let mut arguments = run.clone();
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    desk.case("of a run").call(bot, "evaluate_graph", run.clone()).await;
    desk.case("of a run").call(bot, "get_route", run.clone()).await;
    desk.call(bot, "record_outcome", with(json!({ "node": "stamp/lick", "outcome": "completed" }))).await;
    desk.call(bot, "set_facts", with(json!({ "facts": { "colour": "blue" } }))).await;
    desk.call(ann, "set_authorities", with(json!({ "authorities": ["post"] }))).await;
    let done = desk.call(bot, "record_outcome", with(json!({ "node": "stamp/post", "outcome": "completed" }))).await;
    assert_eq!(done["evaluation"]["statusCode"], "complete", "{done}");
    desk.call(bot, "get_graph_run", run.clone()).await;
    let kept = desk.call(bot, "checkpoint_graph_run", run).await;
    desk.call(bot, "resume_graph_run", json!({ "checkpoint": kept["checkpoint"] })).await;
}

/// Two steps with the graph of the stamp; only the first must come to its end.
const CARD: &str = "---
name: card
description: A card.
steps:
  - { id: stamp, agent: Stamp it., graph: { provider: acme/stamp, graph: stamp, require_complete: true } }
  - { id: write, agent: Write it., graph: { provider: acme/stamp, graph: stamp } }
  - { id: end, finish: done }
---
Cards.
";

/// A card is stamped along the graph, and written beside it.
async fn stamped(desk: &mut Desk, bot: &Caller, ann: &Caller) {
    desk.call(ann, "import_process", json!({ "source": CARD })).await;
    desk.case("with two graphs").call(ann, "publish_process", json!({ "name": "card", "roles": {} })).await;
    let known = desk.case("just published").call(ann, "get_process", json!({ "name": "card" })).await;
    assert_eq!(known["published"]["graphs"]["write"]["provider"], "acme/stamp", "{known}");
    let run = desk.start("card").await;
    for (step, case) in [("stamp", "with a graph that must be complete"), ("write", "with a graph that only guides")] {
        let claim = json!({ "runId": run, "stepId": step });
        let claimed = desk.case("of a step with a graph").call(bot, "claim", claim).await;
        let graph = &claimed["extensions"]["graph"]["graphRunId"];
        if step == "stamp" {
            for (who, node) in [(bot, "stamp/lick"), (ann, "stamp/post")] {
                let outcome = json!({ "graphRunId": graph, "node": node, "outcome": "completed" });
                desk.call(who, "record_outcome", outcome).await;
            }
        }
        let done = json!({ "token": claimed["token"], "output": {}, "summary": "Done." });
        desk.case(case).call(bot, "submit", done).await;
    }
}

/// The tools over storage in memory, and what their calls cost.
struct Desk {
    tools: ProcessTools,
    /// By tool and case: every cost that was seen.
    measured: BTreeMap<(&'static str, &'static str), BTreeSet<[u64; 3]>>,
    case: &'static str,
    requests: u32,
}

impl Desk {
    fn new() -> Desk {
        let secret = b"thirty-two bytes or more of secret".to_vec();
        let store = Store::new(Parts {
            table: Arc::new(Counting::new(Arc::new(Turns(Arc::new(MemoryTable::new()))))),
            files: Arc::new(Bucket::default()),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            alarms: Arc::new(NoAlarms),
            evaluator: Some(Arc::new(Reader)),
            seal: Seal::new(vec![SealKey { id: "k".into(), secret }]).unwrap(),
            settings: Settings::default(),
        });
        let tools = ProcessTools::new(Arc::new(store)).unwrap();
        Desk { tools, measured: BTreeMap::new(), case: "", requests: 0 }
    }

    /// Names the next call's row.
    fn case(&mut self, case: &'static str) -> &mut Desk {
        self.case = case;
        self
    }

    /// Makes a call that must be accepted and notes its cost. A write gets a `requestId` of its own.
    async fn call(&mut self, caller: &Caller, tool: &'static str, arguments: Value) -> Value {
        let Value::Object(mut arguments) = arguments else { panic!("{arguments} is no object") };
        if self.tools.list().iter().any(|info| info.name == tool && !info.read_only) {
            self.requests += 1;
            arguments.insert("requestId".into(), json!(format!("q{}", self.requests)));
        }
        let answer = self.tools.call(caller, tool, arguments).await;
        let meter = answer.meter;
        let cost = [meter.storage_calls, meter.storage_rounds, meter.storage_transactions];
        self.measured.entry((tool, std::mem::take(&mut self.case))).or_default().insert(cost);
        answer.outcome.unwrap_or_else(|failure| panic!("{tool}: {failure:?}"))
    }

    /// Starts a run and returns its id.
    async fn start(&mut self, process: &str) -> String {
        let ann = caller("ann", Kind::Person);
        let started = self.call(&ann, "start_run", json!({ "process": process, "inputs": {} })).await;
        started["run"]["id"].as_str().unwrap().to_owned()
    }

    /// Claims a step and returns the token.
    async fn claim(&mut self, caller: &Caller, run: &str, step: &str) -> Value {
        self.call(caller, "claim", json!({ "runId": run, "stepId": step })).await["token"].take()
    }

    /// Claims a step that asks for nothing and submits it.
    async fn finish(&mut self, caller: &Caller, run: &str, step: &str, case: &'static str) {
        let token = self.claim(caller, run, step).await;
        let done = json!({ "token": token, "output": {}, "summary": "Done." });
        self.case(case).call(caller, "submit", done).await;
    }

    /// Uploads a file and returns the evidence that cites it.
    async fn file(&mut self, caller: &Caller) -> Value {
        let file = json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "YQ==" });
        let stored = self.call(caller, "upload", file).await;
        json!([{ "kind": "file", "ref": stored["id"] }])
    }

    /// Decides the run's open work item.
    async fn decide(&mut self, caller: &Caller, run: &str, mut decision: Value) {
        let case = std::mem::take(&mut self.case);
        let view = self.call(caller, "get_run", json!({ "runId": run })).await;
        let item = &view["workItems"][0];
        decision["runId"] = json!(run);
        decision["workItemId"] = item["id"].clone();
        decision["snapshot"] = item["snapshot"].clone();
        self.case(case).call(caller, "decide", decision).await;
    }
}

fn caller(subject: &str, kind: Kind) -> Caller {
    let person = kind == Kind::Person;
    Caller {
        org: "acme".into(),
        subject: subject.into(),
        kind,
        groups: if person { vec!["editor".into()] } else { Vec::new() },
        operator: person,
        person: person.then(|| format!("{subject}@example.com")),
        client: None,
        may_decide: person,
    }
}

/// Finds good what says so, and of all else cannot tell.
struct Reader;

#[async_trait]
impl Evaluator for Reader {
    fn model(&self) -> &str {
        "reader"
    }
    async fn answer(&self, inquiry: &run::Inquiry) -> Result<Vec<run::Answer>, String> {
        let yes = if inquiry.submission.summary.as_deref() == Some("Good.") { 1.0 } else { 0.5 };
        Ok(inquiry.questions.iter().map(|_| run::Answer::Yes(yes)).collect())
    }
}

/// A bucket in memory.
#[derive(Default)]
struct Bucket(Mutex<BTreeMap<String, Vec<u8>>>);

#[async_trait]
impl Files for Bucket {
    async fn put(&self, key: &str, bytes: Vec<u8>, _: &str) -> Result<(), FilesError> {
        self.0.lock().unwrap().insert(key.to_owned(), bytes);
        Ok(())
    }
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        Ok(self.0.lock().unwrap().get(key).cloned())
    }
    async fn link(&self, key: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
        Ok(format!("https://files.test/{key}"))
    }
}
