//! The largest transactions there are: writes that move every branch of a region of the largest kind. With 30 branches
//! the largest holds 96 operations: three for each of 29 siblings, five for the step that moves, and four for the run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use process::limits::{BRANCH_ENTRIES, WAITS};
use run::{Command, Decision, Event, ShownStatus, Submission};
use serde_json::{Map, json};
use store::table::TRANSACTION_OPS;
use support::*;

/// A region of as many branches as there may be, each made by `branch` of its number.
fn region(branch: impl Fn(usize) -> String) -> String {
    let entries: Vec<String> = (0..BRANCH_ENTRIES).map(|n| format!("b{n}")).collect();
    let branches: String = (0..BRANCH_ENTRIES).map(branch).collect();
    format!(
        "---
name: wide
description: As wide as a process may be.
steps:
  - {{ id: begin, agent: Begin., due: 1h }}
  - {{ id: p, parallel: [{}], next: sign }}
{branches}  - {{ id: sign, person: editor, approve: All of it?, due: 1h, on_reject: p, next: end }}
  - {{ id: end, finish: over }}
---
",
        entries.join(", ")
    )
}

/// A world with a run that has just forked.
async fn forked(branch: impl Fn(usize) -> String) -> (World, String) {
    let world = World::with(&region(branch)).await;
    let run = world.start("wide", json!({})).await;
    let bot = agent("bot");
    let token = world.claim(&bot, &run, "begin").await;
    world.write(&world.id(), &bot, &run, Command::Submit { token, submission: work(json!({})) }).await.unwrap();
    (world, run)
}

/// How many operations the last transaction held; no transaction of a world may hold too many.
fn last(world: &World) -> usize {
    let all = world.probe.transactions.lock().unwrap();
    let most = all.iter().map(Vec::len).max().unwrap();
    assert!(most <= TRANSACTION_OPS, "{most} operations in one transaction");
    all.last().unwrap().len()
}

async fn send(world: &World, run: &str) {
    let event = Command::SendEvent { name: "nobody".into(), data: Map::new() };
    world.write(&world.id(), &agent("gate"), run, event).await.unwrap();
}

/// Decides the open work item of a step, by what is shown.
async fn decide(world: &World, run: &str, step: &str, by: &run::Actor, decision: Decision) {
    let view = world.store.view(ORG, run).await.unwrap();
    let item = view.work_items.iter().find(|i| i.step_id == step).unwrap();
    let command = Command::Decide { item: item.id.clone(), snapshot: item.snapshot.clone(), decision };
    world.write(&world.id(), by, run, command).await.unwrap();
}

async fn claim_all(world: &World, run: &str) -> Vec<run::Claimed> {
    let mut tokens = Vec::new();
    for n in 0..BRANCH_ENTRIES {
        let bot = agent("bot");
        let token = world.claim(&bot, run, &format!("b{n}")).await;
        let renew = Command::Renew { token, progress: Some("Half of it is done.".into()) };
        let written = world.write(&world.id(), &bot, run, renew).await.unwrap();
        let (token, _) = world.store.token(ORG, &bot, &written).unwrap();
        tokens.push(world.store.claimed(ORG, &token).unwrap().claimed());
    }
    tokens
}

fn agents(n: usize) -> String {
    format!("  - {{ id: b{n}, agent: Do it., due: 1h, next: join }}\n")
}

#[tokio::test]
async fn every_branch_is_overdue_in_one_write() {
    let (world, run) = forked(agents).await;
    assert!(last(&world) > 2 * BRANCH_ENTRIES, "the fork itself: a step and its due time for each branch");
    claim_all(&world, &run).await;
    world.pass(3600);
    world.store.tick(ORG, &run).await.unwrap();
    assert!(last(&world) > BRANCH_ENTRIES);
}

#[tokio::test]
async fn every_branch_is_claimed_overdue_and_cancelled_in_one_write() {
    for how in ["cancelled", "failed"] {
        let (world, run) = forked(agents).await;
        let tokens = claim_all(&world, &run).await;
        if how == "failed" {
            let escalate = Command::Escalate { token: tokens[0].clone(), note: "It cannot be done.".into() };
            world.write(&world.id(), &agent("bot"), &run, escalate).await.unwrap();
        }
        world.pass(3600);
        match how {
            "cancelled" => {
                let cancel = Command::Cancel { reason: "Enough.".into() };
                world.write(&world.id(), &operator(), &run, cancel).await.unwrap();
            }
            _ => decide(&world, &run, "b0", &operator(), Decision::Failed("So it ends.".into())).await,
        }
        // The attempt, the place in the list and the due time of each.
        assert!(last(&world) > 3 * BRANCH_ENTRIES, "{how}: {}", last(&world));
        assert_eq!(world.stored("leased/").len() + world.stored("timer/").len() + world.stored("inbox/").len(), 0);
        let view = world.store.view(ORG, &run).await.unwrap();
        let cancelled = view.steps.iter().filter(|s| s.state == Some(ShownStatus::Cancelled)).count();
        assert!(cancelled >= BRANCH_ENTRIES);
    }
}

