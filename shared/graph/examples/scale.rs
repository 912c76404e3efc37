//! How long evaluation takes as Graphs grow: `cargo run --release -p graph --example scale [NODES…]`.
//!
//! Each line is one shape in one size: its nodes and edges, how many of them were looked at, the time of one evaluation (the
//! best of several), that time by node, and how it stands to the size before. What was looked at counts a Graph's nodes and
//! edges once to make it ready, and then those that are reached.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "../tests/evaluating/mod.rs"]
mod evaluating;

use std::time::{Duration, Instant};

use evaluating::shapes::SHAPES;
use graph::evaluate;

/// How often each evaluation is timed.
const TIMES: usize = 7;

fn main() {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse().unwrap()).collect();
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    println!(
        "{:<16} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6}",
        "shape", "nodes", "edges", "visited", "ms", "ns/node", "ratio"
    );
    for (name, shape) in SHAPES {
        let mut before: Option<Duration> = None;
        for size in &sizes {
            let (provider, state) = shape(*size);
            let mut visited = 0;
            let timed = (0..TIMES).map(|_| {
                let start = Instant::now();
                let found = evaluate(&provider, "g0", "default", &state).unwrap();
                let time = start.elapsed();
                visited = found.visited;
                time
            });
            let best = timed.min().unwrap();
            let graphs = provider.graphs.values().map(|graph| &graph.value);
            let (nodes, edges) = graphs.fold((0, 0), |(n, e), graph| (n + graph.nodes.len(), e + graph.edges.len()));
            let ratio =
                before.map_or("".to_owned(), |before| format!("{:.1}", best.as_secs_f64() / before.as_secs_f64()));
            let ms = best.as_secs_f64() * 1e3;
            let by_node = best.as_nanos() as f64 / *size as f64;
            println!("{name:<16} {nodes:>8} {edges:>8} {visited:>8} {ms:>9.3} {by_node:>9.0} {ratio:>6}");
            before = Some(best);
        }
    }
}
