//! The table in memory and the embedded DynamoDB answer every sequence of operations alike, refusals included.

// The lints that let a test panic know only the test functions, not what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::atomic::{AtomicU32, Ordering};

use local::{Local, LocalOptions};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use store::dynamo::{DynamoTable, create_table};
use store::memory::MemoryTable;
use store::table::{Item, Key, Op, Range, Table, TableError, When};

/// Sequences tried, and calls in each at most.
const CASES: u32 = 96;
const CALLS: usize = 40;

/// Keys near each other in every order one could think of: by bytes, by UTF-16 units, with and without a prefix.
const PARTITIONS: [&str; 7] = ["a", "a\0", "a\u{1}", "A", "run#ä/1", "\u{1F600}", ""];
const SORTS: [&str; 16] = [
    "1",
    "10",
    "2",
    "0000001",
    "J#0000000010",
    "J#0000000009",
    "j#",
    "é",
    "e\u{301}",
    "\u{FFFF}",
    "\u{10000}",
    "~",
    " ",
    "\"\\'%_",
    "S:",
    "",
];
const TAGS: [&str; 4] = ["", "1", "2", "ü\"\\"];
/// JSON whose text must come back as it was: numbers, their exponents and zeros, the order of members.
const DOCS: [&str; 14] = [
    "1.10",
    "1e400",
    "0.1000",
    "-0",
    "-0.0",
    "123456789012345678901234567890.123456789012345678901234567890",
    "[1E+5,1e-7,1.0]",
    "null",
    "true",
    "\"\"",
    "\"\\u0000 ü \u{1F600} \\\" \\\\\"",
    "{}",
    "{\"z\":1.10,\"a\":{\"$s\":[{\"S\":\"x\"},{\"N\":\"1.0\"}]},\"\":0}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
];

#[derive(Debug, Clone)]
enum Call {
    Get(Vec<Key>),
    Query(Range),
    Transact(Vec<Op>),
}

#[derive(Debug, PartialEq)]
enum Answer {
    Got(Result<Vec<Option<Item>>, TableError>),
    Found(Result<Vec<Item>, TableError>),
    Done(Result<(), TableError>),
}

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_owned)
}

fn key() -> impl Strategy<Value = Key> {
    // The last of each is empty, which no key may be: rare, or nothing else would be tried.
    // Most keys share one partition, so that ranges have something to leave out.
    let partition =
        prop_oneof![60 => one_of(&PARTITIONS[..1]), 30 => one_of(&PARTITIONS[..6]), 2 => one_of(&PARTITIONS[6..])];
    let sort = prop_oneof![40 => one_of(&SORTS[..15]), 1 => one_of(&SORTS[15..])];
    (partition, sort).prop_map(|(partition, sort)| Key { partition, sort })
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        3 => Just(When::Always),
        2 => Just(When::Absent),
        2 => Just(When::Present),
        3 => one_of(&TAGS).prop_map(When::Tag),
    ]
}

fn doc() -> impl Strategy<Value = Value> {
    prop_oneof![
        20 => one_of(&DOCS).prop_map(|text| serde_json::from_str(&text).unwrap()),
        2 => any::<String>().prop_map(Value::String),
        1 => (389_990_usize..390_005).prop_map(|length| Value::String("x".repeat(length))),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (key(), one_of(&TAGS), doc(), when())
            .prop_map(|(key, tag, doc, when)| Op::Put { item: Item { key, tag, doc }, when }),
        2 => (key(), when()).prop_map(|(key, when)| Op::Delete { key, when }),
        2 => (key(), when()).prop_map(|(key, when)| Op::Check { key, when }),
    ]
}

fn range() -> impl Strategy<Value = Range> {
    let bound = || prop::option::weighted(0.3, prop_oneof![8 => one_of(&SORTS), 1 => any::<String>()]);
    let limit = prop::option::of(0..4_u32);
    (key(), bound(), bound(), any::<bool>(), limit).prop_map(|(key, from, to, backwards, limit)| Range {
        partition: key.partition,
        from,
        to,
        backwards,
        limit,
    })
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => prop::collection::vec(key(), 0..5).prop_map(Call::Get),
        4 => range().prop_map(Call::Query),
        2 => op().prop_map(|op| Call::Transact(vec![op])),
        4 => prop::collection::vec(op(), 0..6).prop_map(Call::Transact),
    ]
}

