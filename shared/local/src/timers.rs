//! The timer loop: runs what is due on idle runs, and sends the notices that writes left.
//!
//! Everything it acts on is stored with the runs, so a server that was down catches up by itself. Waking it early is a
//! courtesy: it looks at least once a second, and is woken only for a timer that is due before that.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use store::lists::{Notice, Notices};
use store::{Alarm, Alarms, Error, Store, keys, wake};
use tokio::sync::Notify;

/// Longest that the loop sleeps, in milliseconds.
const LOOK_MILLIS: u64 = 1_000;

/// How long a run whose timer failed is left alone, in seconds.
const REST_SECONDS: u64 = 30;

/// How long one round goes on running a shard's timers before the other shards have their turn, in milliseconds.
const SHARD_MILLIS: u64 = 2_000;

/// Wakes the timer loop when a timer is set that is due before the loop looks again.
#[derive(Debug)]
pub struct Wake {
    notify: Notify,
    /// When the loop looks again by itself, in milliseconds of the store's clock. Every look reads all shards, so a busy
    /// server would do little else if each timer of days woke the loop.
    looks_at: AtomicI64,
}

impl Default for Wake {
    fn default() -> Self {
        // Before the first look everything wakes the loop.
        Wake { notify: Notify::new(), looks_at: AtomicI64::new(i64::MAX) }
    }
}

impl Wake {
    /// Notes that the loop looks again after so much real time, at the latest.
    fn looks_in(&self, real: Duration, store: &Store, speed: u32) {
        let ahead = i64::try_from(real.as_millis()).unwrap_or(i64::MAX).saturating_mul(i64::from(speed.max(1)));
        self.looks_at.store(store.now().millis().saturating_add(ahead), Ordering::Release);
    }
}

#[async_trait]
impl Alarms for Wake {
    async fn set(&self, alarms: &[Alarm]) -> Result<(), Error> {
        let looks_at = self.looks_at.load(Ordering::Acquire);
        if alarms.iter().any(|alarm| alarm.at.millis() <= looks_at) {
            self.notify.notify_one();
        }
        Ok(())
    }

    // The stored times are all that counts; a look that finds nothing due is harmless.
    async fn clear(&self, _: &[Alarm]) {}
}

/// Runs until the future is dropped. `speed` is how many times as fast as real time the store's clock runs.
pub async fn run(store: Arc<Store>, wake: Arc<Wake>, speed: u32) {
    let mut resting: HashMap<(String, String), Instant> = HashMap::new();
    loop {
        resting.retain(|_, since| since.elapsed().as_secs() < REST_SECONDS);
        // While the loop reads, a timer may be set in a shard that it has read already; the look after this one comes
        // well within twice the longest sleep.
        wake.looks_in(Duration::from_millis(2 * LOOK_MILLIS), &store, speed);
        let mut sleep = Duration::from_millis(LOOK_MILLIS);
        for shard in 0..keys::SHARDS {
            fire(&store, shard, &mut resting).await;
            send(&store, shard).await;
            if let Ok(Some(next)) = store.next_due(shard).await {
                let wait = u64::try_from(next.millis() - store.now().millis()).unwrap_or(0) / u64::from(speed.max(1));
                sleep = sleep.min(Duration::from_millis(wait.max(1)));
            }
        }
        // A timer that fails again and again would be due at once, for ever.
        if !resting.is_empty() {
            sleep = sleep.max(Duration::from_millis(LOOK_MILLIS / 4));
        }
        wake.looks_in(sleep, &store, speed);
        tokio::select! {
            () = tokio::time::sleep(sleep) => {}
            () = wake.notify.notified() => {}
        }
    }
}

/// Runs what is due in a shard. A run that fails rests for a while; the loop goes on past it.
async fn fire(store: &Store, shard: u8, resting: &mut HashMap<(String, String), Instant>) {
    let (begin, mut after) = (Instant::now(), None);
    while begin.elapsed() < Duration::from_millis(SHARD_MILLIS) {
        let page = match store.due_page(shard, false, after.as_deref()).await {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "the timers could not be read");
                return;
            }
        };
        // A run has several timers, and all of them are run at once.
        let mut ran = HashSet::new();
        for alarm in page.items {
            let run = (alarm.org, alarm.run);
            if resting.contains_key(&run) || ran.contains(&run) {
                continue;
            }
            match store.tick(&run.0, &run.1).await {
                Ok(()) => {
                    ran.insert(run);
                }
                Err(error) => {
                    tracing::error!(run = run.1, %error, "a timer could not run");
                    resting.insert(run, Instant::now());
                }
            }
        }
        after = page.after;
        if after.is_none() {
            return;
        }
    }
}

/// The embedded server's way to tell people: a line of the log, and the organization's list of notices.
async fn send(store: &Store, shard: u8) {
    let unsent = match store.unsent(shard).await {
        Ok(unsent) => unsent,
        Err(error) => {
            tracing::warn!(%error, "the notices could not be read");
            return;
        }
    };
    for some in unsent.chunks(wake::FILED_NOTICES) {
        some.iter().for_each(tell);
        if let Err(error) = store.sent_all(some).await {
            tracing::warn!(%error, "notices could not be filed as sent; they are sent again");
        }
    }
}

