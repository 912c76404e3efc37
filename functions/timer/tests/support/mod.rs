//! A timer whose table, clock, alarms and bus the test holds in its hands.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cloud::Notify;
use run::{Actor, ActorKind, Mode, Time};
use serde_json::{Map, json};
use store::files::{Files, FilesError, Shown};
use store::lists::Notices;
use store::memory::MemoryTable;
use store::table::{Item, Key, Op, Range, Table, TableError};
use store::{Alarm, Alarms, Clock, Ids, Parts, Request, Seal, SealKey, Settings, Store, keys};
use timer::Timer;

/// The organization of all tests.
pub const ORG: &str = "acme";

/// When the test's clock starts.
const BEGIN: i64 = 1_767_603_600_000;

const PAUSES: &str = "---
name: pauses
description: Waits, then somebody looks.
steps:
  - { id: pause, wait: 30m }
  - { id: look, task: Look., person: editor, due: 1h }
  - { id: end, finish: over }
---
";

/// How a table refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// As if it did not answer this time.
    Away,
    /// As if what is stored could not be read, ever.
    Broken,
    /// It never answers.
    Silent,
}

/// A table that refuses some partitions when told to.
#[derive(Default)]
pub struct Refusing {
    pub memory: MemoryTable,
    refused: Mutex<Option<(HashSet<String>, Fault)>>,
}

impl Refusing {
    /// Refuses what concerns these partitions, and no others.
    pub fn refuse(&self, partitions: impl IntoIterator<Item = String>, fault: Fault) {
        *self.refused.lock().unwrap() = Some((partitions.into_iter().collect(), fault));
    }

    /// Refuses nothing any more.
    pub fn mend(&self) {
        *self.refused.lock().unwrap() = None;
    }

    fn fault<'a>(&self, mut partitions: impl Iterator<Item = &'a str>) -> Option<Fault> {
        let refused = self.refused.lock().unwrap();
        refused.as_ref().filter(|(refused, _)| partitions.any(|p| refused.contains(p))).map(|(_, fault)| *fault)
    }

    async fn check<'a>(&self, partitions: impl Iterator<Item = &'a str>) -> Result<(), TableError> {
        match self.fault(partitions) {
            None => Ok(()),
            Some(Fault::Away) => Err(TableError::Unavailable("away".into())),
            Some(Fault::Broken) => Err(TableError::Invalid("broken".into())),
            Some(Fault::Silent) => std::future::pending().await,
        }
    }
}

#[async_trait]
impl Table for Refusing {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.check(keys.iter().map(|key| key.partition.as_str())).await?;
        self.memory.get(keys).await
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.check(std::iter::once(range.partition.as_str())).await?;
        let found = self.memory.query(range).await;
        // Others have their turn between reading and writing.
        tokio::task::yield_now().await;
        found
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        self.check(ops.iter().map(|op| match op {
            Op::Put { item, .. } => item.key.partition.as_str(),
            Op::Delete { key, .. } | Op::Check { key, .. } => key.partition.as_str(),
        }))
        .await?;
        self.memory.transact(ops).await
    }
}

/// Timers touch no evidence.
struct NoFiles;

#[async_trait]
impl Files for NoFiles {
    async fn put(&self, key: &str, _: Vec<u8>, _: &str) -> Result<(), FilesError> {
        panic!("{key} is stored")
    }
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        panic!("{key} is read")
    }
    async fn link(&self, key: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
        panic!("{key} is linked")
    }
}

#[derive(Default)]
struct Hands {
    passed: AtomicI64,
    ids: AtomicU64,
}

