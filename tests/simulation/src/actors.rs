//! Who acts: agents, people, event senders and operators.

use std::sync::Arc;
use std::time::Duration;

use process::{EvidenceKind, Field, FieldType, Fields, Next, Work};
use run::{Actor, Decision, Mode, Submission};
use serde_json::{Map, Value, json};
use store::runs::RunFilter;
use store::{Error, EvidenceRef, Store};
use tokio::task::spawn_local;

use crate::World;
use crate::background;
use crate::calls::{Act, Answer, Call, agent, insist, person};
use crate::processes::{ORGS, PROCESSES};

/// Rounds that each actor makes while faults happen.
pub(crate) const ROUNDS: usize = 14;

/// Pieces of work that an agent hands in under one token while checks refuse them.
const SUBMISSIONS: usize = 3;

/// Runs that each organization starts.
const RUNS: usize = 5;

/// How long the simulation storms at most, in virtual seconds.
const STORM_SECONDS: u64 = 5 * 3600;

/// The people of every organization.
pub fn people() -> Vec<Actor> {
    vec![
        person("eda", &["g_editor"], false),
        person("adam", &["g_adjuster", "g_editor"], false),
        person("tess", &[], false),
        person("op_ann", &["operators"], true),
    ]
}

/// The agents of every organization.
pub fn agents() -> Vec<Actor> {
    vec![agent("a1", false), agent("a2", false), agent("a3", false)]
}

/// A call with a fresh `requestId`. Ids are numbered per organization, so that two organizations use the same ones.
pub fn call(world: &World, org: &'static str, actor: &Actor, act: Act) -> Call {
    let id = format!("q{}", world.checker().fresh(org));
    Call { org, actor: actor.clone(), id, act }
}

/// Everybody acts while faults happen.
pub async fn chaos(world: &Arc<World>) {
    let mut tasks = Vec::new();
    for org in ORGS {
        tasks.push(spawn_local(operator(world.clone(), org)));
        tasks.extend(agents().into_iter().map(|a| spawn_local(work(world.clone(), org, a))));
        tasks.extend(people().into_iter().map(|p| spawn_local(decide(world.clone(), org, p))));
        tasks.push(spawn_local(send(world.clone(), org)));
        tasks.push(spawn_local(crate::collisions::collide(world.clone(), org)));
        tasks.push(spawn_local(crate::graphs::guide(world.clone(), org)));
    }
    tasks.push(spawn_local(background::repeat(world.clone())));
    let sweeper = spawn_local(background::sweep(world.clone()));
    let all = futures::future::join_all(tasks);
    match tokio::time::timeout(Duration::from_secs(STORM_SECONDS), all).await {
        Ok(ended) => {
            for task in ended {
                if let Err(e) = task {
                    world.violated(format!("an actor stopped: {e}"));
                }
            }
        }
        Err(_) => world.note(|| "the storm is over, not everybody was done".to_owned()),
    }
    sweeper.abort();
}

/// Thinks for seconds, sometimes for minutes, rarely for longer than a lease; mostly until the next full interval, at
/// which many others wake too and meet over the same runs.
pub(crate) async fn think(world: &World) {
    let most = *world.pick(&[2_000, 10_000, 10_000, 10_000, 60_000, 300_000, 1_500_000]).unwrap();
    if world.chance(300) {
        return world.sleep(most).await;
    }
    let interval = most.min(60_000).cast_signed();
    let left = interval - world.now().millis() % interval;
    tokio::time::sleep(Duration::from_millis(left.cast_unsigned())).await;
    if world.chance(500) {
        world.sleep(30).await;
    }
}

pub(crate) async fn read<T>(world: &Arc<World>, f: impl AsyncFnOnce(Arc<Store>) -> Result<T, Error>) -> Option<T> {
    match world.server().call(f).await? {
        Ok(found) => Some(found),
        Err(Error::Invariant(why)) => {
            world.violated(format!("a read met a state that cannot be: {why}"));
            None
        }
        Err(_) => None,
    }
}

