//! What the tests of this crate share: a world (a real document, its roles, the limits), the people and programs in it,
//! and a [`Play`], which drives one run and holds at every step what must hold at every step of every run.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::{BTreeMap, VecDeque};

use process::Document;
use run::{
    Actor, ActorKind, Answer, Attempt, Change, Claimed, Code, Command, Context, Decision, Entry, Evaluation, Fault,
    GraphInquiry, GraphStanding, GraphStatus, Inquiry, Limits, Mode, Overlay, Refusal, Reply, Run, RunView, Start,
    Submission, Time, catch_up, decide, fold, snapshot, start, typed,
};
use serde_json::{Map, Value, json};

/// 2026-10-06T09:00:00Z: when every play begins.
pub const NINE: i64 = 1_791_277_200_000;

/// The group that escalations go to.
pub const OPERATORS: &str = "g_operators";

/// `NINE` and so many minutes.
pub fn minute(minutes: i64) -> Time {
    Time::from_millis(NINE + minutes * 60_000)
}

/// The text of that instant.
pub fn at(minutes: i64) -> String {
    minute(minutes).to_string()
}

/// A process from the rest of its frontmatter; its name, description and body are always the same.
pub fn document(frontmatter: &str) -> Document {
    read_document(&format!("---\nname: play\ndescription: Something to play.\n{frontmatter}\n---\n# How to play\n"))
}

/// A process from its whole file, which must be right.
pub fn read_document(text: &str) -> Document {
    let reading = process::read(text.as_bytes());
    match reading.document {
        Some(document) => document,
        None => panic!("{text}\nis refused: {:#?}", reading.problems),
    }
}

/// A JSON object.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// JSON whose numbers keep their text, which `json!` does not do for all of them.
pub fn exact(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// Everything that stays the same while a run runs.
#[derive(Debug, Clone)]
pub struct World {
    pub document: Document,
    pub roles: BTreeMap<String, String>,
    pub limits: Limits,
}

impl World {
    /// The role `x` is bound to the group `g_x`.
    pub fn new(document: Document) -> World {
        let roles = document.roles().iter().map(|r| ((*r).to_owned(), format!("g_{r}"))).collect();
        World { document, roles, limits: Limits::default() }
    }

    pub fn context(&self) -> Context<'_> {
        Context { document: &self.document, roles: &self.roles, operators_group: OPERATORS, limits: self.limits }
    }
}

/// A program.
pub fn agent(subject: &str) -> Actor {
    Actor {
        subject: subject.to_owned(),
        kind: ActorKind::Agent,
        groups: Vec::new(),
        operator: false,
        person: None,
        may_decide: false,
    }
}

/// A person of these groups, at a client through which people act.
pub fn person(subject: &str, groups: &[&str]) -> Actor {
    Actor {
        subject: subject.to_owned(),
        kind: ActorKind::Person,
        groups: groups.iter().map(|g| (*g).to_owned()).collect(),
        operator: false,
        person: Some(format!("{subject}@example.com")),
        may_decide: true,
    }
}

/// A person with the operator right.
pub fn operator() -> Actor {
    Actor { operator: true, ..person("olga", &[]) }
}

/// A submission with a summary.
pub fn work(output: Value) -> Submission {
    Submission { output: Some(object(output)), summary: Some("Did it.".to_owned()), ..Submission::default() }
}

/// The same, with a route.
pub fn routed(output: Value, next: &str) -> Submission {
    Submission { next: Some(next.to_owned()), reason: Some("It fits.".to_owned()), ..work(output) }
}

/// The entry that a change is committed as.
pub fn entry(change: &Change, by: &str, tool: &str) -> Entry {
    Entry {
        v: run::ENTRY_VERSION,
        rev: change.run.rev,
        at: change.at,
        by: by.to_owned(),
        tool: tool.to_owned(),
        events: change.events.clone(),
    }
}

/// The name of the tool that a command comes from.
pub fn tool(command: &Command) -> &'static str {
    match command {
        Command::Claim { .. } => "claim",
        Command::Renew { .. } => "renew",
        Command::Submit { .. } => "submit",
        Command::Escalate { .. } => "escalate",
        Command::Decide { .. } => "decide",
        Command::Cancel { .. } => "cancel",
        Command::SendEvent { .. } => "send_event",
        Command::Tick => "timer",
    }
}

