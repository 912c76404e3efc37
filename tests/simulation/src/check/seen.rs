//! What happened: a simulation in which something never happens says nothing about it.

use process::Document;
use run::{Entry, Event};

use super::Checker;
use super::regions::{branch_of, entries};

impl Checker {
    /// Everything that the journals tell, each as often as it happened.
    pub fn seen(&self) -> impl Iterator<Item = &'static str> {
        self.runs.iter().flat_map(|((org, id), copy)| {
            let document = self.document(org, id);
            let of = move |entry| document.as_ref().map(|d| happened(d, entry)).unwrap_or_default();
            copy.entries.iter().flat_map(of)
        })
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
