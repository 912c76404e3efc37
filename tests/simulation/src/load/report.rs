//! What a load came to.

use std::collections::BTreeMap;
use std::fmt;

use super::table::TableCounts;

/// The calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    /// Answers that functions gave, `retry` and refusals included.
    pub answers: u64,
    /// Answers that it was done.
    pub done: u64,
    /// Answers `conflict`: somebody else was first.
    pub lost: u64,
    /// Answers `retry`.
    pub retries: u64,
    /// How often functions tried, over all answers that it was done or `retry`.
    pub tries: u64,
    /// Most that one function tried for one answer.
    pub most_tries: u32,
    /// Longest that one answer took, in milliseconds.
    pub longest_millis: u64,
    /// Most times that one client made one call until it was answered otherwise than by `retry`.
    pub most_repeats: u32,
}

impl Calls {
    fn add(&mut self, other: &Calls) {
        self.answers += other.answers;
        self.done += other.done;
        self.lost += other.lost;
        self.retries += other.retries;
        self.tries += other.tries;
        self.most_tries = self.most_tries.max(other.most_tries);
        self.longest_millis = self.longest_millis.max(other.longest_millis);
        self.most_repeats = self.most_repeats.max(other.most_repeats);
    }

    /// Tries that it took until it was done, in the mean, those of answers `retry` included.
    pub fn mean_tries(&self) -> f64 {
        self.tries as f64 / (self.done as f64).max(1.0)
    }

    /// Answers `retry` among those to calls that nobody else was in the way of, in percent.
    pub fn retry_percent(&self) -> f64 {
        100.0 * self.retries as f64 / ((self.done + self.retries) as f64).max(1.0)
    }
}

/// What a load came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Virtual time until everything was done, in milliseconds.
    pub millis: u64,
    /// Calls by tool.
    pub calls: BTreeMap<&'static str, Calls>,
    /// What happened at the table.
    pub table: TableCounts,
    /// Most read units, and most write units, that one partition of a kind gave in one second.
    pub peaks: [BTreeMap<String, u64>; 2],
    /// Writes to the lists of each shard: ready steps that were claimed.
    pub claimed_by_shard: BTreeMap<u8, u64>,
    /// What is not as it must be when everything is done.
    pub wrong: Vec<String>,
}

impl Report {
    /// All writes together.
    pub fn writes(&self) -> Calls {
        let mut all = Calls::default();
        self.calls.iter().filter(|(tool, _)| **tool != "get_work").for_each(|(_, calls)| all.add(calls));
        all
    }

    /// The calls of one tool.
    pub fn of(&self, tool: &str) -> Calls {
        self.calls.get(tool).copied().unwrap_or_default()
    }

    /// Calls of a tool that were done, for each virtual second.
    pub fn a_second(&self, tool: &str) -> f64 {
        self.of(tool).done as f64 * 1_000.0 / (self.millis as f64).max(1.0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {:.1} virtual seconds", self.seed, self.millis as f64 / 1_000.0)?;
        let mut all: Vec<(&str, Calls)> = self.calls.iter().map(|(tool, calls)| (*tool, *calls)).collect();
        all.push(("all writes", self.writes()));
        for (tool, calls) in all {
            writeln!(
                f,
                "  {tool:<10} {:>6} answers, {:>6} done, {:>6} lost, {:>5} retry ({:.2} %), tries {:.2} mean, {} most, \
                 repeats {} most, longest {} ms",
                calls.answers,
                calls.done,
                calls.lost,
                calls.retries,
                calls.retry_percent(),
                calls.mean_tries(),
                calls.most_tries,
                calls.most_repeats,
                calls.longest_millis,
            )?;
        }
        let t = &self.table;
        writeln!(
            f,
            "  table: {} reads, {} written, {} refused, {} conflicts, throttled {} reads and {} writes",
            t.reads, t.written, t.refused, t.conflicts, t.throttled_reads, t.throttled_writes
        )?;
        for (what, peaks) in ["read", "write"].into_iter().zip(&self.peaks) {
            let mut hottest: Vec<_> = peaks.iter().collect();
            hottest.sort_by_key(|(_, units)| std::cmp::Reverse(**units));
            let shown: Vec<String> =
                hottest.into_iter().take(6).map(|(kind, units)| format!("{kind} {units}")).collect();
            writeln!(f, "  hottest partition, {what} units a second: {}", shown.join(", "))?;
        }
        let seconds = self.millis as f64 / 1_000.0;
        let shards: Vec<String> = self
            .claimed_by_shard
            .iter()
            .map(|(shard, claims)| format!("{shard}: {:.1}", *claims as f64 / seconds))
            .collect();
        writeln!(f, "  claims a second by shard: {}", shards.join(", "))?;
        self.wrong.iter().try_for_each(|what| writeln!(f, "  WRONG: {what}"))
    }
}
