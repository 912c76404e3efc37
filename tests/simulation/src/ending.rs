//! Faults have stopped: what the lists show is what there is, and every run reaches its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use process::Kind;
use run::{Actor, RunState, Status};
use serde_json::{Map, json};
use store::runs::RunFilter;
use store::{Error, Store};

use crate::World;
use crate::actors::{agents, call, people, resolve, submit, token_of};
use crate::background::sweep_once;
use crate::calls::{Act, agent, insist, without_links};
use crate::faults::LATE_MILLIS;
use crate::processes::ORGS;

/// Most rounds until every run must have ended. A round moves every run that is not waiting for a time, and every second
/// one, by chance, those that are.
const ROUNDS: usize = 240;

/// Drives every run to its end, and compares everything that is stored with everything that was seen.
pub async fn settle(world: &Arc<World>) {
    world.calm();
    // Transactions that were reported as failed may still be under way.
    tokio::time::sleep(Duration::from_millis(2 * LATE_MILLIS)).await;
    whole(world);
    listed(world).await;
    for round in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        // Where nobody sweeps, people decide on runs that time has moved and no timer has.
        while world.chance(500) && sweep_once(world).await > 0 {}
        let open = open(world);
        if open.is_empty() {
            break;
        }
        if round + 1 == ROUNDS {
            world.violated(format!("these runs cannot be driven to their end: {open:?}"));
            return;
        }
        let mut moved = false;
        for (org, run, step) in open {
            moved |= advance(world, org, &run, &step).await;
        }
        if !moved {
            wait(world).await;
        }
    }
    while sweep_once(world).await > 0 {}
    whole(world);
    listed(world).await;
    let unsent = world.memory.state().items().unwrap().iter().any(|i| i.key.partition.starts_with("outbox/"));
    if unsent {
        world.violated("notices were never sent".to_owned());
    }
}

fn whole(world: &World) {
    let bad = world.checker().whole(&world.memory.state());
    bad.into_iter().for_each(|what| world.violated(what));
}

/// Open runs with their open steps, but for parallel ones, which only wait for others.
fn open(world: &World) -> Vec<(&'static str, String, String)> {
    let checker = world.checker();
    let mut all = Vec::new();
    for ((org, id), copy) in &checker.runs {
        let run = copy.run.as_ref().unwrap();
        let org = ORGS.into_iter().find(|o| o == org).unwrap();
        if run.ended.is_none() {
            let open = run.steps.iter().filter(|(_, s)| matches!(s.status, Some(Status::Ready | Status::Waiting)));
            let document = checker.document(org, id);
            let parallel = |step: &str| document.as_ref().is_some_and(|d| d.region(step).is_some());
            all.extend(open.filter(|(step, _)| !parallel(step)).map(|(step, _)| (org, id.clone(), step.clone())));
        }
    }
    all
}

/// Sleeps until the next time anything waits for: a timer, or the end of a lease.
async fn wait(world: &World) {
    let next = {
        let checker = world.checker();
        let runs = checker.runs.values().filter_map(|c| c.run.as_ref()).flat_map(run::timers).map(|(at, _)| at);
        let leases = checker.runs.values().flat_map(|c| c.attempts.values()).filter_map(|a| a.lease.as_ref());
        runs.chain(leases.map(|l| l.expires_at)).filter(|at| *at > world.now()).min()
    };
    let millis = next.map_or(1000, |at| at.millis() - world.now().millis() + 1);
    tokio::time::sleep(Duration::from_millis(u64::try_from(millis).unwrap_or(1))).await;
}

/// Moves a run by one step, if anybody can now.
async fn advance(world: &Arc<World>, org: &'static str, run: &str, step: &str) -> bool {
    let Some(document) = world.checker().document(org, run) else { return false };
    let (kind, state) = {
        let checker = world.checker();
        let copy = &checker.runs[&(org.to_owned(), run.to_owned())];
        (document.step(step).map(|s| s.kind.clone()), copy.run.as_ref().unwrap().step(step).cloned())
    };
    let (Some(kind), Some(state)) = (kind, state) else { return false };
    if let Some(item) = &state.item {
        let who = people().into_iter().find(|p| {
            use run::Assigned::{Group, Person};
            match &item.assigned {
                Group(group) => p.groups.contains(group),
                Person(person) => p.person.as_ref().is_some_and(|v| v.eq_ignore_ascii_case(person)),
            }
        });
        let Some(who) = who else {
            world.violated(format!("nobody can decide {item:?}"));
            return false;
        };
        let view = world.server().call(async |s| s.view(org, run).await).await;
        let Some(Ok(view)) = view else { return false };
        // A sibling may just have ended the run.
        let Some(shown) = view.work_items.iter().find(|i| i.id == item.id) else { return false };
        let decision = if matches!(kind, Kind::Approve { .. }) { "approved" } else { "completed" };
        return resolve(world, org, &who, run, step, &item.id, shown.snapshot.clone(), decision).await.done().is_some();
    }
    match kind {
        Kind::Agent(_) => {
            let who = &agents()[0];
            let act = Act::Claim { run: run.to_owned(), step: step.to_owned() };
            let Some(token) = token_of(&insist(world, &call(world, org, who, act)).await) else { return false };
            submit(world, org, who, run, step, token).await.done().is_some()
        }
        Kind::WaitFor { event, timeout: None, .. } => {
            let data = Map::from_iter([("late".to_owned(), json!(true))]);
            let act = Act::Send { run: run.to_owned(), name: event, data };
            insist(world, &call(world, org, &agent("a_sender", false), act)).await.done().is_some()
        }
        _ => false,
    }
}

