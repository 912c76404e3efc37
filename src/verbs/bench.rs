//! `procession bench`: how fast the embedded server is on this machine, and what calls cost on AWS.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::bench::functions::Function;
use crate::bench::{self, LEVEL_SECONDS, LEVEL_UNITS, Plan, USERS, Until};

/// Measures the embedded server on this machine: units and agent steps a second, times of calls, memory. Counts what
/// calls ask of storage, and computes what that costs on AWS.
///
/// A unit is one run from start to end: start_run, claim, submit, decide. An agent step is a claim and a submit. Each
/// level starts a fresh server in a process of its own and drives it over HTTP with real tokens; everything is in
/// temporary folders that are removed. Build with --release, and leave the machine alone meanwhile.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession bench                              1, 16 and 64 users, 3 seconds of units and 3 of steps each
  procession bench --users 1 --units 1000       one user, a thousand runs
  procession bench --seconds 30 --json          for another program to read
  procession bench --functions target/lambda    the functions too, as `cargo lambda build` left them there

Exit codes: 0 measured; 1 a call was not answered as it should be, or a function does not start; 2 a wrong command line.")]
pub struct Bench {
    /// How many users at once, one level after the other.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64", value_parser = users)]
    users: Vec<usize>,
    /// How long each level is measured, in seconds: once with units, once with steps; a fifth more to warm up.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=LEVEL_SECONDS))]
    seconds: u64,
    /// Measures so many units and as many steps a level, instead of a time.
    #[arg(long, conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..=LEVEL_UNITS))]
    units: Option<u64>,
    /// Measures both functions too: the folder that holds mcp-function and timer-function, each with its bootstrap.zip, or
    /// with its bootstrap for this machine's processor.
    #[arg(long, value_name = "DIR")]
    functions: Option<PathBuf>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
}

impl Bench {
    /// Measures and prints.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let until = self.units.map_or(Until::Time(Duration::from_secs(self.seconds)), Until::Units);
        let plan = Plan { users: self.users, until, functions: self.functions };
        let measuring = bench::run(&plan, |what| eprintln!("{what} …"));
        let report = super::interruptible(measuring).await?;
        if self.json {
            terminal::say!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            terminal::say!("{}", bench::text(&report).trim_end());
        }
        let failed: Vec<String> = report.functions.iter().filter_map(Function::failure).collect();
        anyhow::ensure!(failed.is_empty(), "{}", failed.join("\n"));
        Ok(ExitCode::SUCCESS)
    }
}

fn users(text: &str) -> Result<usize, String> {
    let number: Option<usize> = text.trim().parse().ok();
    number
        .filter(|n| (1..=USERS).contains(n))
        .ok_or_else(|| format!("give numbers from 1 to {USERS} with commas between them, such as 1,16,64"))
}
