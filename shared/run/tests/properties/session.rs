//! A run with everything that its callers know: tokens given out, work items and snapshots seen. Turns moves into
//! commands, runs them, and checks the run after each.

use process::Kind;
use run::{
    Actor, ActorKind, Change, Claimed, Code, Command, Decision, Mode, Refusal, Reply, Status, Submission, Time,
    assigned_to, snapshot, timers,
};
use serde_json::json;

use crate::common::{Play, agent, claimed, exact, object, refusal, tool};
use crate::moves::{Move, anybody, decision, people, perhaps_right, right};
use crate::order::Order;
use crate::processes::Plan;
use crate::{catch_up, checks, holds};

/// A token as its holder has it.
#[derive(Debug, Clone)]
pub struct Token {
    pub claimed: Claimed,
    pub expires_at: Time,
    /// Nothing has replaced or ended it but perhaps time.
    pub current: bool,
}

pub struct Session {
    pub play: Play,
    pub order: Order,
    pub tokens: Vec<Token>,
    items: Vec<String>,
    snapshots: Vec<String>,
    /// What was refused: tool, code, and what the first issue is about.
    pub refusals: Vec<String>,
    /// How the evaluator answers.
    mood: u8,
}

impl Session {
    /// `None` when the start is refused, and rightly so.
    pub fn start(plan: &Plan) -> Option<Session> {
        let world = plan.world();
        let starter = plan.starter();
        let needs = world.document.frontmatter["steps"].as_array().unwrap().iter().any(|s| s["person"] == "initiator");
        let play = match Play::begin(world, plan.start_inputs(), &starter, Mode::Test) {
            Ok(play) => play,
            Err(refused) => {
                assert!(needs && starter.kind == ActorKind::Agent, "{refused:?}");
                return None;
            }
        };
        assert!(!needs || starter.kind == ActorKind::Person);
        let mut session = Session {
            play,
            order: Order::default(),
            tokens: vec![],
            items: vec![],
            snapshots: vec![],
            refusals: vec![],
            mood: 0,
        };
        session.follow(0);
        session.rest();
        Some(session)
    }

    /// Plays until the moves are over, or the run is and has refused a few of them.
    pub fn play(&mut self, moves: &[Move]) {
        let mut after_the_end = 0;
        for one in moves {
            after_the_end += u32::from(self.order.ended());
            if after_the_end > 5 {
                break;
            }
            self.play_move(one);
        }
    }

