//! Seeded faults against the store, and an independent checker of everything it promises.
//!
//! One seed is one history: agents, people, event senders, operators and timers act on runs of several processes
//! through several servers over one table. By seed every storage call may fail before or after it happened, be late,
//! conflict, or take its server down; clocks differ; calls are doubled and repeated much later; an evaluator answers checks
//! as it likes. [`check`] looks at what is really stored after each transaction and at every answer. Then faults stop, and every run must reach its end.
//!
//! Invariants: one thread, tokio's paused clock and one random source, so a seed gives the same history on every
//! machine; the checker judges by what is stored, never by what the store says it stored.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a simulation that cannot go on must stop; it serves nobody"
)]

pub mod actors;
pub mod background;
pub mod calls;
pub mod check;
pub mod collisions;
pub mod ending;
pub mod evaluator;
pub mod faults;
pub mod files;
pub mod graphs;
pub mod load;
pub mod processes;
pub mod random;
pub mod server;
pub mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use store::memory::MemoryTable;
use store::table::Table;

pub use world::World;

/// What one seed came to.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Transactions that were written.
    pub transactions: u64,
    /// Calls that clients made, repetitions included.
    pub calls: u64,
    /// Faults that were dealt out.
    pub faults: u64,
    /// Runs that were started.
    pub runs: usize,
    /// How often what happened that journals tell: every kind of event, and what befell regions.
    pub seen: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// Adds what another seed came to.
    pub fn add(&mut self, other: Summary) {
        self.transactions += other.transactions;
        self.calls += other.calls;
        self.faults += other.faults;
        self.runs += other.runs;
        for (what, times) in other.seen {
            *self.seen.entry(what).or_default() += times;
        }
    }
}

/// A broken promise, and how it came about.
#[derive(Debug)]
pub struct Violation {
    /// The seed: with the same code it breaks again.
    pub seed: u64,
    /// What was promised and is not so.
    pub what: String,
    /// Everything that happened, oldest first.
    pub trace: Vec<String>,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN_LINES: usize = 60;
        let skipped = self.trace.len().saturating_sub(SHOWN_LINES);
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        writeln!(f, "  ({skipped} earlier lines: simulate --seed {} --verbose)", self.seed)?;
        self.trace.iter().skip(skipped).try_for_each(|line| writeln!(f, "  {line}"))
    }
}

/// Runs one seed on a sound table.
pub fn simulate(seed: u64, verbose: bool) -> Result<Summary, Box<Violation>> {
    simulate_on(seed, verbose, |memory| Arc::new(memory))
}

/// Runs one seed on a table of the caller's making, which stores in the memory table that the checker reads.
pub fn simulate_on(
    seed: u64,
    verbose: bool,
    table: impl FnOnce(MemoryTable) -> Arc<dyn Table>,
) -> Result<Summary, Box<Violation>> {
    simulate_with(seed, verbose, table, Box::new(|oracle| oracle))
}

/// The same with servers that ask an evaluator of the caller's making, over the one that answers by seed.
pub fn simulate_with(
    seed: u64,
    verbose: bool,
    table: impl FnOnce(MemoryTable) -> Arc<dyn Table>,
    asked: world::Asked,
) -> Result<Summary, Box<Violation>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    // Actors' futures need not be `Send`: they share this thread.
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let memory = MemoryTable::new();
        let world = World::new(seed, verbose, memory.clone(), table(memory), asked);
        actors::chaos(&world).await;
        ending::settle(&world).await;
        world.close();
        world.verdict()
    })
}
