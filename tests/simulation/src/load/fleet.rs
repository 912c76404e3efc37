//! The functions: each a store of its own with its own caches and chance, over the one table. A call takes one that is
//! idle; a function serves one call at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use run::{Refusal, Time};
use store::files::{Files, FilesError, Shown};
use store::table::Table;
use store::{Clock, Error, Ids, NoAlarms, Parts, Seal, SealKey, Settings, Store};

use super::chance::Chance;
use super::report::Calls;

/// When every load begins: 2026-01-05T09:00:00Z.
const BEGIN_MILLIS: i64 = 1_767_603_600_000;

/// Most times that a client makes a call that is answered `retry`. Nothing here may need as many.
pub const CLIENT_REPEATS: u32 = 12;

/// Longest that a client waits before it repeats its call for the first time, in milliseconds; twice as long each further
/// time.
const CLIENT_PAUSE_MILLIS: u64 = 500;

/// How functions roll dice over the shared chance: as it falls, or as a test wants it.
pub type Roll = fn(&Chance, u64) -> u64;

/// One function.
struct Function {
    store: Store,
    /// Pauses since it began its call: one before each further try of a write.
    pauses: Arc<AtomicU32>,
}

/// All functions.
pub struct Fleet {
    /// One that is never idle, for who needs no fleet.
    only: Function,
    idle: Mutex<Vec<Function>>,
    chance: Chance,
    calls: Mutex<BTreeMap<&'static str, Calls>>,
    wrong: Mutex<Vec<String>>,
}

impl Fleet {
    /// So many functions over a table.
    pub fn new(functions: usize, table: &Arc<dyn Table>, chance: &Chance, roll: Roll) -> Fleet {
        let clock: Arc<dyn Clock> = Arc::new(Virtual(tokio::time::Instant::now()));
        let idle = (0..functions).map(|_| function(table, &clock, chance, roll)).collect();
        let only = function(table, &clock, chance, roll);
        Fleet { only, idle: Mutex::new(idle), chance: chance.clone(), calls: Mutex::default(), wrong: Mutex::default() }
    }

    /// A function that serves nobody else.
    pub fn only(&self) -> &Store {
        &self.only.store
    }

    /// The chance that clients share with all else.
    pub fn chance(&self) -> &Chance {
        &self.chance
    }

    /// Sleeps at most so many milliseconds.
    pub async fn sleep(&self, most_millis: u64) {
        tokio::time::sleep(Duration::from_millis(self.chance.below(most_millis + 1))).await;
    }

    /// What was called so far, and what went wrong.
    pub fn seen(&self) -> (BTreeMap<&'static str, Calls>, Vec<String>) {
        (self.calls.lock().unwrap().clone(), self.wrong.lock().unwrap().clone())
    }

    /// Makes a call on one function, until it is answered otherwise than by `retry`. `None` when it never was, or by an
    /// error that must not be.
    pub async fn call<T>(
        &self,
        tool: &'static str,
        call: impl AsyncFn(&Store) -> Result<T, Error>,
    ) -> Option<Result<T, Refusal>> {
        for repeat in 1..=CLIENT_REPEATS {
            let answer = self.once(tool, &call).await;
            self.of(tool, |calls| calls.most_repeats = calls.most_repeats.max(repeat));
            match answer {
                Ok(done) => return Some(Ok(done)),
                Err(Error::Refused(refusal)) => return Some(Err(refusal)),
                Err(Error::Retry(_)) => {}
                Err(Error::Invariant(why)) => {
                    self.wrong.lock().unwrap().push(format!("{tool} met a state that cannot be: {why}"));
                    return None;
                }
            }
            self.sleep(CLIENT_PAUSE_MILLIS << repeat.min(6)).await;
        }
        self.wrong.lock().unwrap().push(format!("{tool} was answered `retry` {CLIENT_REPEATS} times"));
        None
    }

    async fn once<T>(&self, tool: &'static str, call: &impl AsyncFn(&Store) -> Result<T, Error>) -> Result<T, Error> {
        let function = {
            let mut idle = self.idle.lock().unwrap();
            let place = self.chance.place(idle.len());
            idle.swap_remove(place)
        };
        function.pauses.store(0, Ordering::Relaxed);
        let began = tokio::time::Instant::now();
        let answer = call(&function.store).await;
        let tries = 1 + function.pauses.load(Ordering::Relaxed);
        self.idle.lock().unwrap().push(function);
        self.of(tool, |calls| {
            calls.answers += 1;
            match &answer {
                Ok(_) => calls.done += 1,
                Err(Error::Refused(_)) => calls.lost += 1,
                Err(_) => calls.retries += 1,
            }
            if !matches!(answer, Err(Error::Refused(_))) {
                calls.tries += u64::from(tries);
            }
            calls.most_tries = calls.most_tries.max(tries);
            let took = u64::try_from(began.elapsed().as_millis()).unwrap();
            calls.longest_millis = calls.longest_millis.max(took);
        });
        answer
    }

    fn of(&self, tool: &'static str, change: impl FnOnce(&mut Calls)) {
        change(self.calls.lock().unwrap().entry(tool).or_default());
    }
}

fn function(table: &Arc<dyn Table>, clock: &Arc<dyn Clock>, chance: &Chance, roll: Roll) -> Function {
    let pauses = Arc::new(AtomicU32::new(0));
    let secret = b"the same for all functions of a table".to_vec();
    let store = Store::new(Parts {
        table: table.clone(),
        files: Arc::new(NoFiles),
        clock: clock.clone(),
        ids: Arc::new(Dice { chance: chance.clone(), pauses: pauses.clone(), roll }),
        alarms: Arc::new(NoAlarms),
        evaluator: None,
        seal: Seal::new(vec![SealKey { id: "k1".into(), secret }]).unwrap(),
        settings: Settings::default(),
    });
    Function { store, pauses }
}

struct Virtual(tokio::time::Instant);

impl Clock for Virtual {
    fn now(&self) -> Time {
        Time::from_millis(BEGIN_MILLIS + i64::try_from(self.0.elapsed().as_millis()).unwrap())
    }
}

/// A function's ids and dice. The store rolls dice for its pauses and for nothing else, so rolls are pauses.
struct Dice {
    chance: Chance,
    pauses: Arc<AtomicU32>,
    roll: Roll,
}

impl Ids for Dice {
    fn fresh(&self) -> String {
        format!("{:010x}", self.chance.below(1 << 40))
    }

    fn random(&self, below: u64) -> u64 {
        self.pauses.fetch_add(1, Ordering::Relaxed);
        (self.roll)(&self.chance, below)
    }
}

/// No process of a load takes evidence.
struct NoFiles;

#[async_trait]
impl Files for NoFiles {
    async fn put(&self, _: &str, _: Vec<u8>, _: &str) -> Result<(), FilesError> {
        Err(FilesError::Unavailable("no files here".into()))
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, FilesError> {
        Err(FilesError::Unavailable("no files here".into()))
    }
    async fn link(&self, _: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
        Err(FilesError::Unavailable("no files here".into()))
    }
}
