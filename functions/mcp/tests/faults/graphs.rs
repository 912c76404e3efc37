//! What the cases of graphs need: a provider's bundle, and a process whose step it guides.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::world::Desk;

/// A provider of one graph: an action with something to read, and a gate.
const SEAL: [(&str, &str); 4] = [
    ("provider.yaml", "schema: agent-graph.provider.v1\nid: acme/seal\nversion: 1.0.0\ngraphs: [graphs/seal.yaml]\n"),
    (
        "graphs/seal.yaml",
        "schema: agent-graph.graph.v1
id: seal
entrypoints: { default: melt }
nodes:
  - id: melt
    kind: action
    reasonCode: route.seal.melt
    action: actions/melt.yaml
    resources: { required: [resources/wax.md] }
  - id: press
    kind: gate
    reasonCode: route.seal.press
    gate: { id: press, prompt: Whose seal?, authority: press }
  - { id: sealed, kind: terminal, terminalOutcome: completed }
edges:
  - { from: melt, to: press }
  - { from: press, to: sealed }
",
    ),
    (
        "actions/melt.yaml",
        "schema: agent-graph.action.v1\nid: melt\nrunner: command\neffect: write\ncommand: melt wax\n",
    ),
    ("resources/wax.md", "---\nid: wax\nkind: procedure\nmedia-type: text/markdown\n---\n\n# Wax\n"),
];

/// One step, which its graph must allow.
pub const DEED: &str = "---
name: deed
description: A deed.
steps:
  - { id: seal, agent: Seal it., graph: { provider: acme/seal, graph: seal, require_complete: true } }
  - { id: done, finish: done }
---
Deeds.
";

/// The files of the provider's bundle, as the tool takes them.
pub fn bundle() -> Value {
    let files = SEAL.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes())));
    let source = graph::Memory(files.collect());
    let provider = graph::load(&source, "provider.yaml").unwrap();
    let built = graph::build(&source, &provider).unwrap();
    let text = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    built.files.iter().map(|(path, bytes)| json!({ "path": path, "contentBase64": text(bytes) })).collect()
}

/// The graph, as the tools name it.
pub fn seal() -> Value {
    json!({ "provider": "acme/seal", "graph": "seal" })
}

/// Publishes the provider.
pub async fn published(desk: &mut Desk) {
    let ann = desk.person();
    desk.ok(&ann, "publish_provider", json!({ "files": bundle() })).await;
}

/// A run of the graph.
pub async fn begun(desk: &mut Desk) -> Value {
    published(desk).await;
    let bot = desk.agent();
    let started = desk.ok(&bot, "start_graph_run", seal()).await;
    kept(desk, &started["run"]["id"])
}

/// A run of the process that the graph guides.
pub async fn deed(desk: &mut Desk) -> Value {
    published(desk).await;
    let ann = desk.person();
    desk.ok(&ann, "import_process", json!({ "source": DEED })).await;
    desk.ok(&ann, "publish_process", json!({ "name": "deed", "roles": {} })).await;
    desk.ok(&ann, "start_run", json!({ "process": "deed", "inputs": {} })).await["run"]["id"].take()
}

/// The token of its step, whose graph is at its end.
pub async fn sealed(desk: &mut Desk) -> Value {
    let (bot, ann, run) = (desk.agent(), desk.person(), deed(desk).await);
    let mut claimed = desk.ok(&bot, "claim", json!({ "runId": run, "stepId": "seal" })).await;
    let graph = kept(desk, &claimed["extensions"]["graph"]["graphRunId"]);
    for (caller, node) in [(&bot, "seal/melt"), (&ann, "seal/press")] {
        let outcome = json!({ "graphRunId": graph, "node": node, "outcome": "completed" });
        desk.ok(caller, "record_outcome", outcome).await;
    }
    claimed["token"].take()
}

/// A checkpoint of a run of the graph.
pub async fn checkpoint(desk: &mut Desk) -> Value {
    let (bot, run) = (desk.agent(), begun(desk).await);
    desk.ok(&bot, "checkpoint_graph_run", json!({ "graphRunId": run })).await["checkpoint"].take()
}

/// The id of a graph's run, whose journal is looked at in the end.
fn kept(desk: &mut Desk, run: &Value) -> Value {
    desk.keep_graph_run(run.as_str().unwrap());
    run.clone()
}
