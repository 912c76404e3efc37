//! What holds for every process, every sequence of commands and every clock: the five guarantees (core §6), the rule of
//! run states (core §3.5), and that nothing depends on when a timer is looked at.
//!
//! `PROPTEST_CASES` set to a large number searches for hours instead of a moment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
// `r % 3 == 0` is how a random number chooses here; no multiple is meant.
#![allow(clippy::manual_is_multiple_of)]

#[path = "../common/mod.rs"]
mod common;

mod catch_up;
mod checks;
mod holds;
mod moves;
mod order;
mod processes;
mod session;

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use moves::Move;
use processes::Plan;
use run::Event;
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
        moves in proptest::collection::vec(Move::any(), 1..80),
    ) {
        let Some(mut session) = Session::start(&plan) else { return Ok(()) };
        session.play(&moves);
        catch_up::late_or_step_by_step(&session.play);
    }
}

/// The property above says nothing about what the moves never reach, so this counts it.
#[test]
fn the_moves_reach_every_event_and_every_refusal() {
    let mut runner = TestRunner::deterministic();
    let strategy = (Plan::any(), proptest::collection::vec(Move::any(), 1..80));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..900 {
        let (plan, moves) = strategy.new_tree(&mut runner).unwrap().current();
        let Some(mut session) = Session::start(&plan) else { continue };
        session.play(&moves);
        for entry in &session.play.entries {
            for event in &entry.events {
                *seen.entry(word(&format!("{event:?}"))).or_default() += 1;
            }
            for what in checks::seen(entry) {
                *seen.entry(what).or_default() += 1;
            }
            for what in of_regions(&session.play.world.document, entry) {
                *seen.entry(what.to_owned()).or_default() += 1;
            }
        }
        for refused in &session.refusals {
            *seen.entry(refused.clone()).or_default() += 1;
        }
        if let Some(ended) = &session.play.run.ended {
            let outcome = ended.outcome.as_deref().unwrap_or("cancelled");
            *seen.entry(format!("ended {}", word(outcome))).or_default() += 1;
        }
    }
    for wanted in [
        "Started",
        "Ready",
        "Assigned",
        "Waiting",
        "Completed",
        "Reached",
        "Rejected",
        "Rewound",
        "Escalated",
        "Returned",
        "Forked",
        "Arrived",
        "Joined",
        "fork and join",
        "fork and end",
        "two arrivals",
        "rework in a branch",
        "a region again",
        "a region taken along",
        "an end in a region",
        "recorded pass",
        "recorded unsure",
        "advisory pass",
        "advisory fail",
        "advisory unsure",
        "advisory error",
        "held",
        "held task",
        "returned task",
        "Overdue",
        "Held",
        "Consumed",
        "Failed",
        "Ended",
        "ended cancelled",
        "ended outcome",
        "ended rejected",
        "ended failed",
        "claim Conflict not_ready",
        "claim Conflict claimed_by_you",
        "claim Conflict claimed_by_other",
        "claim Forbidden",
        "claim NotFound",
        "renew Stale",
        "renew Forbidden",
        "submit Stale",
        "submit Forbidden",
        "submit NotAccepted",
        "escalate Stale",
        "escalate Forbidden",
        "escalate Invalid note",
        "decide Conflict already_decided",
        "decide NotFound",
        "decide Stale",
        "decide Forbidden",
        "decide Invalid decision",
        "decide Invalid note",
        "decide NotAccepted",
        "decide Invalid output",
        "submit Retry",
        "decide Retry",
        "cancel Forbidden",
        "cancel Invalid reason",
        "send_event Forbidden",
        "send_event Invalid name",
        "send_event Invalid data",
        "decide Conflict run_ended",
        "submit Conflict run_ended",
        "send_event Conflict run_ended",
    ] {
        let count = seen.get(wanted).copied().unwrap_or(0);
        assert!(count >= 5, "`{wanted}` was seen {count} times: {seen:#?}");
    }
}

/// What a write did to a region, beside its single events.
fn of_regions(document: &process::Document, entry: &run::Entry) -> Vec<&'static str> {
    let any = |wanted: &dyn Fn(&Event) -> bool| entry.events.iter().any(wanted);
    let parallel = |id: &String| matches!(document.step(id).unwrap().kind, process::Kind::Parallel { .. });
    let in_branch = |id: &str| order::branch(document, id).is_some();
    let forked = any(&|e| matches!(e, Event::Forked { .. }));
    let joined = any(&|e| matches!(e, Event::Joined { .. }));
    let arrivals = entry.events.iter().filter(|e| matches!(e, Event::Arrived { .. })).count();
    [
        (forked && joined, "fork and join"),
        (forked && any(&|e| matches!(e, Event::Failed { .. })), "fork and end"),
        (arrivals > 1, "two arrivals"),
        (any(&|e| matches!(e, Event::Rejected { step, .. } if in_branch(step))), "rework in a branch"),
        (forked && any(&|e| matches!(e, Event::Rejected { .. })), "a region again"),
        (any(&|e| matches!(e, Event::Rewound { steps } if steps.iter().any(parallel))), "a region taken along"),
        (any(&|e| matches!(e, Event::Ended { cancelled, .. } if cancelled.iter().any(parallel))), "an end in a region"),
    ]
    .into_iter()
    .filter_map(|(seen, what)| seen.then_some(what))
    .collect()
}

fn word(text: &str) -> String {
    text.chars().take_while(char::is_ascii_alphanumeric).collect()
}
