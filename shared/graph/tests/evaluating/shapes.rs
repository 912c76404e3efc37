//! Graphs of one shape in any size, in the state that makes an evaluation walk the most of them.

use graph::documents::{Edge, EdgeKind, FactCheck, Graph, GraphSchema, Join, Node, NodeKind, Outcome};
use graph::{Provider, State, digest_bytes};

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

/// A digest of the id alone: that of a hundred thousand nodes is no part of evaluating them.
fn provider(graphs: Vec<Graph>) -> Provider {
    super::provided(graphs, |graph| digest_bytes(graph.id.as_bytes()))
}

/// A node of which nothing is said but this. Written in Rust, as everything here: a hundred thousand of them take seconds to
/// read as JSON in a build that is not optimized.
fn node(at: usize, kind: NodeKind) -> Node {
    Node {
        id: format!("n{at}"),
        kind,
        description: None,
        reason_code: None,
        priority: None,
        join: None,
        action: None,
        graph: None,
        entry: None,
        gate: None,
        inspection_action: None,
        resolution_action: None,
        delegated: None,
        terminal_outcome: None,
        requires_facts: None,
        satisfied_by: None,
        resources: None,
    }
}

fn action(at: usize) -> Node {
    Node { action: Some("actions/a.yaml".into()), reason_code: Some("route.work".into()), ..node(at, NodeKind::Action) }
}

fn sub(at: usize, graph: String) -> Node {
    Node { graph: Some(graph), entry: Some("default".into()), ..node(at, NodeKind::Subgraph) }
}

fn end(join: Join) -> Node {
    Node {
        id: "end".into(),
        join: Some(join),
        terminal_outcome: Some(Outcome::Completed),
        ..node(0, NodeKind::Terminal)
    }
}

fn edge(from: usize, to: usize) -> Edge {
    Edge { from: format!("n{from}"), to: format!("n{to}"), outcomes: None, kind: None }
}

fn to_end(from: usize) -> Edge {
    Edge { to: "end".into(), ..edge(from, 0) }
}

fn check(path: &str, exists: bool) -> Option<Vec<FactCheck>> {
    Some(vec![FactCheck { path: path.into(), equals: None, exists: Some(exists) }])
}

fn name(number: usize) -> String {
    format!("g{number}")
}

/// A Graph of these nodes and edges that begins at `n0`.
fn graph(id: String, nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
    let entrypoints = [("default".into(), "n0".into())].into();
    Graph { schema: GraphSchema::V1, id, description: None, entrypoints, nodes, edges }
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
    let nodes_of = (0..size).map(action).chain([end(Join::All)]).collect();
    (provider(vec![graph(name(0), nodes_of, edges)]), completed(nodes(size - 1)))
}

/// All open at once.
fn fan_out(size: usize) -> (Provider, State) {
    let edges = (1..size).flat_map(|at| [edge(0, at), to_end(at)]).collect();
    let nodes_of = (0..size).map(action).chain([end(Join::All)]).collect();
    (provider(vec![graph(name(0), nodes_of, edges)]), completed(nodes(1)))
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
    let nodes_of = (0..size).map(action).chain([end(Join::Any)]).collect();
    (provider(vec![graph(name(0), nodes_of, edges)]), completed(nodes(size)))
}

/// One after the other, each set back by the next.
fn repeats(size: usize) -> (Provider, State) {
    let mut edges: Vec<_> = (1..size).map(|at| edge(at - 1, at)).collect();
    edges.extend((1..size).map(|at| Edge {
        kind: Some(EdgeKind::Repeat),
        outcomes: Some(vec![Outcome::Completed, Outcome::Pending]),
        ..edge(at, at - 1)
    }));
    let nodes_of = (0..size).map(action).chain([end(Join::All)]).collect();
    (provider(vec![graph(name(0), nodes_of, edges)]), completed(nodes(size)))
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
        graph(name(number), (0..each).map(action).chain([end(Join::All)]).collect(), edges)
    };
    let mut edges: Vec<_> = (1..count).map(|at| edge(at - 1, at)).collect();
    edges.push(to_end(count - 1));
    let outer = graph(name(0), (0..count).map(|at| sub(at, name(child(at)))).chain([end(Join::All)]).collect(), edges);
    let numbers: std::collections::BTreeSet<_> = (0..count).map(&child).collect();
    let graphs = std::iter::once(outer).chain(numbers.into_iter().map(inner)).collect();
    let keys = (0..count).flat_map(|at| {
        let child = child(at);
        (0..each).map(move |node| format!("g0/n{at}>g{child}/n{node}"))
    });
    (provider(graphs), completed(keys))
}

/// Fifty levels of Subgraphs, each behind a chain.
fn deep(size: usize) -> (Provider, State) {
    let levels = 50;
    let each = (size / levels).max(2);
    let mut keys = Vec::new();
    let mut prefix = String::new();
    let graphs = (0..levels).map(|level| {
        let last = level + 1 == levels;
        let node = |at| if at == each - 1 && !last { sub(at, name(level + 1)) } else { action(at) };
        let edges = (1..each).map(|at| edge(at - 1, at)).chain([to_end(each - 1)]).collect();
        keys.extend((0..each).map(|at| format!("{prefix}g{level}/n{at}")));
        prefix.push_str(&format!("g{level}/n{}>", each - 1));
        graph(name(level), (0..each).map(node).chain([end(Join::All)]).collect(), edges)
    });
    let graphs = graphs.collect();
    (provider(graphs), completed(keys))
}

/// All reached, and all without what they require.
fn facts_missing(size: usize) -> (Provider, State) {
    let edges = (1..size).map(|at| edge(0, at)).chain([to_end(1)]).collect();
    let mut nodes_of: Vec<_> = (0..size).map(action).chain([end(Join::All)]).collect();
    for node in &mut nodes_of[1..size] {
        node.requires_facts = check("a.b", true);
    }
    (provider(vec![graph(name(0), nodes_of, edges)]), completed(nodes(1)))
}

/// So many levels of Graphs, each of which enters the next one twice at once: the frames double at every level.
pub fn doubling(levels: usize, id: impl Fn(usize) -> String) -> Provider {
    let graphs = (0..levels).map(|level| {
        let next = |at: usize| if level + 1 < levels { sub(at, id(level + 1)) } else { action(at) };
        let start = Node { satisfied_by: check("none", false), ..action(0) };
        let edges = vec![edge(0, 1), edge(0, 2), to_end(1), to_end(2)];
        graph(id(level), vec![start, next(1), next(2), end(Join::All)], edges)
    });
    provider(graphs.collect())
}
