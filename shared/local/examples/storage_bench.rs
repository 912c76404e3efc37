//! Measures the embedded storage: `cargo run --release -p local --example storage_bench`.
//!
//! A read is what a request starts with: one item and one partition of ten, asked for in parallel. A transaction is what
//! it ends with: six operations on items of about 1 KB. The load is bounded and in a folder of its own that is removed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use local::{Local, LocalOptions};
use serde_json::json;
use store::table::{Item, Key, Op, Range, Table, When};

/// Operations measured for each line of the result, and before it unmeasured.
const ROUNDS: usize = 4_000;
const WARM_UP_ROUNDS: usize = 400;
/// Items of the partition that is read.
const PARTITION_ITEMS: usize = 10;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let options = LocalOptions { dir: dir.path().join("data"), public_url: "http://127.0.0.1:8484".into() };
    let local = Local::open(options).await?;
    let table = local.table();
    for run in 0..16 {
        for rev in 0..PARTITION_ITEMS {
            let put = Op::Put { item: item(&format!("run-{run}"), &format!("{rev:06}")), when: When::Absent };
            table.transact(&[put]).await?;
        }
    }
    println!("what          at once    a second    p50 ms    p99 ms    max ms    cpu ms each");
    for tasks in [1, 16] {
        measure("read", tasks, &table, read).await?;
        measure("transaction", tasks, &table, transact).await?;
        measure("both", tasks, &table, both).await?;
    }
    Ok(())
}

fn key(partition: &str, sort: &str) -> Key {
    Key { partition: partition.to_owned(), sort: sort.to_owned() }
}

fn item(partition: &str, sort: &str) -> Item {
    let doc = json!({
        "rev": 7, "at": "2026-01-02T03:04:05.678Z", "by": { "subject": "agent-7", "kind": "agent" },
        "events": [{ "v": 1, "kind": "submitted", "step": "draft", "outcome": "done", "note": "x".repeat(750) }],
    });
    Item { key: key(partition, sort), tag: "7".into(), doc }
}

async fn read(table: Arc<dyn Table>, task: usize, round: usize) {
    let keys = [key("request", &format!("{task}-{round}"))];
    let partition = format!("run-{}", task % 16);
    let range = Range { partition, from: None, to: None, backwards: false, limit: None };
    let (record, run) = futures::future::join(table.get(&keys), table.query(&range)).await;
    assert!(record.is_ok() && run.is_ok_and(|items| items.len() == PARTITION_ITEMS));
}

async fn transact(table: Arc<dyn Table>, task: usize, round: usize) {
    // Names that no other measurement uses: the conditions hold.
    let unique = format!("{}-{task}-{round:06}", nanos());
    let put = |partition: String, sort: &str, when| Op::Put { item: item(&partition, sort), when };
    let ops = [
        put(format!("journal-{task}"), &unique, When::Absent),
        put("request".into(), &unique, When::Absent),
        put(format!("attempt-{task}"), "draft", When::Always),
        put(format!("ready-{}", task % 4), &unique, When::Always),
        Op::Delete { key: key(&format!("ready-{}", task % 4), "none"), when: When::Always },
        Op::Check { key: key(&format!("run-{}", task % 16), "000009"), when: When::Tag("7".into()) },
    ];
    let written = table.transact(&ops).await;
    assert!(written.is_ok(), "{written:?}");
}

async fn both(table: Arc<dyn Table>, task: usize, round: usize) {
    read(Arc::clone(&table), task, round).await;
    transact(table, task, round).await;
}

async fn measure<F>(
    what: &str,
    tasks: usize,
    table: &Arc<dyn Table>,
    work: impl Fn(Arc<dyn Table>, usize, usize) -> F + Copy + Send + 'static,
) -> Result<(), tokio::task::JoinError>
where
    F: Future<Output = ()> + Send + 'static,
{
    let run = async |rounds: usize| {
        let spawned: Vec<_> = (0..tasks)
            .map(|task| {
                let table = Arc::clone(table);
                tokio::spawn(async move {
                    let mut times = Vec::with_capacity(rounds / tasks);
                    for round in 0..rounds / tasks {
                        let started = Instant::now();
                        work(Arc::clone(&table), task, round).await;
                        times.push(started.elapsed());
                    }
                    times
                })
            })
            .collect();
        let mut times = Vec::new();
        for task in spawned {
            times.extend(task.await?);
        }
        times.sort_unstable();
        Ok(times)
    };
    run(WARM_UP_ROUNDS).await?;
    let (started, cpu) = (Instant::now(), cpu_time());
    let times = run(ROUNDS).await?;
    let (took, used) = (started.elapsed(), cpu_time().saturating_sub(cpu));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let at = |part: usize| times.get((times.len() * part / 1000).min(times.len() - 1)).copied().map_or(0.0, ms);
    println!(
        "{what:<14}{tasks:>7}{:>12.0}{:>10.3}{:>10.3}{:>10.3}{:>15.3}",
        times.len() as f64 / took.as_secs_f64(),
        at(500),
        at(990),
        at(1000),
        ms(used) / times.len() as f64,
    );
    Ok(())
}

fn nanos() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_nanos())
}

/// User and system time of this process so far; zero where the system does not tell it in `/proc`.
fn cpu_time() -> Duration {
    const TICKS_A_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in parentheses, user and system time are the 12th and 13th fields.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
}
