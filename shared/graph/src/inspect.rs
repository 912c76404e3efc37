//! What a Provider holds, as `inspect provider` and `validate` show it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::documents::{CodeEntry, Effect, NodeKind, ResourceKind, Runner};
use crate::load::Provider;
use crate::locate::Places;

/// `agent-graph.inspect.v1`. Everything is in the order of its id; nodes and codes are as in their files.
#[derive(Serialize)]
struct Inspect<'a> {
    schema: &'static str,
    provider: Inspected<'a>,
    counts: Counts,
    graphs: Vec<GraphShown<'a>>,
    actions: Vec<ActionShown<'a>>,
    resources: Vec<ResourceShown<'a>>,
    codes: &'a [CodeEntry],
}

#[derive(Serialize)]
struct Inspected<'a> {
    id: &'a str,
    version: &'a str,
    manifest: String,
}

#[derive(Serialize)]
struct Counts {
    graphs: usize,
    nodes: usize,
    edges: usize,
    actions: usize,
    resources: usize,
    codes: usize,
}

#[derive(Serialize)]
struct GraphShown<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    path: &'a str,
    entrypoints: &'a BTreeMap<String, String>,
    nodes: Vec<NodeShown<'a>>,
    dependencies: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeShown<'a> {
    id: &'a str,
    kind: NodeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_code: Option<&'a str>,
    priority: i32,
}

#[derive(Serialize)]
struct ActionShown<'a> {
    id: &'a str,
    runner: Runner,
    effect: Effect,
    path: &'a str,
}

#[derive(Serialize)]
struct ResourceShown<'a> {
    id: &'a str,
    kind: ResourceKind,
    dynamic: bool,
    path: &'a str,
}

/// `agent-graph.inspect.v1`.
pub fn inspect(provider: &Provider, places: &Places) -> Value {
    let manifest = &provider.manifest;
    let codes = provider.catalog.as_ref().map_or(&[][..], |catalog| &catalog.value.codes);
    let graphs = || provider.graphs.values().map(|graph| &graph.value);
    let shown = Inspect {
        schema: "agent-graph.inspect.v1",
        provider: Inspected {
            id: &manifest.value.id,
            version: &manifest.value.version,
            manifest: places.file(&manifest.path),
        },
        counts: Counts {
            graphs: provider.graphs.len(),
            nodes: graphs().map(|graph| graph.nodes.len()).sum(),
            edges: graphs().map(|graph| graph.edges.len()).sum(),
            actions: provider.actions.len(),
            resources: provider.resources.len(),
            codes: codes.len(),
        },
        graphs: graphs_of(provider),
        actions: actions_of(provider),
        resources: resources_of(provider),
        codes,
    };
    serde_json::to_value(shown).unwrap_or_default()
}

fn graphs_of(provider: &Provider) -> Vec<GraphShown<'_>> {
    let mut graphs = Vec::new();
    for (id, graph) in &provider.graphs {
        let nodes = graph.value.nodes.iter().map(|node| NodeShown {
            id: &node.id,
            kind: node.kind,
            description: node.description.as_deref(),
            reason_code: node.reason_code.as_deref(),
            priority: node.priority.unwrap_or_default(),
        });
        graphs.push(GraphShown {
            id,
            description: graph.value.description.as_deref(),
            path: &graph.path,
            entrypoints: &graph.value.entrypoints,
            nodes: nodes.collect(),
            dependencies: provider.dependencies.get(id).map_or(&[], Vec::as_slice),
        });
    }
    graphs
}

fn actions_of(provider: &Provider) -> Vec<ActionShown<'_>> {
    let mut actions: Vec<ActionShown<'_>> = provider
        .actions
        .values()
        .map(|action| ActionShown {
            id: &action.value.id,
            runner: action.value.runner,
            effect: action.value.effect,
            path: &action.path,
        })
        .collect();
    actions.sort_by_key(|action| action.id);
    actions
}

fn resources_of(provider: &Provider) -> Vec<ResourceShown<'_>> {
    let mut resources: Vec<ResourceShown<'_>> = provider
        .resources
        .values()
        .map(|resource| ResourceShown {
            id: resource.value.id(),
            kind: resource.value.kind(),
            dynamic: resource.value.dynamic(),
            path: &resource.path,
        })
        .collect();
    resources.sort_by_key(|resource| resource.id);
    resources
}

/// The same behind `state: valid`.
pub fn validated(provider: &Provider, places: &Places) -> Value {
    let mut all = Map::from_iter([("state".to_owned(), Value::from("valid"))]);
    if let Value::Object(inspected) = inspect(provider, places) {
        all.extend(inspected);
    }
    Value::Object(all)
}