/// Every list, read page by page, shows everything once and in order.
async fn listed(world: &Arc<World>) {
    for org in ORGS {
        let answer = world.server().call(async |store| pages(world, &store, org).await).await;
        if let Some(Err(e)) = answer {
            world.violated(format!("the lists of {org} cannot be read: {e}"));
        }
    }
}

async fn pages(world: &Arc<World>, store: &Store, org: &'static str) -> Result<(), Error> {
    let now = store.now();
    let (mut steps, mut items, mut runs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for ((of, id), copy) in &world.checker().runs {
        if of != org {
            continue;
        }
        let run = copy.run.as_ref().unwrap();
        runs.insert((run.meta.started_at, id.clone()));
        for (step, s) in &run.steps {
            let live = copy.attempts.get(step).is_some_and(|a| a.attempt == s.attempt && a.live(now).is_some());
            match (&s.item, s.status) {
                (Some(item), _) => {
                    items.insert((item.since, item.id.clone()));
                }
                (None, Some(Status::Ready)) if !live => {
                    steps.insert((s.ready_since.unwrap(), id.clone(), step.clone()));
                }
                _ => {}
            }
        }
    }
    let limit = 1 + world.below(4) as usize;
    let actor = &agents()[0];
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.agent_work(org, actor, None, limit, cursor.as_deref()).await?;
        found.extend(page.items.into_iter().map(|e| (e.ready_since, e.run, e.step)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if found != steps.into_iter().collect::<Vec<_>>() {
        world.violated(format!("get_work of agents in {org} shows {found:?}"));
    }
    let mut seen = BTreeSet::new();
    for person in people() {
        let mut cursor = None;
        loop {
            let page = store.person_work(org, &person, None, limit, cursor.as_deref()).await?;
            for work in page.items {
                current(world, org, &person, &work);
                let view = store.view(org, &work.entry.run).await?;
                let same = |i: &&run::WorkItem| i.id == work.work_item.id && i.snapshot == work.work_item.snapshot;
                // Where time has passed that no timer wrote yet, the run is shown as it will be.
                if let Some(shown) = view.work_items.iter().find(same) {
                    let [listed, shown] = [&work.work_item, shown].map(|i| serde_json::to_value(i).unwrap());
                    if without_links(listed.clone()) != without_links(shown.clone()) {
                        world.violated(format!("get_work shows {listed}\nget_run shows {shown}"));
                    }
                }
                seen.insert((work.entry.item.since, work.work_item.id));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    if seen != items {
        world.violated(format!("get_work of people in {org} shows {seen:?}, open are {items:?}"));
    }
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let (page, next) = store.list_runs(org, actor, &RunFilter::default(), limit, cursor.as_deref()).await?;
        found.extend(page.into_iter().map(|r| (r.entry.started_at, r.entry.run)));
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    if found != runs.iter().rev().cloned().collect::<Vec<_>>() {
        world.violated(format!("list_runs in {org} shows {found:?}, there are {runs:?}"));
    }
    let filter = RunFilter { state: Some(RunState::Ended), ..RunFilter::default() };
    let (ended, _) = store.list_runs(org, actor, &filter, 100, None).await?;
    if ended.iter().any(|r| r.entry.state != RunState::Ended) {
        world.violated(format!("list_runs of ended runs in {org} shows others"));
    }
    Ok(())
}

/// A work item is for whoever is shown it, and its snapshot is current.
fn current(world: &World, org: &str, person: &Actor, work: &store::work::PersonWork) {
    let snapshot = {
        let checker = world.checker();
        checker.runs.get(&(org.to_owned(), work.entry.run.clone())).and_then(|c| c.run.as_ref()).map(run::snapshot)
    };
    if snapshot.as_ref() != Some(&work.work_item.snapshot) {
        world.violated(format!("{} is shown {} with an old snapshot", person.subject, work.work_item.id));
    }
}
