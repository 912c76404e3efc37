//! `procession demo`: one run from start to end, to be watched.

use std::process::ExitCode;

use clap::Args;

use crate::demo;

/// Plays one run on a server of its own: people and agents over MCP, and what every call changes.
///
/// Starts a server on a free port of this machine in a temporary folder, publishes the example supplier-onboarding, and
/// plays it with real tokens: start, work, a refused submission, evidence, a rejection, a second round, approval. Ends
/// with the run's record. Everything is removed afterwards.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession demo
  procession demo --keep          leaves the data folder and says how to serve it
  NO_COLOR=1 procession demo      plain text on a terminal

Exit codes: 0 everything went as it should; 1 something did not, and what; 2 a wrong command line.")]
pub struct Demo {
    /// Leaves the data folder.
    #[arg(long)]
    keep: bool,
}

impl Demo {
    /// Plays it.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        super::interruptible(demo::play(self.keep)).await?;
        Ok(ExitCode::SUCCESS)
    }
}
