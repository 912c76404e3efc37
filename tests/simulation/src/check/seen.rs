//! What happened: a simulation in which something never happens says nothing about it.

use std::collections::BTreeSet;

use process::{Document, Kind};
use run::{Entry, Event, Ruling};

use super::Checker;
use super::regions::{branch_of, entries};

impl Checker {
    /// Everything that the journals tell, each as often as it happened, and what was noted beside them.
    pub fn seen(&self) -> impl Iterator<Item = &'static str> {
        let told = self.runs.iter().flat_map(|((org, id), copy)| {
            let document = self.document(org, id);
            let mut held = BTreeSet::new();
            let of = move |entry| {
                let Some(document) = &document else { return Vec::new() };
                let mut all = happened(document, entry);
                all.extend(entry.events.iter().flat_map(|e| of_checks(document, e, &mut held)));
                all
            };
            copy.entries.iter().flat_map(of)
        });
        told.chain(self.noted.iter().copied()).chain(self.graphs.seen())
    }
}

fn happened(document: &Document, entry: &Entry) -> Vec<&'static str> {
    let mut all: Vec<&'static str> = entry.events.iter().map(kind).collect();
    let any = |wanted: &dyn Fn(&Event) -> bool| entry.events.iter().any(wanted);
    let parallel = |id: &String| !entries(document, id).is_empty();
    let forked = any(&|e| matches!(e, Event::Forked { .. }));
    let arrivals = entry.events.iter().filter(|e| matches!(e, Event::Arrived { .. })).count();
    let of_regions = [
        (forked && any(&|e| matches!(e, Event::Joined { .. })), "fork and join in one write"),
        (forked && any(&|e| matches!(e, Event::Failed { .. })), "fork and end in one write"),
        (forked && any(&|e| matches!(e, Event::Rejected { .. })), "a region again"),
        (arrivals > 1, "two arrivals in one write"),
        (
            any(&|e| matches!(e, Event::Rejected { step, .. } if branch_of(document, step).is_some())),
            "rework in a branch",
        ),
        (any(&|e| matches!(e, Event::Rewound { steps } if steps.iter().any(parallel))), "a region taken along"),
        (any(&|e| matches!(e, Event::Ended { cancelled, .. } if cancelled.iter().any(parallel))), "an end in a region"),
    ];
    all.extend(of_regions.into_iter().filter_map(|(seen, what)| seen.then_some(what)));
    all
}

/// What a check had to do with an event; `held` are the steps with a candidate.
fn of_checks(document: &Document, event: &Event, held: &mut BTreeSet<String>) -> Vec<&'static str> {
    let in_a_branch = |step: &String| branch_of(document, step).map(|_| "a check in a branch");
    let of_a_person = |step: &String| document.step(step).is_some_and(|s| matches!(s.kind, Kind::Task { .. }));
    match event {
        Event::Completed { step, record } => {
            let escalated = held.remove(step);
            let first = match record.check.as_deref() {
                Some(_) if escalated => "adopted",
                None if escalated => "completed in place of a candidate",
                Some(verdict) => match (verdict.advisory, verdict.verdict) {
                    (false, _) if of_a_person(step) => "a task that passed its check",
                    (false, _) => "passed its check",
                    (true, Ruling::Pass) => "advised: pass",
                    (true, Ruling::Fail) => "advised: fail",
                    (true, Ruling::Unsure) => "advised: unsure",
                    (true, Ruling::Error) => "advised: error",
                },
                None => return Vec::new(),
            };
            [first].into_iter().chain(in_a_branch(step)).collect()
        }
        Event::Escalated { step, item } if item.escalation.as_ref().is_some_and(|e| e.candidate.is_some()) => {
            held.insert(step.clone());
            let first = if of_a_person(step) { "held for a person's task" } else { "held for an agent" };
            [first].into_iter().chain(in_a_branch(step)).collect()
        }
        Event::Returned { step, item, .. } if held.remove(step) => {
            vec![if item.is_some() { "a task returned with a verdict" } else { "returned with a verdict" }]
        }
        Event::Failed { step, .. } if held.remove(step) => vec!["failed with a candidate"],
        _ => Vec::new(),
    }
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Started { .. } => "started",
        Event::Ready { .. } => "ready",
        Event::Assigned { .. } => "assigned",
        Event::Waiting { .. } => "waiting",
        Event::Completed { .. } => "completed",
        Event::Reached { .. } => "reached",
        Event::Rejected { .. } => "rejected",
        Event::Rewound { .. } => "rewound",
        Event::Escalated { .. } => "escalated",
        Event::Returned { .. } => "returned",
        Event::Forked { .. } => "forked",
        Event::Arrived { .. } => "arrived",
        Event::Joined { .. } => "joined",
        Event::Overdue { .. } => "overdue",
        Event::Held { .. } => "held",
        Event::Consumed { .. } => "consumed",
        Event::Failed { .. } => "failed",
        Event::Ended { .. } => "ended",
    }
}
