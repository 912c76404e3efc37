//! Large Providers load in time that grows with their size alone.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use graph::{Memory, load};

use crate::small::Small;

/// How long a large load may take in a build without optimisation on a slow machine. What grows with the square of the size
/// takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn large(nodes: usize) -> Memory {
    let mut text = String::from("schema: agent-graph.graph.v1\nid: child\nentrypoints: { default: n0 }\nnodes:\n");
    for at in 0..nodes {
        let fields = "kind: action, action: actions/run.yaml, reasonCode: route.child.run";
        writeln!(text, "  - {{ id: n{at}, {fields}, resources: {{ required: [resources/guide.md] }} }}").unwrap();
    }
    text.push_str("  - { id: done, kind: terminal, terminalOutcome: completed }\nedges:\n");
    for at in 1..nodes {
        writeln!(text, "  - {{ from: n{}, to: n{at} }}", at - 1).unwrap();
    }
    writeln!(text, "  - {{ from: n{}, to: done }}", nodes - 1).unwrap();
    Small::new().put("graphs/child.yaml", &text).source()
}

#[test]
fn a_graph_of_very_many_nodes_loads() {
    let source = large(100_000);
    let start = Instant::now();
    let provider = load(&source, "provider.yaml").unwrap();
    let took = start.elapsed();
    assert_eq!(provider.graphs["child"].value.nodes.len(), 100_001);
    assert!(took < PATIENCE, "{took:?}");
}

#[test]
fn very_many_graphs_in_layers_load() {
    let mut small = Small::new();
    small.0.retain(|path, _| path.starts_with("resources/guide"));
    // Each Graph enters every Graph of the next layer.
    let (layers, wide) = (20, 20);
    let id = |layer: usize, at: usize| format!("g{layer}-{at}");
    let mut paths = Vec::new();
    for layer in 0..layers {
        for at in 0..wide {
            let mut nodes = String::from("{ id: done, kind: terminal, terminalOutcome: completed }");
            for child in (0..wide).filter(|_| layer + 1 < layers) {
                let child_id = id(layer + 1, child);
                write!(nodes, ", {{ id: c{child}, kind: subgraph, graph: {child_id}, entry: default }}").unwrap();
            }
            let text = format!(
                "{{schema: agent-graph.graph.v1, id: {}, entrypoints: {{default: done}}, nodes: [{nodes}], edges: []}}",
                id(layer, at)
            );
            let path = format!("graphs/{}.yaml", id(layer, at));
            small = small.put(&path, &text);
            paths.push(path);
        }
    }
    let manifest =
        format!("{{schema: agent-graph.provider.v1, id: a, version: 1.0.0, graphs: [{}]}}", paths.join(", "));
    let provider = small.clone().put("provider.yaml", &manifest).load().unwrap();
    assert_eq!(provider.closures["g0-0"].len(), (layers - 1) * wide + 1);
    assert_eq!(provider.closures["g19-0"], ["graphs/g19-0.yaml"]);
}

#[test]
fn graphs_that_enter_each_other_too_deep_are_refused() {
    let graphs = |levels: usize| {
        let mut small = Small::new();
        let mut paths = Vec::new();
        for level in 0..=levels {
            let (next, path) = (level + 1, format!("graphs/l{level}.yaml"));
            let enter = format!(", {{ id: next, kind: subgraph, graph: l{next}, entry: default }}");
            let enter = if level < levels { enter.as_str() } else { "" };
            let text = format!(
                "{{schema: agent-graph.graph.v1, id: l{level}, entrypoints: {{default: done}}, edges: [],
                nodes: [{{ id: done, kind: terminal, terminalOutcome: completed }}{enter}]}}"
            );
            small = small.put(&path, &text);
            paths.push(path);
        }
        let manifest = "schema: agent-graph.provider.v1, id: a, version: 1.0.0";
        small.put("provider.yaml", &format!("{{{manifest}, graphs: [{}]}}", paths.join(", "))).load()
    };
    let most = graph::limits::CALL_LEVELS;
    assert_eq!(graphs(most).unwrap().dependencies.len(), most + 1);
    let failure = graphs(most + 1).unwrap_err();
    assert_eq!(failure.code, "graph-recursion");
    assert!(failure.message.contains("graphs/l65.yaml"), "{}", failure.message);
}

#[test]
fn more_files_than_a_provider_may_have_are_refused() {
    let mut small = Small::new();
    for at in 0..graph::limits::PROVIDER_FILES {
        small = small.put(&format!("skills/work/more/{at}.md"), "");
    }
    let failure = small.load().unwrap_err();
    assert_eq!(failure.code, "file-read-failed");
    assert!(failure.message.contains("10000 files"), "{}", failure.message);
}
