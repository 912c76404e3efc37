//! Timers that fire twice, at once, early, late, for nothing, or not at all.

use serde_json::json;

use crate::harness::{Org, Who, beside, eventually, in_seconds, pass};

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
    assert_eq!(org.view(&run).await["workItems"].as_array().unwrap().len(), 1, "one piece of work");
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

#[tokio::test]
async fn a_schedule_fires_by_itself_and_not_early() {
    let _beside = beside().await;
    let org = Org::new("fire");
    let run = org.run("pauses", PAUSE, json!({ "when": in_seconds(5) })).await;
    let journal = eventually("it fires", async || Some(org.journal(&run).await).filter(|j| j.len() > 1)).await;
    assert_eq!(journal, ["start_run", "timer"]);
    let view = org.view(&run).await;
    let (due, at) = (&view["data"]["inputs"]["when"], &view["data"]["steps"]["pause"]["at"]);
    assert_eq!(due, at, "it went on at its time, whenever it was written");
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
