//! Who calls: agents at a shared queue, agents with runs of their own, agents at the branches of one run, people at one
//! inbox, and whoever publishes meanwhile.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use run::{Actor, Command, Decision, Mode, Submission};
use serde_json::{Map, json};
use store::keys;
use store::{Request, Store};

use super::fleet::Fleet;
use super::{DESK, GROUP, ORG, OWN, Pick, WIDE, WIDE_BRANCHES};
use crate::calls::{agent, person};

/// Items of a page of work: what `get_work` gives when nobody says how many.
const PAGE_ITEMS: usize = 20;

/// Other steps of a page that an agent tries to claim before it looks again.
const OTHERS: usize = 5;

/// Longest that a client takes between two calls, in milliseconds: a program's, not a model's.
const THINK_MILLIS: u64 = 100;

/// Longest that an agent works on a step, in milliseconds. Short, so that functions are what is busy.
const WORK_MILLIS: u64 = 1_000;

/// Longest that a client waits when there is no work for it, in milliseconds.
const IDLE_MILLIS: u64 = 2_000;

/// What clients share.
#[derive(Default)]
pub struct Desk {
    requests: AtomicU64,
    /// Steps of the shared queue that are done.
    pub queued: AtomicUsize,
    /// Work items that are decided.
    pub decided: AtomicUsize,
    /// Claims by shard.
    pub claimed: Mutex<BTreeMap<u8, u64>>,
}

impl Desk {
    fn request(&self) -> String {
        format!("q{}", self.requests.fetch_add(1, Ordering::Relaxed))
    }
}

fn done() -> Submission {
    Submission { output: Some(Map::new()), summary: Some("Done.".to_owned()), ..Submission::default() }
}

/// Starts a run and returns its id.
pub async fn start(fleet: &Fleet, desk: &Desk, actor: &Actor, process: &str) -> Option<String> {
    let id = desk.request();
    let started = fleet.call("start_run", async |store| {
        let request = Request::new(ORG, actor, "start_run", &id, &Map::new());
        Ok(store.start(&request, process, None, Map::new(), Mode::Live).await?.run.meta.id)
    });
    started.await?.ok()
}

/// Claims a step; `None` when somebody else has it.
async fn claim(fleet: &Fleet, desk: &Desk, actor: &Actor, run: &str, step: &str) -> Option<String> {
    let id = desk.request();
    let arguments = Map::from_iter([("runId".to_owned(), json!(run)), ("stepId".to_owned(), json!(step))]);
    let claimed = fleet.call("claim", async |store| {
        let request = Request::new(ORG, actor, "claim", &id, &arguments);
        let written = store.write(&request, run, &[], |_| Command::Claim { step: step.to_owned() }).await?;
        Ok(store.token(ORG, actor, &written)?.0)
    });
    let token = claimed.await?.ok()?;
    *desk.claimed.lock().unwrap().entry(keys::shard(run)).or_default() += 1;
    Some(token)
}

async fn submit(fleet: &Fleet, desk: &Desk, actor: &Actor, token: &str) -> bool {
    let id = desk.request();
    let arguments = Map::from_iter([("token".to_owned(), json!(token))]);
    let submitted = fleet.call("submit", async |store: &Store| {
        let request = Request::new(ORG, actor, "submit", &id, &arguments);
        let claim = store.claimed(ORG, token)?;
        let command = |_| Command::Submit { token: claim.claimed(), submission: done() };
        store.write(&request, &claim.run, &[], command).await.map(drop)
    });
    matches!(submitted.await, Some(Ok(())))
}

/// An agent takes steps from the queue that all agents share, until so many are done.
pub async fn queue(fleet: &Fleet, desk: &Desk, n: usize, pick: Pick, steps: usize) {
    let actor = agent(&format!("a_{n}"), false);
    while desk.queued.load(Ordering::Relaxed) < steps {
        let page =
            fleet.call("get_work", async |store| store.agent_work(ORG, &actor, Some("queued"), PAGE_ITEMS, None).await);
        let Some(Ok(page)) = page.await else { return };
        let mut items = page.items;
        if items.is_empty() {
            fleet.sleep(IDLE_MILLIS).await;
            continue;
        }
        for _ in 0..OTHERS {
            let found = match pick {
                Pick::First => items.drain(..).next(),
                Pick::Any if items.is_empty() => None,
                Pick::Any => Some(items.swap_remove(fleet.chance().place(items.len()))),
            };
            let Some(found) = found else { break };
            fleet.sleep(THINK_MILLIS).await;
            let Some(token) = claim(fleet, desk, &actor, &found.run, &found.step).await else { continue };
            fleet.sleep(WORK_MILLIS).await;
            if submit(fleet, desk, &actor, &token).await {
                desk.queued.fetch_add(1, Ordering::Relaxed);
            }
            break;
        }
        fleet.sleep(THINK_MILLIS).await;
    }
}

