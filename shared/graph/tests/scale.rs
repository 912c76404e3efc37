//! How evaluation grows: with the nodes and edges that it reaches, counted and not timed; and what it refuses.
//!
//! `cargo run --release -p graph --example scale` shows the times.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod evaluating;

use std::sync::Arc;

use evaluating::shapes::{self, SHAPES};
use graph::documents::{Edge, FactCheck, Node};
use graph::limits::{
    CALL_LEVELS, EVALUATION_DIAGNOSTICS, EVALUATION_FRAMES, EVALUATION_KEYS_BYTES, EVALUATION_ROUTES, EVALUATION_VISITS,
};
use graph::{State, evaluate};

const SMALL: usize = 500;
const LARGE: usize = 100_000;

#[test]
fn what_is_looked_at_grows_with_the_graph() {
    for (name, shape) in SHAPES {
        let [small, large] = [SMALL, LARGE].map(|size| {
            let (provider, state) = shape(size);
            let found = evaluate(&provider, "g0", "default", &state).unwrap();
            let size: usize =
                provider.graphs.values().map(|graph| graph.value.nodes.len() + graph.value.edges.len()).sum();
            // Once to make a Graph ready; then each node once and each edge twice at most, in every frame of it.
            let frames = if *name == "one graph often" { large_frames(&state) } else { 1 };
            assert!(found.visited <= 4 * size * frames, "{name}: {} of {size}", found.visited);
            found.visited
        });
        // A tenth more at most than so many times as much.
        assert!(10 * large * SMALL <= 11 * small * LARGE, "{name}: {small} became {large}");
        // And the shape is walked at all.
        assert!(large >= LARGE, "{name}: only {large}");
    }
}

fn large_frames(state: &State) -> usize {
    state.outcomes.len() / 100
}

#[test]
fn every_shape_comes_to_what_it_was_made_for() {
    for (name, shape) in SHAPES {
        let (provider, state) = shape(SMALL);
        let found = evaluate(&provider, "g0", "default", &state).unwrap();
        let status = evaluating::word(found.evaluation.status_code);
        let expected = match *name {
            "chain" => ("actionable", 1, 0),
            "fan out" => ("actionable", SMALL - 1, 1),
            "repeats" => ("actionable", SMALL - 1, 1),
            "facts missing" => ("blocked", 0, EVALUATION_DIAGNOSTICS + 1),
            _ => ("complete", 0, 0),
        };
        let told = found.evaluation.diagnostics.len();
        assert_eq!((status.as_str(), found.candidates.len(), told), expected, "{name}");
    }
}

#[test]
fn diagnostics_are_cut_and_the_last_one_says_so() {
    let (_, shape) = SHAPES.iter().find(|(name, _)| *name == "facts missing").unwrap();
    let (provider, state) = shape(SMALL);
    let last = evaluate(&provider, "g0", "default", &state).unwrap().evaluation.diagnostics.pop().unwrap();
    assert_eq!(last.code, "diagnostics-truncated");
    let detail = last.detail.unwrap();
    assert_eq!(detail, serde_json::json!({ "available": SMALL - 1, "returned": EVALUATION_DIAGNOSTICS }));
}

#[track_caller]
fn refused(provider: &graph::Provider, graph: &str, words: &str) {
    let failure = evaluate(provider, graph, "default", &State::default()).unwrap_err();
    assert_eq!(failure.code, "evaluation-too-large");
    assert!(failure.message.contains(words), "{}", failure.message);
}

#[test]
fn graphs_that_double_at_every_level_are_refused() {
    let id = |level: usize| format!("g{level}");
    let found = evaluate(&shapes::doubling(8, id), "g0", "default", &State::default()).unwrap();
    assert_eq!(found.candidates.len(), 1 << 8);
    assert_eq!(found.candidates[0].call_path.len(), 7);
    refused(&shapes::doubling(CALL_LEVELS, id), "g0", &format!("more than {EVALUATION_FRAMES} entered Subgraphs"));
}

#[test]
fn long_call_paths_of_many_routes_are_refused() {
    let id = |level: usize| format!("g{level}-{}", "x".repeat(140));
    refused(&shapes::doubling(14, id), &id(0), &format!("more than {EVALUATION_KEYS_BYTES} bytes of state keys"));
}

#[test]
fn call_paths_end_somewhere() {
    // Each level is entered once, so that only the levels count.
    let single = |levels| {
        let mut provider = shapes::doubling(levels, |level| format!("g{level}"));
        for graph in provider.graphs.values_mut() {
            graph.value.nodes.retain(|node| node.id != "n2");
            graph.value.edges.retain(|edge| edge.to != "n2" && edge.from != "n2");
        }
        provider
    };
    let found = evaluate(&single(CALL_LEVELS + 1), "g0", "default", &State::default()).unwrap();
    assert_eq!(found.candidates[0].call_path.len(), CALL_LEVELS);
    refused(&single(CALL_LEVELS + 2), "g0", &format!("more than {CALL_LEVELS} levels of Subgraphs"));
}

#[test]
fn too_many_open_routes_are_refused() {
    let (_, shape) = SHAPES.iter().find(|(name, _)| *name == "fan out").unwrap();
    let (mut provider, state) = shape(2);
    // One of them is open; so many more of it, by cloning: reading them would take longer than evaluating them.
    let graph = &mut provider.graphs.get_mut("g0").unwrap().value;
    let node = graph.nodes.iter().find(|node| node.id == "n1").unwrap().clone();
    let edge = graph.edges.iter().find(|edge| edge.to == "n1").unwrap().clone();
    let more = (1..=EVALUATION_ROUTES).map(|at| format!("more{at}"));
    for id in more {
        graph.edges.push(Edge { to: id.clone(), ..edge.clone() });
        graph.nodes.push(Node { id, ..node.clone() });
    }
    let failure = evaluate(&provider, "g0", "default", &state).unwrap_err();
    assert_eq!(failure.code, "evaluation-too-large");
    assert!(failure.message.contains(&format!("more than {EVALUATION_ROUTES} open Routes")), "{}", failure.message);
}

#[test]
fn fact_checks_are_counted_too() {
    let (_, shape) = SHAPES.iter().find(|(name, _)| *name == "fan out").unwrap();
    let (mut provider, state) = shape(2);
    let graph = &mut provider.graphs.get_mut("g0").unwrap().value;
    let check = FactCheck { path: "a.b".to_owned(), equals: None, exists: Some(false) };
    let node = graph.nodes.iter_mut().find(|node| node.id == "n1").unwrap();
    node.requires_facts = Some(vec![check; EVALUATION_VISITS]);
    let failure = evaluate(&provider, "g0", "default", &state).unwrap_err();
    assert_eq!(failure.code, "evaluation-too-large");
    assert!(failure.message.contains("fact checks"), "{}", failure.message);
}

#[test]
fn the_routes_of_a_frame_share_their_call_path() {
    let found =
        evaluate(&shapes::doubling(3, |level| format!("g{level}")), "g0", "default", &State::default()).unwrap();
    let mut paths: Vec<_> = found.candidates.iter().map(|candidate| Arc::as_ptr(&candidate.call_path)).collect();
    paths.sort();
    paths.dedup();
    assert_eq!((found.candidates.len(), paths.len()), (8, 4));
    let mut keys: Vec<_> =
        found.candidates.into_iter().map(|route| (route.state_key, route.call_path.join(" "))).collect();
    keys.sort();
    assert_eq!(keys[0], ("g0/n1>g1/n1>g2/n1".to_owned(), "g0/n1 g1/n1".to_owned()));
}
