//! `procession hash`: the content hash that a publication would have.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::read_document;

/// Prints the content hash of a PROCESS.md: SHA-256 over its canonical frontmatter and its body.
///
/// It is what publish_process reports and what a run keeps for life; two files with one hash are the same process.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  procession hash examples/supplier-onboarding

Exit codes: 0 printed; 1 the file cannot be run, and why; 2 a wrong command line.")]
pub struct Hash {
    /// A PROCESS.md, or the folder that holds it.
    path: PathBuf,
}

impl Hash {
    /// Prints the hash.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        terminal::say!("{}", process::content_hash(&read_document(&self.path)?));
        Ok(ExitCode::SUCCESS)
    }
}
