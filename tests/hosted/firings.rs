//! Timers that fire twice, at once, early, late, for nothing, or not at all.

use serde_json::json;

use crate::harness::{Org, Who, alone, beside, eventually, in_seconds, pass};

const PAUSE: &str = "
inputs: { when: datetime }
steps:
  - { id: pause, wait_until: inputs.when }
  - { id: look, task: Look., person: boss }
  - { id: end, finish: over }
";

/// Deletes the run's schedules, so that only this test fires.
async fn disarmed(org: &Org, run: &str) {
    let schedules = org.aws.schedules(run).await;
    assert_eq!(schedules.len(), 1, "{schedules:?}");
    org.aws.delete_schedule(&schedules[0]).await;
}

#[tokio::test]
async fn many_at_once_are_one() {
    let _beside = beside().await;
    let org = Org::new("fire");
    let run = org.run("pauses", PAUSE, json!({ "when": in_seconds(4) })).await;
    disarmed(&org, &run).await;
    let event = json!({ "org": org.name, "run": run, "timer": "wait/pause/1" });
    assert_eq!(org.aws.timer(&event).await.error, None);
    assert_eq!(org.journal(&run).await, ["start_run"], "it is early, and changes nothing");
    pass(4_500).await;
    let (a, b, c, d) =
        tokio::join!(org.aws.timer(&event), org.aws.timer(&event), org.aws.timer(&event), org.aws.timer(&event));
    let errors: Vec<_> = [a, b, c, d].into_iter().filter_map(|invoked| invoked.error).collect();
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!(org.journal(&run).await, ["start_run", "timer"]);
    assert_eq!(org.aws.timer(&event).await.error, None, "and once more, late");
    assert_eq!(org.journal(&run).await, ["start_run", "timer"]);
    assert_eq!(org.listed().await, 1, "one piece of work");
}

#[tokio::test]
async fn a_timer_of_work_that_is_done_changes_nothing() {
    let _beside = beside().await;
    let org = Org::new("fire");
    let rest = "
steps:
  - { id: look, task: Look., person: boss, due: 1m }
  - { id: posted, wait_for: posted }
  - { id: end, finish: over }
";
    let run = org.run("dues", rest, json!({})).await;
    let completed = org.decision(&run, "completed").await;
    org.ok(Who::Olga, "decide", completed).await;
    assert_eq!(org.aws.schedules(&run).await, Vec::<String>::new(), "its timer is not needed any more");
    let event = json!({ "org": org.name, "run": run, "timer": "due/look/1" });
    assert_eq!(org.aws.timer(&event).await.error, None);
    // Once the minute is over, it is late as well.
    pass(61_000).await;
    assert_eq!(org.aws.timer(&event).await.error, None);
    assert_eq!(org.journal(&run).await, ["start_run", "decide"]);
    assert_eq!(org.view(&run).await["steps"][0]["overdue"], json!(null));
}

#[tokio::test]
async fn what_no_timer_is_for_is_no_error() {
    let _beside = beside().await;
    let org = Org::new("fire");
    for event in [
        json!({ "org": org.name, "run": "r_nobody", "timer": "wait/pause/1" }),
        json!({ "org": org.name }),
        json!("sweep"),
    ] {
        assert_eq!(org.aws.timer(&event).await.error, None, "{event}");
    }
}

/// Between two timers, in seconds: the stack's own sweep, once a minute, comes in time for one of three at most.
const APART_SECONDS: u64 = 8;

/// How late a run may go on, in milliseconds: whole seconds, the stand-in's look, a function that has to start.
const LATE_MILLIS: i64 = 6_000;

#[tokio::test]
async fn schedules_fire_by_themselves_and_not_early() {
    // Nobody else sweeps meanwhile.
    let _alone = alone().await;
    let org = Org::new("fire");
    org.publish("pauses", PAUSE).await;
    let mut runs = Vec::new();
    for n in 1..=3 {
        let when = in_seconds(n * APART_SECONDS);
        runs.push((org.start("pauses", json!({ "when": when }), "live").await, when));
    }
    for (run, when) in runs {
        let journal = eventually("it fires", async || Some(org.journal(&run).await).filter(|j| j.len() > 1)).await;
        let late = run::Time::parse(&in_seconds(0)).unwrap().millis() - run::Time::parse(&when).unwrap().millis();
        assert!((0..LATE_MILLIS).contains(&late), "{late} ms");
        assert_eq!(journal, ["start_run", "timer"]);
        let view = org.view(&run).await;
        assert_eq!(
            view["data"]["steps"]["pause"]["at"],
            when.as_str(),
            "it went on at its time, whenever it was written"
        );
    }
}

#[tokio::test]
async fn the_sweep_arms_what_is_missing_and_fires_what_never_fired() {
    let _beside = beside().await;
    let org = Org::new("fire");
    let run = org.run("pauses", PAUSE, json!({ "when": in_seconds(20) })).await;
    disarmed(&org, &run).await;
    org.aws.sweep().await;
    assert_eq!(org.aws.schedules(&run).await.len(), 1, "it is there again");
    assert_eq!(org.journal(&run).await, ["start_run"]);
    // The stack's own sweep may set it again until it is due.
    let journal = eventually("a sweep fires it", async || {
        for schedule in org.aws.schedules(&run).await {
            org.aws.delete_schedule(&schedule).await;
        }
        org.aws.sweep().await;
        Some(org.journal(&run).await).filter(|journal| journal.len() > 1)
    })
    .await;
    assert_eq!(journal, ["start_run", "timer"]);
    org.aws.sweep().await;
    assert_eq!(org.journal(&run).await, ["start_run", "timer"]);
}
