//! Evidence is proved when it is accepted: it exists in this organization and its bytes are those that were uploaded.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use run::{Code, Command};
use serde_json::{Map, Value, json};
use store::evidence::Uploaded;
use store::{Error, EvidenceRef, Request};
use support::*;

const REPORT: &str = "---
name: report
description: A report.
steps:
  - { id: look, agent: Look., evidence: [file] }
  - { id: over, finish: over }
---
";

async fn upload(world: &World, org: &str, id: &str, base64: &str) -> Result<Uploaded, Error> {
    let bot = agent("bot");
    let arguments = Map::from_iter([("contentBase64".to_owned(), json!(base64))]);
    let request = Request::new(org, &bot, "upload", id, &arguments);
    world.store.upload(&request, "a.txt", "text/plain", base64).await
}

async fn submit(world: &World, run: &str, token: &run::Claimed, cited: &[&str]) -> Result<Value, Error> {
    let cited: Vec<EvidenceRef> = cited.iter().map(|id| EvidenceRef::File((*id).to_owned())).collect();
    let command = Command::Submit { token: token.clone(), submission: work(json!({})) };
    let written = world.cite(&world.id(), &agent("bot"), run, &cited, command).await?;
    Ok(serde_json::to_value(world.store.written_view(ORG, &written).await?).unwrap())
}

#[tokio::test]
async fn missing_foreign_and_altered_files_are_issues_and_a_good_one_is_shown_with_a_link() {
    let world = World::with(REPORT).await;
    let run = world.start("report", json!({})).await;
    let token = world.claim(&agent("bot"), &run, "look").await;
    let mine = upload(&world, ORG, "u", "aGVsbG8=").await.unwrap();
    let foreign = upload(&world, "beta", "u", "aGVsbG8=").await.unwrap();
    let altered = upload(&world, ORG, "u2", "aGVsbG8=").await.unwrap();
    let gone = upload(&world, ORG, "u3", "aGVsbG8=").await.unwrap();
    {
        let mut objects = world.bucket.objects.lock().unwrap();
        let key = |id: &str| store::keys::object(ORG, id);
        objects.insert(key(&altered.id), b"hellO".to_vec());
        objects.remove(&key(&gone.id));
    }
    let cited = ["f_none", "../../etc", &foreign.id, &altered.id, &gone.id];
    let (refused, issues) = code(submit(&world, &run, &token, &cited).await);
    assert_eq!(refused, Code::NotAccepted);
    assert_eq!(issues.len(), cited.len(), "{issues:?}");
    for (id, issue) in cited.iter().zip(&issues) {
        assert!(issue.starts_with(&format!("evidence {id}: ")), "{issue}");
    }
    let view = submit(&world, &run, &token, &[&mine.id, &mine.id]).await.unwrap();
    let shown = &view["data"]["steps"]["look"]["evidence"][0];
    assert_eq!(shown["sha256"], json!(mine.sha256));
    assert!(shown["url"].as_str().unwrap().contains(&mine.id));
    let again = serde_json::to_value(world.store.view(ORG, &run).await.unwrap()).unwrap();
    assert_ne!(again["data"]["steps"]["look"]["evidence"][0]["url"], shown["url"], "links are made anew");
}

#[tokio::test]
async fn an_upload_repeated_is_one_file_and_bad_ones_say_what_is_wrong() {
    let world = World::new();
    world.probe.lose.store(1, std::sync::atomic::Ordering::Relaxed);
    let first = upload(&world, ORG, "u", "aGVsbG8=").await.unwrap();
    assert_eq!((first.bytes, first.id.len()), (5, 22));
    assert_eq!(upload(&world, ORG, "u", "aGVsbG8=").await.unwrap(), first);
    assert_eq!(world.bucket.objects.lock().unwrap().len(), 1);
    assert_eq!(code(upload(&world, ORG, "u", "aGVsbG9v").await).0, Code::Conflict);
    for bad in ["", "aGVsbG8", "a b", "%%%="] {
        assert_eq!(code(upload(&world, ORG, "v", bad).await).0, Code::Invalid, "{bad}");
    }
    let large = "AAAA".repeat(4 * 1024 * 1024);
    assert_eq!(code(upload(&world, ORG, "v", &large).await).0, Code::Invalid);
    assert_eq!(world.bucket.objects.lock().unwrap().len(), 1);
}
