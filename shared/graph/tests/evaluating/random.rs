//! Random Graphs and states by seed.

use std::collections::{BTreeMap, BTreeSet};

use graph::State;
use graph::documents::Graph;
use serde_json::{Map, Value, json};

/// Numbers that follow from a seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Seed(pub u64);

impl Seed {
    /// The next number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// A list in another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// Every Outcome.
pub const OUTCOMES: [&str; 8] =
    ["completed", "partial", "failed", "unverified", "skipped", "pending", "blocked", "waiting-user"];
const PATHS: [&str; 6] = ["flag", "count", "deep.a", "deep.b.c", "items.0.x", "items.1"];

fn value(seed: &mut Seed) -> Value {
    seed.one(&[json!(null), json!(true), json!(0), json!(3), json!("x")]).clone()
}

fn checks(seed: &mut Seed) -> Value {
    let check = |seed: &mut Seed| {
        let path = *seed.one(&PATHS);
        if seed.once_in(2) {
            json!({ "path": path, "exists": !seed.once_in(3) })
        } else {
            json!({ "path": path, "equals": value(seed) })
        }
    };
    (0..=seed.below(2)).map(|_| check(seed)).collect()
}

/// Graphs `g0`, `g1`, …; each enters only later ones.
pub fn graphs(seed: &mut Seed) -> Vec<Graph> {
    let count = 1 + seed.below(4);
    (0..count).map(|number| graph(seed, number, count)).collect()
}

fn graph(seed: &mut Seed, number: usize, count: usize) -> Graph {
    let size = 1 + seed.below(12);
    let mut nodes: Vec<_> = (0..size).map(|at| node(seed, number, count, at)).collect();
    let terminal = |node: &Value| node["kind"] == "terminal";
    let mut edges = Vec::new();
    for to in 1..size {
        for _ in 0..=seed.below(3) {
            let from = seed.below(to);
            if !terminal(&nodes[from]) {
                edges.push(edge(seed, from, to, false));
            }
        }
    }
    for _ in 0..seed.below(4) {
        let (from, to) = (seed.below(size), seed.below(size));
        if !terminal(&nodes[from]) && matches!(nodes[to]["kind"].as_str(), Some("action" | "gate")) {
            edges.push(edge(seed, from, to, true));
        }
    }
    seed.shuffle(&mut nodes);
    seed.shuffle(&mut edges);
    let entry = if seed.once_in(8) { seed.below(size) } else { 0 };
    serde_json::from_value(json!({
        "schema": "agent-graph.graph.v1", "id": format!("g{number}"),
        "entrypoints": { "default": format!("n{entry}"), "other": format!("n{}", seed.below(size)) },
        "nodes": nodes, "edges": edges,
    }))
    .unwrap()
}

fn node(seed: &mut Seed, graph: usize, graphs: usize, at: usize) -> Value {
    let mut node = json!({ "id": format!("n{at}"), "reasonCode": format!("route.g{graph}.n{at}") });
    let kind = seed.below(if at == 0 { 7 } else { 10 });
    match kind {
        0..=3 => {
            node["kind"] = json!("action");
            node["action"] = json!("actions/a.yaml");
        }
        6 if graph + 1 < graphs => {
            node["kind"] = json!("subgraph");
            node["graph"] = json!(format!("g{}", graph + 1 + seed.below(graphs - graph - 1)));
            node["entry"] = json!(*seed.one(&["default", "default", "other"]));
        }
        4..=6 => {
            node["kind"] = json!("gate");
            node["gate"] = json!({ "id": format!("gate-{at}"), "prompt": "Go on?" });
            if seed.once_in(2) {
                node["gate"]["authority"] = json!(*seed.one(&["lead", "ops"]));
            }
            if seed.once_in(2) {
                node["gate"]["delegatable"] = json!(seed.once_in(2));
            }
        }
        _ => {
            node["kind"] = json!("terminal");
            node["terminalOutcome"] = json!(*seed.one(&OUTCOMES[..5]));
        }
    }
    if kind < 6 && seed.once_in(4) {
        node["satisfiedBy"] = checks(seed);
    }
    if seed.once_in(6) {
        node["requiresFacts"] = checks(seed);
    }
    if seed.once_in(3) {
        node["priority"] = json!(seed.below(4) as i32 - 1);
    }
    if seed.once_in(3) {
        node["join"] = json!(*seed.one(&["all", "any", "any"]));
    }
    node
}

fn edge(seed: &mut Seed, from: usize, to: usize, repeat: bool) -> Value {
    let mut edge = json!({ "from": format!("n{from}"), "to": format!("n{to}") });
    if repeat {
        edge["kind"] = json!("repeat");
    } else if seed.once_in(3) {
        edge["kind"] = json!(*seed.one(&["flow", "consumes", "requires", "gatedBy"]));
    }
    if repeat || seed.once_in(3) {
        let outcomes: BTreeSet<_> = (0..=seed.below(3)).map(|_| *seed.one(&OUTCOMES)).collect();
        edge["outcomes"] = outcomes.into_iter().collect();
    }
    edge
}

/// A state of these Graphs: Outcomes of nodes on every call path, biased to `completed` so that frames are walked far.
pub fn state(seed: &mut Seed, graphs: &[Graph]) -> State {
    let mut keys = Vec::new();
    keys_below(graphs, &graphs[0], "", &mut keys);
    let ease = 1 + seed.below(4);
    let mut outcomes = BTreeMap::new();
    for key in keys {
        if !seed.once_in(ease + 1) {
            let word = if seed.once_in(3) { *seed.one(&OUTCOMES) } else { "completed" };
            outcomes.insert(key, serde_json::from_value(json!(word)).unwrap());
        }
    }
    let authorities = ["lead", "ops"].into_iter().filter(|_| seed.once_in(2)).map(str::to_owned).collect();
    State { facts: facts(seed), outcomes, authorities }
}

fn keys_below(graphs: &[Graph], graph: &Graph, prefix: &str, keys: &mut Vec<String>) {
    for node in &graph.nodes {
        let key = format!("{prefix}{}/{}", graph.id, node.id);
        if let Some(child) = node.graph.as_ref().and_then(|id| graphs.iter().find(|graph| graph.id == *id)) {
            keys_below(graphs, child, &format!("{key}>"), keys);
        }
        keys.push(key);
    }
}

fn facts(seed: &mut Seed) -> Map<String, Value> {
    let mut facts = Map::new();
    for key in ["flag", "count", "deep", "items"] {
        if seed.once_in(3) {
            continue;
        }
        let fact = match key {
            "deep" => json!({ "a": value(seed), "b": { "c": value(seed) } }),
            "items" => json!([{ "x": value(seed) }, value(seed)]),
            _ => value(seed),
        };
        facts.insert(key.to_owned(), fact);
    }
    facts
}
