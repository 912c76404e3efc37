//! Lists: every item exactly once on some page, in order; and never an entry that its run does not have.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::collections::BTreeSet;

use run::{Code, Command, Decision, RunState};
use serde_json::json;
use store::runs::RunFilter;
use store::{Error, Store};
use support::*;

/// As many as a list spread over shards and pages needs.
const MANY: usize = 160;

async fn agent_pages(store: &Store, process: Option<&str>, limit: usize) -> Result<Vec<String>, Error> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.agent_work(ORG, &agent("bot"), process, limit, cursor.as_deref()).await?;
        assert!(page.items.len() <= limit);
        all.extend(page.items.into_iter().map(|e| format!("{} {}", e.ready_since, e.run)));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
}

fn once_each(all: &[String], expected: &[String]) {
    assert!(all.is_sorted(), "{all:?}");
    let set: BTreeSet<&String> = all.iter().collect();
    assert_eq!(set.len(), all.len(), "something is listed twice");
    assert_eq!(set, expected.iter().collect());
}

#[tokio::test]
async fn agents_work_comes_page_by_page_with_equal_times_expired_leases_and_filters() {
    let world = World::with(LETTER).await;
    world.publish(ORG, &LETTER.replace("name: letter", "name: other")).await;
    let (mut open, mut letters, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..MANY {
        let process = if n % 3 == 0 { "other" } else { "letter" };
        let run = world.start(process, json!({})).await;
        let since = world.store.view(ORG, &run).await.unwrap().run.started_at;
        let name = format!("{since} {run}");
        if n % 4 == 0 {
            world.claim(&agent("gone"), &run, "write").await;
            held.push((n, run));
        } else {
            open.push(name.clone());
            if process == "letter" {
                letters.push(name);
            }
        }
        // Ten at one instant.
        if n % 10 == 9 {
            world.pass(1);
        }
    }
    for limit in [1, 7, 20, 100] {
        once_each(&agent_pages(&world.store, None, limit).await.unwrap(), &open);
    }
    once_each(&agent_pages(&world.store, Some("letter"), 7).await.unwrap(), &letters);
    assert_eq!(agent_pages(&world.store, Some("nothing"), 7).await.unwrap(), Vec::<String>::new());
    // Every lease has ended: at once, with no timer, all of it is work, each in its place.
    world.pass(600);
    for (n, run) in &held {
        let since = world.store.view(ORG, run).await.unwrap().run.started_at;
        open.push(format!("{since} {run}"));
        if n % 3 != 0 {
            letters.push(format!("{since} {run}"));
        }
    }
    for limit in [1, 7, 20, 100] {
        once_each(&agent_pages(&world.store, None, limit).await.unwrap(), &open);
        once_each(&agent_pages(&world.store, Some("letter"), limit).await.unwrap(), &letters);
    }
}

#[tokio::test]
async fn a_lease_is_work_again_in_the_millisecond_it_ends() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    world.claim(&agent("gone"), &run, "write").await;
    world.pass(599);
    assert!(agent_pages(&world.store, None, 10).await.unwrap().is_empty());
    world.pass(1);
    assert_eq!(agent_pages(&world.store, None, 10).await.unwrap().len(), 1);
    world.claim(&agent("bot"), &run, "write").await;
    assert!(agent_pages(&world.store, None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn runs_come_newest_first_page_by_page_with_every_filter() {
    let world = World::with(LETTER).await;
    world.publish(ORG, &LETTER.replace("name: letter", "name: other")).await;
    let mut all = Vec::new();
    for n in 0..MANY {
        let process = if n % 2 == 0 { "other" } else { "letter" };
        let run = world.start(process, json!({ "topic": format!("t{}", n % 8) })).await;
        if n % 5 == 0 {
            let id = world.id();
            world.write(&id, &operator(), &run, Command::Cancel { reason: "x".into() }).await.unwrap();
        }
        all.push((n, run));
        if n % 10 == 9 {
            world.pass(1);
        }
    }
    all.reverse();
    let inputs = |n: usize| json!({ "topic": format!("t{n}") }).as_object().cloned();
    let filter =
        |process: Option<&str>, state, inputs| RunFilter { process: process.map(str::to_owned), state, inputs };
    type Wanted = fn(usize) -> bool;
    let cases: [(RunFilter, Wanted); 6] = [
        (filter(None, None, None), |_| true),
        (filter(Some("letter"), None, None), |n| n % 2 == 1),
        (filter(None, Some(RunState::Cancelled), None), |n| n % 5 == 0),
        (filter(Some("other"), Some(RunState::Active), None), |n| n % 2 == 0 && n % 5 != 0),
        (filter(None, None, inputs(3)), |n| n % 8 == 3),
        (filter(None, Some(RunState::Ended), None), |_| false),
    ];
    for (filter, wanted) in cases {
        for limit in [1, 9, 100] {
            let (mut found, mut cursor) = (Vec::new(), None);
            loop {
                let page = world.store.list_runs(ORG, &agent("bot"), &filter, limit, cursor.as_deref()).await;
                let (items, next) = page.unwrap();
                assert!(items.len() <= limit);
                found.extend(items.into_iter().map(|r| r.entry.run));
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            let expected: Vec<&String> = all.iter().filter(|(n, _)| wanted(*n)).map(|(_, run)| run).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?} {limit}");
        }
    }
}

#[tokio::test]
async fn a_persons_work_comes_from_all_inboxes_oldest_first() {
    let world = World::with(LETTER).await;
    let mut expected = Vec::new();
    for n in 0..MANY {
        let run = world.start("letter", json!({})).await;
        let bot = agent("bot");
        let token = world.claim(&bot, &run, "write").await;
        let command = match n % 3 {
            0 => Command::Escalate { token, note: "help".into() },
            _ => Command::Submit { token, submission: work(json!({ "text": "x" })) },
        };
        world.write(&world.id(), &bot, &run, command).await.unwrap();
        expected.push((n % 3 == 0, run));
        if n % 10 == 9 {
            world.pass(1);
        }
    }
    let read = async |actor: &run::Actor, limit: usize| {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let page = world.store.person_work(ORG, actor, None, limit, cursor.as_deref()).await.unwrap();
            all.extend(page.items.into_iter().map(|w| w.entry.run));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return all;
            }
        }
    };
    let runs = |wanted: fn(bool) -> bool| {
        expected.iter().filter(|(e, _)| wanted(*e)).map(|(_, r)| r.clone()).collect::<Vec<_>>()
    };
    for limit in [1, 13, 100] {
        assert_eq!(read(&person("ann", &["editor", "editor"]), limit).await, runs(|escalated| !escalated));
        assert_eq!(read(&operator(), limit).await, runs(|escalated| escalated));
        let both = run::Actor { operator: true, ..person("both", &["editor", "operators"]) };
        assert_eq!(read(&both, limit).await, runs(|_| true));
        assert!(read(&person("nobody", &["x"]), limit).await.is_empty());
    }
}

#[tokio::test]
async fn processes_come_by_name_page_by_page() {
    let world = World::new();
    let mut names: Vec<String> = (0..MANY).map(|n| format!("p-{n}")).chain(["p".into(), "p-1-a".into()]).collect();
    for name in &names {
        world.publish(ORG, &LETTER.replace("name: letter", &format!("name: {name}"))).await;
    }
    names.sort();
    for limit in [1, 9, 100] {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let page = world.store.list_processes(ORG, &agent("bot"), limit, cursor.as_deref()).await.unwrap();
            found.extend(page.0.into_iter().map(|l| l.name));
            cursor = page.1;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, names);
    }
}

