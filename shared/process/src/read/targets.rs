//! Ids and the steps that name each other (core §2.2).

use std::collections::HashMap;

use super::step::{Draft, at_slot};
use crate::problem::{Path, Report, did_you_mean, shorten};

/// The steps by id, as written.
pub(super) struct Ids<'n> {
    /// The first step of each id.
    pub(super) by_id: HashMap<&'n str, usize>,
    /// Whether every target leads to a step, slips of the pen taken for what they mean.
    pub(super) complete: bool,
}

/// Checks that ids are unique and that every target names a step, and records the step in the target.
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
    let mut complete = true;
    for (n, draft) in drafts.iter_mut().enumerate() {
        for target in draft.targets_mut() {
            target.step = by_id.get(target.to).copied();
            if target.step.is_some() {
                continue;
            }
            if target.to == "join" {
                complete = false;
                at_slot(n, target.slot, |path| report.profile(target.at, path, "parallel-1", "`join`"));
                continue;
            }
            let meant = report.suggest(target.to, order.iter().copied());
            target.step = meant.and_then(|id| by_id.get(id).copied());
            complete &= target.step.is_some();
            let what = format!("no step has the id `{}`{}", shorten(target.to), did_you_mean(meant));
            at_slot(n, target.slot, |path| report.error(target.at, path, what));
        }
    }
    Ids { by_id, complete }
}
