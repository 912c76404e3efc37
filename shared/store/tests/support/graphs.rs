//! Providers of agent-graph, built and published.

use std::collections::BTreeMap;

use graph::documents::Outcome;
use run::Actor;
use serde_json::{Map, Value, json};
use store::{Error, GraphCommand, GraphRun, Pin, ProviderRef, Request};

use super::{ORG, World, operator};

/// The Provider that most tests publish.
pub const PROVIDER: &str = "acme/release";

/// Two steps, the second with a graph that begins at its gates; an approval with a way back.
pub const RELEASE: &str = "---
name: release
description: x
inputs: { version: { type: string, optional: true } }
steps:
  - { id: cut, agent: Cut it., output: { tag: string } }
  - id: ship
    agent: Ship it.
    output: { url: { type: string, optional: true } }
    graph:
      provider: acme/release
      graph: release
      entry: hotfix
      require_complete: true
      facts: { release.version: inputs.version, release.tag: steps.cut.output.tag, url: steps.ship.output.url }
  - { id: sign, person: editor, approve: Sign it?, on_reject: ship }
  - { id: done, finish: done }
---
";

const GRAPH: &str = "schema: agent-graph.graph.v1
id: release
entrypoints: { default: prepare, hotfix: approve }
nodes:
  - { id: prepare, kind: action, reasonCode: route.prepare, action: actions/do.yaml }
  - { id: checks, kind: subgraph, graph: checks, entry: default }
  - { id: approve, kind: gate, reasonCode: route.approve, gate: { id: approval, prompt: Release it?, authority: lead, delegatable: true } }
  - { id: sign, kind: gate, reasonCode: route.sign, gate: { id: signature, prompt: Sign it?, authority: lead } }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges:
  - { from: prepare, to: checks }
  - { from: checks, to: approve }
  - { from: approve, to: sign }
  - { from: sign, to: done }
";

const CHECKS: &str = "schema: agent-graph.graph.v1
id: checks
entrypoints: { default: lint }
nodes:
  - { id: lint, kind: action, reasonCode: route.lint, action: actions/do.yaml, resources: { required: [resources/lint.md] } }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges: [{ from: lint, to: done }]
";

const ACTION: &str = "schema: agent-graph.action.v1
id: do
runner: command
effect: write
command: make
";

const LINT: &str = "---
id: lint
kind: procedure
media-type: text/markdown
---
Run the linter.
";

