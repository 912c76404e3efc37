//! What the taker of a Route should know beside it: what counts as done, and what holds the node open.

use crate::documents::{EdgeKind, Outcome, Route};
use crate::evaluate::{State, proof};
use crate::keys::node_at;
use crate::load::Provider;

/// What is to be known beside a Route of this Graph in this state, for programs and for people. None for most Routes.
pub fn notes(provider: &Provider, graph: &str, state: &State, route: &Route) -> Vec<String> {
    let Some(key) = route.after_action.record_node.as_deref() else { return Vec::new() };
    let facts = node_at(provider, graph, key).and_then(proof);
    let proof = facts.map(|facts| format!("done when: {facts}; recorded as completed without that, it is unverified"));
    proof.into_iter().chain(set_back(provider, state, route, key)).collect()
}

/// The nodes that set this one back by a repeat. However often it is done, it stays open until they have another Outcome.
fn set_back(provider: &Provider, state: &State, route: &Route, key: &str) -> Option<String> {
    let graph = &provider.graphs.get(&route.graph)?.value;
    let frame = key.strip_suffix(route.node.as_str())?;
    let repeats = graph.edges.iter().filter(|edge| edge.kind == Some(EdgeKind::Repeat) && edge.to == route.node);
    let sources = repeats.filter_map(|edge| {
        let source = format!("{frame}{}", edge.from);
        let outcome = state.outcomes.get(&source)?;
        edge.outcomes.as_deref().unwrap_or(&[Outcome::Completed]).contains(outcome).then_some(source)
    });
    let sources: Vec<String> = sources.collect();
    let named = sources.join(" and ");
    (!sources.is_empty()).then(|| {
        format!("set back by {named}: when this is done again, record {named} anew as well; until then it stays open")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
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
edges:
  - { from: build, to: test }
  - { from: test, to: build, kind: repeat, outcomes: [failed] }
  - { from: test, to: done }
";
    const OUTER: &str = "schema: agent-graph.graph.v1
id: outer
entrypoints: { default: in }
nodes:
  - { id: in, kind: subgraph, graph: inner, entry: default }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges: [{ from: in, to: done }]
";

    #[test]
    fn what_proves_a_node_and_what_set_it_back_is_told() {
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
        let provider = crate::load(&Memory(files.into()), "provider.yaml").unwrap();
        let places = Places { provider_root: String::new(), workspace: ".".to_owned() };
        let told = |graph: &str, outcomes: &[(&str, Outcome)]| {
            let outcomes = outcomes.iter().map(|(key, outcome)| ((*key).to_owned(), *outcome)).collect();
            let state = State { outcomes, ..State::default() };
            let request = RouteRequest { graph, entry: "default", route_id: None, revision: None, receipts: None };
            let route = route(&provider, &places, &state, &request).unwrap();
            (route.after_action.record_node.clone().unwrap(), notes(&provider, graph, &state, &route))
        };
        use Outcome::{Completed, Failed};
        assert_eq!(told("g", &[]), ("g/build".to_owned(), Vec::new()));
        let proof = "done when: tested must be 1; recorded as completed without that, it is unverified";
        assert_eq!(told("g", &[("g/build", Completed)]), ("g/test".to_owned(), vec![proof.to_owned()]));
        let back = |source: &str| {
            vec![format!(
                "set back by {source}: when this is done again, record {source} anew as well; until then it stays open"
            )]
        };
        // However often it is built.
        assert_eq!(told("g", &[("g/build", Completed), ("g/test", Failed)]), ("g/build".to_owned(), back("g/test")));
        let inner = [("outer/in>inner/build", Completed), ("outer/in>inner/test", Failed)];
        assert_eq!(told("outer", &inner), ("outer/in>inner/build".to_owned(), back("outer/in>inner/test")));
        // Recorded anew, as to be done or as done, it goes on.
        let anew = [("g/build", Completed), ("g/test", Outcome::Pending)];
        assert_eq!(told("g", &anew), ("g/test".to_owned(), vec![proof.to_owned()]));
        let proved = State {
            facts: json!({ "tested": 1 }).as_object().unwrap().clone(),
            outcomes: [("g/build".to_owned(), Completed), ("g/test".to_owned(), Completed)].into(),
            ..State::default()
        };
        let ended = crate::evaluate(&provider, "g", "default", &proved).unwrap().evaluation;
        assert_eq!(ended.outcome, Some(Completed));
    }
}
