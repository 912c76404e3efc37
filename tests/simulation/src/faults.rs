//! The table as one server reaches it: every call may fail, be late, conflict, or be the server's last.

use std::sync::Arc;

use async_trait::async_trait;
use store::table::{Item, Key, Op, Range, Table, TableError};

use crate::World;
use crate::random::Random;
use crate::server::Life;

/// How often each fault happens, in a thousand calls. All zero is calm.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weather {
    /// The call takes a while.
    pub delay: u64,
    /// The call fails and nothing happened.
    pub before: u64,
    /// A transaction is written and its answer lost.
    pub after: u64,
    /// A transaction is reported as failed and written later.
    pub late: u64,
    /// A transaction meets another one.
    pub conflict: u64,
    /// The server dies, with all it was doing.
    pub crash: u64,
    /// The evidence store fails.
    pub files: u64,
    /// Alarms cannot be set.
    pub alarms: u64,
}

impl Weather {
    /// The weather of a seed: some seeds are calm in one respect and bad in another.
    pub fn of(random: &mut Random) -> Weather {
        let mut some = |of: &[u64]| of[usize::try_from(random.below(of.len() as u64)).unwrap()];
        Weather {
            delay: some(&[50, 300, 700]),
            before: some(&[0, 10, 60]),
            after: some(&[0, 20, 120]),
            late: some(&[0, 10, 60]),
            conflict: some(&[0, 20, 100]),
            crash: some(&[0, 5, 30]),
            files: some(&[0, 20, 100]),
            alarms: some(&[0, 20]),
        }
    }
}

/// Longest time that a transaction reported as failed may still take, in milliseconds.
pub const LATE_MILLIS: u64 = 8_000;

/// Most items that one piece of a query returns while others may write in between: a query is not a snapshot.
const TORN_ITEMS: u32 = 3;

/// The table as one server reaches it.
pub struct FaultyTable {
    pub(crate) world: Arc<World>,
    pub(crate) life: Life,
}

fn lost(what: &str) -> TableError {
    TableError::Unavailable(format!("simulated: {what}"))
}

impl FaultyTable {
    async fn begin(&self, what: &str) -> Result<(), TableError> {
        self.world.delay().await;
        self.may_crash(what).await;
        if self.world.strikes(&format!("server {} {what} fails", self.life.server), |f| f.before) {
            return Err(lost("failed before"));
        }
        Ok(())
    }

    async fn may_crash(&self, what: &str) {
        if self.world.strikes(&format!("server {} crashes at {what}", self.life.server), |f| f.crash) {
            self.life.end();
            // Whoever runs the call drops it: nothing of this server goes on.
            std::future::pending::<()>().await;
        }
    }
}

/// Writes a transaction and lets the checker look at what is stored then.
pub(crate) async fn commit(world: &Arc<World>, ops: &[Op]) -> Result<(), TableError> {
    let answer = world.table.transact(ops).await;
    if answer.is_ok() {
        let mut stored = Vec::new();
        for op in ops {
            let key = match op {
                Op::Put { item, .. } => item.key.clone(),
                Op::Delete { key, .. } => key.clone(),
                Op::Check { .. } => continue,
            };
            let found = world.memory.get(std::slice::from_ref(&key)).await.unwrap().into_iter().next().flatten();
            stored.push((key, found));
        }
        let found = world.checker().written(&stored);
        world.note(|| format!("  written: {}", spelled(ops)));
        if !found.is_empty() {
            world.violated(found.join("\n  and: "));
        }
    }
    answer
}

fn spelled(ops: &[Op]) -> String {
    let one = |op: &Op| match op {
        Op::Put { item, .. } => format!("+{} {}", item.key.partition, item.key.sort),
        Op::Delete { key, .. } => format!("-{} {}", key.partition, key.sort),
        Op::Check { key, .. } => format!("?{} {}", key.partition, key.sort),
    };
    ops.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl Table for FaultyTable {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        self.begin("get").await?;
        let mut found = Vec::new();
        for key in keys {
            found.extend(self.world.table.get(std::slice::from_ref(key)).await?);
            if keys.len() > 1 && self.world.stormy() {
                self.world.delay().await;
            }
        }
        self.may_crash("get's answer").await;
        Ok(found)
    }

    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        self.begin("query").await?;
        if range.limit.is_some() || range.backwards || !self.world.stormy() {
            return self.world.table.query(range).await;
        }
        let mut all: Vec<Item> = Vec::new();
        let mut from = range.from.clone();
        loop {
            let piece = Range { from: from.clone(), limit: Some(TORN_ITEMS), ..range.clone() };
            let items = self.world.table.query(&piece).await?;
            let done = items.len() < TORN_ITEMS as usize;
            all.extend(items);
            if done {
                return Ok(all);
            }
            from = all.last().map(|item| format!("{}\u{1}", item.key.sort));
            self.world.delay().await;
        }
    }

    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        self.begin("transact").await?;
        let server = self.life.server;
        if self.world.strikes(&format!("server {server} transact conflicts"), |f| f.conflict) {
            return Err(TableError::Refused { failed: Vec::new() });
        }
        if self.world.strikes(&format!("server {server} transact is late"), |f| f.late) {
            let (world, ops) = (self.world.clone(), ops.to_vec());
            tokio::spawn(async move {
                world.sleep(LATE_MILLIS).await;
                let answer = commit(&world, &ops).await;
                world.note(|| format!("! a late transaction: {answer:?}"));
            });
            return Err(lost("not known to be written"));
        }
        commit(&self.world, ops).await?;
        self.may_crash("transact's answer").await;
        if self.world.strikes(&format!("server {server} transact's answer is lost"), |f| f.after) {
            return Err(lost("answer lost"));
        }
        Ok(())
    }
}
