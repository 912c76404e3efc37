//! `procession provider`: a bundle is published whole or refused before anything is sent, and what is there is listed.

use std::sync::Arc;

use super::*;

const SOURCES: [(&str, &str); 3] = [
    (
        "provider.yaml",
        "schema: agent-graph.provider.v1\nid: acme/stamp\nversion: 1.0.0\ndescription: Gets a letter stamped.\ngraphs: \
         [graphs/stamp.yaml]\n",
    ),
    (
        "graphs/stamp.yaml",
        "schema: agent-graph.graph.v1
id: stamp
entrypoints: { default: lick }
nodes:
  - { id: lick, kind: action, reasonCode: route.stamp.lick, action: actions/lick.yaml }
  - { id: posted, kind: terminal, terminalOutcome: completed }
edges:
  - { from: lick, to: posted }
",
    ),
    (
        "actions/lick.yaml",
        "schema: agent-graph.action.v1\nid: lick\nrunner: command\neffect: write\ncommand: lick --once\n",
    ),
];

/// Writes the bundle of the sources with this text replaced, and says its digest.
fn build(folder: &Path, from: &str, to: &str) -> String {
    let sources = SOURCES.map(|(path, text)| (path.to_owned(), Arc::from(text.replace(from, to).as_bytes())));
    let source = graph::Memory(sources.into_iter().collect());
    let provider = graph::load(&source, "provider.yaml").expect("a provider");
    let built = graph::build(&source, &provider).expect("a bundle");
    for (path, bytes) in &built.files {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, bytes).expect("written");
    }
    built.manifest.digest
}

fn provider(server: &Dev, token: &str, args: &[&str]) -> Output {
    run(&[&["provider"], args, &["--url", &server.mcp, "--token", token]].concat())
}

#[test]
fn a_bundle_is_published_and_listed() {
    let server = Dev::start();
    let (operator, plain) = (server.token(&["--operator"]), server.token(&[]));
    let dir = tempfile::tempdir().expect("a folder");
    let bundle = dir.path().join("dist");
    let digest = build(&bundle, "", "");

    let empty = provider(&server, &plain, &["list"]);
    assert_eq!(empty.status.code(), Some(0), "{}", err(&empty));
    assert!(out(&empty).contains("no provider is published here"), "{}", out(&empty));

    let refused = provider(&server, &plain, &["publish", text(&bundle)]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("`acme/stamp` version 1.0.0 was not published"), "{}", err(&refused));
    assert!(err(&refused).contains("forbidden"), "{}", err(&refused));

    // By its folder, by its manifest, and once more: each time the same.
    for path in [bundle.clone(), bundle.join("manifest.json"), bundle.clone()] {
        let done = provider(&server, &operator, &["publish", text(&path)]);
        let told = out(&done);
        assert_eq!(done.status.code(), Some(0), "{told}{}", err(&done));
        for part in [
            "acme/stamp 1.0.0  Gets a letter stamped.",
            &digest,
            "stamp: default",
            "acme/stamp version 1.0.0 is published",
        ] {
            assert!(told.contains(part), "{part}:\n{told}");
        }
    }

    let listed = provider(&server, &plain, &["list"]);
    assert!(out(&listed).contains("acme/stamp 1.0.0") && out(&listed).contains(&digest), "{}", out(&listed));

    let other = dir.path().join("other");
    build(&other, "lick --once", "lick --twice");
    let changed = provider(&server, &operator, &["publish", text(&other)]);
    assert_eq!(changed.status.code(), Some(1));
    assert!(err(&changed).contains("conflict") && err(&changed).contains("version_published"), "{}", err(&changed));

    let next = dir.path().join("next");
    build(&next, "version: 1.0.0", "version: 1.1.0");
    let mut command = procession(&["provider", "publish", text(&next)]);
    let done = command.env("PROCESSION_URL", &server.mcp).env("PROCESSION_TOKEN", &operator).output().expect("it runs");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let listed = out(&provider(&server, &plain, &["list"]));
    assert!(listed.contains("acme/stamp 1.1.0") && !listed.contains("1.0.0"), "the latest version alone:\n{listed}");
}

#[test]
fn what_is_no_bundle_is_refused_before_anything_is_sent() {
    let dir = tempfile::tempdir().expect("a folder");
    let bundle = dir.path().join("dist");
    build(&bundle, "", "");
    // Nobody listens there: whatever is sent fails otherwise.
    let publish = |path: &Path| {
        let args = ["provider", "publish", text(path), "--token", "t", "--url", "http://127.0.0.1:9/mcp"];
        exits(1, &args).1
    };
    assert!(publish(&bundle).contains("does not answer"), "{}", publish(&bundle));

    let sources = dir.path().join("sources");
    std::fs::create_dir_all(&sources).expect("made");
    for path in [&sources, &bundle.join("provider.yaml")] {
        let said = publish(path);
        assert!(said.contains("is no bundle") && said.contains("agent-graph --manifest"), "{said}");
        assert!(said.contains("provider.yaml build"), "{said}");
    }
    assert!(publish(&dir.path().join("away")).contains("does not exist"));

    std::fs::write(bundle.join("actions/lick.yaml"), "other").expect("written");
    std::fs::write(bundle.join("more.txt"), "more").expect("written");
    let said = publish(&bundle);
    assert!(said.contains("nothing was sent") && said.contains("actions/lick.yaml"), "{said}");
}

#[test]
fn a_bundle_over_the_servers_limit_is_named_with_both_sizes() {
    let server = Dev::start();
    let dir = tempfile::tempdir().expect("a folder");
    let large = "x".repeat(11 * 1024 * 1024);
    build(dir.path(), "lick --once", &large);
    let refused = provider(&server, &server.token(&["--operator"]), &["publish", text(dir.path())]);
    assert_eq!(refused.status.code(), Some(1));
    let said = err(&refused);
    assert!(said.contains("was not published") && said.contains(&(10 * 1024 * 1024).to_string()), "{said}");
}

#[test]
fn without_a_token_it_is_said_where_to_get_one() {
    let dir = tempfile::tempdir().expect("a folder");
    build(dir.path(), "", "");
    for args in [&["provider", "list"][..], &["provider", "publish", text(dir.path())]] {
        let (_, said) = exits(1, args);
        assert!(said.contains("PROCESSION_TOKEN") && said.contains("procession token"), "{args:?}: {said}");
    }
    let mut help = procession(&["provider", "publish", "--help"]);
    let help = help.env("PROCESSION_TOKEN", "a-secret-token").output().expect("it runs");
    assert!(!out(&help).contains("a-secret-token"), "the help shows a token");
}
