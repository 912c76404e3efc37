//! Dominators: which node no way from the start can avoid.

use super::{Edges, NONE, get, of, set};

/// Which node lies on every way from the start to which other (Lengauer and Tarjan, path compression without recursion).
pub(crate) struct Dominators {
    /// Where each node's subtree of the dominator tree begins and ends; `NONE` for nodes out of reach.
    enter: Vec<usize>,
    leave: Vec<usize>,
}

impl Dominators {
    /// The dominators of everything in reach of `start`.
    pub(crate) fn new(edges: &Edges, start: usize) -> Dominators {
        let count = edges.len();
        let (order, number, parent) = preorder(edges, start);
        let mut before: Edges = vec![Vec::new(); count];
        for node in &order {
            for target in of(edges, *node) {
                if let Some(list) = before.get_mut(*target) {
                    list.push(*node);
                }
            }
        }
        let mut forest = Forest { ancestor: vec![NONE; count], label: (0..count).collect(), semi: number.clone() };
        let mut idom = vec![NONE; count];
        let mut bucket: Edges = vec![Vec::new(); count];
        for node in order.iter().skip(1).rev().copied() {
            for from in of(&before, node) {
                let best = forest.eval(*from);
                let semi = get(&forest.semi, best).min(get(&forest.semi, node));
                set(&mut forest.semi, node, semi);
            }
            let semi_node = get(&order, get(&forest.semi, node));
            if let Some(list) = bucket.get_mut(semi_node) {
                list.push(node);
            }
            let up = get(&parent, node);
            set(&mut forest.ancestor, node, up);
            for member in bucket.get_mut(up).map(std::mem::take).unwrap_or_default() {
                let best = forest.eval(member);
                let earlier = get(&forest.semi, best) < get(&forest.semi, member);
                set(&mut idom, member, if earlier { best } else { up });
            }
        }
        for node in order.iter().skip(1).copied() {
            if get(&idom, node) != get(&order, get(&forest.semi, node)) {
                let above = get(&idom, get(&idom, node));
                set(&mut idom, node, above);
            }
        }
        Dominators::intervals(&order, &idom, count)
    }

    /// Numbers the dominator tree so that a question is two comparisons.
    fn intervals(order: &[usize], idom: &[usize], count: usize) -> Dominators {
        let mut children: Edges = vec![Vec::new(); count];
        for node in order.iter().skip(1) {
            if let Some(list) = children.get_mut(get(idom, *node)) {
                list.push(*node);
            }
        }
        let mut enter = vec![NONE; count];
        let mut leave = vec![NONE; count];
        let mut clock = 0;
        let mut stack: Vec<(usize, bool)> = order.first().map(|n| (*n, false)).into_iter().collect();
        while let Some((node, leaving)) = stack.pop() {
            if leaving {
                set(&mut leave, node, clock);
            } else {
                set(&mut enter, node, clock);
                clock += 1;
                stack.push((node, true));
                stack.extend(of(&children, node).iter().map(|child| (*child, false)));
            }
        }
        Dominators { enter, leave }
    }

    /// Whether the start leads to the node at all.
    pub(crate) fn reached(&self, node: usize) -> bool {
        get(&self.enter, node) != NONE
    }

    /// Whether every way from the start to `node` passes `by`; a node dominates itself.
    pub(crate) fn dominates(&self, by: usize, node: usize) -> bool {
        self.reached(by)
            && self.reached(node)
            && get(&self.enter, by) <= get(&self.enter, node)
            && get(&self.enter, node) < get(&self.leave, by)
    }
}

/// Depth-first: the nodes in order, each node's number in it, each node's parent.
fn preorder(edges: &Edges, start: usize) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let mut order = Vec::new();
    let mut number = vec![NONE; edges.len()];
    let mut parent = vec![NONE; edges.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    if start < edges.len() {
        set(&mut number, start, 0);
        order.push(start);
        stack.push((start, 0));
    }
    while let Some((node, edge)) = stack.last_mut() {
        let (from, at) = (*node, *edge);
        *edge += 1;
        match of(edges, from).get(at).copied() {
            None => {
                stack.pop();
            }
            Some(target) if target < edges.len() && get(&number, target) == NONE => {
                set(&mut number, target, order.len());
                set(&mut parent, target, from);
                order.push(target);
                stack.push((target, 0));
            }
            Some(_) => {}
        }
    }
    (order, number, parent)
}

struct Forest {
    ancestor: Vec<usize>,
    label: Vec<usize>,
    semi: Vec<usize>,
}

impl Forest {
    /// The node of least semidominator on the way up from `node`, the way compressed.
    fn eval(&mut self, node: usize) -> usize {
        let mut way = Vec::new();
        let mut at = node;
        while get(&self.ancestor, at) != NONE && get(&self.ancestor, get(&self.ancestor, at)) != NONE {
            way.push(at);
            at = get(&self.ancestor, at);
        }
        for member in way.into_iter().rev() {
            let above = get(&self.ancestor, member);
            let better = get(&self.label, above);
            if get(&self.semi, better) < get(&self.semi, get(&self.label, member)) {
                set(&mut self.label, member, better);
            }
            let skip = get(&self.ancestor, above);
            set(&mut self.ancestor, member, skip);
        }
        get(&self.label, node)
    }
}
