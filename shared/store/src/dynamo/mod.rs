//! The table in DynamoDB, hosted and embedded alike.
//!
//! Invariants: every read is strongly consistent; documents travel as JSON text in a string attribute, so numbers keep
//! their text; a write that carries a condition is always a `TransactWriteItems` with the SDK's own request token, so a
//! retry whose first answer was lost is not taken for a lost race; every error is mapped in `errors` and nowhere else.

mod errors;
pub(crate) mod limits;
mod schema;

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, KeysAndAttributes, Put, TransactWriteItem};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use rand::Rng;

pub use limits::{PARTITION_KEY_BYTES, SORT_KEY_BYTES, STORED_ITEM_BYTES, TRANSACTION_BYTES};
pub use schema::{DOC, PARTITION, SORT, TAG, create_table};

use crate::table::{Item, Key, Op, Range, Table, TableError, When};
use limits::Bounds;

/// Most keys of one `BatchGetItem`.
const BATCH_KEYS: usize = 100;
/// Most `BatchGetItem` calls under way at once for one `get`.
const BATCH_CALLS: usize = 4;
/// Most rounds of one batch that bring nothing before the table counts as unavailable.
const IDLE_ROUNDS: u32 = 6;
/// The wait before the first repeated round; it doubles with every idle one, and the half of it is random.
const IDLE_WAIT: Duration = Duration::from_millis(25);
/// Most pages of one query. DynamoDB's page is 1 MB.
const QUERY_PAGES: u32 = 1_000;

/// One DynamoDB table with the keys of [`create_table`].
#[derive(Debug, Clone)]
pub struct DynamoTable {
    client: Client,
    table_name: String,
}

impl DynamoTable {
    /// The table of this name through this client. No call is made.
    pub fn new(client: Client, table_name: String) -> Self {
        Self { client, table_name }
    }

    async fn get_one(&self, key: &Key) -> Result<Option<Item>, TableError> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.table_name)
            .set_key(Some(attributes(key)))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| errors::plain(&error))?;
        answer.item.map(item).transpose()
    }

    /// Reads one batch, asking again for what DynamoDB left out (an answer has at most 16 MB).
    async fn get_batch(&self, keys: &[Key]) -> Result<Vec<Item>, TableError> {
        let mut found = Vec::with_capacity(keys.len());
        let mut wanted: Vec<HashMap<String, AttributeValue>> = keys.iter().map(attributes).collect();
        let mut idle = 0;
        while !wanted.is_empty() {
            let asked = wanted.len();
            let request = KeysAndAttributes::builder()
                .set_keys(Some(wanted))
                .consistent_read(true)
                .build()
                .map_err(|error| TableError::Invalid(error.to_string()))?;
            let mut answer = self
                .client
                .batch_get_item()
                .request_items(&self.table_name, request)
                .send()
                .await
                .map_err(|error| errors::plain(&error))?;
            let items = answer.responses.as_mut().and_then(|tables| tables.remove(&self.table_name));
            for attributes in items.unwrap_or_default() {
                found.push(item(attributes)?);
            }
            let left = answer.unprocessed_keys.as_mut().and_then(|tables| tables.remove(&self.table_name));
            wanted = left.map(|left| left.keys).unwrap_or_default();
            if wanted.len() < asked {
                idle = 0;
                continue;
            }
            idle += 1;
            if idle == IDLE_ROUNDS {
                return Err(TableError::Unavailable(format!("{} keys stayed unread: throttled", wanted.len())));
            }
            let most = IDLE_WAIT * 2_u32.pow(idle);
            let part: f64 = rand::rng().random();
            tokio::time::sleep((most / 2).mul_f64(1.0 + part)).await;
        }
        Ok(found)
    }

    /// A single unconditional write. Repeating it is harmless, so it needs no transaction and costs half of one.
    async fn write_plain(&self, op: &Op, doc: String) -> Result<(), TableError> {
        match op {
            Op::Put { item, .. } => {
                let request = self.client.put_item().table_name(&self.table_name);
                let sent = request.set_item(Some(stored(item, doc))).send().await;
                sent.map(drop).map_err(|error| errors::plain(&error))
            }
            Op::Delete { key, .. } => {
                let request = self.client.delete_item().table_name(&self.table_name);
                let sent = request.set_key(Some(attributes(key))).send().await;
                sent.map(drop).map_err(|error| errors::plain(&error))
            }
            Op::Check { .. } => Ok(()),
        }
    }

    fn operation(&self, op: &Op, doc: String) -> Result<TransactWriteItem, TableError> {
        let invalid = |error: aws_sdk_dynamodb::error::BuildError| TableError::Invalid(error.to_string());
        let built = TransactWriteItem::builder();
        Ok(match op {
            Op::Put { item, when } => {
                let (expression, values) = condition(when);
                let put = Put::builder()
                    .table_name(&self.table_name)
                    .set_item(Some(stored(item, doc)))
                    .set_condition_expression(expression)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(invalid)?;
                built.put(put).build()
            }
            Op::Delete { key, when } => {
                let (expression, values) = condition(when);
                let delete = Delete::builder()
                    .table_name(&self.table_name)
                    .set_key(Some(attributes(key)))
                    .set_condition_expression(expression)
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(invalid)?;
                built.delete(delete).build()
            }
            Op::Check { key, when } => {
                let (expression, values) = condition(when);
                let check = ConditionCheck::builder()
                    .table_name(&self.table_name)
                    .set_key(Some(attributes(key)))
                    // A check must say something: this holds for an item and for none.
                    .condition_expression(
                        expression.unwrap_or_else(|| "attribute_exists(pk) OR attribute_not_exists(pk)".to_owned()),
                    )
                    .set_expression_attribute_values(values)
                    .build()
                    .map_err(invalid)?;
                built.condition_check(check).build()
            }
        })
    }
}

