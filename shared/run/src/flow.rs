//! The moves that commands and timers share: enter a step, complete one, fork, join, go back, end.
//!
//! A [`Flow`] is a run being changed: every event is folded in as it is emitted, so a later move sees what an earlier
//! one did, and the events alone lead from the old run to the new one. Nothing waits here and nothing is refused.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use process::{Branch, DataPath, JOIN, Kind, Person, Step};
use serde_json::{Map, Value};

use crate::command::{Change, Context, Fault, Reply};
use crate::{Assigned, Attempt, Decided, Ended, Escalation, Event, Item, Record, Run, Status, StepState, Time};

/// Most automatic transitions that one write may take. A process has 500 steps at most and its forward edges never
/// meet a step twice, so more than two moves a step (overdue, completed) means that something is wrong.
pub(crate) const TRANSITIONS: usize = 2_000;

/// `by` of what no caller did.
pub const SERVER: &str = "server";

/// A run being changed.
pub(crate) struct Flow<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) run: Run,
    pub(crate) now: Time,
    pub(crate) attempts: BTreeMap<String, Attempt>,
    /// Moves that follow from what has happened, in their order.
    ahead: VecDeque<Move>,
    events: Vec<Event>,
    changed: BTreeMap<String, Option<Attempt>>,
}

impl<'a> Flow<'a> {
    /// Starts changing a run. A clock that is behind the last entry counts as being at it.
    pub(crate) fn new(context: Context<'a>, run: Run, attempts: BTreeMap<String, Attempt>, clock: Time) -> Flow<'a> {
        let now = clock.max(run.updated_at);
        Flow { context, run, now, attempts, ahead: VecDeque::new(), events: Vec::new(), changed: BTreeMap::new() }
    }

    /// A flow whose run has just started: `Started` is its first event.
    pub(crate) fn started(context: Context<'a>, run: Run, clock: Time) -> Flow<'a> {
        let event = Event::Started { meta: run.meta.clone(), inputs: run.inputs.clone() };
        Flow { events: vec![event], ..Flow::new(context, run, BTreeMap::new(), clock) }
    }

    /// The change so far.
    pub(crate) fn change(mut self, reply: Reply) -> Change {
        if !self.events.is_empty() {
            self.run.rev += 1;
            self.run.updated_at = self.now;
        }
        Change { run: self.run, at: self.now, events: self.events, attempts: self.changed, reply }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.run.apply(&event);
        self.events.push(event);
    }

    pub(crate) fn step(&self, id: &str) -> Result<&'a Step, Fault> {
        let document: &'a process::Document = self.context.document;
        document.step(id).ok_or_else(|| Fault::Invariant(format!("the process has no step `{id}` that the run is at")))
    }

    /// The working state of the step's current attempt; a new one when nothing is remembered of it.
    pub(crate) fn attempt(&self, id: &str) -> Attempt {
        let number = self.run.step(id).map_or(0, |s| s.attempt);
        match self.attempts.get(id) {
            Some(attempt) if attempt.attempt == number => attempt.clone(),
            _ => Attempt::new(number),
        }
    }

    /// Writes the attempt.
    pub(crate) fn remember(&mut self, id: &str, attempt: Attempt) {
        self.attempts.insert(id.to_owned(), attempt.clone());
        self.changed.insert(id.to_owned(), Some(attempt));
    }

    /// Removes what is remembered of the step's attempt, if anything is.
    fn forget(&mut self, id: &str) {
        if self.attempts.remove(id).is_some() {
            self.changed.insert(id.to_owned(), None);
        }
    }

    /// The next completion's place.
    pub(crate) fn seq(&self) -> u32 {
        self.run.completions + 1
    }

    /// A new work item.
    pub(crate) fn item(&self, assigned: Assigned, since: Time, escalation: Option<Escalation>) -> Item {
        Item { id: self.run.item_id(self.run.items_issued + 1), assigned, since, escalation }
    }

    /// A step completes, and the run goes on at `next`.
    pub(crate) fn complete(&mut self, id: &str, record: Record, next: &str) -> Result<(), Fault> {
        let at = record.at;
        self.emit(Event::Completed { step: id.to_owned(), record });
        self.forget(id);
        self.go_on(Move::to(self.context.document, id, next), at)
    }

    /// A step becomes ready (core §6.1), and the steps after it while they pass at once.
    pub(crate) fn enter(&mut self, id: &str, at: Time) -> Result<(), Fault> {
        self.go_on(Move::Enter(id.to_owned()), at)
    }

    /// Makes a move, and those that follow from it at once: a held event lets a wait pass, a fork enters every branch, the
    /// last branch joins. A wait for a time that has passed goes on when the due timers are applied.
    fn go_on(&mut self, first: Move, at: Time) -> Result<(), Fault> {
        // A queue, for a long row of waits whose events all are held would be as deep a recursion; and a fork's entries
        // are all ready before any of them passes. When a move ends the run, nothing is left in it.
        self.ahead.push_back(first);
        for _ in 0..TRANSITIONS {
            match self.ahead.pop_front() {
                Some(Move::Enter(id)) => self.enter_one(&id, at)?,
                Some(Move::Join(id)) => self.arrive(&id)?,
                None => return Ok(()),
            }
        }
        Err(too_many())
    }

    /// The branch of a step has joined; the region is left when it was the last (parallel-1).
    fn arrive(&mut self, id: &str) -> Result<(), Fault> {
        let Some((region, branch)) = self.context.document.branch_of(id) else {
            return Err(Fault::Invariant(format!("step `{id}` joins, but is in no branch")));
        };
        let step = region.step.clone();
        self.emit(Event::Arrived { step: step.clone(), entry: branch.entry.clone() });
        let arrived = self.run.step(&step).map_or(0, |s| s.arrived.len());
        if arrived < region.branches.len() {
            return Ok(());
        }
        let Kind::Parallel { next, .. } = &self.step(&step)?.kind else {
            return Err(Fault::Invariant(format!("step `{step}` has branches but is not parallel")));
        };
        self.emit(Event::Joined { step });
        self.ahead.push_back(Move::Enter(next.clone()));
        Ok(())
    }

    /// Makes one step ready.
    fn enter_one(&mut self, id: &str, at: Time) -> Result<(), Fault> {
        let step = self.step(id)?;
        self.forget(id);
        let due = step.due().map(|d| at.plus_seconds(d.seconds));
        let id = id.to_owned();
        match &step.kind {
            Kind::Agent(_) => self.emit(Event::Ready { step: id, at, due }),
            Kind::Task { person, .. } | Kind::Approve { person, .. } => match self.assigned(person) {
                Some(assigned) => {
                    let item = self.item(assigned, at, None);
                    self.emit(Event::Assigned { step: id, at, due, item });
                }
                None => self.fail_by_server(&id, at, nobody(person)),
            },
            Kind::Wait { span, .. } => {
                self.emit(Event::Waiting { step: id, at, until: Some(at.plus_seconds(span.seconds)) });
            }
            Kind::WaitUntil { path, .. } => match self.lookup(path).and_then(Value::as_str).and_then(Time::parse) {
                Some(until) => self.emit(Event::Waiting { step: id, at, until: Some(until) }),
                None => self.fail_by_server(&id, at, format!("wait_until: {path} holds no datetime")),
            },
            Kind::WaitFor { event, next, timeout, .. } => {
                let held = self.run.held.iter().find(|h| h.name == *event).cloned();
                match held {
                    // It goes on at once, so its timeout never starts.
                    Some(held) => {
                        self.emit(Event::Waiting { step: id.clone(), at, until: None });
                        self.consumed(&id, held.number, &held.by, held.data, at);
                        self.ahead.push_back(Move::to(self.context.document, &id, next));
                    }
                    None => {
                        let until = timeout.map(|t| at.plus_seconds(t.seconds));
                        self.emit(Event::Waiting { step: id, at, until });
                    }
                }
            }
            Kind::Parallel { entries, .. } => {
                self.emit(Event::Forked { step: id, at });
                // In the order of the file, which decides among waits that are ready at one instant.
                let steps = self.context.document.steps.iter().filter(|s| entries.contains(&s.id));
                self.ahead.extend(steps.map(|s| Move::Enter(s.id.clone())));
            }
            Kind::Finish { outcome } => {
                self.emit(Event::Reached { step: id });
                self.end(false, Some(outcome.clone()), SERVER, at, None);
            }
        }
        Ok(())
    }

    /// A wait takes an event and completes with its data.
    pub(crate) fn consume(
        &mut self,
        id: &str,
        number: u32,
        by: &str,
        data: Map<String, Value>,
        at: Time,
        next: &str,
    ) -> Result<(), Fault> {
        self.consumed(id, number, by, data, at);
        self.go_on(Move::to(self.context.document, id, next), at)
    }

    fn consumed(&mut self, id: &str, number: u32, by: &str, data: Map<String, Value>, at: Time) {
        self.emit(Event::Consumed { number, step: id.to_owned() });
        let record = Record { output: Some(data), ..self.record(by, at) };
        self.emit(Event::Completed { step: id.to_owned(), record });
        self.forget(id);
    }

    /// A completion with nothing but who and when.
    pub(crate) fn record(&self, by: &str, at: Time) -> Record {
        Record {
            output: None,
            evidence: None,
            summary: None,
            next: None,
            reason: None,
            decision: None,
            note: None,
            check: None,
            by: by.to_owned(),
            at,
            seq: self.seq(),
        }
    }

    /// A rejection into `on_reject`: rewind what completed after the returned-to step, and enter it again (core §3.1).
    pub(crate) fn reject_into(&mut self, id: &str, record: Record, target: &str) -> Result<(), Fault> {
        let at = record.at;
        self.emit(Event::Rejected { step: id.to_owned(), record });
        self.forget(id);
        let rewound = self.rewound(id, target)?;
        if !rewound.is_empty() {
            for step in &rewound {
                self.forget(step);
            }
            self.emit(Event::Rewound { steps: rewound });
        }
        self.enter(target, at)
    }

    /// Which steps' completions move to history when `target` is entered again by a rejection at `rejecting`: those that
    /// completed after it, or lie forward of it when it never did. Of a parallel step, its branches and those that
    /// completed after its join. Within a branch only those of the branch (parallel-1).
    fn rewound(&self, rejecting: &str, target: &str) -> Result<Vec<String>, Fault> {
        let document = self.context.document;
        // A parallel step records nothing; its place among the completions is that of its join.
        let place = |s: &StepState| s.current.as_ref().map(|r| r.seq).or(s.joined_at);
        let mark = self.run.step(target).and_then(place);
        let forward = match mark {
            Some(_) => BTreeSet::new(),
            None => self.forward(target)?,
        };
        let region = document.region(target);
        let branch = document.branch_of(target).map(|(_, branch)| branch);
        let within = |branch: &Branch, id: &str| branch.steps.iter().any(|step| step == id);
        let moves = |id: &str, s: &StepState| {
            let Some(place) = place(s).filter(|_| id != rejecting && id != target) else { return false };
            let after = match mark {
                Some(mark) => place > mark || region.is_some_and(|r| r.branches.iter().any(|b| within(b, id))),
                None => forward.contains(id),
            };
            after && branch.is_none_or(|b| within(b, id))
        };
        Ok(self.run.steps.iter().filter(|(id, s)| moves(id, s)).map(|(id, _)| id.clone()).collect())
    }

    /// Every step reachable from `from` over `parallel`, `next` and `on_timeout`.
    fn forward(&self, from: &str) -> Result<BTreeSet<&'a str>, Fault> {
        let document: &'a process::Document = self.context.document;
        let mut seen = BTreeSet::new();
        let mut open = vec![self.step(from)?];
        while let Some(step) = open.pop() {
            for next in document.forward(step) {
                if seen.insert(next.id.as_str()) {
                    open.push(next);
                }
            }
        }
        Ok(seen)
    }