#[tokio::test]
async fn a_completion_makes_every_siblings_item_anew_while_all_are_overdue() {
    // Escalated steps have an item with a snapshot and an attempt with a handoff; the one that completes goes on to more.
    let (world, run) = forked(|n| {
        format!(
            "  - {{ id: b{n}, agent: Do it., due: 1h, next: c{n} }}\n  \
             - {{ id: c{n}, agent: Do more., due: 1h, next: join }}\n"
        )
    })
    .await;
    for token in claim_all(&world, &run).await {
        let escalate = Command::Escalate { token, note: "It cannot be done.".into() };
        world.write(&world.id(), &agent("bot"), &run, escalate).await.unwrap();
    }
    world.pass(3600);
    decide(&world, &run, "b7", &operator(), Decision::Completed(work(json!({})))).await;
    let worst = last(&world);
    assert!(worst > 3 * BRANCH_ENTRIES, "{worst}");
    let overdue = |e: &run::Entry| e.events.iter().filter(|e| matches!(e, Event::Overdue { .. })).count();
    let journal = world.stored(&format!("run/{ORG}/{run}"));
    let entry: run::Entry = serde_json::from_value(journal.last().unwrap().doc.clone()).unwrap();
    assert_eq!(overdue(&entry), BRANCH_ENTRIES, "all of it in that one write");
}

#[tokio::test]
async fn every_branch_goes_on_to_a_person_in_the_write_of_one_of_them() {
    let (world, run) = forked(|n| match n {
        0 => "  - { id: b0, person: editor, task: Look., due: 1h, next: c0 }\n  \
              - { id: c0, person: editor, task: Look again., due: 1h, next: join }\n"
            .to_owned(),
        n => format!(
            "  - {{ id: b{n}, wait: 1h, next: c{n} }}\n  \
             - {{ id: c{n}, person: editor, task: Look., due: 1h, next: join }}\n"
        ),
    })
    .await;
    let ann = person("ann", &["editor"]);
    // A refused submission leaves an attempt behind, so that there is one to remove.
    let bad = Submission { next: Some("end".into()), ..Submission::default() };
    let view = world.store.view(ORG, &run).await.unwrap();
    let item = &view.work_items[0];
    let command =
        Command::Decide { item: item.id.clone(), snapshot: item.snapshot.clone(), decision: Decision::Completed(bad) };
    assert_eq!(code(world.write(&world.id(), &ann, &run, command).await).0, run::Code::NotAccepted);
    world.pass(3600);
    decide(&world, &run, "b0", &ann, Decision::Completed(Submission::default())).await;
    assert!(last(&world) > 3 * BRANCH_ENTRIES, "{}", last(&world));
    assert_eq!(world.stored("inbox/").len(), BRANCH_ENTRIES);
}

#[tokio::test]
async fn a_return_from_after_the_join_forks_again_in_one_write() {
    let (world, run) = forked(agents).await;
    let bot = agent("bot");
    for token in claim_all(&world, &run).await {
        let submit = Command::Submit { token, submission: work(json!({})) };
        world.write(&world.id(), &bot, &run, submit).await.unwrap();
        last(&world);
    }
    world.pass(3600);
    decide(&world, &run, "sign", &person("ann", &["editor"]), Decision::Rejected("All anew.".into())).await;
    assert!(last(&world) > 2 * BRANCH_ENTRIES);
    send(&world, &run).await;
    let view = world.store.view(ORG, &run).await.unwrap();
    let ready = view.steps.iter().filter(|s| s.state == Some(ShownStatus::Ready)).count();
    assert_eq!(ready, BRANCH_ENTRIES);
}

/// As many waits as a process may have, and as much run data as a run may have, all of it recorded by one write.
#[tokio::test]
async fn whatever_passes_at_once_fits_one_entry() {
    let id = |n: usize| format!("{}{n:03}", "w".repeat(61));
    for kind in ["wait: 0m", "wait_for: go"] {
        let waits: String = (0..WAITS).map(|n| format!("  - {{ id: {}, {kind} }}\n", id(n))).collect();
        let source = format!(
            "---\nname: row\ndescription: x\nsteps:\n  - {{ id: a, agent: x, output: {{ t: string }} }}\n{waits}  - {{ id: z, finish: over }}\n---\n"
        );
        let world = World::with(&source).await;
        let (bot, run) = (agent("bot"), world.start("row", json!({})).await);
        let gate = agent(&"g".repeat(100));
        if kind == "wait_for: go" {
            for _ in 0..WAITS {
                let data = json!({ "d": "x".repeat(500) }).as_object().unwrap().clone();
                let event = Command::SendEvent { name: "go".into(), data };
                world.write(&world.id(), &gate, &run, event).await.unwrap();
            }
        }
        // The largest output that is accepted.
        let token = world.claim(&bot, &run, "a").await;
        let submit = |bytes: usize| Command::Submit {
            token: token.clone(),
            submission: work(json!({ "t": "x".repeat(bytes) })),
        };
        let (refused, issues) = code(world.write(&world.id(), &bot, &run, submit(300_000)).await);
        assert_eq!(refused, run::Code::NotAccepted);
        let over: usize = issues[0].split(' ').nth(2).unwrap().parse().unwrap();
        let most = 300_000 - (over - world.store.settings().limits.run_data_bytes);
        world.write(&world.id(), &bot, &run, submit(most)).await.unwrap();
        let view = world.store.view(ORG, &run).await.unwrap();
        assert_eq!(view.run.outcome.as_deref(), Some("over"), "{kind}");
    }
}
