//! What DynamoDB would refuse, found before the call, and how it counts an item's bytes.
//!
//! Invariants: the real table and the one in memory ask here first, so both refuse the same requests with the same words;
//! every problem of a request is named in one message.

use std::collections::HashSet;

use crate::table::{ITEM_BYTES, Item, Key, Op, Range, TRANSACTION_OPS, TableError, When};

/// Most bytes of a partition key.
pub const PARTITION_KEY_BYTES: usize = 2_048;

/// Most bytes of a sort key.
pub const SORT_KEY_BYTES: usize = 1_024;

/// Most bytes of a stored item: key, tag, document and the names of the four attributes.
pub const STORED_ITEM_BYTES: usize = 400 * 1024;

/// Most bytes of all items that one transaction names.
pub const TRANSACTION_BYTES: usize = 4 * 1024 * 1024;

/// Most problems spelled out in one message; the rest is counted.
const PROBLEMS_NAMED: usize = 10;

/// The bytes of the attribute names `pk`, `sk`, `tag` and `doc`, which count as part of every item.
const NAME_BYTES: usize = 10;

/// The bytes DynamoDB counts for an item whose document takes `doc_bytes` as JSON text.
pub(crate) fn stored_bytes(key: &Key, tag: &str, doc_bytes: usize) -> usize {
    NAME_BYTES + key.partition.len() + key.sort.len() + tag.len() + doc_bytes
}

/// The document as the text that is stored.
pub(crate) fn doc_text(item: &Item) -> Result<String, TableError> {
    serde_json::to_string(&item.doc)
        .map_err(|error| TableError::Invalid(format!("the document of {} is not JSON: {error}", spelled(&item.key))))
}

/// The condition of an operation and the key it is about.
pub(crate) fn parts(op: &Op) -> (&Key, &When) {
    match op {
        Op::Put { item, when } => (&item.key, when),
        Op::Delete { key, when } | Op::Check { key, when } => (key, when),
    }
}

/// Holds the keys of a read against the limits; each key once.
pub(crate) fn check_keys(keys: &[Key]) -> Result<(), TableError> {
    let mut problems = Problems::default();
    let mut seen = HashSet::with_capacity(keys.len());
    for key in keys {
        problems.key(key);
        if !seen.insert(key) {
            problems.add(|| format!("{} is asked for twice", spelled(key)));
        }
    }
    problems.verdict()
}

/// What a range comes down to once its bounds are looked at.
pub(crate) enum Bounds<'a> {
    /// No sort key can lie in it, or no item is wanted.
    Nothing,
    /// Sort keys from and to, both inclusive.
    Between(Option<&'a str>, Option<&'a str>),
}

/// Holds a range against the limits. A range that cannot hold an item is not a fault: the answer is no items, and no
/// call is needed (DynamoDB itself refuses a lower bound above the upper one, an empty bound and a limit of 0).
pub(crate) fn check_range(range: &Range) -> Result<Bounds<'_>, TableError> {
    let mut problems = Problems::default();
    problems.partition(&range.partition);
    for bound in [&range.from, &range.to].into_iter().flatten() {
        if bound.len() > SORT_KEY_BYTES {
            let bytes = bound.len();
            problems.add(|| format!("a bound of the range has {bytes} bytes; a sort key has at most {SORT_KEY_BYTES}"));
        }
    }
    problems.verdict()?;
    let from = range.from.as_deref().filter(|from| !from.is_empty());
    let to = range.to.as_deref();
    let empty = range.limit == Some(0) || to == Some("") || matches!((from, to), (Some(from), Some(to)) if from > to);
    Ok(if empty { Bounds::Nothing } else { Bounds::Between(from, to) })
}

/// Holds a transaction against the limits and spells its documents: one text an operation, empty where nothing is put.
pub(crate) fn check_ops(ops: &[Op]) -> Result<Vec<String>, TableError> {
    let mut problems = Problems::default();
    if ops.len() > TRANSACTION_OPS {
        problems.add(|| format!("{} operations; a transaction holds at most {TRANSACTION_OPS}", ops.len()));
    }
    let mut seen = HashSet::with_capacity(ops.len());
    let mut docs = Vec::with_capacity(ops.len());
    let mut bytes = 0;
    for op in ops {
        let (key, when) = parts(op);
        problems.key(key);
        if !seen.insert(key) {
            problems.add(|| format!("{} is named by two operations", spelled(key)));
        }
        let mut doc = String::new();
        let mut tag = "";
        if let Op::Put { item, .. } = op {
            doc = doc_text(item)?;
            tag = &item.tag;
        }
        if doc.len() > ITEM_BYTES {
            let found = doc.len();
            problems.add(|| {
                format!("the document of {} has {found} bytes; an item's has at most {ITEM_BYTES}", spelled(key))
            });
        }
        let stored = stored_bytes(key, tag, doc.len());
        if stored > STORED_ITEM_BYTES && doc.len() <= ITEM_BYTES {
            problems.add(|| {
                format!("{} has {stored} bytes with its key and tag; at most {STORED_ITEM_BYTES}", spelled(key))
            });
        }
        if let When::Tag(tag) = when
            && tag.len() > STORED_ITEM_BYTES
        {
            problems.add(|| format!("the tag that {} is held against is larger than any item", spelled(key)));
        }
        bytes += stored;
        docs.push(doc);
    }
    if bytes > TRANSACTION_BYTES {
        problems.add(|| format!("the items have {bytes} bytes; a transaction's have at most {TRANSACTION_BYTES}"));
    }
    problems.verdict()?;
    Ok(docs)
}