impl Clock for Hands {
    fn now(&self) -> Time {
        Time::from_millis(BEGIN + self.passed.load(Ordering::Relaxed))
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

/// Alarms that are noted, or refused.
#[derive(Default)]
pub struct Noted {
    set: Mutex<Vec<Alarm>>,
    refused: Mutex<Option<String>>,
}

impl Noted {
    pub fn set_so_far(&self) -> Vec<Alarm> {
        self.set.lock().unwrap().clone()
    }

    /// Refuses to set alarms of this run from now on; of any run when it is empty.
    pub fn refuse(&self, run: &str) {
        *self.refused.lock().unwrap() = Some(run.to_owned());
    }

    /// Forgets what was set so far.
    pub fn forget(&self) {
        self.set.lock().unwrap().clear();
    }
}

#[async_trait]
impl Alarms for Noted {
    async fn set(&self, alarms: &[Alarm]) -> Result<(), store::Error> {
        if let Some(run) = &*self.refused.lock().unwrap()
            && alarms.iter().any(|alarm| run.is_empty() || alarm.run == *run)
        {
            return Err(store::Error::Retry("schedules are not to be had".to_owned()));
        }
        self.set.lock().unwrap().extend_from_slice(alarms);
        Ok(())
    }
    async fn clear(&self, _: &[Alarm]) {}
}

type Refuses = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// A bus that notes the run of all it takes, and refuses the runs that it is told to.
pub struct Bus {
    told: Mutex<Vec<String>>,
    refuses: Mutex<Refuses>,
}

impl Bus {
    pub fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    pub fn refuse(&self, refuses: impl Fn(&str) -> bool + Send + Sync + 'static) {
        *self.refuses.lock().unwrap() = Box::new(refuses);
    }
}

#[async_trait]
impl Notify for Bus {
    async fn tell(&self, notices: &[Notices]) -> Vec<Result<(), String>> {
        let refuses = self.refuses.lock().unwrap();
        let tell = |notices: &Notices| {
            if refuses(&notices.run) {
                return Err("the bus is closed".to_owned());
            }
            self.told.lock().unwrap().push(notices.run.clone());
            Ok(())
        };
        notices.iter().map(tell).collect()
    }
}

/// A timer and all it stands on, with one process published.
pub struct World {
    pub timer: Timer,
    pub table: Arc<Refusing>,
    pub alarms: Arc<Noted>,
    pub bus: Arc<Bus>,
    hands: Arc<Hands>,
}

fn person(subject: &str, operator: bool) -> Actor {
    Actor {
        subject: subject.to_owned(),
        kind: ActorKind::Person,
        groups: vec!["editor".to_owned()],
        operator,
        person: Some(format!("{subject}@example.com")),
        may_decide: true,
    }
}

impl World {
    pub async fn new() -> World {
        let (table, alarms, hands) = (Arc::<Refusing>::default(), Arc::<Noted>::default(), Arc::<Hands>::default());
        let bus = Arc::new(Bus { told: Mutex::default(), refuses: Mutex::new(Box::new(|_| false)) });
        let secret = b"thirty-two bytes or more of secret".to_vec();
        let store = Store::new(Parts {
            table: table.clone(),
            files: Arc::new(NoFiles),
            clock: hands.clone(),
            ids: hands.clone(),
            alarms: alarms.clone(),
            evaluator: None,
            seal: Seal::new(vec![SealKey { id: "k".into(), secret }]).unwrap(),
            settings: Settings::default(),
        });
        let op = person("op", true);
        let request = |tool, id| Request::new(ORG, &op, tool, id, &Map::new());
        store.import(&request("import_process", "q_import"), PAUSES, None, |_| json!({})).await.unwrap();
        let roles = [("editor".to_owned(), "editor".to_owned())].into();
        let publish = request("publish_process", "q_publish");
        store.publish(&publish, "pauses", &roles, |v| json!(v.number)).await.unwrap();
        let timer = Timer { store: Arc::new(store), bus: bus.clone() };
        World { timer, table, alarms, bus, hands }
    }

    /// Moves the clock.
    pub fn pass(&self, seconds: i64) {
        self.hands.passed.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }

    /// Starts a run and returns its id.
    pub async fn start(&self, mode: Mode) -> String {
        let (ann, id) = (person("ann", false), format!("q_{}", self.hands.fresh()));
        let request = Request::new(ORG, &ann, "start_run", &id, &Map::new());
        self.timer.store.start(&request, "pauses", None, Map::new(), mode).await.unwrap().run.meta.id
    }

    /// Starts so many live runs of one shard, in this order.
    pub async fn start_in(&self, shard: u8, count: usize) -> Vec<String> {
        let mut runs = Vec::with_capacity(count);
        while runs.len() < count {
            // Ids come in order: one that falls elsewhere is left out before its run is started.
            let next = self.hands.ids.load(Ordering::Relaxed);
            match (0..).find(|skipped| keys::shard(&format!("r_{:06}", next + 1 + skipped)) == shard) {
                Some(skipped) => self.hands.ids.fetch_add(skipped, Ordering::Relaxed),
                None => panic!("no id falls into the shard"),
            };
            let run = self.start(Mode::Live).await;
            assert_eq!(keys::shard(&run), shard, "{run}");
            runs.push(run);
        }
        runs
    }

    /// Adds an item to the table as it is.
    pub async fn put(&self, key: Key, doc: serde_json::Value) {
        let op = Op::Put { item: Item { key, tag: String::new(), doc }, when: store::table::When::Always };
        self.table.memory.transact(&[op]).await.unwrap();
    }

    pub async fn sweep(&self) -> Result<(), String> {
        self.timer.handle(&json!({ "sweep": true })).await
    }

    /// The step that the stored run is at: what is written, not what is shown by the clock.
    pub async fn waiting(&self, run: &str) -> Option<String> {
        let partition = store::partition::Partition::load(&self.table.memory, ORG, run).await.unwrap().unwrap();
        let at = |state: &run::StepState| matches!(state.status, Some(run::Status::Ready | run::Status::Waiting));
        partition.run.steps.iter().find(|(_, state)| at(state)).map(|(step, _)| step.clone())
    }

    /// How many entries the run's journal has.
    pub fn revisions(&self, run: &str) -> usize {
        let partition = keys::run(ORG, run);
        let items = self.table.memory.state().items().unwrap();
        items.iter().filter(|item| item.key.partition == partition && item.key.sort.starts_with("j/")).count()
    }

    /// How many writes left notices that were not sent yet.
    pub async fn unsent(&self) -> usize {
        let mut unsent = 0;
        for shard in 0..keys::SHARDS {
            unsent += self.timer.store.unsent(shard).await.unwrap().len();
        }
        unsent
    }
}
