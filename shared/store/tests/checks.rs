//! Checks: the evaluator is asked once for a call, before the transaction, and what a check holds for a person stands in
//! no list.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use run::{Answer, Command, Decision, Inquiry};
use serde_json::json;
use store::keys;
use store::lists::{ItemEntry, Notice};
use store::{Error, Evaluator};
use support::*;

const ASKED: &str = "---
name: asked
description: x
steps:
  - { id: write, agent: Write it., output: { text: string }, check: [{ ask: Is it good?, fail: 0.2 }] }
  - { id: read, person: editor, task: Read it., check: [{ ask: Was it read?, fail: 0.2 }] }
  - { id: done, finish: done }
---
";

type Told = Result<Vec<Answer>, String>;

/// Answers what it was told to answer next, and counts; `meanwhile` happens each time while it thinks.
#[derive(Default)]
struct Scripted {
    asked: AtomicU32,
    next: Mutex<Vec<Told>>,
    meanwhile: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

#[async_trait]
impl Evaluator for Scripted {
    fn model(&self) -> &str {
        "scripted"
    }
    async fn answer(&self, inquiry: &Inquiry) -> Told {
        assert_eq!(inquiry.questions.len(), 1);
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(meanwhile) = self.meanwhile.get() {
            meanwhile();
        }
        self.next.lock().unwrap().pop().unwrap_or_else(|| panic!("asked about {} once too often", inquiry.step))
    }
}

impl Scripted {
    /// Says so, in this order.
    fn will(&self, told: &[Told]) {
        *self.next.lock().unwrap() = told.iter().rev().cloned().collect();
    }
    fn asked(&self) -> u32 {
        self.asked.swap(0, Ordering::Relaxed)
    }
}

fn yes(p: f64) -> Told {
    Ok(vec![Answer::Yes(p)])
}

async fn world() -> (World, Arc<Scripted>) {
    let scripted = Arc::new(Scripted::default());
    let world = World::new().under(Some(scripted.clone()));
    world.publish(ORG, ASKED).await;
    (world, scripted)
}

fn submit(token: run::Claimed, text: &str) -> Command {
    Command::Submit { token, submission: work(json!({ "text": text })) }
}

#[tokio::test]
async fn a_lost_answer_of_the_table_is_no_second_question() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    evaluator.will(&[yes(0.95)]);
    world.probe.lose.store(1, Ordering::Relaxed);
    let written = world.write("s", &bot, &run, submit(token.clone(), "x")).await.unwrap();
    let repeated = world.write("s", &bot, &run, submit(token, "x")).await.unwrap();
    assert_eq!(world.answer(&bot, &written).await, world.answer(&bot, &repeated).await);
    assert_eq!(evaluator.asked(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn who_loses_a_race_while_the_evaluator_thinks_keeps_its_answer() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    evaluator.will(&[yes(0.95)]);
    // While it thinks, the clock passes the end of the lease, and an event moves the journal on.
    let (other, id) = (world.clone(), run.clone());
    let handle = tokio::runtime::Handle::current();
    let meanwhile = move || {
        other.pass(700);
        let (other, id) = (other.clone(), id.clone());
        let sent = handle.spawn(async move {
            let event = Command::SendEvent { name: "news".to_owned(), data: Default::default() };
            other.write("e", &agent("sender"), &id, event).await.map(|_| ())
        });
        // The evaluator is on another thread of the runtime, so the event can be waited for.
        tokio::task::block_in_place(|| handle.block_on(sent)).unwrap().unwrap();
    };
    assert!(evaluator.meanwhile.set(Box::new(meanwhile)).is_ok());
    let thread = {
        let (world, bot, run) = (world.clone(), bot.clone(), run.clone());
        tokio::spawn(async move { world.write("s", &bot, &run, submit(token, "x")).await })
    };
    let written = thread.await.unwrap().unwrap();
    assert_eq!(evaluator.asked(), 1);
    let view = world.store.written_view(ORG, &written).await.unwrap();
    assert_eq!(serde_json::to_value(&view.steps[0]).unwrap()["state"], "done", "it came in time");
}

#[tokio::test]
async fn a_silent_evaluator_is_asked_twice_and_nothing_is_written() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    let before = world.probe.transactions.lock().unwrap().len();
    // The second answer is to no yes/no question, which is none.
    evaluator.will(&[Err("busy".to_owned()), Ok(vec![Answer::Level { level: 0, confidence: 1.0 }])]);
    let (refused, issues) = code(world.write("s", &bot, &run, submit(token.clone(), "x")).await);
    assert_eq!((refused, issues.len()), (run::Code::Retry, 0));
    assert_eq!((evaluator.asked(), world.probe.transactions.lock().unwrap().len()), (2, before));
    evaluator.will(&[Err("busy".to_owned()), yes(0.9)]);
    assert!(world.write("s", &bot, &run, submit(token, "x")).await.is_ok(), "the same call again");
    assert_eq!(evaluator.asked(), 2);
}

#[tokio::test]
async fn what_failed_once_is_not_asked_about_again() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    evaluator.will(&[yes(0.1)]);
    let first = code(world.write("s", &bot, &run, submit(token.clone(), "x")).await);
    assert_eq!(first, (run::Code::NotAccepted, vec!["check: Is it good? → no (0.1)".to_owned()]));
    assert_eq!(code(world.write("s", &bot, &run, submit(token.clone(), "x")).await), first);
    assert_eq!(code(world.write("other", &bot, &run, submit(token.clone(), "x")).await), first);
    assert_eq!(evaluator.asked(), 1);
    evaluator.will(&[yes(0.9)]);
    assert!(world.write("better", &bot, &run, submit(token, "y")).await.is_ok());
}