/// A key in a message, cut so that a huge one does not make a huge message.
pub(crate) fn spelled(key: &Key) -> String {
    const SHOWN_CHARS: usize = 80;
    let cut = |text: &str| text.chars().take(SHOWN_CHARS).collect::<String>();
    format!("{:?} / {:?}", cut(&key.partition), cut(&key.sort))
}

/// Problems of one request, gathered so that they are reported together.
#[derive(Default)]
struct Problems {
    named: Vec<String>,
    count: usize,
}

impl Problems {
    fn add(&mut self, problem: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < PROBLEMS_NAMED {
            self.named.push(problem());
        }
    }

    fn partition(&mut self, partition: &str) {
        if partition.is_empty() || partition.len() > PARTITION_KEY_BYTES {
            let bytes = partition.len();
            self.add(|| format!("a partition key of {bytes} bytes; it has 1 to {PARTITION_KEY_BYTES}"));
        }
    }

    fn key(&mut self, key: &Key) {
        self.partition(&key.partition);
        if key.sort.is_empty() || key.sort.len() > SORT_KEY_BYTES {
            let bytes = key.sort.len();
            self.add(|| format!("a sort key of {bytes} bytes; it has 1 to {SORT_KEY_BYTES}"));
        }
    }

    fn verdict(self) -> Result<(), TableError> {
        if self.count == 0 {
            return Ok(());
        }
        let more = self.count - self.named.len();
        let mut message = self.named.join("; ");
        if more > 0 {
            message.push_str(&format!("; and {more} more"));
        }
        Err(TableError::Invalid(message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(partition: &str, sort: &str) -> Key {
        Key { partition: partition.into(), sort: sort.into() }
    }

    fn put(sort: &str, doc: serde_json::Value) -> Op {
        Op::Put { item: Item { key: key("p", sort), tag: String::new(), doc }, when: When::Always }
    }

    fn refusal<T>(result: Result<T, TableError>) -> String {
        match result {
            Err(TableError::Invalid(message)) => message,
            Err(other) => panic!("not a limit: {other}"),
            Ok(_) => panic!("was taken"),
        }
    }

    #[test]
    fn all_problems_of_a_transaction_come_at_once() {
        let ops = vec![
            put("a", json!("x".repeat(ITEM_BYTES))),
            Op::Check { key: key("p", "a"), when: When::Present },
            Op::Delete { key: key("", &"s".repeat(SORT_KEY_BYTES + 1)), when: When::Always },
        ];
        let message = refusal(check_ops(&ops));
        for part in
            ["has 390002 bytes", "named by two operations", "partition key of 0 bytes", "sort key of 1025 bytes"]
        {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
        }
    }

    #[test]
    fn a_transaction_holds_so_many_operations_and_bytes() {
        let many: Vec<Op> = (0..=TRANSACTION_OPS).map(|n| put(&n.to_string(), json!(n))).collect();
        assert!(refusal(check_ops(&many)).contains("101 operations"));
        assert!(check_ops(&many[1..]).is_ok());
        let heavy: Vec<Op> = (0..11).map(|n| put(&n.to_string(), json!("x".repeat(389_000)))).collect();
        assert!(refusal(check_ops(&heavy)).contains("a transaction's have at most"));
        assert!(check_ops(&heavy[1..]).is_ok());
    }

    #[test]
    fn a_document_fits_with_its_key_and_a_tag_only_up_to_the_whole() {
        let mut op = put("a", json!("x".repeat(ITEM_BYTES - 2)));
        assert!(check_ops(std::slice::from_ref(&op)).is_ok());
        if let Op::Put { item, .. } = &mut op {
            item.tag = "t".repeat(20_000);
        }
        assert!(refusal(check_ops(&[op])).contains("with its key and tag"));
    }

    #[test]
    fn a_range_that_can_hold_nothing_is_no_fault() {
        let range = |from: Option<&str>, to: Option<&str>, limit| Range {
            partition: "p".into(),
            from: from.map(Into::into),
            to: to.map(Into::into),
            backwards: false,
            limit,
        };
        for nothing in [range(Some("b"), Some("a"), None), range(None, Some(""), None), range(None, None, Some(0))] {
            assert!(matches!(check_range(&nothing), Ok(Bounds::Nothing)), "{nothing:?}");
        }
        assert!(matches!(check_range(&range(Some(""), Some("a"), None)), Ok(Bounds::Between(None, Some("a")))));
        let long = "s".repeat(SORT_KEY_BYTES + 1);
        assert!(refusal(check_range(&range(Some(&long), None, None))).contains("a bound of the range"));
    }

    #[test]
    fn the_list_of_problems_is_cut_and_counted() {
        let keys: Vec<Key> = (0..25).map(|_| key("p", "")).collect();
        assert!(refusal(check_keys(&keys)).ends_with("and 39 more"));
    }
}
