//! Following a journal with rules of its own: order, who completed what, acceptance (core §6.1, §6.3, §6.4, parallel-1).
//!
//! Outside a region one step is open at a time; between a fork and its join the parallel step is, and one step of each
//! branch that has not joined. [`Follow`] holds which, and what must happen next; every event must be one that the
//! process allows there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use process::{Document, Kind, Step};
use run::{Assigned, Candidate, Decided, Entry, Event, Record, Time, Verdict};

use super::Known;
use super::regions::{branch, branch_of, entries, forward, joins};

/// Where a run is.
#[derive(Debug, Default)]
pub(super) struct Follow {
    started: bool,
    ended: bool,
    pub(super) open: BTreeMap<String, Open>,
    /// What must happen next, in this order.
    ahead: VecDeque<Ahead>,
    /// The parallel step that has forked, and the entries of the branches that have not joined.
    region: Option<(String, BTreeSet<String>)>,
    /// The outcome the run must end with at once.
    pub(super) outcome: Option<String>,
    /// A rejection that must rewind these steps before anything else.
    rewind: Option<BTreeSet<String>>,
    /// The place of each current completion; of a parallel step that of its join.
    current: BTreeMap<String, u32>,
    done: u32,
    held: Vec<(u32, String)>,
    received: u32,
    pub(super) inputs: serde_json::Map<String, serde_json::Value>,
    initiator: Option<String>,
    pub(super) outputs: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

/// A step that is open.
#[derive(Debug)]
pub(super) struct Open {
    /// Since when.
    pub(super) since: Time,
    /// Whether a person has it from an agent, or because a check was unsure.
    pub(super) escalated: bool,
    /// The group or person that may decide it.
    pub(super) assigned: Option<Assigned>,
    /// The group or person that it is for when it is not escalated.
    pub(super) own: Option<Assigned>,
    /// What a check was unsure of, and its verdict.
    pub(super) candidate: Option<(Box<Candidate>, Box<Verdict>)>,
}

#[derive(Debug, PartialEq)]
enum Ahead {
    /// A step becomes ready.
    Enter(String),
    /// The branch with this entry joins.
    Arrive(String),
    /// The last branch has joined.
    Join,
}

pub(super) type Checked = Result<(), String>;

pub(super) fn must(right: bool, what: impl FnOnce() -> String) -> Checked {
    if right { Ok(()) } else { Err(what()) }
}

impl Follow {
    /// Follows one entry, which this request made.
    pub(super) fn entry(&mut self, document: &Document, entry: &Entry, request: Option<&Known>) -> Vec<String> {
        let mut bad = Vec::new();
        if entry.events.is_empty() {
            bad.push(format!("entry {} holds no event", entry.rev));
        }
        for event in &entry.events {
            if let Err(what) = self.event(document, entry, event, request) {
                bad.push(format!("entry {} ({} by {}): {what}: {event:?}", entry.rev, entry.tool, entry.by));
            }
        }
        if let Err(what) = self.rest(document) {
            bad.push(format!("entry {} leaves the run between steps: {what}", entry.rev));
        }
        bad
    }

    /// What holds between two writes.
    fn rest(&self, document: &Document) -> Checked {
        if self.ended {
            return Ok(());
        }
        let ahead = &self.ahead;
        must(ahead.is_empty() && self.outcome.is_none(), || format!("{ahead:?} and {:?} are due", self.outcome))?;
        let open: Vec<&String> = self.open.keys().collect();
        let Some((parallel, left)) = &self.region else {
            return must(open.len() == 1, || format!("{open:?} are open"));
        };
        let of = |entry: &String| open.iter().filter(|s| branch(document, entry).contains(s.as_str())).count();
        let right = !left.is_empty() && left.iter().all(|e| of(e) == 1) && self.open.contains_key(parallel);
        must(right && open.len() == 1 + left.len(), || {
            format!("{open:?} are open in {parallel}, whose branches {left:?} have not joined")
        })
    }

