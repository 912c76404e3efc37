//! The tools over the SDK's clients, struck by faults, and what they leave behind, read past all faults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, retry::RetryConfig};
use cloud::Schedules;
use cloud::faults::{self, Plan, Rule};
use cloud::schedules::Setup;
use identity::{Caller, Kind};
use local::{Local, LocalOptions};
use mcp::{Code, Failure, ProcessTools, Tools as _};
use run::Time;
use serde_json::{Map, Value, json};
use store::dynamo::DynamoTable;
use store::lists::TimerEntry;
use store::s3::S3Files;
use store::table::{Item, Range};
use store::{Clock, Error, Ids, Parts, RandomIds, Seal, SealKey, Settings, Store, SystemClock, keys};
use tempfile::TempDir;

use crate::cases::{Call, LETTER};
use crate::scheduler::Scheduler;

/// Longest pause of a client before it tries again, in milliseconds: there is no service to spare.
const PAUSE_MILLIS: u64 = 2;

/// The storage, in a world's folder.
const DATA: &str = "data";

/// The plan of faults, in a world's folder.
const PLAN: &str = "plan";

/// The organization of all cases.
const ORG: &str = "acme";

/// Most bytes of an answer.
const ANSWER_BYTES: usize = 1_048_576;

/// Storage and schedules, and clients that reach them through the plan's faults.
pub struct World {
    local: Local,
    table: aws_sdk_dynamodb::Client,
    files: aws_sdk_s3::Client,
    schedules: aws_sdk_scheduler::Client,
    scheduler: Scheduler,
    folder: TempDir,
}

/// All that is stored in a world, to begin others with.
pub struct Stored {
    folder: TempDir,
    schedules: BTreeMap<String, Value>,
}

impl World {
    /// A new world, whose clients try each call so often.
    pub async fn new(tries: u32) -> World {
        World::of(tempfile::tempdir().unwrap(), BTreeMap::new(), tries).await
    }

    /// Ends it, and leaves what is stored.
    pub fn end(self) -> Stored {
        let schedules = self.scheduler.schedules();
        let World { folder, .. } = self;
        Stored { folder, schedules }
    }

    async fn of(folder: TempDir, schedules: BTreeMap<String, Value>, tries: u32) -> World {
        let options = LocalOptions { dir: folder.path().join(DATA), public_url: "http://127.0.0.1:1".into() };
        let local = Local::open(options).await.unwrap();
        let plan = folder.path().join(PLAN);
        let pause = Duration::from_millis(PAUSE_MILLIS);
        let retry =
            RetryConfig::standard().with_max_attempts(tries).with_initial_backoff(pause).with_max_backoff(pause);
        let (dynamodb, s3) = (local.dynamodb().0.config(), local.s3().0.config());
        let http = faults::injected(dynamodb.http_client().unwrap(), plan.clone());
        let table = dynamodb.to_builder().http_client(http).retry_config(retry.clone()).build();
        let http = faults::injected(s3.http_client().unwrap(), plan.clone());
        let files = s3.to_builder().http_client(http).retry_config(retry.clone()).build();
        let scheduler = Scheduler::with(schedules);
        let schedules = aws_sdk_scheduler::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("eu-central-1"))
            .credentials_provider(Credentials::new("id", "secret", None, None, "test"))
            .endpoint_url(scheduler.listen().await)
            .http_client(faults::injected(outbound::client(ANSWER_BYTES), plan))
            .retry_config(retry)
            .build();
        World {
            table: aws_sdk_dynamodb::Client::from_conf(table),
            files: aws_sdk_s3::Client::from_conf(files),
            schedules: aws_sdk_scheduler::Client::from_conf(schedules),
            local,
            scheduler,
            folder,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(PLAN)
    }

    /// From now on this rule strikes, or none.
    pub fn plan(&self, rule: Option<Rule>) {
        Plan { rules: rule.into_iter().collect() }.write(&self.path()).unwrap();
    }

    /// How many calls the rule has matched.
    pub fn hits(&self, rule: &str) -> u32 {
        faults::hits(&self.path(), rule)
    }

    fn store(&self, late_seconds: i64) -> Arc<Store> {
        let (_, table) = self.local.dynamodb();
        let (_, bucket) = self.local.s3();
        let setup = Setup {
            group: "procession".into(),
            role: "arn:aws:iam::1:role/schedules".into(),
            timer: "arn:aws:lambda:eu-central-1:1:function:timer".into(),
            dead_letters: "arn:aws:sqs:eu-central-1:1:dead".into(),
        };
        let clock = Arc::new(Late(late_seconds));
        let secret = b"thirty-two bytes or more of secret".to_vec();
        Arc::new(Store::new(Parts {
            table: Arc::new(DynamoTable::new(self.table.clone(), table.to_owned())),
            files: Arc::new(S3Files::new(self.files.clone(), bucket.to_owned())),
            alarms: Arc::new(Schedules::new(self.schedules.clone(), setup, clock.clone())),
            clock,
            ids: Arc::new(Hasty),
            evaluator: None,
            seal: Seal::new(vec![SealKey { id: "k".into(), secret }]).unwrap(),
            settings: Settings::default(),
        }))
    }

