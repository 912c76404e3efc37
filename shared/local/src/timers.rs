//! The timer loop: runs what is due on idle runs, and sends the notices that writes left.
//!
//! Everything it acts on is stored with the runs, so a server that was down catches up by itself. Waking it early is a
//! courtesy: it looks at least once a second.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use store::{Alarm, Alarms, Store, keys};
use tokio::sync::Notify;

/// Longest that the loop sleeps, in milliseconds.
const LOOK_MILLIS: u64 = 1_000;

/// How long a run whose timer failed is left alone, in seconds.
const REST_SECONDS: u64 = 30;

/// Most looks that one round takes at a shard before the other shards have their turn.
const LOOKS: usize = 20;

/// Wakes the timer loop when a timer is set.
#[derive(Debug, Default)]
pub struct Wake(Notify);

#[async_trait]
impl Alarms for Wake {
    async fn set(&self, _: &[Alarm]) -> Result<(), String> {
        self.0.notify_one();
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
        tokio::select! {
            () = tokio::time::sleep(sleep) => {}
            () = wake.0.notified() => {}
        }
    }
}

async fn fire(store: &Store, shard: u8, resting: &mut HashMap<(String, String), Instant>) {
    for _ in 0..LOOKS {
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
    for notices in unsent {
        for notice in &notices.notices {
            let (what, step) = match notice {
                store::lists::Notice::Work { step, escalation: None, .. } => ("work", step),
                store::lists::Notice::Work { step, .. } => ("escalation", step),
                store::lists::Notice::Overdue { step, .. } => ("overdue", step),
            };
            tracing::info!(notice = what, run = notices.run, process = notices.process, step, "people are told");
        }
        if let Err(error) = store.sent(&notices).await {
            tracing::warn!(run = notices.run, %error, "a notice could not be filed as sent; it is sent again");
        }
    }
}