    /// The run ends; everything unfinished is cancelled, every lease and every held event goes with it (core §3.5).
    pub(crate) fn end(&mut self, cancelled: bool, outcome: Option<String>, by: &str, at: Time, note: Option<String>) {
        let open = |s: &StepState| matches!(s.status, Some(Status::Ready | Status::Waiting));
        let mut unfinished: Vec<String> =
            self.run.steps.iter().filter(|(_, s)| open(s)).map(|(id, _)| id.clone()).collect();
        // A step that other branches were about to make ready in this very write is as unfinished as one they had.
        unfinished.extend(self.ahead.drain(..).filter_map(|ahead| match ahead {
            Move::Enter(id) => Some(id),
            Move::Join(_) => None,
        }));
        let remembered: Vec<String> = self.attempts.keys().cloned().collect();
        remembered.iter().for_each(|id| self.forget(id));
        let ended = Ended { cancelled, outcome, by: by.to_owned(), at, note };
        self.emit(Event::Ended { ended, cancelled: unfinished });
    }

    /// A step fails and ends the run.
    pub(crate) fn fail(&mut self, id: &str, by: &str, at: Time, note: String) {
        let record = Record { decision: Some(Decided::Failed), note: Some(note.clone()), ..self.record(by, at) };
        self.emit(Event::Failed { step: id.to_owned(), record });
        self.end(false, Some("failed".to_owned()), by, at, Some(note));
    }