#[tokio::test]
async fn a_cursor_is_for_its_caller_its_list_and_its_filters() {
    let world = World::with(LETTER).await;
    for _ in 0..3 {
        world.start("letter", json!({})).await;
    }
    let bot = agent("bot");
    let page = world.store.agent_work(ORG, &bot, None, 1, None).await.unwrap();
    let cursor = page.next_cursor.as_deref();
    let store = &world.store;
    assert!(store.agent_work(ORG, &bot, None, 2, cursor).await.is_ok());
    let refused = |answer: Result<_, Error>| assert_eq!(code(answer).0, Code::Invalid);
    refused(store.agent_work(ORG, &agent("other"), None, 1, cursor).await);
    refused(store.agent_work(ORG, &bot, Some("letter"), 1, cursor).await);
    refused(store.agent_work("beta", &bot, None, 1, cursor).await);
    refused(store.agent_work(ORG, &bot, None, 1, Some("x.y.z")).await);
    assert_eq!(code(store.list_runs(ORG, &bot, &RunFilter::default(), 1, cursor).await).0, Code::Invalid);
}

#[tokio::test]
async fn closing_an_item_and_listing_it_are_one_write() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let bot = agent("bot");
    let token = world.claim(&bot, &run, "write").await;
    let submit = Command::Submit { token, submission: work(json!({ "text": "x" })) };
    world.write(&world.id(), &bot, &run, submit).await.unwrap();
    assert_eq!(world.stored("inbox/").len(), 1);
    let before = world.probe.transactions.lock().unwrap().len();
    world.decide(&person("ann", &["editor"]), &run, Decision::Approved(None)).await.unwrap();
    assert_eq!(world.probe.transactions.lock().unwrap().len(), before + 1);
    assert_eq!(world.stored("inbox/"), []);
    assert_eq!(world.stored("timer/"), []);
}

