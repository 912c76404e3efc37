//! Faults as a walk comes upon them: as many as are ever told, and how many others there were.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::index::{At, Index};
use super::walk::Frame;
use crate::documents::{Node, Outcome};
use crate::limits::{EVALUATION_DIAGNOSTICS, EVALUATION_FAULTS, HELD_UP_NODES};

/// What is in the way, and of which node; of the frame itself without one.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    pub(super) frame: u32,
    pub(super) node: Option<&'a Node>,
    pub(super) code: &'static str,
    /// For `no-route`, a few nodes that no edge leads on from, with their Outcomes.
    pub(super) held: Vec<(&'a Node, Outcome)>,
}

/// The faults that are kept, and how many others there were.
#[derive(Debug, Default)]
pub(super) struct Noted<'a> {
    pub(super) kept: Vec<Fault<'a>>,
    pub(super) others: usize,
}

/// How many faults were noted before a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) kept: usize,
    pub(super) others: usize,
}

impl<'a> Noted<'a> {
    pub(super) fn now(&self) -> Before {
        Before { kept: self.kept.len(), others: self.others }
    }

    /// How many there are.
    pub(super) fn all(&self) -> usize {
        self.kept.len().saturating_add(self.others)
    }

    /// Forgets what was noted since.
    pub(super) fn forget(&mut self, since: Before) {
        self.kept.truncate(since.kept);
        self.others = since.others;
    }

    /// Notes one of a frame before which there were so many. What is noted since then is told or forgotten together: where
    /// that is more than is ever told, only the first ones by state key can be.
    pub(super) fn note(&mut self, fault: Fault<'a>, since: Before, frames: &[Frame<'a>]) {
        self.kept.push(fault);
        let Some(own) = self.kept.get_mut(since.kept..).filter(|own| own.len() > EVALUATION_FAULTS) else {
            return;
        };
        own.sort_unstable_by(|left, right| left.cmp_in(right, frames));
        let others = own.len().saturating_sub(EVALUATION_DIAGNOSTICS);
        self.kept.truncate(since.kept + EVALUATION_DIAGNOSTICS);
        self.others = self.others.saturating_add(others);
    }
}

impl Fault<'_> {
    /// By state key, then code.
    pub(super) fn cmp_in(&self, other: &Fault<'_>, frames: &[Frame<'_>]) -> Ordering {
        let place = |fault: u32| frames.get(fault as usize).map_or("", |frame| frame.prefix.as_str());
        let nodes = self.node.map(|node| &node.id).cmp(&other.node.map(|node| &node.id));
        place(self.frame).cmp(place(other.frame)).then(nodes).then(self.code.cmp(other.code))
    }
}

/// The nodes that were reached and that no edge leads on from as they stand; failing those, the ones that some edges do not
/// lead on from. The first few by id, whatever their order in the file.
pub(super) fn held<'a>(index: &Index<'a>, reached: &[At]) -> Vec<(&'a Node, Outcome)> {
    let mut first: BTreeMap<(bool, &str), (&'a Node, Outcome)> = BTreeMap::new();
    for at in reached {
        let (Some(node), Some(outcome)) = (index.node(*at), index.slot(*at).outcome) else { continue };
        let links = index.flow(*at);
        let taken = links.iter().filter(|link| link.outcomes.has(outcome)).count();
        if taken < links.len() || links.is_empty() {
            first.insert((taken > 0, node.id.as_str()), (node, outcome));
        }
        if first.len() > HELD_UP_NODES {
            first.pop_last();
        }
    }
    let partly = first.keys().next().is_some_and(|(partly, _)| *partly);
    first.into_iter().filter(|((some, _), _)| *some == partly).map(|(_, held)| held).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn as_many_are_kept_as_are_told_the_first_ones_whatever_the_order_and_all_are_counted() {
        let frame = |prefix: String| Frame { graph: "g", prefix, path: Arc::new([]), entry: "default" };
        let frames: Vec<_> = (0..10_000).map(|at| frame(format!("g/{at:05}>h/"))).collect();
        let fault = |frame: u32| Fault { frame, node: None, code: "no-route", held: Vec::new() };
        let told = |noted: &Noted<'_>, since: usize| {
            let mut told: Vec<u32> = noted.kept.iter().skip(since).map(|fault| fault.frame).collect();
            told.sort_unstable();
            told.truncate(EVALUATION_DIAGNOSTICS);
            told
        };
        let mut noted = Noted::default();
        // Some of a frame above stay as they are.
        (9_990..10_000).for_each(|at| noted.note(fault(at), Before::default(), &frames));
        let since = noted.now();
        for at in (0..9_990).map(|at| at * 7 % 9_990) {
            noted.note(fault(at), since, &frames);
            assert!(noted.kept.len() <= since.kept + EVALUATION_FAULTS);
        }
        assert_eq!(told(&noted, since.kept), Vec::from_iter(0..EVALUATION_DIAGNOSTICS as u32));
        assert_eq!(noted.all(), 10_000);
        noted.forget(since);
        assert_eq!((told(&noted, 0), noted.all()), (Vec::from_iter(9_990..10_000), 10));
    }
}
