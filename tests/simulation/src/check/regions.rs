//! Ways through a process, told from what its steps name (core §6.1, parallel-1). Nothing here asks the product which step
//! is in which branch.

use std::collections::BTreeSet;

use process::{Document, JOIN, Kind, Step};

/// Every step that some way over `parallel`, `next` and `on_timeout` leads to.
pub(super) fn forward<'d>(document: &'d Document, from: &str) -> BTreeSet<&'d str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(id) = open.pop() {
        for next in document.step(&id).map(Step::forward).unwrap_or_default() {
            if document.step(next).is_some() && seen.insert(next) {
                open.push(next.to_owned());
            }
        }
    }
    seen
}

/// What a parallel step lists; nothing for another step.
pub(super) fn entries<'d>(document: &'d Document, parallel: &str) -> &'d [String] {
    match document.step(parallel).map(|s| &s.kind) {
        Some(Kind::Parallel { entries, .. }) => entries,
        _ => &[],
    }
}

/// The steps of the branch with this entry. No way out of it is a step: it ends in `join`.
pub(super) fn branch<'d>(document: &'d Document, entry: &'d str) -> BTreeSet<&'d str> {
    let mut steps = forward(document, entry);
    steps.insert(entry);
    steps
}

/// The parallel step and the entry of the branch that a step is in.
pub(super) fn branch_of<'d>(document: &'d Document, step: &str) -> Option<(&'d str, &'d str)> {
    let pairs =
        document.steps.iter().flat_map(|p| entries(document, &p.id).iter().map(|e| (p.id.as_str(), e.as_str())));
    pairs.into_iter().find(|(_, entry)| branch(document, entry).contains(step))
}

/// Whether a way on leads to the end of the branch that the step is in.
pub(super) fn joins(document: &Document, step: &str, next: &str) -> bool {
    next == JOIN && branch_of(document, step).is_some()
}
