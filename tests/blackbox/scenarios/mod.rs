//! The scenarios, one file each, named for what they show.

mod claims;
mod not_accepted;
mod replays;

use crate::harness::Scenario;

/// Every scenario, in the order of the files.
pub fn all() -> Vec<Scenario> {
    [claims::scenarios, not_accepted::scenarios, replays::scenarios].into_iter().flat_map(|list| list()).collect()
}
