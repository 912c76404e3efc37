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
use run::{Answer, Inquiry};
use store::Evaluator;
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
fn a_table_that_overwrites_what_is_stored_of_graphs() {
    for kind in ["graphrun/", "provider/"] {
        let what = found(move |_, ops| {
            for op in ops.iter_mut().filter(|op| partition(op).starts_with(kind)) {
                *when(op) = When::Always;
            }
        });
        assert!(what.contains("Graph's run") || what.contains("was published twice"), "{what}");
    }
}

#[test]
fn a_table_that_lists_whichever_version_of_a_provider_came_last() {
    let what = found(|_, ops| {
        for op in ops.iter_mut().filter(|op| partition(op).starts_with("providers/")) {
            *when(op) = When::Always;
        }
    });
    assert!(what.contains("and the highest is"), "{what}");
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

/// Every journal entry of an event, as it is put.
fn events<'o>(ops: &'o mut [Op], kind: &'static str) -> impl Iterator<Item = &'o mut serde_json::Value> {
    let put = ops.iter_mut().filter_map(|op| if let Op::Put { item, .. } = op { Some(item) } else { None });
    let entries = put.filter(|item| item.key.sort.starts_with("j/"));
    let events = entries.filter_map(|item| item.doc.get_mut("events")?.as_array_mut());
    events.flatten().filter_map(move |event| event.get_mut(kind))
}

#[test]
fn a_table_that_forgets_what_failed_a_check() {
    let what = found(|_, ops| {
        for op in ops.iter_mut() {
            if let Op::Put { item, .. } = op
                && item.key.sort.starts_with("a/")
                && let Some(attempt) = item.doc.as_object_mut()
            {
                attempt.remove("failed");
            }
        }
    });
    assert!(what.contains("does not remember"), "{what}");
}

#[test]
fn a_table_that_forgets_verdicts() {
    let what = found(|_, ops| {
        for completed in events(ops, "completed") {
            if let Some(record) = completed["record"].as_object_mut() {
                record.remove("check");
            }
        }
    });
    assert!(what.contains("completed unchecked") || what.contains("adopted without the verdict"), "{what}");
}

#[test]
fn a_table_that_alters_what_is_held_for_a_person() {
    let what = found(|_, ops| {
        for escalated in events(ops, "escalated") {
            if let Some(summary) = escalated.pointer_mut("/item/escalation/candidate/summary") {
                *summary = "done by nobody".into();
            }
        }
    });
    assert!(what.contains("not what was submitted"), "{what}");
}

/// Servers that hear something else than the evaluator said, or ask it otherwise.
struct Misheard<F> {
    inner: Arc<dyn Evaluator>,
    how: F,
}

#[async_trait]
impl<F, A> Evaluator for Misheard<F>
where
    F: Fn(Arc<dyn Evaluator>, Inquiry) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Vec<Answer>, String>> + Send,
{
    fn model(&self) -> &str {
        self.inner.model()
    }
    async fn answer(&self, inquiry: &Inquiry) -> Result<Vec<Answer>, String> {
        (self.how)(self.inner.clone(), inquiry.clone()).await
    }
}

/// What the checker finds on servers that ask so, seed after seed until it finds something.
fn found_asking<F, A>(how: F) -> String
where
    F: Fn(Arc<dyn Evaluator>, Inquiry) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<Vec<Answer>, String>> + Send + 'static,
{
    for seed in 0..SEEDS {
        let how = how.clone();
        let asked: simulation::world::Asked = Box::new(move |inner| Arc::new(Misheard { inner, how: how.clone() }));
        if let Err(violation) = simulation::simulate_with(seed, false, |memory| Arc::new(memory), asked) {
            return violation.what;
        }
    }
    panic!("{SEEDS} seeds found nothing wrong with servers that do not ask as they should");
}

#[test]
fn a_server_that_asks_until_it_likes_the_answer() {
    let what = found_asking(|inner, inquiry| async move {
        let first = inner.answer(&inquiry).await?;
        match first.first() {
            Some(Answer::Yes(p)) if *p < 0.5 => inner.answer(&inquiry).await,
            _ => Ok(first),
        }
    });
    assert!(what.contains("asked again after an answer"), "{what}");
}

#[test]
fn a_server_that_does_not_give_up_on_an_evaluator() {
    let what = found_asking(|inner, inquiry| async move {
        match inner.answer(&inquiry).await {
            Err(_) => inner.answer(&inquiry).await,
            said => said,
        }
    });
    assert!(what.contains("asked too often"), "{what}");
}

#[test]
fn a_server_that_takes_no_answer_for_a_yes() {
    let what = found_asking(|inner, inquiry| async move {
        let said = inner.answer(&inquiry).await;
        let only = inquiry.questions.len() == 1 && inquiry.step != "cellar";
        said.or_else(|why| if only { Ok(vec![Answer::Yes(1.0)]) } else { Err(why) })
    });
    assert!(what.contains("nobody said"), "{what}");
}

#[test]
fn a_server_that_asks_about_something_else() {
    let what = found_asking(|inner, mut inquiry| async move {
        inquiry.submission.output.clear();
        inner.answer(&inquiry).await
    });
    assert!(what.contains("asked about something that was not submitted"), "{what}");
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
