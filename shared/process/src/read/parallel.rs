//! The value of `parallel`: the steps that a fork makes ready (parallel-1).

use std::collections::HashSet;

use super::keys;
use super::next::{Slot, Target, target};
use crate::limits::BRANCH_ENTRIES;
use crate::problem::{Path, Position, Report, shorten};
use crate::yaml::{Entry, Node};

/// `parallel` as written.
#[derive(Debug)]
pub(super) struct Fork<'n> {
    /// Where the key stands.
    pub(super) at: Position,
    /// The branch entries, each once; an entry without a readable target is `None`.
    pub(super) entries: Vec<Option<Target<'n>>>,
    /// Whether every entry could be read.
    pub(super) whole: bool,
}

impl<'n> Fork<'n> {
    /// Nothing of the value can be told, and the step may be a parallel one all the same.
    pub(super) fn unclear(at: Position) -> Fork<'n> {
        Fork { at, entries: Vec::new(), whole: false }
    }
}

/// The branches that the key lists.
pub(super) fn fork<'n>(entry: &'n Entry, path: &Path<'_>, report: &mut Report) -> Fork<'n> {
    let node = &entry.value;
    let wanted = "a list of the steps that begin the branches, such as `[legal, finance]`";
    let Some(list) = keys::list(node, path, wanted, report) else { return Fork::unclear(entry.key_at) };
    if list.len() < 2 {
        let what = match list.first().and_then(Node::text) {
            Some(only) => {
                let only = shorten(only);
                format!(
                    "a parallel step has two or more branches; name the first step of each, or go on to `{only}` by `next`"
                )
            }
            None => "a parallel step has two or more branches; name the first step of each".to_owned(),
        };
        report.error(node.at, path, what);
    }
    if let Some(first_over) = list.get(BRANCH_ENTRIES) {
        let what = format!(
            "there are {} branches; at most {BRANCH_ENTRIES} may run at once: begin the others after the join",
            list.len()
        );
        report.error(first_over.at, &path.element(BRANCH_ENTRIES), what);
    }
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        let target = target(item, Slot::Entry(n), &path, report);
        match &target {
            Some(named) if !seen.insert(named.to) => {
                let what = format!("`{}` begins a branch already; name each step once", shorten(named.to));
                report.error(named.at, &path, what);
            }
            _ => entries.push(target),
        }
    }
    let whole = entries.iter().all(Option::is_some);
    Fork { at: entry.key_at, entries, whole }
}