    /// A partition, read past all faults.
    async fn partition(&self, partition: String) -> Vec<Item> {
        let range = Range { partition, from: None, to: None, backwards: false, limit: None };
        self.local.table().query(&range).await.unwrap()
    }
}

impl Stored {
    /// A world that begins with this, and whose clients try each call so often.
    pub async fn again(&self, tries: u32) -> World {
        let folder = tempfile::tempdir().unwrap();
        copy(&self.folder.path().join(DATA), &folder.path().join(DATA));
        World::of(folder, self.schedules.clone(), tries).await
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// The machine's clock, so many seconds late.
struct Late(i64);

impl Clock for Late {
    fn now(&self) -> Time {
        Time::from_millis(SystemClock.now().millis() + 1_000 * self.0)
    }
}

/// Fresh ids, and no pauses between attempts.
struct Hasty;

impl Ids for Hasty {
    fn fresh(&self) -> String {
        RandomIds.fresh()
    }
    fn random(&self, _: u64) -> u64 {
        0
    }
}

/// What is stored for an organization, as far as it is the same however often it is done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// How many items of each kind there are.
    items: BTreeMap<String, usize>,
    /// How long each run's journal is, the run's state, and those of its steps.
    runs: Vec<String>,
    /// Timers that no schedule would wake.
    pub unarmed: Vec<String>,
}

/// A function, and all that it was asked.
pub struct Desk {
    world: World,
    store: Arc<Store>,
    tools: ProcessTools,
    asked: Asked,
}

/// What a desk was asked so far.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    late_seconds: i64,
    requests: Vec<String>,
    graph_runs: Vec<String>,
}

impl Desk {
    /// A function that just started: nothing is in its memory.
    pub fn new(world: World, asked: Asked) -> Desk {
        let store = world.store(asked.late_seconds);
        let tools = ProcessTools::new(store.clone()).unwrap();
        Desk { world, store, tools, asked }
    }

    /// Ends it, and leaves what is stored.
    pub fn end(self) -> (Stored, Asked) {
        let Desk { world, store, tools, asked } = self;
        drop((store, tools));
        (world.end(), asked)
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// For the function that is started next, so much time has passed.
    pub fn pass(&mut self, seconds: i64) {
        self.asked.late_seconds += seconds;
    }

    /// The journal of this run of a graph is looked at in the end.
    pub fn keep_graph_run(&mut self, run: &str) {
        self.asked.graph_runs.push(run.to_owned());
    }

    /// The names of all tools.
    pub fn listed(&self) -> Vec<&'static str> {
        self.tools.list().iter().map(|tool| tool.name).collect()
    }

    pub fn agent(&self) -> Caller {
        self.caller("bot", Kind::Agent)
    }

    pub fn person(&self) -> Caller {
        self.caller("ann", Kind::Person)
    }

    fn caller(&self, subject: &str, kind: Kind) -> Caller {
        let person = kind == Kind::Person;
        Caller {
            org: ORG.to_owned(),
            subject: subject.into(),
            kind,
            groups: if person { vec!["editor".into()] } else { Vec::new() },
            operator: person,
            person: person.then(|| format!("{subject}@example.com")),
            client: None,
            may_decide: person,
        }
    }

    /// A request id that this organization has not used.
    pub fn request(&mut self) -> String {
        self.asked.requests.push(format!("q{}", self.asked.requests.len()));
        self.asked.requests.last().unwrap().clone()
    }

    /// Makes a call whose answer is what it is.
    pub async fn make(&self, call: &Call) -> Result<Value, Code> {
        if call.tool == "timer" {
            let run = call.arguments["runId"].as_str().unwrap();
            return match self.store.tick(ORG, run).await {
                Ok(()) => Ok(Value::Null),
                Err(Error::Retry(_)) => Err(Code::Retry),
                Err(other) => panic!("timer: {other}"),
            };
        }
        let Value::Object(arguments) = call.arguments.clone() else { panic!("{call:?}") };
        match self.tools.call(&call.caller, call.tool, arguments).await.outcome {
            Ok(data) => Ok(without_urls(data)),
            Err(Failure::Refused(error)) => Err(error.code),
            Err(Failure::Broken) => panic!("{call:?}: a state that cannot be"),
        }
    }

    /// Makes a call that must be accepted. A write has a request id of its own.
    pub async fn ok(&mut self, caller: &Caller, tool: &'static str, mut arguments: Value) -> Value {
        if self.tools.list().iter().any(|info| info.name == tool && !info.read_only) {
            arguments["requestId"] = json!(self.request());
        }
        let call = Call { tool, caller: caller.clone(), arguments };
        self.make(&call).await.unwrap_or_else(|code| panic!("{call:?}: {code:?}"))
    }

    /// Publishes the process of most cases.
    pub async fn publish(&mut self) {
        let ann = self.person();
        self.ok(&ann, "import_process", json!({ "source": LETTER })).await;
        let roles = json!({ "name": "letter", "roles": { "editor": "editor" } });
        self.ok(&ann, "publish_process", roles).await;
    }

