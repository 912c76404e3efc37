//! What was answered is still there: over a reopen, and after the process was killed while it wrote.

// The lints that let a test panic know only the test functions, not what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use local::{Local, LocalError, LocalOptions};
use serde_json::json;
use store::table::{Item, Key, Op, Range, When};

/// Names the data folder to the child that writes until it is killed.
const CHILD_DIR: &str = "PROCESSION_TEST_DIR";
/// The child ends by itself after so long, or so many writes.
const CHILD_TIME: Duration = Duration::from_secs(30);
const CHILD_WRITES: u32 = 50_000;
/// The child is killed once it has been answered so often.
const ACKNOWLEDGED: usize = 400;

async fn open(dir: &Path) -> Result<Local, LocalError> {
    Local::open(LocalOptions { dir: dir.to_owned(), public_url: "http://127.0.0.1:1".into() }).await
}

fn key(partition: &str, sort: impl Into<String>) -> Key {
    Key { partition: partition.into(), sort: sort.into() }
}

fn item(key: Key) -> Item {
    let doc = json!({ "at": key.sort, "text": "x".repeat(700) });
    Item { key, tag: "t".into(), doc }
}

#[tokio::test]
async fn a_reopened_folder_has_everything() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let number: serde_json::Value = serde_json::from_str("1.10").unwrap();
    let stored = Item { key: key("p", "ä"), tag: "7".into(), doc: json!({ "amount": number }) };
    {
        let local = open(&data).await.unwrap();
        local.table().transact(&[Op::Put { item: stored.clone(), when: When::Absent }]).await.unwrap();
        local.files().put("o/1", b"bytes".to_vec(), "text/plain").await.unwrap();
    }
    let local = open(&data).await.unwrap();
    let found = local.table().get(std::slice::from_ref(&stored.key)).await.unwrap();
    assert_eq!(found, [Some(stored)]);
    assert_eq!(local.files().get("o/1").await.unwrap().as_deref(), Some(&b"bytes"[..]));
    assert_eq!(local.files().get("o/2").await.unwrap(), None);
}

#[tokio::test]
async fn a_second_open_is_refused_until_all_of_the_first_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let local = open(&data).await.unwrap();
    let refused = open(&data).await.unwrap_err();
    assert!(matches!(refused, LocalError::InUse { .. }));
    assert!(refused.to_string().contains(data.to_str().unwrap()), "{refused}");
    let table = local.table();
    drop(local);
    assert!(matches!(open(&data).await, Err(LocalError::InUse { .. })), "a table is still in use");
    drop(table);
    open(&data).await.unwrap();
}

/// The child of the test below, which is the same test told by its environment that it is the child.
async fn writes_until_it_is_killed(dir: PathBuf) {
    let local = open(&dir).await.unwrap();
    let (table, files) = (local.table(), local.files());
    let started = Instant::now();
    let writer = |lane: u32| {
        let (table, files) = (table.clone(), files.clone());
        async move {
            for number in 0..CHILD_WRITES {
                if started.elapsed() > CHILD_TIME {
                    return;
                }
                let sort = format!("{lane}-{number:06}");
                let ops: Vec<Op> = ["a", "b", "c"]
                    .iter()
                    .map(|partition| Op::Put { item: item(key(partition, &sort)), when: When::Absent })
                    .collect();
                table.transact(&ops).await.unwrap();
                println!("\ntable {sort}");
                if number.is_multiple_of(8) {
                    files.put(&sort, sort.repeat(1000).into_bytes(), "text/plain").await.unwrap();
                    println!("\nfile {sort}");
                }
            }
        }
    };
    futures::future::join_all((0..4).map(writer)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing_it_answered() {
    if let Some(dir) = std::env::var_os(CHILD_DIR).map(PathBuf::from) {
        return writes_until_it_is_killed(dir).await;
    }
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_server_loses_nothing_it_answered", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, &data)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged: HashMap<&str, Vec<String>> = HashMap::from([("table", vec![]), ("file", vec![])]);
    let mut killed = false;
    // Read on after the kill: what the pipe still holds was answered too. A line cut off by the kill was not printed whole.
    while let Some(Ok(line)) = lines.next() {
        let Some((kind, name)) = line.split_once(' ') else { continue };
        if let Some(names) = acknowledged.get_mut(kind)
            && name.len() == "0-000000".len()
        {
            names.push(name.to_owned());
        }
        if !killed && acknowledged["table"].len() >= ACKNOWLEDGED {
            // SIGKILL: nothing of the child runs any more.
            child.kill().unwrap();
            killed = true;
        }
    }
    assert!(!child.wait().unwrap().success());
    assert!(killed, "the child wrote only {}", acknowledged["table"].len());
    assert!(acknowledged["file"].len() > ACKNOWLEDGED / 16);

    let local = open(&data).await.unwrap();
    let (table, files) = (local.table(), local.files());
    let mut partitions = Vec::new();
    for partition in ["a", "b", "c"] {
        let range = Range { partition: partition.into(), from: None, to: None, backwards: false, limit: None };
        let items = table.query(&range).await.unwrap();
        for found in &items {
            assert_eq!(*found, item(found.key.clone()));
        }
        partitions.push(items.into_iter().map(|item| item.key.sort).collect::<Vec<_>>());
    }
    assert_eq!(partitions[0], partitions[1], "half a transaction");
    assert_eq!(partitions[0], partitions[2], "half a transaction");
    for name in &acknowledged["table"] {
        assert!(partitions[0].binary_search(name).is_ok(), "{name} was answered and is gone");
    }
    for name in &acknowledged["file"] {
        let bytes = files.get(name).await.unwrap();
        assert!(bytes == Some(name.repeat(1000).into_bytes()), "{name} was answered and is gone");
    }
    // And it takes writes again.
    table.transact(&[Op::Put { item: item(key("a", "after")), when: When::Absent }]).await.unwrap();
}
