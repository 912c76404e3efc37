//! A Graph made ready to walk: nodes by number, edges beside the node they leave. Built once a Graph and evaluation.

use std::collections::HashMap;

use crate::documents::{EdgeKind, Graph, Node, Outcome};
use crate::failure::Failure;

/// A node's number in its Graph.
pub(super) type At = u32;

/// A set of Outcomes, a bit each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcomes(u8);

impl Outcomes {
    fn of(outcomes: Option<&[Outcome]>) -> Outcomes {
        let bit = |outcome: &Outcome| 1 << (*outcome as u8);
        Outcomes(outcomes.unwrap_or(&[Outcome::Completed]).iter().map(bit).fold(0, |all, one| all | one))
    }

    pub(super) fn has(self, outcome: Outcome) -> bool {
        self.0 & (1 << (outcome as u8)) != 0
    }
}

/// An edge, seen from the node it leaves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) to: At,
    pub(super) outcomes: Outcomes,
}

/// Edges by the node they leave: those of node `n` are the links from `starts[n]` to `starts[n + 1]`.
#[derive(Debug, Default)]
struct Links {
    starts: Vec<u32>,
    links: Vec<Link>,
}

impl Links {
    /// Sorted by counting, so that building stays linear.
    fn of(nodes: usize, edges: &[(At, Link)]) -> Links {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges {
            if let Some(count) = starts.get_mut(*from as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut links = vec![Link { to: 0, outcomes: Outcomes(0) }; edges.len()];
        for (from, link) in edges {
            let Some(place) = next.get_mut(*from as usize) else { continue };
            if let Some(slot) = links.get_mut(*place as usize) {
                *slot = *link;
            }
            *place += 1;
        }
        Links { starts, links }
    }

    fn from(&self, node: At) -> &[Link] {
        let start = |node: usize| self.starts.get(node).map_or(0, |start| *start as usize);
        self.links.get(start(node as usize)..start(node as usize + 1)).unwrap_or_default()
    }
}

/// What is known of a node while its frame is walked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    /// Its Outcome, once it was reached and looked at.
    pub(super) outcome: Option<Outcome>,
    /// Whether its joins held, or a repeat edge led to it.
    pub(super) reached: bool,
    /// Whether a Fact that it requires is missing: nothing sets it back.
    pub(super) illegal: bool,
    /// How many of its incoming edges match.
    pub(super) matching: u32,
}

/// A Graph made ready.
#[derive(Debug)]
pub(super) struct Index<'a> {
    pub(super) graph: &'a Graph,
    numbers: HashMap<&'a str, At>,
    flow: Links,
    repeat: Links,
    incoming: Vec<u32>,
    /// One a node; all as new whenever no frame walks the Graph.
    pub(super) slots: Vec<Slot>,
}

impl<'a> Index<'a> {
    /// Makes a Graph ready.
    ///
    /// # Errors
    ///
    /// `graph-edge-node-missing`, which the loader refuses long before.
    pub(super) fn of(graph: &'a Graph) -> Result<Index<'a>, Failure> {
        let mut numbers = HashMap::with_capacity(graph.nodes.len());
        for (number, node) in (0..).zip(&graph.nodes) {
            numbers.insert(node.id.as_str(), number);
        }
        let number = |id: &str| {
            numbers.get(id).copied().ok_or_else(|| {
                let message = format!("An edge of graph {} names the node {id}, which it does not have.", graph.id);
                Failure::new("graph-edge-node-missing", message)
            })
        };
        let (mut flow, mut repeat) = (Vec::with_capacity(graph.edges.len()), Vec::new());
        let mut incoming = vec![0u32; graph.nodes.len()];
        for edge in &graph.edges {
            let (from, to) = (number(&edge.from)?, number(&edge.to)?);
            let link = Link { to, outcomes: Outcomes::of(edge.outcomes.as_deref()) };
            if edge.kind == Some(EdgeKind::Repeat) {
                repeat.push((from, link));
                continue;
            }
            flow.push((from, link));
            if let Some(count) = incoming.get_mut(to as usize) {
                *count += 1;
            }
        }
        let nodes = graph.nodes.len();
        Ok(Index {
            graph,
            flow: Links::of(nodes, &flow),
            repeat: Links::of(nodes, &repeat),
            numbers,
            incoming,
            slots: vec![Slot::default(); nodes],
        })
    }

    /// How many nodes and edges it has.
    pub(super) fn size(&self) -> usize {
        self.graph.nodes.len() + self.graph.edges.len()
    }

    pub(super) fn number(&self, id: &str) -> Option<At> {
        self.numbers.get(id).copied()
    }

    pub(super) fn node(&self, at: At) -> Option<&'a Node> {
        self.graph.nodes.get(at as usize)
    }

    /// The edges that a node is left by, other than repeat edges.
    pub(super) fn flow(&self, at: At) -> &[Link] {
        self.flow.from(at)
    }

    /// The repeat edges that a node is left by.
    pub(super) fn repeat(&self, at: At) -> &[Link] {
        self.repeat.from(at)
    }

    pub(super) fn slot(&self, at: At) -> Slot {
        self.slots.get(at as usize).copied().unwrap_or_default()
    }

    /// Whether the incoming edges of a node let it be reached.
    pub(super) fn joined(&self, at: At, any: bool) -> bool {
        let matching = self.slot(at).matching;
        if any { matching > 0 } else { self.incoming.get(at as usize).is_some_and(|all| *all == matching) }
    }

    /// Sets the Outcome of a node and counts anew which edges match; gives how many edges that took.
    pub(super) fn set(&mut self, at: At, outcome: Outcome) -> usize {
        let Some(slot) = self.slots.get_mut(at as usize) else { return 0 };
        let before = slot.outcome.replace(outcome);
        let links = self.flow.from(at);
        for link in links {
            let Some(target) = self.slots.get_mut(link.to as usize) else { continue };
            if before.is_some_and(|before| link.outcomes.has(before)) {
                target.matching = target.matching.saturating_sub(1);
            }
            if link.outcomes.has(outcome) {
                target.matching += 1;
            }
        }
        links.len()
    }

    /// As new, for the next frame: `reached` are all nodes that were.
    pub(super) fn clear(&mut self, reached: &[At]) {
        for at in reached {
            for link in self.flow.from(*at) {
                if let Some(slot) = self.slots.get_mut(link.to as usize) {
                    *slot = Slot::default();
                }
            }
            if let Some(slot) = self.slots.get_mut(*at as usize) {
                *slot = Slot::default();
            }
        }
    }
}
