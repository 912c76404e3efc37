//! A thousand functions at once on one organization.
//!
//! Every function is a store of its own over one table that conflicts and throttles as DynamoDB does ([`table`]). Time is
//! virtual and chance is one seed's, so a load comes to the same numbers again. What it comes to is counted
//! ([`report`]): how often functions tried, what they answered, how hot partitions became, and whether everything ended.

mod chance;
mod clients;
mod fleet;
mod heat;
pub mod report;
pub mod table;
pub mod units;

use std::sync::Arc;
use std::time::Duration;

use store::memory::MemoryTable;
use store::table::Table;
use tokio::task::spawn_local;

pub use chance::Chance;
pub use fleet::{CLIENT_REPEATS, Roll};
pub use heat::{READ_UNITS_A_SECOND, WRITE_UNITS_A_SECOND};
pub use report::{Calls, Report};

use clients::Desk;
use fleet::Fleet;
use table::LoadedTable;

/// Functions, and so most calls at once.
pub const FUNCTIONS: usize = 1_000;

/// The organization.
const ORG: &str = "acme";

/// The group whose inbox is hit.
const GROUP: &str = "clerks";

/// Longest that a load may take, in virtual seconds: within a lease, so that no claim ends by time.
const MOST_SECONDS: u64 = 590;

/// The processes, by name.
const QUEUED: &str = "queued";
const OWN: &str = "own";
const WIDE: &str = "wide";
const DESK: &str = "desk";

/// Branches of [`WIDE`]: as many as a parallel step may have.
pub const WIDE_BRANCHES: usize = 30;

const QUEUED_FILE: &str = "---
name: queued
description: One step for any agent.
steps:
  - { id: read, agent: Read the letter that came in and file it. }
  - { id: filed, finish: filed }
---
Letters come in and are filed.
";

const DESK_FILE: &str = "---
name: desk
description: One decision for a clerk.
steps:
  - { id: look, person: clerk, approve: Approve what is in order. }
  - { id: passed, finish: passed }
---
Clerks look at what comes in.
";

/// How many of whom.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Agents at the shared queue.
    pub queue_agents: usize,
    /// Ready steps in it when they begin.
    pub queue_steps: usize,
    /// Agents that start a run of two steps of their own.
    pub own: usize,
    /// Runs whose 30 branches are done by 30 agents at one moment.
    pub wide_runs: usize,
    /// People at the inbox.
    pub people: usize,
    /// Items in it when they begin.
    pub items: usize,
    /// Versions that are published meanwhile.
    pub versions: usize,
    /// What those who share a list take from it.
    pub pick: Pick,
}

/// Which of the listed work a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The first: as everybody else does.
    First,
    /// Any, and another one when somebody else was first: as the tools tell it.
    Any,
}

/// The plans whose numbers stand in ARCHITECTURE.md, by name. The work is as little as shows the numbers: a debug build of
/// the tests runs all of them.
pub const PLANS: [(&str, Plan); 6] = [
    ("everything at once", EVERYTHING),
    ("runs of their own", OWN_RUNS),
    ("thirty branches", BRANCHES),
    ("a queue, any", QUEUE),
    ("a queue, the first", FIRST_OF_QUEUE),
    ("an inbox", INBOX),
];

const NONE: Plan =
    Plan { queue_agents: 0, queue_steps: 0, own: 0, wide_runs: 0, people: 0, items: 0, versions: 0, pick: Pick::Any };

/// Some of all there is.
pub const EVERYTHING: Plan =
    Plan { queue_agents: 400, queue_steps: 150, own: 300, wide_runs: 3, people: 200, items: 80, versions: 5, ..NONE };

/// Everybody starts a run at one moment and works on it, while new versions are published.
pub const OWN_RUNS: Plan = Plan { own: 999, versions: 10, ..NONE };

/// Four runs, each with 30 branches that 30 agents claim, and later submit, at one moment.
pub const BRANCHES: Plan = Plan { wide_runs: 4, ..NONE };

/// Everybody takes work from one queue.
pub const QUEUE: Plan = Plan { queue_agents: 1_000, queue_steps: 120, ..NONE };

/// The same, and everybody takes the first that is listed.
pub const FIRST_OF_QUEUE: Plan = Plan { queue_steps: 30, pick: Pick::First, ..QUEUE };

/// Everybody decides items of one group's inbox.
pub const INBOX: Plan = Plan { people: 1_000, items: 100, ..NONE };

impl Plan {
    fn clients(&self) -> usize {
        self.queue_agents + self.own + self.wide_runs * WIDE_BRANCHES + self.people + usize::from(self.versions > 0)
    }

    fn runs(&self) -> usize {
        self.queue_steps + self.own + self.wide_runs + self.items
    }
}

/// Version `n` of the process whose runs agents start for themselves.
fn own_file(n: usize) -> String {
    format!(
        "---
name: own
description: Two steps of one agent, version {n}.
steps:
  - {{ id: first, agent: Do the first half. }}
  - {{ id: second, agent: Do the second half. }}
  - {{ id: made, finish: made }}
---
Each agent makes its own.
"
    )
}

