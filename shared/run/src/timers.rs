//! Time alone: the timers a run has running, and what a run is once those that are due have been applied.
//!
//! A timer counts as fired from its due time on, whenever somebody looks: it is applied as of that time, and in the
//! order of those times. So a run that is looked at late is the run that it would have been.

use std::collections::BTreeMap;

use process::Kind;

use crate::command::{Context, Fault};
use crate::flow::{Flow, SERVER, TRANSITIONS, too_many};
use crate::{Attempt, Event, Run, Status, Time};

/// A timer of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The due time of a step passes.
    Overdue(String),
    /// A wait ends, or times out.
    Continue(String),
}

/// Every timer that a run has running, with its time: what must wake an idle run, and when.
pub fn timers(run: &Run) -> Vec<(Time, Timer)> {
    let mut all = Vec::new();
    for (id, s) in &run.steps {
        if !matches!(s.status, Some(Status::Ready | Status::Waiting)) {
            continue;
        }
        if let Some(due) = s.due
            && !s.overdue
        {
            all.push((due, Timer::Overdue(id.clone())));
        }
        if let Some(until) = s.until {
            // A time before the step was reached is a time already past: it goes on when it was reached.
            all.push((s.ready_since.map_or(until, |since| until.max(since)), Timer::Continue(id.clone())));
        }
    }
    all
}

/// A run as the next write will find it: what is stored, with every timer applied that is due by `clock`, and without
/// the attempts that are over. Nothing is to be committed: the write that comes, or the timer, does the same again, and
/// makes the same work items with the same ids. `updated_at` is the time of the last thing that happened.
///
/// # Errors
///
/// [`Fault::Invariant`] when the run and its process contradict each other.
pub fn catch_up(
    context: Context<'_>,
    run: Run,
    attempts: BTreeMap<String, Attempt>,
    clock: Time,
) -> Result<(Run, BTreeMap<String, Attempt>), Fault> {
    if run.ended.is_some() {
        return Ok((run, attempts));
    }
    let updated_at = run.updated_at;
    let mut flow = Flow::new(context, run, attempts, clock);
    let last = flow.apply_due()?;
    flow.run.updated_at = last.map_or(updated_at, |last| last.max(updated_at));
    Ok((flow.run, flow.attempts))
}

impl Flow<'_> {
    /// Applies every timer that is due, in the order of their times, as of those times; the time of the last.
    pub(crate) fn apply_due(&mut self) -> Result<Option<Time>, Fault> {
        let mut last = None;
        for _ in 0..TRANSITIONS {
            let Some((at, timer)) = self.first_due() else { return Ok(last) };
            last = Some(at);
            match timer {
                Timer::Overdue(id) => self.emit(Event::Overdue { step: id, at }),
                Timer::Continue(id) => {
                    let next = match &self.step(&id)?.kind {
                        Kind::Wait { next, .. } | Kind::WaitUntil { next, .. } => next.clone(),
                        Kind::WaitFor { on_timeout, .. } => on_timeout.clone(),
                        _ => return Err(Fault::Invariant(format!("step `{id}` has a timer but is no wait"))),
                    };
                    let record = self.record(SERVER, at);
                    self.complete(&id, record, &next)?;
                }
            }
        }
        Err(too_many())
    }

    /// The earliest timer that is due by now. At one instant a step is overdue before a wait goes on, and of several
    /// waits the one that has been ready longest goes first, then the first in the file: as events choose among them.
    fn first_due(&self) -> Option<(Time, Timer)> {
        let steps = &self.context.document.steps;
        timers(&self.run).into_iter().filter(|(at, _)| *at <= self.now).min_by_key(|(at, timer)| {
            let (continues, id) = match timer {
                Timer::Overdue(id) => (false, id),
                Timer::Continue(id) => (true, id),
            };
            let since = self.run.step(id).and_then(|s| s.ready_since);
            (*at, continues, since, steps.iter().position(|s| s.id == *id))
        })
    }
}
