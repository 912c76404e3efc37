//! Walks the frames of an evaluation: a Graph, and those that its Subgraph nodes enter.
//!
//! A frame is walked in rounds. In each round the nodes that were reached in the one before get their Outcomes; the repeat
//! edges that match then set their targets back, all at once; and the nodes whose joins hold now are reached. A node is
//! reached once and set back once at most, so a frame takes time in proportion to the nodes and edges reached, and no order
//! of nodes or edges in the file shows in what comes out.

use std::collections::HashMap;
use std::sync::Arc;

use super::State;
use super::facts;
use super::index::{At, Index, Slot};
use super::noted::{Before, Fault, Noted, held};
use crate::documents::{Availability, Join, Node, NodeKind, Outcome};
use crate::failure::Failure;
use crate::limits::{
    CALL_LEVELS, EVALUATION_FRAMES, EVALUATION_KEYS_BYTES, EVALUATION_ROUTES, EVALUATION_VISITS, SET_BACK_NODES,
};
use crate::load::Provider;

/// A Graph as it was entered on one call path.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// The Graph.
    pub(super) graph: &'a str,
    /// What stands before a node's id in its state key.
    pub(super) prefix: String,
    /// The Subgraph nodes above, outermost first.
    pub(super) path: Arc<[String]>,
    /// The entry it was entered by.
    pub(super) entry: &'a str,
}

/// An open Route.
#[derive(Debug)]
pub(super) struct Open<'a> {
    pub(super) frame: u32,
    pub(super) node: &'a Node,
    pub(super) availability: Availability,
    pub(super) delegated: bool,
    /// Nodes of the frame whose repeat edges set it back, by id; one more than [`SET_BACK_NODES`] at most.
    pub(super) set_back_by: Vec<&'a str>,
}

/// How a frame stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A Terminal was reached.
    Complete(Outcome),
    /// Terminals of different Outcomes were.
    Ambiguous,
    /// The best that its open Routes offer.
    Open(Availability),
    /// No Route is open.
    Stuck,
}

/// What [`EVALUATION_VISITS`] counts.
const LOOKED_AT: &str = "nodes, edges and fact checks";

/// An evaluation while it goes on.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    provider: &'a Provider,
    state: &'a State,
    /// The Graphs made ready; none for one that is being walked.
    ready: HashMap<&'a str, Option<Index<'a>>>,
    pub(super) frames: Vec<Frame<'a>>,
    pub(super) open: Vec<Open<'a>>,
    pub(super) faults: Noted<'a>,
    /// What was noted before the frame that is walked now.
    since: Before,
    pub(super) visited: usize,
    entered: usize,
    keys_bytes: usize,
    /// Where state keys are written together, over and over.
    key: String,
}

