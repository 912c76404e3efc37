//! A sweep that meets more than one page of what fails: whatever fails, and however long it takes to, the rest has its turn.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails, and this is how")]

mod support;

use std::collections::HashSet;

use run::{Mode, Time};
use serde_json::json;
use store::keys;
use support::{Fault, ORG, World};
use tokio::time::Instant;

const MINUTE: i64 = 60;

/// Two pages and a half.
const MANY: usize = 250;

/// Which shard the tests fill.
const SHARD: u8 = 2;

/// A world with so many runs that fail whenever they are touched, and one more that was due after them all and does not.
async fn failing(count: usize, fault: Fault) -> (World, String) {
    let world = World::new().await;
    let bad = world.start_in(SHARD, count).await;
    world.pass(10);
    let good = world.start_in(SHARD, 1).await.remove(0);
    world.table.refuse(bad.iter().map(|run| keys::run(ORG, run)), fault);
    world.pass(30 * MINUTE);
    (world, good)
}

#[tokio::test(start_paused = true)]
async fn any_number_of_runs_that_fail_keeps_none_after_them_waiting() {
    for fault in [Fault::Broken, Fault::Away] {
        // One sweep begins with the oldest timers and the next with the newest; neither may stop at what fails.
        for turn in [0, 1] {
            let (world, good) = failing(MANY, fault).await;
            world.pass(turn * MINUTE);
            let swept = world.timer.sweep().await;
            assert_eq!((swept.ran, swept.broken), (1, MANY), "{fault:?} {turn}");
            assert_eq!(world.waiting(&good).await, Some("look".to_owned()), "{fault:?} {turn}");
            assert_eq!(swept.told, 1, "and people are told of it");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn runs_that_never_answer_take_a_sweep_no_longer_and_keep_others_waiting_for_one_sweep_at_most() {
    let (world, good) = failing(MANY, Fault::Silent).await;
    let elsewhere = world.start_in(SHARD + 1, 30).await;
    world.pass(30 * MINUTE);
    let mut swept = 0;
    while world.waiting(&good).await != Some("look".to_owned()) {
        let begin = Instant::now();
        world.timer.sweep().await;
        let most = timer::SWEEP_SECONDS + 2 * timer::CALL_SECONDS;
        assert!(begin.elapsed().as_secs() <= most, "took {:?}", begin.elapsed());
        for run in &elsewhere {
            assert_eq!(world.waiting(run).await, Some("look".to_owned()), "another shard has its own time");
        }
        swept += 1;
        assert!(swept <= 2, "the next sweep comes from the other end");
        world.pass(MINUTE);
    }
}

#[tokio::test]
async fn all_that_is_due_is_run_by_one_sweep_and_every_overdue_timer_counts() {
    let world = World::new().await;
    let runs = world.start_in(SHARD, MANY).await;
    world.start_in(SHARD, 3).await;
    world.table.refuse(runs.iter().map(|run| keys::run(ORG, run)), Fault::Broken);
    let late = i64::try_from(timer::LATE_SECONDS).unwrap();
    world.pass(30 * MINUTE + late + 1);
    let swept = world.timer.sweep().await;
    assert_eq!((swept.overdue, swept.ran, swept.broken), (MANY + 3, 3, MANY));
    let swept = world.timer.sweep().await;
    assert_eq!((swept.overdue, swept.ran, swept.broken), (MANY, 0, MANY), "what still fails still counts");
    world.table.mend();
    let swept = world.timer.sweep().await;
    assert_eq!((swept.overdue, swept.ran, swept.broken), (MANY, MANY, 0));
    assert_eq!((swept.told, world.unsent().await), (MANY, 0));
    let swept = world.timer.sweep().await;
    assert_eq!((swept.overdue, swept.ran), (0, 0));
}

#[tokio::test]
async fn any_number_of_notices_that_the_bus_never_takes_keeps_none_after_them_untold() {
    let world = World::new().await;
    let bad: HashSet<String> = world.start_in(SHARD, MANY).await.into_iter().collect();
    world.pass(10);
    let good = world.start_in(SHARD, 1).await.remove(0);
    world.pass(30 * MINUTE);
    world.bus.refuse(move |run| bad.contains(run));
    let swept = world.timer.sweep().await;
    assert_eq!((swept.ran, swept.told, swept.untold), (MANY + 1, 1, MANY));
    assert_eq!(swept.failed, ["notices could not be sent: the bus is closed"], "each kind of failure once");
    assert_eq!(world.bus.told(), [good]);
    let swept = world.timer.sweep().await;
    assert_eq!((swept.ran, swept.told, swept.untold), (0, 0, MANY));
    world.bus.refuse(|_| false);
    let swept = world.timer.sweep().await;
    assert_eq!((swept.told, swept.untold, world.unsent().await), (MANY, 0, 0));
}

#[tokio::test]
async fn every_alarm_that_is_needed_soon_is_set_again_though_some_cannot_be() {
    let world = World::new().await;
    let runs = world.start_in(SHARD, MANY).await;
    world.pass(28 * MINUTE);
    world.alarms.forget();
    let swept = world.timer.sweep().await;
    assert_eq!((swept.set_again, swept.failed.len()), (MANY, 0));
    let set: HashSet<String> = world.alarms.set_so_far().into_iter().map(|alarm| alarm.run).collect();
    assert_eq!(set, runs.iter().cloned().collect());

    world.alarms.forget();
    world.alarms.refuse(&runs[0]);
    let swept = world.timer.sweep().await;
    assert_eq!(swept.failed, ["alarms could not be set again: try again: schedules are not to be had"]);
    let set: HashSet<String> = world.alarms.set_so_far().into_iter().map(|alarm| alarm.run).collect();
    assert!(set.contains(&runs[MANY - 1]), "a page that fails is passed by");
    assert_eq!(set.len(), swept.set_again);
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_passed_by_and_counts_as_overdue() {
    let world = World::new().await;
    let run = world.start(Mode::Live).await;
    let shard = keys::shard(&run);
    let long_ago = Time::from_millis(0);
    world.put(keys::timer(ORG, &run, long_ago, "due", "x"), json!({ "not": "a timer" })).await;
    world.put(keys::outbox(ORG, &run, long_ago, 7), json!(["not", "notices"])).await;
    assert_eq!(keys::timer(ORG, &run, long_ago, "due", "x").partition, keys::timer_partition(shard));
    world.pass(31 * MINUTE);
    let swept = world.timer.sweep().await;
    assert_eq!((swept.overdue, swept.ran, swept.told), (1, 1, 1));
    assert_eq!(world.waiting(&run).await, Some("look".to_owned()));
}
