//! The table in memory, for simulations.
//!
//! Invariants: it answers every call as [`crate::dynamo::DynamoTable`] would, refusals and their indexes included (a
//! differential test holds the two equal); it is deterministic; it never waits. Its state can be taken, compared and put
//! back, and taking it copies nothing until the next write.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::dynamo::limits::{self, Bounds};
use crate::table::{Item, Key, Op, Range, Table, TableError, When};

/// Everything that is stored, cheap to clone and to compare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryState {
    items: Arc<BTreeMap<Key, Arc<Stored>>>,
}

#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Stored {
    tag: String,
    /// The document as text: the same trip through text that a stored item takes.
    doc: String,
}

impl MemoryState {
    /// The stored items, in the order of their keys.
    ///
    /// # Errors
    ///
    /// [`TableError::Invalid`] when a document's text cannot be read back.
    pub fn items(&self) -> Result<Vec<Item>, TableError> {
        self.items.iter().map(|(key, stored)| item(key, stored)).collect()
    }

    /// How many items are stored.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// What was asked of a table so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Calls of `get`.
    pub gets: u64,
    /// Calls of `query`.
    pub queries: u64,
    /// Transactions that were written.
    pub written: u64,
    /// Transactions whose conditions did not hold.
    pub refused: u64,
    /// Calls that broke a limit.
    pub invalid: u64,
}

/// A table in memory. Clones share the same items.
#[derive(Debug, Clone, Default)]
pub struct MemoryTable {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    state: MemoryState,
    counts: MemoryCounts,
}

impl MemoryTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table that holds this state, with its counts at zero.
    pub fn with_state(state: MemoryState) -> Self {
        Self { inner: Arc::new(Mutex::new(Inner { state, counts: MemoryCounts::default() })) }
    }

    /// The state as it is now.
    pub fn state(&self) -> MemoryState {
        self.locked().state.clone()
    }

    /// Puts a state back.
    pub fn restore(&self, state: MemoryState) {
        self.locked().state = state;
    }

    /// The counts so far.
    pub fn counts(&self) -> MemoryCounts {
        self.locked().counts
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere cannot leave the state half written: a transaction replaces it as a whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked<T>(&self, result: Result<T, TableError>) -> Result<T, TableError> {
        if result.is_err() {
            self.locked().counts.invalid += 1;
        }
        result
    }
}

#[async_trait]
impl Table for MemoryTable {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.checked(limits::check_keys(keys))?;
        let mut inner = self.locked();
        inner.counts.gets += 1;
        let items = &inner.state.items;
        keys.iter().map(|key| items.get(key).map(|stored| item(key, stored)).transpose()).collect()
    }

    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        let bounds = self.checked(limits::check_range(range))?;
        let mut inner = self.locked();
        inner.counts.queries += 1;
        let Bounds::Between(from, to) = bounds else {
            return Ok(Vec::new());
        };
        let at = |sort: &str| Key { partition: range.partition.clone(), sort: sort.to_owned() };
        let lower = Bound::Included(at(from.unwrap_or_default()));
        let upper = match to {
            Some(to) => Bound::Included(at(to)),
            // The least key of the next partition in order: this one's name followed by the least character.
            None => Bound::Excluded(Key { partition: format!("{}\0", range.partition), sort: String::new() }),
        };
        let found = inner.state.items.range((lower, upper));
        let limit = range.limit.map_or(usize::MAX, |limit| limit as usize);
        let read = |(key, stored): (&Key, &Arc<Stored>)| item(key, stored);
        if range.backwards {
            found.rev().take(limit).map(read).collect()
        } else {
            found.take(limit).map(read).collect()
        }
    }

    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        let docs = self.checked(limits::check_ops(ops))?;
        let mut inner = self.locked();
        let items = &inner.state.items;
        let failed: Vec<usize> = ops
            .iter()
            .enumerate()
            .filter(|(_, op)| {
                let (key, when) = limits::parts(op);
                !holds(items.get(key), when)
            })
            .map(|(index, _)| index)
            .collect();
        if !failed.is_empty() {
            inner.counts.refused += 1;
            return Err(TableError::Refused { failed });
        }
        inner.counts.written += 1;
        let items = Arc::make_mut(&mut inner.state.items);
        for (op, doc) in ops.iter().zip(docs) {
            match op {
                Op::Put { item, .. } => {
                    items.insert(item.key.clone(), Arc::new(Stored { tag: item.tag.clone(), doc }));
                }
                Op::Delete { key, .. } => {
                    items.remove(key);
                }
                Op::Check { .. } => {}
            }
        }
        Ok(())
    }
}

fn holds(stored: Option<&Arc<Stored>>, when: &When) -> bool {
    match when {
        When::Always => true,
        When::Absent => stored.is_none(),
        When::Present => stored.is_some(),
        When::Tag(tag) => stored.is_some_and(|stored| stored.tag == *tag),
    }
}

fn item(key: &Key, stored: &Stored) -> Result<Item, TableError> {
    let doc = serde_json::from_str(&stored.doc).map_err(|error| {
        TableError::Invalid(format!("the stored document of {} is not JSON: {error}", limits::spelled(key)))
    })?;
    Ok(Item { key: key.clone(), tag: stored.tag.clone(), doc })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(partition: &str, sort: &str) -> Key {
        Key { partition: partition.into(), sort: sort.into() }
    }

    fn put(partition: &str, sort: &str, when: When) -> Op {
        Op::Put { item: Item { key: key(partition, sort), tag: "t".into(), doc: json!({ "at": sort }) }, when }
    }

    #[tokio::test]
    async fn a_partition_ends_where_the_next_begins() {
        let table = MemoryTable::new();
        for (partition, sort) in [("a", "1"), ("a", "2"), ("a\0", "0"), ("a\u{1}", "0"), ("b", "0")] {
            table.transact(&[put(partition, sort, When::Absent)]).await.unwrap();
        }
        let range = Range { partition: "a".into(), from: None, to: None, backwards: true, limit: None };
        let sorts: Vec<String> = table.query(&range).await.unwrap().into_iter().map(|item| item.key.sort).collect();
        assert_eq!(sorts, ["2", "1"]);
    }

    #[tokio::test]
    async fn a_refused_transaction_names_its_operations_and_writes_nothing() {
        let table = MemoryTable::new();
        table.transact(&[put("a", "1", When::Absent)]).await.unwrap();
        let before = table.state();
        let ops = [
            put("a", "1", When::Absent),
            put("a", "2", When::Absent),
            Op::Check { key: key("a", "3"), when: When::Present },
            Op::Delete { key: key("a", "4"), when: When::Tag("t".into()) },
        ];
        assert_eq!(table.transact(&ops).await, Err(TableError::Refused { failed: vec![0, 2, 3] }));
        assert_eq!(table.state(), before);
        assert_eq!(table.counts(), MemoryCounts { written: 1, refused: 1, ..MemoryCounts::default() });
    }

    #[tokio::test]
    async fn a_state_taken_before_a_write_stays_as_it_was() {
        let table = MemoryTable::new();
        table.transact(&[put("a", "1", When::Always)]).await.unwrap();
        let before = table.state();
        table.transact(&[put("a", "2", When::Always)]).await.unwrap();
        assert_eq!((before.len(), table.state().len()), (1, 2));
        table.restore(before.clone());
        assert_eq!(table.state(), before);
        assert_eq!(MemoryTable::with_state(before).get(&[key("a", "2")]).await, Ok(vec![None]));
    }
}