/// A value written as text and read again, as it is and by way of a stored value: the same, to the byte.
pub fn round_trip<T>(value: &T)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(value).unwrap();
    for read in [serde_json::from_str::<T>(&text).unwrap(), typed(serde_json::from_str(&text).unwrap()).unwrap()] {
        assert_eq!(&read, value, "through {text}");
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}

/// One run and what is stored of it.
#[derive(Debug, Clone)]
pub struct Play {
    pub world: World,
    pub run: Run,
    pub attempts: BTreeMap<String, Attempt>,
    pub entries: Vec<Entry>,
    pub clock: Time,
    /// What the evaluator will answer, once for each inquiry; `None` when it does not.
    pub answers: VecDeque<Option<Vec<Answer>>>,
    /// What the evaluator was asked.
    pub asked: Vec<Inquiry>,
    /// What the graphs of steps will say, once for each submission that they are evaluated for.
    pub standings: VecDeque<GraphStanding>,
    /// What they were evaluated with.
    pub looked: Vec<GraphInquiry>,
}

/// The evaluator of every play, by the name it gives itself.
pub const JUDGE: &str = "judge-1";

impl Play {
    /// A run of this process without inputs, started by Mira.
    pub fn start(frontmatter: &str) -> Play {
        Play::with(frontmatter, json!({}))
    }

    /// The same with inputs.
    pub fn with(frontmatter: &str, inputs: Value) -> Play {
        Play::begin(World::new(document(frontmatter)), object(inputs), &person("mira", &[]), Mode::Live).unwrap()
    }

    /// Starts, as whoever, or says why not.
    pub fn begin(world: World, inputs: Map<String, Value>, by: &Actor, mode: Mode) -> Result<Play, Refusal> {
        let clock = minute(0);
        let begin = Start { id: "r_1".to_owned(), version: 3, inputs, mode };
        let change = refusal(start(world.context(), by, begin, clock))?;
        assert_eq!(change.run.rev, 1);
        assert!(change.attempts.is_empty());
        let first = entry(&change, &by.subject, "start_run");
        round_trip(&first);
        assert_eq!(fold([&first]).unwrap().as_ref(), Some(&change.run), "the events lead to the run");
        let (answers, asked) = (VecDeque::new(), Vec::new());
        Ok(Play {
            world,
            run: change.run,
            attempts: BTreeMap::new(),
            entries: vec![first],
            clock,
            answers,
            asked,
            standings: VecDeque::new(),
            looked: Vec::new(),
        })
    }

    /// The evaluator will answer so when it is next asked.
    pub fn says(&mut self, answers: &[Answer]) -> &mut Play {
        self.answers.push_back(Some(answers.to_vec()));
        self
    }

    /// The graph of a step will stand so when it is next evaluated.
    pub fn stands(&mut self, status: GraphStatus, outcome: Option<&str>, place: Option<&str>) -> &mut Play {
        let text = |t: Option<&str>| t.map(str::to_owned);
        self.standings.push_back(GraphStanding { status, outcome: text(outcome), place: text(place), why: None });
        self
    }

    /// The evaluator will not answer when it is next asked.
    pub fn says_nothing(&mut self) -> &mut Play {
        self.answers.push_back(None);
        self
    }

    /// Moves the clock to so many minutes after the start.
    pub fn clock(&mut self, minutes: i64) -> &mut Play {
        self.clock = minute(minutes);
        self
    }

