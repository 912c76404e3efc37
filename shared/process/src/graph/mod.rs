//! Plain graph algorithms over steps by index. All are iterative and at most linear in nodes and edges, up to a
//! logarithm, or a factor of nodes over 64 in [`Closure`].

mod dominators;

pub(crate) use dominators::Dominators;

/// The targets of each node's edges, in order.
pub(crate) type Edges = Vec<Vec<usize>>;

fn of(edges: &Edges, node: usize) -> &[usize] {
    edges.get(node).map(Vec::as_slice).unwrap_or_default()
}

fn get(list: &[usize], at: usize) -> usize {
    list.get(at).copied().unwrap_or(NONE)
}

fn set(list: &mut [usize], at: usize, value: usize) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

const NONE: usize = usize::MAX;

/// Which nodes some way leads to from one of `starts`, these among them.
pub(crate) fn reachable(edges: &Edges, starts: impl IntoIterator<Item = usize>) -> Vec<bool> {
    let mut reached = vec![false; edges.len()];
    let mut open: Vec<usize> = starts.into_iter().collect();
    while let Some(node) = open.pop() {
        match reached.get_mut(node) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        open.extend(of(edges, node));
    }
    reached
}

/// An edge that closes a cycle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BackEdge {
    /// The node it leaves.
    pub(crate) from: usize,
    /// Which of the node's edges it is.
    pub(crate) edge: usize,
    /// The cycle from the node that the edge comes back to, up to `from` or to as many nodes as a message can show.
    pub(crate) begins: Vec<usize>,
    /// Whether the cycle is longer than that.
    pub(crate) omitted: bool,
}

/// Every edge that closes a cycle in a depth-first walk from each node in turn; none when the graph has no cycle.
pub(crate) fn back_edges(edges: &Edges) -> Vec<BackEdge> {
    const SHOWN_NODES: usize = 6;
    let mut found = Vec::new();
    let mut depth = vec![NONE; edges.len()];
    let mut done = vec![false; edges.len()];
    for root in 0..edges.len() {
        if get(&depth, root) != NONE {
            continue;
        }
        let mut stack = vec![root];
        let mut next_edge = vec![0];
        set(&mut depth, root, 0);
        while let (Some(node), Some(edge)) = (stack.last().copied(), next_edge.last_mut()) {
            let at = *edge;
            *edge += 1;
            let Some(target) = of(edges, node).get(at).copied() else {
                stack.pop();
                next_edge.pop();
                if let Some(done) = done.get_mut(node) {
                    *done = true;
                }
                continue;
            };
            let target_depth = get(&depth, target);
            if target_depth == NONE {
                set(&mut depth, target, stack.len());
                stack.push(target);
                next_edge.push(0);
            } else if done.get(target) == Some(&false) {
                let round = stack.get(target_depth..).unwrap_or_default();
                let begins: Vec<usize> = round.iter().take(SHOWN_NODES).copied().collect();
                found.push(BackEdge { from: node, edge: at, omitted: round.len() > begins.len(), begins });
            }
        }
    }
    found
}

/// Which node leads to which other by one edge or more: components by Tarjan, one bit set for each.
pub(crate) struct Closure {
    component: Vec<usize>,
    /// For each component, the components it leads to.
    sets: Vec<Vec<u64>>,
}

impl Closure {
    /// The closure of the graph.
    pub(crate) fn new(edges: &Edges) -> Closure {
        let (component, members) = components(edges);
        let words = members.len().div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::with_capacity(members.len());
        // Components come in an order in which every edge leads to the same or an earlier one.
        for (own, nodes) in members.iter().enumerate() {
            let mut bits = vec![0_u64; words];
            if nodes.len() > 1 {
                mark(&mut bits, own);
            }
            for target in nodes.iter().flat_map(|node| of(edges, *node)) {
                let other = get(&component, *target);
                let had = bits.get(other / 64).is_some_and(|word| word & (1 << (other % 64)) != 0);
                mark(&mut bits, other);
                if other != own && !had {
                    for (word, more) in bits.iter_mut().zip(sets.get(other).map(Vec::as_slice).unwrap_or_default()) {
                        *word |= more;
                    }
                }
            }
            sets.push(bits);
        }
        Closure { component, sets }
    }

