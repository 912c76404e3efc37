//! The sweep, once a minute: runs what is due and no schedule ran, sets alarms again that may be missing, and tells people
//! what was not told yet.
//!
//! Invariants: it ends within [`SWEEP_SECONDS`] and a little, whatever there is to do, and the next sweep goes on from
//! there; runs that fail keep no other from its turn, however many they are and however long each takes to fail, and
//! neither do notices that the bus does not take, nor alarms that cannot be set; notices are filed as sent only after the
//! bus has taken them, so they are sent at least once.

use std::collections::HashSet;
use std::time::Duration;

use futures::StreamExt as _;
use store::lists::Notices;
use store::{Error, keys, wake};
use tokio::time::Instant;

use crate::Timer;

/// How long a sweep goes on taking up work, in seconds; a call that is under way then has [`CALL_SECONDS`] to end.
pub const SWEEP_SECONDS: u64 = 35;

/// How long it goes on running timers, in seconds, so that there is time left to tell people what came of it.
const FIRE_SECONDS: u64 = 22;

/// Longest that one run, one page, or one handful of notices or alarms may take, in seconds. Twice this after
/// [`SWEEP_SECONDS`] still fits the function's minute.
pub const CALL_SECONDS: u64 = 10;

/// How much later than due a timer counts as overdue in the log, in seconds: Scheduler takes up to a minute to call, and
/// the sweep comes once a minute.
pub const LATE_SECONDS: u64 = 120;

/// How far ahead alarms are set again, in seconds: until well after the next sweep.
pub const SOON_SECONDS: u64 = 150;

/// How long the sweeps go the same way through the timers, in milliseconds: as long as the next one takes to come.
const TURN_MILLIS: i64 = 60_000;

/// Most runs of a shard that are worked on at once.
const SHARD_RUNS: usize = 4;

/// Most runs of a shard whose failure gets a line of the log; the others are counted.
const LOGGED_RUNS: usize = 10;

/// What a sweep came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Timers that were overdue when it began, up to [`wake::COUNTED_TIMERS`] of each shard.
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

    fn and(self, other: Swept) -> Swept {
        let failed = [self.failed, other.failed].concat();
        Swept {
            overdue: self.overdue + other.overdue,
            ran: self.ran + other.ran,
            broken: self.broken + other.broken,
            set_again: self.set_again + other.set_again,
            told: self.told + other.told,
            untold: self.untold + other.untold,
            failed,
        }
    }

    /// Notes a failure, and each kind of it once.
    fn fail(&mut self, why: String) {
        if !self.failed.contains(&why) {
            self.failed.push(why);
        }
    }
}

/// Sweeps. All shards at once and each by itself, so that what fails or takes long in one leaves the others their time.
pub(crate) async fn sweep(timer: &Timer) -> Swept {
    let begin = Instant::now();
    let shards = (0..keys::SHARDS).map(|shard| async move {
        let (ran, set) = tokio::join!(
            async {
                let mut swept = Swept::default();
                fire(timer, shard, begin + Duration::from_secs(FIRE_SECONDS), &mut swept).await;
                // What people are told is also what has just been run.
                tell(timer, shard, begin + Duration::from_secs(SWEEP_SECONDS), &mut swept).await;
                swept
            },
            set_again(timer, shard, begin + Duration::from_secs(SWEEP_SECONDS)),
        );
        ran.and(set)
    });
    futures::future::join_all(shards).await.into_iter().fold(Swept::default(), Swept::and)
}

/// What one piece of work came to, if it came to anything in time. One that did not is as one whose answer was lost.
async fn bounded<T>(work: impl Future<Output = T>) -> Result<T, &'static str> {
    tokio::time::timeout(Duration::from_secs(CALL_SECONDS), work).await.map_err(|_| "it took too long")
}

async fn asked<T>(what: &str, work: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match bounded(work).await {
        Ok(done) => done.map_err(|error| format!("{what}: {error}")),
        Err(why) => Err(format!("{what}: {why}")),
    }
}

