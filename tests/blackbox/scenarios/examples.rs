//! The examples of this project, each played to every end it has.
//!
//! A player that knows nothing but the file and the tools makes every choice there is, one after another: each route,
//! approval and rejection (each approval once), event and timeout, and each verdict of a check (once what fails, once what
//! is unsure, with each decision about it). Where a graph guides a step it takes the graph's routes first. Where branches run beside each other it first tries the orders in which their
//! steps may move. `PROCESSION_EXAMPLES` names another folder of processes to be played.

mod choices;
mod guides;
mod submissions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use process::{Document, EvidenceKind, Kind, Next, Step, Work};
use serde_json::{Value, json};

use choices::{Choices, Trying};
pub use guides::provide;
use submissions::{Verdict, summary, values, verdict};

use crate::harness::{Answer, Client, Need, Options, Org, Scenario, Server, eventually, fresh, item, state};

/// Most runs that one process is played in.
const RUNS: usize = 200;

/// Most orders that the branches of one process are played in.
const ORDERS: usize = 100;

/// Most readings of a run for one decision.
const READINGS: usize = 20;

/// Most moves of one run.
const MOVES: usize = 100;

/// A clock on which a week takes 1.5 seconds.
const SWIFT: Options = Options { lease_seconds: 604_800, speed: 400_000 };

static SWIFT_SERVER: OnceLock<Arc<Server>> = OnceLock::new();

/// The server with that clock.
pub fn swift() -> Arc<Server> {
    SWIFT_SERVER.get_or_init(|| Server::start(SWIFT)).clone()
}

fn folder() -> PathBuf {
    match std::env::var_os("PROCESSION_EXAMPLES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"),
    }
}

pub fn scenarios() -> Vec<Scenario> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().path().join("PROCESS.md"))
        .filter(|p| p.is_file())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no examples in {}", folder().display());
    files.into_iter().map(scenario).collect()
}

fn scenario(path: PathBuf) -> Scenario {
    let source = std::fs::read_to_string(&path).unwrap();
    let name = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
    let document =
        process::read(source.as_bytes()).document.unwrap_or_else(|| panic!("{} cannot be run", path.display()));
    let timed = |k: &Kind| matches!(k, Kind::Wait { .. } | Kind::WaitFor { timeout: Some(_), .. });
    let timed = document.steps.iter().any(|s| timed(&s.kind));
    Scenario {
        name: format!("examples::{name}_reaches_every_end"),
        need: match (timed, document.profiles().contains(&process::CHECK_1)) {
            (true, _) => Need::Own,
            (false, true) => Need::Evaluator,
            (false, false) => Need::Any,
        },
        run: Box::new(move || {
            let server = if timed { swift() } else { Server::shared() };
            let org = Org::new(&server, "examples");
            provide(&org, path.parent().unwrap());
            org.publish(&source);
            Player { org: &org, document: &document }.every_end();
        }),
    }
}

struct Player<'a> {
    org: &'a Org,
    document: &'a Document,
}

/// What a run has behind it.
#[derive(Default)]
struct Played {
    /// Approvals that rejected: they do not do it again.
    rejected: BTreeSet<String>,
    /// Steps whose check found fault: it does not again.
    faulted: BTreeSet<String>,
    /// Steps that moved.
    moved: BTreeSet<String>,
}

