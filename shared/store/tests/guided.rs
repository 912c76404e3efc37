//! Steps that a graph guides (profile graph-1): what a version pins, the run that a claim opens, and what a submission waits
//! for, however calls are repeated, lost or raced.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use graph::documents::Outcome;
use run::{Code, Command, Decision};
use serde_json::{Map, Value, json};
use store::write::Written;
use store::{Error, Evaluator, GraphLimits, GraphPin, Request};
use support::graphs::{DOUBLING_LEVELS, PROVIDER, RELEASE, bundle, change, doubling, facts, outcome, publish};
use support::*;

const UNFINISHED: &str = "graph: waiting-user (release/approve): a person must decide this first";

const LINT: &str = "release/checks>checks/lint";

/// The same with the graph from its first action on.
fn whole() -> String {
    RELEASE.replace("entry: hotfix", "entry: default")
}

/// Records that the actions before the gates are done.
async fn act(world: &World, graph_run: &str) {
    for node in ["release/prepare", LINT] {
        change(world, &agent("bot"), graph_run, outcome(node, Outcome::Completed)).await.unwrap();
    }
}

/// A world with the provider and this process, and a run of it whose first step is done.
async fn begun(source: &str) -> (World, String) {
    let world = graphs::world().await;
    world.publish(ORG, source).await;
    let run = world.start("release", json!({ "version": "2.0" })).await;
    let token = world.claim(&agent("bot"), &run, "cut").await;
    submit(&world, "cut", &run, token, json!({ "tag": "v2" })).await.unwrap();
    (world, run)
}

async fn claim(world: &World, id: &str, by: &str, run: &str) -> Result<Written, Error> {
    world.write(id, &agent(by), run, Command::Claim { step: "ship".to_owned() }).await
}

fn token(world: &World, by: &str, written: &Written) -> run::Claimed {
    let (token, _) = world.store.token(ORG, &agent(by), written).unwrap();
    world.store.claimed(ORG, &token).unwrap().claimed()
}

async fn submit(world: &World, id: &str, run: &str, token: run::Claimed, output: Value) -> Result<Written, Error> {
    let by = agent(&token.subject);
    world.write(id, &by, run, Command::Submit { token, submission: work(output) }).await
}

/// A person resolves the gates of the graph.
async fn resolve(world: &World, graph_run: &str) {
    for gate in ["release/approve", "release/sign"] {
        change(world, &operator(), graph_run, outcome(gate, Outcome::Completed)).await.unwrap();
    }
}

/// What a claim shows of the run of the graph.
fn shown(written: &Written) -> Value {
    let graph = written.graph.as_ref().unwrap();
    let evaluated = graph.evaluated().unwrap().evaluation;
    json!({ "run": graph.run, "digest": graph.provider.reference.digest, "evaluation": evaluated })
}

#[tokio::test]
async fn a_claim_opens_a_run_that_a_submission_must_see_ended() {
    let (world, run) = begun(RELEASE).await;
    let claimed = claim(&world, "c", "bot", &run).await.unwrap();
    let graph = claimed.graph.clone().unwrap();
    assert_eq!(Value::Object(graph.run.facts.clone()), json!({ "release": { "version": "2.0", "tag": "v2" } }));
    assert_eq!((graph.run.graph.as_str(), graph.run.entry.as_str(), graph.sequence()), ("release", "hotfix", 1));
    assert_eq!(graph.run.id, format!("g_{}_ship_1", run.trim_start_matches("r_")));
    let read = world.store.graph_run(ORG, &graph.run.id).await.unwrap();
    assert_eq!(read.run, graph.run, "everybody can read it");

    let held = token(&world, "bot", &claimed);
    let refused = code(submit(&world, "s1", &run, held.clone(), json!({})).await);
    assert_eq!(refused, (Code::NotAccepted, vec![UNFINISHED.to_owned()]));
    let refused = code(submit(&world, "s2", &run, held.clone(), json!({ "x": 1 })).await);
    assert_eq!(refused, (Code::NotAccepted, vec!["output.x: not declared".to_owned(), UNFINISHED.to_owned()]));
    resolve(&world, &graph.run.id).await;
    let accepted = submit(&world, "s3", &run, held.clone(), json!({ "url": "u" })).await.unwrap();
    assert_eq!(accepted.run.step("ship").unwrap().status, Some(run::Status::Done));
    let again = submit(&world, "s3", &run, held, json!({ "url": "u" })).await.unwrap();
    let bot = agent("bot");
    assert_eq!(world.answer(&bot, &again).await, world.answer(&bot, &accepted).await, "and nothing happens twice");
    let after = world.store.graph_run(ORG, &graph.run.id).await.unwrap();
    assert_eq!(after.sequence(), 3, "a submission only holds the run still");
}

