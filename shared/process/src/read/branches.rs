//! Which step is in which branch of which parallel step, and the rules about that (parallel-1).
//!
//! A branch is its entry and every step that `next` and `on_timeout` lead to before `join`. Which side of its bounds a
//! step is on is decided first (`sides`), so that only the edges between the sides are wrong.
//!
//! That every step of a branch reaches `join` has no message of its own: a branch step that names its `next`, keeps to its
//! branch, meets no finish and never comes round again gets there.

use std::collections::HashSet;

use super::edges::{Edge, To};
use super::keys::KindKey;
use super::next::{NextDraft, Slot, at_slot};
use super::sides::{Intrusion, Sides};
use super::step::Draft;
use super::targets::Ids;
use crate::model::JOIN;
use crate::problem::{Path, Position, Report, shorten};

/// A branch: which parallel step, and which of its branches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) region: usize,
    pub(super) branch: usize,
}

/// A parallel step and its branch entries.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) step: usize,
    /// The entries that are steps, in the order of the file.
    pub(super) entries: Vec<usize>,
}

/// The branches of a file.
#[derive(Debug)]
pub(super) struct Branches {
    /// In file order.
    pub(super) regions: Vec<Region>,
    /// By step, the branch that it is in.
    pub(super) place: Vec<Option<Place>>,
    /// Whether every rule about branches is kept.
    pub(super) sound: bool,
}

impl Branches {
    /// The branch that the step is in.
    pub(super) fn of(&self, step: usize) -> Option<Place> {
        self.place.get(step).copied().flatten()
    }
}

/// Finds the branches, reports every edge that crosses their bounds, and marks it as wrong.
pub(super) fn find(drafts: &[Draft<'_>], ids: &Ids<'_>, forward: &mut [Vec<Edge>], report: &mut Report) -> Branches {
    let branches = Branches { regions: Vec::new(), place: vec![None; drafts.len()], sound: true };
    let mut finding = Finding { drafts, forward, report, branches, outside: Vec::new(), unclear: HashSet::new() };
    finding.entries();
    if finding.branches.regions.is_empty() {
        return finding.branches;
    }
    let sides = Sides::new(drafts, finding.forward, &finding.branches.regions);
    finding.outside = sides.outside;
    finding.members();
    finding.rejections();
    finding.intrusions(sides.intrusions);
    finding.joins(ids);
    finding.branches
}

struct Finding<'a, 'n> {
    drafts: &'a [Draft<'n>],
    forward: &'a mut [Vec<Edge>],
    report: &'a mut Report,
    branches: Branches,
    /// By step, whether it belongs outside every branch and is reached there.
    outside: Vec<bool>,
    /// The branches of which an edge is unknown or wrong, so that they may have other steps than they seem to.
    unclear: HashSet<Place>,
}

impl Finding<'_, '_> {
    /// The regions, and the entries as the first steps of their branches.
    fn entries(&mut self) {
        for (step, draft) in self.drafts.iter().enumerate() {
            let Some(fork) = &draft.fork else { continue };
            let region = self.branches.regions.len();
            let mut entries = Vec::new();
            for target in fork.entries.iter().flatten() {
                let Some(entry) = target.step else { continue };
                let name = self.name(entry);
                let what = if entry == step {
                    format!("`{name}` is this step itself; name the first step of each branch")
                } else if self.kind(entry) == Some(KindKey::Finish) {
                    format!("`{name}` is a finish, and a branch has none; finish the run after the join")
                } else if self.draft(entry).is_some_and(|d| d.fork.is_some()) {
                    format!("`{name}` is a parallel step itself, and a branch holds none; list its branches here")
                } else if let Some(other) = self.branches.of(entry) {
                    let other = self.parallel_step(other);
                    format!("`{name}` begins a branch of `{other}` already; no step is in two branches")
                } else {
                    let place = Place { region, branch: entries.len() };
                    self.put(entry, place);
                    entries.push(entry);
                    continue;
                };
                self.refuse(step, target.slot, target.at, what);
            }
            self.branches.regions.push(Region { step, entries });
        }
    }

    /// Walks every branch and gives it its steps.
    fn members(&mut self) {
        for region in 0..self.branches.regions.len() {
            let entries = self.branches.regions.get(region).map(|r| r.entries.clone()).unwrap_or_default();
            for (branch, entry) in entries.into_iter().enumerate() {
                self.branch(entry, Place { region, branch });
            }
        }
    }

