//! What calls about Graphs cost: rounds, calls, and bytes that do not grow with the run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::Arc;

use graph::documents::Outcome;
use serde_json::{Map, json};
use store::counting::{Counting, CountingFiles, Meter, Turns, metered};
use store::{GraphCommand, Pin, Request};
use support::graphs::*;
use support::*;

/// The same storage under a server whose calls are counted.
fn counted(world: &World) -> store::Store {
    let table = Arc::new(Counting::new(Arc::new(Turns(Arc::new(world.probe.memory.clone())))));
    let secret = b"thirty-two bytes or more of secret".to_vec();
    store::Store::new(store::Parts {
        files: Arc::new(CountingFiles::new(world.bucket.clone(), &table)),
        table,
        clock: Arc::new(store::SystemClock),
        ids: Arc::new(store::RandomIds),
        alarms: Arc::new(store::NoAlarms),
        evaluator: None,
        seal: store::Seal::new(vec![store::SealKey { id: "k".into(), secret }]).unwrap(),
        settings: store::Settings::default(),
    })
}

fn cost(meter: Meter) -> (u64, u64, u64) {
    (meter.rounds, meter.calls, meter.transactions)
}

#[tokio::test]
async fn a_write_is_two_rounds_and_a_read_is_one() {
    let world = world().await;
    let store = counted(&world);
    let provider = store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap();
    let digest = provider.reference.digest.clone();
    let (bot, ann) = (agent("bot"), person("ann", &[]));
    let request = |actor, id| Request::new(ORG, actor, "tool", id, &Map::new());
    let facts_of = |n: i32| Map::from_iter([("n".to_owned(), json!(n))]);

    let (started, meter) =
        metered(store.start_graph_run(&request(&bot, "1"), PROVIDER, Pin::Latest, "release", "default", facts_of(1)))
            .await;
    assert_eq!(cost(meter), (2, 3, 1), "start");
    let run = started.unwrap().run.id;
    let (second, pin) = (request(&bot, "2"), Pin::Digest(&digest));
    let (_, meter) = metered(store.start_graph_run(&second, PROVIDER, pin, "release", "default", facts_of(1))).await;
    assert_eq!(cost(meter), (2, 2, 1), "start of a digest");
    let revision = store.graph_run(ORG, &run).await.unwrap().evaluated().unwrap().evaluation.revision;
    for (actor, id, command) in [
        (
            &bot,
            "3",
            GraphCommand::Record {
                node: "release/prepare".into(),
                outcome: Outcome::Completed,
                detail: None,
                revision: Some(revision),
            },
        ),
        (&bot, "4", GraphCommand::Facts { facts: facts_of(2), replace: false }),
        (&ann, "5", authorities(&["lead"])),
        (&bot, "6", outcome("release/checks>checks/lint", Outcome::Completed)),
        (&bot, "7", outcome("release/approve", Outcome::Completed)),
        (&bot, "8", GraphCommand::Checkpoint),
    ] {
        let request = request(actor, id);
        let (changed, meter) = metered(store.change_graph_run(&request, &run, command.clone())).await;
        changed.unwrap();
        assert_eq!(cost(meter), (2, 3, 1), "{command:?}");
    }
    let (again, meter) = metered(store.change_graph_run(&request(&bot, "8"), &run, GraphCommand::Checkpoint)).await;
    assert_eq!((cost(meter), again.unwrap().sequence()), ((1, 2, 0), 7), "a repetition writes nothing");
    let (resumed, meter) = metered(store.resume_graph_run(&request(&bot, "9"), &format!("{run}@7"))).await;
    assert_eq!((cost(meter), resumed.unwrap().sequence()), ((2, 3, 1), 8), "resume");
    let (_, meter) = metered(store.graph_run(ORG, &run)).await;
    assert_eq!(cost(meter), (1, 1, 0), "read");
    let (_, meter) = metered(store.list_providers(ORG, &bot, 20, None)).await;
    assert_eq!(cost(meter), (1, 1, 0), "list");
    let (_, meter) = metered(store.provider_link(ORG, &provider, "resources/lint.md")).await;
    assert_eq!(cost(meter), (0, 0, 0), "link");
}

#[tokio::test]
async fn a_publication_reads_once_stores_its_objects_and_commits() {
    let world = World::new();
    let store = counted(&world);
    let op = operator();
    let bundle = bundle(PROVIDER, "1.0.0", "Releases.");
    let request = Request::new(ORG, &op, "publish_provider", "p", &Map::new());
    let (published, meter) = metered(store.publish_provider(&request, bundle.clone())).await;
    published.unwrap();
    assert_eq!(cost(meter), (2, 2, 1));
    let (again, meter) = metered(store.publish_provider(&request, bundle)).await;
    again.unwrap();
    assert_eq!(cost(meter), (1, 1, 0));
}

#[tokio::test]
async fn what_a_write_writes_does_not_grow_with_the_run() {
    let mut written = Vec::new();
    for size in [10, 100_000] {
        let world = world().await;
        let store = counted(&world);
        let bot = agent("bot");
        let run = start(&world, json!({ "big": "x".repeat(size) })).await;
        let mut costs = Vec::new();
        for n in 0..40 {
            let (command, id) = (outcome("release/prepare", Outcome::Completed), format!("q{n:02}"));
            let request = Request::new(ORG, &bot, "record_outcome", &id, &Map::new());
            let (changed, meter) = metered(store.change_graph_run(&request, &run, command)).await;
            changed.unwrap();
            costs.push((meter.operations, meter.write_units, meter.bytes_written));
        }
        let (first, last) = (costs[0], costs[39]);
        // The numbers in an entry have more digits later.
        assert_eq!((first.0, first.1), (last.0, last.1), "{costs:?}");
        assert!(last.2 < first.2 + 16 && last.2 < 1_500, "{costs:?}");
        written.push((first.0, first.1));
    }
    assert_eq!(written[0], written[1]);
}
