//! Time passed and no timer has fired yet: what is shown is what the next write will find.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::atomic::Ordering;

use run::{Command, Decision, RunView, ShownStatus, Submission};
use serde_json::{Value, json};
use support::*;

const PAUSES: &str = "---
name: pauses
description: Waits, then somebody looks.
steps:
  - { id: pause, wait: 30m }
  - { id: look, task: Look., person: editor, due: 1h }
  - { id: reply, wait_for: reply, timeout: 1h, on_timeout: late, next: end }
  - { id: late, approve: Late?, person: editor, next: end }
  - { id: end, finish: over }
---
";

fn states(view: &RunView) -> Vec<Option<ShownStatus>> {
    view.steps.iter().map(|s| s.state).collect()
}

fn shown(view: &RunView) -> Value {
    serde_json::to_value(view).unwrap()
}

#[tokio::test]
async fn a_run_is_shown_with_every_timer_applied_that_is_due() {
    use ShownStatus::{Done, Waiting};
    let world = World::with(PAUSES).await;
    let run = world.start("pauses", json!({})).await;
    let started = world.store.view(ORG, &run).await.unwrap();
    assert_eq!(states(&started), [Some(Waiting), None, None, None, None]);
    world.pass(29 * 60);
    assert_eq!(world.store.view(ORG, &run).await.unwrap(), started, "nothing is due");
    world.pass(5 * 60);
    let stored = world.stored("");
    world.probe.reads.store(0, Ordering::Relaxed);
    let view = world.store.view(ORG, &run).await.unwrap();
    assert_eq!(world.probe.reads.load(Ordering::Relaxed), 1, "one round, as ever");
    assert_eq!(world.stored(""), stored, "reading writes nothing");
    assert_eq!(states(&view), [Some(Done), Some(Waiting), None, None, None]);
    let at = started.run.started_at.plus_seconds(30 * 60);
    assert_eq!(view.data.steps.get("pause").unwrap().current.at, Some(at), "when it was due");
    assert_eq!(view.run.updated_at, at, "when the last thing happened");
    assert_eq!(view.work_items[0].due, Some(at.plus_seconds(60 * 60)));
    world.pass(60);
    assert_eq!(world.store.view(ORG, &run).await.unwrap(), view, "and nothing more happens by itself");

    // The timer does what was shown.
    world.store.tick(ORG, &run).await.unwrap();
    let mut fired = world.store.view(ORG, &run).await.unwrap();
    assert!(fired.run.updated_at > view.run.updated_at);
    fired.run.updated_at = view.run.updated_at;
    assert_eq!(shown(&fired), shown(&view));
}

#[tokio::test]
async fn what_is_shown_can_be_acted_on_before_any_timer_has_fired() {
    let world = World::with(PAUSES).await;
    let run = world.start("pauses", json!({})).await;
    let ann = person("ann", &["editor"]);
    let decide = async |decision: Decision| {
        let view = world.store.view(ORG, &run).await.unwrap();
        let item = &view.work_items[0];
        let command = Command::Decide { item: item.id.clone(), snapshot: item.snapshot.clone(), decision };
        // More time passes before the answer comes.
        world.pass(60);
        let written = world.write(&world.id(), &ann, &run, command).await.unwrap();
        world.store.written_view(ORG, &written).await.unwrap()
    };
    // The item exists nowhere yet: the decision makes it, with the id that was shown.
    world.pass(31 * 60);
    assert_eq!(world.stored("inbox/"), []);
    let view = decide(Decision::Completed(Submission::default())).await;
    assert_eq!(view.steps[2].state, Some(ShownStatus::Waiting));
    world.pass(61 * 60);
    let view = decide(Decision::Approved(None)).await;
    assert_eq!(view.run.outcome.as_deref(), Some("over"));
    assert_eq!(world.stored(&format!("run/{ORG}/{run}")).len(), 3, "three writes: no timer ever fired");
}

#[tokio::test]
async fn a_refused_submission_leaves_its_issues_on_a_step_that_no_timer_has_made_ready_yet() {
    let world = World::with(&PAUSES.replace("due: 1h", "output: { seen: boolean }, due: 1h")).await;
    let run = world.start("pauses", json!({})).await;
    let ann = person("ann", &["editor"]);
    world.pass(31 * 60);
    let refused = code(world.decide(&ann, &run, Decision::Completed(work(json!({})))).await);
    let issues = vec!["output.seen: missing".to_owned()];
    assert_eq!(refused, (run::Code::NotAccepted, issues.clone()));
    let handoff = async || world.store.view(ORG, &run).await.unwrap().work_items[0].handoff.clone().unwrap();
    assert_eq!(handoff().await.issues.as_ref(), Some(&issues));
    world.store.tick(ORG, &run).await.unwrap();
    assert_eq!(handoff().await.issues, Some(issues), "and no timer takes them away");
    world.decide(&ann, &run, Decision::Completed(work(json!({ "seen": true })))).await.unwrap();
}

#[tokio::test]
async fn a_run_that_time_has_ended_is_shown_ended() {
    let world = World::with(
        "---
name: ends
description: Ends by itself while somebody has a step.
inputs: { until: { type: datetime, optional: true } }
steps:
  - { id: pause, wait: 30m }
  - { id: hold, wait_until: inputs.until }
  - { id: end, finish: over }
---
",
    )
    .await;
    let run = world.start("ends", json!({})).await;
    world.pass(31 * 60);
    let view = world.store.view(ORG, &run).await.unwrap();
    assert_eq!((view.run.outcome.as_deref(), view.work_items.len()), (Some("failed"), 0));
    assert_eq!(view.run.ended.as_ref().map(|e| e.at), Some(view.run.updated_at));
    let cancel = Command::Cancel { reason: "late".into() };
    let refused = code(world.write(&world.id(), &operator(), &run, cancel).await);
    assert_eq!(refused, (run::Code::Conflict, vec!["run_ended".to_owned()]));
    assert_eq!(world.stored(&format!("run/{ORG}/{run}")).len(), 1, "neither has written anything");
}
