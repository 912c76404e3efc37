//! The table as a thousand functions share it: every call takes time, transactions under way hold their items, and each
//! partition key has a throughput of its own.
//!
//! The rules are DynamoDB's as published: a transaction that names an item of another transaction under way is cancelled
//! (a condition check names its item too); one whose condition does not hold is cancelled; a partition gives 1,000 write
//! units and 3,000 read units a second, and what comes beyond is throttled. Every partition key counts as a partition of
//! its own, the most that DynamoDB divides by itself for keys whose traffic is in one place. A cancelled transaction is
//! charged, a throttled one is not. Reads see what is committed.
//!
//! Invariants: nothing is decided here that the memory table would decide otherwise: conditions are its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use store::memory::MemoryTable;
use store::table::{Item, Key, Op, Range, Table, TableError, When};

use super::chance::Chance;
use super::heat::{Heat, READ_UNITS_A_SECOND, WRITE_UNITS_A_SECOND};

/// Tries of a throttled read before it fails: those of the clients that functions use.
const READ_TRIES: u32 = 3;

/// Longest pause before a read is tried again, in milliseconds; it doubles with each further one.
const READ_PAUSE_MILLIS: u64 = 1_000;

/// One in so many calls is slow.
const SLOW_ONE_IN: u64 = 100;

/// How much longer a slow call takes.
const SLOW_FACTOR: u64 = 10;

/// What a read unit reads and a write unit writes, in bytes.
const READ_UNIT_BYTES: usize = 4_096;
const WRITE_UNIT_BYTES: usize = 1_024;

/// What happened at the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Reads that were answered.
    pub reads: u64,
    /// Transactions that were written.
    pub written: u64,
    /// Transactions that were cancelled because a condition did not hold.
    pub refused: u64,
    /// Transactions that were cancelled because another one held an item.
    pub conflicts: u64,
    /// Reads that were throttled, each time they were.
    pub throttled_reads: u64,
    /// Transactions that were throttled.
    pub throttled_writes: u64,
}

/// The shared table. Clones share it.
#[derive(Clone)]
pub struct LoadedTable {
    memory: MemoryTable,
    chance: Chance,
    began: tokio::time::Instant,
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    held: BTreeSet<Key>,
    sizes: HashMap<Key, usize>,
    reads: Heat,
    writes: Heat,
    counts: TableCounts,
}

/// Items that a transaction under way holds; they are let go however it ends.
struct Hold<'t> {
    table: &'t LoadedTable,
    keys: Vec<Key>,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut inner = self.table.locked();
        for key in &self.keys {
            inner.held.remove(key);
        }
    }
}

impl LoadedTable {
    /// A table over what this memory table holds.
    pub fn new(memory: MemoryTable, chance: Chance) -> LoadedTable {
        let stored = memory.state().items().unwrap();
        let sizes = stored.into_iter().map(|item| (item.key.clone(), bytes(&item))).collect();
        let inner = Arc::new(Mutex::new(Inner {
            sizes,
            reads: Heat::new(READ_UNITS_A_SECOND),
            writes: Heat::new(WRITE_UNITS_A_SECOND),
            ..Inner::default()
        }));
        LoadedTable { memory, chance, began: tokio::time::Instant::now(), inner }
    }

    /// What happened so far.
    pub fn counts(&self) -> TableCounts {
        self.locked().counts
    }

    /// Most read units, and most write units, that one partition of each kind gave in one second.
    pub fn peaks(&self) -> [BTreeMap<String, u64>; 2] {
        let inner = self.locked();
        [inner.reads.peaks(), inner.writes.peaks()]
    }

