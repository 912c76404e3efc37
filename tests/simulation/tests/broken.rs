//! The checker can fail: on tables that are broken on purpose it must find a broken promise within a few seeds.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use store::memory::MemoryTable;
use store::table::{Item, Key, Op, Range, Table, TableError, When};

/// Seeds within which a broken table is found out.
const SEEDS: u64 = 40;

/// A table that does not do to a transaction what it was asked to.
struct Broken<F> {
    memory: MemoryTable,
    how: F,
    transactions: AtomicU64,
}

#[async_trait]
impl<F: Fn(u64, &mut Vec<Op>) + Send + Sync + 'static> Table for Broken<F> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.memory.get(keys).await
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.memory.query(range).await
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        let mut ops = ops.to_vec();
        (self.how)(self.transactions.fetch_add(1, Ordering::Relaxed), &mut ops);
        self.memory.transact(&ops).await
    }
}

/// What the checker finds on such tables, seed after seed until it finds something.
fn found(how: impl Fn(u64, &mut Vec<Op>) + Clone + Send + Sync + 'static) -> String {
    for seed in 0..SEEDS {
        let how = how.clone();
        let table = |memory| -> Arc<dyn Table> { Arc::new(Broken { memory, how, transactions: AtomicU64::new(0) }) };
        if let Err(violation) = simulation::simulate_on(seed, false, table) {
            return violation.what;
        }
    }
    panic!("{SEEDS} seeds found nothing wrong with a broken table");
}

fn partition(op: &Op) -> &str {
    match op {
        Op::Put { item, .. } => &item.key.partition,
        Op::Delete { key, .. } | Op::Check { key, .. } => &key.partition,
    }
}

fn when(op: &mut Op) -> &mut When {
    match op {
        Op::Put { when, .. } | Op::Delete { when, .. } | Op::Check { when, .. } => when,
    }
}

#[test]
fn a_table_that_overwrites_the_journal() {
    let what = found(|_, ops| {
        for op in ops.iter_mut().filter(|op| partition(op).starts_with("run/")) {
            if *when(op) == When::Absent {
                *when(op) = When::Always;
            }
        }
    });
    assert!(!what.is_empty());
}

#[test]
fn a_table_that_does_not_hold_request_ids_unique() {
    let what = found(|_, ops| {
        for op in ops.iter_mut().filter(|op| partition(op).starts_with("request/")) {
            *when(op) = When::Always;
        }
    });
    assert!(what.contains("request") || what.contains("journal"), "{what}");
}

#[test]
fn a_table_that_ignores_tags() {
    found(|_, ops| {
        for op in ops {
            if matches!(when(op), When::Tag(_)) {
                *when(op) = When::Always;
            }
        }
    });
}

#[test]
fn a_table_that_ignores_checks() {
    found(|_, ops| ops.retain(|op| !matches!(op, Op::Check { .. })));
}

#[test]
fn a_table_that_lets_a_claim_slip_past_whoever_ends_its_step() {
    let what = found(|_, ops| ops.retain(|op| !matches!(op, Op::Check { key, .. } if key.sort.starts_with("a/"))));
    assert!(what.contains("lists") || what.contains("attempts"), "{what}");
}

#[test]
fn a_table_that_loses_a_list_entry_now_and_then() {
    for list in ["ready/", "inbox/", "leased/", "runs/", "timer/"] {
        let what = found(move |n, ops| {
            if n % 5 == 4 {
                ops.retain(|op| !(partition(op).starts_with(list) && matches!(op, Op::Put { .. })));
            }
        });
        assert!(what.contains("lists") || what.contains("get_work") || what.contains("list_runs"), "{list}: {what}");
    }
}

#[test]
fn a_table_that_keeps_a_list_entry_now_and_then() {
    for list in ["ready/", "inbox/", "leased/", "runs/", "timer/"] {
        let what = found(move |n, ops| {
            if n % 5 == 4 {
                ops.retain(|op| !(partition(op).starts_with(list) && matches!(op, Op::Delete { .. })));
            }
        });
        assert!(what.contains("lists"), "{list}: {what}");
    }
}

#[test]
fn a_table_that_loses_request_records() {
    let what = found(|n, ops| {
        if n % 7 == 6 {
            ops.retain(|op| !partition(op).starts_with("request/"));
        }
    });
    assert!(what.contains("request"), "{what}");
}

#[test]
fn a_table_that_loses_notices() {
    let what = found(|_, ops| ops.retain(|op| !partition(op).starts_with("outbox/")));
    assert!(what.contains("notices"), "{what}");
}

#[test]
fn a_table_that_loses_attempts() {
    found(|_, ops| {
        ops.retain(|op| !matches!(op, Op::Put { item, .. } if item.key.sort.starts_with("a/")));
    });
}

/// A table whose reads of request records miss every second one: a read that is not strongly consistent.
struct Forgetful {
    memory: MemoryTable,
    reads: AtomicU64,
}

#[async_trait]
impl Table for Forgetful {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        let missed = self.reads.fetch_add(1, Ordering::Relaxed) % 2 == 1;
        let found = self.memory.get(keys).await?;
        let seen =
            |(key, item): (&Key, Option<Item>)| item.filter(|_| !missed || !key.partition.starts_with("request/"));
        Ok(keys.iter().zip(found).map(seen).collect())
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.memory.query(range).await
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        self.memory.transact(ops).await
    }
}

#[test]
fn a_table_whose_reads_are_old() {
    let found = (0..SEEDS).find_map(|seed| {
        let table = |memory| -> Arc<dyn Table> { Arc::new(Forgetful { memory, reads: AtomicU64::new(0) }) };
        simulation::simulate_on(seed, false, table).err()
    });
    let what = found.expect("old reads go unnoticed").what;
    assert!(what.contains("was written, then refused") || what.contains("used again"), "{what}");
}

/// A table that does not hold the lock on a journal where a branch joins: whoever reads next is told of the entry, but not
/// of what is in it, and so decides on the journal as it was and writes behind it.
struct Unlocked {
    memory: MemoryTable,
    unseen: Mutex<BTreeSet<Key>>,
}

/// Whether a branch joined in this journal entry, and was not the last.
fn arrives(item: &Item) -> bool {
    let any = |kind: &str| item.doc["events"].as_array().is_some_and(|all| all.iter().any(|e| e.get(kind).is_some()));
    item.key.sort.starts_with("j/") && any("arrived") && !any("joined")
}

#[async_trait]
impl Table for Unlocked {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.memory.get(keys).await
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        let mut items = self.memory.query(range).await?;
        for item in items.iter_mut().filter(|item| arrives(item)) {
            if self.unseen.lock().expect("no other panic").remove(&item.key) {
                item.doc["events"] = serde_json::Value::Array(Vec::new());
            }
        }
        Ok(items)
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        self.memory.transact(ops).await?;
        let new = ops.iter().filter_map(|op| if let Op::Put { item, .. } = op { Some(item) } else { None });
        self.unseen.lock().expect("no other panic").extend(new.filter(|i| arrives(i)).map(|i| i.key.clone()));
        Ok(())
    }
}

#[test]
fn a_table_that_loses_a_join() {
    let table = |memory| -> Arc<dyn Table> { Arc::new(Unlocked { memory, unseen: Mutex::default() }) };
    let mut found = (0..SEEDS).filter_map(|seed| simulation::simulate_on(seed, false, table).err());
    // Two branches that each thought the other one was not done.
    assert!(found.any(|violation| violation.what.contains("[Join]")), "a join that is lost goes unnoticed");
}
