//! Runs of Graphs: what may be recorded, by whom, and how much.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use graph::documents::{Outcome, StatusCode};
use run::{Actor, Code};
use serde_json::{Map, Value, json};
use store::{Error, GraphCommand, GraphLimits, GraphRun, Pin, Request};
use support::graphs::*;
use support::*;

#[tokio::test]
async fn only_a_node_that_has_an_outcome_of_its_own_is_recorded() {
    let world = world().await;
    let id = start(&world, json!({})).await;
    let stored = world.stored("");
    for (node, said) in [
        ("release/prepar", "did you mean `release/prepare`?"),
        ("prepare", "did you mean `release/prepare`?"),
        ("checks/lint", "did you mean `release/checks>checks/lint`?"),
        ("release/checks>checks/lin", "did you mean `release/checks>checks/lint`?"),
        ("release/prepare>checks/lint", "did you mean `release/checks>checks/lint`?"),
        ("release/checks>release/prepare", "did you mean `release/prepare`?"),
        ("release/prepare>", "did you mean `release/prepare`?"),
        (">release/prepare", "did you mean"),
        ("checks/done", "a key is"),
        ("zzzzzzzzzzzz", "a key is"),
        ("", "a key is"),
        (&"release/prepare>".repeat(100), "a key is"),
        ("release/checks", "is a subgraph node"),
        ("release/done", "is a terminal node"),
        ("release/checks>checks/done", "is a terminal node"),
    ] {
        let (code, issues) = code(change(&world, &agent("bot"), &id, outcome(node, Outcome::Completed)).await);
        assert_eq!((code, issues.len()), (Code::Invalid, 1), "{node}: {issues:?}");
        assert!(issues[0].starts_with("node: ") && issues[0].contains(said), "{node}: {issues:?}");
        assert!(issues[0].len() < 500, "{issues:?}");
    }
    let detail = GraphCommand::Record {
        node: "none".into(),
        outcome: Outcome::Failed,
        detail: Some(json!("x".repeat(20_000))),
        revision: Some("sha256:0".into()),
    };
    let (_, issues) = code(change(&world, &agent("bot"), &id, detail).await);
    assert_eq!(issues.len(), 2, "all that is wrong at once: {issues:?}");
    assert_eq!(world.stored(""), stored);
}

#[tokio::test]
async fn a_gate_is_a_persons_to_resolve_or_an_authoritys_while_it_is_open() {
    let world = world().await;
    let guest = Actor { may_decide: false, ..person("guest", &[]) };
    let machine = Actor { operator: true, ..agent("machine") };
    let desk = Actor { operator: true, ..guest.clone() };
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    // Whether it was recorded; a refusal is `forbidden` and nothing else.
    let record = async |actor: &Actor, run: &str, node: &str| {
        let answer = change(&world, actor, run, outcome(node, Outcome::Completed)).await;
        answer.is_ok() || {
            assert_eq!(code(answer).0, Code::Forbidden, "{actor:?} {node}");
            false
        }
    };
    // People may whatever the authorities are; agents may not, operators or not, unless an authority of the run resolves
    // the gate, which it does for one of the two.
    for (actor, may, by_authority) in [
        (&bot, false, true),
        (&machine, false, true),
        (&guest, false, false),
        (&ann, true, true),
        (&desk, false, false),
    ] {
        let ready = async |given: &[&str]| {
            let run = start(&world, json!({})).await;
            assert!(record(&bot, &run, "release/prepare").await);
            assert!(record(&bot, &run, "release/checks>checks/lint").await);
            change(&world, &ann, &run, authorities(given)).await.unwrap();
            run
        };
        for given in [&[][..], &["other"]] {
            let run = ready(given).await;
            assert_eq!(record(actor, &run, "release/approve").await, may, "{actor:?} {given:?}");
            assert!(may || record(&ann, &run, "release/approve").await);
            assert_eq!(record(actor, &run, "release/sign").await, may, "{actor:?} {given:?}");
        }
        let run = ready(&["lead"]).await;
        assert_eq!(record(actor, &run, "release/approve").await, by_authority, "{actor:?}");
        assert!(by_authority || record(&ann, &run, "release/approve").await);
        assert_eq!(record(actor, &run, "release/sign").await, may, "it is not delegatable: {actor:?}");
    }
    // Not before the gate is reached, and not once it is resolved, whoever asks.
    let early = async |actor: &Actor, run: &str| {
        let answer = change(&world, actor, run, outcome("release/approve", Outcome::Completed)).await;
        let (code, issues) = code(answer);
        assert_eq!(code, Code::Conflict, "{issues:?}");
        assert!(issues[0].starts_with("node_not_open: release/approve is not open"), "{issues:?}");
    };
    let run = start(&world, json!({})).await;
    change(&world, &ann, &run, authorities(&["lead"])).await.unwrap();
    early(&bot, &run).await;
    early(&ann, &run).await;
    assert!(record(&bot, &run, "release/prepare").await);
    assert!(record(&bot, &run, "release/checks>checks/lint").await);
    assert!(record(&bot, &run, "release/approve").await);
    early(&bot, &run).await;
    early(&ann, &run).await;
    assert!(record(&ann, &run, "release/sign").await);
    let evaluation = world.store.graph_run(ORG, &run).await.unwrap().evaluated().unwrap().evaluation;
    assert_eq!((evaluation.status_code, evaluation.outcome), (StatusCode::Complete, Some(Outcome::Completed)));
}

