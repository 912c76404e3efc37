//! Providers: published once, found again by version and digest, never other bytes than those that were published.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use std::sync::atomic::Ordering;

use run::Code;
use store::{Error, GraphListed, Pin};
use support::graphs::*;
use support::*;

#[tokio::test]
async fn a_bundle_is_found_by_version_by_digest_and_as_the_latest() {
    let world = World::new();
    let first = publish(&world, ORG, &bundle(PROVIDER, "1.0.0", "Releases.")).await.unwrap();
    world.pass(1);
    let second = publish(&world, ORG, &bundle(PROVIDER, "1.1.0", "Releases more.")).await.unwrap();
    assert_eq!((first.provider.as_str(), first.version.as_str()), (PROVIDER, "1.0.0"));
    assert_eq!((first.published_by.as_str(), first.description.as_deref()), ("op", Some("Releases.")));
    let graphs = |id: &str, entries: &[&str]| GraphListed {
        id: id.to_owned(),
        entries: entries.iter().map(|entry| (*entry).to_owned()).collect(),
    };
    assert_eq!(first.graphs, [graphs("checks", &["default"]), graphs("release", &["default", "hotfix"])]);
    assert!(first.digest.starts_with("sha256:") && first.digest.len() == 71, "{}", first.digest);
    assert_ne!(first.digest, second.digest);
    // A server that has it in memory, and one that has not.
    for world in [world.clone(), world.under(None)] {
        for (pin, expected) in [
            (Pin::Latest, &second),
            (Pin::Version("1.0.0"), &first),
            (Pin::Version("1.1.0"), &second),
            (Pin::Digest(&first.digest), &first),
            (Pin::Digest(&first.digest), &first),
        ] {
            let found = world.store.provider(ORG, PROVIDER, pin).await.unwrap();
            assert_eq!(found.reference, *expected, "{pin:?}");
            assert_eq!(found.provider.manifest.value.version, expected.version, "{pin:?}");
        }
    }
    for (id, pin) in [
        ("acme/other", Pin::Latest),
        ("acme/other", Pin::Version("1.0.0")),
        ("acme/other", Pin::Digest(&first.digest)),
        (PROVIDER, Pin::Version("1.0.1")),
        (PROVIDER, Pin::Digest("sha256:00")),
        (&"x".repeat(600), Pin::Latest),
        (PROVIDER, Pin::Version(&"1".repeat(600))),
    ] {
        assert_eq!(code(world.store.provider(ORG, id, pin).await).0, Code::NotFound, "{id} {pin:?}");
    }
    match world.store.provider(ORG, PROVIDER, Pin::Version("9.0.0")).await {
        Err(Error::Refused(refusal)) => assert!(refusal.message.contains("the latest version is 1.1.0"), "{refusal:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_latest_is_the_highest_release_in_whatever_order_they_come() {
    let world = World::new();
    for (version, latest) in [
        ("0.9.0-rc.1", "0.9.0-rc.1"),
        ("0.9.0-rc.2", "0.9.0-rc.2"),
        ("0.8.0", "0.8.0"),
        ("2.0.0-rc.1", "0.8.0"),
        ("1.10.0", "1.10.0"),
        ("1.9.0", "1.10.0"),
    ] {
        publish(&world, ORG, &bundle(PROVIDER, version, "Releases.")).await.unwrap();
        let found = world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap();
        assert_eq!(found.reference.version, latest, "after {version}");
        let (listed, _) = world.store.list_providers(ORG, &agent("bot"), 10, None).await.unwrap();
        assert_eq!(listed.iter().map(|l| l.version.as_str()).collect::<Vec<_>>(), [latest]);
    }
}

#[tokio::test]
async fn the_same_bundle_again_is_the_first_reference_and_another_one_under_its_version_a_conflict() {
    let world = World::new();
    let bundle_1 = bundle(PROVIDER, "1.0.0", "Releases.");
    let first = publish_as(&world, "p1", ORG, &operator(), &bundle_1).await.unwrap();
    publish(&world, ORG, &bundle(PROVIDER, "1.1.0", "Releases.")).await.unwrap();
    world.pass(60);
    let before = world.stored("provider");
    // The same call, the same bundle in another call, and with a manifest that is written in another way.
    assert_eq!(publish_as(&world, "p1", ORG, &operator(), &bundle_1).await.unwrap(), first);
    assert_eq!(publish_as(&world, "p2", ORG, &agent("ci"), &bundle_1).await.unwrap(), first);
    let mut spelled = bundle_1.clone();
    let manifest: serde_json::Value = serde_json::from_slice(&spelled["manifest.json"]).unwrap();
    spelled.insert("manifest.json".to_owned(), serde_json::to_vec(&manifest).unwrap());
    assert_ne!(spelled, bundle_1);
    assert_eq!(publish(&world, ORG, &spelled).await.unwrap(), first);
    let other = bundle(PROVIDER, "1.0.0", "Something else.");
    let refused = code(publish(&world, ORG, &other).await);
    assert_eq!((refused.0, refused.1.len()), (Code::Conflict, 1));
    assert!(refused.1[0].starts_with("version_published: 1.0.0 has other content; raise `version`"), "{refused:?}");
    let reused = code(publish_as(&world, "p1", ORG, &operator(), &other).await);
    assert_eq!(reused, (Code::Conflict, vec!["request_id_reused".to_owned()]));
    assert_eq!(world.stored("provider"), before, "nothing of what was published changed");
    assert_eq!(world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap().reference.version, "1.1.0");
}

#[tokio::test]
async fn what_does_not_load_is_refused_with_everything_that_is_wrong() {
    let world = World::new();
    let good = bundle(PROVIDER, "1.0.0", "Releases.");
    let mut altered = good.clone();
    altered.get_mut("actions/do.yaml").unwrap().extend(b"# x");
    let mut missing = good.clone();
    missing.remove("actions/do.yaml");
    let mut extra = good.clone();
    extra.insert("more.txt".to_owned(), b"x".to_vec());
    let mut garbled = good.clone();
    garbled.insert("manifest.json".to_owned(), b"{".to_vec());
    let mut graph = source(PROVIDER, "1.0.0", "Releases.");
    graph.insert("manifest.json".to_owned(), graph["provider.yaml"].clone());
    for (what, files) in [
        ("altered", altered),
        ("missing", missing),
        ("extra", extra),
        ("garbled", garbled),
        ("no bundle", graph),
        ("not built", source(PROVIDER, "1.0.0", "Releases.")),
        ("nothing", Default::default()),
    ] {
        let (code, issues) = code(publish(&world, ORG, &files).await);
        assert_eq!(code, Code::Invalid, "{what}");
        assert!(issues.first().is_some_and(|issue| issue.contains(": ")), "{what}: {issues:?}");
        if matches!(what, "no bundle" | "not built" | "nothing") {
            assert!(issues[0].contains("agent-graph build"), "{what}: {issues:?}");
        }
    }
    let mut many = good.clone();
    many.extend((0..500).map(|n| (format!("{n}.txt"), Vec::new())));
    let (_, issues) = code(publish(&world, ORG, &many).await);
    assert_eq!(issues.len(), 102, "the first hundred of them, and how many there are");
    let mut large = good.clone();
    large.extend((0..1_000).map(|n| (format!("{n}.bin"), vec![0; 11_000])));
    let (code, issues) = code(publish(&world, ORG, &large).await);
    assert_eq!((code, issues.len()), (Code::Invalid, 2), "{issues:?}");
    assert!(world.stored("").is_empty() && world.bucket.objects.lock().unwrap().is_empty(), "nothing was stored");
}

#[tokio::test]
async fn what_would_be_too_much_in_a_list_is_refused() {
    let world = World::new();
    let with = |entries: usize| {
        let mut files = source(PROVIDER, "1.0.0", "Releases.");
        let names: Vec<String> = (0..entries).map(|n| format!("e{n:099}: prepare")).collect();
        let graph = String::from_utf8(files["graphs/release.yaml"].clone()).unwrap();
        let graph = graph.replace("default: prepare", &format!("default: prepare, {}", names.join(", ")));
        files.insert("graphs/release.yaml".to_owned(), graph.into_bytes());
        built(files)
    };
    let (refused, issues) = code(publish(&world, ORG, &with(160)).await);
    assert_eq!((refused, issues.len()), (Code::Invalid, 1), "{issues:?}");
    assert!(issues[0].starts_with("graphs: ids and entries of ") && issues[0].ends_with("at most 16384"), "{issues:?}");
    assert!(world.stored("").is_empty() && world.bucket.objects.lock().unwrap().is_empty(), "nothing was stored");
    publish(&world, ORG, &with(150)).await.unwrap();
}

#[tokio::test]
async fn bytes_that_were_altered_are_never_used() {
    let world = World::new();
    let reference = publish(&world, ORG, &bundle(PROVIDER, "1.0.0", "Releases.")).await.unwrap();
    let other = World::new();
    publish(&other, ORG, &bundle(PROVIDER, "1.0.0", "Other.")).await.unwrap();
    let key = store::keys::bundle_object(ORG, &reference.digest);
    let stored = world.bucket.objects.lock().unwrap().get(&key).cloned().unwrap();
    let another = other.bucket.objects.lock().unwrap().values().max_by_key(|object| object.len()).cloned().unwrap();
    let text = String::from_utf8(stored.clone()).unwrap();
    let changed = text.replacen("c2NoZW1hOiBhZ2VudC1ncmFwaC5hY3Rpb24", "c2NoZW1hOiBhZ2VudC1ncmFwaC5hY3Rpb25", 1);
    assert_ne!(text, changed, "an action's file is changed");
    let cases = [None, Some(Vec::new()), Some(b"{}".to_vec()), Some(another), Some(changed.into_bytes())];
    for (n, object) in cases.into_iter().enumerate() {
        match object {
            None => world.bucket.objects.lock().unwrap().remove(&key),
            Some(object) => world.bucket.objects.lock().unwrap().insert(key.clone(), object),
        };
        // A server that has not read it yet.
        match world.under(None).store.provider(ORG, PROVIDER, Pin::Latest).await {
            Err(Error::Invariant(why)) => assert!(why.contains(&reference.digest), "{n}: {why}"),
            other => panic!("{n}: {other:?}"),
        }
    }
    world.bucket.objects.lock().unwrap().insert(key, stored);
    world.under(None).store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap();
}

#[tokio::test]
async fn the_list_is_paged_by_id_for_its_caller_alone() {
    let world = World::new();
    let mut ids: Vec<String> = (0..7).map(|n| format!("acme/p{n}")).collect();
    ids.extend(["acme".to_owned(), "acme.tools".to_owned(), "b/c".to_owned()]);
    for id in ids.iter().rev() {
        publish(&world, ORG, &bundle(id, "1.0.0", "One.")).await.unwrap();
    }
    publish(&world, "other", &bundle("other/p", "1.0.0", "One.")).await.unwrap();
    let bot = agent("bot");
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let (page, next) = world.store.list_providers(ORG, &bot, 3, cursor.as_deref()).await.unwrap();
        found.extend(page.into_iter().map(|listed| listed.provider));
        pages += 1;
        let Some(next) = next else { break };
        let stranger = world.store.list_providers(ORG, &agent("eve"), 3, Some(&next)).await;
        assert_eq!(code(stranger).0, Code::Invalid);
        cursor = Some(next);
    }
    let mut sorted = found.clone();
    sorted.sort();
    ids.sort();
    assert_eq!((sorted, pages), (ids, 4));
    let (page, next) = world.store.list_providers("other", &bot, 3, None).await.unwrap();
    assert_eq!((page.len(), next), (1, None));
    assert_eq!(code(world.store.list_providers(ORG, &bot, 3, Some("x")).await).0, Code::Invalid);
}

#[tokio::test]
async fn a_lost_answer_and_a_server_that_dies_leave_one_publication() {
    let world = World::new();
    let bundle_1 = bundle(PROVIDER, "1.0.0", "Releases.");
    // The transaction is written, its answer lost: the same call goes on by itself.
    world.probe.lose.store(1, Ordering::Relaxed);
    let first = publish_as(&world, "p1", ORG, &operator(), &bundle_1).await.unwrap();
    assert_eq!(world.stored("provider/").len(), 2);
    // The server died after the files were stored: whoever calls again finds them there.
    let dead = World::new();
    *dead.bucket.objects.lock().unwrap() = world.bucket.objects.lock().unwrap().clone();
    let again = publish_as(&dead, "p1", ORG, &operator(), &bundle_1).await.unwrap();
    assert_eq!(again.digest, first.digest);
    assert_eq!(*dead.bucket.objects.lock().unwrap(), *world.bucket.objects.lock().unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_publish_at_once_leave_one_bundle_a_version_and_the_highest_as_the_latest() {
    let world = World::new();
    let bundles: Vec<_> = (0..24)
        .map(|n| bundle(PROVIDER, &format!("1.{}.0", n % 8), if n % 3 == 0 { "One." } else { "Other." }))
        .collect();
    let calls = bundles.iter().enumerate().map(|(n, bundle)| {
        let (world, bundle) = (world.clone(), bundle.clone());
        tokio::spawn(async move {
            loop {
                match publish_as(&world, &format!("p{n}"), ORG, &operator(), &bundle).await {
                    Err(Error::Retry(_)) => {}
                    answer => return answer,
                }
            }
        })
    });
    let mut digests = std::collections::BTreeMap::new();
    let mut conflicts = 0;
    for call in futures::future::join_all(calls).await {
        match call.unwrap() {
            Ok(reference) => {
                let digest = digests.entry(reference.version.clone()).or_insert_with(|| reference.digest.clone());
                assert_eq!(*digest, reference.digest, "{}", reference.version);
            }
            Err(Error::Refused(refusal)) => {
                assert_eq!(refusal.code, Code::Conflict);
                assert!(refusal.issues[0].starts_with("version_published: "), "{refusal:?}");
                conflicts += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(digests.len(), 8);
    assert!(conflicts > 0, "each version was published in two ways");
    assert_eq!(world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap().reference.version, "1.7.0");
    assert_eq!(world.stored("provider/").len(), 16);
}

#[tokio::test]
async fn a_file_has_a_link_and_its_object_the_bytes() {
    let world = world().await;
    let provider = world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap();
    for (path, digest) in &provider.provider.files {
        let link = world.store.provider_link(ORG, &provider, path).await.unwrap();
        let key = link.strip_prefix("https://files.test/").and_then(|link| link.split('?').next()).unwrap();
        let bytes = world.bucket.objects.lock().unwrap().get(key).cloned().unwrap();
        assert_eq!(graph::digest_bytes(&bytes), *digest, "{path}");
    }
    for path in ["resources/none.md", "", "../provider.yaml", "manifest.json"] {
        let link = world.store.provider_link(ORG, &provider, path).await;
        assert_eq!(code(link).0, Code::NotFound, "{path}");
    }
}

#[tokio::test]
async fn a_provider_of_one_organization_is_not_there_for_another() {
    let world = world().await;
    let reference = world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap().reference.clone();
    for pin in [Pin::Latest, Pin::Version("1.0.0"), Pin::Digest(&reference.digest)] {
        assert_eq!(code(world.store.provider("other", PROVIDER, pin).await).0, Code::NotFound, "{pin:?}");
    }
    let (listed, _) = world.store.list_providers("other", &agent("bot"), 10, None).await.unwrap();
    assert!(listed.is_empty());
    // The same version with other bytes is its own.
    let own = publish(&world, "other", &bundle(PROVIDER, "1.0.0", "Ours.")).await.unwrap();
    assert_ne!(own.digest, reference.digest);
    assert_eq!(world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap().reference, reference);
}

#[tokio::test]
async fn a_bundle_is_read_once_and_a_version_asked_for_in_one_round() {
    let world = world().await.under(None);
    let reads = || world.probe.reads.swap(0, Ordering::Relaxed);
    reads();
    let first = world.store.provider(ORG, PROVIDER, Pin::Latest).await.unwrap();
    assert_eq!(reads(), 1);
    // From here on the bucket is not asked.
    world.bucket.objects.lock().unwrap().clear();
    for (pin, cost) in [(Pin::Latest, 1), (Pin::Version("1.0.0"), 1), (Pin::Digest(&first.reference.digest), 0)] {
        world.store.provider(ORG, PROVIDER, pin).await.unwrap();
        assert_eq!(reads(), cost, "{pin:?}");
    }
}