async fn operator(world: Arc<World>, org: &'static str) {
    let people = people();
    let op = &people[3];
    for (name, source) in PROCESSES {
        offer(&world, org, op, name, source).await;
    }
    for _ in 0..RUNS {
        if world.is_broken() {
            return;
        }
        let (name, source) = *world.pick(&PROCESSES).unwrap();
        let starter = if world.chance(700) { world.pick(&people).unwrap().clone() } else { agents()[0].clone() };
        let mut inputs = fields(&world, &process::read(source.as_bytes()).document.unwrap().inputs);
        if world.chance(50) {
            inputs.insert("undeclared".to_owned(), json!(1));
        }
        let mode = if world.chance(200) { Mode::Test } else { Mode::Live };
        insist(&world, &call(&world, org, &starter, Act::Start { process: name.to_owned(), inputs, mode })).await;
        think(&world).await;
        if world.chance(150) {
            // A new version while runs keep theirs, two publishing it at once.
            let machine = agent("op_machine", true);
            futures::join!(offer(&world, org, op, name, source), offer(&world, org, &machine, name, source));
        }
    }
}

/// Imports and publishes a process until it is there.
pub async fn offer(world: &Arc<World>, org: &'static str, op: &Actor, name: &str, source: &str) {
    for _ in 0..20 {
        insist(world, &call(world, org, op, Act::Import(source.to_owned()))).await;
        let answer = insist(world, &call(world, org, op, Act::Publish(name.to_owned()))).await;
        // Whoever published first may have taken this draft along.
        if answer.done().is_some() || world.checker().published(org, name) || world.is_broken() {
            return;
        }
    }
}

async fn some_run(world: &Arc<World>, org: &str, actor: &Actor) -> Option<String> {
    let filter = RunFilter::default();
    let (runs, _) = read(world, async |s| s.list_runs(org, actor, &filter, 20, None).await).await?;
    world.pick(&runs).map(|r| r.entry.run.clone())
}

async fn work(world: Arc<World>, org: &'static str, actor: Actor) {
    for _ in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        let limit = 1 + world.below(5) as usize;
        let page = read(&world, async |s| s.agent_work(org, &actor, None, limit, None).await).await;
        let Some(page) = page else { continue };
        let found = if world.chance(500) { page.items.first() } else { world.pick(&page.items) };
        let Some(found) = found.cloned() else { continue };
        let act = Act::Claim { run: found.run.clone(), step: found.step.clone() };
        let answer = insist(&world, &call(&world, org, &actor, act)).await;
        let Some(mut token) = token_of(&answer) else { continue };
        let old = token.clone();
        while world.chance(300) {
            think(&world).await;
            let progress = world.chance(500).then(|| format!("half done, says {}", actor.subject));
            let act = Act::Renew { token: token.clone(), progress };
            match token_of(&insist(&world, &call(&world, org, &actor, act)).await) {
                Some(new) => token = new,
                None => break,
            }
        }
        match world.below(10) {
            0 => continue,
            1 => {
                let act = Act::Escalate { token, note: "I cannot do this".to_owned() };
                insist(&world, &call(&world, org, &actor, act)).await;
                continue;
            }
            2 => token = old,
            _ => {}
        }
        if world.chance(300) {
            let act = Act::Submit { token: token.clone(), submission: Submission::default(), evidence: Vec::new() };
            insist(&world, &call(&world, org, &actor, act)).await;
        }
        think(&world).await;
        for _ in 0..SUBMISSIONS {
            let answer = submit(&world, org, &actor, &found.run, &found.step, token.clone()).await;
            if !not_passed(&answer) {
                break;
            }
        }
    }
}