#[tokio::test]
async fn a_candidate_stands_in_the_journal_and_in_no_list() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    evaluator.will(&[yes(0.5)]);
    let large = "x".repeat(100_000);
    world.write("s", &bot, &run, submit(token, &large)).await.unwrap();
    let entries = world.stored("inbox/");
    assert_eq!(entries.len(), 1);
    assert!(entries[0].doc.to_string().len() < 4_096, "an inbox entry holds the candidate");
    let entry: ItemEntry = serde_json::from_value(entries[0].doc.clone()).unwrap();
    assert_eq!(entry.candidate_rev, Some(2));
    for listed in world.stored("").iter().filter(|i| !i.key.sort.starts_with("j/")) {
        assert!(!listed.doc.to_string().contains(&large), "{:?}", listed.key);
    }
    let view = world.store.view(ORG, &run).await.unwrap();
    let page = world.store.person_work(ORG, &operator(), None, 10, None).await.unwrap();
    assert_eq!(page.items[0].work_item, view.work_items[0]);
    let shown = serde_json::to_value(&page.items[0].work_item).unwrap();
    assert_eq!(shown["escalation"]["candidate"]["output"]["text"], large.as_str());
}

#[tokio::test]
async fn a_page_ends_where_its_candidates_become_too_large() {
    let (world, evaluator) = world().await;
    let bot = agent("bot");
    let mut runs = Vec::new();
    for n in 0..12 {
        let run = world.start("asked", json!({})).await;
        let token = world.claim(&bot, &run, "write").await;
        evaluator.will(&[yes(0.5)]);
        world.write(&format!("s{n}"), &bot, &run, submit(token, &"x".repeat(250_000))).await.unwrap();
        world.pass(1);
        runs.push(run);
    }
    let (mut listed, mut pages, mut cursor) = (Vec::new(), 0, None);
    loop {
        let page = world.store.person_work(ORG, &operator(), None, 100, cursor.as_deref()).await.unwrap();
        pages += 1;
        assert!(page.items.len() <= 8, "{} candidates of 250 KB on a page", page.items.len());
        assert!(
            page.items
                .iter()
                .all(|i| serde_json::to_value(&i.work_item).unwrap()["escalation"]["candidate"].is_object())
        );
        listed.extend(page.items.into_iter().map(|i| i.entry.run));
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!((listed, pages), (runs, 2));
}

#[tokio::test]
async fn who_a_task_is_given_back_to_is_told() {
    let (world, evaluator) = world().await;
    let (bot, eve, run) = (agent("bot"), person("eve", &["editor"]), world.start("asked", json!({})).await);
    let token = world.claim(&bot, &run, "write").await;
    evaluator.will(&[yes(0.9)]);
    world.write("s", &bot, &run, submit(token, "x")).await.unwrap();
    evaluator.will(&[yes(0.5)]);
    world.decide(&eve, &run, Decision::Completed(work(json!({})))).await.unwrap();
    world.decide(&operator(), &run, Decision::Returned("Read it again.".to_owned())).await.unwrap();
    let mut told = Vec::new();
    for shard in 0..keys::SHARDS {
        told.extend(world.store.unsent(shard).await.unwrap());
    }
    told.sort_by_key(|n| n.rev);
    let who: Vec<String> = told
        .iter()
        .flat_map(|n| &n.notices)
        .map(|n| match n {
            Notice::Work { step, assigned, escalation, .. } => {
                let why = escalation.as_ref().map(|e| e.note.lines().last().unwrap().to_owned()).unwrap_or_default();
                format!("{step} {assigned:?} {why}")
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        who,
        [
            "read Group(\"editor\") ",
            "read Group(\"operators\") check: Was it read? → no (0.5)",
            "read Group(\"editor\") ",
        ]
    );
}

#[tokio::test]
async fn without_an_evaluator_a_checked_step_waits() {
    let (world, evaluator) = world().await;
    let (bot, run) = (agent("bot"), world.start("asked", json!({})).await);
    let without = world.under(None);
    let token = without.claim(&bot, &run, "write").await;
    let refused = without.write("s", &bot, &run, submit(token.clone(), "x")).await;
    assert!(matches!(&refused, Err(Error::Refused(r)) if r.code == run::Code::Retry), "{refused:?}");
    evaluator.will(&[yes(0.9)]);
    assert!(world.write("s", &bot, &run, submit(token, "x")).await.is_ok());
}
