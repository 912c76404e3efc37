//! Calls that cannot all succeed, made at one moment: what races rarely by itself races here on purpose.

use std::sync::Arc;
use std::time::Duration;

use run::{Decision, Entry, Event, Mode, Submission, Time};
use serde_json::Map;

use crate::World;
use crate::actors::{ROUNDS, agents, call, done_work, people, read, think, token_of};
use crate::calls::{Act, Answer, Call, insist};
use crate::processes::TWO_DESKS;
use crate::processes::checked::REVIEWS;

/// Brings calls to meet over ready steps, claimed steps and open work items.
pub async fn collide(world: Arc<World>, org: &'static str) {
    for _ in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        match world.below(9) {
            0..=2 => over_a_step(&world, org).await,
            3..=6 => over_an_item(&world, org).await,
            7 => over_a_join(&world, org).await,
            _ => over_a_check(&world, org).await,
        }
    }
}

/// Makes all calls at once, each after a moment of its own.
pub(crate) async fn at_once(world: &Arc<World>, calls: &[Call]) -> Vec<Answer> {
    let one = async |call: &Call| {
        if world.chance(500) {
            world.sleep(4).await;
        }
        insist(world, call).await
    };
    futures::future::join_all(calls.iter().map(one)).await
}

fn cancel(world: &World, org: &'static str, run: &str) -> Option<Call> {
    let act = Act::Cancel { run: run.to_owned(), reason: "in the way".to_owned() };
    world.chance(250).then(|| call(world, org, &people()[3], act))
}

async fn over_a_step(world: &Arc<World>, org: &'static str) {
    let agents = agents();
    let page = read(world, async |s| s.agent_work(org, &agents[0], None, 5, None).await).await;
    let Some(found) = page.as_ref().and_then(|p| world.pick(&p.items)) else { return };
    let claim = |who| call(world, org, who, Act::Claim { run: found.run.clone(), step: found.step.clone() });
    let mut calls = vec![claim(&agents[0])];
    calls.extend(cancel(world, org, &found.run));
    if world.chance(500) {
        calls.push(claim(&agents[1]));
    }
    let answers = at_once(world, &calls).await;
    let won = calls.iter().zip(&answers).find_map(|(c, a)| Some((&c.actor, token_of(a)?)));
    let Some((holder, token)) = won else { return };
    let Some(document) = world.checker().document(org, &found.run) else { return };
    let Some(work) = document.step(&found.step).and_then(|s| s.work()) else { return };
    let (submission, evidence) = done_work(world, org, holder, work).await;
    let of_holder = |act| call(world, org, holder, act);
    let mut calls = vec![of_holder(Act::Submit { token: token.clone(), submission, evidence })];
    let bad = Act::Submit { token: token.clone(), submission: Submission::default(), evidence: Vec::new() };
    for (act, per_mille) in [
        (Act::Renew { token: token.clone(), progress: Some("nearly".to_owned()) }, 500),
        (Act::Escalate { token: token.clone(), note: "or not".to_owned() }, 200),
        (bad, 300),
    ] {
        if world.chance(per_mille) {
            calls.push(of_holder(act));
        }
    }
    calls.extend(cancel(world, org, &found.run));
    at_once(world, &calls).await;
}

async fn over_an_item(world: &Arc<World>, org: &'static str) {
    let people = people();
    let Some(who) = world.pick(&people) else { return };
    let page = read(world, async |s| s.person_work(org, who, None, 5, None).await).await;
    let Some(found) = page.as_ref().and_then(|p| world.pick(&p.items)) else { return };
    let Some(document) = world.checker().document(org, &found.entry.run) else { return };
    let work = document.step(&found.entry.step).and_then(|s| s.work());
    let item = &found.work_item;
    let decide = |who, decision, evidence| {
        let (run, item, snapshot) = (found.entry.run.clone(), item.id.clone(), item.snapshot.clone());
        call(world, org, who, Act::Decide { run, item, snapshot, decision, evidence })
    };
    let mut calls = Vec::new();
    match work {
        Some(work) => {
            let (submission, evidence) = done_work(world, org, who, work).await;
            calls.push(decide(who, Decision::Completed(submission), evidence));
            calls.push(decide(who, Decision::Completed(Submission::default()), Vec::new()));
        }
        None => {
            calls.push(decide(who, Decision::Approved(None), Vec::new()));
            calls.push(decide(who, Decision::Rejected("or not".to_owned()), Vec::new()));
        }
    }
    if item.escalation.is_some() {
        calls.push(decide(who, Decision::Returned("back".to_owned()), Vec::new()));
    }
    // Somebody of the same group, or of none.
    calls.extend(world.pick(&people).map(|other| decide(other, Decision::Approved(None), Vec::new())));
    calls.extend(cancel(world, org, &found.entry.run));
    at_once(world, &calls).await;
}

