//! What holds for every process, every sequence of commands and every clock: the five guarantees (core §6), the rule of
//! run states (core §3.5), and that nothing depends on when a timer is looked at.
//!
//! `PROPTEST_CASES` set to a large number searches for hours instead of a moment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../common/mod.rs"]
mod common;

mod catch_up;
mod holds;
mod moves;
mod order;
mod processes;
mod session;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use moves::Move;
use processes::Plan;
use session::Session;

fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("tests/properties/regressions.txt");
    ProptestConfig { failure_persistence: Some(Box::new(kept)), max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_is_asked_of_it_a_run_keeps_its_rules(
        plan in Plan::any(),
        moves in proptest::collection::vec(Move::any(), 1..40),
    ) {
        let Some(mut session) = Session::start(&plan) else { return Ok(()) };
        for one in &moves {
            session.play_move(one);
        }
        catch_up::late_or_step_by_step(&session.play);
    }
}
