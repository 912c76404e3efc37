//! Ids and the steps that name each other (core §2.2).

use std::collections::HashMap;

use super::next::{Slot, at_slot};
use super::step::Draft;
use crate::model::JOIN;
use crate::problem::{Path, Report, did_you_mean, shorten};

/// The steps by id, as written.
pub(super) struct Ids<'n> {
    /// The first step of each id.
    pub(super) by_id: HashMap<&'n str, usize>,
    /// Whether every target leads to a step or ends a branch, slips of the pen taken for what they mean.
    pub(super) complete: bool,
}

/// Checks that ids are unique and that every target names a step, or `join` where a branch may end, and records in the
/// target which.
pub(super) fn resolve<'n>(drafts: &mut [Draft<'n>], report: &mut Report) -> Ids<'n> {
    let mut by_id: HashMap<&'n str, usize> = HashMap::new();
    let mut order: Vec<&'n str> = Vec::new();
    let steps = Path::Root.key("steps");
    for (n, draft) in drafts.iter().enumerate() {
        let Some((id, at)) = draft.id else { continue };
        if let Some(first) = by_id.get(id) {
            let what = format!("the id `{}` is taken by steps[{first}]; give this step another", shorten(id));
            report.error(at, &steps.element(n).key("id"), what);
        } else {
            by_id.insert(id, n);
            order.push(id);
        }
    }
    let forks = drafts.iter().any(|d| d.fork.is_some());
    let mut complete = true;
    if let Some(n) = by_id.get(JOIN).copied().filter(|_| forks) {
        // What `join` means in this file is not told: the step, or the end of a branch.
        complete = false;
        let at = drafts.get(n).and_then(|d| d.id).map(|(_, at)| at).unwrap_or_default();
        let what =
            format!("`{JOIN}` ends a branch of a parallel step, and this process has one; give this step another id");
        report.error(at, &steps.element(n).key("id"), what);
    }
    for (n, draft) in drafts.iter_mut().enumerate() {
        for target in draft.targets_mut() {
            let may_join = forks && !matches!(target.slot, Slot::OnReject | Slot::Entry(_));
            if may_join && target.to == JOIN {
                target.joins = true;
                continue;
            }
            target.step = by_id.get(target.to).copied();
            if target.step.is_some() {
                continue;
            }
            let what = if target.to == JOIN {
                match target.slot {
                    Slot::OnReject if forks => format!("`{JOIN}` is no step to return to; name a step"),
                    Slot::Entry(_) => format!("`{JOIN}` is no step, and a branch has at least one; name its first"),
                    _ => format!("no step has the id `{JOIN}`; as the end of a branch it needs a parallel step"),
                }
            } else {
                let meant = report.suggest(target.to, order.iter().copied().chain(may_join.then_some(JOIN)));
                target.step = meant.and_then(|id| by_id.get(id).copied());
                target.joins = target.step.is_none() && meant.is_some();
                format!("no step has the id `{}`{}", shorten(target.to), did_you_mean(meant))
            };
            complete &= target.joins || target.step.is_some();
            at_slot(n, target.slot, |path| report.error(target.at, path, what));
        }
    }
    Ids { by_id, complete }
}
