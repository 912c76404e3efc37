//! State keys: what the Outcome of a node is recorded under. `<graph>/<node>`, and below a Subgraph node its own key, `>`,
//! and `<child graph>/<node>`.
//!
//! A Graph may be entered in many places, so its Graphs can have more keys than could be listed: whatever lists them here
//! is bounded.

use std::collections::VecDeque;

use crate::documents::{Graph, Node, NodeKind};
use crate::limits::CALL_LEVELS;
use crate::load::Provider;

/// Most keys that a search for a near one looks at.
const KEYS_LOOKED_AT: usize = 2_000;

/// Longest key that is searched for, in bytes: nobody mistypes a longer one.
const SOUGHT_BYTES: usize = 256;

/// Most near keys that are told.
const NEAR_KEYS: usize = 3;

/// The node that a state key names in a Graph or in those that it enters; `None` when there is none.
pub fn node_at<'a>(provider: &'a Provider, graph: &str, key: &str) -> Option<&'a Node> {
    walk(provider, graph, key).0
}

/// Whether the Outcome of such a node is recorded. That of a Subgraph is its Terminal's, and a Terminal has its own.
pub fn recordable(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Action | NodeKind::Gate)
}

/// The keys that are most like one that does not exist, the nearest first: those of its own Graph, and those of the same
/// node elsewhere. Only nodes whose Outcome is recorded.
pub fn near_keys(provider: &Provider, graph: &str, key: &str) -> Vec<String> {
    if key.len() > SOUGHT_BYTES {
        return Vec::new();
    }
    let (_, parent, there) = walk(provider, graph, key);
    let siblings = there.into_iter().flat_map(|graph| keys_of(graph, &parent));
    let mut found: Vec<(usize, String)> = Vec::new();
    for candidate in siblings.take(KEYS_LOOKED_AT).chain(all_keys(provider, graph).take(KEYS_LOOKED_AT)) {
        if let Some(far) = far(key, &candidate)
            && !found.iter().any(|(_, known)| *known == candidate)
        {
            found.push((far, candidate));
        }
    }
    found.sort();
    found.truncate(NEAR_KEYS);
    found.into_iter().map(|(_, key)| key).collect()
}

/// Follows a key as far as it leads: the node at its end, or the key of the last Subgraph node on the way (empty at the
/// top) and the Graph in which the next part was not found.
fn walk<'a>(provider: &'a Provider, graph: &str, key: &str) -> (Option<&'a Node>, String, Option<&'a Graph>) {
    let mut here = provider.graphs.get(graph).map(|loaded| &loaded.value);
    let mut parent = String::new();
    let mut parts = key.split('>').take(CALL_LEVELS + 1).peekable();
    while let (Some(current), Some(part)) = (here, parts.next()) {
        let id = part.strip_prefix(current.id.as_str()).and_then(|rest| rest.strip_prefix('/'));
        let Some(node) = id.and_then(|id| current.nodes.iter().find(|node| node.id == id)) else { break };
        if parts.peek().is_none() {
            let whole = parent.len() + part.len() == key.len();
            return (Some(node).filter(|_| whole), parent, here);
        }
        let Some(child) = node.graph.as_deref().filter(|_| node.kind == NodeKind::Subgraph) else { break };
        parent.push_str(part);
        parent.push('>');
        here = provider.graphs.get(child).map(|loaded| &loaded.value);
    }
    (None, parent, here)
}

/// The recorded keys of a Graph's own nodes, where it stands below this.
fn keys_of(graph: &Graph, parent: &str) -> impl Iterator<Item = String> {
    graph.nodes.iter().filter(|node| recordable(node)).map(move |node| format!("{parent}{}/{}", graph.id, node.id))
}

/// The recorded keys of a Graph and of those it enters, the outer ones first.
fn all_keys<'a>(provider: &'a Provider, graph: &str) -> impl Iterator<Item = String> + 'a {
    let start = provider.graphs.get(graph).map(|loaded| (String::new(), &loaded.value, 0));
    let mut frames: VecDeque<(String, &'a Graph, usize)> = start.into_iter().collect();
    std::iter::from_fn(move || {
        let (parent, graph, level) = frames.pop_front()?;
        let room = KEYS_LOOKED_AT.saturating_sub(frames.len());
        let children = graph.nodes.iter().filter(|node| node.kind == NodeKind::Subgraph && level < CALL_LEVELS);
        for node in children.take(room) {
            let child = node.graph.as_deref().and_then(|child| provider.graphs.get(child));
            let below = format!("{parent}{}/{}>", graph.id, node.id);
            frames.extend(child.map(|child| (below, &child.value, level + 1)));
        }
        Some(keys_of(graph, &parent).take(KEYS_LOOKED_AT).collect::<Vec<_>>())
    })
    .take(KEYS_LOOKED_AT)
    .flatten()
}

/// How far a key is from the one that was meant; `None` when it cannot have been. The same node elsewhere is nearest.
fn far(sought: &str, key: &str) -> Option<usize> {
    let node = |key: &str| key.rsplit('/').next().map(str::to_owned);
    if node(sought) == node(key) {
        return Some(0);
    }
    let allowed = (sought.chars().count() / 4).clamp(1, 6);
    let edits = edits(sought, key, allowed);
    (edits <= allowed).then_some(edits)
}

/// Letters to add, remove or change between two texts; more than `most` reads as more than that.
pub(crate) fn edits(from: &str, to: &str, most: usize) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = (0..=to.len()).collect();
    if from.chars().count().abs_diff(to.len()) > most {
        return most + 1;
    }
    for (at, letter) in from.chars().enumerate() {
        let mut row = Vec::with_capacity(before.len());
        let (mut diagonal, mut left) = (at, at + 1);
        row.push(left);
        for (above, other) in before.iter().skip(1).zip(&to) {
            left = (diagonal + usize::from(letter != *other)).min(above + 1).min(left + 1);
            diagonal = *above;
            row.push(left);
        }
        if row.iter().min().is_some_and(|least| *least > most) {
            return most + 1;
        }
        before = row;
    }
    before.last().copied().unwrap_or(most + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (from, to, count) in
            [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ab", 0), ("ab", "ba", 2)]
        {
            assert_eq!(edits(from, to, 9), count, "{from} {to}");
            assert_eq!(edits(to, from, 9), count, "{to} {from}");
        }
        assert!(edits("kitten", "sitting", 1) > 1);
    }
}
