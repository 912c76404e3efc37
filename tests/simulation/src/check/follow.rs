//! Following a journal with rules of its own: order, who completed what, acceptance (core §6.1, §6.3, §6.4).
//!
//! A core process has one open step at a time. [`Follow`] holds which, and what must be entered next; every event must
//! be one that the process allows there.

use std::collections::{BTreeMap, BTreeSet};

use process::{Document, Kind, Next, Step};
use run::{Assigned, Attempt, Decided, Entry, Event, Record, Time};

use super::accept;

/// Where a run is.
#[derive(Debug, Default)]
pub(super) struct Follow {
    started: bool,
    ended: bool,
    /// The open step, since when, and whether a person has it from an agent.
    open: Option<(String, Time, bool)>,
    /// The group or person that may decide the open step.
    assigned: Option<Assigned>,
    /// What must be entered next.
    enter: Option<String>,
    /// The outcome the run must end with at once.
    outcome: Option<String>,
    /// A rejection that must rewind these steps before anything else.
    rewind: Option<BTreeSet<String>>,
    current: BTreeMap<String, u32>,
    done: u32,
    held: Vec<(u32, String)>,
    received: u32,
    inputs: serde_json::Map<String, serde_json::Value>,
    initiator: Option<String>,
    outputs: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

type Checked = Result<(), String>;

fn must(right: bool, what: impl FnOnce() -> String) -> Checked {
    if right { Ok(()) } else { Err(what()) }
}

impl Follow {
    /// Follows one entry; `before` are the attempts as they were before it.
    pub(super) fn entry(&mut self, document: &Document, entry: &Entry, _: &BTreeMap<String, Attempt>) -> Vec<String> {
        let mut bad = Vec::new();
        if entry.events.is_empty() {
            bad.push(format!("entry {} holds no event", entry.rev));
        }
        for event in &entry.events {
            if let Err(what) = self.event(document, entry, event) {
                bad.push(format!("entry {} ({} by {}): {what}: {event:?}", entry.rev, entry.tool, entry.by));
            }
        }
        if !self.ended && (self.open.is_none() || self.enter.is_some() || self.outcome.is_some()) {
            bad.push(format!("entry {} leaves the run between steps", entry.rev));
        }
        bad
    }