#[tokio::test]
async fn a_claim_and_a_cancel_at_once_leave_nothing_behind() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let (free, hold) = tokio::sync::oneshot::channel();
    *world.probe.hold.lock().unwrap() = Some(hold);
    let op = operator();
    let (cancelled, claimed) =
        tokio::join!(world.write("cancel", &op, &run, Command::Cancel { reason: "x".into() }), async {
            let bot = agent("bot");
            let claimed = world.write("claim", &bot, &run, Command::Claim { step: "write".into() }).await;
            free.send(()).unwrap();
            claimed
        });
    cancelled.unwrap();
    claimed.unwrap();
    assert_eq!(world.stored("leased/"), []);
    assert_eq!(world.stored("ready/"), []);
    assert!(world.stored("run/").iter().all(|i| !i.key.sort.starts_with("a/")));
    world.pass(1_000);
    assert!(agent_pages(&world.store, None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_due_time_is_stored_noted_once_and_told_once() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let due = async || {
        let mut all = Vec::new();
        for shard in 0..store::keys::SHARDS {
            all.extend(world.store.due(shard).await.unwrap());
        }
        all
    };
    world.pass(1_799);
    assert_eq!(due().await, []);
    world.store.tick(ORG, &run).await.unwrap();
    world.pass(1);
    let alarms = due().await;
    assert_eq!(alarms.len(), 1);
    assert_eq!((alarms[0].run.as_str(), alarms[0].timer.as_str()), (run.as_str(), "due/write/1"));
    for _ in 0..3 {
        world.store.tick(ORG, &run).await.unwrap();
    }
    assert_eq!(due().await, []);
    let mut told = Vec::new();
    for shard in 0..store::keys::SHARDS {
        told.extend(world.store.unsent(shard).await.unwrap());
    }
    assert_eq!(told.len(), 1);
    world.store.sent(&told[0]).await.unwrap();
    assert_eq!(world.stored("outbox/"), []);
    assert_eq!(world.store.notices(ORG, 10).await.unwrap(), told);
    assert!(world.store.tick(ORG, "r_none").await.is_ok());
    // The claim goes on, the step stays open, and the mark stays.
    world.claim(&agent("bot"), &run, "write").await;
    assert_eq!(world.store.view(ORG, &run).await.unwrap().steps[0].overdue, Some(true));
}

#[tokio::test]
async fn many_notices_are_filed_in_few_transactions_and_none_is_lost() {
    const RUNS: usize = 2 * store::wake::FILED_NOTICES + 3;
    const ASK: &str = "---\nname: ask\ndescription: Ask.\nsteps:\n  - { id: ask, person: editor, approve: Yes?, next: \
                       end }\n  - { id: end, finish: done }\n---\n";
    let world = World::with(ASK).await;
    for _ in 0..RUNS {
        world.start("ask", json!({})).await;
    }
    let mut told = Vec::new();
    for shard in 0..store::keys::SHARDS {
        told.extend(world.store.unsent(shard).await.unwrap());
    }
    assert_eq!(told.len(), RUNS);
    world.store.sent_all(&[]).await.unwrap();
    world.store.sent_all(&told).await.unwrap();
    assert_eq!(world.stored("outbox/"), []);
    let mut filed: Vec<String> = world.store.notices(ORG, 200).await.unwrap().into_iter().map(|n| n.run).collect();
    let mut expected: Vec<String> = told.into_iter().map(|n| n.run).collect();
    filed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(filed, expected);
}
