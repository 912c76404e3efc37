//! A table that counts what it is asked, and what DynamoDB would charge for it.
//!
//! Units follow DynamoDB's published rules. A strongly consistent read costs 1 unit per started 4 KB: of each item for
//! `get`, of the sum for `query`. A write costs 1 unit per started 1 KB of each item, twice that in a transaction, where
//! a condition check and a delete count as writes of the item they name. The size of an item that an operation only
//! names is known when the same meter has read or written it; otherwise it counts as 1 KB, which is then the least.
//! Totals know it only once [`Counting::remember`] was called.
//!
//! Invariants: counting makes no call of its own and changes no answer. A round starts when a call starts while no other
//! call of the same meter is under way, so calls made in parallel are one round.

mod files;
mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::dynamo::{is_plain, limits};
use crate::table::{Item, Key, Op, Range, Table, TableError};

pub use files::CountingFiles;
pub use turns::Turns;

/// Bytes that one read unit reads.
const READ_UNIT_BYTES: usize = 4 * 1024;
/// Bytes that one write unit writes.
const WRITE_UNIT_BYTES: usize = 1024;
/// What a write in a transaction costs against one outside.
const TRANSACTION_FACTOR: u64 = 2;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter {
    /// Calls of any kind.
    pub calls: u64,
    /// Calls that came one after the other, those of a counted bucket included; parallel calls are one round.
    pub rounds: u64,
    /// Calls of `get`.
    pub gets: u64,
    /// Calls of `query`.
    pub queries: u64,
    /// Calls of `transact`, refused ones included.
    pub transactions: u64,
    /// Items that reads returned.
    pub items_read: u64,
    /// Operations that transactions held.
    pub operations: u64,
    /// Bytes of the items that reads returned.
    pub bytes_read: u64,
    /// Bytes of the items that were put.
    pub bytes_written: u64,
    /// Read units, strongly consistent.
    pub read_units: u64,
    /// Write units.
    pub write_units: u64,
    /// Objects stored in a bucket that is counted too ([`CountingFiles`]); they are no `calls`.
    pub object_puts: u64,
    /// Objects read from it; they are no `calls`.
    pub object_gets: u64,
}

tokio::task_local! {
    static METER: Arc<Tally>;
}

/// Runs the future with a meter of its own and returns what its calls came to.
///
/// Calls that the future makes are counted, those it spawns as tasks of their own are not. An inner `metered` takes its
/// calls away from the outer one.
pub async fn metered<F: Future>(future: F) -> (F::Output, Meter) {
    let tally = Arc::new(Tally { count: Mutex::new(Count { remembers: true, ..Count::default() }) });
    let output = METER.scope(Arc::clone(&tally), future).await;
    let meter = tally.locked().meter;
    (output, meter)
}

/// A table whose calls are counted, in all and for each [`metered`] future.
#[derive(Debug)]
pub struct Counting<T: Table + ?Sized> {
    inner: Arc<T>,
    totals: Arc<Tally>,
}

impl<T: Table + ?Sized> Counting<T> {
    /// Counts the calls to this table.
    pub fn new(inner: Arc<T>) -> Self {
        Self { inner, totals: Arc::default() }
    }

    /// Everything counted since the beginning. Items that an operation only names count as 1 KB here, unless
    /// [`Counting::remember`] was called before they were written.
    pub fn totals(&self) -> Meter {
        self.totals.locked().meter
    }

    /// From now on the totals remember the size of every item. Their memory grows with every key: for a measurement, not
    /// for a server that lives.
    pub fn remember(&self) {
        self.totals.locked().remembers = true;
    }

    /// Marks the start of a call in the totals and in the task's meter; it ends when the result is dropped.
    fn started(&self) -> UnderWay {
        let tallies = [Some(Arc::clone(&self.totals)), METER.try_with(Arc::clone).ok()];
        UnderWay::begin(tallies, |meter| meter.calls += 1)
    }
}

