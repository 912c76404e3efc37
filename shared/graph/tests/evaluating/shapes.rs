//! Graphs of one shape in any size, in the state that makes an evaluation walk the most of them.

use graph::documents::{Graph, Outcome};
use graph::{Provider, State};
use serde_json::{Value, json};

/// A shape: its name, and the Provider and state of about so many nodes.
pub type Shape = (&'static str, fn(usize) -> (Provider, State));

/// Every shape. The Graph to evaluate is `g0`, its entry `default`.
pub const SHAPES: &[Shape] = &[
    ("chain", chain),
    ("fan out", fan_out),
    ("fan in", fan_in),
    ("layers", layers),
    ("repeats", repeats),
    ("subgraphs", subgraphs),
    ("one graph often", one_graph_often),
    ("deep", deep),
    ("facts missing", facts_missing),
];

fn action(at: usize) -> Value {
    json!({ "id": format!("n{at}"), "kind": "action", "action": "actions/a.yaml", "reasonCode": "route.work" })
}

fn sub(at: usize, graph: usize) -> Value {
    json!({ "id": format!("n{at}"), "kind": "subgraph", "graph": format!("g{graph}"), "entry": "default" })
}

fn end(join: &str) -> Value {
    json!({ "id": "end", "kind": "terminal", "terminalOutcome": "completed", "join": join })
}

fn edge(from: usize, to: usize) -> Value {
    json!({ "from": format!("n{from}"), "to": format!("n{to}") })
}

fn to_end(from: usize) -> Value {
    json!({ "from": format!("n{from}"), "to": "end" })
}

/// A Graph of these nodes and edges that begins at `n0`.
pub fn graph(number: usize, nodes: Vec<Value>, edges: Vec<Value>) -> Graph {
    serde_json::from_value(json!({
        "schema": "agent-graph.graph.v1", "id": format!("g{number}"), "entrypoints": { "default": "n0" },
        "nodes": nodes, "edges": edges,
    }))
    .unwrap()
}

fn completed(keys: impl IntoIterator<Item = String>) -> State {
    State { outcomes: keys.into_iter().map(|key| (key, Outcome::Completed)).collect(), ..State::default() }
}

fn nodes(size: usize) -> impl Iterator<Item = String> {
    (0..size).map(|at| format!("g0/n{at}"))
}

/// One after the other, all done but the last.
fn chain(size: usize) -> (Provider, State) {
    let mut edges: Vec<_> = (1..size).map(|at| edge(at - 1, at)).collect();
    edges.push(to_end(size - 1));
    let nodes_of = (0..size).map(action).chain([end("all")]).collect();
    (super::provider(vec![graph(0, nodes_of, edges)]), completed(nodes(size - 1)))
}

/// All open at once.
fn fan_out(size: usize) -> (Provider, State) {
    let edges = (1..size).flat_map(|at| [edge(0, at), to_end(at)]).collect();
    let nodes_of = (0..size).map(action).chain([end("all")]).collect();
    (super::provider(vec![graph(0, nodes_of, edges)]), completed(nodes(1)))
}

/// All done, and all of them must be.
fn fan_in(size: usize) -> (Provider, State) {
    let (provider, _) = fan_out(size);
    (provider, completed(nodes(size)))
}

/// Layers of ten, each node after three of the layer before; all done.
fn layers(size: usize) -> (Provider, State) {
    let mut edges: Vec<_> = (1..size.min(10)).map(|at| edge(0, at)).collect();
    for at in 10..size {
        let layer = at / 10 * 10 - 10;
        edges.extend((0..3).map(|step| edge(layer + (at + step * 3) % 10, at)));
    }
    edges.push(to_end(size - 1));
    let nodes_of = (0..size).map(action).chain([end("any")]).collect();
    (super::provider(vec![graph(0, nodes_of, edges)]), completed(nodes(size)))
}

/// One after the other, each set back by the next.
fn repeats(size: usize) -> (Provider, State) {
    let mut edges: Vec<_> = (1..size).map(|at| edge(at - 1, at)).collect();
    edges.extend((1..size).map(|at| {
        json!({ "from": format!("n{at}"), "to": format!("n{}", at - 1), "kind": "repeat", "outcomes": ["completed", "pending"] })
    }));
    let nodes_of = (0..size).map(action).chain([end("all")]).collect();
    (super::provider(vec![graph(0, nodes_of, edges)]), completed(nodes(size)))
}

/// A chain of Subgraphs, each of a Graph of its own, a hundred nodes each.
fn subgraphs(size: usize) -> (Provider, State) {
    frames(size, |at| at + 1)
}

/// A chain of Subgraphs of one Graph.
fn one_graph_often(size: usize) -> (Provider, State) {
    frames(size, |_| 1)
}

fn frames(size: usize, child: impl Fn(usize) -> usize) -> (Provider, State) {
    let each = 100;
    let count = (size / each).max(1);
    let inner = |number: usize| {
        let edges = (1..each).map(|at| edge(at - 1, at)).chain([to_end(each - 1)]).collect();
        graph(number, (0..each).map(action).chain([end("all")]).collect(), edges)
    };
    let mut edges: Vec<_> = (1..count).map(|at| edge(at - 1, at)).collect();
    edges.push(to_end(count - 1));
    let outer = graph(0, (0..count).map(|at| sub(at, child(at))).chain([end("all")]).collect(), edges);
    let numbers: std::collections::BTreeSet<_> = (0..count).map(&child).collect();
    let graphs = std::iter::once(outer).chain(numbers.into_iter().map(inner)).collect();
    let keys = (0..count).flat_map(|at| {
        let child = child(at);
        (0..each).map(move |node| format!("g0/n{at}>g{child}/n{node}"))
    });
    (super::provider(graphs), completed(keys))
}

/// Fifty levels of Subgraphs, each behind a chain.
fn deep(size: usize) -> (Provider, State) {
    let levels = 50;
    let each = (size / levels).max(2);
    let mut keys = Vec::new();
    let mut prefix = String::new();
    let graphs = (0..levels).map(|level| {
        let last = level + 1 == levels;
        let node = |at| if at == each - 1 && !last { sub(at, level + 1) } else { action(at) };
        let edges = (1..each).map(|at| edge(at - 1, at)).chain([to_end(each - 1)]).collect();
        keys.extend((0..each).map(|at| format!("{prefix}g{level}/n{at}")));
        prefix.push_str(&format!("g{level}/n{}>", each - 1));
        graph(level, (0..each).map(node).chain([end("all")]).collect(), edges)
    });
    let graphs = graphs.collect();
    (super::provider(graphs), completed(keys))
}

/// All reached, and all without what they require.
fn facts_missing(size: usize) -> (Provider, State) {
    let edges = (1..size).map(|at| edge(0, at)).chain([to_end(1)]).collect();
    let mut nodes_of: Vec<_> = (0..size).map(action).chain([end("all")]).collect();
    for node in &mut nodes_of[1..size] {
        node["requiresFacts"] = json!([{ "path": "a.b", "exists": true }]);
    }
    (super::provider(vec![graph(0, nodes_of, edges)]), completed(nodes(1)))
}

/// So many levels of Graphs, each of which enters the next one twice at once: the frames double at every level.
pub fn doubling(levels: usize, id: impl Fn(usize) -> String) -> Provider {
    let graphs = (0..levels).map(|level| {
        let next = |at: usize| {
            let mut node = if level + 1 < levels { sub(at, 0) } else { action(at) };
            if level + 1 < levels {
                node["graph"] = json!(id(level + 1));
            }
            node
        };
        let edges =
            vec![json!({ "from": "n0", "to": "n1" }), json!({ "from": "n0", "to": "n2" }), to_end(1), to_end(2)];
        let mut start = action(0);
        start["satisfiedBy"] = json!([{ "path": "none", "exists": false }]);
        let mut graph = graph(0, vec![start, next(1), next(2), end("all")], edges);
        graph.id = id(level);
        graph
    });
    super::provider(graphs.collect())
}