    fn event(&mut self, document: &Document, entry: &Entry, event: &Event) -> Checked {
        must(!self.ended, || "after the end".to_owned())?;
        must(self.started != matches!(event, Event::Started { .. }), || "a start out of place".to_owned())?;
        if let Some(steps) = self.rewind.take().filter(|s| !s.is_empty()) {
            let Event::Rewound { steps: rewound } = event else { return Err(format!("{steps:?} must be rewound")) };
            must(rewound.iter().cloned().collect::<BTreeSet<_>>() == steps, || format!("not {steps:?} rewound"))?;
            rewound.iter().for_each(|s| {
                self.current.remove(s);
                self.outputs.remove(s);
            });
            return Ok(());
        }
        match event {
            Event::Started { meta, inputs } => {
                must(entry.rev == 1 && entry.tool == "start_run", || "started elsewhere".to_owned())?;
                self.started = true;
                self.inputs = inputs.clone();
                self.initiator = meta.initiator.clone();
                self.enter = document.steps.first().map(|s| s.id.clone());
                Ok(())
            }
            Event::Ready { step, at, due } => {
                let declared = self.entered(document, step)?;
                must(matches!(declared.kind, Kind::Agent(_)), || "not an agent step".to_owned())?;
                self.opened(declared, *at, *due, entry)
            }
            Event::Assigned { step, at, due, item } => {
                let declared = self.entered(document, step)?;
                let right = match declared.person() {
                    Some(process::Person::Role(role)) => Some(Assigned::Group(crate::processes::group(role))),
                    Some(process::Person::Initiator) => self.initiator.clone().map(Assigned::Person),
                    Some(process::Person::Path(path)) => self.person(path).map(Assigned::Person),
                    None => None,
                };
                must(right.as_ref() == Some(&item.assigned) && item.escalation.is_none(), || {
                    "assigned wrong".to_owned()
                })?;
                self.assigned = Some(item.assigned.clone());
                self.opened(declared, *at, *due, entry)
            }
            Event::Waiting { step, at, .. } => {
                let declared = self.entered(document, step)?;
                let waits = matches!(declared.kind, Kind::Wait { .. } | Kind::WaitUntil { .. } | Kind::WaitFor { .. });
                must(waits, || "not a wait".to_owned())?;
                self.opened(declared, *at, None, entry)
            }
            Event::Reached { step } => {
                let Kind::Finish { outcome } = &self.entered(document, step)?.kind else {
                    return Err("not a finish".to_owned());
                };
                self.outcome = Some(outcome.clone());
                Ok(())
            }
            Event::Completed { step, record } => self.completed(document, entry, step, record),
            Event::Rejected { step, record } => {
                let (declared, ..) = self.closing(document, step)?;
                let Kind::Approve { on_reject: Some(target), .. } = &declared.kind else {
                    return Err("nothing to return to".to_owned());
                };
                must(record.decision == Some(Decided::Rejected), || "no rejection".to_owned())?;
                self.by_person(entry, record)?;
                self.counted(step, record)?;
                let mark = self.current.get(target).copied();
                let forward = forward(document, target);
                let after = self.current.iter().filter(|(id, seq)| {
                    *id != step && *id != target && mark.map_or(forward.contains(id.as_str()), |m| **seq > m)
                });
                self.rewind = Some(after.map(|(id, _)| id.clone()).collect());
                self.enter = Some(target.clone());
                Ok(())
            }
            Event::Rewound { .. } => Err("nothing is to be rewound".to_owned()),
            Event::Escalated { step, item } => {
                let open = self.open.as_mut().filter(|o| o.0 == *step && !o.2).ok_or("not open")?;
                must(entry.tool == "escalate" && item.escalation.is_some(), || "not escalated".to_owned())?;
                open.2 = true;
                self.assigned = Some(item.assigned.clone());
                Ok(())
            }
            Event::Returned { step, returned, .. } => {
                let open = self.open.as_mut().filter(|o| o.0 == *step && o.2).ok_or("not escalated")?;
                open.2 = false;
                must(returned.by == entry.by && entry.tool == "decide", || "returned by nobody".to_owned())?;
                self.may_decide(&entry.by)?;
                self.assigned = None;
                Ok(())
            }
            Event::Overdue { step, at } => {
                let open = self.open.as_ref().filter(|o| o.0 == *step).ok_or("not open")?;
                let due = document.step(step).and_then(Step::due).ok_or("never due")?;
                must(*at == open.1.plus_seconds(due.seconds) && *at <= entry.at, || "not due".to_owned())
            }
            Event::Held { held } => {
                must(entry.tool == "send_event" && held.number == self.received + 1, || "held wrong".to_owned())?;
                self.received += 1;
                self.held.push((held.number, held.name.clone()));
                let waits = self.open.as_ref().and_then(|o| document.step(&o.0));
                let wanted = matches!(waits.map(|s| &s.kind), Some(Kind::WaitFor { event, .. }) if *event == held.name);
                must(!wanted, || "held though a wait is open for it".to_owned())
            }
            Event::Forked { .. } | Event::Arrived { .. } | Event::Joined { .. } => {
                Err("no step is parallel".to_owned())
            }
            Event::Consumed { number, step } => {
                let Some(Kind::WaitFor { event, .. }) = document.step(step).map(|s| &s.kind) else {
                    return Err("not a wait".to_owned());
                };
                match self.held.iter().position(|(_, name)| name == event) {
                    Some(first) => must(self.held.remove(first).0 == *number, || "not the oldest".to_owned()),
                    None => {
                        self.received += 1;
                        must(*number == self.received, || "an event that was never sent".to_owned())
                    }
                }
            }
            Event::Failed { step, record } => {
                let by_server = self.enter.as_ref() == Some(step);
                must(by_server == (record.by == run::SERVER), || "failed by the wrong one".to_owned())?;
                if by_server {
                    self.enter = None;
                } else {
                    self.closing(document, step)?;
                    self.by_person(entry, record)?;
                }
                self.counted(step, record)?;
                self.outcome = Some("failed".to_owned());
                Ok(())
            }
            Event::Ended { ended, .. } => {
                self.ended = true;
                let right = match (&self.outcome, ended.cancelled) {
                    (Some(outcome), false) => ended.outcome.as_ref() == Some(outcome),
                    (None, true) => ended.outcome.is_none() && entry.tool == "cancel" && entry.by.starts_with("op"),
                    _ => false,
                };
                must(right, || format!("must end {:?}", self.outcome))
            }
        }
    }

