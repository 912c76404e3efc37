//! A thousand functions at once on one organization: tries, conflicts and `retry` answers stay bounded, and everything
//! ends. `LOAD_SEEDS` sets how many seeds of each plan, `LOAD_FIRST_SEED` where to begin; `simulate --load` prints what each
//! comes to.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

use simulation::load::{
    self, BRANCHES, CLIENT_REPEATS, EVERYTHING, FIRST_OF_QUEUE, INBOX, OWN_RUNS, Plan, QUEUE, Report,
};
use store::WRITE_ATTEMPTS;

/// What no plan may exceed.
#[derive(Clone, Copy)]
struct Bounds {
    /// Tries of a write, in the mean.
    mean_tries: f64,
    /// Answers `retry` to writes that nobody else was in the way of, in percent.
    retry_percent: f64,
    /// Answers `conflict` for each that was done, to those who take from a list that all share.
    lost: u64,
    /// Most times that a client makes one call.
    repeats: u32,
}

const BOUNDS: Bounds = Bounds { mean_tries: 1.3, retry_percent: 0.5, lost: 100, repeats: 2 };

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")),
        Err(_) => default,
    }
}

fn each_seed(plan: &Plan, hold: impl Fn(&Report)) {
    let (first, seeds) = (setting("LOAD_FIRST_SEED", 0), setting("LOAD_SEEDS", 1));
    for seed in first..first + seeds {
        hold(&load::load(seed, plan));
    }
}

/// What a report breaks.
fn broken(report: &Report, bounds: Bounds) -> Vec<String> {
    let mut broken = report.wrong.clone();
    let writes = report.writes();
    let mut must = |holds: bool, what: String| {
        if !holds {
            broken.push(what);
        }
    };
    must(writes.most_tries <= WRITE_ATTEMPTS, format!("{} tries of one write", writes.most_tries));
    must(writes.mean_tries() <= bounds.mean_tries, format!("{:.2} tries in the mean", writes.mean_tries()));
    must(writes.retry_percent() <= bounds.retry_percent, format!("{:.2} % `retry`", writes.retry_percent()));
    must(writes.most_repeats <= bounds.repeats, format!("one call was made {} times", writes.most_repeats));
    for tool in ["claim", "decide"] {
        let calls = report.of(tool);
        must(calls.lost <= bounds.lost * calls.done, format!("{tool} lost {} times, won {}", calls.lost, calls.done));
    }
    broken
}

fn hold(report: &Report, bounds: Bounds) {
    let broken = broken(report, bounds);
    assert!(broken.is_empty(), "{broken:?}\n{report}");
}

#[test]
fn everything_at_once() {
    each_seed(&EVERYTHING, |report| {
        hold(report, BOUNDS);
        // Something did happen, and met.
        assert!(report.writes().done > 2_000 && report.table.conflicts > 50 && report.table.refused > 50, "{report}");
        assert_eq!(report.of("publish_process").done, 5, "{report}");
    });
}

#[test]
fn a_thousand_starts_at_one_moment_throttle_and_get_through() {
    each_seed(&OWN_RUNS, |report| {
        // No two calls are about one run, so all that tries again was throttled.
        assert_eq!((report.table.conflicts, report.table.refused), (0, 0), "{report}");
        assert!(report.table.throttled_writes > 1_000, "{report}");
        hold(report, Bounds { mean_tries: 2.0, retry_percent: 1.0, ..BOUNDS });
        // Four shards of each list, at four units a step, give 1,000 steps a second, and some more at first: what a partition
        // did not give is kept for a second.
        let steps = report.a_second("submit");
        assert!((600.0..=1_500.0).contains(&steps), "{steps} steps a second\n{report}");
    });
}

#[test]
fn thirty_branches_of_a_run_are_claimed_and_submitted_at_one_moment() {
    each_seed(&BRANCHES, |report| {
        hold(report, Bounds { mean_tries: 2.8, retry_percent: 2.0, ..BOUNDS });
        // Each answer but the first of a run had to wait for another one: nothing is done by one try each.
        assert!(report.writes().mean_tries() > 1.5, "{report}");
    });
}

