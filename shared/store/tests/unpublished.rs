//! What refuses the publication of a process whose steps name Graphs (profile graph-1).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

mod support;

use run::Code;
use serde_json::{Map, json};
use store::Request;
use support::graphs::{DOUBLING_LEVELS, PROVIDER, bundle, doubling, publish};
use support::*;

/// Tries to publish this and tells why not.
async fn unpublished(world: &World, source: &str) -> Vec<String> {
    let op = operator();
    let id = world.id();
    let request = Request::new(ORG, &op, "import_process", &id, &Map::new());
    world.store.import(&request, source, None, |_| json!({})).await.unwrap();
    let id = world.id();
    let request = Request::new(ORG, &op, "publish_process", &id, &Map::new());
    let (code, issues) = code(world.store.publish(&request, "lost", &Default::default(), |v| json!(v.number)).await);
    assert_eq!(code, Code::Invalid);
    issues
}

#[tokio::test]
async fn whatever_is_not_there_refuses_the_publication_all_at_once() {
    let world = graphs::world().await;
    let step = |id: &str, provider: &str, graph: &str, entry: &str| {
        format!("  - {{ id: {id}, agent: x, graph: {{ provider: {provider}, graph: {graph}, entry: {entry} }} }}\n")
    };
    let source = [
        "---\nname: lost\ndescription: x\nsteps:\n".to_owned(),
        step("a", "acme/nowhere", "g", "default"),
        step("b", "acme/release@9.0.0", "release", "default"),
        step("c", "acme/release", "relaese", "default"),
        step("d", "acme/release@1.0.0", "release", "begin"),
        step("e", "acme/release", "checks", "default"),
        "  - { id: f, person: editor, approve: x }\n  - { id: z, finish: done }\n---\n".to_owned(),
    ];
    assert_eq!(
        unpublished(&world, &source.concat()).await,
        [
            "roles.editor: bind this role to a group",
            "steps.a.graph: No Provider `acme/nowhere` here. The tool list_providers and the command \
             `procession provider list` name the published ones.",
            "steps.b.graph: `acme/release` has no version 9.0.0; the latest version is 1.0.0.",
            "steps.c.graph: `acme/release` version 1.0.0 has no graph `relaese`; it has checks, release",
            "steps.d.graph: graph `release` of `acme/release` version 1.0.0 has no entry `begin`; it has default, hotfix",
        ]
    );
    // Another organization's provider is none of this one's.
    let elsewhere = World::new();
    publish(&elsewhere, "other", &bundle(PROVIDER, "1.0.0", "x")).await.unwrap();
    let missing = unpublished(&elsewhere, &source.concat()).await;
    assert_eq!(missing.iter().filter(|issue| issue.contains("No Provider")).count(), 5, "{missing:?}");
}

#[tokio::test]
async fn a_graph_that_is_too_much_before_anything_is_known_refuses_the_publication() {
    let world = World::new();
    publish(&world, ORG, &doubling("acme/twice", DOUBLING_LEVELS + 1, false)).await.unwrap();
    let source = "---\nname: lost\ndescription: x\nsteps:\n  \
                  - { id: a, agent: x, graph: { provider: acme/twice, graph: release } }\n  \
                  - { id: b, agent: x, graph: { provider: acme/twice, graph: g1 } }\n  \
                  - { id: c, agent: x, graph: { provider: acme/twice, graph: g5 } }\n  - { id: z, finish: done }\n---\n";
    let issues = unpublished(&world, source).await;
    let told = |step: &str, graph: &str| {
        format!("steps.{step}.graph: graph `{graph}` of `acme/twice` version 1.0.0 cannot be evaluated: ")
    };
    assert_eq!(issues.len(), 2, "{issues:?}");
    for (issue, start) in issues.iter().zip([told("a", "release"), told("b", "g1")]) {
        assert!(issue.starts_with(&start) && issue.contains("more than"), "{issue}");
    }
}