fn wide_file() -> String {
    let names: Vec<String> = (0..WIDE_BRANCHES).map(|n| format!("part-{n}")).collect();
    let parts: String =
        names.iter().map(|name| format!("  - {{ id: {name}, agent: Do your part., next: join }}\n")).collect();
    format!(
        "---
name: wide
description: Everybody at once.
steps:
  - {{ id: all, parallel: [{}], next: made }}
{parts}  - {{ id: made, finish: made }}
---
Many agents do one part each.
",
        names.join(", ")
    )
}

/// Runs one seed of a plan.
pub fn load(seed: u64, plan: &Plan) -> Report {
    load_rolling(seed, plan, Chance::below)
}

/// The same with functions that roll dice for their pauses as the caller says.
pub fn load_rolling(seed: u64, plan: &Plan, roll: Roll) -> Report {
    assert!(plan.clients() <= FUNCTIONS, "a client finds an idle function");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let (memory, chance) = (MemoryTable::new(), Chance::new(seed));
        let desk = Arc::new(Desk::default());
        let wide = prepare(&memory, &chance, &desk, plan).await;
        let table = LoadedTable::new(memory.clone(), chance.clone());
        let shared: Arc<dyn Table> = Arc::new(table.clone());
        let fleet = Arc::new(Fleet::new(FUNCTIONS, &shared, &chance, roll));
        let began = tokio::time::Instant::now();
        let mut tasks = Vec::new();
        for n in 0..plan.queue_agents {
            let (fleet, desk, pick, steps) = (fleet.clone(), desk.clone(), plan.pick, plan.queue_steps);
            tasks.push(spawn_local(async move { clients::queue(&fleet, &desk, n, pick, steps).await }));
        }
        for n in 0..plan.own {
            let (fleet, desk) = (fleet.clone(), desk.clone());
            tasks.push(spawn_local(async move { clients::own(&fleet, &desk, n).await }));
        }
        for n in 0..plan.wide_runs * WIDE_BRANCHES {
            let (fleet, desk, run) = (fleet.clone(), desk.clone(), wide[n / WIDE_BRANCHES].clone());
            tasks.push(spawn_local(async move { clients::branch(&fleet, &desk, &run, n).await }));
        }
        for n in 0..plan.people {
            let (fleet, desk, pick, items) = (fleet.clone(), desk.clone(), plan.pick, plan.items);
            tasks.push(spawn_local(async move { clients::inbox(&fleet, &desk, n, pick, items).await }));
        }
        if plan.versions > 0 {
            let (fleet, desk, versions) = (fleet.clone(), desk.clone(), plan.versions);
            tasks.push(spawn_local(async move { clients::publisher(&fleet, &desk, versions).await }));
        }
        let all = futures::future::join_all(tasks);
        let ended = tokio::time::timeout(Duration::from_secs(MOST_SECONDS), all).await;
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap();
        let (calls, mut wrong) = fleet.seen();
        match ended {
            Ok(tasks) => {
                wrong.extend(tasks.into_iter().filter_map(Result::err).map(|e| format!("a client stopped: {e}")))
            }
            Err(_) => wrong.push(format!("not everybody was done after {MOST_SECONDS} virtual seconds")),
        }
        wrong.extend(unfinished(&memory, plan));
        let claimed_by_shard = desk.claimed.lock().unwrap().clone();
        Report { seed, millis, calls, table: table.counts(), peaks: table.peaks(), claimed_by_shard, wrong }
    })
}

/// Publishes the processes and starts the runs that the clients find, over a table that nobody waits for. Returns the runs
/// with branches.
async fn prepare(memory: &MemoryTable, chance: &Chance, desk: &Desk, plan: &Plan) -> Vec<String> {
    let table: Arc<dyn Table> = Arc::new(memory.clone());
    let fleet = Fleet::new(1, &table, chance, Chance::below);
    let pipeline = crate::calls::agent("pipeline", true);
    for (name, file) in
        [(QUEUED, QUEUED_FILE.to_owned()), (OWN, own_file(0)), (WIDE, wide_file()), (DESK, DESK_FILE.to_owned())]
    {
        assert!(clients::publish(&fleet, desk, &pipeline, name, &file).await, "{name} is published");
    }
    for (process, runs) in [(QUEUED, plan.queue_steps), (DESK, plan.items)] {
        assert_eq!(clients::prepare(&fleet, desk, process, runs).await.len(), runs);
    }
    clients::prepare(&fleet, desk, WIDE, plan.wide_runs).await
}

/// What is stored that must not be any more, and what is not that must be.
fn unfinished(memory: &MemoryTable, plan: &Plan) -> Vec<String> {
    let items = memory.state().items().unwrap();
    let count = |of: &dyn Fn(&str) -> bool| items.iter().filter(|item| of(&item.key.partition)).count();
    let open = |p: &str| ["ready/", "leased/", "inbox/"].iter().any(|list| p.starts_with(list)) || p.contains("/open/");
    let ended = count(&|p| p.starts_with("runs/") && p.ends_with("/ended"));
    let mut wrong = Vec::new();
    if count(&open) > 0 {
        wrong.push(format!("{} entries of open work are left", count(&open)));
    }
    if ended != plan.runs() {
        wrong.push(format!("{ended} runs ended, not {}", plan.runs()));
    }
    wrong
}
