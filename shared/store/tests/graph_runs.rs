//! Runs of Graphs: what a call does, and what its repetition answers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use graph::documents::Outcome;
use run::Code;
use serde_json::{Map, Value, json};
use store::{Error, GraphCommand, GraphRun, Pin, Request};
use support::graphs::*;
use support::*;

fn json_of(run: &GraphRun) -> Value {
    serde_json::to_value(&run.run).unwrap()
}

fn types(run: &GraphRun) -> Vec<(u64, &str)> {
    run.run.events.iter().map(|event| (event.sequence, event.r#type.as_str())).collect()
}

/// The run with everything done on it that there is to do.
async fn full(world: &World) -> String {
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    let run = start(world, json!({ "target": { "name": "one" } })).await;
    for (actor, command) in [
        (&bot, detailed("release/prepare", serde_json::from_str(r#"{ "built": 1.50 }"#).unwrap())),
        (&bot, facts(json!({ "count": 3, "target": { "name": "two" } }))),
        (&ann, authorities(&["lead"])),
        (&bot, outcome("release/checks>checks/lint", Outcome::Completed)),
        (&bot, GraphCommand::Checkpoint),
    ] {
        change(world, actor, &run, command).await.unwrap();
    }
    run
}

#[tokio::test]
async fn a_run_is_all_that_was_done_in_order() {
    let world = world().await;
    let id = full(&world).await;
    let run = world.store.graph_run(ORG, &id).await.unwrap();
    assert!(id.starts_with("g_"), "{id}");
    assert_eq!(
        types(&run),
        [
            (1, "run.started"),
            (2, "node.outcome-recorded"),
            (3, "facts.updated"),
            (4, "authorities.updated"),
            (5, "node.outcome-recorded"),
            (6, "run.checkpointed"),
        ]
    );
    let shown = json_of(&run);
    assert_eq!((&shown["id"], &shown["provider"], &shown["graph"]), (&json!(id), &json!(PROVIDER), &json!("release")));
    assert_eq!(shown["facts"]["count"], json!(3));
    assert_eq!(shown["outcomes"]["release/prepare"]["detail"].to_string(), r#"{"built":1.50}"#);
    assert_eq!(shown["authorities"], json!(["lead"]));
    assert_eq!(run.checkpoint(), Some(format!("{id}@6")));
    assert_eq!(run.provider.reference.version, "1.0.0");
    let evaluation = run.evaluated().unwrap().evaluation;
    assert_eq!(evaluation.primary_route.as_ref().map(|r| r.node.as_str()), Some("approve"), "{evaluation:?}");
    // A server with nothing in memory reads the same.
    assert_eq!(json_of(&world.under(None).store.graph_run(ORG, &id).await.unwrap()), shown);
}

#[tokio::test]
async fn a_run_keeps_its_provider_when_another_version_is_published() {
    let world = world().await;
    let id = start(&world, json!({})).await;
    publish(&world, ORG, &bundle(PROVIDER, "2.0.0", "Other.")).await.unwrap();
    let run = change(&world, &agent("bot"), &id, outcome("release/prepare", Outcome::Completed)).await.unwrap();
    assert_eq!(run.provider.reference.version, "1.0.0");
    let other = world.store.graph_run(ORG, &start(&world, json!({})).await).await.unwrap();
    assert_eq!(other.provider.reference.version, "2.0.0");
}

#[tokio::test]
async fn a_checkpoint_goes_on_as_a_new_run_without_authorities() {
    let world = world().await;
    let bot = agent("bot");
    let id = full(&world).await;
    // What happens to the run after its checkpoint is not in it.
    change(&world, &bot, &id, facts(json!({ "late": true }))).await.unwrap();
    world.pass(5);
    let name = format!("{id}@6");
    let resumed = resume_as(&world, "r1", ORG, &bot, &name).await.unwrap();
    let shown = json_of(&resumed);
    assert_ne!(shown["id"], json!(id));
    assert_eq!((&shown["authorities"], &shown["facts"]["late"]), (&json!([]), &Value::Null));
    assert_eq!(shown["facts"]["count"], json!(3));
    assert_eq!(shown["outcomes"]["release/prepare"]["outcome"], json!("completed"));
    assert_eq!(types(&resumed)[5..], [(6, "run.checkpointed"), (7, "run.resumed")]);
    assert_eq!(shown["events"][6]["detail"]["checkpoint"], json!(name));
    let new = resumed.run.id.clone();
    assert_eq!(json_of(&world.under(None).store.graph_run(ORG, &new).await.unwrap()), shown);
    // The two go their own ways from there.
    let after = change(&world, &bot, &new, GraphCommand::Checkpoint).await.unwrap();
    assert_eq!((after.sequence(), after.checkpoint()), (8, Some(format!("{new}@8"))));
    let twice = resume_as(&world, "r2", ORG, &bot, &format!("{new}@8")).await.unwrap();
    assert_eq!(types(&twice)[7..], [(8, "run.checkpointed"), (9, "run.resumed")]);
    assert_eq!(world.store.graph_run(ORG, &id).await.unwrap().sequence(), 7);
    assert_eq!(json_of(&resume_as(&world, "r1", ORG, &bot, &name).await.unwrap()), shown, "the first answer again");
    for none in [
        format!("{id}@5"),
        format!("{id}@7"),
        format!("{id}@99"),
        format!("{id}@06"),
        format!("{id}@+6"),
        format!("{new}@6"),
        "g_none@6".to_owned(),
        id.clone(),
        String::new(),
        format!("{}@6", "x".repeat(600)),
    ] {
        assert_eq!(code(resume_as(&world, &world.id(), ORG, &bot, &none).await).0, Code::NotFound, "{none}");
    }
}

#[tokio::test]
async fn a_repeated_call_gets_its_first_answer_and_writes_nothing() {
    let world = world().await;
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    let started = start_as(&world, "s", ORG, &bot, json!({ "a": 1 })).await.unwrap();
    let id = started.run.id.clone();
    let calls = [
        (&bot, detailed("release/prepare", json!("first"))),
        (&bot, facts(json!({ "a": 2 }))),
        (&ann, authorities(&["lead"])),
        (&bot, GraphCommand::Checkpoint),
        (&bot, GraphCommand::Facts { facts: Map::new(), replace: true }),
        (&bot, outcome("release/checks>checks/lint", Outcome::Completed)),
        (&ann, outcome("release/approve", Outcome::Completed)),
    ];
    let mut answers = Vec::new();
    for (n, (actor, command)) in calls.iter().enumerate() {
        answers.push(change_as(&world, &format!("c{n}"), ORG, actor, &id, command.clone()).await.unwrap());
        world.pass(1);
    }
    let stored = world.stored("");
    // On another server, long after.
    world.pass(3_600);
    let other = world.under(None);
    assert_eq!(json_of(&start_as(&other, "s", ORG, &bot, json!({ "a": 1 })).await.unwrap()), json_of(&started));
    for (n, (actor, command)) in calls.iter().enumerate() {
        let again = change_as(&other, &format!("c{n}"), ORG, actor, &id, command.clone()).await.unwrap();
        assert_eq!(json_of(&again), json_of(&answers[n]), "{command:?}");
    }
    assert_eq!(world.stored(""), stored);
    // The same id for anything else.
    let reused = |answer| assert_eq!(code::<GraphRun>(answer), (Code::Conflict, vec!["request_id_reused".to_owned()]));
    reused(start_as(&world, "s", ORG, &bot, json!({ "a": 2 })).await);
    reused(start_as(&world, "s", ORG, &agent("eve"), json!({ "a": 1 })).await);
    reused(change_as(&world, "s", ORG, &bot, &id, GraphCommand::Checkpoint).await);
    reused(change_as(&world, "c0", ORG, &bot, &id, detailed("release/prepare", json!("second"))).await);
    reused(change_as(&world, "c3", ORG, &person("bot", &[]), &id, GraphCommand::Checkpoint).await);
    reused(resume_as(&world, "c3", ORG, &bot, &format!("{id}@5")).await);
    assert_eq!(world.stored(""), stored);
}

#[tokio::test]
async fn a_lost_answer_is_the_first_answer_and_one_event() {
    let world = world().await;
    let bot = agent("bot");
    world.probe.lose.store(1, std::sync::atomic::Ordering::Relaxed);
    let started = start_as(&world, "s", ORG, &bot, json!({})).await.unwrap();
    assert_eq!(world.stored("graphrun/").len(), 1);
    for n in 0..3 {
        world.probe.lose.store(1 + n % 2, std::sync::atomic::Ordering::Relaxed);
        let command = facts(json!({ "n": n }));
        let changed = change_as(&world, &format!("c{n}"), ORG, &bot, &started.run.id, command).await.unwrap();
        assert_eq!(changed.sequence(), u64::from(n) + 2);
    }
    world.probe.lose.store(1, std::sync::atomic::Ordering::Relaxed);
    change_as(&world, "k", ORG, &bot, &started.run.id, GraphCommand::Checkpoint).await.unwrap();
    world.probe.lose.store(1, std::sync::atomic::Ordering::Relaxed);
    let resumed = resume_as(&world, "r", ORG, &bot, &format!("{}@5", started.run.id)).await.unwrap();
    assert_eq!(resumed.sequence(), 6);
    assert_eq!(world.stored("graphrun/").len(), 5 + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_event_of_many_recorders_at_once_is_lost() {
    const RECORDERS: usize = 48;
    let world = world().await;
    let id = start(&world, json!({})).await;
    let calls = (0..RECORDERS).map(|n| {
        let (world, id) = (world.clone(), id.clone());
        tokio::spawn(async move {
            let bot = agent(&format!("bot{n}"));
            let command = match n % 3 {
                0 => detailed("release/prepare", json!(n)),
                1 => facts(json!({ format!("f{n}"): n })),
                _ => GraphCommand::Checkpoint,
            };
            let (mut answers, mut retries) = (Vec::new(), 0);
            // Each call is made twice, as by a client that lost its first answer.
            while answers.len() < 2 {
                match change_as(&world, &format!("c{n}"), ORG, &bot, &id, command.clone()).await {
                    Ok(run) => answers.push(run),
                    Err(Error::Retry(_)) => retries += 1,
                    Err(other) => panic!("{other:?}"),
                }
                assert!(retries < 10_000, "never got through");
            }
            assert_eq!(json_of(&answers[0]), json_of(&answers[1]));
            answers[0].sequence()
        })
    });
    let mut sequences = Vec::new();
    for call in futures::future::join_all(calls).await {
        sequences.push(call.unwrap());
    }
    sequences.sort_unstable();
    let all = u64::try_from(RECORDERS).unwrap();
    assert_eq!(sequences, (2..=all + 1).collect::<Vec<_>>(), "every call has its own event, and there is no gap");
    let run = world.store.graph_run(ORG, &id).await.unwrap();
    assert_eq!(types(&run).iter().map(|(n, _)| *n).collect::<Vec<_>>(), (1..=all + 1).collect::<Vec<_>>());
    for n in (0..RECORDERS).filter(|n| n % 3 == 1) {
        assert_eq!(run.run.facts[&format!("f{n}")], json!(n));
    }
    for n in (0..RECORDERS).filter(|n| n % 3 == 0) {
        assert!(run.run.events.iter().any(|event| event.detail == Some(json!(n))), "the detail of {n}");
    }
}

#[tokio::test]
async fn a_call_sent_twice_at_once_is_one_event_though_the_first_one_moved_the_revision() {
    let world = world().await;
    let bot = agent("bot");
    let id = start(&world, json!({})).await;
    let run = world.store.graph_run(ORG, &id).await.unwrap();
    let record = GraphCommand::Record {
        node: "release/prepare".into(),
        outcome: Outcome::Completed,
        detail: None,
        revision: Some(run.evaluated().unwrap().evaluation.revision),
    };
    // The second one has read the run and waits with its transaction until the first one was written.
    let (let_go, held) = tokio::sync::oneshot::channel();
    *world.probe.hold.lock().unwrap() = Some(held);
    let second = tokio::spawn({
        let (world, bot, id, record) = (world.clone(), bot.clone(), id.clone(), record.clone());
        async move { change_as(&world, "c", ORG, &bot, &id, record).await }
    });
    while world.probe.hold.lock().unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    let first = change_as(&world, "c", ORG, &bot, &id, record).await.unwrap();
    let_go.send(()).unwrap();
    let second = second.await.unwrap().unwrap();
    assert_eq!((json_of(&first), first.sequence()), (json_of(&second), 2));
    assert_eq!(world.stored("graphrun/").len(), 2);
}

/// Makes a call that finds no record of itself and then waits, until `between` was done.
async fn overtaken(
    world: &World,
    call: impl Future<Output = Result<GraphRun, Error>> + Send + 'static,
    between: impl Future<Output = GraphRun>,
) -> (GraphRun, GraphRun) {
    let (let_go, held) = tokio::sync::oneshot::channel();
    *world.probe.hold_read.lock().unwrap() = Some(held);
    let second = tokio::spawn(call);
    while world.probe.hold_read.lock().unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    // Once more, so that it has read everything else as well.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let first = between.await;
    let_go.send(()).unwrap();
    (first, second.await.unwrap().unwrap())
}

#[tokio::test]
async fn a_call_sent_twice_at_once_is_one_run_though_the_second_one_did_not_find_what_it_is_of() {
    let world = World::new();
    let start = |world: World| async move { start_as(&world, "s", ORG, &agent("bot"), json!({})).await };
    let between = async {
        publish(&world, ORG, &bundle(PROVIDER, "1.0.0", "Releases.")).await.unwrap();
        start(world.clone()).await.unwrap()
    };
    let (first, second) = overtaken(&world, start(world.clone()), between).await;
    assert_eq!(json_of(&first), json_of(&second));
    assert_eq!(world.stored("graphrun/").len(), 1);

    let id = first.run.id;
    let resume =
        |world: World, id: String| async move { resume_as(&world, "r", ORG, &agent("bot"), &format!("{id}@2")).await };
    let between = async {
        change(&world, &agent("bot"), &id, GraphCommand::Checkpoint).await.unwrap();
        resume(world.clone(), id.clone()).await.unwrap()
    };
    let (first, second) = overtaken(&world, resume(world.clone(), id.clone()), between).await;
    assert_eq!(json_of(&first), json_of(&second));
    assert_eq!(world.stored("graphrun/").len(), 3);

    // The ids of these tests are numbers in turn.
    let last: u64 = first.run.id.trim_start_matches("g_").parse().unwrap();
    let id = format!("g_{:06}", last + 1);
    let change = |world: World, id: String| async move {
        change_as(&world, "c", ORG, &agent("bot"), &id, GraphCommand::Checkpoint).await
    };
    let between = async {
        assert_eq!(start_as(&world, "t", ORG, &agent("bot"), json!({})).await.unwrap().run.id, id);
        change(world.clone(), id.clone()).await.unwrap()
    };
    let (first, second) = overtaken(&world, change(world.clone(), id.clone()), between).await;
    assert_eq!(json_of(&first), json_of(&second));
    assert_eq!(world.stored("graphrun/").len(), 5);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let world = world().await;
    let bot = agent("bot");
    let start = async |provider: &str, pin: Pin<'_>, graph: &str, entry: &str| {
        let id = world.id();
        let request = Request::new(ORG, &bot, "start_graph_run", &id, &Map::new());
        world.store.start_graph_run(&request, provider, pin, graph, entry, Map::new()).await
    };
    for (provider, pin, graph, entry, said) in [
        ("acme/none", Pin::Latest, "release", "default", ""),
        (PROVIDER, Pin::Version("9.9.9"), "release", "default", ""),
        (PROVIDER, Pin::Latest, "none", "default", "graph-missing: "),
        (PROVIDER, Pin::Latest, "release", "none", "entry-missing: "),
    ] {
        let (code, issues) = code(start(provider, pin, graph, entry).await);
        assert_eq!(code, Code::NotFound, "{provider} {graph} {entry}");
        assert!(issues.first().is_none_or(|issue| issue.starts_with(said)), "{issues:?}");
    }
    start(PROVIDER, Pin::Version("1.0.0"), "release", "hotfix").await.unwrap();
    for id in ["g_none", "", "a/b", &"x".repeat(600)] {
        assert_eq!(code(world.store.graph_run(ORG, id).await).0, Code::NotFound, "{id}");
        assert_eq!(code(change(&world, &bot, id, GraphCommand::Checkpoint).await).0, Code::NotFound, "{id}");
    }
    // However long a name is, an answer that repeats it is not.
    let long = "x".repeat(100_000);
    let told = |answer: Result<GraphRun, Error>| match answer {
        Err(error) => assert!(error.to_string().len() < 500, "{} bytes", error.to_string().len()),
        Ok(run) => panic!("{run:?}"),
    };
    told(start(&long, Pin::Latest, "release", "default").await);
    told(start(PROVIDER, Pin::Version(&long), "release", "default").await);
    told(start(PROVIDER, Pin::Latest, &long, "default").await);
    told(start(PROVIDER, Pin::Latest, "release", &long).await);
    told(world.store.graph_run(ORG, &long).await);
    told(resume_as(&world, &world.id(), ORG, &bot, &long).await);
}

#[tokio::test]
async fn a_run_of_one_organization_is_not_there_for_another() {
    let world = world().await;
    publish(&world, "other", &bundle(PROVIDER, "1.0.0", "Releases.")).await.unwrap();
    let bot = agent("bot");
    let id = full(&world).await;
    let stored = world.stored("");
    assert_eq!(code(world.store.graph_run("other", &id).await).0, Code::NotFound);
    for command in [GraphCommand::Checkpoint, outcome("release/prepare", Outcome::Failed), facts(json!({ "a": 1 }))] {
        assert_eq!(code(change_as(&world, "x", "other", &bot, &id, command).await).0, Code::NotFound);
    }
    assert_eq!(code(resume_as(&world, "x", "other", &bot, &format!("{id}@6")).await).0, Code::NotFound);
    assert_eq!(world.stored(""), stored);
    // The same requestId is another call there.
    start_as(&world, "same", ORG, &bot, json!({})).await.unwrap();
    start_as(&world, "same", "other", &bot, json!({ "a": 1 })).await.unwrap();
}

#[tokio::test]
async fn a_journal_that_was_altered_is_told_to_the_operator() {
    use store::table::{Item, Op, Table, When};
    let world = world().await;
    let id = full(&world).await;
    let items = world.stored("graphrun/");
    let broken = async |ops: Vec<Op>| {
        let state = world.probe.memory.state();
        world.probe.memory.transact(&ops).await.unwrap();
        let answer = world.store.graph_run(ORG, &id).await;
        world.probe.memory.restore(state);
        match answer {
            Err(Error::Invariant(why)) => assert!(why.contains(&id), "{why}"),
            other => panic!("{other:?}"),
        }
    };
    let delete = |n: usize| Op::Delete { key: items[n].key.clone(), when: When::Present };
    broken(vec![delete(0)]).await;
    broken(vec![delete(2)]).await;
    let second = Item { key: items[0].key.clone(), ..items[1].clone() };
    broken(vec![Op::Put { item: second, when: When::Present }]).await;
    let provider = world.stored("provider/").into_iter().map(|i| Op::Delete { key: i.key, when: When::Present });
    let fresh = world.under(None);
    world.probe.memory.transact(&provider.collect::<Vec<_>>()).await.unwrap();
    assert!(matches!(fresh.store.graph_run(ORG, &id).await, Err(Error::Invariant(_))));
}
