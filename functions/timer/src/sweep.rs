//! The sweep, once a minute: runs what is due and no schedule ran, sets alarms again that may be missing, and tells people
//! what was not told yet.
//!
//! Invariants: it ends within [`SWEEP_SECONDS`] and a little, whatever there is to do, and the next sweep goes on from
//! there; one run that fails keeps no other from its turn, and neither does a bus that fails; notices are filed as sent
//! only after the bus has taken them, so they are sent at least once.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use store::lists::Notices;
use store::{Error, keys, wake};

use crate::Timer;

/// How long a sweep goes on taking up work, in seconds; a call that is under way then is still finished.
pub const SWEEP_SECONDS: u64 = 40;

/// How much later than due a timer counts as overdue in the log, in seconds: Scheduler takes up to a minute to call, and
/// the sweep comes once a minute.
pub const LATE_SECONDS: u64 = 120;

/// How far ahead alarms are set again, in seconds: until well after the next sweep.
pub const SOON_SECONDS: u64 = 150;

/// Most runs that are worked on at once.
const RUNS: usize = 8;

/// Most looks that a sweep takes at one shard, for timers and for notices each.
const SHARD_LOOKS: usize = 20;

/// What a sweep came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Timers that were overdue when it began, up to 100 of each shard.
    pub overdue: usize,
    /// Runs on which it ran what was due.
    pub ran: usize,
    /// Runs on which it could not.
    pub broken: usize,
    /// Alarms that it set again.
    pub set_again: usize,
    /// Writes whose notices it sent and filed.
    pub told: usize,
    /// Writes whose notices it could not send.
    pub untold: usize,
    /// What trying again may mend.
    pub failed: Vec<String>,
}

impl Swept {
    /// One line. `overdue` is read out of it by the alarm on timers that nobody runs.
    pub(crate) fn log(&self) {
        let Swept { overdue, ran, broken, set_again, told, untold, failed } = self;
        let failed = failed.join("; ");
        tracing::info!(overdue, ran, broken, set_again, told, untold, failed, "swept");
    }
}

/// Sweeps.
pub(crate) async fn sweep(timer: &Timer) -> Swept {
    let mut swept = Swept::default();
    let until = Instant::now() + Duration::from_secs(SWEEP_SECONDS);
    // Each by itself, so that what fails with one shard, or with one kind of work, leaves the others.
    for shard in 0..keys::SHARDS {
        fire(timer, shard, until, &mut swept).await;
    }
    for shard in 0..keys::SHARDS {
        tell(timer, shard, until, &mut swept).await;
    }
    for shard in 0..keys::SHARDS {
        if Instant::now() >= until {
            break;
        }
        match timer.store.set_again(shard, SOON_SECONDS).await {
            Ok(set) => swept.set_again += set,
            Err(error) => swept.failed.push(format!("alarms could not be set again: {error}")),
        }
    }
    swept
}

/// Runs what is due on the runs of a shard, oldest first.
async fn fire(timer: &Timer, shard: u8, until: Instant, swept: &mut Swept) {
    let mut tried: HashSet<(String, String)> = HashSet::new();
    for look in 0..SHARD_LOOKS {
        let due = match timer.store.due(shard).await {
            Ok(due) => due,
            Err(error) => return swept.failed.push(format!("timers could not be read: {error}")),
        };
        if look == 0 {
            let now = timer.store.now();
            swept.overdue += due.iter().filter(|alarm| alarm.at.plus_seconds(LATE_SECONDS) < now).count();
        }
        // A run has several timers, and is worked on once. One that still is due was tried in vain.
        let runs: BTreeSet<(String, String)> =
            due.into_iter().map(|alarm| (alarm.org, alarm.run)).filter(|run| !tried.contains(run)).collect();
        if runs.is_empty() {
            return;
        }
        tried.extend(runs.iter().cloned());
        let work = runs.into_iter().map(|(org, run)| async move {
            if Instant::now() >= until {
                return None;
            }
            Some(match timer.store.tick(&org, &run).await {
                Ok(()) => true,
                Err(error) => {
                    let again = matches!(error, Error::Retry(_));
                    tracing::error!(org, run, %error, again, "a timer could not run");
                    false
                }
            })
        });
        let work: Vec<_> = work.collect();
        let ran: Vec<Option<bool>> = futures::stream::iter(work).buffer_unordered(RUNS).collect().await;
        swept.ran += ran.iter().filter(|ran| **ran == Some(true)).count();
        swept.broken += ran.iter().filter(|ran| **ran == Some(false)).count();
        if ran.contains(&None) {
            return;
        }
    }
}

/// Tells people what a shard's writes left to be told, oldest first.
async fn tell(timer: &Timer, shard: u8, until: Instant, swept: &mut Swept) {
    let mut refused: HashSet<(String, String, u64)> = HashSet::new();
    let named = |notices: &Notices| (notices.org.clone(), notices.run.clone(), notices.rev);
    for _ in 0..SHARD_LOOKS {
        let mut unsent = match timer.store.unsent(shard).await {
            Ok(unsent) => unsent,
            Err(error) => return swept.failed.push(format!("notices could not be read: {error}")),
        };
        // What the bus has not taken is left for the next sweep.
        unsent.retain(|notices| !refused.contains(&named(notices)));
        if unsent.is_empty() {
            return;
        }
        for some in unsent.chunks(wake::FILED_NOTICES) {
            if Instant::now() >= until {
                return;
            }
            let mut sent = Vec::with_capacity(some.len());
            for (notices, told) in some.iter().zip(timer.bus.tell(some).await) {
                match told {
                    Ok(()) => sent.push(notices.clone()),
                    Err(why) => {
                        if refused.is_empty() {
                            swept.failed.push(format!("notices could not be sent: {why}"));
                        }
                        refused.insert(named(notices));
                        swept.untold += 1;
                    }
                }
            }
            if sent.is_empty() {
                continue;
            }
            match timer.store.sent_all(&sent).await {
                Ok(()) => swept.told += sent.len(),
                Err(error) => {
                    return swept.failed.push(format!("notices could not be filed and are sent again: {error}"));
                }
            }
        }
    }
}