    fn branch(&mut self, entry: usize, place: Place) {
        let mut open = vec![entry];
        while let Some(step) = open.pop() {
            if !self.own(step, place) {
                self.unclear.insert(place);
            }
            for n in 0..self.forward.get(step).map(Vec::len).unwrap_or(0) {
                let Some(edge) = self.forward.get(step).and_then(|edges| edges.get(n)) else { continue };
                let (Some(to), Some((slot, at))) = (edge.step(), edge.stated) else { continue };
                let what = match self.branches.of(to) {
                    _ if self.outside.get(to) == Some(&true) || Some(to) == self.region_step(place) => {
                        self.leaving(to, place)
                    }
                    _ if self.kind(to) == Some(KindKey::Finish) => self.leaving(to, place),
                    Some(own) if own == place => continue,
                    None => {
                        self.put(to, place);
                        open.push(to);
                        continue;
                    }
                    Some(other) => {
                        // In which of the two the steps after it belong is not told.
                        self.unclear.insert(other);
                        self.shared(to, other)
                    }
                };
                self.unclear.insert(place);
                self.wrong(step, n);
                self.refuse(step, slot, at, what);
            }
        }
    }

    /// What a branch step must keep by itself; returns whether all its edges are known.
    fn own(&mut self, step: usize, place: Place) -> bool {
        let Some(draft) = self.drafts.get(step) else { return false };
        let path = Path::Root.key("steps");
        let path = path.element(step);
        if let Some(fork) = &draft.fork {
            let outer = self.parallel_step(place);
            let what = format!(
                "this step runs inside a branch of `{outer}`, and a branch holds no parallel step; list its branches \
                 there, or begin them after the join"
            );
            self.branches.sound = false;
            self.report.error(fork.at, &path.key("parallel"), what);
            return false;
        }
        let known = draft.readable() && draft.forward_targets().all(|t| t.joins || t.step.is_some());
        let default = self.forward.get_mut(step).into_iter().flatten().find(|e| e.stated.is_none());
        if let Some(edge) = default {
            edge.wrong = true;
        }
        if !matches!(draft.next, NextDraft::Absent) {
            return known;
        }
        if draft.kind.is_some() {
            self.branches.sound = false;
            let what =
                format!("inside a branch every step names `next`; add a step of the branch, or `{JOIN}` to end it");
            self.report.error(draft.at, &path, what);
        }
        false
    }

    /// Why an edge of a branch may not lead to this step.
    fn leaving(&self, to: usize, place: Place) -> String {
        let (name, parallel) = (self.name(to), self.parallel_step(place));
        if self.kind(to) == Some(KindKey::Finish) {
            format!(
                "`{name}` is a finish, and a branch has none; end the branch with `{JOIN}`, and finish after `{parallel}`"
            )
        } else if Some(to) == self.region_step(place) {
            format!("`{name}` is the parallel step of this branch; end the branch with `{JOIN}`")
        } else {
            format!(
                "`{name}` is outside this branch of `{parallel}`; name a step of the branch, or end it with `{JOIN}`"
            )
        }
    }

    /// Why a branch may not lead to a step of another.
    fn shared(&self, to: usize, other: Place) -> String {
        let name = self.name(to);
        let other = match self.branches.regions.get(other.region).and_then(|r| r.entries.get(other.branch)) {
            Some(entry) if *entry != to => format!("is in the branch of `{}` already", self.name(*entry)),
            _ => "begins another branch".to_owned(),
        };
        format!("`{name}` {other}, and no step is in two; end this branch with `{JOIN}`, or give it a step of its own")
    }

    /// Inside a branch a rejection stays there.
    fn rejections(&mut self) {
        for (step, draft) in self.drafts.iter().enumerate() {
            let (Some(place), Some(target)) = (self.branches.of(step), &draft.on_reject) else { continue };
            let Some(to) = target.step.filter(|to| self.branches.of(*to) != Some(place)) else { continue };
            if !self.unclear.contains(&place) || is(&self.outside, to) {
                let what = format!(
                    "`{}` is outside this branch of `{}`; inside a branch a rejection returns to a step of that branch",
                    self.name(to),
                    self.parallel_step(place)
                );
                self.refuse(step, target.slot, target.at, what);
            }
        }
    }