#[tokio::test]
async fn a_claim_that_is_repeated_shows_the_run_as_it_was() {
    let (world, run) = begun(RELEASE).await;
    world.probe.lose.store(1, Ordering::Relaxed);
    let first = claim(&world, "c", "bot", &run).await.unwrap();
    let id = first.graph.as_ref().unwrap().run.id.clone();
    change(&world, &agent("bot"), &id, facts(json!({ "more": 1 }))).await.unwrap();
    resolve(&world, &id).await;
    // A server with nothing in memory.
    let elsewhere = world.under(None);
    let again = claim(&elsewhere, "c", "bot", &run).await.unwrap();
    assert_eq!(shown(&again), shown(&first));
    assert_eq!(token(&elsewhere, "bot", &again), token(&world, "bot", &first));
    let taken = code(claim(&elsewhere, "d", "bob", &run).await);
    assert_eq!(taken, (Code::Conflict, vec!["claimed_by_other".to_owned()]));
}

#[tokio::test]
async fn a_later_claim_of_the_attempt_goes_on_in_its_run_and_mends_what_the_process_says() {
    let (world, run) = begun(RELEASE).await;
    let first = claim(&world, "c", "bot", &run).await.unwrap();
    let id = first.graph.as_ref().unwrap().run.id.clone();
    change(&world, &agent("bot"), &id, facts(json!({ "release": { "tag": "mine" }, "url": "early", "own": 1 })))
        .await
        .unwrap();
    change(&world, &operator(), &id, outcome("release/approve", Outcome::Completed)).await.unwrap();
    world.pass(601);
    let second = claim(&world, "d", "bob", &run).await.unwrap();
    let graph = second.graph.clone().unwrap();
    assert_eq!((graph.run.id.as_str(), graph.sequence()), (id.as_str(), 4));
    assert_eq!(graph.run.outcomes["release/approve"].outcome, Outcome::Completed);
    let mended = json!({ "release": { "version": "2.0", "tag": "v2" }, "url": "early", "own": 1 });
    assert_eq!(Value::Object(graph.run.facts), mended, "what others set beside it stays");
    world.pass(601);
    let third = claim(&world, "e", "bot", &run).await.unwrap();
    assert_eq!(third.graph.unwrap().sequence(), 4, "nothing changed, nothing is written");
}

#[tokio::test]
async fn a_run_that_others_filled_keeps_nobody_from_the_step() {
    let (world, run) = begun(RELEASE).await;
    let events = 3;
    let full = world.within(GraphLimits { run_events: events, ..GraphLimits::default() });
    let id = claim(&full, "c", "bot", &run).await.unwrap().graph.unwrap().run.id;
    for tag in ["mine", "theirs"] {
        change(&full, &agent("bob"), &id, facts(json!({ "release": { "tag": tag } }))).await.unwrap();
    }
    world.pass(601);
    let claimed = claim(&full, "d", "bob", &run).await.unwrap();
    let graph = claimed.graph.clone().unwrap();
    assert_eq!((graph.sequence(), &graph.run.facts["release"]), (events as u64, &json!({ "tag": "theirs" })));
    assert_eq!(shown(&claim(&full, "d", "bob", &run).await.unwrap()), shown(&claimed));
    // Whoever holds the step can hand it to a person.
    let token = token(&full, "bob", &claimed);
    let command = Command::Escalate { token, note: "The run of the graph is full.".to_owned() };
    full.write("e", &agent("bob"), &run, command).await.unwrap();
}