    /// All read units, and all write units, that partitions of each kind gave.
    pub fn totals(&self) -> [BTreeMap<String, u64>; 2] {
        let inner = self.locked();
        [inner.reads.totals(), inner.writes.totals()]
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// Takes between so many milliseconds, now and then much longer.
    async fn takes(&self, least: u64, most: u64) {
        let slow = if self.chance.below(SLOW_ONE_IN) == 0 { SLOW_FACTOR } else { 1 };
        let millis = (least + self.chance.below(most - least + 1)) * slow;
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    /// Waits until these partitions have read units left, as the SDK does.
    async fn admitted(&self, partitions: &BTreeSet<&str>) -> Result<(), TableError> {
        for tried in 1..=READ_TRIES {
            self.takes(1, 3).await;
            {
                let mut inner = self.locked();
                let now = self.millis();
                if partitions.iter().all(|partition| inner.reads.has_left(partition, now)) {
                    inner.counts.reads += 1;
                    return Ok(());
                }
                inner.counts.throttled_reads += 1;
            }
            if tried < READ_TRIES {
                let pause = self.chance.below(READ_PAUSE_MILLIS << (tried - 1));
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
        Err(TableError::Unavailable("throttled".to_owned()))
    }

    fn charge_reads(&self, units: impl IntoIterator<Item = (String, u64)>) {
        let mut inner = self.locked();
        let now = self.millis();
        for (partition, units) in units {
            inner.reads.take(&partition, units, now);
        }
    }

    /// The write units of a transaction by partition.
    fn cost(&self, ops: &[Op]) -> BTreeMap<String, u64> {
        let inner = self.locked();
        let factor = if ops.len() == 1 { 1 } else { 2 };
        let mut cost = BTreeMap::new();
        for op in ops {
            let (key, _) = parts(op);
            let new = if let Op::Put { item, .. } = op { bytes(item) } else { 0 };
            let most = inner.sizes.get(key).copied().unwrap_or_default().max(new);
            *cost.entry(key.partition.clone()).or_default() += factor * units(most, WRITE_UNIT_BYTES);
        }
        cost
    }

    /// Charges a transaction and holds its items; the error it is cancelled with.
    fn hold(&self, ops: &[Op]) -> Result<Hold<'_>, TableError> {
        let cost = self.cost(ops);
        let now = self.millis();
        let mut inner = self.locked();
        if !cost.keys().all(|partition| inner.writes.has_left(partition, now)) {
            inner.counts.throttled_writes += 1;
            return Err(TableError::Unavailable("throttled".to_owned()));
        }
        for (partition, units) in &cost {
            inner.writes.take(partition, *units, now);
        }
        let keys: Vec<Key> = ops.iter().map(|op| parts(op).0.clone()).collect();
        if keys.iter().any(|key| inner.held.contains(key)) {
            inner.counts.conflicts += 1;
            return Err(TableError::Refused { failed: Vec::new() });
        }
        inner.held.extend(keys.iter().cloned());
        drop(inner);
        Ok(Hold { table: self, keys })
    }

    fn committed(&self, ops: &[Op]) {
        let mut inner = self.locked();
        inner.counts.written += 1;
        for op in ops {
            match op {
                Op::Put { item, .. } => {
                    inner.sizes.insert(item.key.clone(), bytes(item));
                }
                Op::Delete { key, .. } => {
                    inner.sizes.remove(key);
                }
                Op::Check { .. } => {}
            }
        }
    }
}

#[async_trait]
impl Table for LoadedTable {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.admitted(&keys.iter().map(|key| key.partition.as_str()).collect()).await?;
        let found = self.memory.get(keys).await?;
        let read = |(key, item): (&Key, &Option<Item>)| {
            (key.partition.clone(), units(item.as_ref().map_or(0, bytes), READ_UNIT_BYTES))
        };
        self.charge_reads(keys.iter().zip(&found).map(read));
        self.takes(1, 3).await;
        Ok(found)
    }

    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.admitted(&BTreeSet::from([range.partition.as_str()])).await?;
        let found = self.memory.query(range).await?;
        let all = units(found.iter().map(bytes).sum(), READ_UNIT_BYTES);
        self.charge_reads([(range.partition.clone(), all)]);
        self.takes(1, 4).await;
        Ok(found)
    }

    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        self.takes(1, 3).await;
        let held = match self.hold(ops) {
            Ok(held) => held,
            Err(cancelled) => {
                self.takes(1, 3).await;
                return Err(cancelled);
            }
        };
        // Nobody changes the items while they are held, so what holds now holds when it is written.
        let checks: Vec<Op> = ops.iter().map(checked).collect();
        if let Err(refused) = self.memory.transact(&checks).await {
            self.locked().counts.refused += 1;
            drop(held);
            self.takes(1, 3).await;
            return Err(refused);
        }
        self.takes(3, 9).await;
        self.memory.transact(ops).await?;
        self.committed(ops);
        drop(held);
        self.takes(1, 3).await;
        Ok(())
    }
}

