//! A few hundred seeds on a sound table: nothing promised is broken. `SIMULATION_SEEDS` sets how many, and
//! `SIMULATION_FIRST_SEED` where to begin.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use store::memory::MemoryTable;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

#[test]
fn no_seed_breaks_a_promise() {
    let (first, seeds) = (setting("SIMULATION_FIRST_SEED", 0), setting("SIMULATION_SEEDS", 200));
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    let all = Mutex::new(simulation::Summary::default());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        return;
                    }
                    match simulation::simulate(seed, false) {
                        Ok(summary) => all.lock().unwrap().add(summary),
                        Err(violation) => panic!("{violation}"),
                    }
                }
            });
        }
    });
    // A simulation in which nothing happens breaks nothing either.
    let all = all.into_inner().unwrap();
    assert!(all.transactions > 30 * seeds);
    for what in [
        "rewound",
        "returned",
        "failed",
        "overdue",
        "joined",
        "fork and join in one write",
        "fork and end in one write",
        "two arrivals in one write",
        "rework in a branch",
        "a region again",
        "a region taken along",
        "an end in a region",
        "branches finished at once",
        "passed its check",
        "refused by a check",
        "refused again without being asked about",
        "a check that was not answered",
        "asked a second time",
        "held for an agent",
        "held for a person's task",
        "a task that passed its check",
        "adopted",
        "completed in place of a candidate",
        "returned with a verdict",
        "a task returned with a verdict",
        "failed with a candidate",
        "advised: pass",
        "advised: fail",
        "advised: unsure",
        "advised: error",
        "a check in a branch",
        "others wrote while the evaluator thought",
        "a lease that ended while the evaluator thought",
        "events of a graph's run at once",
        "a graph's run resumed",
        "a gate resolved by an authority",
        "an outcome for a revision",
        "an outcome corrected",
    ] {
        assert!(seeds < 100 || all.seen.contains_key(what), "`{what}` never happened: {:?}", all.seen);
    }
}

#[test]
fn a_seed_is_the_same_history_again() {
    let once = simulation::simulate(7, false).unwrap();
    let again = simulation::simulate(7, false).unwrap();
    assert_eq!(
        (once.transactions, once.calls, once.faults, once.runs, once.seen),
        (again.transactions, again.calls, again.faults, again.runs, again.seen)
    );
}

#[test]
fn a_seed_leaves_nothing_in_memory() {
    let mut table = Weak::<MemoryTable>::new();
    let done = simulation::simulate_on(7, false, |memory| {
        let made = Arc::new(memory);
        table = Arc::downgrade(&made);
        made
    });
    assert!(done.unwrap().transactions > 0);
    assert_eq!(table.strong_count(), 0, "a world is held that nobody looks at any more");
}