#[tokio::test]
async fn a_graph_that_is_too_much_with_a_submission_is_an_issue_of_it() {
    let world = graphs::world().await;
    publish(&world, ORG, &doubling("acme/twice", DOUBLING_LEVELS, true)).await.unwrap();
    let source = RELEASE
        .replace("acme/release", "acme/twice")
        .replace("      entry: hotfix\n", "")
        .replace("url: steps.ship", "go: steps.ship");
    world.publish(ORG, &source).await;
    let run = world.start("release", json!({ "version": "2.0" })).await;
    let cut = world.claim(&agent("bot"), &run, "cut").await;
    submit(&world, "cut", &run, cut, json!({ "tag": "v2" })).await.unwrap();
    let claimed = claim(&world, "c", "bot", &run).await.unwrap();
    let refused = submit(&world, "s", &run, token(&world, "bot", &claimed), json!({ "url": "x" })).await;
    let issue = "graph: error (evaluation-too-large): get_graph_run tells what contradicts itself";
    assert_eq!(code(refused), (Code::NotAccepted, vec![issue.to_owned()]));
}

#[tokio::test]
async fn rework_begins_a_new_run() {
    let (world, run) = begun(RELEASE).await;
    let first = claim(&world, "c", "bot", &run).await.unwrap();
    let id = first.graph.as_ref().unwrap().run.id.clone();
    resolve(&world, &id).await;
    submit(&world, "s", &run, token(&world, "bot", &first), json!({ "url": "first" })).await.unwrap();
    world.decide(&person("ann", &["editor"]), &run, Decision::Rejected("No.".into())).await.unwrap();

    let second = claim(&world, "d", "bot", &run).await.unwrap();
    let graph = second.graph.clone().unwrap();
    assert_ne!(graph.run.id, id);
    assert!(graph.run.outcomes.is_empty());
    assert_eq!(graph.run.facts.get("url"), None, "what the step recorded before is no fact of this attempt");
    let held = token(&world, "bot", &second);
    assert_eq!(
        code(submit(&world, "t", &run, held, json!({})).await),
        (Code::NotAccepted, vec![UNFINISHED.to_owned()])
    );
    assert_eq!(world.store.graph_run(ORG, &id).await.unwrap().sequence(), 3, "the earlier run stays as it ended");
}

#[tokio::test]
async fn an_outcome_that_comes_between_is_seen() {
    let (world, run) = begun(&whole()).await;
    let claimed = claim(&world, "c", "bot", &run).await.unwrap();
    let id = claimed.graph.as_ref().unwrap().run.id.clone();
    act(&world, &id).await;
    resolve(&world, &id).await;
    let (go, hold) = tokio::sync::oneshot::channel();
    *world.probe.hold.lock().unwrap() = Some(hold);
    let held = token(&world, "bot", &claimed);
    let (refused, ()) = tokio::join!(submit(&world, "s", &run, held.clone(), json!({})), async {
        while world.probe.hold.lock().unwrap().is_some() {
            tokio::task::yield_now().await;
        }
        change(&world, &operator(), &id, outcome(LINT, Outcome::Failed)).await.unwrap();
        go.send(()).unwrap();
    });
    let (code, issues) = code(refused);
    assert_eq!((code, issues.len()), (Code::NotAccepted, 1), "{issues:?}");
    assert!(issues[0].starts_with("graph: "), "{issues:?}");
    change(&world, &operator(), &id, outcome(LINT, Outcome::Completed)).await.unwrap();
    submit(&world, "t", &run, held, json!({})).await.unwrap();
}

