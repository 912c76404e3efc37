//! An independent, simple model of order (core §6.1, parallel-1): from the words of the file alone, which step may follow
//! which event. It knows two things more than a reader of the specification: outside a region one step is open at a
//! time, and inside one each branch has one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use process::Document;
use run::{Decided, Event, Record};
use serde_json::{Map, Value};

/// What the events said so far.
#[derive(Debug, Clone, Default)]
pub struct Order {
    /// The steps that are open; between fork and join the parallel step is one of them.
    open: BTreeSet<String>,
    /// What must happen next, in this order, because of the events before.
    caused: VecDeque<Cause>,
    /// A wait that became ready by the event before: an event that was held may be taken by it at once.
    just_waiting: Option<String>,
    /// The parallel step that has forked, and the entries of the branches that have not joined.
    region: Option<(String, BTreeSet<String>)>,
    /// The steps that have a current completion, in the order in which they completed; a parallel step has its join.
    current: Vec<String>,
    /// Where every step is: `open`, `done`, `failed` or `cancelled`.
    states: BTreeMap<String, &'static str>,
    /// After a rejection: the steps whose completions must move to history by the next event.
    must_move: BTreeSet<String>,
    /// A finish was reached or a step failed: only the end can follow.
    over: bool,
    ended: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Cause {
    Enter(String),
    /// The branch with this entry joins.
    Arrive(String),
    Join,
}

impl Order {
    /// The steps that are open.
    pub fn open(&self) -> &BTreeSet<String> {
        &self.open
    }

    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Where a step is; `None` when it is not reached.
    pub fn state(&self, step: &str) -> Option<&'static str> {
        self.states.get(step).copied()
    }

    /// Follows one event, and panics where it has no allowed cause.
    pub fn follow(&mut self, document: &Document, event: &Event) {
        assert!(!self.ended, "{event:?} after the end");
        let file = File::of(document);
        let must_move = std::mem::take(&mut self.must_move);
        if !must_move.is_empty() {
            assert!(matches!(event, Event::Rewound { .. }), "{must_move:?} must move first");
        }
        let just_waiting = self.just_waiting.take();
        match event {
            Event::Started { .. } => self.caused.push_back(Cause::Enter(file.id(0))),
            Event::Ready { step, .. } => self.enter(&file, step, &["agent"]),
            Event::Assigned { step, .. } => self.enter(&file, step, &["task", "approve"]),
            Event::Waiting { step, .. } => {
                self.enter(&file, step, &["wait", "wait_until", "wait_for"]);
                self.just_waiting = Some(step.clone());
            }
            Event::Forked { step, .. } => {
                self.enter(&file, step, &["parallel"]);
                assert!(self.region.is_none(), "one region at a time");
                let entries = file.entries(step);
                self.region = Some((step.clone(), entries.iter().cloned().collect()));
                let in_file_order = file.ids().filter(|id| entries.contains(id));
                self.caused.extend(in_file_order.map(Cause::Enter));
            }
            Event::Arrived { step, entry } => {
                self.expected(Cause::Arrive(entry.clone()));
                let (parallel, left) = self.region.as_mut().expect("a region");
                assert_eq!(parallel, step);
                assert!(left.remove(entry), "a branch joins once");
                if left.is_empty() {
                    self.caused.push_front(Cause::Join);
                }
            }
            Event::Joined { step } => {
                self.expected(Cause::Join);
                let (parallel, left) = self.region.take().expect("a region");
                assert_eq!((&parallel, left.len()), (step, 0));
                self.leave(step, Some("done"));
                self.caused.push_back(Cause::Enter(file.ahead(step).remove(0)));
            }
            Event::Reached { step } => {
                self.enter(&file, step, &["finish"]);
                self.open.remove(step);
                self.states.insert(step.clone(), "done");
                self.over = true;
            }
            Event::Completed { step, record } => {
                assert!(
                    self.caused.is_empty() || just_waiting.as_ref() == Some(step),
                    "`{step}` completes while {:?} is due",
                    self.caused
                );
                self.leave(step, Some("done"));
                match file.after(step, record) {
                    None => self.over = true,
                    Some(next) if next == "join" => {
                        let (_, entry) = file.branch_of(step).expect("a branch to join");
                        self.caused.push_back(Cause::Arrive(entry));
                    }
                    Some(next) => self.caused.push_back(Cause::Enter(next)),
                }
            }
            Event::Rejected { step, record } => {
                assert!(self.caused.is_empty());
                self.leave(step, None);
                assert_eq!(file.kind(step), "approve");
                assert_eq!(record.decision, Some(Decided::Rejected));
                let target = file.text(step, "on_reject").expect("somewhere to return to");
                self.must_move = self.after_return(&file, step, &target);
                self.caused.push_back(Cause::Enter(target));
            }
            Event::Rewound { steps } => {
                assert!(!steps.is_empty());
                assert_eq!(steps.iter().cloned().collect::<BTreeSet<_>>(), must_move, "what moves to history");
                self.current.retain(|s| !steps.contains(s));
                self.states.retain(|s, _| !steps.contains(s));
            }
            Event::Failed { step, record } => {
                match record.by.as_str() {
                    run::SERVER => {
                        assert!(matches!(file.kind(step), "task" | "approve" | "wait_until"));
                        self.expected(Cause::Enter(step.clone()));
                    }
                    _ => self.leave(step, None),
                }
                self.current.retain(|s| s != step);
                self.states.insert(step.clone(), "failed");
                self.over = true;
            }
            Event::Ended { cancelled, .. } => {
                let ahead =
                    self.caused.drain(..).filter_map(|c| if let Cause::Enter(id) = c { Some(id) } else { None });
                let unfinished: BTreeSet<String> = std::mem::take(&mut self.open).into_iter().chain(ahead).collect();
                assert_eq!(cancelled.len(), unfinished.len());
                assert_eq!(cancelled.iter().cloned().collect::<BTreeSet<_>>(), unfinished, "every unfinished step");
                self.states.extend(unfinished.into_iter().map(|id| (id, "cancelled")));
                self.ended = true;
            }
            Event::Escalated { step, item } => {
                assert!(self.open.contains(step));
                let by_check = item.escalation.as_ref().is_some_and(|e| e.check.is_some());
                assert!(file.kind(step) == "agent" || (file.kind(step) == "task" && by_check));
                assert!(!by_check || file.step(step).1.contains_key("check"));
            }
            Event::Returned { step, item, .. } => {
                assert!(self.open.contains(step));
                assert_eq!(file.kind(step), if item.is_some() { "task" } else { "agent" });
            }
            Event::Overdue { step, .. } => assert!(self.open.contains(step)),
            Event::Consumed { step, .. } => {
                assert!(self.open.contains(step));
                assert_eq!(file.kind(step), "wait_for");
                self.just_waiting = just_waiting;
            }
            Event::Held { .. } => {}
        }
        if self.over {
            assert!(self.ended || !matches!(event, Event::Overdue { .. } | Event::Held { .. }));
        }
        assert!(self.ended || self.over || !self.open.is_empty() || !self.caused.is_empty(), "{self:?} {event:?}");
    }

