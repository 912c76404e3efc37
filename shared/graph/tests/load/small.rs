//! A small Provider with one of everything, to change in one place.

use std::collections::BTreeMap;

use graph::{Failure, Memory, Provider, load};

/// The texts of a Provider's files by path.
#[derive(Clone)]
pub struct Small(pub BTreeMap<String, String>);

impl Small {
    /// The Provider as it loads.
    pub fn new() -> Small {
        Small(FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    /// The same with this file.
    pub fn put(mut self, path: &str, text: &str) -> Small {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The same without this file.
    pub fn without(mut self, path: &str) -> Small {
        assert!(self.0.remove(path).is_some(), "{path}");
        self
    }

    /// The same with one place of a file otherwise.
    pub fn edit(mut self, path: &str, from: &str, to: &str) -> Small {
        let text = self.0.get_mut(path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(text.matches(from).count(), 1, "{path}: {from}");
        *text = text.replace(from, to);
        self
    }

    pub fn source(&self) -> Memory {
        Memory(self.0.iter().map(|(path, text)| (path.clone(), text.as_bytes().into())).collect())
    }

    pub fn load(&self) -> Result<Provider, Failure> {
        load(&self.source(), "provider.yaml")
    }
}

const FILES: &[(&str, &str)] = &[
    (
        "provider.yaml",
        "schema: agent-graph.provider.v1
id: acme/small
version: 1.2.3-rc.1
name: Small
graphs: [graphs/main.yaml, graphs/child.yaml]
catalogs: { codes: codes.yaml }
compatibility: { agentGraph: ^0.3.0, node: '>=20' }
",
    ),
    (
        "codes.yaml",
        "schema: agent-graph.code-catalog.v1
codes:
  - { code: route.main.work, kind: route-reason, summary: There is work. }
  - { code: route.main.gate, kind: route-reason, summary: Somebody decides., document: resources/guide.md }
  - { code: route.child.run, kind: route-reason, summary: It must run. }
  - { code: small.broken, kind: diagnostic, summary: It is broken., severity: error, document: resources/table.yaml }
",
    ),
    (
        "graphs/main.yaml",
        "schema: agent-graph.graph.v1
id: main
entrypoints: { default: work, decide: gate }
nodes:
  - id: work
    kind: action
    action: actions/work.yaml
    reasonCode: route.main.work
    requiresFacts: [{ path: a.0, exists: true }]
    satisfiedBy: [{ path: b, equals: null }]
    resources: { required: [resources/view.yaml], recommended: [resources/asked.yaml, resources/guide.md] }
  - id: gate
    kind: gate
    reasonCode: route.main.gate
    gate: { id: gate, prompt: Go on?, authority: lead, delegatable: true }
    inspectionAction: actions/look.yaml
    resolutionAction: actions/apply.yaml
    delegated:
      inspection: skip
      resolutionAction: actions/apply.yaml
      resources: { required: [resources/guide.md] }
  - { id: enter, kind: subgraph, graph: child, entry: default }
  - { id: done, kind: terminal, terminalOutcome: completed, join: any }
edges:
  - { from: work, to: gate }
  - { from: gate, to: enter, kind: gatedBy }
  - { from: enter, to: done, outcomes: [completed, partial] }
  - { from: gate, to: work, kind: repeat, outcomes: [failed] }
",
    ),
    (
        "graphs/child.yaml",
        "schema: agent-graph.graph.v1
id: child
entrypoints: { default: run }
nodes:
  - { id: run, kind: action, action: actions/run.yaml, reasonCode: route.child.run, priority: -5 }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges: [{ from: run, to: done }]
",
    ),
    (
        "actions/work.yaml",
        "{schema: agent-graph.action.v1, id: work, runner: agent, effect: write, skill: skills/work/SKILL.md}\n",
    ),
    (
        "actions/look.yaml",
        "{schema: agent-graph.action.v1, id: look, runner: command, effect: read, command: ls -l, cwd: provider}\n",
    ),
    (
        "actions/apply.yaml",
        "{schema: agent-graph.action.v1, id: apply, runner: host, effect: write, handler: acme.apply,
  inputSchema: schemas/decision.json}\n",
    ),
    (
        "actions/run.yaml",
        "{schema: agent-graph.action.v1, id: run, runner: script, effect: external, entry: scripts/run.sh, runtime: shell,
  args: [--all], files: [scripts/lib.sh]}\n",
    ),
    (
        "actions/view.yaml",
        "{schema: agent-graph.action.v1, id: view, runner: command, effect: read, command: cat view}\n",
    ),
    (
        "actions/ask.yaml",
        "{schema: agent-graph.action.v1, id: ask, runner: host, effect: read, handler: acme.ask/v1,
  inputSchema: schemas/question.json, outputSchema: schemas/answer.json}\n",
    ),
    ("scripts/run.sh", "exit 0\n"),
    ("scripts/lib.sh", "exit 0\n"),
    ("schemas/decision.json", "{\"type\": \"object\"}"),
    (
        "schemas/question.json",
        "{\"$id\": \"acme.question/v1\", \"type\": \"object\", \"required\": [\"about\"],
  \"properties\": {\"about\": {\"type\": \"string\"}}, \"additionalProperties\": false}",
    ),
    ("schemas/answer.json", "{\"$id\": \"acme.answer.v2\", \"type\": \"object\"}"),
    ("skills/work/SKILL.md", "---\nname: work\ndescription: Works.\n---\n# Work\n"),
    ("skills/work/more/table.csv", "a,b\n"),
    ("resources/guide.md", "---\nid: guide\nkind: procedure\nmedia-type: text/markdown\n---\n# Guide\n"),
    (
        "resources/table.yaml",
        "{schema: agent-graph.resource.file.v1, id: table, kind: template, mediaType: text/csv, path: data/table.csv}\n",
    ),
    ("data/table.csv", "a,b\n"),
    (
        "resources/view.yaml",
        "{schema: agent-graph.resource.graph-action.v1, id: view, kind: context-view, mediaType: text/plain,
  materializer: actions/view.yaml}\n",
    ),
    (
        "resources/asked.yaml",
        "{schema: agent-graph.resource.host-action.v1, id: asked, kind: procedure, mediaType: application/json,
  materializer: actions/ask.yaml, input: {about: small}}\n",
    ),
];