const ORDERED: &str = "schema: agent-graph.graph.v1
id: close
entrypoints: { default: count }
nodes:
  - { id: count, kind: action, reasonCode: route.count, action: do.yaml, satisfiedBy: [{ path: counted, exists: true }] }
  - { id: agree, kind: gate, reasonCode: route.agree, gate: { id: a, prompt: Well?, authority: lead } }
  - { id: file, kind: action, reasonCode: route.file, action: do.yaml, requiresFacts: [{ path: folder, equals: open }] }
  - { id: lock, kind: action, reasonCode: route.lock, action: do.yaml }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges:
  - { from: count, to: agree }
  - { from: agree, to: file }
  - { from: file, to: lock }
  - { from: lock, to: done }
  - { from: lock, to: count, kind: repeat, outcomes: [failed] }
";

#[tokio::test]
async fn an_outcome_is_recorded_of_what_is_open_or_corrects_one() {
    let world = world().await;
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    let files = [
        ("provider.yaml", "schema: agent-graph.provider.v1\nid: acme/close\nversion: 1.0.0\ngraphs: [close.yaml]\n"),
        ("close.yaml", ORDERED),
        ("do.yaml", "schema: agent-graph.action.v1\nid: do\nrunner: command\neffect: write\ncommand: make\n"),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    publish(&world, ORG, &built(files.into())).await.unwrap();
    let request = Request::new(ORG, &bot, "start_graph_run", "s", &Map::new());
    let started =
        world.store.start_graph_run(&request, "acme/close", Pin::Latest, "close", "default", Map::new()).await;
    let id = started.unwrap().run.id;
    let record = async |actor: &Actor, node: &str, word: Outcome| change(&world, actor, &id, outcome(node, word)).await;
    // Each refusal, by what its issue says, while nothing is written.
    let refused = async |actor: &Actor, node: &str, said: &[&str]| {
        let stored = world.stored("");
        let (code, issues) = code(record(actor, node, Outcome::Completed).await);
        assert_eq!((code, issues.len()), (Code::Conflict, 1), "{issues:?}");
        assert!(issues[0].starts_with(&format!("node_not_open: {node} is not open")), "{issues:?}");
        assert!(said.iter().all(|said| issues[0].contains(said)), "{said:?}: {issues:?}");
        assert_eq!(world.stored(""), stored);
    };
    let done = async |actor: &Actor, node: &str| drop(record(actor, node, Outcome::Completed).await.unwrap());
    for node in ["close/lock", "close/file", "close/agree"] {
        refused(&bot, node, &["open now: close/count"]).await;
        refused(&ann, node, &["open now: close/count"]).await;
    }
    // What was said and not proven can be said otherwise; what the facts prove by themselves is not said.
    done(&bot, "close/count").await;
    refused(&bot, "close/lock", &["no node is open now"]).await;
    record(&bot, "close/count", Outcome::Partial).await.unwrap();
    done(&bot, "close/count").await;
    change(&world, &bot, &id, facts(json!({ "counted": 3 }))).await.unwrap();
    refused(&bot, "close/lock", &["open now: close/agree (a person's)"]).await;
    done(&ann, "close/agree").await;
    // A gate is not corrected, an action whose facts are missing is not open, and both are told why.
    refused(&ann, "close/agree", &["what was said of a gate stands", "no node is open now"]).await;
    refused(&bot, "close/file", &["requires Facts that do not hold: folder must be"]).await;
    change(&world, &bot, &id, facts(json!({ "folder": "open" }))).await.unwrap();
    done(&bot, "close/file").await;
    // A repeat opens nothing that the facts prove.
    record(&bot, "close/lock", Outcome::Failed).await.unwrap();
    done(&bot, "close/lock").await;
    let run = world.store.graph_run(ORG, &id).await.unwrap();
    assert_eq!(run.evaluated().unwrap().evaluation.status_code, StatusCode::Complete);
    assert_eq!(run.run.outcomes.len(), 4);

    let second = Request::new(ORG, &bot, "start_graph_run", "t", &Map::new());
    let facts = Map::from_iter([("counted".to_owned(), json!(1))]);
    let started = world.store.start_graph_run(&second, "acme/close", Pin::Latest, "close", "default", facts).await;
    let proven = change(&world, &bot, &started.unwrap().run.id, outcome("close/count", Outcome::Completed)).await;
    let (_, issues) = code(proven);
    let said = "node_not_open: close/count is not open; open now: close/agree (a person's)";
    assert_eq!(issues, [said], "what the facts prove is behind");
}

#[tokio::test]
async fn everybody_can_see_who_recorded_what() {
    let world = world().await;
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    let id = start(&world, json!({})).await;
    change(&world, &bot, &id, outcome("release/prepare", Outcome::Completed)).await.unwrap();
    change(&world, &ann, &id, authorities(&["lead"])).await.unwrap();
    let kept = change(&world, &bot, &id, GraphCommand::Checkpoint).await.unwrap();
    let told = |run: &GraphRun| {
        let told = run.recorded_by.iter().map(|one| format!("{} {} {:?}", one.sequence, one.by, one.kind));
        told.collect::<Vec<_>>()
    };
    let all = ["1 bot Agent", "2 bot Agent", "3 ann Person", "4 bot Agent"];
    assert_eq!(told(&kept), all);
    assert_eq!(told(&world.under(None).store.graph_run(ORG, &id).await.unwrap()), all);
    let resumed = resume_as(&world, "r", ORG, &ann, &kept.checkpoint().unwrap()).await.unwrap();
    assert_eq!(told(&resumed), ["5 ann Person"]);
}

#[tokio::test]
async fn an_authority_is_a_persons_to_give() {
    let world = world().await;
    let run = start(&world, json!({})).await;
    let guest = Actor { may_decide: false, ..person("guest", &[]) };
    let machine = Actor { operator: true, ..agent("machine") };
    for (actor, may) in [(agent("bot"), false), (guest, false), (person("ann", &[]), true), (machine, true)] {
        let set = change(&world, &actor, &run, authorities(&["lead"])).await;
        match may {
            true => assert_eq!(set.unwrap().run.authorities, ["lead"]),
            false => assert_eq!(code(set).0, Code::Forbidden, "{actor:?}"),
        }
    }
}

#[tokio::test]
async fn an_outcome_for_a_revision_that_passed_is_a_conflict() {
    let world = world().await;
    let bot = agent("bot");
    let id = start(&world, json!({})).await;
    let revision = async || {
        let run = world.store.graph_run(ORG, &id).await.unwrap();
        run.evaluated().unwrap().evaluation.revision
    };
    let record = |revision: &str| GraphCommand::Record {
        node: "release/prepare".into(),
        outcome: Outcome::Completed,
        detail: None,
        revision: Some(revision.to_owned()),
    };
    let seen = revision().await;
    change(&world, &bot, &id, facts(json!({ "a": 1 }))).await.unwrap();
    let stale = || (Code::Conflict, vec!["route_revision_stale".to_owned()]);
    assert_eq!(code(change(&world, &bot, &id, record(&seen)).await), stale());
    let seen = revision().await;
    change_as(&world, "c", ORG, &bot, &id, record(&seen)).await.unwrap();
    assert_eq!(code(change(&world, &bot, &id, record(&seen)).await), stale());
    // The one that was accepted is accepted again, though the revision passed with it.
    assert_eq!(change_as(&world, "c", ORG, &bot, &id, record(&seen)).await.unwrap().sequence(), 3);
}

#[tokio::test]
async fn limits_are_told_and_what_is_over_them_changes_nothing() {
    let bot = agent("bot");
    let limits = GraphLimits { run_events: 4, run_bytes: 4_000, journal_bytes: 8_000, detail_bytes: 100 };
    let world = world().await.within(limits);
    let said = |answer: Result<GraphRun, Error>, what: &[&str]| {
        let (code, issues) = code(answer);
        assert_eq!(code, Code::Invalid);
        assert_eq!(issues.len(), what.len(), "{issues:?}");
        assert!(issues.iter().zip(what).all(|(issue, what)| issue.contains(what)), "{issues:?}");
    };
    let big = |bytes: usize| json!({ "big": "x".repeat(bytes) });
    said(start_as(&world, &world.id(), ORG, &bot, big(4_000)).await, &["run: "]);
    said(start_as(&world, &world.id(), ORG, &bot, big(9_000)).await, &["bytes as JSON, at most 4000", "journal: "]);
    let id = start(&world, big(1_000)).await;
    said(change(&world, &bot, &id, detailed("release/prepare", json!("x".repeat(99)))).await, &["detail: 101 bytes"]);
    change(&world, &bot, &id, detailed("release/prepare", json!("x".repeat(98)))).await.unwrap();
    let stored = world.stored("");
    said(change(&world, &bot, &id, facts(big(3_900))).await, &["run: "]);
    assert_eq!(world.stored(""), stored);
    // Facts that replace each other stay small; the journal that keeps them all does not.
    change(&world, &bot, &id, facts(big(2_800))).await.unwrap();
    change(&world, &bot, &id, facts(big(2_800))).await.unwrap();
    said(change(&world, &bot, &id, facts(big(1_000))).await, &["run: 5 events, at most 4", "journal: "]);
    said(change(&world, &bot, &id, GraphCommand::Checkpoint).await, &["run: 5 events, at most 4"]);
    assert_eq!(world.store.graph_run(ORG, &id).await.unwrap().sequence(), 4);
    // A run that is at its limit does not begin again from a checkpoint either.
    let id = start(&world, json!({})).await;
    for _ in 0..3 {
        change(&world, &bot, &id, GraphCommand::Checkpoint).await.unwrap();
    }
    said(resume_as(&world, &world.id(), ORG, &bot, &format!("{id}@4")).await, &["run: 5 events, at most 4"]);
    resume_as(&world, &world.id(), ORG, &bot, &format!("{id}@3")).await.unwrap();
}

#[tokio::test]
async fn a_state_that_cannot_be_evaluated_is_refused_and_changes_nothing() {
    let world = world().await;
    let bot = agent("bot");
    let twice = publish(&world, ORG, &doubling("acme/twice", DOUBLING_LEVELS, true)).await.unwrap();
    let start = async |facts: Value| {
        let id = world.id();
        let request = Request::new(ORG, &bot, "start_graph_run", &id, &Map::new());
        let facts = facts.as_object().unwrap().clone();
        world.store.start_graph_run(&request, &twice.provider, Pin::Latest, "release", "default", facts).await
    };
    let too_large = |answer: Result<GraphRun, Error>| {
        let (code, issues) = code(answer);
        assert_eq!((code, issues.len()), (Code::Invalid, 1), "{issues:?}");
        assert!(issues[0].starts_with("evaluation-too-large: "), "{issues:?}");
    };
    let stored = world.stored("");
    too_large(start(json!({ "go": true })).await);
    assert_eq!(world.stored(""), stored);
    let run = start(json!({})).await.unwrap().run;
    let stored = world.stored("");
    too_large(change(&world, &bot, &run.id, facts(json!({ "go": true }))).await);
    assert_eq!(world.stored(""), stored);
    // It is still there for everybody, and goes on.
    assert_eq!(world.store.graph_run(ORG, &run.id).await.unwrap().run, run);
    change(&world, &bot, &run.id, facts(json!({ "other": true }))).await.unwrap().evaluated().unwrap();
}

#[tokio::test]
async fn a_run_of_the_largest_size_is_kept_and_resumed() {
    let world = world().await;
    let bot = agent("bot");
    let limits = GraphLimits::default();
    let id = start(&world, json!({ "big": "x".repeat(limits.run_bytes - 1_000) })).await;
    change(&world, &bot, &id, GraphCommand::Checkpoint).await.unwrap();
    let resumed = resume_as(&world, &world.id(), ORG, &bot, &format!("{id}@2")).await.unwrap();
    assert_eq!(world.under(None).store.graph_run(ORG, &resumed.run.id).await.unwrap().run, resumed.run);
}