impl Player<'_> {
    fn every_end(&self) {
        if !self.document.regions.is_empty() {
            self.play_all(Trying::Orders, ORDERS);
        }
        let (outcomes, all) = self.play_all(Trying::Ways, RUNS);
        assert!(all, "more than {RUNS} ways through {}", self.document.name);
        let mut ends = BTreeSet::new();
        for step in &self.document.steps {
            match &step.kind {
                Kind::Finish { outcome } => drop(ends.insert(outcome.clone())),
                Kind::Approve { on_reject: None, .. } => drop(ends.insert("rejected".to_owned())),
                // Whoever looks at what a check was unsure of may find that it cannot be done.
                _ if verdict(step, Verdict::Unsure).is_some() => drop(ends.insert("failed".to_owned())),
                _ => {}
            }
        }
        assert_eq!(outcomes, ends);
    }

    /// Plays up to so many runs, each with other choices. Gives the outcomes, and whether those were all choices there are.
    fn play_all(&self, trying: Trying, most: usize) -> (BTreeSet<String>, bool) {
        let mut outcomes = BTreeSet::new();
        let mut given = Vec::new();
        for _ in 0..most {
            let mut choices = Choices::new(trying, given);
            outcomes.insert(self.play(&mut choices));
            match choices.next() {
                Some(next) => given = next,
                None => return (outcomes, true),
            }
        }
        (outcomes, false)
    }

    /// Plays one run and gives its outcome.
    fn play(&self, choices: &mut Choices) -> String {
        let org = self.org;
        let starter = if self.document.needs_initiator() { &org.outsider } else { &org.agent };
        let start = json!({ "process": self.document.name, "inputs": values(&self.document.inputs) });
        let mut view = once(starter, "start_run", start).unwrap();
        let mut played = Played::default();
        for _ in 0..MOVES {
            if view["run"]["state"] == "ended" {
                return view["run"]["outcome"].as_str().unwrap().to_owned();
            }
            let open: Vec<&Step> = self.document.steps.iter().filter(|s| is_open(&view, s)).collect();
            let step = match open.as_slice() {
                [] => panic!("nothing is open: {view}"),
                [one] => *one,
                several => several[choices.order(several.len())],
            };
            view = self.step(&view, step, choices, &mut played);
            played.moved.insert(step.id.clone());
        }
        panic!("more than {MOVES} moves: {view}");
    }

    /// Moves one step.
    fn step(&self, view: &Value, step: &Step, choices: &mut Choices, played: &mut Played) -> Value {
        // With branches there are too many ways to try all of them again after a rejection.
        let again = !self.document.regions.is_empty() && played.moved.contains(&step.id);
        let mut way = |options: usize| if again { 0 } else { choices.way(options) };
        let items = view["workItems"].as_array().unwrap();
        let item = items.iter().find(|i| i["stepId"] == step.id.as_str());
        if item.is_some_and(|i| !i["escalation"].is_null()) {
            let decisions = [
                json!({ "decision": "completed" }),
                json!({ "decision": "returned", "note": "Look again." }),
                json!({ "decision": "failed", "note": "It cannot be told." }),
            ];
            return self.decide(view, step, &decisions[way(decisions.len())]).unwrap();
        }
        match &step.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => {
                let mut verdicts = vec![Verdict::Pass];
                if !played.faulted.contains(&step.id) {
                    let others = [Verdict::Fail, Verdict::Unsure].into_iter();
                    verdicts.extend(others.filter(|v| verdict(step, *v).is_some()));
                }
                let found = verdicts[way(verdicts.len())];
                if found != Verdict::Pass {
                    played.faulted.insert(step.id.clone());
                }
                let who = if item.is_some() { &self.org.staff } else { &self.org.agent };
                let mut submission = self.submission(work, who, way);
                submission["summary"] = summary(step, found);
                let claimed = item.is_none().then(|| self.claim(view, &step.id));
                if let (Some(claimed), Some(graph)) = (&claimed, step.graph()) {
                    if graph.require_complete {
                        let error = self.submit(view, step, claimed, submission.clone()).unwrap_err();
                        assert!(error.issues.iter().all(|i| i.starts_with("graph: ")), "{error:?}");
                    }
                    guides::follow(self.org, claimed);
                }
                let submit = |submission: Value| match &claimed {
                    Some(claimed) => self.submit(view, step, claimed, submission),
                    None => self.complete(view, step, submission),
                };
                match submit(submission.clone()) {
                    Err(error) if found == Verdict::Fail => {
                        assert_eq!(error.code, "not_accepted", "{error:?}");
                        assert!(error.issues.iter().all(|i| i.starts_with("check: ")), "{error:?}");
                        submission["summary"] = summary(step, Verdict::Pass);
                        submit(submission).unwrap()
                    }
                    answer => {
                        assert_ne!(found, Verdict::Fail, "a failed check let it pass");
                        answer.unwrap()
                    }
                }
            }
            Kind::Approve { .. } => {
                let approve = json!({ "decision": "approved" });
                let reject = json!({ "decision": "rejected", "note": "Not like this." });
                let decision = match way(if played.rejected.contains(&step.id) { 1 } else { 2 }) {
                    0 => approve,
                    _ => {
                        played.rejected.insert(step.id.clone());
                        reject
                    }
                };
                self.decide(view, step, &decision).unwrap()
            }
            Kind::WaitFor { event, timeout, .. } => {
                if way(if timeout.is_some() { 2 } else { 1 }) == 0 {
                    let sent = json!({ "runId": view["run"]["id"], "name": event, "data": { "from": "outside" } });
                    // The clock is swift: the timeout may have come first, and then the run has moved on.
                    let _ = once(&self.org.agent, "send_event", sent);
                    self.org.agent.view(view)
                } else {
                    self.waited(view, step)
                }
            }
            Kind::Wait { .. } | Kind::WaitUntil { .. } => self.waited(view, step),
            Kind::Parallel { .. } | Kind::Finish { .. } => panic!("nobody moves it: {view}"),
        }
    }

    /// Waits until the server has moved the step on.
    fn waited(&self, view: &Value, step: &Step) -> Value {
        eventually("the wait passes", || Some(self.org.agent.view(view)).filter(|v| !is_open(v, step)))
    }

    fn claim(&self, view: &Value, step: &str) -> Value {
        once(&self.org.agent, "claim", json!({ "runId": view["run"]["id"], "stepId": step })).unwrap()
    }

    fn submit(&self, view: &Value, step: &Step, claimed: &Value, mut submission: Value) -> Answer {
        submission["token"] = claimed["token"].clone();
        match once(&self.org.agent, "submit", submission.clone()) {
            // The clock is swift: the lease may have ended.
            Err(error) if error.code == "stale" => {
                submission["token"] = self.claim(view, &step.id)["token"].clone();
                once(&self.org.agent, "submit", submission)
            }
            answer => answer,
        }
    }

    fn complete(&self, view: &Value, step: &Step, mut submission: Value) -> Answer {
        submission["decision"] = json!("completed");
        self.decide(view, step, &submission)
    }

    fn decide(&self, view: &Value, step: &Step, decision: &Value) -> Answer {
        let mut view = view.clone();
        for _ in 0..READINGS {
            let item = item(&view, &step.id);
            let mut call = item["decide"]["arguments"].clone();
            for (name, value) in decision.as_object().unwrap() {
                call[name] = value.clone();
            }
            let person = match (&item["assignedTo"]["group"], &item["assignedTo"]["person"]) {
                _ if !item["escalation"].is_null() => self.org.operator.clone(),
                (Value::String(_), _) => self.org.staff.clone(),
                (_, Value::String(person)) => self.org.person(person, &[]),
                _ => panic!("assigned to nobody: {item}"),
            };
            match once(&person, "decide", call) {
                // The clock is swift: a wait of another branch may have passed since the run was read.
                Err(error) if error.code == "stale" => view = person.view(&view),
                answer => return answer,
            }
        }
        panic!("stale, {READINGS} times: {view}");
    }

    /// What a step asks for, with the next choice of its routes.
    fn submission(&self, work: &Work, who: &Client, mut way: impl FnMut(usize) -> usize) -> Value {
        let mut submission = json!({ "output": values(&work.output) });
        if !work.evidence.is_empty() {
            let evidence = work.evidence.iter().map(|kind| match kind {
                EvidenceKind::File => {
                    json!({ "kind": "file", "ref": who.upload("evidence.txt", b"What was found.")["id"] })
                }
                EvidenceKind::Link => json!({ "kind": "link", "ref": "https://files.example/1" }),
            });
            submission["evidence"] = evidence.collect();
        }
        if let Next::Routes(routes) = &work.next {
            submission["next"] = json!(routes[way(routes.len())].to);
            submission["reason"] = json!("It is its turn.");
        }
        submission
    }
}

/// Whether somebody or something can move this step. A parallel step waits for its branches.
fn is_open(view: &Value, step: &Step) -> bool {
    !matches!(step.kind, Kind::Parallel { .. }) && matches!(state(view, &step.id).as_str(), Some("ready" | "waiting"))
}

fn once(client: &Client, tool: &str, mut arguments: Value) -> Answer {
    arguments["requestId"] = json!(fresh());
    client.exact(tool, arguments)
}
