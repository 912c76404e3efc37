//! What each call costs each kind of partition: what the rates of a table follow from.

use std::collections::BTreeMap;
use std::sync::Arc;

use run::{Actor, Command, Decision, Mode, Submission};
use serde_json::{Map, json};
use store::memory::MemoryTable;
use store::table::Table;
use store::{Request, Store};

use super::chance::Chance;
use super::fleet::Fleet;
use super::table::LoadedTable;
use super::{GROUP, ORG};
use crate::calls::{agent, person};

/// Two agent steps, the first with a due time, and a decision.
const FILE: &str = "---
name: letter
description: A letter is read, answered and signed.
steps:
  - { id: read, agent: Read the letter that came in., due: 1h }
  - { id: answer, agent: Answer it. }
  - { id: sign, person: clerk, approve: Sign what is in order. }
  - { id: sent, finish: sent }
---
Letters come in and are answered.
";

/// Ready steps beside, so that a page of work is full and every shard has more than a page.
const OTHERS: usize = 200;

/// Units of one call by kind of partition.
pub type Units = BTreeMap<String, u64>;

/// Write units of each call of a run's life, and read units of a look for work that finds nothing and of one that finds a full
/// page. The functions are warm: the process is in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    /// The call, and its write units.
    pub writes: Vec<(&'static str, Units)>,
    /// The look, and its read units.
    pub looks: Vec<(&'static str, Units)>,
}

/// Measures all of them.
pub fn costs() -> Costs {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(measured())
}

async fn measured() -> Costs {
    let chance = Chance::new(1);
    let table = LoadedTable::new(MemoryTable::new(), chance.clone());
    let shared: Arc<dyn Table> = Arc::new(table.clone());
    let fleet = Fleet::new(1, &shared, &chance, Chance::below);
    let (bot, pipeline, clerk) = (agent("bot", false), agent("pipeline", true), person("ann", &[GROUP], false));
    let store = fleet.only();
    let roles = BTreeMap::from([("clerk".to_owned(), GROUP.to_owned())]);
    store.import(&request(&pipeline, "import_process", "i"), FILE, None, |_| json!(null)).await.unwrap();
    store.publish(&request(&pipeline, "publish_process", "p"), "letter", &roles, |_| json!(null)).await.unwrap();
    let start = async |id: &str| {
        let start = request(&bot, "start_run", id);
        store.start(&start, "letter", None, Map::new(), Mode::Live).await.unwrap().run.meta.id
    };
    let mut looks = Vec::new();
    let mut look = async |what| {
        let before = table.totals();
        store.agent_work(ORG, &bot, None, 20, None).await.unwrap();
        looks.push((what, difference(&before[0], &table.totals()[0])));
    };
    look("that finds nothing").await;

    let mut writes = Vec::new();
    let mut before = table.totals();
    let mut cost = |what| {
        let after = table.totals();
        writes.push((what, difference(&before[1], &after[1])));
        before = after;
    };
    let run = start("s").await;
    cost("start_run");
    let token = claim(store, "c1", &run, "read").await;
    cost("claim");
    let renew = request(&bot, "renew", "r");
    let held = store.claimed(ORG, &token).unwrap();
    let command = |_| Command::Renew { token: held.claimed(), progress: None };
    let token = store.token(ORG, &bot, &store.write(&renew, &run, &[], command).await.unwrap()).unwrap().0;
    cost("renew");
    submit(store, "d1", &run, &token).await;
    cost("submit, an agent's step next");
    let token = claim(store, "c2", &run, "answer").await;
    cost("claim again");
    submit(store, "d2", &run, &token).await;
    cost("submit, a person's step next");
    let page = store.person_work(ORG, &clerk, None, 20, None).await.unwrap();
    let item = &page.items.first().unwrap().work_item;
    let command = |_| Command::Decide {
        item: item.id.clone(),
        snapshot: item.snapshot.clone(),
        decision: Decision::Approved(None),
    };
    store.write(&request(&clerk, "decide", "e"), &run, &[], command).await.unwrap();
    cost("decide, which ends the run");

    for n in 0..OTHERS {
        start(&format!("o{n}")).await;
    }
    look("that finds a full page").await;
    Costs { writes, looks }
}

fn request<'a>(actor: &'a Actor, tool: &'static str, id: &'a str) -> Request<'a> {
    Request::new(ORG, actor, tool, id, &Map::new())
}

async fn claim(store: &Store, id: &str, run: &str, step: &str) -> String {
    let bot = agent("bot", false);
    let written =
        store.write(&request(&bot, "claim", id), run, &[], |_| Command::Claim { step: step.to_owned() }).await.unwrap();
    store.token(ORG, &bot, &written).unwrap().0
}

async fn submit(store: &Store, id: &str, run: &str, token: &str) {
    let bot = agent("bot", false);
    let held = store.claimed(ORG, token).unwrap();
    let submission =
        Submission { output: Some(Map::new()), summary: Some("Done.".to_owned()), ..Submission::default() };
    let command = |_| Command::Submit { token: held.claimed(), submission: submission.clone() };
    store.write(&request(&bot, "submit", id), run, &[], command).await.unwrap();
}

fn difference(before: &Units, after: &Units) -> Units {
    let was = |kind: &String| before.get(kind).copied().unwrap_or_default();
    after.iter().filter(|(kind, units)| **units > was(kind)).map(|(kind, n)| (kind.clone(), n - was(kind))).collect()
}
