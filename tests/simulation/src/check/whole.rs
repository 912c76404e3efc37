//! The whole table at once: nothing is stored that the checker did not see written, and nothing is gone.

use std::collections::BTreeMap;

use serde_json::Value;
use store::memory::MemoryState;
use store::table::{Item, Key};

use super::{Checker, differ, segments};

impl Checker {
    /// Compares everything that is stored with everything that was seen, and every request with its answers.
    pub fn whole(&self, state: &MemoryState) -> Vec<String> {
        let mut bad = Vec::new();
        let items: Vec<Item> = state.items().unwrap();
        let mut lists: BTreeMap<Key, Value> = BTreeMap::new();
        let mut graphs: BTreeMap<String, usize> = BTreeMap::new();
        let (mut journal, mut attempts, mut requests) = (0, 0, 0);
        for item in items {
            match segments(&item.key)[0] {
                "run" if item.key.sort.starts_with("j/") => journal += 1,
                "run" => attempts += 1,
                "request" => requests += 1,
                kind @ ("graphrun" | "provider") => *graphs.entry(kind.to_owned()).or_default() += 1,
                "ready" | "leased" | "inbox" | "runs" | "timer" => {
                    lists.insert(item.key, item.doc);
                }
                _ => {}
            }
        }
        let mut right = BTreeMap::new();
        for copy in self.runs.values() {
            right.extend(copy.lists.clone());
        }
        if lists != right {
            bad.push(format!("the stored lists disagree with the runs: {}", differ(&right, &lists)));
        }
        let seen = (
            self.runs.values().map(|c| c.entries.len()).sum::<usize>(),
            self.runs.values().map(|c| c.attempts.len()).sum::<usize>(),
            self.requests.values().filter(|k| k.written.is_some()).count(),
        );
        if seen != (journal, attempts, requests) {
            bad.push(format!(
                "stored {:?} of journal, attempts, requests; seen {seen:?}",
                (journal, attempts, requests)
            ));
        }
        if !graphs.iter().map(|(kind, count)| (kind.as_str(), *count)).eq(self
            .graphs
            .stored
            .iter()
            .map(|(k, c)| (*k, *c)))
        {
            bad.push(format!("stored {graphs:?} of Graphs; seen {:?}", self.graphs.stored));
        }
        for (id, known) in &self.requests {
            if known.written.is_some() && known.call.is_none() {
                bad.push(format!("request {id:?} is recorded and was never made"));
            }
            if known.written.is_some() && known.answer.is_none() && known.unknown == 0 && known.refusals > 0 {
                bad.push(format!("request {id:?} was refused every time and is recorded"));
            }
        }
        bad
    }
}