    fn completed(&mut self, document: &Document, entry: &Entry, step: &str, record: &Record) -> Checked {
        let (declared, since, escalated) = self.closing(document, step)?;
        must(record.at <= entry.at && record.at >= since, || "completed at another time".to_owned())?;
        let by_caller = || must(record.by == entry.by, || "completed by somebody else".to_owned());
        match &declared.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => {
                by_caller()?;
                let by_agent = matches!(declared.kind, Kind::Agent(_)) && !escalated;
                if by_agent {
                    must(entry.tool == "submit" && entry.by.starts_with('a'), || "not an agent's".to_owned())?;
                } else {
                    self.by_person(entry, record)?;
                }
                let wrong = accept::wrong(work, record, by_agent);
                must(wrong.is_empty(), || format!("accepted though {wrong:?}"))?;
                self.enter = match &work.next {
                    Next::To(id) => Some(id.clone()),
                    Next::Routes(_) => record.next.clone(),
                };
            }
            Kind::Approve { next, on_reject, .. } => {
                by_caller()?;
                self.by_person(entry, record)?;
                match (record.decision, on_reject) {
                    (Some(Decided::Approved), _) => self.enter = Some(next.clone()),
                    (Some(Decided::Rejected), None) => self.outcome = Some("rejected".to_owned()),
                    // A rejection into a finish completes the approval: nothing will enter it again.
                    (Some(Decided::Rejected), Some(target))
                        if matches!(document.step(target).map(|s| &s.kind), Some(Kind::Finish { .. })) =>
                    {
                        self.enter = Some(target.clone());
                    }
                    _ => return Err("an approval without a decision".to_owned()),
                }
            }
            Kind::Wait { span, next } => {
                let right = record.by == run::SERVER && record.at == since.plus_seconds(span.seconds);
                must(right, || "waited another time".to_owned())?;
                self.enter = Some(next.clone());
            }
            Kind::WaitUntil { path, next } => {
                let until = self.value(path).and_then(|v| v.as_str()).and_then(Time::parse);
                let right = record.by == run::SERVER && until.is_some_and(|u| record.at == u.max(since));
                must(right, || format!("waited until {until:?}"))?;
                self.enter = Some(next.clone());
            }
            Kind::WaitFor { next, on_timeout, timeout, .. } => {
                let timed_out = record.output.is_none();
                if timed_out {
                    let end = timeout.map(|t| since.plus_seconds(t.seconds));
                    must(record.by == run::SERVER && end == Some(record.at), || "timed out wrong".to_owned())?;
                }
                self.enter = Some(if timed_out { on_timeout } else { next }.clone());
            }
            Kind::Finish { .. } | Kind::Parallel { .. } => return Err("it records nothing".to_owned()),
        }
        self.counted(step, record)
    }

    fn entered<'d>(&mut self, document: &'d Document, step: &str) -> Result<&'d Step, String> {
        must(self.open.is_none(), || format!("{:?} is still open", self.open))?;
        let enter = self.enter.take();
        must(enter.as_deref() == Some(step), || format!("{enter:?} must be entered"))?;
        document.step(step).ok_or_else(|| "no such step".to_owned())
    }

    fn opened(&mut self, step: &Step, at: Time, due: Option<Time>, entry: &Entry) -> Checked {
        self.open = Some((step.id.clone(), at, false));
        must(at <= entry.at, || "ready in the future".to_owned())?;
        must(due == step.due().map(|d| at.plus_seconds(d.seconds)), || "due at another time".to_owned())
    }

    fn closing<'d>(&mut self, document: &'d Document, step: &str) -> Result<(&'d Step, Time, bool), String> {
        let (open, since, escalated) = self.open.take().ok_or("nothing is open")?;
        must(open == step, || format!("{open} is open"))?;
        Ok((document.step(step).ok_or("no such step")?, since, escalated))
    }

    fn counted(&mut self, step: &str, record: &Record) -> Checked {
        self.done += 1;
        self.current.insert(step.to_owned(), record.seq);
        self.outputs.insert(step.to_owned(), record.output.clone().unwrap_or_default());
        must(record.seq == self.done, || format!("completion {} is counted {}", self.done, record.seq))
    }

    fn by_person(&mut self, entry: &Entry, record: &Record) -> Checked {
        must(entry.tool == "decide" && record.by == entry.by, || "not decided by its caller".to_owned())?;
        self.may_decide(&record.by)
    }

    fn may_decide(&self, by: &str) -> Checked {
        let people = crate::actors::people();
        let person = people.iter().find(|p| p.subject == by).ok_or("not decided by a person")?;
        let assigned = match &self.assigned {
            Some(Assigned::Group(group)) => person.groups.contains(group) || (person.operator && group == "operators"),
            Some(Assigned::Person(value)) => person.person.as_ref().is_some_and(|p| p.eq_ignore_ascii_case(value)),
            None => false,
        };
        must(assigned, || format!("decided by {by}, assigned to {:?}", self.assigned))
    }

    fn value(&self, path: &process::DataPath) -> Option<&serde_json::Value> {
        match path {
            process::DataPath::Input(field) => self.inputs.get(field),
            process::DataPath::Output { step, field } => self.outputs.get(step)?.get(field),
        }
    }

    fn person(&self, path: &process::DataPath) -> Option<String> {
        self.value(path).and_then(|v| v.as_str()).map(str::to_owned)
    }
}

fn forward<'d>(document: &'d Document, from: &str) -> BTreeSet<&'d str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(id) = open.pop() {
        for next in document.step(&id).map(Step::forward).unwrap_or_default() {
            if seen.insert(next) {
                open.push(next.to_owned());
            }
        }
    }
    seen
}
