//! What a call costs: rounds, calls, and bytes that do not grow with the run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use run::Command;
use serde_json::{Map, json};
use store::counting::{Counting, metered};
use store::table::{Op, Table};
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
    /// Lets others go first, so that calls made together overlap.
    struct Slow(store::memory::MemoryTable);
    #[async_trait::async_trait]
    impl Table for Slow {
        async fn get(
            &self,
            keys: &[store::table::Key],
        ) -> Result<Vec<Option<store::table::Item>>, store::table::TableError> {
            tokio::task::yield_now().await;
            self.0.get(keys).await
        }
        async fn query(
            &self,
            range: &store::table::Range,
        ) -> Result<Vec<store::table::Item>, store::table::TableError> {
            tokio::task::yield_now().await;
            self.0.query(range).await
        }
        async fn transact(&self, ops: &[Op]) -> Result<(), store::table::TableError> {
            self.0.transact(ops).await
        }
    }

    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let table = Arc::new(Counting::new(Arc::new(Slow(world.probe.memory.clone()))));
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
