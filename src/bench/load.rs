//! One level: a fresh server, so many users, for so long.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::task::JoinSet;

use super::child::{self, Server};
use super::steps::Walk;
use super::unit::{self, TOOLS, Unit, User};
use super::{LEVEL_SECONDS, Level, Steps, Times, ToolTimes, Until};

/// How long each call of each tool took, by its place among [`TOOLS`].
type Taken = [Vec<Duration>; TOOLS.len()];

/// What users do over and over.
#[derive(Clone, Copy)]
enum Load {
    /// Whole runs.
    Units,
    /// Agent steps, whose claims and submissions alone are noted.
    Steps,
}

/// Measures one number of users on a server of its own.
pub(super) async fn level(users: usize, until: Until) -> anyhow::Result<Level> {
    let dir = tempfile::Builder::new().prefix("procession-bench-").tempdir().context("no temporary folder")?;
    let server = Server::start(dir.path()).await?;
    let issuer = unit::issuer(&dir.path().join("data"))?;
    unit::publish(&server.mcp, &issuer).await?;
    let mut connected = Vec::with_capacity(users);
    for number in 0..users {
        connected.push(User::connect(&server.mcp, &issuer, number).await?);
    }
    let (connected, _) = drive(connected, Load::Units, until.warm_up()).await?;
    let (cpu, own) = (server.cpu_ms(), child::cpu_ms("self"));
    let started = Instant::now();
    let (connected, taken) = drive(connected, Load::Units, until).await?;
    let seconds = started.elapsed().as_secs_f64();
    let units = taken.last().map_or(0, Vec::len) as u64;
    let per_unit = |before: Option<f64>, after: Option<f64>| Some((after? - before?) / units as f64);
    let (cpu_after, own_after) = (server.cpu_ms(), child::cpu_ms("self"));
    let steps = steps(connected, until).await?;
    let level = Level {
        users,
        units,
        seconds,
        units_per_second: units as f64 / seconds,
        calls: times(taken.iter().flatten().copied().collect()),
        server_cpu_ms_per_unit: per_unit(cpu, cpu_after),
        driver_cpu_ms_per_unit: per_unit(own, own_after),
        server_memory_bytes: server.peak_memory_bytes(),
        steps,
        tools: TOOLS.iter().zip(taken).map(|(tool, taken)| ToolTimes { tool, times: times(taken) }).collect(),
    };
    server.stop().await?;
    dir.close().context("the temporary folder cannot be removed")?;
    Ok(level)
}

/// Measures agent steps: each user is an agent with runs of its own.
async fn steps(agents: Vec<User>, until: Until) -> anyhow::Result<Steps> {
    let (agents, _) = drive(agents, Load::Steps, until.warm_up()).await?;
    let started = Instant::now();
    let (_, taken) = drive(agents, Load::Steps, until).await?;
    let seconds = started.elapsed().as_secs_f64();
    let steps = taken.get(2).map_or(0, Vec::len) as u64;
    let calls = times(taken.into_iter().flatten().collect());
    Ok(Steps { steps, seconds, steps_per_second: steps as f64 / seconds, calls })
}

/// Lets every user work until it is enough, and gives back the users and how long the calls took. The first error ends it.
async fn drive(users: Vec<User>, load: Load, until: Until) -> anyhow::Result<(Vec<User>, Taken)> {
    let (time, units) = match until {
        Until::Time(time) => (time, u64::MAX),
        Until::Units(units) => (Duration::from_secs(LEVEL_SECONDS), units),
    };
    let (end, begun) = (Instant::now() + time, Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for mut user in users {
        let begun = Arc::clone(&begun);
        tasks.spawn(async move {
            let (mut taken, mut walk) = (Taken::default(), Walk::default());
            while Instant::now() < end && begun.fetch_add(1, Ordering::Relaxed) < units {
                match load {
                    Load::Units => {
                        let mut unit = Unit::default();
                        for (place, taken) in taken.iter_mut().enumerate() {
                            taken.push(user.call(place, &mut unit).await?.took);
                        }
                    }
                    Load::Steps => {
                        let step = user.step(&mut walk).await?;
                        taken.iter_mut().skip(1).zip(step).for_each(|(taken, took)| taken.push(took));
                    }
                }
            }
            anyhow::Ok((user, taken))
        });
    }
    let (mut users, mut all) = (Vec::new(), Taken::default());
    while let Some(done) = tasks.join_next().await {
        let (user, taken) = done??;
        users.push(user);
        all.iter_mut().zip(taken).for_each(|(all, taken)| all.extend(taken));
    }
    Ok((users, all))
}

fn times(mut taken: Vec<Duration>) -> Times {
    taken.sort_unstable();
    // The nearest rank: the least time that so many of a thousand calls did not exceed.
    let at = |thousandths: usize| {
        let rank = (taken.len() * thousandths).div_ceil(1_000).max(1);
        taken.get(rank - 1).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    Times { p50_ms: at(500), p95_ms: at(950), p99_ms: at(990), max_ms: at(1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let millis = |n| Duration::from_millis(n);
        let hundred = times((1..=100).rev().map(millis).collect());
        assert_eq!((hundred.p50_ms, hundred.p95_ms, hundred.p99_ms, hundred.max_ms), (50.0, 95.0, 99.0, 100.0));
        let one = times(vec![millis(7)]);
        assert_eq!((one.p50_ms, one.p99_ms, one.max_ms), (7.0, 7.0, 7.0));
        assert_eq!(times(Vec::new()).max_ms, 0.0);
    }
}
