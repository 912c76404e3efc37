//! The rules about the steps as a graph (core §2.2, parallel-1): the last step goes on somewhere, nothing comes round again
//! but by rejection, every step can be reached, and a path into run data leads into a step that came before.
//!
//! What cannot be told for sure because an edge is unknown or wrong is not reported at all.

use super::branches::{self, Branches};
use super::edges::{self, Edge, To};
use super::fields::Declared;
use super::keys::{self, KindKey};
use super::next::{NextDraft, at_slot};
use super::person::{self, Reference, Use, Who};
use super::step::Draft;
use super::targets::Ids;
use crate::graph::{Closure, Dominators, Edges, back_edges, reachable};
use crate::model::FieldType;
use crate::problem::{Path, Position, Report, shorten};

/// Checks the steps against each other; returns which of them are in branches.
pub(super) fn check(drafts: &[Draft<'_>], ids: &Ids<'_>, inputs: &Declared, report: &mut Report) -> Branches {
    let mut forward: Vec<Vec<Edge>> =
        drafts.iter().enumerate().map(|(n, draft)| edges::forward(draft, n, drafts.len())).collect();
    let branches = branches::find(drafts, ids, &mut forward, report);
    let mut known = ids.complete && branches.sound && drafts.iter().all(Draft::readable);
    if let Some((n, last)) = drafts.iter().enumerate().next_back()
        && matches!(last.next, NextDraft::Absent)
        && last.kind.is_some_and(|kind| kind != KindKey::Finish)
        && branches.of(n).is_none()
    {
        let what = "the last step in the list must name `next` or be a finish; add one";
        report.error(last.at, &Path::Root.key("steps").element(n), what);
        known = false;
    }
    // `join` closes no cycle: what follows it follows the parallel step as well.
    for edges in &mut forward {
        edges.retain(|edge| !edge.wrong && edge.to != To::Join);
    }
    let plain: Edges = forward.iter().map(|edges| edges.iter().filter_map(Edge::step).collect()).collect();
    cycles(drafts, &forward, &plain, report);

    let into_steps = paths(drafts, ids, inputs, report);
    if known {
        unreached(drafts, ids, &branches, &plain, report);
        if !into_steps.is_empty() {
            come_before(drafts, &branches, &in_turn(drafts, &branches, &plain), into_steps, report);
        }
    }
    branches
}

fn cycles(drafts: &[Draft<'_>], forward: &[Vec<Edge>], plain: &Edges, report: &mut Report) {
    let name = |n: usize| match drafts.get(n).and_then(|d| d.id) {
        Some((id, _)) => shorten(id),
        None => format!("steps[{n}]"),
    };
    for back in back_edges(plain) {
        let Some(edge) = forward.get(back.from).and_then(|edges| edges.get(back.edge)) else { continue };
        let Some(to) = edge.step() else { continue };
        let mut round: Vec<String> = back.begins.iter().map(|n| name(*n)).collect();
        if back.omitted {
            round.push("…".to_owned());
            round.push(name(back.from));
        }
        round.push(name(to));
        let round = round.join(" → ");
        let what = format!("this comes round again ({round}); only `on_reject` goes back");
        match edge.stated {
            Some((slot, at)) => at_slot(back.from, slot, |path| report.error(at, path, what)),
            None => {
                let at = drafts.get(back.from).map(|d| d.at).unwrap_or_default();
                let what = format!("without `next` the following step is next, and {what}");
                report.error(at, &Path::Root.key("steps").element(back.from), what);
            }
        }
    }
}

/// Every step can be reached: by `next`, `on_timeout`, `on_reject`, or through a parallel step.
fn unreached(drafts: &[Draft<'_>], ids: &Ids<'_>, branches: &Branches, plain: &Edges, report: &mut Report) {
    let mut all = plain.clone();
    for (edges, draft) in all.iter_mut().zip(drafts) {
        edges.extend(draft.on_reject.as_ref().and_then(|t| t.step));
        edges.extend(draft.fork.iter().flat_map(|fork| &fork.entries).flatten().filter_map(|t| t.step));
    }
    let reached = reachable(&all, [0]);
    for (n, draft) in drafts.iter().enumerate() {
        let Some((id, at)) = draft.id else { continue };
        // A step in a branch is reached as soon as the parallel step is.
        if reached.get(n) == Some(&false) && ids.by_id.get(id) == Some(&n) && branches.of(n).is_none() {
            let what = format!(
                "no way leads from the first step to `{}`; name it in a `next`, `on_reject` or `on_timeout`, or remove it",
                shorten(id)
            );
            report.error(at, &Path::Root.key("steps").element(n), what);
        }
    }
}

/// The edges as if branches ran one after the other. All of them are completed before what follows the join, so what
/// comes before it is told rightly; what a branch may expect of another is told apart.
fn in_turn(drafts: &[Draft<'_>], branches: &Branches, plain: &Edges) -> Edges {
    let mut all = plain.clone();
    for region in &branches.regions {
        if let (Some(edges), Some(first)) = (all.get_mut(region.step), region.entries.first()) {
            *edges = vec![*first];
        }
    }
    for (n, (edges, draft)) in all.iter_mut().zip(drafts).enumerate() {
        if draft.forward_targets().any(|target| target.joins)
            && let Some(place) = branches.of(n)
            && let Some(region) = branches.regions.get(place.region)
        {
            match region.entries.get(place.branch + 1) {
                Some(entry) => edges.push(*entry),
                None => edges.extend(plain.get(region.step).into_iter().flatten()),
            }
        }
        edges.extend(draft.on_reject.as_ref().and_then(|t| t.step));
    }
    all
}

/// A path that leads into another step's output.
struct IntoStep<'n> {
    /// The step that it leads into.
    source: usize,
    /// The step that uses it, in this place.
    user: usize,
    place: Place<'n>,
    at: Position,
}

/// Where a step uses a path.
#[derive(Debug, Clone, Copy)]
enum Place<'n> {
    /// Under a key of its own, and cannot do without.
    Key(&'static str),
    /// For a fact of its graph, which is left out when there is nothing.
    Fact(&'n str),
}

impl Place<'_> {
    /// Tells `say` the path of the place in this step.
    fn told(self, step: &Path<'_>, say: impl FnOnce(&Path<'_>)) {
        match self {
            Place::Key(key) => say(&step.key(key)),
            Place::Fact(fact) => say(&step.key(keys::GRAPH).key("facts").key(fact)),
        }
    }
}

/// Checks that every path into run data names a declared field; returns those that lead into steps.
fn paths<'n>(drafts: &[Draft<'n>], ids: &Ids<'_>, inputs: &Declared, report: &mut Report) -> Vec<IntoStep<'n>> {
    let steps = Path::Root.key("steps");
    let mut into_steps = Vec::new();
    for (n, draft) in drafts.iter().enumerate() {
        let step = steps.element(n);
        let mut one = |reference: Reference<'_>, at: Position, place: Place<'n>, wanted: Option<FieldType>| {
            place.told(&step, |path| {
                let used = Use { at, path, wanted };
                match person::resolve(reference, &used, inputs, drafts, &ids.by_id, report) {
                    // What a step itself has for output is there when it is submitted, and only a graph looks then.
                    Some(source) if source == n && matches!(place, Place::Fact(_)) => {}
                    Some(source) => into_steps.push(IntoStep { source, user: n, place, at }),
                    None => {}
                }
            });
        };
        if let Some((Who::Path(reference), at)) = &draft.person {
            one(*reference, *at, Place::Key("person"), Some(FieldType::Person));
        }
        if let Some((reference, at)) = &draft.until {
            one(*reference, *at, Place::Key("wait_until"), Some(FieldType::Datetime));
        }
        for fact in draft.graph.iter().flat_map(|graph| &graph.facts) {
            one(fact.from, fact.at, Place::Fact(fact.path), None);
        }
    }
    into_steps
}

/// Checks that the steps which paths lead into come before those that use them.
fn come_before(
    drafts: &[Draft<'_>],
    branches: &Branches,
    all: &Edges,
    into_steps: Vec<IntoStep<'_>>,
    report: &mut Report,
) {
    let steps = Path::Root.key("steps");
    let name = |n: usize| drafts.get(n).and_then(|d| d.id).map(|(id, _)| shorten(id)).unwrap_or_default();
    let dominators = Dominators::new(all, 0);
    let closure = Closure::new(all);
    for IntoStep { source, user, place, at } in into_steps {
        if !dominators.reached(source) || !dominators.reached(user) {
            continue;
        }
        let step = steps.element(user);
        let source_name = name(source);
        if let (Some(own), Some(other)) = (branches.of(user), branches.of(source))
            && own.region == other.region
            && own.branch != other.branch
        {
            let parallel = branches.regions.get(own.region).map(|r| name(r.step)).unwrap_or_default();
            let what = format!(
                "`{source_name}` is in another branch of `{parallel}`, which runs at the same time; use a field of this \
                 branch, or of a step before `{parallel}`"
            );
            place.told(&step, |path| report.error(at, path, what));
            continue;
        }
        // The first time that a run comes here, `source` must be able to lie behind it.
        if dominators.dominates(user, source) || !closure.reaches(source, user) {
            let what = format!(
                "`{source_name}` is never completed before this step; use a field of a step that comes earlier"
            );
            place.told(&step, |path| report.error(at, path, what));
        } else if matches!(place, Place::Key(_)) && !dominators.dominates(source, user) {
            let what =
                format!("some routes come here without `{source_name}`; a run that skipped it fails at this step");
            place.told(&step, |path| report.warning(at, path, what));
        }
    }
}
