//! What the tests of evaluation share: Providers of Graphs alone, a plain second evaluator, and the notation of the cases.

#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

pub mod naive;
pub mod notation;
pub mod random;
pub mod shapes;

use std::collections::BTreeMap;

use graph::documents::{Evaluation, Graph, ProviderManifest};
use graph::{Failure, Loaded, Memory, Provider, digest_value};
use serde_json::{Value, json};

/// A Provider of these Graphs that did not go through the loader: what evaluation looks at, and nothing else.
pub fn provider(graphs: Vec<Graph>) -> Provider {
    provided(graphs, digest_value)
}

/// The same, with what stands for the digest of a Graph. No evaluation looks into it.
fn provided(graphs: Vec<Graph>, digest: impl Fn(&Graph) -> String) -> Provider {
    let manifest: ProviderManifest = serde_json::from_value(json!({
        "schema": "agent-graph.provider.v1",
        "id": "cases/provider",
        "version": "0.1.0",
        "graphs": graphs.iter().map(|graph| path(&graph.id)).collect::<Vec<_>>(),
    }))
    .unwrap();
    let entered = |graph: &Graph| {
        let mut ids: Vec<_> = graph.nodes.iter().filter_map(|node| node.graph.clone()).collect();
        ids.sort();
        ids.dedup();
        ids
    };
    let dependencies: BTreeMap<_, _> = graphs.iter().map(|graph| (graph.id.clone(), entered(graph))).collect();
    let closures = graphs.iter().map(|graph| (graph.id.clone(), closure(&dependencies, &graph.id))).collect();
    let loaded = |graph: Graph| Loaded { path: path(&graph.id), digest: digest(&graph), value: graph };
    let graphs: BTreeMap<_, _> = graphs.into_iter().map(|graph| (graph.id.clone(), loaded(graph))).collect();
    Provider {
        manifest: Loaded { path: "provider.yaml".into(), digest: digest_value(&manifest), value: manifest },
        files: graphs.values().map(|graph| (graph.path.clone(), graph.digest.clone())).collect(),
        graphs,
        actions: BTreeMap::new(),
        resources: BTreeMap::new(),
        skills: BTreeMap::new(),
        schemas: BTreeMap::new(),
        catalog: None,
        closures,
        dependencies,
        bundle: None,
    }
}

/// A Provider of these Graphs from the loader, with the one Action that the notation names.
pub fn load(graphs: &[Value]) -> Result<Provider, Failure> {
    let id = |graph: &Value| graph["id"].as_str().unwrap().to_owned();
    let mut files: BTreeMap<String, Value> = graphs.iter().map(|graph| (path(&id(graph)), graph.clone())).collect();
    let manifest = json!({
        "schema": "agent-graph.provider.v1",
        "id": "cases/provider",
        "version": "0.1.0",
        "graphs": graphs.iter().map(|graph| path(&id(graph))).collect::<Vec<_>>(),
        "compatibility": { "agentGraph": "^0.3.0", "node": ">=20" },
    });
    let action = json!({ "schema": "agent-graph.action.v1", "id": "a", "runner": "command", "effect": "read", "command": "true" });
    files.insert("provider.yaml".into(), manifest);
    files.insert("actions/a.yaml".into(), action);
    let files = files.into_iter().map(|(path, file)| (path, file.to_string().into_bytes().into()));
    graph::load(&Memory(files.collect()), "provider.yaml")
}

fn path(id: &str) -> String {
    format!("graphs/{id}.yaml")
}

fn closure(dependencies: &BTreeMap<String, Vec<String>>, id: &str) -> Vec<String> {
    let mut found = vec![id.to_owned()];
    let mut at = 0;
    while let Some(next) = found.get(at).cloned() {
        for id in &dependencies[&next] {
            if !found.contains(id) {
                found.push(id.clone());
            }
        }
        at += 1;
    }
    let mut paths: Vec<_> = found.iter().map(|id| path(id)).collect();
    paths.sort();
    paths
}

/// A word as documents write it.
pub fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

/// The codes of an Evaluation's diagnostics, sorted.
pub fn codes(evaluation: &Evaluation) -> Vec<String> {
    let mut codes: Vec<_> = evaluation.diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect();
    codes.sort();
    codes
}