async fn answer(table: &dyn Table, call: &Call) -> Answer {
    match call {
        Call::Get(keys) => Answer::Got(table.get(keys).await),
        Call::Query(range) => Answer::Found(table.query(range).await),
        Call::Transact(ops) => Answer::Done(table.transact(ops).await),
    }
}

/// What an answer's documents look like as text: equal values may differ in the order of their members.
fn texts(answer: &Answer) -> Vec<String> {
    let text = |item: &Item| item.doc.to_string();
    match answer {
        Answer::Got(Ok(items)) => items.iter().flatten().map(text).collect(),
        Answer::Found(Ok(items)) => items.iter().map(text).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn memory_answers_as_dynamodb_does() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let options = LocalOptions { dir: dir.path().join("data"), public_url: "http://127.0.0.1:1".into() };
    let local = runtime.block_on(Local::open(options)).unwrap();
    let tables = AtomicU32::new(0);
    let answered = std::cell::RefCell::new([0_u32; 4]);
    let mut runner = TestRunner::new(ProptestConfig { cases: CASES, failure_persistence: None, ..Default::default() });
    let outcome = runner.run(&prop::collection::vec(call(), 1..CALLS), |calls| {
        runtime.block_on(async {
            let name = format!("case-{}", tables.fetch_add(1, Ordering::Relaxed));
            let (client, _) = local.dynamodb();
            create_table(client, &name).await.unwrap();
            let dynamo = DynamoTable::new(client.clone(), name);
            let memory = MemoryTable::new();
            for call in &calls {
                let (real, simulated) = (answer(&dynamo, call).await, answer(&memory, call).await);
                prop_assert_eq!(texts(&real), texts(&simulated), "{:?}", call);
                prop_assert_eq!(&real, &simulated, "{:?}", call);
                let kind = match &real {
                    Answer::Done(Ok(())) => 0,
                    Answer::Done(Err(TableError::Refused { .. })) => 1,
                    Answer::Got(Ok(_)) | Answer::Found(Ok(_)) => 2,
                    _ => 3,
                };
                answered.borrow_mut()[kind] += 1;
            }
            Ok(())
        })
    });
    outcome.unwrap();
    // A generator that never got anything accepted, or never refused, would prove nothing.
    for (kind, count) in ["written", "refused", "read", "invalid"].iter().zip(answered.into_inner()) {
        assert!(count > 50, "only {count} calls were {kind}");
    }
}

#[tokio::test]
async fn pages_and_batches_are_read_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let options = LocalOptions { dir: dir.path().join("data"), public_url: "http://127.0.0.1:1".into() };
    let local = Local::open(options).await.unwrap();
    let tables: [&dyn Table; 2] = [&*local.table(), &MemoryTable::new()];
    // 60 items of 380 KB: 23 pages of a query, and two answers of a batch (16 MB each).
    let keys: Vec<Key> = (0..60).map(|n| Key { partition: "p".into(), sort: format!("{n:03}") }).collect();
    let absent: Vec<Key> = (0..90).map(|n| Key { partition: "q".into(), sort: format!("{n:03}") }).collect();
    let asked: Vec<Key> = keys.iter().chain(&absent).rev().cloned().collect();
    let mut answers = Vec::new();
    for table in tables {
        for key in &keys {
            let doc = Value::String(key.sort.repeat(380_000 / 3));
            let item = Item { key: key.clone(), tag: "t".into(), doc };
            table.transact(&[Op::Put { item, when: When::Absent }]).await.unwrap();
        }
        let range = |limit, backwards| Range { partition: "p".into(), from: None, to: None, backwards, limit };
        let whole = table.query(&range(None, false)).await.unwrap();
        assert_eq!(whole.iter().map(|item| item.key.clone()).collect::<Vec<_>>(), keys);
        let last = table.query(&range(Some(7), true)).await.unwrap();
        let batch = table.get(&asked).await.unwrap();
        assert_eq!(batch.iter().flatten().count(), keys.len());
        answers.push((whole, last, batch));
    }
    assert!(answers[0] == answers[1]);
}
