//! A store whose table, files, clock and ids the test holds in its hands.
#![allow(dead_code, reason = "every test file uses its own part of this")]

pub mod graphs;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use run::{Actor, ActorKind, Cited, Command, Decision, Mode, Submission, Time};
use serde_json::{Map, Value, json};
use store::files::{Files, FilesError, Shown};
use store::memory::MemoryTable;
use store::table::{Item, Key, Op, Range, Table, TableError};
use store::write::Written;
use store::{
    Clock, Error, Evaluator, EvidenceRef, GraphLimits, Ids, NoAlarms, Parts, Request, Seal, SealKey, Settings, Store,
};
use tokio::sync::oneshot;

/// The organization of most tests.
pub const ORG: &str = "acme";

/// When the test's clock starts.
pub const BEGIN: i64 = 1_767_603_600_000;

/// A table that records what it is asked, and loses or holds answers when told to.
#[derive(Default)]
pub struct Probe {
    pub memory: MemoryTable,
    pub transactions: Mutex<Vec<Vec<Op>>>,
    pub reads: AtomicU32,
    /// So many transactions from now are written and their answers lost.
    pub lose: AtomicU32,
    /// The next transaction waits for this first.
    pub hold: Mutex<Option<oneshot::Receiver<()>>>,
    /// The next read by keys is made, and its answer waits for this.
    pub hold_read: Mutex<Option<oneshot::Receiver<()>>>,
}

#[async_trait]
impl Table for Probe {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let found = self.memory.get(keys).await;
        let hold = self.hold_read.lock().unwrap().take();
        if let Some(hold) = hold {
            hold.await.unwrap();
        }
        found
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.memory.query(range).await
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        let hold = self.hold.lock().unwrap().take();
        if let Some(hold) = hold {
            hold.await.unwrap();
        }
        self.transactions.lock().unwrap().push(ops.to_vec());
        self.memory.transact(ops).await?;
        match self.lose.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) {
            Ok(_) => Err(TableError::Unavailable("the answer was lost".into())),
            Err(_) => Ok(()),
        }
    }
}

/// A bucket in memory.
#[derive(Default)]
pub struct Bucket {
    pub objects: Mutex<BTreeMap<String, Vec<u8>>>,
    links: AtomicU64,
}

#[async_trait]
impl Files for Bucket {
    async fn put(&self, key: &str, bytes: Vec<u8>, _: &str) -> Result<(), FilesError> {
        self.objects.lock().unwrap().insert(key.to_owned(), bytes);
        Ok(())
    }
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        Ok(self.objects.lock().unwrap().get(key).cloned())
    }
    async fn link(&self, key: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
        Ok(format!("https://files.test/{key}?{}", self.links.fetch_add(1, Ordering::Relaxed)))
    }
}

#[derive(Default)]
struct Hands {
    now: AtomicI64,
    ids: AtomicU64,
}

impl Clock for Hands {
    fn now(&self) -> Time {
        Time::from_millis(BEGIN + self.now.load(Ordering::Relaxed))
    }
}

impl Ids for Hands {
    fn fresh(&self) -> String {
        format!("{:06}", self.ids.fetch_add(1, Ordering::Relaxed))
    }
    fn random(&self, _: u64) -> u64 {
        0
    }
}

/// An evaluator that is there and never asked.
pub struct Unasked;

#[async_trait]
impl Evaluator for Unasked {
    fn model(&self) -> &str {
        "unasked"
    }
    async fn answer(&self, inquiry: &run::Inquiry) -> Result<Vec<run::Answer>, String> {
        panic!("asked about {}", inquiry.step);
    }
}

/// A store and all it stands on.
#[derive(Clone)]
pub struct World {
    pub store: Arc<Store>,
    pub probe: Arc<Probe>,
    pub bucket: Arc<Bucket>,
    hands: Arc<Hands>,
    requests: Arc<AtomicU64>,
}

impl World {
    /// An empty world without an evaluator.
    pub fn new() -> World {
        World::on(Arc::default(), Arc::default(), Arc::default(), Arc::default(), None, Settings::default())
    }

    /// The same table, files, clock and ids under a server with another evaluator, or none.
    pub fn under(&self, evaluator: Option<Arc<dyn Evaluator>>) -> World {
        let World { probe, bucket, hands, requests, .. } = self.clone();
        World::on(probe, bucket, hands, requests, evaluator, Settings::default())
    }

    /// The same under a server with nothing in memory that offers no graphs for steps (profile graph-1).
    pub fn unguided(&self) -> World {
        let World { probe, bucket, hands, requests, .. } = self.clone();
        World::on(probe, bucket, hands, requests, None, Settings { graph: false, ..Settings::default() })
    }

    /// The same under a server with nothing in memory and other limits for runs of Graphs.
    pub fn within(&self, graph_limits: GraphLimits) -> World {
        let World { probe, bucket, hands, requests, .. } = self.clone();
        World::on(probe, bucket, hands, requests, None, Settings { graph_limits, ..Settings::default() })
    }

    fn on(
        probe: Arc<Probe>,
        bucket: Arc<Bucket>,
        hands: Arc<Hands>,
        requests: Arc<AtomicU64>,
        evaluator: Option<Arc<dyn Evaluator>>,
        settings: Settings,
    ) -> World {
        let secret = b"thirty-two bytes or more of secret".to_vec();
        let store = Store::new(Parts {
            table: probe.clone(),
            files: bucket.clone(),
            clock: hands.clone(),
            ids: hands.clone(),
            alarms: Arc::new(NoAlarms),
            evaluator,
            seal: Seal::new(vec![SealKey { id: "k".into(), secret }]).unwrap(),
            settings,
        });
        World { store: Arc::new(store), probe, bucket, hands, requests }
    }