/// Runs what is due on the runs of a shard. From the oldest timer on in one minute and from the newest back in the next:
/// where there is no time for all of them, those that fail cannot stand before the same others every time.
async fn fire(timer: &Timer, shard: u8, until: Instant, swept: &mut Swept) {
    match asked("timers could not be counted", timer.store.overdue(shard, LATE_SECONDS)).await {
        Ok(overdue) => swept.overdue += overdue,
        Err(why) => swept.fail(why),
    }
    let newest_first = timer.store.now().millis().div_euclid(TURN_MILLIS) % 2 != 0;
    let (mut tried, mut after) = (HashSet::new(), None);
    while Instant::now() < until {
        let page = timer.store.due_page(shard, newest_first, after.as_deref());
        let page = match asked("timers could not be read", page).await {
            Ok(page) => page,
            Err(why) => return swept.fail(why),
        };
        // A run has several timers, and is worked on once.
        let runs: Vec<(String, String)> =
            page.items.into_iter().map(|a| (a.org, a.run)).filter(|run| tried.insert(run.clone())).collect();
        let mut work = futures::stream::iter(runs.into_iter().map(|run| one(timer, run, until)).collect::<Vec<_>>())
            .buffer_unordered(SHARD_RUNS);
        while let Some(done) = work.next().await {
            match done {
                None => {}
                Some(Ok(())) => swept.ran += 1,
                Some(Err(Broken { org, run, why, again })) => {
                    swept.broken += 1;
                    if swept.broken <= LOGGED_RUNS {
                        tracing::error!(org, run, why, again, "a timer could not run");
                    }
                }
            }
        }
        after = page.after;
        if after.is_none() {
            return;
        }
    }
}

/// A run on which nothing could be run.
struct Broken {
    org: String,
    run: String,
    why: String,
    again: bool,
}

/// Runs what is due on one run, unless there is no time left.
async fn one(timer: &Timer, (org, run): (String, String), until: Instant) -> Option<Result<(), Broken>> {
    if Instant::now() >= until {
        return None;
    }
    let (why, again) = match bounded(timer.store.tick(&org, &run)).await {
        Ok(Ok(())) => return Some(Ok(())),
        Ok(Err(error)) => (error.to_string(), matches!(error, Error::Retry(_))),
        Err(why) => (why.to_owned(), true),
    };
    Some(Err(Broken { org, run, why, again }))
}

/// Tells people what a shard's writes left to be told, oldest first. What the bus does not take is left for the next sweep.
async fn tell(timer: &Timer, shard: u8, until: Instant, swept: &mut Swept) {
    let mut after = None;
    loop {
        let page = timer.store.unsent_page(shard, after.as_deref());
        let page = match asked("notices could not be read", page).await {
            Ok(page) => page,
            Err(why) => return swept.fail(why),
        };
        for some in page.items.chunks(wake::FILED_NOTICES) {
            if Instant::now() >= until {
                return;
            }
            if let Err(why) = tell_some(timer, some, swept).await {
                return swept.fail(why);
            }
        }
        after = page.after;
        if after.is_none() {
            return;
        }
    }
}

/// Tells a few, and files those that the bus has taken.
async fn tell_some(timer: &Timer, some: &[Notices], swept: &mut Swept) -> Result<(), String> {
    let told = match bounded(timer.bus.tell(some)).await {
        Ok(told) => told,
        Err(why) => vec![Err(why.to_owned()); some.len()],
    };
    let mut sent = Vec::with_capacity(some.len());
    for (notices, told) in some.iter().zip(told) {
        match told {
            Ok(()) => sent.push(notices.clone()),
            Err(why) => {
                swept.untold += 1;
                swept.fail(format!("notices could not be sent: {why}"));
            }
        }
    }
    if sent.is_empty() {
        return Ok(());
    }
    asked("notices could not be filed and are sent again", timer.store.sent_all(&sent)).await?;
    swept.told += sent.len();
    Ok(())
}

/// Sets the alarms of a shard again that are needed soon.
async fn set_again(timer: &Timer, shard: u8, until: Instant) -> Swept {
    let (mut swept, mut after) = (Swept::default(), None);
    while Instant::now() < until {
        let page = timer.store.coming(shard, SOON_SECONDS, after.as_deref());
        let page = match asked("timers could not be read", page).await {
            Ok(page) => page,
            Err(why) => {
                swept.fail(why);
                break;
            }
        };
        match asked("alarms could not be set again", timer.store.set_again(&page.items)).await {
            Ok(()) => swept.set_again += page.items.len(),
            Err(why) => swept.fail(why),
        }
        after = page.after;
        if after.is_none() {
            break;
        }
    }
    swept
}