/// The files of a Provider with this id, version and description.
pub fn source(id: &str, version: &str, description: &str) -> BTreeMap<String, Vec<u8>> {
    let manifest = format!(
        "schema: agent-graph.provider.v1\nid: {id}\nversion: {version}\ndescription: {description}\n\
         graphs: [graphs/release.yaml, graphs/checks.yaml]\n"
    );
    [
        ("provider.yaml", manifest.as_str()),
        ("graphs/release.yaml", GRAPH),
        ("graphs/checks.yaml", CHECKS),
        ("actions/do.yaml", ACTION),
        ("resources/lint.md", LINT),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
    .collect()
}

/// The bundle of these files.
pub fn built(files: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    let source = graph::Memory(files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect());
    let provider = graph::load(&source, "provider.yaml").unwrap();
    let built = graph::build(&source, &provider).unwrap();
    built.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect()
}

/// The bundle of such a Provider.
pub fn bundle(id: &str, version: &str, description: &str) -> BTreeMap<String, Vec<u8>> {
    built(source(id, version, description))
}

/// The bundle of a Provider whose Graph `release` enters the next one twice, and that one twice again, so many levels deep.
/// With the Fact `go` it is more than an evaluation may be, or without it: else it is evaluated at once.
pub fn doubling(id: &str, levels: usize, with_go: bool) -> BTreeMap<String, Vec<u8>> {
    let name = |level: usize| if level == 0 { "release".to_owned() } else { format!("g{level}") };
    let paths: Vec<String> = (0..=levels).map(|level| format!("{}.yaml", name(level))).collect();
    let manifest =
        format!("schema: agent-graph.provider.v1\nid: {id}\nversion: 1.0.0\ngraphs: [{}]\n", paths.join(", "));
    let twice = |level: usize| {
        format!(
            "schema: agent-graph.graph.v1\nid: {}\nentrypoints: {{ default: a }}\nnodes:\n  \
             - {{ id: a, kind: subgraph, graph: {next}, entry: default }}\n  \
             - {{ id: b, kind: subgraph, graph: {next}, entry: default }}\n  \
             - {{ id: done, kind: terminal, terminalOutcome: completed }}\n\
             edges: [{{ from: a, to: b }}, {{ from: b, to: done }}]\n",
            name(level),
            next = name(level + 1),
        )
    };
    let last = format!(
        "schema: agent-graph.graph.v1\nid: {}\nentrypoints: {{ default: do }}\nnodes:\n  \
         - {{ id: do, kind: action, reasonCode: route.do, action: do.yaml, satisfiedBy: [{{ path: go, exists: {with_go} }}] }}\n  \
         - {{ id: done, kind: terminal, terminalOutcome: completed }}\nedges: [{{ from: do, to: done }}]\n",
        name(levels),
    );
    let mut files: BTreeMap<String, Vec<u8>> =
        (0..levels).map(|level| (format!("{}.yaml", name(level)), twice(level).into_bytes())).collect();
    files.insert(format!("{}.yaml", name(levels)), last.into_bytes());
    files.insert("do.yaml".to_owned(), ACTION.as_bytes().to_vec());
    files.insert("provider.yaml".to_owned(), manifest.into_bytes());
    built(files)
}

/// Levels of [`doubling`] at which it is too much.
pub const DOUBLING_LEVELS: usize = 14;

/// Publishes a bundle under this `requestId`.
pub async fn publish_as(
    world: &World,
    id: &str,
    org: &str,
    actor: &Actor,
    bundle: &BTreeMap<String, Vec<u8>>,
) -> Result<ProviderRef, Error> {
    let arguments = bundle.iter().map(|(path, bytes)| (path.clone(), json!(graph::digest_bytes(bytes)))).collect();
    let request = Request::new(org, actor, "publish_provider", id, &arguments);
    world.store.publish_provider(&request, bundle.clone()).await
}

/// Publishes a bundle.
pub async fn publish(world: &World, org: &str, bundle: &BTreeMap<String, Vec<u8>>) -> Result<ProviderRef, Error> {
    publish_as(world, &world.id(), org, &operator(), bundle).await
}

/// A world in which [`PROVIDER`] is published.
pub async fn world() -> World {
    let world = World::new();
    publish(&world, ORG, &bundle(PROVIDER, "1.0.0", "Releases.")).await.unwrap();
    world
}

/// Starts a run under this `requestId`.
pub async fn start_as(world: &World, id: &str, org: &str, actor: &Actor, facts: Value) -> Result<GraphRun, Error> {
    let arguments = Map::from_iter([("facts".to_owned(), facts.clone())]);
    let request = Request::new(org, actor, "start_graph_run", id, &arguments);
    let facts = facts.as_object().unwrap().clone();
    world.store.start_graph_run(&request, PROVIDER, Pin::Latest, "release", "default", facts).await
}

/// Starts a run and returns its id.
pub async fn start(world: &World, facts: Value) -> String {
    start_as(world, &world.id(), ORG, &super::agent("bot"), facts).await.unwrap().run.id
}

/// Changes a run under this `requestId`.
pub async fn change_as(
    world: &World,
    id: &str,
    org: &str,
    actor: &Actor,
    run: &str,
    command: GraphCommand,
) -> Result<GraphRun, Error> {
    let (tool, arguments) = match &command {
        GraphCommand::Record { .. } => ("record_outcome", format!("{command:?}")),
        GraphCommand::Facts { .. } => ("set_facts", format!("{command:?}")),
        GraphCommand::Authorities { .. } => ("set_authorities", format!("{command:?}")),
        GraphCommand::Checkpoint => ("checkpoint_graph_run", String::new()),
    };
    let arguments = Map::from_iter([("run".to_owned(), json!(run)), ("of".to_owned(), json!(arguments))]);
    let request = Request::new(org, actor, tool, id, &arguments);
    world.store.change_graph_run(&request, run, command).await
}

/// Changes a run.
pub async fn change(world: &World, actor: &Actor, run: &str, command: GraphCommand) -> Result<GraphRun, Error> {
    change_as(world, &world.id(), ORG, actor, run, command).await
}

/// Begins a run from a checkpoint under this `requestId`.
pub async fn resume_as(world: &World, id: &str, org: &str, actor: &Actor, checkpoint: &str) -> Result<GraphRun, Error> {
    let arguments = Map::from_iter([("checkpoint".to_owned(), json!(checkpoint))]);
    let request = Request::new(org, actor, "resume_graph_run", id, &arguments);
    world.store.resume_graph_run(&request, checkpoint).await
}

/// An outcome to record.
pub fn outcome(node: &str, outcome: Outcome) -> GraphCommand {
    GraphCommand::Record { node: node.to_owned(), outcome, detail: None, revision: None }
}

/// The same with a detail.
pub fn detailed(node: &str, detail: Value) -> GraphCommand {
    GraphCommand::Record { node: node.to_owned(), outcome: Outcome::Completed, detail: Some(detail), revision: None }
}

/// Facts to merge.
pub fn facts(facts: Value) -> GraphCommand {
    GraphCommand::Facts { facts: facts.as_object().unwrap().clone(), replace: false }
}

/// Authorities to set.
pub fn authorities(authorities: &[&str]) -> GraphCommand {
    GraphCommand::Authorities { authorities: authorities.iter().map(|name| (*name).to_owned()).collect() }
}