/// Says yes, and while it thinks somebody corrects what was said in this run of a graph.
struct Slow {
    world: World,
    graph_run: OnceLock<String>,
    asked: AtomicU32,
}

#[async_trait]
impl Evaluator for Slow {
    fn model(&self) -> &str {
        "slow"
    }
    async fn answer(&self, _: &run::Inquiry) -> Result<Vec<run::Answer>, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if let Some(graph_run) = self.graph_run.get() {
            let failed = outcome(LINT, Outcome::Failed);
            change(&self.world, &operator(), graph_run, failed).await.unwrap();
        }
        Ok(vec![run::Answer::Yes(1.0)])
    }
}

#[tokio::test]
async fn an_outcome_that_comes_while_a_check_is_asked_is_seen() {
    for taken_back in [false, true] {
        let base = graphs::world().await;
        let slow = Arc::new(Slow { world: base.clone(), graph_run: OnceLock::new(), asked: AtomicU32::new(0) });
        let world = base.under(Some(slow.clone()));
        let source = whole().replace("    agent: Ship it.\n", "    agent: Ship it.\n    check: Is it shipped?\n");
        world.publish(ORG, &source).await;
        let run = world.start("release", json!({ "version": "2.0" })).await;
        let cut = world.claim(&agent("bot"), &run, "cut").await;
        submit(&world, "cut", &run, cut, json!({ "tag": "v2" })).await.unwrap();
        let claimed = claim(&world, "c", "bot", &run).await.unwrap();
        let graph_run = claimed.graph.clone().unwrap().run.id;
        act(&world, &graph_run).await;
        resolve(&world, &graph_run).await;
        if taken_back {
            slow.graph_run.set(graph_run).unwrap();
        }
        let submitted = submit(&world, "s", &run, token(&world, "bot", &claimed), json!({})).await;
        match taken_back {
            false => drop(submitted.unwrap()),
            true => {
                let (code, issues) = code(submitted);
                assert_eq!((code, issues.len()), (Code::NotAccepted, 1), "{issues:?}");
                assert!(issues[0].starts_with("graph: blocked"), "{issues:?}");
            }
        }
        assert_eq!(slow.asked.load(Ordering::Relaxed), 1, "whatever is tried again, the check is asked once");
    }
}

#[tokio::test]
async fn two_who_claim_at_once_open_one_run() {
    let (world, run) = begun(RELEASE).await;
    let (one, two) = tokio::join!(claim(&world, "c", "bot", &run), claim(&world, "d", "bob", &run));
    let (won, lost) = if one.is_ok() { (one, two) } else { (two, one) };
    assert_eq!(code(lost), (Code::Conflict, vec!["claimed_by_other".to_owned()]));
    assert_eq!(won.unwrap().graph.unwrap().sequence(), 1);
}

#[tokio::test]
async fn a_graph_costs_one_round_and_a_step_without_one_nothing() {
    let (world, run) = begun(&RELEASE.replace("require_complete: true", "require_complete: false")).await;
    let reads = || world.probe.reads.swap(0, Ordering::Relaxed);
    let writes = || std::mem::take(&mut *world.probe.transactions.lock().unwrap()).len();
    let measured = || (reads(), writes());
    measured();
    let claimed = claim(&world, "c", "bot", &run).await.unwrap();
    assert_eq!(measured(), (3, 1), "the run of the graph, beside the request and the run; the provider is in memory");
    submit(&world, "s", &run, token(&world, "bot", &claimed), json!({})).await.unwrap();
    assert_eq!(measured(), (2, 1), "a graph that need not be complete is not asked");

    world.publish(ORG, RELEASE).await;
    let run = world.start("release", json!({})).await;
    measured();
    let held = world.claim(&agent("bot"), &run, "cut").await;
    assert_eq!(measured(), (2, 1));
    submit(&world, "u", &run, held, json!({ "tag": "v2" })).await.unwrap();
    assert_eq!(measured(), (2, 1));
    let claimed = claim(&world, "d", "bot", &run).await.unwrap();
    resolve(&world, &claimed.graph.as_ref().unwrap().run.id).await;
    measured();
    submit(&world, "v", &run, token(&world, "bot", &claimed), json!({})).await.unwrap();
    assert_eq!(measured(), (3, 1));
}