    /// What must hold between two writes.
    pub fn rest(&self, document: &Document) {
        if self.ended {
            return assert!(self.open.is_empty() && self.caused.is_empty());
        }
        assert!(!self.over && self.caused.is_empty() && self.must_move.is_empty(), "{self:?}: something is left out");
        let Some((parallel, left)) = &self.region else {
            return assert_eq!(self.open.len(), 1, "{self:?}");
        };
        assert!(!left.is_empty(), "all have arrived and nobody joined");
        let file = File::of(document);
        let mut open = self.open.clone();
        assert!(open.remove(parallel), "the parallel step waits for its branches");
        for entry in file.entries(parallel) {
            let branch = file.branch(&entry);
            let (of_branch, others): (BTreeSet<String>, _) = open.into_iter().partition(|s| branch.contains(s));
            assert_eq!(of_branch.len(), usize::from(left.contains(&entry)), "{of_branch:?} of branch `{entry}`");
            open = others;
        }
        assert!(open.is_empty(), "{open:?} are open beside a region");
    }

    fn expected(&mut self, cause: Cause) {
        assert_eq!(self.caused.pop_front(), Some(cause), "without a cause, or out of turn");
    }

    fn enter(&mut self, file: &File<'_>, step: &str, kinds: &[&str]) {
        self.expected(Cause::Enter(step.to_owned()));
        assert!(kinds.contains(&file.kind(step)));
        assert!(self.open.insert(step.to_owned()), "`{step}` is open twice");
        self.states.insert(step.to_owned(), "open");
    }

    fn leave(&mut self, step: &str, state: Option<&'static str>) {
        assert!(self.open.remove(step), "`{step}` completed without being open");
        self.current.retain(|s| s != step);
        self.current.push(step.to_owned());
        match state {
            Some(state) => drop(self.states.insert(step.to_owned(), state)),
            None => drop(self.states.remove(step)),
        }
    }

    /// Whose completions a rejection moves (core §3.1, parallel-1): all after the returned-to step's own, or, when that has
    /// none, all that lie forward of it; of a parallel step all of its branches; within a branch none of another. Never
    /// the rejection itself.
    fn after_return(&self, file: &File<'_>, rejecting: &str, target: &str) -> BTreeSet<String> {
        let moves = |s: &&String| match self.current.iter().position(|t| t == target) {
            Some(place) => {
                self.current[place..].contains(s) || file.branch_of(s).is_some_and(|(parallel, _)| parallel == target)
            }
            None => file.leads(target, s),
        };
        let branch = branch_of(file, target);
        let here = |s: &&String| branch.as_ref().is_none_or(|b| b.contains(*s));
        let others = self.current.iter().filter(|s| *s != rejecting && *s != target);
        others.filter(moves).filter(here).cloned().collect()
    }
}