    /// A world in which this process is published.
    pub async fn with(source: &str) -> World {
        let world = World::new();
        world.publish(ORG, source).await;
        world
    }

    /// Moves the clock.
    pub fn pass(&self, seconds: i64) {
        self.hands.now.fetch_add(seconds * 1000, Ordering::Relaxed);
    }

    /// A `requestId` that was never used.
    pub fn id(&self) -> String {
        format!("q{}", self.requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Imports and publishes, every role bound to the group of its own name.
    pub async fn publish(&self, org: &str, source: &str) {
        let op = operator();
        let document = process::read(source.as_bytes()).document.unwrap();
        let roles = document.roles().iter().map(|r| ((*r).to_owned(), (*r).to_owned())).collect();
        let (import, publish) = (self.id(), self.id());
        let request = Request::new(org, &op, "import_process", &import, &Map::new());
        self.store.import(&request, source, None, |_| json!({})).await.unwrap();
        let request = Request::new(org, &op, "publish_process", &publish, &Map::new());
        self.store.publish(&request, &document.name, &roles, |v| json!(v.number)).await.unwrap();
    }

    /// Starts a run and returns its id.
    pub async fn start(&self, process: &str, inputs: Value) -> String {
        let id = self.id();
        let actor = person("ann", &["editor"]);
        let request = Request::new(ORG, &actor, "start_run", &id, &Map::new());
        let inputs = inputs.as_object().unwrap().clone();
        self.store.start(&request, process, None, inputs, Mode::Live).await.unwrap().run.meta.id
    }

    /// Makes a write under this `requestId`.
    pub async fn write(&self, id: &str, actor: &Actor, run: &str, command: Command) -> Result<Written, Error> {
        self.cite(id, actor, run, &[], command).await
    }

    /// Makes a write that cites evidence.
    pub async fn cite(
        &self,
        id: &str,
        actor: &Actor,
        run: &str,
        evidence: &[EvidenceRef],
        command: Command,
    ) -> Result<Written, Error> {
        let arguments =
            Map::from_iter([("run".to_owned(), json!(run)), ("of".to_owned(), json!(format!("{command:?}")))]);
        let request = Request::new(ORG, actor, tool(&command), id, &arguments);
        let with = |cited: Vec<Cited>| {
            let mut command = command.clone();
            if let Command::Submit { submission, .. }
            | Command::Decide { decision: Decision::Completed(submission), .. } = &mut command
            {
                submission.evidence = cited;
            }
            command
        };
        self.store.write(&request, run, evidence, with).await
    }

    /// Claims a step and returns the token's content.
    pub async fn claim(&self, actor: &Actor, run: &str, step: &str) -> run::Claimed {
        let id = self.id();
        let written = self.write(&id, actor, run, Command::Claim { step: step.to_owned() }).await.unwrap();
        let (token, _) = self.store.token(ORG, actor, &written).unwrap();
        self.store.claimed(ORG, &token).unwrap().claimed()
    }

    /// The answer a client would see, links aside.
    pub async fn answer(&self, actor: &Actor, written: &Written) -> Value {
        let view = serde_json::to_value(self.store.written_view(ORG, written).await.unwrap()).unwrap();
        let mut answer = json!({ "view": view, "at": written.at, "sent": format!("{:?}", written.sent) });
        if written.lease.is_some() {
            let (token, until) = self.store.token(ORG, actor, written).unwrap();
            answer["token"] = json!([token, until]);
        }
        without_links(answer)
    }

    /// Decides the run's open work item.
    pub async fn decide(&self, actor: &Actor, run: &str, decision: Decision) -> Result<Written, Error> {
        let view = self.store.view(ORG, run).await.unwrap();
        let item = &view.work_items[0];
        let command = Command::Decide { item: item.id.clone(), snapshot: item.snapshot.clone(), decision };
        self.write(&self.id(), actor, run, command).await
    }

    /// Everything stored whose partition begins so.
    pub fn stored(&self, prefix: &str) -> Vec<Item> {
        let items = self.probe.memory.state().items().unwrap();
        items.into_iter().filter(|i| i.key.partition.starts_with(prefix)).collect()
    }
}

fn without_links(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("url");
            map.values_mut().for_each(|v| *v = without_links(v.take()));
        }
        Value::Array(list) => list.iter_mut().for_each(|v| *v = without_links(v.take())),
        _ => {}
    }
    value
}

fn tool(command: &Command) -> &'static str {
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

/// An agent.
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

/// A person.
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

/// An operator.
pub fn operator() -> Actor {
    Actor { operator: true, ..person("op", &[]) }
}

/// A submission with this output.
pub fn work(output: Value) -> Submission {
    let output = output.as_object().unwrap().clone();
    Submission { output: Some(output), summary: Some("Done.".to_owned()), ..Submission::default() }
}

/// The code of a refusal.
pub fn code<T: std::fmt::Debug>(answer: Result<T, Error>) -> (run::Code, Vec<String>) {
    match answer {
        Err(Error::Refused(refusal)) => (refusal.code, refusal.issues),
        other => panic!("not refused: {other:?}"),
    }
}

/// Agent, approval with a way back, event, end.
pub const LETTER: &str = "---
name: letter
description: A letter.
inputs: { topic: { type: string, optional: true } }
steps:
  - { id: write, agent: Write it., output: { text: string }, due: 30m }
  - { id: sign, person: editor, approve: Sign it?, due: 1h, on_reject: write }
  - { id: posted, wait_for: posted }
  - { id: sent, finish: sent }
---
Letters.
";
