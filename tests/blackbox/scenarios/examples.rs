//! The examples of this project, each played to every end it has.
//!
//! A player that knows nothing but the file and the tools makes every choice there is, one after another: each route,
//! approval and rejection (each approval once), event and timeout. `PROCESSION_EXAMPLES` names another folder of
//! processes to be played.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use process::{Document, FieldType, Fields, Kind};
use serde_json::{Map, Value, json};

use crate::harness::{Client, Need, Options, Org, Scenario, Server, eventually, fresh};

/// Most runs that one process is played in.
const RUNS: usize = 200;

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
        need: if timed { Need::Own } else { Need::Any },
        run: Box::new(move || {
            let server = if timed { swift() } else { Server::shared() };
            let org = Org::new(&server, "examples");
            org.publish(&source);
            Player { org: &org, document: &document }.every_end();
        }),
    }
}

struct Player<'a> {
    org: &'a Org,
    document: &'a Document,
}

/// The choices of one run: those given come first, then always the first option. Notes how many there were.
#[derive(Default)]
struct Choices {
    given: Vec<usize>,
    made: Vec<(usize, usize)>,
}

impl Choices {
    fn of(&mut self, options: usize) -> usize {
        let choice = self.given.get(self.made.len()).copied().unwrap_or(0);
        self.made.push((choice, options));
        choice
    }

    /// The next series of choices, when there is one.
    fn next(&self) -> Option<Vec<usize>> {
        let last = self.made.iter().rposition(|(choice, options)| choice + 1 < *options)?;
        let mut next: Vec<usize> = self.made[..last].iter().map(|(choice, _)| *choice).collect();
        next.push(self.made[last].0 + 1);
        Some(next)
    }
}

