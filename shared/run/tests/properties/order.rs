//! An independent, simple model of order (core §6.1): from the words of the file alone, which step may follow which
//! event. It knows one thing more than a reader of the specification: in core one step is open at a time.

use std::collections::BTreeSet;

use process::Document;
use run::{Decided, Event, Record};
use serde_json::{Map, Value};

/// What the events said so far.
#[derive(Debug, Clone, Default)]
pub struct Order {
    open: Option<String>,
    /// The step that must become ready next, because of the event before.
    caused: Option<String>,
    /// The steps that have a current completion, in the order in which they completed.
    current: Vec<String>,
    /// After a rejection: the steps whose completions must move to history by the next event.
    must_move: BTreeSet<String>,
    /// A finish was reached or a step failed: only the end can follow.
    over: bool,
    ended: bool,
}

impl Order {
    /// The step that is open.
    pub fn open(&self) -> Option<&str> {
        self.open.as_deref()
    }

    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Follows one event, and panics where it has no allowed cause.
    pub fn follow(&mut self, document: &Document, event: &Event) {
        assert!(!self.ended, "{event:?} after the end");
        let file = File { steps: document.frontmatter["steps"].as_array().unwrap() };
        let must_move = std::mem::take(&mut self.must_move);
        if !must_move.is_empty() {
            assert!(matches!(event, Event::Rewound { .. }), "{must_move:?} must move first");
        }
        match event {
            Event::Started { .. } => self.caused = Some(file.id(0)),
            Event::Ready { step, .. } => self.enter(&file, step, &["agent"]),
            Event::Assigned { step, .. } => self.enter(&file, step, &["task", "approve"]),
            Event::Waiting { step, .. } => self.enter(&file, step, &["wait", "wait_until", "wait_for"]),
            Event::Reached { step } => {
                self.enter(&file, step, &["finish"]);
                self.open = None;
                self.over = true;
            }
            Event::Completed { step, record } => {
                self.leave(step);
                self.caused = file.after(step, record);
                self.over = self.caused.is_none();
            }
            Event::Rejected { step, record } => {
                self.leave(step);
                assert_eq!(file.kind(step), "approve");
                assert_eq!(record.decision, Some(Decided::Rejected));
                self.caused = file.text(step, "on_reject");
                assert!(self.caused.is_some());
                self.must_move = self.after_return(&file, step);
            }
            Event::Rewound { steps } => {
                assert!(!steps.is_empty());
                assert_eq!(steps.iter().cloned().collect::<BTreeSet<_>>(), must_move, "what moves to history");
                self.current.retain(|s| !steps.contains(s));
            }
            Event::Failed { step, record } => {
                match record.by.as_str() {
                    run::SERVER => {
                        assert!(matches!(file.kind(step), "task" | "approve" | "wait_until"));
                        assert_eq!(self.caused.take().as_ref(), Some(step));
                    }
                    _ => self.leave(step),
                }
                self.current.retain(|s| s != step);
                self.over = true;
            }
            Event::Ended { .. } => {
                self.open = None;
                self.ended = true;
            }
            Event::Escalated { step, .. } | Event::Returned { step, .. } => {
                assert_eq!(self.open.as_ref(), Some(step));
                assert_eq!(file.kind(step), "agent");
            }
            Event::Overdue { step, .. } => assert_eq!(self.open.as_ref(), Some(step)),
            Event::Consumed { step, .. } => {
                assert_eq!(self.open.as_ref(), Some(step));
                assert_eq!(file.kind(step), "wait_for");
            }
            Event::Held { .. } => {}
            Event::Forked { .. } | Event::Arrived { .. } | Event::Joined { .. } => panic!("no step here is parallel"),
        }
        let follows = self.caused.is_some() || self.over;
        assert!(self.open.is_some() != (follows || self.ended), "one step is open, or about to be: {self:?} {event:?}");
    }

    /// What must hold between two writes.
    pub fn rest(&self) {
        assert!(self.caused.is_none(), "{self:?}: a step is left out");
        assert_eq!(self.open.is_none(), self.ended, "{self:?}");
    }

    fn enter(&mut self, file: &File<'_>, step: &str, kinds: &[&str]) {
        assert_eq!(self.caused.take().as_deref(), Some(step), "ready without a cause");
        assert!(kinds.contains(&file.kind(step)));
        self.open = Some(step.to_owned());
    }

    fn leave(&mut self, step: &str) {
        assert_eq!(self.open.take().as_deref(), Some(step), "completed without being open");
        self.current.retain(|s| s != step);
        self.current.push(step.to_owned());
    }

    /// Whose completions a rejection moves (core §3.1): all after the returned-to step's own, or, when that has none,
    /// all that lie forward of it. Never the rejection itself.
    fn after_return(&self, file: &File<'_>, rejecting: &str) -> BTreeSet<String> {
        let target = self.caused.as_deref().unwrap();
        let later: Vec<&String> = match self.current.iter().position(|s| s == target) {
            Some(place) => self.current[place..].iter().collect(),
            None => self.current.iter().filter(|s| file.leads(target, s)).collect(),
        };
        later.into_iter().filter(|s| *s != rejecting && *s != target).cloned().collect()
    }
}

/// The steps as the file has them.
struct File<'a> {
    steps: &'a [Value],
}

const KINDS: [&str; 7] = ["agent", "task", "approve", "wait", "wait_until", "wait_for", "finish"];

impl File<'_> {
    fn id(&self, n: usize) -> String {
        self.steps[n]["id"].as_str().unwrap().to_owned()
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

    /// Whether some way over `next` and `on_timeout` leads from one step to the other.
    fn leads(&self, from: &str, to: &str) -> bool {
        let mut open = vec![from.to_owned()];
        // There are no cycles, so this ends.
        while let Some(id) = open.pop() {
            let (n, step) = self.step(&id);
            let target = |v: &Value| v.as_str().or_else(|| v["to"].as_str()).unwrap().to_owned();
            let mut ahead: Vec<String> = match step.get("next") {
                Some(Value::Array(routes)) => routes.iter().map(target).collect(),
                Some(one) => vec![target(one)],
                None if self.kind(&id) == "finish" => vec![],
                None => vec![self.id(n + 1)],
            };
            ahead.extend(self.text(&id, "on_timeout"));
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
            ("finish", _) => panic!("a finish records nothing"),
            _ => Some(plain()),
        }
    }
}
