//! `next`, and every other key that names steps: what is named, and where (core §2.2).

use std::collections::HashSet;

use super::keys::{self, KindKey};
use crate::problem::{Path, Position, Report, shorten};
use crate::yaml::{Data, Node};

/// `next` as written.
#[derive(Debug)]
pub(super) enum NextDraft<'n> {
    /// Not there: the following step.
    Absent,
    /// There, and nothing can be made of it.
    Broken,
    /// One step.
    To(Target<'n>),
    /// Routes to choose from; a route without a readable target is `None`.
    Routes(Vec<Option<(Target<'n>, Option<&'n str>)>>),
}

impl<'n> NextDraft<'n> {
    /// The targets, in the order of the file.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target<'n>> {
        let (one, routes) = match self {
            NextDraft::To(target) => (Some(target), None),
            NextDraft::Routes(routes) => (None, Some(routes)),
            NextDraft::Absent | NextDraft::Broken => (None, None),
        };
        one.into_iter().chain(routes.into_iter().flatten().flatten().map(|(target, _)| target))
    }

    /// As [`NextDraft::targets`], to be resolved.
    pub(super) fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target<'n>> {
        let (one, routes) = match self {
            NextDraft::To(target) => (Some(target), None),
            NextDraft::Routes(routes) => (None, Some(routes)),
            NextDraft::Absent | NextDraft::Broken => (None, None),
        };
        one.into_iter().chain(routes.into_iter().flatten().flatten().map(|(target, _)| target))
    }

    /// Whether every target could be read.
    pub(super) fn is_readable(&self) -> bool {
        match self {
            NextDraft::Broken => false,
            NextDraft::Routes(routes) => routes.iter().all(Option::is_some),
            NextDraft::Absent | NextDraft::To(_) => true,
        }
    }
}

/// A step named by another.
#[derive(Debug)]
pub(super) struct Target<'n> {
    /// Where it is named.
    pub(super) at: Position,
    /// The id as written.
    pub(super) to: &'n str,
    /// Where in the step it is named.
    pub(super) slot: Slot,
    /// The step it names, once resolved; for a slip of the pen, the step that was probably meant.
    pub(super) step: Option<usize>,
    /// Whether it is no step but the end of a branch, once resolved.
    pub(super) joins: bool,
}

/// Where in a step another is named.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Next,
    /// The nth route, a bare id.
    Route(usize),
    /// The nth route, a mapping.
    RouteTo(usize),
    OnReject,
    OnTimeout,
    /// The nth branch entry.
    Entry(usize),
}

/// Calls `f` with the path of a slot of the nth step.
pub(super) fn at_slot<R>(step: usize, slot: Slot, f: impl FnOnce(&Path<'_>) -> R) -> R {
    let steps = Path::Root.key("steps");
    let step = steps.element(step);
    match slot {
        Slot::Next => f(&step.key("next")),
        Slot::Route(n) => f(&step.key("next").element(n)),
        Slot::RouteTo(n) => f(&step.key("next").element(n).key("to")),
        Slot::OnReject => f(&step.key("on_reject")),
        Slot::OnTimeout => f(&step.key("on_timeout")),
        Slot::Entry(n) => f(&step.key("parallel").element(n)),
    }
}

/// The step that the value names.
pub(super) fn target<'n>(node: &'n Node, slot: Slot, path: &Path<'_>, report: &mut Report) -> Option<Target<'n>> {
    let to = keys::filled(node, path, "the id of a step", report)?;
    Some(Target { at: node.at, to, slot, step: None, joins: false })
}

/// `next`, of a step of this kind.
pub(super) fn next<'n>(node: &'n Node, kind: Option<KindKey>, path: &Path<'_>, report: &mut Report) -> NextDraft<'n> {
    let list = match &*node.data {
        Data::List(list) => list,
        Data::Broken => return NextDraft::Broken,
        Data::Map(_) => {
            report.error(
                node.at,
                path,
                "expected a step id or a list of routes, found a mapping; put the route in a list",
            );
            return NextDraft::Broken;
        }
        _ => return target(node, Slot::Next, path, report).map_or(NextDraft::Broken, NextDraft::To),
    };
    if let Some(kind) = kind
        && !matches!(kind, KindKey::Agent | KindKey::Task)
    {
        let what = format!(
            "only agent and task choose among routes, and this step is `{}`; name one step, or let a task choose",
            kind.name()
        );
        report.error(node.at, path, what);
    } else if list.len() < 2 {
        let what = match list.first().and_then(Node::text) {
            Some(only) => format!("a list needs two or more routes; write `next: {}`", shorten(only)),
            None => "a list needs two or more routes; for a single one write the step's id alone".to_owned(),
        };
        report.error(node.at, path, what);
    }
    let mut routes = Vec::new();
    let mut seen = HashSet::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        let route = route(item, n, &path, report);
        if let Some((target, _)) = &route
            && !seen.insert(target.to)
        {
            let what = format!("`{}` is a route already; name each step once", shorten(target.to));
            report.error(target.at, &path, what);
        }
        routes.push(route);
    }
    NextDraft::Routes(routes)
}

fn route<'n>(node: &'n Node, n: usize, path: &Path<'_>, report: &mut Report) -> Option<(Target<'n>, Option<&'n str>)> {
    let Data::Map(entries) = &*node.data else {
        return target(node, Slot::Route(n), path, report).map(|target| (target, None));
    };
    let mut to = None;
    let mut named = false;
    let mut when = None;
    for entry in entries {
        let here = path.key(&entry.key);
        match entry.key.as_str() {
            "to" => {
                named = true;
                to = target(&entry.value, Slot::RouteTo(n), &here, report);
            }
            "when" => when = keys::filled(&entry.value, &here, "when to take this route", report),
            _ => named |= keys::unknown(entry, path, "a route", keys::ROUTE, report) == Some("to"),
        }
    }
    if !named {
        report.error(node.at, path, "`to` is missing; name the step that this route leads to");
    }
    to.map(|to| (to, when))
}