#[test]
fn a_queue_that_everybody_takes_from() {
    each_seed(&QUEUE, |any| {
        hold(any, BOUNDS);
        // A lost claim is found out by reading: it commits nothing, and few get as far as a transaction that is cancelled.
        let claims = any.of("claim");
        assert!(claims.lost > 20 * claims.done, "{any}");
        assert!(any.table.refused + any.table.conflicts < claims.lost / 10, "{any}");
        // Whoever takes the first as all others do waits for them, and breaks nothing.
        let first = load::load(any.seed, &FIRST_OF_QUEUE);
        hold(&first, Bounds { lost: 250, ..BOUNDS });
        assert!(any.a_second("submit") > 2.0 * first.a_second("submit"), "{any}\n{first}");
    });
}

#[test]
fn an_inbox_that_a_thousand_people_decide_from() {
    each_seed(&INBOX, |report| hold(report, BOUNDS));
}

#[test]
fn functions_that_do_not_wait_a_random_time_break_the_bounds() {
    let report = load::load_rolling(0, &BRANCHES, |_, _| 0);
    let broken = broken(&report, Bounds { mean_tries: 2.8, retry_percent: 2.0, ..BOUNDS });
    assert!(broken.iter().any(|what| what.contains("`retry`")), "{broken:?}\n{report}");
    // Even they come to an end: clients wait before they call again.
    assert!(report.wrong.is_empty() && report.writes().most_repeats < CLIENT_REPEATS, "{report}");
}

#[test]
fn a_seed_comes_to_the_same_numbers_again() {
    let plan = Plan { queue_agents: 40, queue_steps: 10, own: 20, wide_runs: 1, people: 20, items: 5, ..EVERYTHING };
    assert_eq!(load::load(7, &plan), load::load(7, &plan));
    assert_ne!(load::load(7, &plan), load::load(8, &plan));
}

/// The kinds of partitions whose write units ARCHITECTURE.md shows, and what it calls them.
const SHOWN: [(&str, &str); 9] = [
    ("run", "`run/ORG/RUN`"),
    ("request", "`request/ORG/ID`"),
    ("ready", "`ready/ORG/SHARD`"),
    ("leased", "`leased/ORG/SHARD`"),
    ("runs open", "`runs/ORG/PROCESS/open/SHARD`"),
    ("runs ended", "`runs/ORG/PROCESS/ended`"),
    ("inbox", "`inbox/ORG/…`"),
    ("timer", "`timer/SHARD`"),
    ("outbox", "`outbox/SHARD`"),
];

#[test]
fn the_document_says_what_each_call_costs_each_partition() {
    let document = include_str!("../../../ARCHITECTURE.md");
    let costs = load::units::costs();
    let calls: Vec<&str> = costs.writes.iter().map(|(call, _)| *call).filter(|call| *call != "claim again").collect();
    let mut lines = vec![format!("| write units | {} |", calls.join(" | "))];
    let of = |call: &str, kind: &str| {
        let units = costs.writes.iter().find(|(name, _)| *name == call).and_then(|(_, units)| units.get(kind));
        units.copied().unwrap_or_default()
    };
    for (kind, name) in SHOWN {
        let cells: Vec<String> = calls
            .iter()
            .map(|call| of(call, kind))
            .map(|n| if n == 0 { String::new() } else { n.to_string() })
            .collect();
        lines.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    let all: Vec<String> =
        calls.iter().map(|call| SHOWN.iter().map(|(kind, _)| of(call, kind)).sum::<u64>().to_string()).collect();
    lines.push(format!("| together | {} |", all.join(" | ")));
    for (look, units) in &costs.looks {
        lines.push(format!("| `get_work` {look} | {} | {} |", units["ready"], units["leased"]));
    }
    for (call, units) in &costs.writes {
        for kind in units.keys() {
            assert!(SHOWN.iter().any(|(shown, _)| shown == kind), "{call} costs {kind} something, which is not shown");
        }
    }
    // Lines differ in blanks alone where a cell is empty.
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document: Vec<String> = document.lines().map(plain).collect();
    let missing: Vec<&String> = lines.iter().filter(|line| !document.contains(&plain(line))).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md lacks:\n{}", lines.join("\n"));
}