/// Submits good work on a step, now and then the same once more when a check refuses it.
pub async fn submit(
    world: &Arc<World>,
    org: &'static str,
    actor: &Actor,
    run: &str,
    step: &str,
    token: String,
) -> Answer {
    let Some(document) = world.checker().document(org, run) else { return Answer::Nothing };
    let Some(work) = document.step(step).and_then(|s| s.work()) else { return Answer::Nothing };
    let (submission, evidence) = done_work(world, org, actor, work).await;
    let act = Act::Submit { token, submission, evidence };
    let answer = insist(world, &call(world, org, actor, act.clone())).await;
    if !not_passed(&answer) || world.chance(500) {
        return answer;
    }
    // Somebody who hopes for another answer: it must be the same one.
    let again = insist(world, &call(world, org, actor, act)).await;
    if not_passed(&again) && again != answer {
        world.violated(format!("the same submission was refused as {answer:?} and as {again:?}"));
    }
    again
}

/// Whether a check refused it.
fn not_passed(answer: &Answer) -> bool {
    matches!(answer, Answer::Refused(_, issues) if issues.iter().any(|line| line.starts_with("check: ")))
}

/// The token of a claim's or a renewal's answer.
pub fn token_of(answer: &Answer) -> Option<String> {
    answer.done()?.get("token")?.as_str().map(str::to_owned)
}

/// A submission that is accepted, its files uploaded.
pub(crate) async fn done_work(
    world: &Arc<World>,
    org: &'static str,
    actor: &Actor,
    work: &Work,
) -> (Submission, Vec<EvidenceRef>) {
    let mut evidence = Vec::new();
    for kind in &work.evidence {
        match kind {
            EvidenceKind::Link => evidence.push(EvidenceRef::Link("https://example.com/record/7".to_owned())),
            EvidenceKind::File => {
                let bytes = Act::Upload("aGVsbG8gd29ybGQ=".to_owned());
                let answer = insist(world, &call(world, org, actor, bytes)).await;
                let id = answer.done().and_then(|v| v.get("id")).and_then(Value::as_str).map(str::to_owned);
                evidence.push(EvidenceRef::File(id.unwrap_or_else(|| "f_00000000000000000000".to_owned())));
            }
        }
    }
    let (next, reason) = match &work.next {
        Next::To(_) => (None, None),
        Next::Routes(routes) => (world.pick(routes).map(|r| r.to.clone()), Some("it fits".to_owned())),
    };
    let summary = Some(format!("done by {}", actor.subject));
    (Submission { output: Some(fields(world, &work.output)), summary, next, reason, ..Submission::default() }, evidence)
}

fn fields(world: &World, fields: &Fields) -> Map<String, Value> {
    let given = fields.iter().filter(|(_, f)| !f.optional || world.chance(800));
    given.map(|(name, field)| (name.to_owned(), value(world, field))).collect()
}

fn value(world: &World, field: &Field) -> Value {
    if let Some(some) = field.one_of.as_ref().and_then(|allowed| world.pick(allowed)) {
        return some.clone();
    }
    match field.kind {
        FieldType::String => json!(format!("text {}", world.below(1000))),
        FieldType::Number => serde_json::from_str(&format!("{}.10", world.below(1_000_000))).unwrap(),
        FieldType::Boolean => json!(world.chance(500)),
        FieldType::Date => json!("2026-02-28"),
        FieldType::Datetime => {
            // Past or to come.
            let at = world.now().millis() - 1_800_000 + i64::try_from(world.below(7_200_000)).unwrap();
            json!(run::Time::from_millis(at).to_string())
        }
        FieldType::List => json!(["one", "two"]),
        FieldType::Object => json!({ "a": 1 }),
        FieldType::Person => json!(if world.chance(500) { "Tess@Example.com" } else { "eda@example.com" }),
    }
}

