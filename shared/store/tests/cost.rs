//! What a call costs: rounds, calls, and bytes that do not grow with the run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use process::limits::BRANCH_ENTRIES;
use run::{Answer, Command, Inquiry};
use serde_json::{Map, json};
use store::Evaluator;
use store::counting::{Counting, Turns, metered};
use store::table::Op;
use support::*;

/// The bytes of the items that a transaction writes, keys and tags included.
fn bytes(ops: &[Op]) -> usize {
    let one = |op: &Op| match op {
        Op::Put { item, .. } => {
            item.key.partition.len() + item.key.sort.len() + item.tag.len() + item.doc.to_string().len()
        }
        Op::Delete { .. } | Op::Check { .. } => 0,
    };
    ops.iter().map(one).sum()
}

#[tokio::test]
async fn what_a_claim_and_a_submit_write_does_not_grow_with_the_run() {
    let mut written = Vec::new();
    for size in [1_000, 200_000] {
        let world = World::with(LETTER).await;
        let run = world.start("letter", json!({ "topic": "x".repeat(size) })).await;
        let bot = agent("bot");
        let token = world.claim(&bot, &run, "write").await;
        let submit = Command::Submit { token, submission: work(json!({ "text": "short" })) };
        world.write(&world.id(), &bot, &run, submit).await.unwrap();
        let data = Map::from_iter([("n".to_owned(), json!(1))]);
        world.write(&world.id(), &bot, &run, Command::SendEvent { name: "posted".into(), data }).await.unwrap();
        world.decide(&person("ann", &["editor"]), &run, run::Decision::Rejected("no".into())).await.unwrap();
        let all = world.probe.transactions.lock().unwrap().clone();
        let of_run: Vec<(usize, usize)> = all[all.len() - 4..].iter().map(|ops| (ops.len(), bytes(ops))).collect();
        written.push(of_run);
    }
    assert_eq!(written[0], written[1]);
    let most = written[0].iter().map(|(_, bytes)| *bytes).max();
    assert!(most < Some(3_000), "{written:?}");
}

#[tokio::test]
async fn a_write_is_one_round_of_reads_and_one_transaction_and_a_read_is_one_round() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let bot = agent("bot");
    // The version is in memory from here on.
    let reads = || world.probe.reads.swap(0, Ordering::Relaxed);
    let writes = || std::mem::take(&mut *world.probe.transactions.lock().unwrap()).len();
    reads();
    writes();
    let token = world.claim(&bot, &run, "write").await;
    assert_eq!((reads(), writes()), (2, 1));
    let submit = Command::Submit { token, submission: work(json!({ "text": "x" })) };
    world.write("s", &bot, &run, submit.clone()).await.unwrap();
    assert_eq!((reads(), writes()), (2, 1));
    world.write("s", &bot, &run, submit).await.unwrap();
    assert_eq!((reads(), writes()), (2, 0), "a repetition writes nothing");
    world.store.view(ORG, &run).await.unwrap();
    assert_eq!((reads(), writes()), (1, 0));
    world.store.agent_work(ORG, &bot, None, 20, None).await.unwrap();
    assert_eq!((reads(), writes()), (2 * u32::from(store::keys::SHARDS), 0));
    world.store.person_work(ORG, &person("ann", &["editor"]), None, 20, None).await.unwrap();
    assert_eq!((reads(), writes()), (2, 0));
    world.start("letter", json!({})).await;
    assert_eq!((reads(), writes()), (2, 1));
}

#[tokio::test]
async fn parallel_reads_are_one_round() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let table = Arc::new(Counting::new(Arc::new(Turns(Arc::new(world.probe.memory.clone())))));
    let secret = b"thirty-two bytes or more of secret".to_vec();
    let store = store::Store::new(store::Parts {
        table,
        files: world.bucket.clone(),
        clock: Arc::new(store::SystemClock),
        ids: Arc::new(store::RandomIds),
        alarms: Arc::new(store::NoAlarms),
        evaluator: None,
        seal: store::Seal::new(vec![store::SealKey { id: "k".into(), secret }]).unwrap(),
        settings: store::Settings::default(),
    });
    store.view(ORG, &run).await.unwrap();
    let bot = agent("bot");
    let claim = |_| Command::Claim { step: "write".into() };
    let request = store::Request::new(ORG, &bot, "claim", "c", &Map::new());
    let (claimed, meter) = metered(store.write(&request, &run, &[], claim)).await;
    claimed.unwrap();
    assert_eq!((meter.rounds, meter.calls, meter.transactions), (2, 3, 1));
    let (_, meter) = metered(store.agent_work(ORG, &bot, None, 20, None)).await;
    assert_eq!(meter.rounds, 1);
    let (_, meter) = metered(store.view(ORG, &run)).await;
    assert_eq!((meter.rounds, meter.calls), (1, 1));
}

/// An evaluator that notes how many reads and transactions there were when it was asked.
struct Watching {
    probe: Arc<Probe>,
    seen: Mutex<Vec<(u32, usize)>>,
}

