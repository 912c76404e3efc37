//! What the taker of a Route should know beside it: what counts as done, and what holds the node open.

use crate::documents::{EdgeKind, NodeKind, Route};
use crate::evaluate::{State, evaluate, proof};
use crate::keys::node_at;
use crate::limits::SET_BACK_NODES;
use crate::load::Provider;

/// What is to be known beside a Route of this Graph, entry and state, for programs and for people. None for most Routes.
pub fn notes(provider: &Provider, graph: &str, entry: &str, state: &State, route: &Route) -> Vec<String> {
    let Some(key) = route.after_action.record_node.as_deref() else { return Vec::new() };
    let facts = node_at(provider, graph, key).and_then(proof);
    let proof = facts.map(|facts| format!("done when: {facts}; recorded as completed without that, it is unverified"));
    proof.into_iter().chain(set_back(provider, graph, entry, state, route)).collect()
}

/// The nodes that set this one back by a repeat. However often it is done, it stays open until they have another Outcome.
fn set_back(provider: &Provider, graph: &str, entry: &str, state: &State, route: &Route) -> Option<String> {
    let edges = &provider.graphs.get(&route.graph)?.value.edges;
    // Most nodes are asked nothing more.
    edges.iter().find(|edge| edge.kind == Some(EdgeKind::Repeat) && edge.to == route.node)?;
    let evaluated = evaluate(provider, graph, entry, state).ok()?;
    let candidate = evaluated.candidates.iter().find(|candidate| candidate.route_id == route.route_id)?;
    let sources = &candidate.set_back_by;
    let mut named: Vec<String> = sources
        .iter()
        .take(SET_BACK_NODES)
        .map(|key| match node_at(provider, graph, key).map(|node| node.kind) {
            // What nobody can record: what its Graph came to.
            Some(NodeKind::Subgraph) => format!("what ended {key}"),
            _ => key.clone(),
        })
        .collect();
    if sources.len() > SET_BACK_NODES {
        named.push("others".to_owned());
    }
    let named = named.join(" and ");
    (!sources.is_empty()).then(|| {
        format!("set back by {named}: when this is done again, record {named} anew as well; until then it stays open")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::documents::Outcome::{self, Completed, Failed, Pending, Unverified};
    use crate::locate::Places;
    use crate::route::{RouteRequest, route};
    use crate::source::Memory;

    const GRAPH: &str = "schema: agent-graph.graph.v1
id: GRAPH
entrypoints: { default: build }
nodes:
  - { id: build, kind: action, action: a.yaml, reasonCode: route.build }
  - { id: test, kind: action, action: a.yaml, reasonCode: route.test, satisfiedBy: [{ path: tested, equals: 1 }] }
  - { id: done, kind: terminal, terminalOutcome: completed }
  - { id: broken, kind: terminal, terminalOutcome: failed }
edges:
  - { from: build, to: test }
  - { from: test, to: build, kind: repeat, outcomes: [failed, unverified] }
  - { from: test, to: done }
  - { from: test, to: broken, outcomes: [skipped] }
";
    const OUTER: &str = "schema: agent-graph.graph.v1
id: outer
entrypoints: { default: first }
nodes:
  - { id: first, kind: action, action: a.yaml, reasonCode: route.first }
  - { id: in, kind: subgraph, graph: inner, entry: default }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges:
  - { from: first, to: in }
  - { from: in, to: first, kind: repeat, outcomes: [failed] }
  - { from: in, to: done }
";
    const PROOF: &str = "done when: tested must be 1; recorded as completed without that, it is unverified";

    fn provider() -> Provider {
        let manifest = "schema: agent-graph.provider.v1\nid: p/p\nversion: 1.0.0\ngraphs: [g.yaml, i.yaml, o.yaml]\n";
        let action = "schema: agent-graph.action.v1\nid: a\nrunner: command\neffect: write\ncommand: make\n";
        let files = [
            ("provider.yaml", manifest.to_owned()),
            ("g.yaml", GRAPH.replace("GRAPH", "g")),
            ("i.yaml", GRAPH.replace("GRAPH", "inner")),
            ("o.yaml", OUTER.to_owned()),
            ("a.yaml", action.to_owned()),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes().into()));
        crate::load(&Memory(files.into()), "provider.yaml").unwrap()
    }

    /// The node of the primary Route, and its notes.
    fn told(graph: &str, outcomes: &[(&str, Outcome)]) -> (String, Vec<String>) {
        let provider = provider();
        let places = Places { provider_root: String::new(), workspace: ".".to_owned() };
        let outcomes = outcomes.iter().map(|(key, outcome)| ((*key).to_owned(), *outcome)).collect();
        let state = State { outcomes, ..State::default() };
        let request = RouteRequest { graph, entry: "default", route_id: None, revision: None, receipts: None };
        let route = route(&provider, &places, &state, &request).unwrap();
        (route.after_action.record_node.clone().unwrap(), notes(&provider, graph, "default", &state, &route))
    }

    fn back(source: &str) -> Vec<String> {
        let until = "anew as well; until then it stays open";
        vec![format!("set back by {source}: when this is done again, record {source} {until}")]
    }

    #[test]
    fn what_proves_a_node_is_told() {
        assert_eq!(told("g", &[]), ("g/build".to_owned(), Vec::new()));
        assert_eq!(told("g", &[("g/build", Completed)]), ("g/test".to_owned(), vec![PROOF.to_owned()]));
        let state = State {
            facts: json!({ "tested": 1 }).as_object().unwrap().clone(),
            outcomes: [("g/build".to_owned(), Completed)].into(),
            ..State::default()
        };
        let ended = crate::evaluate(&provider(), "g", "default", &state).unwrap().evaluation;
        assert_eq!(ended.outcome, Some(Completed));
    }

    #[test]
    fn what_set_a_node_back_is_told() {
        // However often it is built, whatever was recorded, and also for what counts as less than was recorded.
        for outcome in [Failed, Unverified, Completed] {
            let built = [("g/build", Completed), ("g/test", outcome)];
            assert_eq!(told("g", &built), ("g/build".to_owned(), back("g/test")), "{outcome:?}");
        }
        let inner = [("outer/first", Completed), ("outer/in>inner/build", Completed), ("outer/in>inner/test", Failed)];
        assert_eq!(told("outer", &inner), ("outer/in>inner/build".to_owned(), back("outer/in>inner/test")));
        // A Graph that came to its end.
        let inner = [
            ("outer/first", Completed),
            ("outer/in>inner/build", Completed),
            ("outer/in>inner/test", Outcome::Skipped),
        ];
        assert_eq!(told("outer", &inner), ("outer/first".to_owned(), back("what ended outer/in")));
        // Recorded anew, as to be done, it goes on.
        let anew = [("g/build", Completed), ("g/test", Pending)];
        assert_eq!(told("g", &anew), ("g/test".to_owned(), vec![PROOF.to_owned()]));
    }
}
