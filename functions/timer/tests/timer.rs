//! The timer on a table in memory: firings that come twice, late or for nothing, and what a sweep makes up for.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails, and this is how")]

mod support;

use std::collections::BTreeSet;

use run::Mode;
use serde_json::json;
use store::keys;
use support::{Fault, ORG, World};

/// Runs that are enough for every shard to have some.
const RUNS: usize = 40;

const MINUTE: i64 = 60;

#[tokio::test]
async fn a_firing_runs_what_is_due_once_however_often_it_comes() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    let event = json!({ "org": ORG, "run": run, "timer": "wait/pause/1" });
    let begun = world.table.memory.state();
    world.timer.handle(&event).await.unwrap();
    assert_eq!(world.table.memory.state(), begun, "too early");
    world.pass(30 * MINUTE);
    let (first, second) = tokio::join!(world.timer.handle(&event), world.timer.handle(&event));
    assert_eq!((first, second), (Ok(()), Ok(())));
    assert_eq!(world.waiting(&run).await, Some("look".to_owned()));
    assert_eq!(world.revisions(&run), 2, "started, and went on once");
    let fired = world.table.memory.state();
    world.pass(10 * MINUTE);
    world.timer.handle(&event).await.unwrap();
    assert_eq!(world.table.memory.state(), fired, "late, and the same again");
    world.pass(60 * MINUTE);
    world.timer.handle(&event).await.unwrap();
    assert_eq!(world.revisions(&run), 3, "whatever is due is done, whichever timer it was that fired");
}

#[tokio::test]
async fn what_is_unknown_is_no_error_and_changes_nothing() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    world.pass(30 * MINUTE);
    let before = world.table.memory.state();
    for event in [
        json!({ "org": ORG, "run": "r_unknown", "timer": "wait/pause/1" }),
        json!({ "org": "other", "run": run, "timer": "wait/pause/1" }),
        json!({ "org": ORG, "run": "", "timer": "" }),
        json!({ "what": "is this" }),
        json!(null),
    ] {
        assert_eq!(world.timer.handle(&event).await, Ok(()), "{event}");
        assert_eq!(world.table.memory.state(), before, "{event}");
    }
}

#[tokio::test]
async fn only_what_trying_again_can_mend_is_an_error() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    world.pass(30 * MINUTE);
    let event = json!({ "org": ORG, "run": run, "timer": "wait/pause/1" });
    let partition = keys::run(ORG, &run);
    world.table.refuse([partition.clone()], Fault::Away);
    assert!(world.timer.handle(&event).await.is_err(), "the table does not answer");
    world.table.refuse([partition], Fault::Broken);
    assert_eq!(world.timer.handle(&event).await, Ok(()), "the run cannot be read, now or later");
    world.table.mend();
    assert_eq!(world.timer.handle(&event).await, Ok(()));
    assert_eq!(world.waiting(&run).await, Some("look".to_owned()));
}

#[tokio::test]
async fn a_sweep_runs_what_is_due_in_every_shard_and_tells_of_it_once() {
    let world = World::new().await;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(world.start(Mode::Live).await);
    }
    let shards: BTreeSet<u8> = runs.iter().map(|run| keys::shard(run)).collect();
    assert_eq!(shards.len(), usize::from(keys::SHARDS));
    let rehearsal = world.start(Mode::Test).await;
    world.pass(31 * MINUTE);
    world.sweep().await.unwrap();
    for run in runs.iter().chain([&rehearsal]) {
        assert_eq!(world.waiting(run).await, Some("look".to_owned()), "{run}");
    }
    let told = world.bus.told();
    assert_eq!(told.len(), RUNS);
    assert_eq!(told.iter().collect::<BTreeSet<_>>(), runs.iter().collect(), "each once, and none of a rehearsal");
    assert_eq!(world.unsent().await, 0);
    assert_eq!(world.timer.store.notices(ORG, 100).await.unwrap().len(), RUNS, "they are filed");

    let swept = world.table.memory.state();
    world.sweep().await.unwrap();
    assert_eq!(world.table.memory.state(), swept, "nothing is left to do");
    assert_eq!(world.bus.told().len(), RUNS);
}

#[tokio::test]
async fn a_run_that_fails_keeps_no_other_from_its_turn() {
    let world = World::new().await;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(world.start(Mode::Live).await);
    }
    world.pass(31 * MINUTE);
    let broken = runs.remove(7);
    world.table.refuse([keys::run(ORG, &broken)], Fault::Broken);
    world.sweep().await.unwrap();
    for run in &runs {
        assert_eq!(world.waiting(run).await, Some("look".to_owned()), "{run}");
    }
    world.table.mend();
    world.sweep().await.unwrap();
    assert_eq!(world.waiting(&broken).await, Some("look".to_owned()));
}