    /// Publishes it, and starts a run of it.
    pub async fn start(&mut self) -> Value {
        self.publish().await;
        let ann = self.person();
        let started = self.ok(&ann, "start_run", json!({ "process": "letter", "inputs": {} })).await;
        started["run"]["id"].clone()
    }

    /// Claims a step and returns the token.
    pub async fn claim(&mut self, run: &Value, step: &str) -> Value {
        let bot = self.agent();
        self.ok(&bot, "claim", json!({ "runId": run, "stepId": step })).await["token"].take()
    }

    /// Uploads a file and returns the evidence that cites it.
    pub async fn file(&mut self) -> Value {
        let bot = self.agent();
        let file = json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "YQ==" });
        let stored = self.ok(&bot, "upload", file).await;
        json!([{ "kind": "file", "ref": stored["id"] }])
    }

    /// What is stored now.
    pub async fn left(&self) -> Left {
        let (world, org) = (&self.world, ORG);
        let mut items: BTreeMap<String, usize> = BTreeMap::new();
        let mut runs = Vec::new();
        for process in ["letter", "note", "deed"] {
            for ended in [false, true] {
                let mut listed = Vec::new();
                for partition in keys::runs_partitions(org, process, ended) {
                    listed.extend(world.partition(partition).await);
                }
                *items.entry(format!("runs, ended: {ended}")).or_default() += listed.len();
                runs.extend(listed.iter().map(|item| item.key.sort.rsplit('/').next().unwrap().to_owned()));
            }
            *items.entry("versions".into()).or_default() +=
                world.partition(format!("process/{org}/{process}")).await.len();
        }
        let mut told = Vec::new();
        for run in &runs {
            let stored = world.partition(keys::run(org, run)).await;
            let (journal, other): (Vec<_>, Vec<_>) = stored.iter().partition(|item| item.key.sort.starts_with("j/"));
            for (place, entry) in journal.iter().enumerate() {
                let expected = keys::journal(org, run, place as u64 + 1);
                assert_eq!(entry.key, expected, "the journal of {run} has a gap");
            }
            *items.entry("journal".into()).or_default() += journal.len();
            *items.entry("attempts".into()).or_default() += other.len();
            let view = serde_json::to_value(self.store.view(org, run).await.unwrap()).unwrap();
            let steps: Vec<String> =
                view["steps"].as_array().unwrap().iter().map(|s| format!("{}={}", s["id"], s["state"])).collect();
            told.push(format!("{} {} {}", journal.len(), view["run"]["state"], steps.join(" ")));
        }
        let mut unarmed = Vec::new();
        for shard in 0..keys::SHARDS {
            for (kind, partition) in
                [("ready", keys::ready_partition(org, shard)), ("leased", keys::leased_partition(org, shard))]
            {
                *items.entry(kind.into()).or_default() += world.partition(partition).await.len();
            }
            for item in world.partition(keys::timer_partition(shard)).await {
                let timer: TimerEntry = serde_json::from_value(item.doc).unwrap();
                if timer.org != org {
                    continue;
                }
                *items.entry("timers".into()).or_default() += 1;
                let input = json!({ "org": org, "run": timer.run, "timer": timer.timer });
                if !world.scheduler.calls_with(&input) {
                    unarmed.push(input.to_string());
                }
            }
            let outbox = world.partition(keys::outbox_partition(shard)).await;
            *items.entry("outbox".into()).or_default() += outbox.iter().filter(|item| item.doc["org"] == org).count();
        }
        for (kind, partition) in [
            ("group's items", keys::group_inbox(org, "editor")),
            ("operators' items", keys::group_inbox(org, "operators")),
            ("catalogue", keys::catalogue_partition(org)),
            ("files", format!("file/{org}")),
            ("providers", keys::providers_partition(org)),
            ("bundles", keys::provider_version(org, "acme/seal", "1.0.0").partition),
        ] {
            *items.entry(kind.into()).or_default() += world.partition(partition).await.len();
        }
        for run in &self.asked.graph_runs {
            let journal = world.partition(keys::graph_run(org, run)).await;
            for (place, event) in journal.iter().enumerate() {
                let expected = keys::graph_journal(org, run, place as u64 + 1);
                assert_eq!(event.key, expected, "the journal of {run} has a gap");
            }
            *items.entry("graph journals".into()).or_default() += journal.len();
        }
        for request in &self.asked.requests {
            let key = keys::request(org, request);
            *items.entry("requests".into()).or_default() += world.partition(key.partition).await.len();
        }
        told.sort();
        Left { items, runs: told, unarmed }
    }
}

/// The same without links, which are made anew for each answer.
fn without_urls(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.shift_remove("url");
                map.values_mut().for_each(walk);
            }
            Value::Array(list) => list.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

/// Arguments of a write, with its request id.
pub fn with_request(id: String, arguments: Value) -> Value {
    let mut all = Map::from_iter([("requestId".to_owned(), json!(id))]);
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    all.extend(arguments);
    Value::Object(all)
}
