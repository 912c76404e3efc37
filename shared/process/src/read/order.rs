//! The rules about the steps as a graph (core §2.2): the last step goes on somewhere, nothing comes round again but by
//! rejection, every step can be reached, and a path into run data leads into a step that came before.
//!
//! What cannot be told for sure because an edge is unknown is not reported at all.

use super::fields::Declared;
use super::keys::KindKey;
use super::person::{self, Reference, Use, Who};
use super::step::{Draft, NextDraft, Slot, at_slot};
use super::targets::Ids;
use crate::graph::{Closure, Dominators, Edges, back_edges, reachable};
use crate::model::FieldType;
use crate::problem::{Path, Position, Report, shorten};

/// One edge of the graph and where the file states it.
struct Edge {
    to: usize,
    /// `None` for the default, the following step.
    stated: Option<(Slot, Position)>,
}

/// Checks the steps against each other. `whole`: no key of a profile adds edges that are unknown here.
pub(super) fn check(drafts: &mut [Draft<'_>], ids: &Ids<'_>, whole: bool, inputs: &Declared, report: &mut Report) {
    let steps = Path::Root.key("steps");
    if let Some(last) = drafts.last()
        && matches!(last.next, NextDraft::Absent)
        && last.kind.is_some_and(|kind| kind != KindKey::Finish && kind != KindKey::Parallel)
    {
        let what = "the last step in the list must name `next` or be a finish; add one";
        report.error(last.at, &steps.element(drafts.len() - 1), what);
    }
    let forward: Vec<Vec<Edge>> = drafts.iter().enumerate().map(|(n, d)| edges(d, n, drafts.len())).collect();
    let plain: Edges = forward.iter().map(|edges| edges.iter().map(|e| e.to).collect()).collect();
    cycles(drafts, &forward, &plain, report);

    let mut all = plain;
    for (edges, draft) in all.iter_mut().zip(drafts.iter()) {
        edges.extend(draft.on_reject.as_ref().and_then(|t| t.step));
    }
    let readable = drafts.iter().all(|d| match &d.next {
        NextDraft::Broken => false,
        NextDraft::Routes(routes) => routes.iter().all(Option::is_some),
        NextDraft::Absent | NextDraft::To(_) => d.kind.is_some(),
    });
    let known = whole && ids.complete && readable;
    if known {
        let reached = reachable(&all, 0);
        for (n, draft) in drafts.iter().enumerate() {
            let Some((id, at)) = draft.id else { continue };
            if reached.get(n) == Some(&false) && ids.by_id.get(id) == Some(&n) {
                let what = format!(
                    "no way leads from the first step to `{}`; name it in a `next`, `on_reject` or `on_timeout`, \
                     or remove it",
                    shorten(id)
                );
                report.error(at, &steps.element(n), what);
            }
        }
    }
    paths(drafts, ids, known.then_some(&all), inputs, report);
}

/// The edges of `next` and `on_timeout`.
fn edges(draft: &Draft<'_>, n: usize, count: usize) -> Vec<Edge> {
    if draft.kind == Some(KindKey::Finish) {
        return Vec::new();
    }
    let mut edges = Vec::new();
    match &draft.next {
        NextDraft::Absent if n + 1 < count => edges.push(Edge { to: n + 1, stated: None }),
        NextDraft::Absent | NextDraft::Broken => {}
        NextDraft::To(target) => {
            edges.extend(target.step.map(|to| Edge { to, stated: Some((target.slot, target.at)) }))
        }
        NextDraft::Routes(routes) => edges.extend(
            routes
                .iter()
                .flatten()
                .filter_map(|(target, _)| target.step.map(|to| Edge { to, stated: Some((target.slot, target.at)) })),
        ),
    }
    if let Some(target) = &draft.on_timeout {
        edges.extend(target.step.map(|to| Edge { to, stated: Some((target.slot, target.at)) }));
    }
    edges
}

fn cycles(drafts: &[Draft<'_>], forward: &[Vec<Edge>], plain: &Edges, report: &mut Report) {
    let name = |n: usize| match drafts.get(n).and_then(|d| d.id) {
        Some((id, _)) => shorten(id),
        None => format!("steps[{n}]"),
    };
    for back in back_edges(plain) {
        let Some(edge) = forward.get(back.from).and_then(|edges| edges.get(back.edge)) else { continue };
        let mut round: Vec<String> = back.begins.iter().map(|n| name(*n)).collect();
        if back.omitted {
            round.push("…".to_owned());
            round.push(name(back.from));
        }
        round.push(name(edge.to));
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

/// Checks every path into run data; the order of steps only when all edges are known.
fn paths(drafts: &[Draft<'_>], ids: &Ids<'_>, all: Option<&Edges>, inputs: &Declared, report: &mut Report) {
    let steps = Path::Root.key("steps");
    let mut into_steps: Vec<(usize, usize, &str, Position)> = Vec::new();
    for (n, draft) in drafts.iter().enumerate() {
        let step = steps.element(n);
        let mut one = |reference: Reference<'_>, at: Position, key: &'static str, wanted: FieldType| {
            let path = step.key(key);
            let used = Use { at, path: &path, wanted };
            if let Some(source) = person::resolve(reference, &used, inputs, drafts, &ids.by_id, report) {
                into_steps.push((source, n, key, at));
            }
        };
        if let Some((Who::Path(reference), at)) = &draft.person {
            one(*reference, *at, "person", FieldType::Person);
        }
        if let Some((reference, at)) = &draft.until {
            one(*reference, *at, "wait_until", FieldType::Datetime);
        }
    }
    let Some(all) = all.filter(|_| !into_steps.is_empty()) else { return };
    let dominators = Dominators::new(all, 0);
    let closure = Closure::new(all);
    for (source, user, key, at) in into_steps {
        if !dominators.reached(source) || !dominators.reached(user) {
            continue;
        }
        let step = steps.element(user);
        let path = step.key(key);
        let name = drafts.get(source).and_then(|d| d.id).map(|(id, _)| shorten(id)).unwrap_or_default();
        // The first time that a run comes here, `source` must be able to lie behind it.
        if dominators.dominates(user, source) || !closure.reaches(source, user) {
            let what =
                format!("`{name}` is never completed before this step; use a field of a step that comes earlier");
            report.error(at, &path, what);
        } else if !dominators.dominates(source, user) {
            let what = format!("some routes come here without `{name}`; a run that skipped it fails at this step");
            report.warning(at, &path, what);
        }
    }
}