/// The steps of the branch that a step is in.
pub fn branch(document: &Document, step: &str) -> Option<BTreeSet<String>> {
    branch_of(&File::of(document), step)
}

fn branch_of(file: &File<'_>, step: &str) -> Option<BTreeSet<String>> {
    file.branch_of(step).map(|(_, entry)| file.branch(&entry))
}

/// The steps as the file has them.
struct File<'a> {
    steps: &'a [Value],
}

const KINDS: [&str; 8] = ["agent", "task", "approve", "wait", "wait_until", "wait_for", "parallel", "finish"];

impl<'a> File<'a> {
    fn of(document: &'a Document) -> File<'a> {
        File { steps: document.frontmatter["steps"].as_array().unwrap() }
    }

    fn id(&self, n: usize) -> String {
        self.steps[n]["id"].as_str().unwrap().to_owned()
    }

    fn ids(&self) -> impl Iterator<Item = String> {
        (0..self.steps.len()).map(|n| self.id(n))
    }

    fn step(&self, id: &str) -> (usize, &Map<String, Value>) {
        let n = self.steps.iter().position(|s| s["id"] == *id).expect("a step of the file");
        (n, self.steps[n].as_object().unwrap())
    }

    fn kind(&self, id: &str) -> &'static str {
        let (_, step) = self.step(id);
        KINDS.into_iter().find(|k| step.contains_key(*k)).unwrap()
    }

    fn text(&self, id: &str, key: &str) -> Option<String> {
        self.step(id).1.get(key).and_then(Value::as_str).map(str::to_owned)
    }

    /// What a parallel step lists.
    fn entries(&self, id: &str) -> Vec<String> {
        self.step(id).1["parallel"].as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect()
    }

    /// Where a step may lead over `next` and `on_timeout`, the word for the end of a branch among them.
    fn ahead(&self, id: &str) -> Vec<String> {
        let (n, step) = self.step(id);
        let target = |v: &Value| v.as_str().or_else(|| v["to"].as_str()).unwrap().to_owned();
        let mut ahead: Vec<String> = match step.get("next") {
            Some(Value::Array(routes)) => routes.iter().map(target).collect(),
            Some(one) => vec![target(one)],
            None if self.kind(id) == "finish" => vec![],
            None => vec![self.id(n + 1)],
        };
        ahead.extend(self.text(id, "on_timeout"));
        ahead
    }

    /// The steps of the branch with this entry.
    fn branch(&self, entry: &str) -> BTreeSet<String> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![entry.to_owned()]);
        while let Some(id) = open.pop() {
            if id != "join" && seen.insert(id.clone()) {
                open.extend(self.ahead(&id));
            }
        }
        seen
    }

    /// The parallel step and the entry of the branch that a step is in.
    fn branch_of(&self, id: &str) -> Option<(String, String)> {
        let parallel = self.ids().filter(|p| self.kind(p) == "parallel");
        let mut pairs = parallel.flat_map(|p| self.entries(&p).into_iter().map(move |entry| (p.clone(), entry)));
        pairs.find(|(_, entry)| self.branch(entry).contains(id))
    }

    /// Whether some way over `parallel`, `next` and `on_timeout` leads from one step to the other.
    fn leads(&self, from: &str, to: &str) -> bool {
        let mut open = vec![from.to_owned()];
        // There are no cycles, so this ends.
        while let Some(id) = open.pop() {
            let mut ahead = self.ahead(&id);
            if self.kind(&id) == "parallel" {
                ahead.extend(self.entries(&id));
            }
            ahead.retain(|a| a != "join");
            if ahead.iter().any(|a| a == to) {
                return true;
            }
            open.append(&mut ahead);
        }
        false
    }

    /// Where a completion leads; `None` when it ends the run.
    fn after(&self, id: &str, record: &Record) -> Option<String> {
        let (n, step) = self.step(id);
        let plain = || self.text(id, "next").unwrap_or_else(|| self.id(n + 1));
        match (self.kind(id), step.get("next")) {
            ("agent" | "task", Some(Value::Array(routes))) => {
                let chosen = record.next.clone().expect("a route was chosen");
                let to = |r: &Value| r.as_str().or_else(|| r["to"].as_str()).map(str::to_owned);
                assert!(routes.iter().any(|r| to(r).as_ref() == Some(&chosen)), "`{chosen}` is no route");
                Some(chosen)
            }
            ("approve", _) if record.decision == Some(Decided::Rejected) => {
                let back = self.text(id, "on_reject")?;
                assert_eq!(self.kind(&back), "finish", "any other rejection is an event of its own");
                Some(back)
            }
            ("wait_for", _) if record.by == run::SERVER => {
                assert!(record.output.is_none() && step.contains_key("timeout"));
                Some(self.text(id, "on_timeout").unwrap_or_else(plain))
            }
            (kind @ ("finish" | "parallel"), _) => panic!("a {kind} records nothing"),
            _ => Some(plain()),
        }
    }
}