    /// Whether some way of one edge or more leads from `from` to `to`.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        let to = get(&self.component, to);
        self.sets
            .get(get(&self.component, from))
            .and_then(|bits| bits.get(to / 64))
            .is_some_and(|word| word & (1 << (to % 64)) != 0)
    }
}

fn mark(bits: &mut [u64], at: usize) {
    if let Some(word) = bits.get_mut(at / 64) {
        *word |= 1 << (at % 64);
    }
}

/// Each node's strongly connected component, and the members of each, targets before sources.
fn components(edges: &Edges) -> (Vec<usize>, Edges) {
    let count = edges.len();
    let mut index = vec![NONE; count];
    let mut low = vec![NONE; count];
    let mut component = vec![NONE; count];
    let mut members: Edges = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut clock = 0;
    for root in 0..count {
        if get(&index, root) != NONE {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, edge)) = stack.last_mut() {
            let (from, at) = (*node, *edge);
            *edge += 1;
            if at == 0 {
                set(&mut index, from, clock);
                set(&mut low, from, clock);
                clock += 1;
                open.push(from);
            }
            match of(edges, from).get(at).copied() {
                Some(target) if get(&index, target) == NONE => {
                    if target < count {
                        stack.push((target, 0));
                    }
                }
                Some(target) if get(&component, target) == NONE => {
                    let lower = get(&low, from).min(get(&index, target));
                    set(&mut low, from, lower);
                }
                Some(_) => {}
                None => {
                    stack.pop();
                    if let Some((up, _)) = stack.last() {
                        let lower = get(&low, *up).min(get(&low, from));
                        set(&mut low, *up, lower);
                    }
                    if get(&low, from) == get(&index, from) {
                        let mut own = Vec::new();
                        while let Some(member) = open.pop() {
                            set(&mut component, member, members.len());
                            own.push(member);
                            if member == from {
                                break;
                            }
                        }
                        members.push(own);
                    }
                }
            }
        }
    }
    (component, members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph() -> impl Strategy<Value = Edges> {
        (1_usize..12).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n, 0..4), n))
    }

    /// `edges` without the node.
    fn without(edges: &Edges, node: usize) -> Edges {
        let mut edges = edges.clone();
        edges[node].clear();
        for list in &mut edges {
            list.retain(|t| *t != node);
        }
        edges
    }

    proptest! {
        #[test]
        fn dominators_are_what_they_are_by_definition(edges in graph()) {
            let dominators = Dominators::new(&edges, 0);
            let reached = reachable(&edges, [0]);
            for node in 0..edges.len() {
                prop_assert_eq!(dominators.reached(node), reached[node]);
                for by in 0..edges.len() {
                    let cut = by == 0 || by == node || !reachable(&without(&edges, by), [0])[node];
                    let expect = reached[node] && reached[by] && cut;
                    prop_assert_eq!(dominators.dominates(by, node), expect, "{} over {} in {:?}", by, node, edges);
                }
            }
        }

        #[test]
        fn the_closure_is_reachability(edges in graph()) {
            let closure = Closure::new(&edges);
            for from in 0..edges.len() {
                for to in 0..edges.len() {
                    let expect = edges[from].iter().any(|t| reachable(&edges, [*t])[to]);
                    prop_assert_eq!(closure.reaches(from, to), expect, "{} to {} in {:?}", from, to, edges);
                }
            }
        }

        #[test]
        fn without_the_back_edges_no_cycle_is_left(edges in graph()) {
            let back = back_edges(&edges);
            let closure = Closure::new(&edges);
            prop_assert_eq!(back.is_empty(), (0..edges.len()).all(|n| !closure.reaches(n, n)));
            let mut rest = edges.clone();
            for b in back.iter().rev() {
                rest[b.from].remove(b.edge);
            }
            prop_assert_eq!(back_edges(&rest), vec![]);
        }
    }

    #[test]
    fn a_chain_as_long_as_you_like_needs_no_stack() {
        let edges: Edges = (0..200_000).map(|n| if n + 1 < 200_000 { vec![n + 1] } else { vec![0] }).collect();
        let back = back_edges(&edges);
        assert_eq!(back.len(), 1);
        assert!(back[0].omitted);
        let edges: Edges = (0..20_000).map(|n| if n + 1 < 20_000 { vec![n + 1] } else { vec![] }).collect();
        assert!(Dominators::new(&edges, 0).dominates(5, 19_999));
        assert!(Closure::new(&edges[..2_000].to_vec()).reaches(3, 1_999));
    }
}
