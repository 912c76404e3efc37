//! What holds a Graph together in itself (section-graph, section-edges). Linear in its nodes and edges, without recursion.

use std::collections::{HashMap, HashSet};

use crate::documents::{EdgeKind, Graph, NodeKind, Outcome};
use crate::faults::Faults;
use crate::limits::CYCLE_NODES;

/// Tells every fault of a Graph.
pub(super) fn check(graph: &Graph, path: &str, faults: &mut Faults) {
    let mut index: HashMap<&str, usize> = HashMap::with_capacity(graph.nodes.len());
    for (at, node) in graph.nodes.iter().enumerate() {
        if index.insert(&node.id, at).is_some() {
            let message = format!("the node id `{}` is in the Graph twice", node.id);
            faults.say("graph-node-duplicate", format!("{path}#/nodes/{at}/id"), message);
        }
    }
    if !graph.nodes.iter().any(|node| node.kind == NodeKind::Terminal) {
        faults.say("graph-terminal-missing", format!("{path}#/nodes"), "the Graph needs a terminal node to end at");
    }
    for (entry, node) in &graph.entrypoints {
        if !index.contains_key(node.as_str()) {
            let message = format!("the entry `{entry}` begins at the node `{node}`, which there is not");
            faults.say("graph-entry-missing", format!("{path}#/entrypoints"), message);
        }
    }
    let targets = edges(graph, path, &index, faults);
    if let Some(cycle) = cycle(&targets) {
        let mut ids: Vec<&str> =
            cycle.iter().filter_map(|at| graph.nodes.get(*at)).map(|node| node.id.as_str()).collect();
        if ids.len() > CYCLE_NODES {
            ids.truncate(CYCLE_NODES);
            ids.push("…");
        }
        let message = format!("the edges run in a circle: {}; only a `repeat` edge may lead back", ids.join(" -> "));
        faults.say("graph-flow-cycle", format!("{path}#/edges"), message);
    }
}

/// Tells the faults of the edges; for each node, where its edges that do not repeat lead.
fn edges(graph: &Graph, path: &str, index: &HashMap<&str, usize>, faults: &mut Faults) -> Vec<Vec<usize>> {
    const COMPLETED: &[Outcome] = &[Outcome::Completed];
    let mut targets = vec![Vec::new(); graph.nodes.len()];
    let mut seen: HashSet<(EdgeKind, usize, usize, &[Outcome])> = HashSet::with_capacity(graph.edges.len());
    for (at, edge) in graph.edges.iter().enumerate() {
        let place = || format!("{path}#/edges/{at}");
        let (from, to) = (index.get(edge.from.as_str()), index.get(edge.to.as_str()));
        let (Some(&from), Some(&to)) = (from, to) else {
            let missing: Vec<String> = [(&edge.from, from), (&edge.to, to)]
                .into_iter()
                .filter(|(_, found)| found.is_none())
                .map(|(id, _)| format!("`{id}`"))
                .collect();
            let message = format!("the edge names {}, which is no node of the Graph", missing.join(" and "));
            faults.say("graph-edge-node-missing", place(), message);
            continue;
        };
        let kind_of = |at: usize| graph.nodes.get(at).map(|node| node.kind);
        let named = format_args!("the edge from `{}` to `{}`", edge.from, edge.to).to_string();
        if kind_of(from) == Some(NodeKind::Terminal) {
            faults.say("graph-terminal-edge-invalid", place(), format!("{named} leaves a terminal node"));
        }
        let kind = edge.kind.unwrap_or_default();
        if !seen.insert((kind, from, to, edge.outcomes.as_deref().unwrap_or(COMPLETED))) {
            faults.say("graph-edge-duplicate", place(), format!("{named} is in the Graph twice"));
        }
        match kind {
            EdgeKind::Repeat if !matches!(kind_of(to), Some(NodeKind::Action | NodeKind::Gate)) => {
                let message = format!("{named} repeats what is neither an action nor a gate");
                faults.say("graph-repeat-target-invalid", place(), message);
            }
            EdgeKind::GatedBy if kind_of(from) != Some(NodeKind::Gate) => {
                let message = format!("{named} is gatedBy a node that is no gate");
                faults.say("graph-gated-by-source-invalid", place(), message);
            }
            _ => {}
        }
        if kind != EdgeKind::Repeat
            && let Some(targets) = targets.get_mut(from)
        {
            targets.push(to);
        }
    }
    targets
}

/// The nodes of a circle, the first one at both ends.
pub(super) fn cycle(targets: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnTheWay,
        Done,
    }
    let mut seen = vec![Seen::Not; targets.len()];
    for start in 0..targets.len() {
        // The nodes on the way, each with how many of its targets were looked at.
        let mut way: Vec<(usize, usize)> = Vec::new();
        if seen.get(start) == Some(&Seen::Not) {
            way.push((start, 0));
        }
        while let Some((node, looked)) = way.last_mut() {
            let node = *node;
            let next = targets.get(node).and_then(|targets| targets.get(*looked)).copied();
            *looked = looked.saturating_add(1);
            if let Some(mark) = seen.get_mut(node) {
                *mark = if next.is_some() { Seen::OnTheWay } else { Seen::Done };
            }
            let Some(next) = next else {
                way.pop();
                continue;
            };
            match seen.get(next) {
                Some(Seen::Not) => way.push((next, 0)),
                Some(Seen::OnTheWay) => {
                    let mut circle: Vec<usize> =
                        way.iter().map(|(node, _)| *node).skip_while(|node| *node != next).collect();
                    circle.push(next);
                    return Some(circle);
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_wherever_it_is() {
        assert_eq!(cycle(&[]), None);
        assert_eq!(cycle(&[vec![1, 2], vec![2], vec![]]), None);
        assert_eq!(cycle(&[vec![0]]), Some(vec![0, 0]));
        assert_eq!(cycle(&[vec![1], vec![2], vec![3], vec![1]]), Some(vec![1, 2, 3, 1]));
        assert_eq!(cycle(&[vec![], vec![0, 2], vec![0, 1]]), Some(vec![1, 2, 1]));
    }

    #[test]
    fn a_long_way_takes_no_stack() {
        let nodes = 1_000_000;
        let mut targets: Vec<Vec<usize>> = (1..=nodes).map(|next| vec![next]).collect();
        targets.push(Vec::new());
        assert_eq!(cycle(&targets), None);
        targets[nodes].push(0);
        assert_eq!(cycle(&targets).unwrap().len(), nodes + 2);
    }
}