fn parts(op: &Op) -> (&Key, &When) {
    match op {
        Op::Put { item, when } => (&item.key, when),
        Op::Delete { key, when } | Op::Check { key, when } => (key, when),
    }
}

/// Only the condition of an operation.
fn checked(op: &Op) -> Op {
    let (key, when) = parts(op);
    Op::Check { key: key.clone(), when: when.clone() }
}

/// What DynamoDB counts of an item: the names of its four attributes, and what they hold.
fn bytes(item: &Item) -> usize {
    const NAME_BYTES: usize = 10;
    NAME_BYTES + item.key.partition.len() + item.key.sort.len() + item.tag.len() + item.doc.to_string().len()
}

/// Units for so many bytes; even nothing costs one.
fn units(bytes: usize, unit_bytes: usize) -> u64 {
    bytes.div_ceil(unit_bytes).max(1) as u64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(partition: &str, sort: &str, bytes: usize) -> Op {
        let key = Key { partition: partition.into(), sort: sort.into() };
        Op::Put { item: Item { key, tag: String::new(), doc: json!("x".repeat(bytes)) }, when: When::Absent }
    }

    fn table() -> LoadedTable {
        LoadedTable::new(MemoryTable::new(), Chance::new(1))
    }

    #[tokio::test(start_paused = true)]
    async fn two_transactions_that_name_one_item_at_one_moment_cancel_one_of_them() {
        let table = table();
        let check = |other: &str| {
            let key = Key { partition: "p".into(), sort: "lock".into() };
            [Op::Check { key, when: When::Absent }, put("p", other, 10)]
        };
        let (a, b) = (check("a"), check("b"));
        let answers = futures::join!(table.transact(&a), table.transact(&b));
        let conflict = Err(TableError::Refused { failed: Vec::new() });
        assert!(answers == (Ok(()), conflict.clone()) || answers == (conflict, Ok(())), "{answers:?}");
        // One after the other they are in nobody's way.
        assert_eq!(table.transact(&check("c")).await, Ok(()));
        let counts = table.counts();
        assert_eq!((counts.written, counts.conflicts, counts.refused), (2, 1, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_condition_that_does_not_hold_is_told_from_a_conflict() {
        let table = table();
        let ops = [put("p", "a", 10), put("p", "b", 10)];
        assert_eq!(table.transact(&ops).await, Ok(()));
        let again = [put("p", "c", 10), put("p", "b", 10)];
        assert_eq!(table.transact(&again).await, Err(TableError::Refused { failed: vec![1] }));
        assert_eq!(table.counts().refused, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_partition_gives_what_it_has_and_no_more() {
        let table = table();
        // Two transactions of 2 × 2 × 150 units fit what is left of a second; what is over goes into the next one.
        let (mut written, mut throttled) = (0, 0);
        for n in 0..10 {
            let ops = [put("p", &format!("{n}/a"), 150_000), put("p", &format!("{n}/b"), 150_000)];
            match table.transact(&ops).await {
                Ok(()) => written += 1,
                Err(TableError::Unavailable(_)) => throttled += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((written, throttled), (2, 8));
        assert_eq!(table.transact(&[put("q", "a", 10), put("q", "b", 10)]).await, Ok(()), "another partition is free");
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(table.transact(&[put("p", "later/a", 10), put("p", "later/b", 10)]).await, Ok(()));
    }
}