async fn decide(world: Arc<World>, org: &'static str, actor: Actor) {
    for _ in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        let limit = 1 + world.below(5) as usize;
        let page = read(&world, async |s| s.person_work(org, &actor, None, limit, None).await).await;
        let Some(page) = page else { continue };
        let found = if world.chance(500) { page.items.first() } else { world.pick(&page.items) };
        let Some(found) = found else { continue };
        let (run, mut item) = (found.entry.run.clone(), found.work_item.clone());
        if world.chance(250) {
            // Whoever looks at the run sees what time has made of it, and may decide another of its items.
            let view = read(&world, async |s| s.view(org, &run).await).await;
            let Some(shown) = view.as_ref().and_then(|v| world.pick(&v.work_items)) else { continue };
            item = shown.clone();
        }
        if world.chance(200) {
            think(&world).await;
        }
        let open = &item.decide.decisions;
        if world.chance(150) && open.iter().any(|d| d == "completed") {
            // Work that is not accepted, or a candidate that is adopted, while others may be deciding the same item.
            let act = Act::Decide {
                run: run.clone(),
                item: item.id.clone(),
                snapshot: item.snapshot.clone(),
                decision: Decision::Completed(Submission::default()),
                evidence: Vec::new(),
            };
            insist(&world, &call(&world, org, &actor, act)).await;
        }
        let snapshot = if world.chance(50) { "0".repeat(64) } else { item.snapshot.clone() };
        let decision = *world.pick(&["completed", "approved", "approved", "rejected", "returned", "failed"]).unwrap();
        let often = if world.checker().holds(org, &run, &item.id) { 500 } else { 200 };
        let decision = match open.iter().any(|d| d == decision) && (decision != "failed" || world.chance(often)) {
            true => decision.to_owned(),
            false => open[0].clone(),
        };
        resolve(&world, org, &actor, &run, &item.step_id, &item.id, snapshot, &decision).await;
    }
}

/// Decides a work item.
#[expect(clippy::too_many_arguments, reason = "a decision names all of these")]
pub async fn resolve(
    world: &Arc<World>,
    org: &'static str,
    actor: &Actor,
    run: &str,
    step: &str,
    item: &str,
    snapshot: String,
    decision: &str,
) -> Answer {
    let Some(document) = world.checker().document(org, run) else { return Answer::Nothing };
    let mut evidence = Vec::new();
    let note = format!("{decision}, says {}", actor.subject);
    let held = world.checker().holds(org, run, item);
    let decision = match (decision, document.step(step).and_then(|s| s.work())) {
        // As it was handed in; or with a word beside, which is neither that nor work of one's own.
        ("completed", _) if held && world.chance(500) => {
            let summary = world.chance(100).then(|| note.clone());
            Decision::Completed(Submission { summary, ..Submission::default() })
        }
        ("completed", Some(work)) => {
            let (submission, cited) = done_work(world, org, actor, work).await;
            evidence = cited;
            Decision::Completed(submission)
        }
        ("approved", _) => Decision::Approved(None),
        ("rejected", _) => Decision::Rejected(note),
        ("returned", _) => Decision::Returned(note),
        _ => Decision::Failed(note),
    };
    let act = Act::Decide { run: run.to_owned(), item: item.to_owned(), snapshot, decision, evidence };
    insist(world, &call(world, org, actor, act)).await
}

async fn send(world: Arc<World>, org: &'static str) {
    let actor = agent("a_sender", false);
    for _ in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        let Some(run) = some_run(&world, org, &actor).await else { continue };
        let name = (*world.pick(&["scan", "scan", "comment", "nobody_waits"]).unwrap()).to_owned();
        let data = Map::from_iter([("n".to_owned(), json!(world.below(100)))]);
        let send = || call(&world, org, &actor, Act::Send { run: run.clone(), name: name.clone(), data: data.clone() });
        if world.chance(300) {
            let (first, second) = (send(), send());
            futures::join!(insist(&world, &first), insist(&world, &second));
        } else {
            insist(&world, &send()).await;
        }
    }
}