    fn play_move(&mut self, one: &Move) {
        match one {
            Move::Clock(minutes) => {
                self.play.clock = Time::from_millis(self.play.clock.millis() + minutes * 60_000);
            }
            Move::Forward(how) => self.forward(*how),
            Move::Mood(mood) => self.mood = *mood,
            Move::Claim { who, step } => {
                let steps = &self.play.world.document.steps;
                let open: Vec<&String> = self.order.open().iter().collect();
                let step = match open.len() {
                    some if some > 0 && step % 2 == 0 => open[usize::from(*step) / 2 % some].clone(),
                    _ => steps
                        .get(usize::from(*step) / 2 % (steps.len() + 1))
                        .map_or("nowhere".to_owned(), |s| s.id.clone()),
                };
                self.run(&anybody(*who), &Command::Claim { step });
            }
            Move::Renew { who, token, note } => {
                if let Some((by, token)) = self.token(*who, *token) {
                    self.run(&by, &Command::Renew { token, progress: note.then(|| format!("note {who}")) });
                }
            }
            Move::Submit { who, token, how } => {
                if let Some((by, token)) = self.token(*who, *token) {
                    let work = self.play.world.document.step(&token.step).unwrap().work().unwrap();
                    let submission = perhaps_right(work, *how);
                    self.run(&by, &Command::Submit { token, submission });
                }
            }
            Move::Escalate { who, token, blank } => {
                if let Some((by, token)) = self.token(*who, *token) {
                    self.run(&by, &Command::Escalate { token, note: text(*blank) });
                }
            }
            Move::Decide { who, item, snapshot, how } => self.decide(*who, *item, *snapshot, *how),
            Move::Cancel { who, blank } => self.run(&anybody(*who), &Command::Cancel { reason: text(*blank) }),
            Move::Event { who, name, size } => {
                let name = ["go", "stop", "other", "Not a name"][usize::from(*name) % 4].to_owned();
                let mut data = exact(r#"{"n": 1.10, "far": 1e+400}"#);
                data.insert("text".to_owned(), json!("x".repeat(usize::from(*size))));
                self.run(&anybody(*who), &Command::SendEvent { name, data });
            }
            Move::Tick => {
                self.run(&agent(run::SERVER), &Command::Tick);
            }
        }
    }

    /// A token somebody once got, the latest more often than not, and who uses it: its holder more often than not.
    fn token(&self, who: u8, token: u8) -> Option<(Actor, Claimed)> {
        let last = self.tokens.len().checked_sub(1)?;
        let mut found = self.tokens[if token % 3 > 0 { last } else { usize::from(token) % (last + 1) }].claimed.clone();
        if token == 0 {
            found.lease += 1;
        }
        let by = if who % 4 > 0 { agent(&found.subject) } else { anybody(who / 4) };
        Some((by, found))
    }

    fn decide(&mut self, who: u8, item: u8, seen: u8, how: [u8; 4]) {
        let (run, _) = self.play.caught_up();
        let all: Vec<_> =
            run.steps.iter().filter_map(|(id, s)| s.item.clone().map(|item| (id.clone(), item))).collect();
        let open = all.get(usize::from(how[3]) % all.len().max(1)).cloned();
        let id = match (&open, self.items.len()) {
            (Some((_, open)), _) if item % 8 > 0 => open.id.clone(),
            (_, 0) => "w_1_99".to_owned(),
            (_, count) => self.items.get(usize::from(item / 8) % (count + 1)).cloned().unwrap_or("w_9_1".to_owned()),
        };
        let by = match &open {
            Some((_, open)) if who % 4 > 0 => self.decider(open).unwrap_or_else(|| anybody(who)),
            _ => anybody(who / 4),
        };
        let seen = match seen % 4 {
            0 if !self.snapshots.is_empty() => self.snapshots[usize::from(seen) / 4 % self.snapshots.len()].clone(),
            1 => snapshot(&self.play.run),
            _ => snapshot(&run),
        };
        let first = &self.play.world.document.steps[0];
        let step = open.as_ref().and_then(|(id, _)| self.play.world.document.step(id)).unwrap_or(first);
        let escalated = open.as_ref().is_some_and(|(_, item)| item.escalation.is_some());
        let decision = decision(&step.kind, escalated, how);
        self.run(&by, &Command::Decide { item: id, snapshot: seen, decision });
    }

    /// A person whom this item is assigned to.
    fn decider(&self, item: &run::Item) -> Option<Actor> {
        let context = self.play.world.context();
        people().into_iter().find(|p| assigned_to(&context, p, &item.assigned))
    }

    /// Does what one of the open steps waits for, and does it right, by what is shown at this moment.
    fn forward(&mut self, how: [u8; 4]) {
        let (run, _) = self.play.caught_up();
        let document = self.play.world.document.clone();
        let parallel = |id: &str| matches!(document.step(id).unwrap().kind, Kind::Parallel { .. });
        let of_somebody = run.steps.iter().filter(|(_, s)| matches!(s.status, Some(Status::Ready | Status::Waiting)));
        let all: Vec<&String> = of_somebody.map(|(id, _)| id).filter(|id| !parallel(id)).collect();
        let Some(open) = all.get(usize::from(how[3]) % all.len().max(1)).map(|id| (*id).clone()) else {
            self.ask(&agent(run::SERVER), &Command::Tick).unwrap();
            return assert!(self.order.ended(), "nothing is open, so time has ended it");
        };
        self.mood = if how[2] % 3 == 0 { how[1] } else { 0 };
        let step = document.step(&open).unwrap().clone();
        let submission = step.work().map(|work| right(work, [how[1], how[2], how[3]]));
        if let Some(item) = run.step(&open).unwrap().item.clone() {
            let by = self.decider(&item).expect("somebody whom it is assigned to");
            if held(&item) && how[1] % 2 == 0 {
                let half = Submission { summary: Some("Half.".to_owned()), ..Submission::default() };
                let decision = Decision::Completed(half);
                let command = Command::Decide { item: item.id.clone(), snapshot: snapshot(&run), decision };
                let refused = self.ask(&by, &command).expect_err("half an adoption");
                assert_eq!((refused.code, refused.attempt), (Code::Invalid, None));
            }
            let decision = match (&step.kind, submission) {
                _ if item.escalation.is_some() && how[0] % 2 == 0 => Decision::Returned("Go on.".to_owned()),
                _ if held(&item) && how[0] % 4 == 1 => Decision::Completed(Submission::default()),
                (Kind::Approve { .. }, _) if how[0] % 3 == 0 => Decision::Rejected("Again.".to_owned()),
                (Kind::Approve { .. }, _) => Decision::Approved(None),
                (_, Some(submission)) => Decision::Completed(submission),
                (kind, None) => panic!("{kind:?} has a work item"),
            };
            let command = Command::Decide { item: item.id, snapshot: snapshot(&run), decision };
            let refused = self.ask(&by, &command).err();
            assert!(refused.as_ref().is_none_or(too_big_or_unchecked), "a right decision is refused: {refused:?}");
            return;
        }
        match &step.kind {
            Kind::Agent(_) => {
                let now = self.play.clock.max(self.play.run.updated_at);
                let of_step = |t: &&Token| t.claimed.step == open && t.current && now < t.expires_at;
                let live = self.tokens.iter().rfind(of_step).map(|t| t.claimed.clone());
                if live.is_none() && how[0] % 4 == 0 {
                    let by = ["ada", "bob"][usize::from(how[0] / 4) % 2];
                    self.ask(&agent(by), &Command::Claim { step: open }).expect("nobody has it");
                    return;
                }
                let token = match live {
                    Some(token) => token,
                    None => {
                        let change = self.ask(&agent("ada"), &Command::Claim { step: open }).expect("nobody has it");
                        claimed(&change.reply, "ada")
                    }
                };
                let by = agent(&token.subject);
                let command = Command::Submit { token, submission: submission.unwrap() };
                let refused = self.ask(&by, &command).err();
                assert!(
                    refused.as_ref().is_none_or(too_big_or_unchecked),
                    "a right submission is refused: {refused:?}"
                );
            }
            Kind::WaitFor { event, .. } if how[0] % 2 == 0 => {
                let command = Command::SendEvent { name: event.clone(), data: object(json!({ "n": how[1] })) };
                self.run(&agent("gate"), &command);
            }
            _ => {
                let due = timers(&self.play.run).into_iter().map(|(at, _)| at).min();
                // Not to the end of time: nothing could be told after it.
                if let Some(due) = due.filter(|due| due.to_string().as_str() < "9000") {
                    self.play.clock = self.play.clock.max(due);
                    self.ask(&agent(run::SERVER), &Command::Tick).unwrap();
                }
            }
        }
    }

    /// Runs one command, whatever comes of it.
    fn run(&mut self, actor: &Actor, command: &Command) {
        drop(self.ask(actor, command));
    }

    /// Runs one command and checks everything.
    fn ask(&mut self, actor: &Actor, command: &Command) -> Result<Change, Refusal> {
        self.play.answers =
            checks::questions(&self.play, command).map(|q| checks::answers(&q, self.mood)).into_iter().collect();
        let before = self.play.clone();
        let result = self.play.act(actor, command);
        match &result {
            Ok(change) => {
                let written = usize::from(!change.events.is_empty());
                assert_eq!(self.play.entries.len(), before.entries.len() + written, "a write is one entry");
                holds::accepted(self, &before, actor, command, change);
                self.learn(actor, command, change);
                self.follow(before.entries.len());
                self.rest();
                self.again(actor, command);
            }
            Err(refused) => {
                let mut before = before;
                if self.play.entries.len() > before.entries.len() {
                    assert!(refused.attempt.is_some(), "only a trace needs what time has made to be written");
                    self.follow(before.entries.len());
                    self.rest();
                    before.tick();
                }
                holds::refused(&before, &self.play, actor, command, refused);
                let about = refused.issues.first().filter(|_| refused.code != Code::NotAccepted);
                let about = about.map(|i| format!(" {}", i.split(':').next().unwrap_or_default())).unwrap_or_default();
                self.refusals.push(format!("{} {:?}{about}", tool(command), refused.code));
            }
        }
        result
    }

    /// What callers know after an accepted command.
    fn learn(&mut self, actor: &Actor, command: &Command, change: &Change) {
        let acted_on = match command {
            Command::Renew { token, .. } | Command::Submit { token, .. } | Command::Escalate { token, .. } => {
                Some(&token.step)
            }
            Command::Claim { step } => Some(step),
            _ => None,
        };
        self.tokens.iter_mut().filter(|t| Some(&t.claimed.step) == acted_on).for_each(|t| t.current = false);
        if let Reply::Leased { expires_at, .. } = &change.reply {
            let claimed = claimed(&change.reply, &actor.subject);
            self.tokens.push(Token { claimed, expires_at: *expires_at, current: true });
        }
        for state in self.play.run.steps.values() {
            if let Some(item) = state.item.as_ref().filter(|i| !self.items.contains(&i.id)) {
                self.items.push(item.id.clone());
            }
        }
        self.snapshots.push(snapshot(&self.play.run));
    }

    /// Follows the entries from this one on in the model of order.
    fn follow(&mut self, from: usize) {
        let Session { play, order, .. } = self;
        play.entries[from..].iter().flat_map(|e| &e.events).for_each(|e| order.follow(&play.world.document, e));
    }

    /// What holds between two writes.
    fn rest(&self) {
        let Session { play, order, .. } = self;
        order.rest(&play.world.document);
        assert_eq!(order.ended(), play.run.ended.is_some());
        let open = |s: &run::StepState| matches!(s.status, Some(Status::Ready | Status::Waiting));
        let steps = play.run.steps.iter().filter(|(_, s)| open(s)).map(|(id, _)| id);
        assert!(steps.eq(order.open()), "what is open and nothing else: {:?}", order.open());
        for step in play.view()["steps"].as_array().unwrap() {
            let shown = match step["state"].as_str() {
                Some("ready" | "claimed" | "waiting") => Some("open"),
                other => other,
            };
            assert_eq!(shown, order.state(step["id"].as_str().unwrap()), "{step}");
        }
        holds::at_rest(&self.play);
        catch_up::wakes_when_it_must(&self.play);
        catch_up::shown_is_what_a_tick_makes(&self.play);
    }

    /// The same command once more, by the same caller at the same time.
    fn again(&self, actor: &Actor, command: &Command) {
        let play = &self.play;
        let again = refusal(run::decide(play.world.context(), &play.run, &play.attempts, actor, command, play.clock));
        let wanted = match command {
            Command::Tick => return assert!(again.unwrap().is_empty(), "time passed twice"),
            // Two events are two events, and each of them is bounded.
            Command::SendEvent { .. } => return,
            _ if play.run.ended.is_some() => (Code::Conflict, Some("run_ended")),
            Command::Claim { .. } => (Code::Conflict, Some("claimed_by_you")),
            Command::Decide { .. } => (Code::Conflict, Some("already_decided")),
            _ => (Code::Stale, None),
        };
        let refused = again.expect_err("a repeated command is refused");
        assert_eq!((refused.code, refused.issues.first().map(String::as_str)), wanted);
    }
}

fn text(blank: bool) -> String {
    if blank { " ".to_owned() } else { "Because.".to_owned() }
}

/// Whether the item holds a candidate.
fn held(item: &run::Item) -> bool {
    item.escalation.as_ref().is_some_and(|e| e.candidate.is_some())
}

/// What is right in itself may still be too much, or not be what a check likes.
fn too_big_or_unchecked(refused: &Refusal) -> bool {
    let all = |start: &str| !refused.issues.is_empty() && refused.issues.iter().all(|i| i.starts_with(start));
    match refused.code {
        Code::NotAccepted => all("check: ") || (all("run data: ") && refused.issues.len() == 1),
        code => code == Code::Retry,
    }
}
