//! Folding: a run and an event give the next run. Decides nothing, refuses nothing that [`crate::decide`] produced.

use crate::{Entry, Event, Item, Run, Status, StepState, Time};

/// A journal that this code cannot fold: it was not written by it, or was damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The revision of the entry.
    pub rev: u64,
    /// What is wrong with it.
    pub why: String,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "journal entry {}: {}", self.rev, self.why)
    }
}

impl std::error::Error for Unreadable {}

/// Folds a journal, oldest entry first. `None` for an empty one.
pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Option<Run>, Unreadable> {
    let mut run: Option<Run> = None;
    for entry in entries {
        let wrong = |why: &str| Unreadable { rev: entry.rev, why: why.to_owned() };
        if entry.v > crate::ENTRY_VERSION {
            return Err(wrong("written by a newer version of this server"));
        }
        if entry.rev != run.as_ref().map_or(0, |r| r.rev) + 1 {
            return Err(wrong("an entry before it is missing"));
        }
        for event in &entry.events {
            match (&mut run, event) {
                (None, Event::Started { meta, inputs }) => {
                    run = Some(Run {
                        meta: meta.clone(),
                        rev: 0,
                        updated_at: entry.at,
                        inputs: inputs.clone(),
                        steps: Default::default(),
                        held: Vec::new(),
                        events_received: 0,
                        items_issued: 0,
                        completions: 0,
                        ended: None,
                    });
                }
                (None, _) => return Err(wrong("the run has not started")),
                (Some(_), Event::Started { .. }) => return Err(wrong("the run starts a second time")),
                (Some(run), event) => run.apply(event),
            }
        }
        match &mut run {
            Some(run) => {
                run.rev = entry.rev;
                run.updated_at = entry.at;
            }
            None => return Err(wrong("it holds no event")),
        }
    }
    Ok(run)
}

impl Run {
    /// Folds one event after the start.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Started { .. } => {}
            Event::Ready { step, at, due } => {
                self.step_mut(step).enter(Status::Ready, *at, *due);
            }
            Event::Assigned { step, at, due, item } => {
                self.issue(item);
                let s = self.step_mut(step);
                s.enter(Status::Waiting, *at, *due);
                s.assignee = Some(item.assigned.clone());
                s.item = Some(item.clone());
            }
            Event::Waiting { step, at, until } => {
                let s = self.step_mut(step);
                s.enter(Status::Waiting, *at, None);
                s.until = *until;
            }
            Event::Completed { step, record } => {
                self.completions = self.completions.max(record.seq);
                let s = self.step_mut(step);
                s.leave(Some(Status::Done));
                s.history.extend(s.current.replace(record.clone()));
            }
            Event::Reached { step } => {
                let s = self.step_mut(step);
                s.attempt += 1;
                s.leave(Some(Status::Done));
            }
            Event::Rejected { step, record } => {
                self.completions = self.completions.max(record.seq);
                let s = self.step_mut(step);
                s.leave(None);
                s.history.extend(s.current.replace(record.clone()));
            }
            Event::Rewound { steps } => {
                for step in steps {
                    let s = self.step_mut(step);
                    s.leave(None);
                    s.history.extend(s.current.take());
                }
            }
            Event::Escalated { step, item } => {
                self.issue(item);
                // The entry that this event belongs to is the one after the last that was folded.
                let rev = self.rev + 1;
                let s = self.step_mut(step);
                s.status = Some(Status::Waiting);
                s.item = Some(item.clone());
                s.escalated_rev = Some(rev);
            }
            Event::Returned { step, item, .. } => {
                item.iter().for_each(|item| self.issue(item));
                let s = self.step_mut(step);
                s.status = Some(if item.is_some() { Status::Waiting } else { Status::Ready });
                s.item = item.clone();
                s.escalated_rev = None;
            }
            Event::Forked { step, at } => self.step_mut(step).enter(Status::Waiting, *at, None),
            Event::Arrived { step, entry } => self.step_mut(step).arrived.push(entry.clone()),
            Event::Joined { step } => {
                let completions = self.completions;
                let s = self.step_mut(step);
                s.leave(Some(Status::Done));
                s.joined_at = Some(completions);
            }
            Event::Overdue { step, .. } => self.step_mut(step).overdue = true,
            Event::Held { held } => {
                self.events_received = self.events_received.max(held.number);
                self.held.push(held.clone());
            }
            Event::Consumed { number, .. } => {
                self.events_received = self.events_received.max(*number);
                self.held.retain(|h| h.number != *number);
            }
            Event::Failed { step, record } => {
                self.completions = self.completions.max(record.seq);
                let s = self.step_mut(step);
                s.leave(Some(Status::Failed));
                s.history.extend(s.current.replace(record.clone()));
            }
            Event::Ended { ended, cancelled } => {
                for step in cancelled {
                    self.step_mut(step).leave(Some(Status::Cancelled));
                }
                self.held.clear();
                self.ended = Some(ended.clone());
            }
        }
    }

    fn step_mut(&mut self, id: &str) -> &mut StepState {
        self.steps.entry(id.to_owned()).or_default()
    }

    fn issue(&mut self, item: &Item) {
        // Ids are `w_<run>_<number>`; the number is what the run remembers of them.
        let number = item.id.rsplit('_').next().and_then(|n| n.parse().ok()).unwrap_or(self.items_issued);
        self.items_issued = self.items_issued.max(number);
    }
}

impl StepState {
    /// A new attempt begins.
    fn enter(&mut self, status: Status, at: Time, due: Option<Time>) {
        self.attempt += 1;
        self.status = Some(status);
        self.ready_since = Some(at);
        self.due = due;
        self.overdue = false;
        self.until = None;
        self.item = None;
        self.assignee = None;
        self.escalated_rev = None;
        self.arrived.clear();
        self.joined_at = None;
    }

    /// The attempt is over.
    fn leave(&mut self, status: Option<Status>) {
        self.status = status;
        self.ready_since = None;
        self.due = None;
        self.overdue = false;
        self.until = None;
        self.item = None;
        self.assignee = None;
        self.escalated_rev = None;
        self.arrived.clear();
        self.joined_at = None;
    }
}