#[async_trait]
impl<T: Table + ?Sized> Table for Counting<T> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        let call = self.started();
        let answer = self.inner.get(keys).await;
        let found = answer.as_deref().unwrap_or_default();
        let sizes: Vec<(&Key, usize)> =
            keys.iter().zip(found).map(|(key, item)| (key, item.as_ref().map_or(0, item_bytes))).collect();
        call.count(|count| {
            count.meter.gets += 1;
            for (key, bytes) in &sizes {
                count.read(key, *bytes);
                count.meter.read_units += units(*bytes, READ_UNIT_BYTES);
            }
        });
        answer
    }

    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        let call = self.started();
        let answer = self.inner.query(range).await;
        let found = answer.as_deref().unwrap_or_default();
        let sizes: Vec<(&Key, usize)> = found.iter().map(|item| (&item.key, item_bytes(item))).collect();
        call.count(|count| {
            count.meter.queries += 1;
            for (key, bytes) in &sizes {
                count.read(key, *bytes);
            }
            if answer.is_ok() {
                count.meter.read_units += units(sizes.iter().map(|(_, bytes)| bytes).sum(), READ_UNIT_BYTES);
            }
        });
        answer
    }

    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        let call = self.started();
        let answer = self.inner.transact(ops).await;
        let factor = if is_plain(ops) { 1 } else { TRANSACTION_FACTOR };
        // A refused transaction is charged as a written one; one that never reached the table is not.
        let charged = matches!(answer, Ok(()) | Err(TableError::Refused { .. }));
        let written = answer.is_ok();
        call.count(|count| {
            count.meter.transactions += 1;
            if !charged {
                return;
            }
            for op in ops {
                count.meter.operations += 1;
                let (key, _) = limits::parts(op);
                let known = count.seen.get(key).copied().unwrap_or_default();
                let new = if let Op::Put { item, .. } = op { item_bytes(item) } else { 0 };
                count.meter.write_units += factor * units(known.max(new), WRITE_UNIT_BYTES);
                if !written {
                    continue;
                }
                count.meter.bytes_written += new as u64;
                match op {
                    Op::Check { .. } => {}
                    Op::Put { .. } | Op::Delete { .. } => count.remember(key, new),
                }
            }
        });
        answer
    }
}

/// Units for so many bytes; even nothing costs one.
fn units(bytes: usize, unit_bytes: usize) -> u64 {
    bytes.div_ceil(unit_bytes).max(1) as u64
}

fn item_bytes(item: &Item) -> usize {
    let doc_bytes = limits::doc_text(item).map_or(0, |doc| doc.len());
    limits::stored_bytes(&item.key, &item.tag, doc_bytes)
}

#[derive(Debug, Default)]
struct Tally {
    count: Mutex<Count>,
}