    fn event(&mut self, document: &Document, entry: &Entry, event: &Event, request: Option<&Known>) -> Checked {
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
                self.ahead.extend(document.steps.first().map(|s| Ahead::Enter(s.id.clone())));
                Ok(())
            }
            Event::Ready { step, at, due } => {
                let declared = self.entered(document, step)?;
                must(matches!(declared.kind, Kind::Agent(_)), || "not an agent step".to_owned())?;
                self.opened(declared, *at, *due, None, entry)
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
                self.opened(declared, *at, *due, right, entry)
            }
            Event::Waiting { step, at, .. } => {
                let declared = self.entered(document, step)?;
                let waits = matches!(declared.kind, Kind::Wait { .. } | Kind::WaitUntil { .. } | Kind::WaitFor { .. });
                must(waits, || "not a wait".to_owned())?;
                self.opened(declared, *at, None, None, entry)
            }
            Event::Forked { step, at } => {
                let declared = self.entered(document, step)?;
                let entries = entries(document, step);
                must(self.region.is_none() && !entries.is_empty(), || "nothing to fork here".to_owned())?;
                self.region = Some((step.clone(), entries.iter().cloned().collect()));
                self.current.remove(step);
                let in_file_order = document.steps.iter().filter(|s| entries.contains(&s.id));
                self.ahead.extend(in_file_order.map(|s| Ahead::Enter(s.id.clone())));
                self.opened(declared, *at, None, None, entry)
            }
            Event::Arrived { step, entry } => {
                self.expected(Ahead::Arrive(entry.clone()))?;
                let (parallel, left) = self.region.as_mut().ok_or("there is nothing to join")?;
                must(parallel == step && left.remove(entry), || "that branch does not join here".to_owned())?;
                if left.is_empty() {
                    self.ahead.push_front(Ahead::Join);
                }
                Ok(())
            }
            Event::Joined { step } => {
                self.expected(Ahead::Join)?;
                let region = self.region.take();
                must(region.is_some_and(|(p, left)| p == *step && left.is_empty()), || "another join".to_owned())?;
                let (declared, _) = self.closing(document, step)?;
                self.current.insert(step.clone(), self.done);
                self.goes_on(document, step, declared.forward().last().copied().unwrap_or_default());
                Ok(())
            }
            Event::Reached { step } => {
                let Kind::Finish { outcome } = &self.entered(document, step)?.kind else {
                    return Err("not a finish".to_owned());
                };
                self.outcome = Some(outcome.clone());
                Ok(())
            }
            Event::Completed { step, record } => self.completed(document, entry, step, record, request),
            Event::Rejected { step, record } => {
                let (declared, open) = self.closing(document, step)?;
                let Kind::Approve { on_reject: Some(target), .. } = &declared.kind else {
                    return Err("nothing to return to".to_owned());
                };
                must(record.decision == Some(Decided::Rejected), || "no rejection".to_owned())?;
                by_person(&open, entry, record)?;
                self.counted(step, record)?;
                self.rewind = Some(self.after_return(document, step, target));
                self.goes_on(document, step, target);
                Ok(())
            }
            Event::Rewound { .. } => Err("nothing is to be rewound".to_owned()),
            Event::Escalated { step, item } => self.escalated(document, entry, step, item, request),
            Event::Returned { step, returned, item } => self.returned(entry, step, returned, item.as_ref()),
            Event::Overdue { step, at } => {
                let open = self.open.get(step).ok_or("not open")?;
                let due = document.step(step).and_then(Step::due).ok_or("never due")?;
                must(*at == open.since.plus_seconds(due.seconds) && *at <= entry.at, || "not due".to_owned())
            }
            Event::Held { held } => {
                must(entry.tool == "send_event" && held.number == self.received + 1, || "held wrong".to_owned())?;
                self.received += 1;
                self.held.push((held.number, held.name.clone()));
                let waits = self.waits(document, &held.name);
                must(waits.is_empty(), || format!("held though {waits:?} are open for it"))
            }
            Event::Consumed { number, step } => {
                let Some(Kind::WaitFor { event, .. }) = document.step(step).map(|s| &s.kind) else {
                    return Err("not a wait".to_owned());
                };
                let waits = self.waits(document, event);
                must(waits.first() == Some(&step.as_str()), || format!("the event was for the first of {waits:?}"))?;
                match self.held.iter().position(|(_, name)| name == event) {
                    Some(first) => must(self.held.remove(first).0 == *number, || "not the oldest".to_owned()),
                    None => {
                        self.received += 1;
                        must(*number == self.received, || "an event that was never sent".to_owned())
                    }
                }
            }
            Event::Failed { step, record } => {
                let by_server = self.ahead.front() == Some(&Ahead::Enter(step.clone()));
                must(by_server == (record.by == run::SERVER), || "failed by the wrong one".to_owned())?;
                if by_server {
                    self.ahead.pop_front();
                } else {
                    let (_, open) = self.closing(document, step)?;
                    by_person(&open, entry, record)?;
                }
                self.counted(step, record)?;
                self.outcome = Some("failed".to_owned());
                Ok(())
            }
            Event::Ended { ended, cancelled } => {
                self.ended = true;
                let right = match (&self.outcome, ended.cancelled) {
                    (Some(outcome), false) => ended.outcome.as_ref() == Some(outcome),
                    (None, true) => ended.outcome.is_none() && entry.tool == "cancel" && entry.by.starts_with("op"),
                    _ => false,
                };
                must(right, || format!("must end {:?}", self.outcome))?;
                let ahead = self.ahead.drain(..).filter_map(|a| if let Ahead::Enter(id) = a { Some(id) } else { None });
                let unfinished: BTreeSet<String> = std::mem::take(&mut self.open).into_keys().chain(ahead).collect();
                must(cancelled.iter().cloned().collect::<BTreeSet<_>>() == unfinished, || {
                    format!("{unfinished:?} are unfinished")
                })
            }
        }
    }

    /// Whose completions a rejection moves: those after the returned-to step's own, or that lie forward of it when it has
    /// none; of a parallel step its branches and what came after its join; in a branch those of the branch alone.
    fn after_return(&self, document: &Document, rejecting: &str, target: &str) -> BTreeSet<String> {
        let mark = self.current.get(target);
        let forward = forward(document, target);
        let own = branch_of(document, target).map(|(_, entry)| branch(document, entry));
        let moves = |id: &str, place: u32| match mark {
            Some(mark) => place > *mark || branch_of(document, id).is_some_and(|(parallel, _)| parallel == target),
            None => forward.contains(id),
        };
        let others = self.current.iter().filter(|(id, _)| *id != rejecting && *id != target);
        others
            .filter(|(id, place)| moves(id, **place) && own.as_ref().is_none_or(|own| own.contains(id.as_str())))
            .map(|(id, _)| id.clone())
            .collect()
    }

    /// The open waits for an event: the longest ready first, then in the order of the file.
    fn waits<'d>(&self, document: &'d Document, name: &str) -> Vec<&'d str> {
        let steps = document.steps.iter().enumerate();
        let mut waits: Vec<_> = steps
            .filter(|(_, s)| matches!(&s.kind, Kind::WaitFor { event, .. } if event == name))
            .filter_map(|(place, s)| Some((self.open.get(&s.id)?.since, place, s.id.as_str())))
            .collect();
        waits.sort_unstable();
        waits.into_iter().map(|(_, _, id)| id).collect()
    }

    /// The run goes on from a step that is over.
    pub(super) fn goes_on(&mut self, document: &Document, step: &str, next: &str) {
        self.ahead.push_back(match branch_of(document, step) {
            Some((_, entry)) if joins(document, step, next) => Ahead::Arrive(entry.to_owned()),
            _ => Ahead::Enter(next.to_owned()),
        });
    }

    /// Whether moves of other branches are still due.
    pub(super) fn is_moving(&self) -> bool {
        !self.ahead.is_empty()
    }

    fn expected(&mut self, what: Ahead) -> Checked {
        let ahead = self.ahead.pop_front();
        must(ahead.as_ref() == Some(&what), || format!("{ahead:?} is due, not {what:?}"))
    }

    fn entered<'d>(&mut self, document: &'d Document, step: &str) -> Result<&'d Step, String> {
        self.expected(Ahead::Enter(step.to_owned()))?;
        must(!self.open.contains_key(step), || "it is open already".to_owned())?;
        document.step(step).ok_or_else(|| "no such step".to_owned())
    }

    fn opened(
        &mut self,
        step: &Step,
        since: Time,
        due: Option<Time>,
        assigned: Option<Assigned>,
        entry: &Entry,
    ) -> Checked {
        self.open.insert(
            step.id.clone(),
            Open { since, escalated: false, own: assigned.clone(), assigned, candidate: None },
        );
        must(since <= entry.at, || "ready in the future".to_owned())?;
        must(due == step.due().map(|d| since.plus_seconds(d.seconds)), || "due at another time".to_owned())
    }

    pub(super) fn closing<'d>(&mut self, document: &'d Document, step: &str) -> Result<(&'d Step, Open), String> {
        let open = self.open.remove(step).ok_or_else(|| format!("{:?} are open", self.open.keys()))?;
        Ok((document.step(step).ok_or("no such step")?, open))
    }

    pub(super) fn counted(&mut self, step: &str, record: &Record) -> Checked {
        self.done += 1;
        self.current.insert(step.to_owned(), record.seq);
        self.outputs.insert(step.to_owned(), record.output.clone().unwrap_or_default());
        must(record.seq == self.done, || format!("completion {} is counted {}", self.done, record.seq))
    }

    pub(super) fn value(&self, path: &process::DataPath) -> Option<&serde_json::Value> {
        match path {
            process::DataPath::Input(field) => self.inputs.get(field),
            process::DataPath::Output { step, field } => self.outputs.get(step)?.get(field),
        }
    }

    fn person(&self, path: &process::DataPath) -> Option<String> {
        self.value(path).and_then(|v| v.as_str()).map(str::to_owned)
    }
}

/// A record that a person made by deciding, who may.
pub(super) fn by_person(open: &Open, entry: &Entry, record: &Record) -> Checked {
    must(entry.tool == "decide" && record.by == entry.by, || "not decided by its caller".to_owned())?;
    may_decide(open, &record.by)
}

pub(super) fn may_decide(open: &Open, by: &str) -> Checked {
    let people = crate::actors::people();
    let person = people.iter().find(|p| p.subject == by).ok_or("not decided by a person")?;
    let assigned = match &open.assigned {
        Some(Assigned::Group(group)) => person.groups.contains(group) || (person.operator && group == "operators"),
        Some(Assigned::Person(value)) => person.person.as_ref().is_some_and(|p| p.eq_ignore_ascii_case(value)),
        None => false,
    };
    must(assigned, || format!("decided by {by}, assigned to {:?}", open.assigned))
}
