//! The scenarios, grouped by subject, a file each; every scenario is named for what it shows.

mod arguments;
mod assignments;
mod authorization;
mod catalogue;
mod check_answers;
mod check_candidates;
mod check_errors;
mod check_escalations;
mod check_races;
mod check_repeats;
mod check_rules;
mod checks;
mod claims;
mod endings;
mod endpoint;
mod escalations;
mod events;
mod evidence;
mod examples;
mod graph_1;
mod graph_1_files;
mod graph_gates;
mod graph_providers;
mod graph_runs;
mod graph_states;
mod lists;
mod not_accepted;
mod numbers;
mod parallel;
mod parallel_ends;
mod parallel_files;
mod parallel_races;
mod parallel_rework;
mod parallel_time;
mod parallel_wide;
mod parallel_work;
mod people;
mod races;
mod replays;
mod restarts;
mod rework;
mod starts;
mod supplier_check;
mod test_mode;
mod waits;

use crate::harness::Scenario;

/// Every scenario, in the order of the files.
pub fn all() -> Vec<Scenario> {
    let files = [
        arguments::scenarios,
        assignments::scenarios,
        authorization::scenarios,
        catalogue::scenarios,
        check_answers::scenarios,
        check_candidates::scenarios,
        check_errors::scenarios,
        check_escalations::scenarios,
        check_races::scenarios,
        check_repeats::scenarios,
        check_rules::scenarios,
        checks::scenarios,
        claims::scenarios,
        endings::scenarios,
        endpoint::scenarios,
        escalations::scenarios,
        events::scenarios,
        evidence::scenarios,
        examples::scenarios,
        graph_1::scenarios,
        graph_1_files::scenarios,
        graph_gates::scenarios,
        graph_providers::scenarios,
        graph_runs::scenarios,
        graph_states::scenarios,
        lists::scenarios,
        not_accepted::scenarios,
        numbers::scenarios,
        parallel::scenarios,
        parallel_ends::scenarios,
        parallel_files::scenarios,
        parallel_races::scenarios,
        parallel_rework::scenarios,
        parallel_time::scenarios,
        parallel_wide::scenarios,
        parallel_work::scenarios,
        people::scenarios,
        races::scenarios,
        replays::scenarios,
        restarts::scenarios,
        rework::scenarios,
        starts::scenarios,
        supplier_check::scenarios,
        test_mode::scenarios,
        waits::scenarios,
    ];
    files.into_iter().flat_map(|list| list()).collect()
}