    /// Decides a command, asks the evaluator where a step wants it, and commits what comes of it.
    pub fn act(&mut self, actor: &Actor, command: &Command) -> Result<Change, Refusal> {
        let mut command = command.clone();
        let mut decided = decide(self.world.context(), &self.run, &self.attempts, actor, &command, self.clock);
        if let Err(Fault::Graph(inquiry)) = decided {
            let standing = self.standings.pop_front().unwrap_or_else(|| panic!("nobody expected {inquiry:?}"));
            self.looked.push(*inquiry);
            command.stands(standing);
            decided = decide(self.world.context(), &self.run, &self.attempts, actor, &command, self.clock);
        }
        if let Err(Fault::Check(inquiry)) = decided {
            let answers = self.answers.pop_front().unwrap_or_else(|| panic!("nobody expected {inquiry:?}"));
            let asked_at = self.clock;
            let evaluation = Evaluation { model: JUDGE.to_owned(), answers, truncated: inquiry.truncated, asked_at };
            self.asked.push(*inquiry);
            command.evaluated(&evaluation);
            decided = decide(self.world.context(), &self.run, &self.attempts, actor, &command, self.clock);
        }
        let change = match refusal(decided) {
            Ok(change) => change,
            Err(refused) => {
                if let Some(trace) = &refused.attempt {
                    let (step, attempt) = &**trace;
                    round_trip(attempt);
                    if self.run.step(step).is_none_or(|s| s.attempt != attempt.attempt) {
                        // Time has made the step ready and nobody has written that: a trace is left on what is written.
                        assert!(!self.tick().is_empty(), "`{step}` has no such attempt");
                        return self.act(actor, &command);
                    }
                    self.attempts.insert(step.clone(), attempt.clone());
                }
                return Err(refused);
            }
        };
        self.commit(actor, &command, &change);
        Ok(change)
    }

    fn commit(&mut self, actor: &Actor, command: &Command, change: &Change) {
        assert!(change.at >= self.run.updated_at, "time never goes back");
        if change.events.is_empty() {
            assert_eq!(change.run, self.run, "without an event the run stays as it is");
        } else {
            let by = if *command == Command::Tick { run::SERVER } else { &actor.subject };
            let new = entry(change, by, tool(command));
            round_trip(&new);
            self.entries.push(new);
            assert_eq!(fold(&self.entries).unwrap().as_ref(), Some(&change.run), "the events lead to the run");
        }
        for (step, attempt) in &change.attempts {
            match attempt {
                Some(attempt) => {
                    round_trip(attempt);
                    let before = self.attempts.insert(step.clone(), attempt.clone());
                    assert!(before.is_none_or(|b| b.tag() != attempt.tag()), "every write of an attempt has its tag");
                }
                None => drop(self.attempts.remove(step)),
            }
        }
        self.run = change.run.clone();
    }

    /// A step is claimed by this agent.
    pub fn claim_by(&mut self, subject: &str, step: &str) -> Result<Claimed, Refusal> {
        let change = self.act(&agent(subject), &Command::Claim { step: step.to_owned() })?;
        Ok(claimed(&change.reply, subject))
    }

    /// A step is claimed by the agent Ada.
    pub fn claim(&mut self, step: &str) -> Claimed {
        self.claim_by("ada", step).unwrap()
    }

    pub fn renew(&mut self, token: &Claimed, progress: Option<&str>) -> Result<Claimed, Refusal> {
        let progress = progress.map(str::to_owned);
        let change = self.act(&agent(&token.subject), &Command::Renew { token: token.clone(), progress })?;
        Ok(claimed(&change.reply, &token.subject))
    }

    pub fn submit(&mut self, token: &Claimed, submission: Submission) -> Result<Change, Refusal> {
        self.act(&agent(&token.subject), &Command::Submit { token: token.clone(), submission })
    }

    pub fn escalate(&mut self, token: &Claimed, note: &str) -> Result<Change, Refusal> {
        self.act(&agent(&token.subject), &Command::Escalate { token: token.clone(), note: note.to_owned() })
    }

    /// Ada claims the step and submits.
    pub fn does(&mut self, step: &str, submission: Submission) -> &mut Play {
        let token = self.claim(step);
        self.submit(&token, submission).unwrap();
        self
    }

    /// Whoever has claimed the step submits.
    pub fn does_claimed(&mut self, step: &str, submission: Submission) -> &mut Play {
        let attempt = self.attempts[step].clone();
        let lease = attempt.lease.expect("a claim");
        let token =
            Claimed { step: step.to_owned(), attempt: attempt.attempt, lease: lease.serial, subject: lease.holder };
        self.submit(&token, submission).unwrap();
        self
    }

    /// The id of the step's open work item.
    pub fn item(&self, step: &str) -> String {
        match self.caught_up().0.step(step).and_then(|s| s.item.as_ref()) {
            Some(item) => item.id.clone(),
            None => panic!("`{step}` has no open work item"),
        }
    }

    /// Decides the step's open work item, with a current snapshot.
    pub fn decide(&mut self, actor: &Actor, step: &str, decision: Decision) -> Result<Change, Refusal> {
        let item = self.item(step);
        self.decide_item(actor, &item, decision)
    }