impl Tally {
    fn locked(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Count {
    meter: Meter,
    under_way: usize,
    /// Whether sizes are remembered: for as long as a meter lives, and for the totals, which live as the server does, only
    /// when they are told to.
    remembers: bool,
    seen: HashMap<Key, usize>,
}

impl Count {
    fn read(&mut self, key: &Key, bytes: usize) {
        if bytes > 0 {
            self.meter.items_read += 1;
            self.meter.bytes_read += bytes as u64;
        }
        self.remember(key, bytes);
    }

    fn remember(&mut self, key: &Key, bytes: usize) {
        if self.remembers {
            self.seen.insert(key.clone(), bytes);
        }
    }
}

/// A call under way; a call that is cancelled ends too.
struct UnderWay {
    tallies: [Option<Arc<Tally>>; 2],
}

impl UnderWay {
    /// A call begins, and `add` says of which kind.
    fn begin(tallies: [Option<Arc<Tally>>; 2], add: impl Fn(&mut Meter)) -> UnderWay {
        for tally in tallies.iter().flatten() {
            let mut count = tally.locked();
            add(&mut count.meter);
            if count.under_way == 0 {
                count.meter.rounds += 1;
            }
            count.under_way += 1;
        }
        UnderWay { tallies }
    }

    fn count(&self, mut add: impl FnMut(&mut Count)) {
        for tally in self.tallies.iter().flatten() {
            let mut count = tally.locked();
            add(&mut count);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        for tally in self.tallies.iter().flatten() {
            let mut count = tally.locked();
            count.under_way = count.under_way.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::memory::MemoryTable;
    use crate::table::When;

    fn key(sort: &str) -> Key {
        Key { partition: "p".into(), sort: sort.into() }
    }

    /// An item that DynamoDB counts as exactly so many bytes: 10 of names, 2 of key, 2 of quotes, and the text.
    fn item(sort: &str, bytes: usize) -> Item {
        Item { key: key(sort), tag: String::new(), doc: json!("x".repeat(bytes - 14)) }
    }

    fn put(sort: &str, bytes: usize) -> Op {
        Op::Put { item: item(sort, bytes), when: When::Absent }
    }

    fn table() -> Counting<dyn Table> {
        let inner: Arc<dyn Table> = Arc::new(MemoryTable::new());
        Counting::new(inner)
    }

    fn all() -> Range {
        Range { partition: "p".into(), from: None, to: None, backwards: false, limit: None }
    }

    #[tokio::test]
    async fn units_follow_the_published_rules() {
        let table = table();
        let (_, writes) = metered(table.transact(&[put("a", 1_024), put("b", 1_025), put("c", 4_097)])).await;
        assert_eq!((writes.write_units, writes.operations, writes.bytes_written), (2 * (1 + 2 + 5), 3, 6_146));
        let (_, get) = metered(table.get(&[key("a"), key("b"), key("c"), key("none")])).await;
        assert_eq!((get.read_units, get.items_read), (1 + 1 + 2 + 1, 3));
        let range = all();
        let (_, query) = metered(table.query(&range)).await;
        assert_eq!((query.read_units, query.items_read, query.bytes_read), (2, 3, 6_146));
        let plain = [Op::Delete { key: key("none"), when: When::Always }];
        let (_, delete) = metered(table.transact(&plain)).await;
        assert_eq!(delete.write_units, 1);
    }

    #[tokio::test]
    async fn a_check_costs_what_the_item_weighs_once_the_meter_has_read_it() {
        let table = table();
        table.transact(&[put("c", 4_097)]).await.unwrap();
        let check = [Op::Check { key: key("c"), when: When::Present }, put("d", 100)];
        let refused = [Op::Check { key: key("c"), when: When::Absent }, put("d", 100)];
        let (_, unread) = metered(table.transact(&refused)).await;
        assert_eq!(unread.write_units, 2 + 2);
        let range = all();
        let ((), read) = metered(async {
            table.query(&range).await.unwrap();
            table.transact(&check).await.unwrap();
        })
        .await;
        assert_eq!((read.write_units, read.rounds, read.calls), (10 + 2, 2, 2));
        assert_eq!(table.totals().calls, 4);
    }

    #[tokio::test]
    async fn totals_know_what_is_deleted_once_they_remember() {
        let delete = [Op::Delete { key: key("c"), when: When::Present }];
        for (remembers, units) in [(false, 2), (true, 10)] {
            let table = table();
            if remembers {
                table.remember();
            }
            table.transact(&[put("c", 4_097)]).await.unwrap();
            let before = table.totals().write_units;
            table.transact(&delete).await.unwrap();
            assert_eq!(table.totals().write_units - before, units);
        }
    }

    #[tokio::test]
    async fn parallel_calls_are_one_round() {
        let table = Counting::new(Arc::new(Turns(Arc::new(MemoryTable::new()))));
        let (range, keys) = (all(), [key("a")]);
        let ((), meter) = metered(async {
            let _ = tokio::join!(table.get(&keys), table.query(&range));
            table.transact(&[put("a", 100)]).await.unwrap();
        })
        .await;
        assert_eq!((meter.calls, meter.rounds), (3, 2));
        let ((), meter) = metered(async {
            let _ = (table.get(&keys).await, table.query(&range).await);
        })
        .await;
        assert_eq!((meter.calls, meter.rounds), (2, 2));
    }
}