    /// Nothing outside leads into a branch.
    fn intrusions(&mut self, intrusions: Vec<Intrusion>) {
        for intrusion in intrusions {
            match intrusion {
                Intrusion::Start => {
                    let parallel = self.parallel_over(0);
                    let what =
                        format!("a run begins here, and this step is in a branch of {parallel}; begin outside it");
                    self.refuse_step(0, &what);
                }
                Intrusion::Edge(step, n) => {
                    let Some(edge) = self.forward.get(step).and_then(|edges| edges.get(n)) else { continue };
                    let (Some(to), stated) = (edge.step(), edge.stated) else { continue };
                    self.wrong(step, n);
                    let (name, place) = (self.name(to), self.branches.of(to));
                    let parallel = self.parallel_over(to);
                    let what = if place.and_then(|p| self.region_step(p)) == Some(step) {
                        format!("`{name}` is in a branch of this step; name the step that comes after the join")
                    } else {
                        format!("`{name}` is in a branch of {parallel}; name {parallel}, or a step in no branch")
                    };
                    match stated {
                        Some((slot, at)) => self.refuse(step, slot, at, what),
                        None => {
                            self.refuse_step(step, &format!("without `next` the following step is next, and {what}"));
                        }
                    }
                }
                Intrusion::Reject(step) => {
                    let Some(target) = self.draft(step).and_then(|d| d.on_reject.as_ref()) else { continue };
                    let (slot, at) = (target.slot, target.at);
                    let Some(to) = target.step else { continue };
                    let parallel = self.parallel_over(to);
                    let what = format!(
                        "`{}` is in a branch of {parallel}; return to {parallel}, so that every branch runs again, or to a \
                         step before it",
                        self.name(to)
                    );
                    self.refuse(step, slot, at, what);
                }
            }
        }
    }

    /// `join` is a word of branches.
    fn joins(&mut self, ids: &Ids<'_>) {
        // A step of that name has its problem already, and those that name it may mean the step.
        if ids.by_id.contains_key(JOIN) {
            return;
        }
        for step in 0..self.drafts.len() {
            if !is(&self.outside, step) {
                continue;
            }
            let edges = self.forward.get(step).into_iter().flatten();
            // Only what is written so: a slip of the pen that may have meant it has its problem already.
            let written = |slot: Slot, at: Position| {
                let mut targets = self.drafts.get(step).into_iter().flat_map(Draft::forward_targets);
                targets.any(|t| t.at == at && t.to == JOIN).then_some((slot, at))
            };
            let slots: Vec<(Slot, Position)> = edges
                .filter(|e| e.to == To::Join)
                .filter_map(|e| e.stated)
                .filter_map(|(slot, at)| written(slot, at))
                .collect();
            for (slot, at) in slots {
                let what = format!("`{JOIN}` ends a branch of a parallel step, and this step is in none; name a step");
                self.refuse(step, slot, at, what);
            }
        }
    }

    fn draft(&self, step: usize) -> Option<&Draft<'_>> {
        self.drafts.get(step)
    }

    fn kind(&self, step: usize) -> Option<KindKey> {
        self.draft(step).and_then(|d| d.kind)
    }

    fn name(&self, step: usize) -> String {
        match self.draft(step).and_then(|d| d.id) {
            Some((id, _)) => shorten(id),
            None => format!("steps[{step}]"),
        }
    }

    fn region_step(&self, place: Place) -> Option<usize> {
        self.branches.regions.get(place.region).map(|r| r.step)
    }

    fn parallel_step(&self, place: Place) -> String {
        self.region_step(place).map(|step| self.name(step)).unwrap_or_default()
    }

    /// The parallel step of the branch that the step is in, in quotes.
    fn parallel_over(&self, step: usize) -> String {
        let place = self.branches.of(step);
        place.map(|place| format!("`{}`", self.parallel_step(place))).unwrap_or_else(|| "a parallel step".to_owned())
    }

    fn put(&mut self, step: usize, place: Place) {
        if let Some(slot) = self.branches.place.get_mut(step) {
            *slot = Some(place);
        }
    }

    fn wrong(&mut self, step: usize, edge: usize) {
        if let Some(edge) = self.forward.get_mut(step).and_then(|edges| edges.get_mut(edge)) {
            edge.wrong = true;
        }
    }

    fn refuse(&mut self, step: usize, slot: Slot, at: Position, what: String) {
        self.branches.sound = false;
        at_slot(step, slot, |path| self.report.error(at, path, what));
    }

    fn refuse_step(&mut self, step: usize, what: &str) {
        self.branches.sound = false;
        let at = self.draft(step).map(|d| d.at).unwrap_or_default();
        self.report.error(at, &Path::Root.key("steps").element(step), what);
    }
}

fn is(list: &[bool], at: usize) -> bool {
    list.get(at) == Some(&true)
}
