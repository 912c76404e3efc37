//! The timer loop: runs what is due on idle runs, and sends the notices that writes left.
//!
//! Everything it acts on is stored with the runs, so a server that was down catches up by itself. Waking it early is a
//! courtesy: it looks at least once a second, and is woken only for a timer that is due before that.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use store::lists::{Notice, Notices};
use store::{Alarm, Alarms, Store, keys, wake};
use tokio::sync::Notify;

/// Longest that the loop sleeps, in milliseconds.
const LOOK_MILLIS: u64 = 1_000;

/// How long a run whose timer failed is left alone, in seconds.
const REST_SECONDS: u64 = 30;

/// Most looks that one round takes at a shard before the other shards have their turn.
const SHARD_LOOKS: usize = 20;

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
    async fn set(&self, alarms: &[Alarm]) -> Result<(), String> {
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

async fn fire(store: &Store, shard: u8, resting: &mut HashMap<(String, String), Instant>) {
    for _ in 0..SHARD_LOOKS {
        let due = match store.due(shard).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the timers could not be read");
                return;
            }
        };
        let mut fired = false;
        for alarm in due {
            let run = (alarm.org, alarm.run);
            if resting.contains_key(&run) {
                continue;
            }
            match store.tick(&run.0, &run.1).await {
                Ok(()) => fired = true,
                Err(error) => {
                    tracing::error!(run = run.1, %error, "a timer could not run");
                    resting.insert(run, Instant::now());
                }
            }
        }
        if !fired {
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
    use super::*;
    use run::Time;

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
}
