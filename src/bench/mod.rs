//! Measures and counts: how many units and agent steps a second the embedded server does over HTTP with real tokens, how
//! long a call takes, how much memory the server needs; what calls ask of storage, and what that costs on AWS; how large
//! the functions are, and how soon they are ready.
//!
//! A unit is one whole run: `start_run`, `claim`, `submit`, `decide`, ended. The server is a process of its own, so that
//! its memory and its processor time are its own; the driver is in this one, on the same machine. Invariants: every
//! answer is checked, so nothing is fast by failing; the load is bounded in time and in units; nothing is left behind;
//! what is measured, counted, computed and assumed is told apart.

mod child;
pub mod cost;
pub mod functions;
mod http;
mod load;
mod steps;
mod storage;
mod table;
mod unit;

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

pub use table::text;

/// Most users at once.
pub const USERS: usize = 1_024;
/// Longest that one level may take, in seconds.
pub const LEVEL_SECONDS: u64 = 600;
/// Most units of one level.
pub const LEVEL_UNITS: u64 = 1_000_000;
/// The part of a level that is run before it and not measured: one in so many.
const WARM_UP_PART: u32 = 5;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How many users at once, one level after the other; each at most [`USERS`].
    pub users: Vec<usize>,
    /// When a level ends.
    pub until: Until,
    /// The folder with the functions to measure, as `cargo lambda build` makes it.
    pub functions: Option<PathBuf>,
}

/// When a level ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// After this time, at most [`LEVEL_SECONDS`].
    Time(Duration),
    /// After so many units, at most [`LEVEL_UNITS`], or after [`LEVEL_SECONDS`].
    Units(u64),
}

impl Until {
    /// What is run before, unmeasured.
    fn warm_up(self) -> Until {
        match self {
            Until::Time(time) => Until::Time(time / WARM_UP_PART),
            Until::Units(units) => Until::Units(units.div_ceil(u64::from(WARM_UP_PART))),
        }
    }
}

/// What was measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Processors of this machine.
    pub processors: usize,
    /// How many tasks wanted to run when it began, averaged over a minute; others disturb a measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// One for each number of users.
    pub levels: Vec<Level>,
    /// What one call of each tool of a unit asks of storage.
    pub storage: Vec<ToolStorage>,
    /// What every call costs on AWS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<cost::Costs>,
    /// The functions, when they were to be measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<functions::Function>,
}

/// One number of users.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Users at once, each with a connection of its own.
    pub users: usize,
    /// Whole runs, start to end.
    pub units: u64,
    /// How long they took.
    pub seconds: f64,
    /// Whole runs a second.
    pub units_per_second: f64,
    /// All calls.
    pub calls: Times,
    /// The calls of each tool.
    pub tools: Vec<ToolTimes>,
    /// Agent steps by as many agents, measured after the units.
    pub steps: Steps,
    /// Processor time of the server for one unit, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_cpu_ms_per_unit: Option<f64>,
    /// Processor time of this driver for one unit, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_cpu_ms_per_unit: Option<f64>,
    /// Most memory that the server held, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_memory_bytes: Option<u64>,
}

/// Agent steps: a claim and a submission each, in runs of ten steps whose start is part of the time.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Steps {
    /// How many.
    pub steps: u64,
    /// How long they took.
    pub seconds: f64,
    /// How many a second, of all agents together.
    pub steps_per_second: f64,
    /// Their claims and submissions.
    pub calls: Times,
}

/// How long calls took, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    /// Half were faster.
    pub p50_ms: f64,
    /// 95 in 100 were faster.
    pub p95_ms: f64,
    /// 99 in 100 were faster.
    pub p99_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

/// How long the calls of one tool took.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolTimes {
    /// The tool.
    pub tool: &'static str,
    /// Its calls.
    #[serde(flatten)]
    pub times: Times,
}

/// What one call of a tool asks of storage, and its size on the wire.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStorage {
    /// The tool; `timer` and `sweeper` are what the server does by itself.
    pub tool: &'static str,
    /// Which call of it, where there are several.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub case: &'static str,
    /// Calls of the table.
    pub calls: u64,
    /// Calls of storage one after the other, the bucket's included; parallel ones are one round.
    pub rounds: u64,
    /// Whether it changes anything.
    pub writes: bool,
    /// Items changed or checked in its transaction.
    pub operations: u64,
    /// Bytes of the items read.
    pub bytes_read: u64,
    /// Bytes of the items written.
    pub bytes_written: u64,
    /// What DynamoDB would charge to read.
    pub read_units: u64,
    /// What DynamoDB would charge to write.
    pub write_units: u64,
    /// Objects stored in the bucket.
    pub object_puts: u64,
    /// Objects read from it.
    pub object_gets: u64,
    /// Bytes of the request's body.
    pub request_bytes: u64,
    /// Bytes of the answer's body.
    pub answer_bytes: u64,
}

/// Measures. `progress` is told what is under way.
///
/// # Errors
///
/// A server that does not start, any call that is not answered as it should be, and a folder that does not hold the
/// functions. A function that does not start is part of the report.
pub async fn run(plan: &Plan, progress: impl Fn(&str)) -> anyhow::Result<Report> {
    let mut report = Report {
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        load_before: child::load(),
        levels: Vec::new(),
        storage: Vec::new(),
        costs: None,
        functions: Vec::new(),
    };
    // What is not there is said before anything is measured.
    let functions = plan.functions.as_deref().map(functions::find).transpose()?;
    for users in &plan.users {
        progress(&format!("measuring {users} {}", if *users == 1 { "user" } else { "users" }));
        report.levels.push(load::level(*users, plan.until).await?);
    }
    progress("counting storage calls");
    report.storage = storage::count().await?;
    report.costs = Some(cost::count().await?);
    for function in functions.iter().flatten() {
        progress(&format!("starting {}", function.name));
        report.functions.push(functions::measure(function, functions::STARTS, functions::LIMIT).await?);
    }
    Ok(report)
}
