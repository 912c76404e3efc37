//! Evaluation once more, as plainly as the specification says it: every round looks at every node and edge again.

use std::collections::{BTreeMap, BTreeSet};

use graph::documents::{Edge, EdgeKind, FactCheck, Graph, Join, Node, NodeKind, Outcome};
use graph::{Provider, State};
use serde_json::Value;

/// What a Graph comes to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// `actionable`, `waiting-user`, `blocked`, `complete` or `error`.
    pub status: &'static str,
    /// The Terminal's Outcome.
    pub outcome: Option<Outcome>,
    /// State key, whether a person must act, priority.
    pub routes: BTreeSet<(String, bool, i32)>,
    /// Code and state key (of the frame, when it is nobody's).
    pub faults: BTreeSet<(&'static str, String)>,
}

/// Evaluates the entry of a Graph whose state keys begin with `prefix`.
pub fn evaluate(provider: &Provider, graph: &str, entry: &str, prefix: &str, state: &State) -> Answer {
    let graph = &provider.graphs[graph].value;
    let prefix = format!("{prefix}{}/", graph.id);
    let nodes: BTreeMap<&str, &Node> = graph.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut outcomes: BTreeMap<&str, Option<Outcome>> = BTreeMap::new();
    let mut children: BTreeMap<&str, Answer> = BTreeMap::new();
    outcomes.insert(&graph.entrypoints[entry], None);
    loop {
        let before = outcomes.clone();
        for (id, outcome) in outcomes.iter_mut().filter(|(_, outcome)| outcome.is_none()) {
            let node = nodes[id];
            *outcome = Some(if !all(state, &node.requires_facts) {
                Outcome::Blocked
            } else if node.kind == NodeKind::Subgraph {
                let (graph, entry) = (node.graph.as_deref().unwrap(), node.entry.as_deref().unwrap());
                let child = evaluate(provider, graph, entry, &format!("{prefix}{id}>"), state);
                let outcome = match child.status {
                    "complete" => child.outcome.unwrap(),
                    "error" => Outcome::Failed,
                    "waiting-user" => Outcome::WaitingUser,
                    _ => Outcome::Pending,
                };
                children.insert(id, child);
                outcome
            } else {
                of_node(state, node, &format!("{prefix}{id}"))
            });
        }
        let back: Vec<_> = graph.edges.iter().filter(|edge| is_repeat(edge) && matches(&outcomes, edge)).collect();
        for edge in back {
            let legal = all(state, &nodes[edge.to.as_str()].requires_facts);
            outcomes.insert(&edge.to, Some(if legal { Outcome::Pending } else { Outcome::Blocked }));
        }
        let reached: Vec<_> = graph
            .nodes
            .iter()
            .filter(|node| !outcomes.contains_key(node.id.as_str()) && joins(graph, &outcomes, node))
            .collect();
        for node in reached {
            outcomes.insert(&node.id, None);
        }
        if outcomes == before {
            break;
        }
    }
    answer(state, &prefix, &nodes, &outcomes, children)
}

fn answer(
    state: &State,
    prefix: &str,
    nodes: &BTreeMap<&str, &Node>,
    outcomes: &BTreeMap<&str, Option<Outcome>>,
    children: BTreeMap<&str, Answer>,
) -> Answer {
    let mut answer = Answer::default();
    let mut ends = BTreeSet::new();
    for (id, outcome) in outcomes {
        let (node, key) = (nodes[id], format!("{prefix}{id}"));
        if !all(state, &node.requires_facts) {
            answer.faults.insert(("required-fact-missing", key));
            continue;
        }
        let open = matches!(outcome, Some(Outcome::Pending | Outcome::WaitingUser));
        let priority = node.priority.unwrap_or(0);
        match node.kind {
            NodeKind::Action if open => _ = answer.routes.insert((key, false, priority)),
            NodeKind::Gate if open => {
                let gate = node.gate.as_ref().unwrap();
                let allowed = gate.authority.as_ref().is_some_and(|authority| state.authorities.contains(authority));
                answer.routes.insert((key, !(allowed && gate.delegatable == Some(true)), priority));
            }
            NodeKind::Terminal => _ = ends.insert(outcome.unwrap()),
            _ => {}
        }
    }
    for child in children.into_values().filter(|child| child.status != "complete") {
        answer.routes.extend(child.routes);
        answer.faults.extend(child.faults);
    }
    if !ends.is_empty() {
        answer.routes.clear();
    }
    answer.status = match ends.len() {
        0 if answer.routes.iter().any(|(_, person, _)| !person) => "actionable",
        0 if !answer.routes.is_empty() => "waiting-user",
        0 => "blocked",
        1 => "complete",
        _ => "error",
    };
    if answer.status == "complete" {
        answer.outcome = ends.into_iter().next();
    }
    if answer.status == "error" {
        answer.faults.insert(("terminal-outcome-ambiguous", prefix.to_owned()));
    }
    if answer.status == "blocked" && answer.faults.is_empty() {
        answer.faults.insert(("no-route", prefix.to_owned()));
    }
    answer
}

fn of_node(state: &State, node: &Node, key: &str) -> Outcome {
    let recorded = state.outcomes.get(key).copied();
    match &node.satisfied_by {
        Some(_) if all(state, &node.satisfied_by) => Outcome::Completed,
        Some(_) if recorded == Some(Outcome::Completed) => Outcome::Unverified,
        _ => recorded.or(node.terminal_outcome).unwrap_or(Outcome::Pending),
    }
}

fn is_repeat(edge: &Edge) -> bool {
    edge.kind == Some(EdgeKind::Repeat)
}

fn matches(outcomes: &BTreeMap<&str, Option<Outcome>>, edge: &Edge) -> bool {
    let taken = edge.outcomes.clone().unwrap_or_else(|| vec![Outcome::Completed]);
    outcomes.get(edge.from.as_str()).copied().flatten().is_some_and(|outcome| taken.contains(&outcome))
}

fn joins(graph: &Graph, outcomes: &BTreeMap<&str, Option<Outcome>>, node: &Node) -> bool {
    let incoming: Vec<_> = graph.edges.iter().filter(|edge| edge.to == node.id && !is_repeat(edge)).collect();
    match node.join {
        Some(Join::Any) => incoming.iter().any(|edge| matches(outcomes, edge)),
        _ => !incoming.is_empty() && incoming.iter().all(|edge| matches(outcomes, edge)),
    }
}

fn all(state: &State, checks: &Option<Vec<FactCheck>>) -> bool {
    checks.iter().flatten().all(|check| {
        let mut found = Some(&Value::Object(state.facts.clone())).cloned();
        for segment in check.path.split('.') {
            found = match found {
                Some(Value::Array(list)) => segment.parse::<usize>().ok().and_then(|at| list.get(at).cloned()),
                Some(Value::Object(map)) => map.get(segment).cloned(),
                _ => None,
            };
        }
        match &check.equals {
            Some(expected) => found.as_ref() == Some(expected),
            None => found.is_some() == check.exists.unwrap(),
        }
    })
}
