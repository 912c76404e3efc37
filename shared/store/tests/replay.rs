//! A repeated call gets its first answer, whatever happened since; a `requestId` has one meaning (core §4).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use run::{Code, Command, Decision};
use serde_json::{Map, json};
use store::{Error, Request};
use support::*;

/// A run's life, every kind of write in it, as `requestId`, caller and command.
async fn life(world: &World) -> (String, Vec<(String, run::Actor, Command, serde_json::Value)>) {
    let run = world.start("letter", json!({ "topic": "rent" })).await;
    let (bot, ann, op) = (agent("bot"), person("ann", &["editor"]), operator());
    let mut done = Vec::new();
    let mut act = async |actor: &run::Actor, command: Command| {
        let id = world.id();
        let written = world.write(&id, actor, &run, command.clone()).await.unwrap();
        let answer = world.answer(actor, &written).await;
        done.push((id, actor.clone(), command, answer));
        world.pass(1);
        written
    };
    let token = async |written| {
        let (token, _) = world.store.token(ORG, &bot, &written).unwrap();
        world.store.claimed(ORG, &token).unwrap().claimed()
    };
    let decide = async |decision| {
        let view = world.store.view(ORG, &run).await.unwrap();
        let item = &view.work_items[0];
        Command::Decide { item: item.id.clone(), snapshot: item.snapshot.clone(), decision }
    };
    let data = Map::from_iter([("n".to_owned(), json!(1))]);
    act(&bot, Command::SendEvent { name: "posted".into(), data }).await;
    let claimed = token(act(&bot, Command::Claim { step: "write".into() }).await).await;
    let renewed = Command::Renew { token: claimed, progress: Some("half".into()) };
    let renewed = token(act(&bot, renewed).await).await;
    act(&bot, Command::Escalate { token: renewed, note: "no pen".into() }).await;
    act(&op, decide(Decision::Returned("take mine".into())).await).await;
    let claimed = token(act(&bot, Command::Claim { step: "write".into() }).await).await;
    let text = work(json!({ "text": "Dear all" }));
    act(&bot, Command::Submit { token: claimed, submission: text.clone() }).await;
    act(&ann, decide(Decision::Rejected("dull".into())).await).await;
    let claimed = token(act(&bot, Command::Claim { step: "write".into() }).await).await;
    act(&bot, Command::Submit { token: claimed, submission: text }).await;
    act(&ann, decide(Decision::Approved(None)).await).await;
    (run, done)
}

#[tokio::test]
async fn every_write_repeated_after_everything_gets_its_first_answer_and_writes_nothing() {
    let world = World::with(LETTER).await;
    let (run, done) = life(&world).await;
    assert_eq!(world.store.view(ORG, &run).await.unwrap().run.outcome.as_deref(), Some("sent"));
    // Every lease is long over, and the run has ended.
    world.pass(100_000);
    let before = world.probe.memory.state();
    for (id, actor, command, first) in done {
        let again = world.write(&id, &actor, &run, command.clone()).await.unwrap();
        assert_eq!(world.answer(&actor, &again).await, first, "{command:?}");
    }
    assert_eq!(world.probe.memory.state(), before);
}

#[tokio::test]
async fn a_request_id_used_for_anything_else_is_a_conflict() {
    let world = World::with(LETTER).await;
    let (run, done) = life(&world).await;
    for (id, actor, command, _) in done {
        let reused = (Code::Conflict, vec!["request_id_reused".to_owned()]);
        let other = Command::Cancel { reason: "another tool".into() };
        assert_eq!(code(world.write(&id, &actor, &run, other).await), reused);
        assert_eq!(code(world.write(&id, &agent("thief"), &run, command.clone()).await), reused);
        assert_eq!(code(world.write(&id, &actor, "r_other", command).await), reused);
    }
}

#[tokio::test]
async fn a_failed_call_is_not_remembered() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let claimed = world.claim(&agent("bot"), &run, "write").await;
    let id = world.id();
    let bad = Command::Submit { token: claimed.clone(), submission: work(json!({})) };
    assert_eq!(code(world.write(&id, &agent("bot"), &run, bad).await).0, Code::NotAccepted);
    let good = Command::Submit { token: claimed, submission: work(json!({ "text": "x" })) };
    world.write(&id, &agent("bot"), &run, good).await.unwrap();
}

#[tokio::test]
async fn sixteen_connections_with_one_request_id_execute_once() {
    for lost in [0, 1, 3] {
        let world = World::with(LETTER).await;
        let run = world.start("letter", json!({})).await;
        let before = world.probe.memory.counts().written;
        world.probe.lose.store(lost, std::sync::atomic::Ordering::Relaxed);
        let calls = (0..16).map(|_| {
            let (world, run) = (world.clone(), run.clone());
            tokio::spawn(async move {
                let actor = agent("bot");
                let written = world.write("one", &actor, &run, Command::Claim { step: "write".into() }).await.unwrap();
                world.answer(&actor, &written).await
            })
        });
        let mut answers = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            answers.push(call.await.unwrap());
        }
        assert_eq!(world.probe.memory.counts().written, before + 1);
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
    }
}

#[tokio::test]
async fn a_start_sent_sixteen_times_is_one_run() {
    let world = World::with(LETTER).await;
    world.probe.lose.store(2, std::sync::atomic::Ordering::Relaxed);
    let calls = (0..16).map(|_| {
        let world = world.clone();
        tokio::spawn(async move {
            let actor = agent("bot");
            let request = Request::new(ORG, &actor, "start_run", "one", &Map::new());
            let written = world.store.start(&request, "letter", None, Map::new(), run::Mode::Live).await.unwrap();
            written.run.meta.id
        })
    });
    let mut runs = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        runs.push(call.await.unwrap());
    }
    runs.dedup();
    assert_eq!((runs.len(), world.stored("runs/").len()), (1, 1));
}

#[tokio::test]
async fn a_lost_answer_is_found_again_by_the_call_itself() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    world.probe.lose.store(1, std::sync::atomic::Ordering::Relaxed);
    let written = world.write("one", &agent("bot"), &run, Command::Claim { step: "write".into() }).await.unwrap();
    assert_eq!(written.lease.unwrap().lease, 1);
}

#[tokio::test]
async fn a_submission_refused_while_its_twin_was_accepted_gets_the_twins_answer() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let bot = agent("bot");
    let claimed = world.claim(&bot, &run, "write").await;
    let submit = || Command::Submit { token: claimed.clone(), submission: work(json!({ "text": "x" })) };
    // The first is held in its commit; the second is decided on the same state, and commits.
    let (free, hold) = tokio::sync::oneshot::channel();
    *world.probe.hold.lock().unwrap() = Some(hold);
    let (first, second) = tokio::join!(world.write("one", &bot, &run, submit()), async {
        let second = world.write("one", &bot, &run, submit()).await;
        free.send(()).unwrap();
        second
    });
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(world.answer(&bot, &first).await, world.answer(&bot, &second).await);
}

#[tokio::test]
async fn sixteen_claims_of_sixteen_agents_have_one_winner() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let calls = (0..16).map(|n| {
        let (world, run) = (world.clone(), run.clone());
        tokio::spawn(async move {
            let id = world.id();
            world.write(&id, &agent(&format!("bot{n}")), &run, Command::Claim { step: "write".into() }).await
        })
    });
    let (mut won, mut lost) = (0, 0);
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(_) => won += 1,
            Err(Error::Refused(r)) if r.issues == ["claimed_by_other"] => lost += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((won, lost), (1, 15));
}
