//! The edges that lead forward, `next` and `on_timeout`, each with the place that states it.
//!
//! A parallel step counts as one that goes on at its `next`: what leads from its fork to its join is not among its edges,
//! so the walks of the order rules pass over its branches (parallel-1).

use super::keys::KindKey;
use super::next::{NextDraft, Slot, Target};
use super::step::Draft;
use crate::problem::Position;

/// One edge and where the file states it.
pub(super) struct Edge {
    pub(super) to: To,
    /// `None` for the default, the following step.
    pub(super) stated: Option<(Slot, Position)>,
    /// Whether a rule of its own refuses it, so that nothing else is concluded from it.
    pub(super) wrong: bool,
}

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Step(usize),
    /// The end of the branch.
    Join,
}

impl Edge {
    /// The step it leads to.
    pub(super) fn step(&self) -> Option<usize> {
        match self.to {
            To::Step(step) => Some(step),
            To::Join => None,
        }
    }
}

/// The edges of the nth of `count` steps, in the order of the keys; those whose end is unknown are left out.
pub(super) fn forward(draft: &Draft<'_>, n: usize, count: usize) -> Vec<Edge> {
    if draft.kind == Some(KindKey::Finish) {
        return Vec::new();
    }
    let following = matches!(draft.next, NextDraft::Absent) && n + 1 < count;
    let default = following.then_some(Edge { to: To::Step(n + 1), stated: None, wrong: false });
    default.into_iter().chain(draft.forward_targets().filter_map(edge)).collect()
}

fn edge(target: &Target<'_>) -> Option<Edge> {
    let to = if target.joins { Some(To::Join) } else { target.step.map(To::Step) }?;
    Some(Edge { to, stated: Some((target.slot, target.at)), wrong: false })
}