#[async_trait::async_trait]
impl Evaluator for Watching {
    fn model(&self) -> &str {
        "watching"
    }
    async fn answer(&self, inquiry: &Inquiry) -> Result<Vec<Answer>, String> {
        let transactions = self.probe.transactions.lock().unwrap().len();
        self.seen.lock().unwrap().push((self.probe.reads.load(Ordering::Relaxed), transactions));
        match inquiry.submission.summary.as_deref() {
            Some("silent") => Err("no answer".into()),
            Some("bad") => Ok(vec![Answer::Yes(0.0)]),
            Some("unclear") => Ok(vec![Answer::Yes(0.5)]),
            _ => Ok(vec![Answer::Yes(1.0)]),
        }
    }
}

#[tokio::test]
async fn an_evaluator_is_asked_after_the_reads_and_before_the_transaction() {
    const CHECKED: &str = "---
name: checked
description: Work that is looked at.
steps:
  - { id: write, agent: Write it., check: [{ ask: Is it good?, fail: 0.2 }] }
  - { id: end, finish: over }
---
";
    let plain = World::new();
    let watching = Arc::new(Watching { probe: plain.probe.clone(), seen: Mutex::default() });
    let world = plain.under(Some(watching.clone()));
    world.publish(ORG, CHECKED).await;
    // What was sent, how often it was asked about, and the reads and transactions of the whole call.
    for (what, asked, cost) in [
        ("good", 1, (2, 1)),
        ("unclear", 1, (2, 1)),
        // A refusal looks for its request record once more, and leaves its lines in the attempt.
        ("bad", 1, (3, 1)),
        ("bad again", 0, (3, 1)),
        ("silent", 2, (3, 0)),
    ] {
        let run = world.start("checked", json!({})).await;
        let bot = agent("bot");
        let token = world.claim(&bot, &run, "write").await;
        let (summary, again) = what.split_once(' ').map_or((what, false), |(summary, _)| (summary, true));
        let submission = run::Submission { summary: Some(summary.to_owned()), ..work(json!({})) };
        let submit = Command::Submit { token, submission };
        if again {
            world.write(&world.id(), &bot, &run, submit.clone()).await.unwrap_err();
        }
        watching.seen.lock().unwrap().clear();
        world.probe.reads.store(0, Ordering::Relaxed);
        world.probe.transactions.lock().unwrap().clear();
        let answer = world.write(&world.id(), &bot, &run, submit).await;
        assert_eq!(answer.is_ok(), matches!(what, "good" | "unclear"), "{what}: {answer:?}");
        assert_eq!(*watching.seen.lock().unwrap(), vec![(2, 0); asked], "{what}");
        let spent = (world.probe.reads.load(Ordering::Relaxed), world.probe.transactions.lock().unwrap().len());
        assert_eq!(spent, cost, "{what}");
    }
}

/// Operations and bytes of a submission in one branch, beside as many branches of the kind that `branch` makes.
async fn beside(branches: usize, branch: &str) -> (usize, usize) {
    let ids: Vec<String> = (0..branches).map(|n| format!("b{n:02}")).collect();
    let steps: String = ids.iter().map(|id| format!("  - {{ id: {id}, {branch}, next: join }}\n")).collect();
    let source = format!(
        "---
name: wide
description: Work beside other work.
inputs: {{ topic: string }}
steps:
  - {{ id: p, parallel: [a, {}], next: end }}
  - {{ id: a, agent: Do it., next: c }}
  - {{ id: c, agent: Do more., next: join }}
{steps}  - {{ id: end, finish: over }}
---
",
        ids.join(", ")
    );
    let world = World::with(&source).await;
    let run = world.start("wide", json!({ "topic": "x".repeat(100_000) })).await;
    let bot = agent("bot");
    let token = world.claim(&bot, &run, "a").await;
    let submit = Command::Submit { token, submission: work(json!({})) };
    world.write(&world.id(), &bot, &run, submit).await.unwrap();
    let all = world.probe.transactions.lock().unwrap();
    let last = all.last().unwrap();
    (last.len(), bytes(last))
}

#[tokio::test]
async fn a_write_beside_open_branches_costs_two_operations_for_each_that_waits_on_a_person() {
    let most = BRANCH_ENTRIES - 1;
    let (agents, person) = ("agent: Do it., due: 1h", "person: editor, task: Look., due: 1h");
    let alone = beside(1, agents).await;
    assert_eq!(beside(most, agents).await, alone, "what agents have to do beside it costs nothing");
    let one = beside(1, person).await;
    let all = beside(most, person).await;
    // The inbox entry, which carries the snapshot, and the check that nobody wrote the attempt whose handoff it shows.
    assert_eq!((one.0, all.0), (alone.0 + 2, alone.0 + 2 * most));
    let each = one.1 - alone.1;
    assert!(each < 1_000, "{each} bytes");
    // A number of two digits stands in the item's id and in its key.
    assert!((most * each..=most * (each + 2)).contains(&(all.1 - alone.1)), "{each} bytes for one, {} for all", all.1);
}
