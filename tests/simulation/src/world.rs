//! What all parts of a simulation share: time, chance, the table, the servers, the checker and the trace.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use run::Time;
use store::Evaluator;
use store::memory::MemoryTable;
use store::table::Table;

use crate::check::Checker;
use crate::faults::Weather;
use crate::files::Bucket;
use crate::random::Random;
use crate::server::Server;
use crate::{Summary, Violation};

/// When every simulation begins: 2026-01-05T09:00:00Z.
const BEGIN_MILLIS: i64 = 1_767_603_600_000;

/// Servers over the one table.
const SERVERS: usize = 3;

/// Makes what servers ask out of the evaluator that answers by seed.
pub type Asked = Box<dyn Fn(Arc<dyn Evaluator>) -> Arc<dyn Evaluator> + Send + Sync>;

/// One simulated world.
pub struct World {
    seed: u64,
    verbose: bool,
    began: tokio::time::Instant,
    random: Mutex<Random>,
    weather: Mutex<Weather>,
    trace: Mutex<Vec<String>>,
    broken: Mutex<Option<String>>,
    summary: Mutex<Summary>,
    checker: Mutex<Checker>,
    servers: Mutex<Vec<Arc<Server>>>,
    asked: Asked,
    /// What is really stored.
    pub memory: MemoryTable,
    /// The table as servers reach it, before faults.
    pub table: Arc<dyn Table>,
    /// Evidence bytes.
    pub bucket: Bucket,
}

impl World {
    /// The world of a seed.
    pub fn new(seed: u64, verbose: bool, memory: MemoryTable, table: Arc<dyn Table>, asked: Asked) -> Arc<World> {
        let mut random = Random::new(seed);
        let weather = Weather::of(&mut random);
        let world = Arc::new(World {
            seed,
            verbose,
            began: tokio::time::Instant::now(),
            random: Mutex::new(random),
            weather: Mutex::new(weather),
            trace: Mutex::default(),
            broken: Mutex::default(),
            summary: Mutex::default(),
            checker: Mutex::default(),
            servers: Mutex::default(),
            asked,
            memory,
            table,
            bucket: Bucket::default(),
        });
        let servers = (0..SERVERS).map(|n| Server::new(&world, n)).collect();
        *world.servers.lock().unwrap() = servers;
        world.note(|| format!("weather {weather:?}"));
        world
    }

    /// The true time; servers' clocks differ from it.
    pub fn now(&self) -> Time {
        Time::from_millis(BEGIN_MILLIS + i64::try_from(self.began.elapsed().as_millis()).unwrap())
    }

    /// A number below `below`.
    pub fn below(&self, below: u64) -> u64 {
        self.random.lock().unwrap().below(below)
    }

    /// Whether something of this many in a thousand happens.
    pub fn chance(&self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of these; `None` of none.
    pub fn pick<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        (!of.is_empty()).then(|| &of[usize::try_from(self.below(of.len() as u64)).unwrap()])
    }

    /// Whether this fault happens now.
    pub fn strikes(&self, what: &str, of: impl Fn(&Weather) -> u64) -> bool {
        let per_mille = of(&self.weather.lock().unwrap());
        let strikes = per_mille > 0 && self.chance(per_mille);
        if strikes {
            self.summary.lock().unwrap().faults += 1;
            self.note(|| format!("! {what}"));
        }
        strikes
    }

    /// No fault happens from now on.
    pub fn calm(&self) {
        *self.weather.lock().unwrap() = Weather::default();
        self.note(|| "faults stop".to_owned());
    }

    /// Whether faults still happen.
    pub fn stormy(&self) -> bool {
        self.weather.lock().unwrap().delay > 0
    }

    /// Lets others go first, for a moment or for long.
    pub async fn delay(&self) {
        if !self.stormy() {
            return;
        }
        let delay = self.weather.lock().unwrap().delay;
        if !self.chance(delay) {
            return tokio::task::yield_now().await;
        }
        let most = [3, 20, 200, 4_000][usize::try_from(self.below(20).saturating_sub(16)).unwrap()];
        self.sleep(most).await;
    }

    /// Sleeps a random time of at most so many milliseconds.
    pub async fn sleep(&self, most_millis: u64) {
        tokio::time::sleep(Duration::from_millis(1 + self.below(most_millis))).await;
    }

    /// One of the servers.
    pub fn server(&self) -> Arc<Server> {
        let servers = self.servers.lock().unwrap();
        servers[usize::try_from(self.below(servers.len() as u64)).unwrap()].clone()
    }

    /// The evaluator that servers ask, over the one that answers by seed.
    pub(crate) fn asked_by(&self, oracle: Arc<dyn Evaluator>) -> Arc<dyn Evaluator> {
        (self.asked)(oracle)
    }

    /// Writes a line of the trace.
    pub fn note(&self, line: impl FnOnce() -> String) {
        let line = format!("{} {}", self.now(), line());
        if self.verbose {
            println!("{line}");
        }
        self.trace.lock().unwrap().push(line);
    }

    /// Something that must not be so. The first one counts.
    pub fn violated(&self, what: String) {
        let mut broken = self.broken.lock().unwrap();
        if broken.is_none() {
            self.note(|| format!("VIOLATION {what}"));
            *broken = Some(what);
        }
    }

    /// Whether a promise was broken: then the rest is of no interest.
    pub fn is_broken(&self) -> bool {
        self.broken.lock().unwrap().is_some()
    }

    /// The checker.
    pub fn checker(&self) -> MutexGuard<'_, Checker> {
        self.checker.lock().unwrap()
    }

    /// Counts a client's call.
    pub fn counted(&self) {
        self.summary.lock().unwrap().calls += 1;
    }

    /// Counts two branches that were finished at one moment.
    pub fn joined_at_once(&self) {
        *self.summary.lock().unwrap().seen.entry("branches finished at once").or_default() += 1;
    }

    /// Lets go of the servers. Their stores hold the world as the world holds them, so one that is not closed stays in memory
    /// for as long as the process.
    pub fn close(&self) {
        self.servers.lock().unwrap().clear();
    }

    /// What the simulation came to.
    pub fn verdict(&self) -> Result<Summary, Box<Violation>> {
        match self.broken.lock().unwrap().take() {
            None => {
                let checker = self.checker();
                let mut summary = self.summary.lock().unwrap().clone();
                checker.seen().for_each(|what| *summary.seen.entry(what).or_default() += 1);
                Ok(Summary { transactions: checker.transactions, runs: checker.runs.len(), ..summary })
            }
            Some(what) => {
                let trace = std::mem::take(&mut *self.trace.lock().unwrap());
                Err(Box::new(Violation { seed: self.seed, what, trace }))
            }
        }
    }
}
