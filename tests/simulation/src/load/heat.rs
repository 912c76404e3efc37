//! How hot each partition is: what it has left, and the most it gave in one second.

use std::collections::{BTreeMap, HashMap};

/// Read units that a partition gives a second.
pub const READ_UNITS_A_SECOND: u64 = 3_000;

/// Write units that a partition gives a second.
pub const WRITE_UNITS_A_SECOND: u64 = 1_000;

/// Units of every partition, of one sort.
#[derive(Debug, Default)]
pub struct Heat {
    a_second: u64,
    left: HashMap<String, Left>,
    given: HashMap<(String, u64), u64>,
}

/// What a partition has left, in thousandths of a unit. Below 0 after a call that took more than there was: a call is
/// let in while there is anything.
#[derive(Debug, Clone, Copy)]
struct Left {
    milli_units: i64,
    at_millis: u64,
}

impl Heat {
    /// Partitions that give so many units a second, and keep what they do not give for a second.
    pub fn new(a_second: u64) -> Heat {
        Heat { a_second, ..Heat::default() }
    }

    /// Whether a call on this partition is let in.
    pub fn has_left(&mut self, partition: &str, now_millis: u64) -> bool {
        self.filled(partition, now_millis).milli_units > 0
    }

    /// Takes units.
    pub fn take(&mut self, partition: &str, units: u64, now_millis: u64) {
        self.filled(partition, now_millis).milli_units -= i64::try_from(units * 1_000).unwrap();
        *self.given.entry((partition.to_owned(), now_millis / 1_000)).or_default() += units;
    }

    fn filled(&mut self, partition: &str, now_millis: u64) -> &mut Left {
        let full = i64::try_from(self.a_second * 1_000).unwrap();
        if !self.left.contains_key(partition) {
            self.left.insert(partition.to_owned(), Left { milli_units: full, at_millis: now_millis });
        }
        let left = self.left.get_mut(partition).unwrap();
        // Thousandths of a unit a millisecond are units a second.
        let since = i64::try_from((now_millis - left.at_millis) * self.a_second).unwrap();
        *left = Left { milli_units: full.min(left.milli_units + since), at_millis: now_millis };
        left
    }

    /// What all partitions of each kind gave, by the kind's name.
    pub fn totals(&self) -> BTreeMap<String, u64> {
        let mut totals = BTreeMap::new();
        for ((partition, _), units) in &self.given {
            *totals.entry(kind(partition)).or_default() += units;
        }
        totals
    }

    /// The most that one partition of each kind gave within one second, by the kind's name.
    pub fn peaks(&self) -> BTreeMap<String, u64> {
        let mut peaks = BTreeMap::new();
        for ((partition, _), units) in &self.given {
            let peak: &mut u64 = peaks.entry(kind(partition)).or_default();
            *peak = (*peak).max(*units);
        }
        peaks
    }
}

/// What a partition holds: the first part of its key, and of run lists also whether they are open or ended.
fn kind(partition: &str) -> String {
    let parts: Vec<&str> = partition.split('/').collect();
    match parts.as_slice() {
        ["runs", _, _, state, ..] => format!("runs {state}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}
