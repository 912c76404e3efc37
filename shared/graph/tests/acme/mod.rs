//! A Provider with one of everything that a Route can carry, in memory: what the tests of Routes, bundles and host results
//! work on.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Memory, Places, Provider, SCHEMAS, State, load};
use jsonschema::{Retrieve, Uri};
use serde_json::{Value, json};

/// Its files.
pub const FILES: &[(&str, &str)] = &[
    (
        "provider.yaml",
        "# A comment that no bundle keeps.\nschema: agent-graph.provider.v1\nid: acme/release\nversion: 1.2.0\n\
         graphs: [graphs/release.yaml, graphs/publish.yaml, graphs/notify.yaml]\ncatalogs: { codes: codes.yaml }\n\
         compatibility: { agentGraph: '>=0.3.0' }\n",
    ),
    (
        "codes.yaml",
        "schema: agent-graph.code-catalog.v1\ncodes:\n\
         - { code: route.draft, kind: route-reason, summary: The notes are to be drafted., document: resources/guide.md }\n\
         - { code: route.check, kind: route-reason, summary: The draft is to be checked. }\n\
         - { code: route.approve, kind: route-reason, summary: Somebody must approve. }\n\
         - { code: route.upload, kind: route-reason, summary: The package is to be uploaded. }\n\
         - { code: route.tell, kind: route-reason, summary: The users are to be told. }\n\
         - { code: check.broken, kind: diagnostic, severity: warning, summary: The check itself broke. }\n",
    ),
    (
        "graphs/release.yaml",
        "schema: agent-graph.graph.v1\nid: release\nentrypoints: { default: draft, late: publish }\nnodes:\n\
         - id: draft\n  kind: action\n  reasonCode: route.draft\n  action: actions/draft.yaml\n  resources:\n    \
         required: [resources/guide.md, resources/context.yaml, resources/policy.yaml]\n    \
         recommended: [resources/form.yaml]\n\
         - { id: check, kind: action, reasonCode: route.check, action: actions/check.yaml }\n\
         - id: approve\n  kind: gate\n  reasonCode: route.approve\n  \
         gate: { id: approval, prompt: Publish it?, authority: release.approve, delegatable: true }\n  \
         inspectionAction: actions/look.yaml\n  resolutionAction: actions/decide.yaml\n  \
         resources: { required: [resources/guide.md] }\n  \
         delegated:\n    inspection: skip\n    resolutionAction: actions/accept.yaml\n    \
         resources: { recommended: [resources/form.yaml] }\n\
         - { id: publish, kind: subgraph, graph: publish, entry: default }\n\
         - { id: done, kind: terminal, terminalOutcome: completed }\n\
         edges:\n- { from: draft, to: check }\n- { from: check, to: approve }\n\
         - { from: approve, to: publish, kind: gatedBy }\n- { from: publish, to: done }\n",
    ),
    (
        "graphs/publish.yaml",
        "schema: agent-graph.graph.v1\nid: publish\nentrypoints: { default: upload }\nnodes:\n\
         - { id: upload, kind: action, reasonCode: route.upload, action: actions/upload.yaml }\n\
         - { id: notify, kind: subgraph, graph: notify, entry: default }\n\
         - { id: done, kind: terminal, terminalOutcome: completed }\n\
         edges:\n- { from: upload, to: notify }\n- { from: notify, to: done }\n",
    ),
    (
        "graphs/notify.yaml",
        "schema: agent-graph.graph.v1\nid: notify\nentrypoints: { default: tell }\nnodes:\n\
         - { id: tell, kind: action, reasonCode: route.tell, action: actions/tell.yaml }\n\
         - { id: done, kind: terminal, terminalOutcome: completed }\n\
         edges:\n- { from: tell, to: done }\n",
    ),
    (
        "actions/draft.yaml",
        "schema: agent-graph.action.v1\nid: draft\nrunner: agent\neffect: write\nskill: skills/draft/SKILL.md\n",
    ),
    (
        "actions/check.yaml",
        "schema: agent-graph.action.v1\nid: check\nrunner: script\neffect: read\nruntime: python\nentry: scripts/check.py\n\
         args: ['--strict', it's]\nfiles: [scripts/lib.py]\ncwd: provider\n\
         inputSchema: schemas/check-input.json\noutputSchema: schemas/check-output.json\n",
    ),
    (
        "actions/look.yaml",
        "schema: agent-graph.action.v1\nid: look\nrunner: agent\neffect: read\nskill: skills/look/SKILL.md\n",
    ),
    (
        "actions/decide.yaml",
        "schema: agent-graph.action.v1\nid: decide\nrunner: host\neffect: write\nhandler: acme.decide\n\
         inputSchema: schemas/decision.json\n",
    ),
    (
        "actions/accept.yaml",
        "schema: agent-graph.action.v1\nid: accept\nrunner: command\neffect: external\ncommand: acme accept --now\n",
    ),
    (
        "actions/upload.yaml",
        "schema: agent-graph.action.v1\nid: upload\nrunner: command\neffect: external\n\
         command: \"tar -c . | acme upload \\\"$HOME\\\"\"\n",
    ),
    (
        "actions/tell.yaml",
        "schema: agent-graph.action.v1\nid: tell\nrunner: host\neffect: external\nhandler: acme.tell\n",
    ),
    (
        "actions/context.yaml",
        "schema: agent-graph.action.v1\nid: make-context\nrunner: command\neffect: read\ncommand: acme context\n",
    ),
    (
        "actions/policy.yaml",
        "schema: agent-graph.action.v1\nid: make-policy\nrunner: host\neffect: read\nhandler: acme.policy/v1\n\
         inputSchema: schemas/policy-request.json\noutputSchema: schemas/policy.json\n",
    ),
    (
        "resources/guide.md",
        "---\nid: release.guide\nkind: procedure\nmedia-type: text/markdown\n---\n\n# Guide\n\nDraft it.\n",
    ),
    (
        "resources/context.yaml",
        "schema: agent-graph.resource.graph-action.v1\nid: release.context\nkind: context-view\n\
         mediaType: application/json\nmaterializer: actions/context.yaml\n",
    ),
    (
        "resources/policy.yaml",
        "schema: agent-graph.resource.host-action.v1\nid: release.policy\nkind: procedure\nmediaType: application/json\n\
         materializer: actions/policy.yaml\ninput: { protocol: acme.policy-request/v1, product: notes }\n",
    ),
    (
        "resources/form.yaml",
        "schema: agent-graph.resource.file.v1\nid: release.form\nkind: schema\nmediaType: application/schema+json\n\
         path: resources/form.json\n",
    ),
    ("resources/form.json", "{\"type\": \"object\"}\n"),
    ("schemas/check-input.json", "{\"type\": \"object\"}\n"),
    ("schemas/check-output.json", "{\"type\": \"array\"}\n"),
    ("schemas/decision.json", "{\"enum\": [\"yes\", \"no\"]}\n"),
    (
        "schemas/policy-request.json",
        "{\"$id\": \"acme.policy-request/v1\", \"type\": \"object\", \"required\": [\"protocol\", \"product\"]}\n",
    ),
    (
        "schemas/policy.json",
        "{\"$id\": \"acme.policy/v1\", \"type\": \"object\", \"required\": [\"rules\"], \"properties\": {\"rules\": \
         {\"type\": \"array\", \"items\": {\"type\": \"string\"}}}, \"additionalProperties\": false}\n",
    ),
    ("scripts/check.py", "import lib\n"),
    ("scripts/lib.py", "pass\n"),
    ("skills/draft/SKILL.md", "---\nname: draft-notes\ndescription: Drafts the notes.\n---\n\nSee tone.md.\n"),
    ("skills/draft/tone.md", "Be brief.\n"),
    ("skills/look/SKILL.md", "---\nname: look-at-it\ndescription: Shows the draft.\n---\n\nShow it.\n"),
    ("tests/first.yaml", "schema: agent-graph.test.v1\n"),
    ("notes.txt", "Nothing refers to this.\n"),
];