/// The nodes of a frame while it is walked, by what happened to them.
#[derive(Debug, Default)]
struct Rounds {
    /// Every node that was reached.
    reached: Vec<At>,
    /// Reached, not yet looked at.
    fresh: Vec<At>,
    /// Whose Outcome is new: their repeat edges are to be judged.
    changed: Vec<At>,
    /// Whose incoming edges match in more places than before.
    touched: Vec<At>,
    /// Nodes that matching repeat edges led to, each with those they came from.
    back: HashMap<At, Vec<At>>,
    /// What the Subgraph nodes hold open.
    children: Option<Availability>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(provider: &'a Provider, state: &'a State) -> Walk<'a> {
        Walk {
            provider,
            state,
            ready: HashMap::new(),
            frames: Vec::new(),
            open: Vec::new(),
            faults: Noted::default(),
            since: Before::default(),
            visited: 0,
            entered: 0,
            keys_bytes: 0,
            key: String::new(),
        }
    }

    /// Walks a frame and all below it. A refusal leaves the walk half done: it is of no use then.
    ///
    /// # Errors
    ///
    /// `evaluation-too-large`, and what only a Provider that was not loaded can come to: `subgraph-missing`,
    /// `subgraph-entry-missing`, `graph-recursion`, `graph-edge-node-missing`.
    pub(super) fn frame(&mut self, frame: Frame<'a>) -> Result<End, Failure> {
        self.entered += 1;
        within(self.entered, EVALUATION_FRAMES, "entered Subgraphs")?;
        within(frame.path.len(), CALL_LEVELS, "levels of Subgraphs")?;
        let mut index = self.enter(frame.graph)?;
        let (graph, entry) = (frame.graph, frame.entry);
        let Some(start) = index.graph.entrypoints.get(entry).and_then(|node| index.number(node)) else {
            return Err(Failure::new("subgraph-entry-missing", format!("Graph {graph} has no entry {entry}.")));
        };
        // Its prefix, and the path that says the same.
        self.hold(2 * frame.prefix.len())?;
        let number = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let open = self.open.len();
        // Those of a frame below are this one's too: a frame's own place in the list comes back when one below has ended.
        let above = std::mem::replace(&mut self.since, self.faults.now());
        self.frames.push(frame);

        let mut rounds = Rounds::default();
        self.reach(&mut index, &mut rounds, start);
        rounds.fresh.push(start);
        while !rounds.fresh.is_empty() || !rounds.changed.is_empty() {
            self.outcomes(&mut index, &mut rounds, number)?;
            self.repeats(&mut index, &mut rounds, number)?;
            self.joins(&mut index, &mut rounds);
            within(self.visited, EVALUATION_VISITS, LOOKED_AT)?;
        }
        let end = self.end(&index, &rounds, number, open)?;
        self.since = above;

        index.clear(&rounds.reached);
        self.ready.insert(graph, Some(index));
        Ok(end)
    }

    /// A Graph made ready, taken out until its frame has ended.
    fn enter(&mut self, graph: &'a str) -> Result<Index<'a>, Failure> {
        if let Some(ready) = self.ready.get_mut(graph) {
            return ready.take().ok_or_else(|| {
                Failure::new("graph-recursion", format!("Graph {graph} enters itself; take the Subgraph node out."))
            });
        }
        let Some(loaded) = self.provider.graphs.get(graph) else {
            let provider = self.provider.id();
            return Err(Failure::new("subgraph-missing", format!("Provider {provider} has no graph {graph}.")));
        };
        let index = Index::of(&loaded.value)?;
        self.visited += index.size();
        self.ready.insert(graph, None);
        Ok(index)
    }

    /// Notes that a node is reached.
    fn reach(&mut self, index: &mut Index<'a>, rounds: &mut Rounds, at: At) {
        if let Some(slot) = index.slots.get_mut(at as usize) {
            slot.reached = true;
            rounds.reached.push(at);
            self.visited += 1;
        }
    }

    fn set(&mut self, index: &mut Index<'a>, rounds: &mut Rounds, at: At, outcome: Outcome) {
        self.visited += index.set(at, outcome);
        rounds.touched.extend(index.flow(at).iter().filter(|link| link.outcomes.has(outcome)).map(|link| link.to));
        rounds.changed.push(at);
    }

    /// The Outcomes of the nodes that were reached.
    fn outcomes(&mut self, index: &mut Index<'a>, rounds: &mut Rounds, frame: u32) -> Result<(), Failure> {
        for at in std::mem::take(&mut rounds.fresh) {
            let Some(node) = index.node(at) else { continue };
            let outcome = match self.legal(index, at, node, frame)? {
                false => Outcome::Blocked,
                true if node.kind == NodeKind::Subgraph => self.child(rounds, node, frame)?,
                true => self.simple(node, frame),
            };
            self.set(index, rounds, at, outcome);
            within(self.visited, EVALUATION_VISITS, LOOKED_AT)?;
        }
        Ok(())
    }

    /// Whether the Facts that a node requires hold; a fault otherwise.
    fn legal(&mut self, index: &mut Index<'a>, at: At, node: &'a Node, frame: u32) -> Result<bool, Failure> {
        self.visited += node.requires_facts.as_ref().map_or(0, Vec::len);
        let legal = facts::hold(&self.state.facts, node.requires_facts.as_deref());
        if !legal {
            if let Some(slot) = index.slots.get_mut(at as usize) {
                slot.illegal = true;
            }
            self.fault(Fault { frame, node: Some(node), code: "required-fact-missing", held: Vec::new() })?;
        }
        Ok(legal)
    }

    /// The Outcome of an Action, a Gate or a Terminal: Facts prove more than what was recorded.
    fn simple(&mut self, node: &Node, frame: u32) -> Outcome {
        self.visited += node.satisfied_by.as_ref().map_or(0, Vec::len);
        let satisfied = node.satisfied_by.as_deref().map(|checks| facts::hold(&self.state.facts, Some(checks)));
        if satisfied == Some(true) {
            return Outcome::Completed;
        }
        match self.recorded(node, frame) {
            Some(Outcome::Completed) if satisfied == Some(false) => Outcome::Unverified,
            Some(recorded) => recorded,
            None => node.terminal_outcome.unwrap_or(Outcome::Pending),
        }
    }

    fn recorded(&mut self, node: &Node, frame: u32) -> Option<Outcome> {
        if self.state.outcomes.is_empty() {
            return None;
        }
        self.key.clear();
        self.key.push_str(self.frames.get(frame as usize).map_or("", |frame| &frame.prefix));
        self.key.push_str(&node.id);
        self.state.outcomes.get(&self.key).copied()
    }

    /// The Outcome of a Subgraph node: what its Graph came to. Nothing that was recorded under its own key says otherwise.
    fn child(&mut self, rounds: &mut Rounds, node: &'a Node, frame: u32) -> Result<Outcome, Failure> {
        let (Some(graph), Some(entry)) = (node.graph.as_deref(), node.entry.as_deref()) else {
            return Err(Failure::new("subgraph-missing", format!("Node {} names no graph to enter.", node.id)));
        };
        let Some(parent) = self.frames.get(frame as usize) else { return Ok(Outcome::Pending) };
        let prefix = format!("{}{}>{graph}/", parent.prefix, node.id);
        let above = parent.path.iter().cloned();
        let path = above.chain([format!("{}/{}", parent.graph, node.id)]).collect();
        let end = self.frame(Frame { graph, prefix, path, entry })?;
        Ok(match end {
            End::Complete(outcome) => outcome,
            End::Ambiguous => Outcome::Failed,
            End::Open(availability) => {
                rounds.children = rounds.children.into_iter().chain([availability]).min();
                if availability == Availability::RequiresUser { Outcome::WaitingUser } else { Outcome::Pending }
            }
            End::Stuck => Outcome::Pending,
        })
    }

    /// Sets back what matching repeat edges lead to; judged on the Outcomes as they stand, before any is set back.
    fn repeats(&mut self, index: &mut Index<'a>, rounds: &mut Rounds, frame: u32) -> Result<(), Failure> {
        let mut targets = Vec::new();
        for at in std::mem::take(&mut rounds.changed) {
            let links = index.repeat(at);
            self.visited += links.len();
            if let Some(outcome) = index.slot(at).outcome {
                targets.extend(links.iter().filter(|link| link.outcomes.has(outcome)).map(|link| (link.to, at)));
            }
        }
        for (at, from) in targets {
            let Some(node) = index.node(at).filter(|node| matches!(node.kind, NodeKind::Action | NodeKind::Gate))
            else {
                continue;
            };
            let Slot { reached, illegal, outcome, .. } = index.slot(at);
            if illegal {
                continue;
            }
            rounds.back.entry(at).or_default().push(from);
            if outcome == Some(Outcome::Pending) {
                continue;
            }
            if !reached {
                self.reach(index, rounds, at);
                if !self.legal(index, at, node, frame)? {
                    self.set(index, rounds, at, Outcome::Blocked);
                    continue;
                }
            }
            self.set(index, rounds, at, Outcome::Pending);
        }
        Ok(())
    }

    /// Reaches the nodes whose joins hold now.
    fn joins(&mut self, index: &mut Index<'a>, rounds: &mut Rounds) {
        for at in std::mem::take(&mut rounds.touched) {
            let Some(node) = index.node(at).filter(|_| !index.slot(at).reached) else { continue };
            if index.joined(at, node.join == Some(Join::Any)) {
                self.reach(index, rounds, at);
                rounds.fresh.push(at);
            }
        }
    }

    /// How a frame stands when nothing more is reached. `open` is how many there were before it.
    fn end(&mut self, index: &Index<'a>, rounds: &Rounds, frame: u32, open: usize) -> Result<End, Failure> {
        let mut terminal = None;
        let mut ambiguous = false;
        let mut best = rounds.children;
        for at in &rounds.reached {
            let (Some(node), slot) = (index.node(*at), index.slot(*at)) else { continue };
            let Some(outcome) = slot.outcome.filter(|_| !slot.illegal) else { continue };
            let waits = matches!(outcome, Outcome::Pending | Outcome::WaitingUser);
            match node.kind {
                NodeKind::Terminal => ambiguous |= terminal.replace(outcome).is_some_and(|other| other != outcome),
                NodeKind::Action | NodeKind::Gate if waits => {
                    let delegated = node.kind == NodeKind::Gate && self.delegated(node);
                    let immediate = node.kind == NodeKind::Action || delegated;
                    let availability = if immediate { Availability::Immediate } else { Availability::RequiresUser };
                    best = best.into_iter().chain([availability]).min();
                    let set_back_by = rounds.back.get(at).map_or_else(Vec::new, |from| named(index, from));
                    self.opened(Open { frame, node, availability, delegated, set_back_by })?;
                }
                _ => {}
            }
        }
        if let Some(outcome) = terminal {
            self.open.truncate(open);
            if ambiguous {
                self.fault(Fault { frame, node: None, code: "terminal-outcome-ambiguous", held: Vec::new() })?;
                return Ok(End::Ambiguous);
            }
            // What was in the way of a Graph that came to its end anyway concerns nobody above it.
            if frame > 0 {
                self.faults.forget(self.since);
                self.frames.truncate(frame as usize);
            }
            return Ok(End::Complete(outcome));
        }
        if let Some(availability) = best {
            return Ok(End::Open(availability));
        }
        if self.faults.now() == self.since {
            let held = held(index, &rounds.reached);
            self.fault(Fault { frame, node: None, code: "no-route", held })?;
        }
        Ok(End::Stuck)
    }

    /// Whether an authority of this session resolves a Gate.
    fn delegated(&self, node: &Node) -> bool {
        let gate = node.gate.as_ref().filter(|gate| gate.delegatable == Some(true));
        gate.and_then(|gate| gate.authority.as_ref())
            .is_some_and(|authority| self.state.authorities.contains(authority))
    }

    fn opened(&mut self, open: Open<'a>) -> Result<(), Failure> {
        self.keep(open.frame, Some(open.node))?;
        self.open.push(open);
        within(self.open.len(), EVALUATION_ROUTES, "open Routes")
    }

    fn fault(&mut self, fault: Fault<'a>) -> Result<(), Failure> {
        self.keep(fault.frame, fault.node)?;
        self.faults.note(fault, self.since, &self.frames);
        Ok(())
    }

    /// Counts a state key that will be told.
    fn keep(&mut self, frame: u32, node: Option<&Node>) -> Result<(), Failure> {
        let prefix = self.frames.get(frame as usize).map_or(0, |frame| frame.prefix.len());
        self.hold(prefix + node.map_or(0, |node| node.id.len()))
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Failure> {
        self.keys_bytes += bytes;
        within(self.keys_bytes, EVALUATION_KEYS_BYTES, "bytes of state keys")
    }
}

/// A few nodes by id, in order.
fn named<'a>(index: &Index<'a>, nodes: &[At]) -> Vec<&'a str> {
    let mut ids: Vec<&str> = nodes.iter().filter_map(|at| index.node(*at)).map(|node| node.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.truncate(SET_BACK_NODES + 1);
    ids
}

/// Refuses what is over a limit.
fn within(count: usize, limit: usize, what: &str) -> Result<(), Failure> {
    if count <= limit {
        return Ok(());
    }
    Err(Failure::new(
        "evaluation-too-large",
        format!(
            "This evaluation comes to more than {limit} {what}; make the graph smaller, or enter fewer Subgraphs at once."
        ),
    ))
}