/// An agent starts a run of its own and does all of its steps.
pub async fn own(fleet: &Fleet, desk: &Desk, n: usize) {
    let actor = agent(&format!("o_{n}"), false);
    let Some(run) = start(fleet, desk, &actor, OWN).await else { return };
    for step in ["first", "second"] {
        let Some(token) = claim(fleet, desk, &actor, &run, step).await else { return };
        submit(fleet, desk, &actor, &token).await;
    }
}

/// An agent does one branch of a run whose branches all others do at the same moment.
pub async fn branch(fleet: &Fleet, desk: &Desk, run: &str, n: usize) {
    let actor = agent(&format!("b_{n}"), false);
    let Some(token) = claim(fleet, desk, &actor, run, &format!("part-{}", n % WIDE_BRANCHES)).await else { return };
    // All come back at one moment, once more.
    tokio::time::sleep(Duration::from_secs(20)).await;
    submit(fleet, desk, &actor, &token).await;
}

/// A person decides items of the inbox that all share, until so many are decided.
pub async fn inbox(fleet: &Fleet, desk: &Desk, n: usize, pick: Pick, items: usize) {
    let actor = person(&format!("p_{n}"), &[GROUP], false);
    while desk.decided.load(Ordering::Relaxed) < items {
        let page =
            fleet.call("get_work", async |store| store.person_work(ORG, &actor, Some(DESK), PAGE_ITEMS, None).await);
        let Some(Ok(page)) = page.await else { return };
        let mut found = page.items;
        if found.is_empty() {
            fleet.sleep(IDLE_MILLIS).await;
            continue;
        }
        for _ in 0..OTHERS {
            let work = match pick {
                Pick::First => found.drain(..).next(),
                Pick::Any if found.is_empty() => None,
                Pick::Any => Some(found.swap_remove(fleet.chance().place(found.len()))),
            };
            let Some(work) = work else { break };
            fleet.sleep(THINK_MILLIS).await;
            let id = desk.request();
            let arguments = Map::from_iter([("workItemId".to_owned(), json!(work.work_item.id))]);
            let decided = fleet.call("decide", async |store| {
                let request = Request::new(ORG, &actor, "decide", &id, &arguments);
                let (item, snapshot) = (work.work_item.id.clone(), work.work_item.snapshot.clone());
                let decision = Decision::Approved(None);
                let command =
                    |_| Command::Decide { item: item.clone(), snapshot: snapshot.clone(), decision: decision.clone() };
                store.write(&request, &work.entry.run, &[], command).await.map(drop)
            });
            if matches!(decided.await, Some(Ok(()))) {
                desk.decided.fetch_add(1, Ordering::Relaxed);
                break;
            }
        }
        fleet.sleep(THINK_MILLIS).await;
    }
}

/// Imports a process and publishes it; returns whether it was published.
pub async fn publish(fleet: &Fleet, desk: &Desk, actor: &Actor, name: &str, source: &str) -> bool {
    let id = desk.request();
    let imported = fleet.call("import_process", async |store| {
        let request = Request::new(ORG, actor, "import_process", &id, &Map::new());
        store.import(&request, source, None, |_| json!(null)).await
    });
    if !matches!(imported.await, Some(Ok(_))) {
        return false;
    }
    let id = desk.request();
    let roles = if name == DESK { BTreeMap::from([("clerk".to_owned(), GROUP.to_owned())]) } else { BTreeMap::new() };
    let published = fleet.call("publish_process", async |store| {
        let request = Request::new(ORG, actor, "publish_process", &id, &Map::new());
        store.publish(&request, name, &roles, |version| json!(version.number)).await
    });
    matches!(published.await, Some(Ok(_)))
}

/// Publishes new versions while others start runs and work on them.
pub async fn publisher(fleet: &Fleet, desk: &Desk, versions: usize) {
    let actor = agent("pipeline", true);
    for n in 0..versions {
        let source = super::own_file(n + 1);
        publish(fleet, desk, &actor, OWN, &source).await;
        fleet.sleep(THINK_MILLIS).await;
    }
}

/// Starts the runs that a load finds.
pub async fn prepare(fleet: &Fleet, desk: &Desk, process: &str, runs: usize) -> Vec<String> {
    let actor = person("starter", &[], false);
    let mut ids = Vec::new();
    for _ in 0..runs {
        ids.extend(start(fleet, desk, &actor, process).await);
    }
    assert!(process != WIDE || ids.len() == runs);
    ids
}