    fn fail_by_server(&mut self, id: &str, at: Time, note: String) {
        self.fail(id, SERVER, at, note);
    }

    fn assigned(&self, person: &Person) -> Option<Assigned> {
        match person {
            Person::Role(role) => self.context.roles.get(role).cloned().map(Assigned::Group),
            Person::Initiator => self.run.meta.initiator.clone().map(Assigned::Person),
            Person::Path(path) => self
                .lookup(path)
                .and_then(Value::as_str)
                .filter(|p| !p.trim().is_empty())
                .map(str::to_owned)
                .map(Assigned::Person),
        }
    }

    fn lookup(&self, path: &DataPath) -> Option<&Value> {
        match path {
            DataPath::Input(field) => self.run.inputs.get(field),
            DataPath::Output { step, field } => self.run.step(step)?.current.as_ref()?.output.as_ref()?.get(field),
        }
    }
}

/// A move that follows from another.
enum Move {
    /// A step becomes ready.
    Enter(String),
    /// The branch of this step joins.
    Join(String),
}

impl Move {
    /// Where a run goes on from `id` when its `next` or `on_timeout` is `to`.
    fn to(document: &process::Document, id: &str, to: &str) -> Move {
        match to == JOIN && document.branch_of(id).is_some() {
            true => Move::Join(id.to_owned()),
            false => Move::Enter(to.to_owned()),
        }
    }
}

pub(crate) fn too_many() -> Fault {
    Fault::Invariant(format!("more than {TRANSITIONS} automatic transitions in one write"))
}

fn nobody(person: &Person) -> String {
    match person {
        Person::Role(role) => format!("person: the role `{role}` is bound to no group"),
        Person::Initiator => "person: the run has no initiator, an agent started it".to_owned(),
        Person::Path(path) => format!("person: {path} holds nobody"),
    }
}
