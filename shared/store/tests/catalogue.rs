//! Publication: numbered versions that never change, whoever races; and what is refused before it is a draft.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::collections::BTreeMap;

use run::Code;
use serde_json::{Map, Value, json};
use store::{Error, Request};
use support::*;

fn roles() -> BTreeMap<String, String> {
    BTreeMap::from([("editor".to_owned(), "editor".to_owned())])
}

async fn import(world: &World, id: &str, source: &str) -> Result<Value, Error> {
    let op = operator();
    let request = Request::new(ORG, &op, "import_process", id, &Map::from_iter([("s".to_owned(), json!(source))]));
    world.store.import(&request, source, None, |d| json!(d.hash)).await
}

async fn publish(world: &World, id: &str, roles: &BTreeMap<String, String>) -> Result<Value, Error> {
    let op = operator();
    let request = Request::new(ORG, &op, "publish_process", id, &Map::new());
    world.store.publish(&request, "letter", roles, |v| json!([v.number, v.hash])).await
}

#[tokio::test]
async fn a_publication_sent_sixteen_times_is_one_version() {
    for lost in [0, 2] {
        let world = World::new();
        import(&world, "i", LETTER).await.unwrap();
        world.probe.lose.store(lost, std::sync::atomic::Ordering::Relaxed);
        let calls = (0..16).map(|_| {
            let world = world.clone();
            tokio::spawn(async move { publish(&world, "p", &roles()).await.unwrap() })
        });
        let mut answers = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            answers.push(call.await.unwrap());
        }
        answers.dedup();
        assert_eq!(answers.len(), 1);
        assert_eq!(world.store.process(ORG, "letter", None).await.unwrap().latest, 1);
    }
}

#[tokio::test]
async fn a_publication_whose_twin_took_the_draft_meanwhile_gets_the_twins_answer() {
    let world = World::new();
    import(&world, "i", LETTER).await.unwrap();
    let (free, hold) = tokio::sync::oneshot::channel();
    *world.probe.hold.lock().unwrap() = Some(hold);
    let all = roles();
    let (first, second) = tokio::join!(publish(&world, "p", &all), async {
        let second = publish(&world, "p", &all).await;
        // Another draft with other roles, so that reading again would refuse.
        import(&world, "i2", &LETTER.replace("person: editor", "person: chief")).await.unwrap();
        free.send(()).unwrap();
        second
    });
    assert_eq!(first.unwrap(), second.unwrap());
}

#[tokio::test]
async fn publishers_of_one_draft_have_one_winner_and_numbers_have_no_gap() {
    let world = World::new();
    for round in 1..=5 {
        import(&world, &format!("i{round}"), &LETTER.replace("A letter.", &format!("Letter {round}."))).await.unwrap();
        let calls = (0..4).map(|n| {
            let world = world.clone();
            tokio::spawn(async move { publish(&world, &format!("p{round}-{n}"), &roles()).await })
        });
        let mut won = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            match call.await.unwrap() {
                Ok(value) => won.push(value),
                Err(Error::Refused(r)) => assert_eq!(r.code, Code::NotFound),
                Err(other) => panic!("{other:?}"),
            }
        }
        assert_eq!(won.len(), 1);
        assert_eq!(won[0][0], json!(round));
    }
    for number in 1..=5 {
        let version = world.store.version(ORG, "letter", number).await.unwrap().unwrap();
        assert_eq!(version.document.description, format!("Letter {number}."));
        assert_eq!(version.hash, process::content_hash(&version.document));
    }
}

#[tokio::test]
async fn a_run_keeps_the_version_it_started_with() {
    let world = World::with(LETTER).await;
    let run = world.start("letter", json!({})).await;
    world.publish(ORG, &LETTER.replace("Letters.", "Other words.")).await;
    assert_eq!(world.store.view(ORG, &run).await.unwrap().body, "Letters.\n");
    let newer = world.start("letter", json!({})).await;
    assert_eq!(world.store.view(ORG, &newer).await.unwrap().run.version, 2);
}

