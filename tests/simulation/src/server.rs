//! A server: a store with a clock that is off, which may die at any storage call and is back at once, empty-headed.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{Either, select};
use run::Time;
use store::{Alarm, Alarms, Clock, Ids, Parts, Seal, SealKey, Settings, Store};
use tokio::sync::watch;

use crate::World;
use crate::evaluator::Oracle;
use crate::faults::FaultyTable;
use crate::files::FaultyFiles;

/// Furthest that a server's clock is off, in milliseconds.
const SKEW_MILLIS: u64 = 4_000;

/// Tells a server's calls when it dies.
#[derive(Clone)]
pub struct Life {
    /// Which server.
    pub server: usize,
    deaths: Arc<watch::Sender<u64>>,
}

impl Life {
    /// The server dies.
    pub fn end(&self) {
        self.deaths.send_modify(|n| *n += 1);
    }
}

/// One server.
pub struct Server {
    /// Its number.
    pub number: usize,
    world: Weak<World>,
    life: Life,
    store: Mutex<(u64, Option<Arc<Store>>)>,
}

impl Server {
    pub(crate) fn new(world: &Arc<World>, number: usize) -> Arc<Server> {
        let life = Life { server: number, deaths: Arc::new(watch::Sender::new(0)) };
        Arc::new(Server { number, world: Arc::downgrade(world), life, store: Mutex::new((0, None)) })
    }

    /// Runs a call on this server; `None` when the server died of it or meanwhile.
    pub async fn call<T>(&self, call: impl AsyncFnOnce(Arc<Store>) -> T) -> Option<T> {
        let mut deaths = self.life.deaths.subscribe();
        let store = self.store();
        let (call, death) = (std::pin::pin!(call(store)), std::pin::pin!(deaths.changed()));
        match select(call, death).await {
            Either::Left((answer, _)) => Some(answer),
            Either::Right(_) => None,
        }
    }

    fn store(&self) -> Arc<Store> {
        let mut store = self.store.lock().unwrap();
        let deaths = *self.life.deaths.borrow();
        if store.0 != deaths || store.1.is_none() {
            *store = (deaths, Some(self.start()));
        }
        store.1.clone().unwrap()
    }

    fn start(&self) -> Arc<Store> {
        let world = self.world.upgrade().unwrap();
        let skew = i64::try_from(world.below(2 * SKEW_MILLIS)).unwrap() - i64::try_from(SKEW_MILLIS).unwrap();
        let secret = b"the same for all servers of one table".to_vec();
        let clock: Arc<dyn Clock> = Arc::new(Skewed { world: world.clone(), skew });
        let oracle = Oracle { world: world.clone(), life: self.life.clone(), clock: clock.clone() };
        Arc::new(Store::new(Parts {
            table: Arc::new(FaultyTable { world: world.clone(), life: self.life.clone() }),
            files: Arc::new(FaultyFiles { world: world.clone(), bucket: world.bucket.clone() }),
            clock,
            ids: Arc::new(Dice(world.clone())),
            evaluator: Some(world.asked_by(Arc::new(oracle))),
            alarms: Arc::new(Unreliable(world)),
            seal: Seal::new(vec![SealKey { id: "k1".into(), secret }]).unwrap(),
            settings: Settings::default(),
        }))
    }
}

struct Skewed {
    world: Arc<World>,
    skew: i64,
}

impl Clock for Skewed {
    fn now(&self) -> Time {
        // Once faults stop the clocks agree: what is left to do depends on nobody being ahead.
        let skew = if self.world.stormy() { self.skew } else { 0 };
        Time::from_millis(self.world.now().millis() + skew)
    }
}

struct Dice(Arc<World>);

impl Ids for Dice {
    fn fresh(&self) -> String {
        format!("{:010x}", self.0.below(1 << 40))
    }

    fn random(&self, below: u64) -> u64 {
        self.0.below(below)
    }
}

/// Alarms that fire early, late, twice or never, whatever was cleared.
struct Unreliable(Arc<World>);

#[async_trait]
impl Alarms for Unreliable {
    async fn set(&self, alarms: &[Alarm]) -> Result<(), store::Error> {
        self.0.delay().await;
        if self.0.strikes("alarms cannot be set", |f| f.alarms) {
            return Err(store::Error::Retry("simulated: no alarms".to_owned()));
        }
        for alarm in alarms {
            for _ in 0..[0, 1, 1, 2][usize::try_from(self.0.below(4)).unwrap()] {
                let (world, alarm) = (self.0.clone(), alarm.clone());
                tokio::task::spawn_local(async move {
                    let wait = alarm.at.millis() - world.now().millis();
                    tokio::time::sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0))).await;
                    world.sleep(20_000).await;
                    if !world.stormy() || world.is_broken() {
                        return;
                    }
                    let server = world.server();
                    world.note(|| format!("alarm of {} {} on server {}", alarm.run, alarm.timer, server.number));
                    let done = server.call(async |s| s.tick(&alarm.org, &alarm.run).await).await;
                    if let Some(Err(store::Error::Invariant(why))) = done {
                        world.violated(format!("a timer met a state that cannot be: {why}"));
                    }
                });
            }
        }
        Ok(())
    }

    async fn clear(&self, _: &[Alarm]) {
        self.0.delay().await;
    }
}