/// Submissions of one agent, the same one or others, are checked at one moment, mostly when the lease is about to end and
/// somebody else wants the step.
async fn over_a_check(world: &Arc<World>, org: &'static str) {
    let agents = agents();
    let start = Act::Start { process: REVIEWS.to_owned(), inputs: Map::new(), mode: Mode::Live };
    let started = insist(world, &call(world, org, &agents[0], start)).await;
    let Some(run) = started.done().and_then(|v| v["run"]["id"].as_str()).map(str::to_owned) else { return };
    let Some(document) = world.checker().document(org, &run) else { return };
    let Some((step, work)) = document.steps.first().and_then(|s| Some((s.id.clone(), s.work()?))) else { return };
    let claim = || Act::Claim { run: run.clone(), step: step.clone() };
    let claimed = insist(world, &call(world, org, &agents[0], claim())).await;
    let Some(token) = token_of(&claimed) else { return };
    let ends = claimed.done().and_then(|v| Time::parse(v["expiresAt"].as_str()?));
    if let Some(ends) = ends.filter(|_| world.chance(700)) {
        // Servers' clocks are off by seconds: some of these are too late.
        let left = ends.millis() - world.now().millis() - i64::try_from(world.below(8_000)).unwrap();
        tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
    }
    let mut calls = Vec::new();
    for _ in 0..2 {
        let (submission, evidence) = done_work(world, org, &agents[0], work).await;
        let act = Act::Submit { token: token.clone(), submission, evidence };
        if world.chance(500) {
            calls.push(call(world, org, &agents[0], act.clone()));
        }
        calls.push(call(world, org, &agents[0], act));
    }
    calls.push(call(world, org, &agents[1], claim()));
    calls.extend(cancel(world, org, &run));
    at_once(world, &calls).await;
}

/// Two branches are finished at one moment, from two machines: both get through, and exactly one of them joins.
async fn over_a_join(world: &Arc<World>, org: &'static str) {
    let agents = agents();
    let start = Act::Start { process: TWO_DESKS.to_owned(), inputs: Map::new(), mode: Mode::Live };
    let started = insist(world, &call(world, org, &agents[0], start)).await;
    let Some(run) = started.done().and_then(|v| v["run"]["id"].as_str()).map(str::to_owned) else { return };
    let mut calls = Vec::new();
    for (who, step) in agents.iter().zip(["left", "right"]) {
        let act = Act::Claim { run: run.clone(), step: step.to_owned() };
        // Somebody who looks for work may have found it first.
        let Some(token) = token_of(&insist(world, &call(world, org, who, act)).await) else { return };
        let Some(document) = world.checker().document(org, &run) else { return };
        let Some(work) = document.step(step).and_then(|s| s.work()) else { return };
        let (submission, evidence) = done_work(world, org, who, work).await;
        calls.push(call(world, org, who, Act::Submit { token, submission, evidence }));
    }
    let answers = at_once(world, &calls).await;
    if answers.iter().any(|a| matches!(a, Answer::Refused(..))) {
        world.violated(format!("two branches of {run} were finished at once, and not both were: {answers:?}"));
    }
    if answers.iter().any(|a| a.done().is_none()) {
        return;
    }
    let (done, joined) = {
        let checker = world.checker();
        let entries = &checker.runs[&(org.to_owned(), run.clone())].entries;
        let of = |entry: &&Entry, wanted: fn(&Event) -> bool| entry.events.iter().any(wanted);
        let submitted = entries.iter().filter(|e| e.tool == "submit").take(2);
        (
            submitted.clone().filter(|e| of(e, |e| matches!(e, Event::Arrived { .. }))).count(),
            submitted.filter(|e| of(e, |e| matches!(e, Event::Joined { .. }))).count(),
        )
    };
    if (done, joined) != (2, 1) {
        world.violated(format!("two branches of {run} joined {joined} times after {done} of them had arrived"));
    }
    world.joined_at_once();
}