impl Player<'_> {
    fn every_end(&self) {
        let mut outcomes = BTreeSet::new();
        let mut given = Vec::new();
        for _ in 0..RUNS {
            let mut choices = Choices { given, made: Vec::new() };
            outcomes.insert(self.play(&mut choices));
            match choices.next() {
                Some(next) => given = next,
                None => {
                    let mut ends: BTreeSet<String> = BTreeSet::new();
                    for step in &self.document.steps {
                        match &step.kind {
                            Kind::Finish { outcome } => drop(ends.insert(outcome.clone())),
                            Kind::Approve { on_reject: None, .. } => drop(ends.insert("rejected".to_owned())),
                            _ => {}
                        }
                    }
                    assert_eq!(outcomes, ends);
                    return;
                }
            }
        }
        panic!("more than {RUNS} ways through {}", self.document.name);
    }

    /// Plays one run and gives its outcome.
    fn play(&self, choices: &mut Choices) -> String {
        let org = self.org;
        let starter = if self.document.needs_initiator() { &org.outsider } else { &org.agent };
        let start = json!({ "process": self.document.name, "inputs": values(&self.document.inputs) });
        let mut view = once(starter, "start_run", start).unwrap();
        let mut rejected = BTreeSet::new();
        for _ in 0..MOVES {
            if view["run"]["state"] == "ended" {
                return view["run"]["outcome"].as_str().unwrap().to_owned();
            }
            let steps = view["steps"].as_array().unwrap().iter();
            let open = steps.filter(|s| matches!(s["state"].as_str(), Some("ready" | "waiting")));
            let open: Vec<&Value> = open.collect();
            assert_eq!(open.len(), 1, "{view}");
            let step = self.document.step(open[0]["id"].as_str().unwrap()).unwrap();
            view = match &step.kind {
                Kind::Parallel { .. } => panic!("a parallel step waits for its branches"),
                Kind::Agent(_) => self.work(&view, &step.id, choices),
                Kind::Task { .. } => self.complete(&view, choices),
                Kind::Approve { .. } => {
                    let once_only = rejected.contains(&step.id);
                    match choices.of(if once_only { 1 } else { 2 }) {
                        0 => self.decide(&view, json!({ "decision": "approved" })),
                        _ => {
                            rejected.insert(step.id.clone());
                            self.decide(&view, json!({ "decision": "rejected", "note": "Not like this." }))
                        }
                    }
                }
                Kind::WaitFor { event, timeout, .. } => {
                    if choices.of(if timeout.is_some() { 2 } else { 1 }) == 0 {
                        let sent = json!({ "runId": view["run"]["id"], "name": event, "data": { "from": "outside" } });
                        // The clock is swift: the timeout may have come first, and then the run has moved on.
                        let _ = once(&org.agent, "send_event", sent);
                        org.agent.view(&view)
                    } else {
                        self.moved(&view)
                    }
                }
                Kind::Wait { .. } | Kind::WaitUntil { .. } => self.moved(&view),
                Kind::Finish { .. } => panic!("a finish is never open: {view}"),
            };
        }
        panic!("more than {MOVES} moves: {view}");
    }

    /// Waits until the server has moved the run on.
    fn moved(&self, view: &Value) -> Value {
        let at = &view["run"]["updatedAt"];
        eventually("the run goes on", || Some(self.org.agent.view(view)).filter(|v| v["run"]["updatedAt"] != *at))
    }

    fn work(&self, view: &Value, step: &str, choices: &mut Choices) -> Value {
        let agent = &self.org.agent;
        let declared = self.document.step(step).and_then(|s| s.work()).unwrap();
        let mut claimed = once(agent, "claim", json!({ "runId": view["run"]["id"], "stepId": step })).unwrap();
        let mut submit = self.submission(&claimed["step"], &declared.output, agent, choices);
        submit["summary"] = json!("Done as written.");
        submit["token"] = claimed["token"].clone();
        match once(agent, "submit", submit.clone()) {
            // The clock is swift: the lease may have ended.
            Err(error) if error.code == "stale" => {
                claimed = once(agent, "claim", json!({ "runId": view["run"]["id"], "stepId": step })).unwrap();
                submit["token"] = claimed["token"].clone();
                once(agent, "submit", submit).unwrap()
            }
            answer => answer.unwrap(),
        }
    }

    fn complete(&self, view: &Value, choices: &mut Choices) -> Value {
        let item = &view["workItems"][0];
        let declared = self.document.step(item["stepId"].as_str().unwrap()).and_then(|s| s.work()).unwrap();
        let mut decision = self.submission(item, &declared.output, &self.org.staff, choices);
        decision["decision"] = json!("completed");
        self.decide(view, decision)
    }

    fn decide(&self, view: &Value, decision: Value) -> Value {
        let item = &view["workItems"][0];
        let mut call = item["decide"]["arguments"].clone();
        for (name, value) in decision.as_object().unwrap() {
            call[name] = value.clone();
        }
        let person = match (&item["assignedTo"]["group"], &item["assignedTo"]["person"]) {
            (Value::String(_), _) => self.org.staff.clone(),
            (_, Value::String(person)) => self.org.person(person, &[]),
            _ => panic!("assigned to nobody: {item}"),
        };
        once(&person, "decide", call).unwrap()
    }

    /// What a step asks for, with the next choice of its routes.
    fn submission(&self, step: &Value, output: &Fields, who: &Client, choices: &mut Choices) -> Value {
        let mut submission = json!({ "output": values(output) });
        let kinds = step["evidence"].as_array().unwrap();
        if !kinds.is_empty() {
            let evidence = kinds.iter().map(|kind| match kind.as_str() {
                Some("file") => json!({ "kind": "file", "ref": who.upload("evidence.txt", b"What was found.")["id"] }),
                _ => json!({ "kind": "link", "ref": "https://files.example/1" }),
            });
            submission["evidence"] = evidence.collect();
        }
        if let Some(routes) = step["next"].as_array() {
            submission["next"] = routes[choices.of(routes.len())]["to"].clone();
            submission["reason"] = json!("It is its turn.");
        }
        submission
    }
}

fn once(client: &Client, tool: &str, mut arguments: Value) -> crate::harness::Answer {
    arguments["requestId"] = json!(fresh());
    client.exact(tool, arguments)
}

static PERSON: LazyLock<Value> = LazyLock::new(|| json!("pat@acme.example"));

/// Some value for each declared field.
fn values(fields: &Fields) -> Value {
    let mut values = Map::new();
    for (name, field) in fields.iter() {
        let value = match (&field.one_of, field.kind) {
            (Some(allowed), _) => allowed[0].clone(),
            (None, FieldType::String) => json!("some text"),
            (None, FieldType::Number) => json!(12.50),
            (None, FieldType::Boolean) => json!(true),
            (None, FieldType::Date) => json!("2026-02-28"),
            (None, FieldType::Datetime) => json!("2026-02-28T08:00:00+01:00"),
            (None, FieldType::List) => json!([]),
            (None, FieldType::Object) => json!({}),
            (None, FieldType::Person) => PERSON.clone(),
        };
        values.insert(name.to_owned(), value);
    }
    Value::Object(values)
}