#[tokio::test]
async fn a_shard_that_cannot_be_read_is_said_and_keeps_no_other_waiting() {
    let world = World::new().await;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(world.start(Mode::Live).await);
    }
    world.pass(31 * MINUTE);
    world.table.refuse([keys::timer_partition(1)], Fault::Away);
    assert!(world.sweep().await.is_err());
    for run in &runs {
        let expected = if keys::shard(run) == 1 { "pause" } else { "look" };
        assert_eq!(world.waiting(run).await, Some(expected.to_owned()), "{run}");
    }
}

#[tokio::test]
async fn notices_that_the_bus_does_not_take_are_told_by_a_later_sweep() {
    let world = World::new().await;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(world.start(Mode::Live).await);
    }
    world.pass(31 * MINUTE);
    world.bus.refuse(|_| true);
    assert_eq!(world.sweep().await, Err("notices could not be sent: the bus is closed".to_owned()));
    assert_eq!((world.unsent().await, world.bus.told().len()), (RUNS, 0));
    // One that is never taken keeps no other from being told.
    let never = runs[3].clone();
    let refused = never.clone();
    world.bus.refuse(move |run| run == refused);
    assert!(world.sweep().await.is_err());
    assert_eq!((world.unsent().await, world.bus.told().len()), (1, RUNS - 1));
    world.bus.refuse(|_| false);
    world.sweep().await.unwrap();
    assert_eq!((world.unsent().await, world.bus.told().last()), (0, Some(&never)));
}

#[tokio::test]
async fn what_was_sent_and_could_not_be_filed_is_sent_again() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    world.pass(31 * MINUTE);
    world.timer.handle(&json!({ "org": ORG, "run": run, "timer": "wait/pause/1" })).await.unwrap();
    world.table.refuse([keys::notices_partition(ORG)], Fault::Away);
    assert!(world.sweep().await.is_err());
    assert_eq!((world.unsent().await, world.bus.told().len()), (1, 1));
    world.table.mend();
    world.sweep().await.unwrap();
    assert_eq!((world.unsent().await, world.bus.told().len()), (0, 2));
}

#[tokio::test]
async fn alarms_that_are_needed_soon_are_set_again() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    assert_eq!(world.alarms.set_so_far().len(), 1);
    world.pass(25 * MINUTE);
    world.sweep().await.unwrap();
    assert_eq!(world.alarms.set_so_far().len(), 1, "it is not needed soon");
    world.pass(3 * MINUTE);
    world.sweep().await.unwrap();
    let set = world.alarms.set_so_far();
    assert_eq!(set.len(), 2);
    assert_eq!(set[0], set[1], "the very same");
    assert_eq!((set[0].run.as_str(), set[0].timer.as_str()), (run.as_str(), "wait/pause/1"));
    world.alarms.refuse("");
    assert_eq!(
        world.sweep().await,
        Err("alarms could not be set again: try again: schedules are not to be had".to_owned())
    );
}

#[tokio::test]
async fn no_timer_is_stored_whose_alarm_could_not_be_set() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    world.pass(30 * MINUTE);
    let before = world.table.memory.state();
    world.alarms.refuse("");
    let event = json!({ "org": ORG, "run": run, "timer": "wait/pause/1" });
    let failed = world.timer.handle(&event).await;
    assert_eq!(failed, Err("schedules are not to be had".to_owned()), "to be tried again");
    assert_eq!(world.table.memory.state(), before, "and nothing was written");
    world.alarms.refuse("another");
    assert_eq!(world.timer.handle(&event).await, Ok(()));
    let set = world.alarms.set_so_far();
    assert_eq!(set.last().map(|alarm| alarm.timer.as_str()), Some("due/look/1"));
}

#[tokio::test]
async fn only_what_is_later_than_usual_counts_as_overdue() {
    let world = World::new().await;
    world.start(Mode::Live).await;
    world.pass(30 * MINUTE);
    let state = world.table.memory.state();
    let late = i64::try_from(timer::LATE_SECONDS).unwrap();
    for (passed, overdue) in [(0, 0), (late, 0), (1, 1)] {
        world.pass(passed);
        world.table.memory.restore(state.clone());
        let swept = world.timer.sweep().await;
        assert_eq!((swept.overdue, swept.ran), (overdue, 1));
    }
    assert_eq!(world.timer.sweep().await.overdue, 0, "it was run");
}