/// Whether these operations are written by one plain call, at half the price of a transaction.
pub(crate) fn is_plain(ops: &[Op]) -> bool {
    matches!(
        ops,
        [Op::Put { when: When::Always, .. }
            | Op::Delete { when: When::Always, .. }
            | Op::Check { when: When::Always, .. }]
    )
}

#[async_trait]
impl Table for DynamoTable {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        limits::check_keys(keys)?;
        match keys {
            [] => Ok(Vec::new()),
            [key] => Ok(vec![self.get_one(key).await?]),
            keys => {
                // Boxed one by one: the compiler cannot prove a stream of borrowing futures to be `Send` otherwise.
                let batches: Vec<BoxFuture<'_, _>> =
                    keys.chunks(BATCH_KEYS).map(|batch| self.get_batch(batch).boxed()).collect();
                let found: Vec<Vec<Item>> = futures::stream::iter(batches).buffered(BATCH_CALLS).try_collect().await?;
                let mut by_key: HashMap<Key, Item> =
                    found.into_iter().flatten().map(|item| (item.key.clone(), item)).collect();
                Ok(keys.iter().map(|key| by_key.remove(key)).collect())
            }
        }
    }

    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        let Bounds::Between(from, to) = limits::check_range(range)? else {
            return Ok(Vec::new());
        };
        let mut values = HashMap::from([(":pk".to_owned(), AttributeValue::S(range.partition.clone()))]);
        for (name, bound) in [(":from", from), (":to", to)] {
            if let Some(bound) = bound {
                values.insert(name.to_owned(), AttributeValue::S(bound.to_owned()));
            }
        }
        let expression = match (from, to) {
            (None, None) => "pk = :pk",
            (Some(_), None) => "pk = :pk AND sk >= :from",
            (None, Some(_)) => "pk = :pk AND sk <= :to",
            (Some(_), Some(_)) => "pk = :pk AND sk BETWEEN :from AND :to",
        };
        let mut items: Vec<Item> = Vec::new();
        let mut start = None;
        for _ in 0..QUERY_PAGES {
            let missing = range.limit.map(|limit| (limit as usize).saturating_sub(items.len()));
            let answer = self
                .client
                .query()
                .table_name(&self.table_name)
                .consistent_read(true)
                .scan_index_forward(!range.backwards)
                .key_condition_expression(expression)
                .set_expression_attribute_values(Some(values.clone()))
                .set_limit(missing.map(|missing| i32::try_from(missing).unwrap_or(i32::MAX)))
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(|error| errors::plain(&error))?;
            for attributes in answer.items.unwrap_or_default() {
                items.push(item(attributes)?);
            }
            let full = range.limit.is_some_and(|limit| items.len() >= limit as usize);
            start = answer.last_evaluated_key;
            if full || start.is_none() {
                return Ok(items);
            }
        }
        Err(TableError::Invalid(format!("the range has more than {QUERY_PAGES} pages; read it with a limit")))
    }

    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        let docs = limits::check_ops(ops)?;
        if is_plain(ops) {
            for (op, doc) in ops.iter().zip(docs) {
                self.write_plain(op, doc).await?;
            }
            return Ok(());
        }
        if ops.is_empty() {
            return Ok(());
        }
        let operations: Result<Vec<_>, _> = ops.iter().zip(docs).map(|(op, doc)| self.operation(op, doc)).collect();
        let sent = self.client.transact_write_items().set_transact_items(Some(operations?)).send().await;
        sent.map(drop).map_err(|error| errors::transaction(&error))
    }
}

/// A condition as DynamoDB spells it: the expression and the values it names.
fn condition(when: &When) -> (Option<String>, Option<HashMap<String, AttributeValue>>) {
    match when {
        When::Always => (None, None),
        When::Absent => (Some("attribute_not_exists(pk)".to_owned()), None),
        When::Present => (Some("attribute_exists(pk)".to_owned()), None),
        When::Tag(tag) => {
            (Some("tag = :tag".to_owned()), Some(HashMap::from([(":tag".to_owned(), AttributeValue::S(tag.clone()))])))
        }
    }
}

fn attributes(key: &Key) -> HashMap<String, AttributeValue> {
    HashMap::from([
        (PARTITION.to_owned(), AttributeValue::S(key.partition.clone())),
        (SORT.to_owned(), AttributeValue::S(key.sort.clone())),
    ])
}

fn stored(item: &Item, doc: String) -> HashMap<String, AttributeValue> {
    let mut stored = attributes(&item.key);
    stored.insert(TAG.to_owned(), AttributeValue::S(item.tag.clone()));
    stored.insert(DOC.to_owned(), AttributeValue::S(doc));
    stored
}

fn item(mut attributes: HashMap<String, AttributeValue>) -> Result<Item, TableError> {
    let mut take = |name: &str| match attributes.remove(name) {
        Some(AttributeValue::S(text)) => Ok(text),
        _ => Err(TableError::Invalid(format!("a stored item has no string attribute {name:?}"))),
    };
    let key = Key { partition: take(PARTITION)?, sort: take(SORT)? };
    let tag = take(TAG)?;
    let doc = serde_json::from_str(&take(DOC)?).map_err(|error| {
        TableError::Invalid(format!("the stored document of {} is not JSON: {error}", limits::spelled(&key)))
    })?;
    Ok(Item { key, tag, doc })
}