/// What the latest version of the process is pinned to.
async fn pins(world: &World) -> Vec<(String, String)> {
    let version = world.store.process(ORG, "release", None).await.unwrap().version.unwrap();
    let of = |(step, pin): (&String, &GraphPin)| {
        assert!(pin.provider == PROVIDER && pin.digest.starts_with("sha256:"), "{pin:?}");
        (step.clone(), pin.version.clone())
    };
    version.graphs.iter().map(of).collect()
}

#[tokio::test]
async fn a_version_keeps_the_provider_it_was_published_with() {
    let (world, run) = begun(RELEASE).await;
    let pinned = |version: &str| vec![("ship".to_owned(), version.to_owned())];
    assert_eq!(pins(&world).await, pinned("1.0.0"));
    publish(&world, ORG, &bundle(PROVIDER, "1.1.0", "Better.")).await.unwrap();
    let claimed = claim(&world.under(None), "c", "bot", &run).await.unwrap();
    assert_eq!(claimed.graph.unwrap().provider.reference.version, "1.0.0");
    let later = world.start("release", json!({})).await;
    let held = world.claim(&agent("bot"), &later, "cut").await;
    submit(&world, "s", &later, held, json!({ "tag": "t" })).await.unwrap();
    assert_eq!(claim(&world, "d", "bot", &later).await.unwrap().graph.unwrap().provider.reference.version, "1.0.0");

    world.publish(ORG, RELEASE).await;
    assert_eq!(pins(&world).await, pinned("1.1.0"), "published anew, it takes the latest");
    world.publish(ORG, &RELEASE.replace("provider: acme/release", "provider: acme/release@1.0.0")).await;
    assert_eq!(pins(&world).await, pinned("1.0.0"));
    assert_eq!(pins(&world.under(None)).await, pinned("1.0.0"), "as it is stored");
}

#[tokio::test]
async fn a_server_without_the_profile_refuses_the_key_and_keeps_what_runs() {
    let (world, run) = begun(RELEASE).await;
    let without = world.unguided();
    assert_eq!(world.store.profiles(), ["parallel-1", "graph-1"]);
    assert_eq!(without.store.profiles(), ["parallel-1"]);
    let op = operator();
    let id = world.id();
    let request = Request::new(ORG, &op, "import_process", &id, &Map::new());
    let (refused, issues) = code(without.store.import(&request, RELEASE, None, |_| json!({})).await);
    assert_eq!((refused, issues.len()), (Code::Invalid, 1), "{issues:?}");
    assert!(issues[0].contains("`graph` needs profile graph-1"), "{issues:?}");
    // A draft from when it was offered.
    world.store.import(&request, RELEASE, None, |_| json!({})).await.unwrap();
    let id = world.id();
    let request = Request::new(ORG, &op, "publish_process", &id, &Map::new());
    let roles = [("editor".to_owned(), "editor".to_owned())].into();
    let (refused, issues) = code(without.store.publish(&request, "release", &roles, |v| json!(v.number)).await);
    assert_eq!(refused, Code::Invalid);
    assert!(issues[0].contains("`graph` needs profile graph-1"), "{issues:?}");
    // What was published before runs on.
    let claimed = claim(&without, "c", "bot", &run).await.unwrap();
    resolve(&without, &claimed.graph.as_ref().unwrap().run.id).await;
    submit(&without, "s", &run, token(&without, "bot", &claimed), json!({})).await.unwrap();
}
