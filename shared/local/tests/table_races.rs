//! Many tasks at one table: conditions hold, no update is lost, and limits are told from races.

// The lints that let a test panic know only the test functions, not what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use local::{Local, LocalOptions};
use serde_json::{Value, json};
use store::table::{ITEM_BYTES, Item, Key, Op, Table, TableError, When};

async fn open() -> (tempfile::TempDir, Local) {
    let dir = tempfile::tempdir().unwrap();
    let options = LocalOptions { dir: dir.path().join("data"), public_url: "http://127.0.0.1:1".into() };
    let local = Local::open(options).await.unwrap();
    (dir, local)
}

fn item(sort: &str, tag: impl Into<String>, doc: Value) -> Item {
    Item { key: Key { partition: "p".into(), sort: sort.into() }, tag: tag.into(), doc }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_creators_of_one_key_one_wins() {
    let (_dir, local) = open().await;
    let table = local.table();
    let create = |number: u32| {
        let table = Arc::clone(&table);
        // Half of them alone, half in a transaction with a key of their own.
        let mut ops = vec![Op::Put { item: item("one", "", json!(number)), when: When::Absent }];
        if number.is_multiple_of(2) {
            ops.push(Op::Put { item: item(&format!("own-{number}"), "", json!(number)), when: When::Absent });
        }
        tokio::spawn(async move { (number, table.transact(&ops).await) })
    };
    let answers = futures::future::join_all((0..50).map(create)).await;
    let mut winners = Vec::new();
    for answer in answers {
        match answer.unwrap() {
            (number, Ok(())) => winners.push(number),
            (_, refused) => assert_eq!(refused, Err(TableError::Refused { failed: vec![0] })),
        }
    }
    let [winner] = winners[..] else { panic!("winners: {winners:?}") };
    let stored = table.get(&[item("one", "", json!(0)).key]).await.unwrap();
    assert_eq!(stored, [Some(item("one", "", json!(winner)))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_update_is_lost() {
    const TASKS: usize = 16;
    const UPDATES: usize = 20;
    let (_dir, local) = open().await;
    let table = local.table();
    let key = item("count", "", json!(0)).key;
    table.transact(&[Op::Put { item: item("count", "0", json!(0)), when: When::Absent }]).await.unwrap();
    let count = |task: usize| {
        let (table, key) = (Arc::clone(&table), key.clone());
        tokio::spawn(async move {
            let mut done = 0;
            while done < UPDATES {
                let found = table.get(std::slice::from_ref(&key)).await.unwrap().remove(0).unwrap();
                let next = found.doc.as_u64().unwrap() + 1;
                let ops = [
                    Op::Put { item: item("count", next.to_string(), json!(next)), when: When::Tag(found.tag) },
                    Op::Put { item: item(&format!("{task}-{done}"), "", json!(next)), when: When::Absent },
                ];
                match table.transact(&ops).await {
                    Ok(()) => done += 1,
                    Err(TableError::Refused { failed }) => assert_eq!(failed, [0]),
                    Err(other) => panic!("{other}"),
                }
            }
        })
    };
    for task in futures::future::join_all((0..TASKS).map(count)).await {
        task.unwrap();
    }
    let found = table.get(&[key]).await.unwrap();
    assert_eq!(found, [Some(item("count", (TASKS * UPDATES).to_string(), json!(TASKS * UPDATES)))]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_items_work_up_to_the_limit_and_not_beyond() {
    let (_dir, local) = open().await;
    let table = local.table();
    let ops: Vec<Op> = (0..10)
        .map(|n| Op::Put { item: item(&n.to_string(), "", json!("x".repeat(380_000))), when: When::Absent })
        .collect();
    table.transact(&ops).await.unwrap();
    let keys: Vec<Key> = (0..10).map(|n| item(&n.to_string(), "", Value::Null).key).collect();
    for (n, found) in table.get(&keys).await.unwrap().into_iter().enumerate() {
        assert!(found == Some(item(&n.to_string(), "", json!("x".repeat(380_000)))));
    }
    let most = item("most", "t".repeat(10_000), json!("\"".repeat(ITEM_BYTES / 2 - 1)));
    table.transact(&[Op::Put { item: most, when: When::Absent }]).await.unwrap();
    let over = item("over", "", json!("x".repeat(ITEM_BYTES - 1)));
    let refused = table.transact(&[Op::Put { item: over, when: When::Absent }]).await.unwrap_err();
    assert!(matches!(&refused, TableError::Invalid(why) if why.contains("390001 bytes")), "{refused}");
}

#[tokio::test]
async fn a_missing_table_is_unavailable_not_a_race() {
    let (_dir, local) = open().await;
    let (client, _) = local.dynamodb();
    let table = store::dynamo::DynamoTable::new(client.clone(), "missing".into());
    let key = item("a", "", json!(1)).key;
    let answers = [
        table.get(std::slice::from_ref(&key)).await.map(drop),
        table.transact(&[Op::Put { item: item("a", "", json!(1)), when: When::Absent }]).await,
        table.transact(&[Op::Delete { key, when: When::Always }]).await,
    ];
    for answer in answers {
        assert!(matches!(answer, Err(TableError::Unavailable(_))), "{answer:?}");
    }
}