    /// Decides this work item, with a current snapshot.
    pub fn decide_item(&mut self, actor: &Actor, item: &str, decision: Decision) -> Result<Change, Refusal> {
        let command = Command::Decide { item: item.to_owned(), snapshot: snapshot(&self.caught_up().0), decision };
        self.act(actor, &command)
    }

    /// Sends an event as an agent; who consumed it.
    pub fn send(&mut self, name: &str, data: Value) -> Result<Option<String>, Refusal> {
        let command = Command::SendEvent { name: name.to_owned(), data: object(data) };
        match self.act(&agent("gate"), &command)?.reply {
            Reply::Sent { consumed_by } => Ok(consumed_by),
            other => panic!("an event was answered {other:?}"),
        }
    }

    pub fn cancel(&mut self) -> Result<Change, Refusal> {
        self.act(&operator(), &Command::Cancel { reason: "Not needed.".to_owned() })
    }

    pub fn tick(&mut self) -> Change {
        self.act(&agent(run::SERVER), &Command::Tick).unwrap()
    }

    /// The run as the next write will find it, and its attempts.
    pub fn caught_up(&self) -> (Run, BTreeMap<String, Attempt>) {
        catch_up(self.world.context(), self.run.clone(), self.attempts.clone(), self.clock).unwrap()
    }

    /// The view at this moment, as JSON.
    pub fn view(&self) -> Value {
        let overlay = Overlay::of(&self.run, &self.attempts, self.clock);
        serde_json::to_value(RunView::of(&self.world.context(), &self.run, &overlay, self.clock)).unwrap()
    }

    /// One step's place in the view's list.
    pub fn shown(&self, step: &str) -> Value {
        let view = self.view();
        let found = view["steps"].as_array().unwrap().iter().find(|s| s["id"] == *step);
        found.cloned().unwrap_or_else(|| panic!("no step `{step}`"))
    }

    /// The states of these steps, in order; a step not reached is `-`.
    pub fn states(&self, steps: &[&str]) -> String {
        let state = |step: &&str| self.shown(step)["state"].as_str().unwrap_or("-").to_owned();
        steps.iter().map(state).collect::<Vec<_>>().join(" ")
    }

    /// What the step recorded.
    pub fn data(&self, step: &str) -> Value {
        self.view()["data"]["steps"].get(step).cloned().unwrap_or(Value::Null)
    }

    /// `state/outcome` of the run.
    pub fn ended(&self) -> String {
        let view = self.view();
        let word = |v: &Value| v.as_str().unwrap_or("-").to_owned();
        format!("{}/{}", word(&view["run"]["state"]), word(&view["run"]["outcome"]))
    }
}

/// The token that a claim or renewal was answered with.
pub fn claimed(reply: &Reply, subject: &str) -> Claimed {
    match reply {
        Reply::Leased { step, attempt, lease, .. } => {
            Claimed { step: step.clone(), attempt: *attempt, lease: *lease, subject: subject.to_owned() }
        }
        other => panic!("a claim was answered {other:?}"),
    }
}

/// The refusal; an invariant that does not hold fails the test.
pub fn refusal(decided: Result<Change, Fault>) -> Result<Change, Refusal> {
    match decided {
        Ok(change) => Ok(change),
        Err(Fault::Refused(refused)) => {
            assert!(!refused.message.trim().is_empty());
            Err(refused)
        }
        Err(Fault::Check(inquiry)) => panic!("step `{}` is to be checked", inquiry.step),
        Err(Fault::Graph(inquiry)) => panic!("the graph of step `{}` is to be evaluated", inquiry.step),
        Err(Fault::Invariant(why)) => panic!("an invariant is broken: {why}"),
    }
}

/// `code` or `code: issue; issue` of a refusal.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>) -> String {
    let refused = result.expect_err("this is to be refused");
    let code = match refused.code {
        Code::Invalid => "invalid",
        Code::NotAccepted => "not_accepted",
        Code::Stale => "stale",
        Code::Conflict => "conflict",
        Code::Forbidden => "forbidden",
        Code::NotFound => "not_found",
        Code::Retry => "retry",
    };
    match refused.issues.is_empty() {
        true => code.to_owned(),
        false => format!("{code}: {}", refused.issues.join("; ")),
    }
}
