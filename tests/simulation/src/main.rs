//! `simulate`: replays seeds. A failing seed prints what was broken and what led to it.

use std::process::ExitCode;

use clap::Parser;

/// Seeded faults against the store.
#[derive(Debug, Parser)]
struct Arguments {
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds, one after the other.
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Print every line of the history; so does a single seed.
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let verbose = arguments.verbose || arguments.runs == 1;
    let mut all = simulation::Summary::default();
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.runs) {
        match simulation::simulate(seed, verbose) {
            Ok(one) => all.add(one),
            Err(violation) => {
                println!("{violation}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{} seeds: {all:?}", arguments.runs);
    ExitCode::SUCCESS
}