/// Every file.
pub fn files() -> Memory {
    with(&[])
}

/// Every file, some with another text.
pub fn with(changed: &[(&str, &str)]) -> Memory {
    let all = FILES.iter().chain(changed);
    Memory(all.map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))).collect())
}

/// The Provider.
pub fn provider() -> Provider {
    load(&files(), "provider.yaml").unwrap()
}

/// Where it is installed.
pub fn installed() -> Places {
    Places { provider_root: "/opt/acme".to_owned(), workspace: "/home/w".to_owned() }
}

/// Where nothing is installed: paths as in the bundle.
pub fn hosted() -> Places {
    Places { provider_root: String::new(), workspace: ".".to_owned() }
}

/// A state with these Outcomes and authorities.
pub fn state(outcomes: Value, authorities: &[&str]) -> State {
    State {
        facts: serde_json::Map::new(),
        outcomes: serde_json::from_value::<BTreeMap<_, _>>(outcomes).unwrap(),
        authorities: authorities.iter().map(|authority| (*authority).to_owned()).collect(),
    }
}

/// The state in which the Gate is reached.
pub fn at_the_gate(authorities: &[&str]) -> State {
    state(json!({ "release/draft": "completed", "release/check": "completed" }), authorities)
}

/// The digest of one of the files.
pub fn digest(path: &str) -> String {
    graph::digest_bytes(&files().0[path])
}

/// The published schemas, for each other.
struct Published;

impl Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let named = SCHEMAS.iter().find(|(name, _)| uri.as_str().ends_with(&format!(":{name}")));
        Ok(serde_json::from_str(named.ok_or("not published")?.1)?)
    }
}

/// Holds what is told to its published schema, and hands it on.
pub fn held(name: &str, told: &impl serde::Serialize) -> Value {
    let value = serde_json::to_value(told).unwrap();
    let schema: Value = serde_json::from_str(graph::schema_named(name).unwrap()).unwrap();
    let validator = jsonschema::options().with_retriever(Published).build(&schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(&value).map(|fault| format!("{fault}")).collect();
    assert!(faults.is_empty(), "{name}: {faults:#?}");
    value
}
