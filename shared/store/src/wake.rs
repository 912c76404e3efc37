//! Idle runs: which are due, and running what is due on them; and the notices that writes left to be sent.
//!
//! Due times are stored with the runs, so a server that was down catches up from the table alone.

use run::{Actor, Command, Time};

use crate::changes::{change_ops, notice_op};
use crate::context::Alarm;
use crate::error::Error;
use crate::keys;
use crate::lists::{Notices, TimerEntry, read};
use crate::merge::{self, Page};
use crate::partition::Partition;
use crate::store::Store;
use crate::table::{Item, Op, Range, When};
use crate::tries::Tries;

/// Most timers, or notices, that one look takes from a shard.
const TAKEN_ITEMS: u32 = 100;

/// How far overdue timers of a shard are counted.
pub const COUNTED_TIMERS: u32 = 1_000;

/// Most notices that are filed in one transaction: two operations each, and far from what a transaction may hold in bytes.
pub const FILED_NOTICES: usize = 20;

impl Store {
    /// Runs what is due on a run. Nothing due is no write, so a late or doubled firing is harmless.
    pub async fn tick(&self, org: &str, run_id: &str) -> Result<(), Error> {
        let mut tries = Tries::default();
        while self.again(&mut tries).await {
            match self.tick_once(org, run_id).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    pub(crate) async fn tick_once(&self, org: &str, run_id: &str) -> Result<(), Error> {
        let Some(partition) = Partition::load(self.table.as_ref(), org, run_id).await? else { return Ok(()) };
        let version = self.version_of(org, &partition.run.meta).await?;
        let actor = server();
        let clock = self.clock.now();
        let change =
            run::decide(self.context(&version), &partition.run, &partition.attempts, &actor, &Command::Tick, clock)?;
        if change.is_empty() {
            return Ok(());
        }
        let mut ops = change_ops(org, Some(&partition), &change, run::SERVER, "timer")?;
        let alarms = self.set_alarms(org, Some(&partition.run), &change.run).await?;
        ops.extend(notice_op(org, &change)?);
        self.table.transact(&ops).await?;
        self.alarms.clear(&alarms).await;
        Ok(())
    }

    /// Timers of a shard that are due by now, oldest first, at most 100.
    pub async fn due(&self, shard: u8) -> Result<Vec<Alarm>, Error> {
        Ok(self.due_page(shard, false, None).await?.items)
    }

    /// A page of the timers of a shard that are due by now: at most 100, from the oldest on or from the newest back.
    /// `after` is where the page before ended, so that timers which cannot be run are passed by.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] when they could not be read.
    pub async fn due_page(&self, shard: u8, newest_first: bool, after: Option<&str>) -> Result<Page<Alarm>, Error> {
        self.timers(shard, None, self.clock.now(), newest_first, after).await
    }

    /// How many timers of a shard were due more than so many seconds ago, those that cannot be read included. Counts to
    /// [`COUNTED_TIMERS`] and no further.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] when they could not be counted.
    pub async fn overdue(&self, shard: u8, seconds: u64) -> Result<usize, Error> {
        let late = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000).saturating_add(1);
        let up_to = Time::from_millis(self.clock.now().millis().saturating_sub(late));
        let range = Range {
            partition: keys::timer_partition(shard),
            from: None,
            to: Some(keys::until(up_to)),
            backwards: false,
            limit: Some(COUNTED_TIMERS),
        };
        Ok(self.table.query(&range).await?.len())
    }

    /// A page of the timers of a shard that are due within so many seconds and not yet: at most 100, oldest first. `after`
    /// is where the page before ended.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] when they could not be read.
    pub async fn coming(&self, shard: u8, within_seconds: u64, after: Option<&str>) -> Result<Page<Alarm>, Error> {
        let now = self.clock.now();
        self.timers(shard, Some(now), now.plus_seconds(within_seconds), false, after).await
    }

    /// Sets alarms again, in case one is missing.
    ///
    /// # Errors
    ///
    /// That of [`crate::Alarms::set`] when one of them could not be set; their timers are stored and none is lost by it.
    pub async fn set_again(&self, alarms: &[Alarm]) -> Result<(), Error> {
        if alarms.is_empty() {
            return Ok(());
        }
        self.alarms.set(alarms).await
    }

    /// A page of a shard's timers up to a time, those up to another left out.
    async fn timers(
        &self,
        shard: u8,
        beyond: Option<Time>,
        up_to: Time,
        backwards: bool,
        after: Option<&str>,
    ) -> Result<Page<Alarm>, Error> {
        let range = Range {
            partition: keys::timer_partition(shard),
            from: beyond.map(keys::until),
            to: Some(keys::until(up_to)),
            backwards,
            limit: Some(TAKEN_ITEMS),
        };
        Ok(map(self.page(range, after).await?, alarm))
    }

    /// A page of a list. An entry that cannot be read is passed by and told to the operator: it must not hold up the rest.
    async fn page<T: serde::de::DeserializeOwned>(&self, range: Range, after: Option<&str>) -> Result<Page<T>, Error> {
        let range = match after {
            Some(after) => merge::beyond(range, after),
            None => range,
        };
        let found = self.table.query(&range).await?;
        let full = u32::try_from(found.len()).ok() == range.limit;
        let after = found.last().filter(|_| full).map(|item| item.key.sort.clone());
        let mut items = Vec::with_capacity(found.len());
        for item in found {
            let sort = item.key.sort.clone();
            match read(item) {
                Ok(entry) => items.push(entry),
                Err(error) => {
                    tracing::error!(partition = range.partition, sort, %error, "an entry is passed by");
                }
            }
        }
        Ok(Page { items, after })
    }

    /// The next timer of a shard, due or not.
    pub async fn next_due(&self, shard: u8) -> Result<Option<Time>, Error> {
        let range =
            Range { partition: keys::timer_partition(shard), from: None, to: None, backwards: false, limit: Some(1) };
        let first = self.table.query(&range).await?.into_iter().next();
        Ok(first.map(read::<TimerEntry>).transpose()?.map(|t| t.at))
    }

    /// Notices of a shard that were not sent yet, oldest first, at most 100.
    pub async fn unsent(&self, shard: u8) -> Result<Vec<Notices>, Error> {
        Ok(self.unsent_page(shard, None).await?.items)
    }

    /// A page of the notices of a shard that were not sent yet: at most 100, oldest first. `after` is where the page
    /// before ended, so that notices which nobody takes are passed by.
    ///
    /// # Errors
    ///
    /// [`Error::Retry`] when they could not be read.
    pub async fn unsent_page(&self, shard: u8, after: Option<&str>) -> Result<Page<Notices>, Error> {
        let range = Range {
            partition: keys::outbox_partition(shard),
            from: None,
            to: None,
            backwards: false,
            limit: Some(TAKEN_ITEMS),
        };
        self.page(range, after).await
    }

    /// Files notices as sent. They are sent at least once: a crash between sending and filing sends them again.
    pub async fn sent(&self, notices: &Notices) -> Result<(), Error> {
        self.sent_all(std::slice::from_ref(notices)).await
    }

    /// Files many notices as sent, up to [`FILED_NOTICES`] in one transaction: filed one by one they would cost a busy
    /// server a transaction for each of its writes.
    ///
    /// # Errors
    ///
    /// The first failed transaction; what was filed before it stays filed, the rest is sent again.
    pub async fn sent_all(&self, sent: &[Notices]) -> Result<(), Error> {
        for some in sent.chunks(FILED_NOTICES) {
            let mut ops = Vec::with_capacity(2 * some.len());
            for notices in some {
                let Notices { org, run, at, rev, .. } = notices;
                let key = keys::notices(org, run, *at, *rev);
                let item = Item { key, tag: String::new(), doc: crate::lists::doc(notices)? };
                ops.push(Op::Put { item, when: When::Always });
                ops.push(Op::Delete { key: keys::outbox(org, run, *at, *rev), when: When::Always });
            }
            self.table.transact(&ops).await?;
        }
        Ok(())
    }

    /// Notices of an organization that were sent, newest first.
    pub async fn notices(&self, org: &str, most: u32) -> Result<Vec<Notices>, Error> {
        let range =
            Range { partition: keys::notices_partition(org), from: None, to: None, backwards: true, limit: Some(most) };
        self.table.query(&range).await?.into_iter().map(read).collect()
    }
}

fn map<A, B>(page: Page<A>, make: impl FnMut(A) -> B) -> Page<B> {
    Page { items: page.items.into_iter().map(make).collect(), after: page.after }
}

fn alarm(timer: TimerEntry) -> Alarm {
    Alarm { at: timer.at, org: timer.org, run: timer.run, timer: timer.timer }
}

/// The server itself, when a timer fires.
fn server() -> Actor {
    Actor {
        subject: run::SERVER.to_owned(),
        kind: run::ActorKind::Agent,
        groups: Vec::new(),
        operator: false,
        person: None,
        may_decide: false,
    }
}