#[tokio::test]
async fn roles_are_bound_all_and_only() {
    let world = World::new();
    import(&world, "i", LETTER).await.unwrap();
    let bad = BTreeMap::from([("chief".to_owned(), "g".to_owned())]);
    let (refused, issues) = code(publish(&world, "p", &bad).await);
    assert_eq!((refused, issues.len()), (Code::Invalid, 2));
    let long = BTreeMap::from([("editor".to_owned(), "g".repeat(600))]);
    assert_eq!(code(publish(&world, "p", &long).await).0, Code::Invalid);
    publish(&world, "p", &roles()).await.unwrap();
}

#[tokio::test]
async fn a_file_that_cannot_be_stored_is_refused_and_a_bad_one_names_every_problem() {
    let world = World::new();
    let big = format!("{LETTER}{}", "\u{1}".repeat(100_000));
    let (refused, issues) = code(import(&world, "i", &big).await);
    assert_eq!(refused, Code::Invalid);
    assert!(issues[0].starts_with("source: "), "{issues:?}");
    let (_, issues) = code(import(&world, "i", "---\nname: X\nsteps: []\n---\n").await);
    assert!(issues.len() >= 3, "{issues:?}");
    assert_eq!(world.probe.memory.state().len(), 0);
}

#[tokio::test]
async fn names_and_ids_that_nothing_can_have_are_not_found() {
    let world = World::with(LETTER).await;
    let long = "x".repeat(5_000);
    let bot = agent("bot");
    assert_eq!(code(world.store.view(ORG, &long).await).0, Code::NotFound);
    assert_eq!(code(world.store.process(ORG, &long, None).await).0, Code::NotFound);
    let claim = run::Command::Claim { step: long.clone() };
    assert_eq!(code(world.write("q", &bot, &long, claim).await).0, Code::NotFound);
    let request = Request::new(ORG, &bot, "start_run", "q", &Map::new());
    let started = world.store.start(&request, &long, None, Map::new(), run::Mode::Live).await;
    assert_eq!(code(started).0, Code::NotFound);
    let filter = store::runs::RunFilter { process: Some(long.clone()), ..Default::default() };
    assert!(world.store.list_runs(ORG, &bot, &filter, 10, None).await.unwrap().0.is_empty());
    let member = person("ann", &[&long]);
    assert!(world.store.person_work(ORG, &member, None, 10, None).await.unwrap().items.is_empty());
}

/// A letter whose writing is checked.
fn checked() -> String {
    LETTER.replacen("due: 30m }", "due: 30m,\n      check: It is a letter.,\n      advisory: false }", 1)
}

#[tokio::test]
async fn a_check_needs_an_evaluator_at_import_and_at_publication() {
    let without = World::new();
    let with = without.under(Some(std::sync::Arc::new(Unasked)));
    let file = checked();
    let line = 1 + file.lines().position(|l| l.contains("check:")).unwrap();
    let refused = ["check", "advisory"].iter().zip(line..).map(|(key, line)| {
        format!("{line}:7: steps[0].{key}: `{key}` needs profile check-1, which this server does not offer: it has no evaluator")
    });
    let refused: Vec<String> = refused.collect();

    assert_eq!(code(import(&without, "i1", &file).await), (Code::Invalid, refused.clone()));
    assert_eq!(code(without.store.process(ORG, "letter", None).await).0, Code::NotFound);

    // A draft made while there was an evaluator is still shown without one, and not published.
    import(&with, "i2", &file).await.unwrap();
    let draft = without.store.process(ORG, "letter", None).await.unwrap().draft.unwrap();
    assert_eq!(draft.document.profiles(), ["check-1"]);
    let before = without.probe.memory.state();
    assert_eq!(code(publish(&without, "p1", &roles()).await), (Code::Invalid, refused));
    assert_eq!(without.probe.memory.state(), before, "a refusal changes nothing");

    // What was published reads under every server, and so does a replay.
    let published = publish(&with, "p2", &roles()).await.unwrap();
    assert_eq!(publish(&without, "p2", &roles()).await.unwrap(), published);
    let version = without.store.version(ORG, "letter", 1).await.unwrap().unwrap();
    assert_eq!(version.document.profiles(), ["check-1"]);
    let run = without.start("letter", json!({})).await;
    assert_eq!(without.store.view(ORG, &run).await.unwrap().run.version, 1);
}
