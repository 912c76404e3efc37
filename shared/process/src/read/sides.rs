//! Which steps belong outside every branch, and what leads from there into one (parallel-1).
//!
//! One wrong edge would, by what a branch is, pull half the process into a branch, or a branch out of it. So each step is
//! given to the side on which it belongs: a step that both sides lead to is in the branch when `join` lies ahead of it, and
//! outside when not. Steps that neither side leads to are on neither.

use super::branches::Region;
use super::edges::{Edge, To};
use super::step::Draft;
use crate::graph::{Edges, reachable};

/// The outside.
pub(super) struct Sides {
    /// By step, whether it belongs outside and is reached there.
    pub(super) outside: Vec<bool>,
    pub(super) intrusions: Vec<Intrusion>,
}

/// What leads from outside into a branch.
pub(super) enum Intrusion {
    /// The run's first step is in a branch.
    Start,
    /// An edge of a step, by number.
    Edge(usize, usize),
    /// The step's `on_reject`.
    Reject(usize),
}

impl Sides {
    /// The outside of these parallel steps.
    pub(super) fn new(drafts: &[Draft<'_>], forward: &[Vec<Edge>], regions: &[Region]) -> Sides {
        let inside = inside(forward, regions);
        let mut sides = Sides { outside: vec![false; drafts.len()], intrusions: Vec::new() };
        let is_inside = |step: usize| inside.get(step) == Some(&true);
        if is_inside(0) {
            sides.intrusions.push(Intrusion::Start);
            return sides;
        }
        let mut open = vec![0];
        while let Some(step) = open.pop() {
            match sides.outside.get_mut(step) {
                Some(outside) if !*outside => *outside = true,
                _ => continue,
            }
            let (Some(draft), Some(edges)) = (drafts.get(step), forward.get(step)) else { continue };
            for (n, edge) in edges.iter().enumerate() {
                match edge.step() {
                    // A step whose kind is unclear may be a finish, with nothing after it.
                    Some(_) if edge.stated.is_none() && draft.kind.is_none() => {}
                    Some(to) if is_inside(to) => sides.intrusions.push(Intrusion::Edge(step, n)),
                    Some(to) => open.push(to),
                    None => {}
                }
            }
            match draft.on_reject.as_ref().and_then(|t| t.step) {
                Some(to) if is_inside(to) => sides.intrusions.push(Intrusion::Reject(step)),
                Some(to) => open.push(to),
                None => {}
            }
        }
        sides
    }
}

/// By step, whether it belongs in a branch: an entry, or on a way from an entry to `join`.
fn inside(forward: &[Vec<Edge>], regions: &[Region]) -> Vec<bool> {
    let count = forward.len();
    let mut stated: Edges = vec![Vec::new(); count];
    let mut backward: Edges = vec![Vec::new(); count];
    let mut last = Vec::new();
    for (from, (edges, list)) in forward.iter().zip(&mut stated).enumerate() {
        for edge in edges {
            match edge.to {
                To::Join => last.push(from),
                To::Step(to) => {
                    if let Some(back) = backward.get_mut(to) {
                        back.push(from);
                    }
                    if edge.stated.is_some() {
                        list.push(to);
                    }
                }
            }
        }
    }
    let entries = || regions.iter().flat_map(|r| r.entries.iter().copied());
    let begun = reachable(&stated, entries());
    let joining = reachable(&backward, last);
    let mut inside: Vec<bool> = begun.iter().zip(joining).map(|(begun, joining)| *begun && joining).collect();
    for entry in entries() {
        if let Some(inside) = inside.get_mut(entry) {
            *inside = true;
        }
    }
    inside
}
