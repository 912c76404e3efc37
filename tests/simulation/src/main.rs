//! `simulate`: replays seeds. A failing seed prints what was broken and what led to it. With `--load` it prints what a
//! thousand functions at once came to.

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
    /// Instead of faults, the load of a thousand functions at once: prints what each plan came to.
    #[arg(long, conflicts_with = "verbose")]
    load: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.load {
        return load(&arguments);
    }
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

fn load(arguments: &Arguments) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (name, plan) in simulation::load::PLANS {
        for seed in arguments.seed..arguments.seed.saturating_add(arguments.runs) {
            let report = simulation::load::load(seed, &plan);
            println!("{name}, {report}");
            if !report.wrong.is_empty() {
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
