//! Nothing of an organization is seen, moved or listed from another one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use run::{Code, Command};
use serde_json::{Map, json};
use store::Request;
use store::runs::RunFilter;
use support::*;

#[tokio::test]
async fn two_organizations_share_nothing_but_the_table() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    let bot = agent("bot");
    let store = &world.store;
    assert_eq!(code(store.view("beta", &run).await).0, Code::NotFound);
    let claim = |_| Command::Claim { step: "write".into() };
    let request = Request::new("beta", &bot, "claim", "one", &Map::new());
    assert_eq!(code(store.write(&request, &run, &[], claim).await).0, Code::NotFound);
    assert!(store.agent_work("beta", &bot, None, 10, None).await.unwrap().items.is_empty());
    assert!(store.list_runs("beta", &bot, &RunFilter::default(), 10, None).await.unwrap().0.is_empty());
    let named = RunFilter { process: Some("letter".into()), ..RunFilter::default() };
    assert!(store.list_runs("beta", &bot, &named, 10, None).await.unwrap().0.is_empty());
    assert!(store.list_processes("beta", &bot, 10, None).await.unwrap().0.is_empty());
    assert_eq!(code(store.process("beta", "letter", None).await).0, Code::NotFound);
    let written = world.write("one", &bot, &run, Command::Claim { step: "write".into() }).await.unwrap();
    let (token, _) = store.token(ORG, &bot, &written).unwrap();
    assert_eq!(code(store.claimed("beta", &token)).0, Code::Invalid);
    // The same requestId is another one there.
    world.publish("beta", LETTER).await;
    let request = Request::new("beta", &bot, "start_run", "one", &Map::new());
    store.start(&request, "letter", None, Map::new(), run::Mode::Live).await.unwrap();
}

#[tokio::test]
async fn names_with_separators_are_names() {
    let world = World::new();
    for org in ["a/b", "a%2Fb", "a", "a/b/c"] {
        world.publish(org, LETTER).await;
        let bot = agent("bot");
        let request = Request::new(org, &bot, "start_run", "b/one", &Map::new());
        world.store.start(&request, "letter", None, Map::new(), run::Mode::Live).await.unwrap();
        let work = world.store.agent_work(org, &bot, None, 10, None).await.unwrap();
        assert_eq!(work.items.len(), 1, "{org}");
    }
}