fn tell(notices: &Notices) {
    for notice in &notices.notices {
        let (what, step) = match notice {
            Notice::Work { step, escalation: None, .. } => ("work", step),
            Notice::Work { step, .. } => ("escalation", step),
            Notice::Overdue { step, .. } => ("overdue", step),
        };
        tracing::info!(notice = what, run = notices.run, process = notices.process, step, "people are told");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use run::Time;
    use serde_json::json;
    use store::files::{Files, FilesError, Shown};
    use store::memory::MemoryTable;
    use store::table::{Item, Op, Table as _, When};

    use super::*;

    fn alarm(millis: i64) -> Alarm {
        let text = |text: &str| text.to_owned();
        Alarm { at: Time::from_millis(millis), org: text("o"), run: text("r"), timer: text("due/a/1") }
    }

    /// Whether setting an alarm at this time wakes a loop that looks again at 1,000.
    async fn wakes(millis: i64) -> bool {
        let wake = Wake::default();
        wake.looks_at.store(1_000, Ordering::Release);
        wake.set(&[alarm(5_000), alarm(millis)]).await.unwrap();
        tokio::time::timeout(Duration::from_millis(20), wake.notify.notified()).await.is_ok()
    }

    #[tokio::test]
    async fn only_a_timer_that_is_due_before_the_next_look_wakes_the_loop() {
        assert!(wakes(999).await);
        assert!(wakes(1_000).await);
        assert!(!wakes(1_001).await);
    }

    #[tokio::test]
    async fn before_the_first_look_every_timer_wakes_the_loop() {
        let wake = Wake::default();
        wake.set(&[alarm(i64::MAX / 2)]).await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(20), wake.notify.notified()).await.is_ok());
        assert!(tokio::time::timeout(Duration::from_millis(20), wake.notify.notified()).await.is_err());
    }

    struct Hand(AtomicI64);

    impl store::Clock for Hand {
        fn now(&self) -> Time {
            Time::from_millis(self.0.load(Ordering::Relaxed))
        }
    }

    #[tokio::test]
    async fn any_number_of_runs_that_fail_keeps_none_after_them_waiting() {
        const PAUSE: &str = "---\nname: pause\ndescription: Waits.\nsteps:\n  - { id: pause, wait: 30m }\n  - { id: end, \
                             finish: over }\n---\n";
        let (table, clock) = (MemoryTable::new(), Arc::new(Hand(AtomicI64::new(1_767_603_600_000))));
        let store = store::Store::new(store::Parts {
            table: Arc::new(table.clone()),
            files: Arc::new(NoFiles),
            clock: clock.clone(),
            ids: Arc::new(store::RandomIds),
            alarms: Arc::new(store::NoAlarms),
            evaluator: None,
            seal: store::Seal::new(vec![store::SealKey { id: "k".into(), secret: vec![7; 32] }]).unwrap(),
            settings: store::Settings::default(),
        });
        let op = run::Actor {
            subject: "op".into(),
            kind: run::ActorKind::Person,
            groups: Vec::new(),
            operator: true,
            person: None,
            may_decide: true,
        };
        let empty = serde_json::Map::new();
        let asks = |tool, id| store::Request::new("o", &op, tool, id, &empty);
        store.import(&asks("import_process", "q1"), PAUSE, None, |_| json!({})).await.unwrap();
        store.publish(&asks("publish_process", "q2"), "pause", &BTreeMap::new(), |_| json!({})).await.unwrap();
        let good = store.start(&asks("start_run", "q3"), "pause", None, empty.clone(), run::Mode::Live).await.unwrap();
        let shard = keys::shard(&good.run.meta.id);

        // Runs whose journal cannot be read, due before it.
        let mut bad = 0;
        for n in 0.. {
            let id = format!("r_bad{n}");
            if keys::shard(&id) != shard {
                continue;
            }
            let at = Time::from_millis(n);
            let timer = json!({ "org": "o", "run": id, "at": at, "timer": "wait/pause/1" });
            let put = |key, doc| Op::Put { item: Item { key, tag: String::new(), doc }, when: When::Always };
            let timer = put(keys::timer("o", &id, at, "wait", "pause"), timer);
            table.transact(&[timer, put(keys::journal("o", &id, 1), json!("broken"))]).await.unwrap();
            bad += 1;
            if bad == 250 {
                break;
            }
        }
        clock.0.fetch_add(1_800_000, Ordering::Relaxed);
        let mut resting = HashMap::new();
        fire(&store, shard, &mut resting).await;
        let left: Vec<String> = store.due(shard).await.unwrap().into_iter().map(|alarm| alarm.run).collect();
        assert!(!left.contains(&good.run.meta.id), "it was run");
        assert_eq!((left.len(), resting.len()), (100, bad), "the others are still due");
    }

    struct NoFiles;

    #[async_trait]
    impl Files for NoFiles {
        async fn put(&self, key: &str, _: Vec<u8>, _: &str) -> Result<(), FilesError> {
            panic!("{key} is stored")
        }
        async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
            panic!("{key} is read")
        }
        async fn link(&self, key: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
            panic!("{key} is linked")
        }
    }
}
