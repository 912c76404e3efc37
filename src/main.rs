//! The command `procession`: wires the verbs, nothing else.

use std::process::ExitCode;

use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    procession::verbs::run(procession::verbs::Cli::parse()).await
}
