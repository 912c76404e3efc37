//! The scenarios, one file each, named for what they show.

mod claims;
mod endings;
mod escalations;
mod events;
mod evidence;
mod not_accepted;
mod people;
mod replays;
mod rework;
mod waits;

use crate::harness::Scenario;

/// Every scenario, in the order of the files.
pub fn all() -> Vec<Scenario> {
    let files = [
        claims::scenarios,
        endings::scenarios,
        escalations::scenarios,
        events::scenarios,
        evidence::scenarios,
        not_accepted::scenarios,
        people::scenarios,
        replays::scenarios,
        rework::scenarios,
        waits::scenarios,
    ];
    files.into_iter().flat_map(|list| list()).collect()
}
