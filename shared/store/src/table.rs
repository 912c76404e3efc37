//! All that a table has to do: read some items, read a range of one partition, write several items or none.
//!
//! DynamoDB implements it in the product, hosted and embedded alike ([`crate::dynamo`]); tests wrap it with faults, and
//! the simulation implements it in memory (`crate::memory`). DynamoDB is a word of its far side only, runs are of this
//! side. Every read is strongly consistent.

use async_trait::async_trait;
use serde_json::Value;

/// Most operations that one transaction may hold.
pub const TRANSACTION_OPS: usize = 100;

/// Most bytes of one item's document, as JSON text. DynamoDB refuses an item over 400 KB, key and names included.
pub const ITEM_BYTES: usize = 390_000;

/// Where an item lives: its partition and its place in that partition's order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The partition; only [`crate::keys`] spells one.
    pub partition: String,
    /// The sort key; a partition is ordered by its bytes.
    pub sort: String,
}

/// One stored item.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where it lives.
    pub key: Key,
    /// What a later write may compare ([`When::Tag`]); empty where nothing compares it.
    pub tag: String,
    /// The document. Stored as JSON text, so numbers keep their text.
    pub doc: Value,
}

/// A condition on the item as it is when the transaction commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Whatever is there.
    Always,
    /// Nothing is stored under the key.
    Absent,
    /// An item is stored under the key.
    Present,
    /// An item is stored under the key and has exactly this tag.
    Tag(String),
}

/// One operation of a transaction. A transaction names each key at most once.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Store the item, replacing what is there.
    Put {
        /// What is stored.
        item: Item,
        /// On which condition.
        when: When,
    },
    /// Remove the item; removing what is not there is no fault under [`When::Always`].
    Delete {
        /// What is removed.
        key: Key,
        /// On which condition.
        when: When,
    },
    /// Only hold a condition.
    Check {
        /// Which item.
        key: Key,
        /// The condition.
        when: When,
    },
}

/// Part of one partition, in the order of its sort keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The partition.
    pub partition: String,
    /// Sort keys at or after this one; from the start when `None`.
    pub from: Option<String>,
    /// Sort keys at or before this one; to the end when `None`.
    pub to: Option<String>,
    /// Newest first instead of oldest first.
    pub backwards: bool,
    /// Most items returned; all of them when `None` (the implementation pages until the range is read).
    pub limit: Option<u32>,
}

/// Why an operation did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A condition of the transaction did not hold, or another transaction held one of its items. Nothing was written.
    #[error("the transaction's conditions did not hold (operations {failed:?})")]
    Refused {
        /// Indexes of the operations whose condition did not hold; empty when another transaction was in the way.
        failed: Vec<usize>,
    },
    /// Throttled, unreachable or broken: whether a transaction was written is not known. Trying again may succeed.
    #[error("the table did not answer: {0}")]
    Unavailable(String),
    /// The request cannot succeed as it is: too many operations, an item too large, a document that is not JSON.
    #[error("the table cannot take this: {0}")]
    Invalid(String),
}

/// A DynamoDB table, or something indistinguishable from one through these three operations.
#[async_trait]
pub trait Table: Send + Sync + 'static {
    /// The items under these keys, in the order of the keys; `None` where nothing is stored. Any number of keys, each
    /// once.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError>;

    /// The items of a range, in its order.
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError>;

    /// All operations, or none of them.
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError>;
}
