//! Graphs as they are read: the model, what a server without the profile says of them, limits, the hash, the pictures.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use process::{
    DEFAULT_ENTRY, DataPath, Document, GraphBinding, ReadOptions, content_hash, limits, map, read, read_with,
};

const FILE: &str = "\
---
name: release
description: Build a release and ship it.
inputs:
  version: string
steps:
  - id: build
    agent: Build it.
    output: { digest: string }
    graph:
      provider: acme/release@1.2.0
      graph: release
      entry: build
      facts:
        release.version: inputs.version
        artifact.digest: steps.build.output.digest
      require_complete: true
  - id: ship
    agent: Ship it.
    graph: { provider: acme/release, graph: ship, facts: { artifact.digest: steps.build.output.digest } }
  - id: tell
    agent: Tell everybody.
  - id: done
    finish: released
---
";

fn document(file: &str) -> Document {
    let reading = read(file.as_bytes());
    reading.document.unwrap_or_else(|| panic!("{:?}", reading.problems))
}

#[test]
fn a_graph_is_what_the_file_says() {
    let document = document(FILE);
    let found: Vec<(&str, &GraphBinding)> = document.graphs().map(|(step, graph)| (step.id.as_str(), graph)).collect();
    let output = DataPath::Output { step: "build".to_owned(), field: "digest".to_owned() };
    let fact = |path: &str, from: &DataPath| (path.to_owned(), from.clone());
    let build = GraphBinding {
        provider: "acme/release".to_owned(),
        version: Some("1.2.0".to_owned()),
        graph: "release".to_owned(),
        entry: "build".to_owned(),
        facts: vec![fact("release.version", &DataPath::Input("version".to_owned())), fact("artifact.digest", &output)],
        require_complete: true,
    };
    let ship = GraphBinding {
        provider: "acme/release".to_owned(),
        version: None,
        graph: "ship".to_owned(),
        entry: DEFAULT_ENTRY.to_owned(),
        facts: vec![fact("artifact.digest", &output)],
        require_complete: false,
    };
    assert_eq!(found, [("build", &build), ("ship", &ship)]);
    assert_eq!(build.to_string(), "release of acme/release@1.2.0");
    assert_eq!(ship.to_string(), "ship of acme/release");
}

#[test]
fn a_file_with_a_graph_needs_the_profile() {
    assert_eq!(document(FILE).profiles(), ["graph-1"]);
    let with_check = FILE.replace("agent: Tell everybody.", "agent: Tell everybody.\n    check: Does everybody know?");
    assert_eq!(document(&with_check).profiles(), ["check-1", "graph-1"]);
}

#[test]
fn without_the_profile_each_key_is_refused_where_it_stands_and_no_other_fault_is_hidden() {
    let without = ReadOptions { graph: false, ..ReadOptions::default() };
    let told = |file: &str| -> Vec<String> {
        let reading = read_with(file.as_bytes(), &without);
        assert_eq!(reading.document.is_some(), reading.problems.is_empty());
        let profile = |p: Option<&str>| p.map(|p| format!(" [{p}]")).unwrap_or_default();
        reading.problems.iter().map(|p| format!("{p}{}", profile(p.profile))).collect()
    };
    let offered = "`graph` needs profile graph-1, which this server does not offer: it has no graphs [graph-1]";
    assert_eq!(told(FILE), [format!("10:5: steps[0].graph: {offered}"), format!("20:5: steps[1].graph: {offered}")]);
    // What such a key holds is of no interest where the key itself is refused, and nothing suggests it.
    let wrong =
        FILE.replace("acme/release@1.2.0", "nonsense@").replace("agent: Tell everybody.", "agent:\n    grpah: x");
    assert_eq!(
        told(&wrong),
        [
            format!("10:5: steps[0].graph: {offered}"),
            format!("20:5: steps[1].graph: {offered}"),
            "22:10: steps[2].agent: has no value; write instructions".to_owned(),
            "23:5: steps[2].grpah: unknown key; a step takes id, agent, task, approve, wait, wait_until, wait_for, \
             parallel, finish, output, evidence, next, person, on_reject, due, timeout, on_timeout, check, advisory"
                .to_owned(),
        ]
    );
    // A file without one is the same to both.
    let plain = FILE.lines().filter(|l| !l.starts_with("    graph") && !l.starts_with("      "));
    let plain = plain.fold(String::new(), |file, line| file + line + "\n");
    assert_eq!(read_with(plain.as_bytes(), &without), read(plain.as_bytes()));
    assert!(read(plain.as_bytes()).document.is_some());
}

#[test]
fn what_a_graph_says_is_bounded() {
    let with = |graph: &str| {
        format!(
            "---\nname: x\ndescription: x\ninputs: {{ n: number }}\nsteps:\n- id: a\n  agent: x\n  graph: {graph}\n\
             - id: b\n  finish: done\n---\n"
        )
    };
    let facts = |count: usize| {
        let facts: Vec<String> = (0..count).map(|n| format!("f{n}: inputs.n")).collect();
        with(&format!("{{ provider: p, graph: g, facts: {{ {} }} }}", facts.join(", ")))
    };
    let error = |file: &str| {
        let problems = read(file.as_bytes()).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems[0].message.clone()
    };
    assert_eq!(document(&facts(limits::GRAPH_FACTS)).graphs().next().unwrap().1.facts.len(), limits::GRAPH_FACTS);
    assert_eq!(
        error(&facts(limits::GRAPH_FACTS + 1)),
        "steps[0].graph.facts.f100: there are 101 facts; at most 100 are allowed: leave some out"
    );
    let named = |id: usize, version: usize, graph: usize, entry: usize, fact: usize| {
        let x = |count: usize| "x".repeat(count);
        with(&format!(
            "{{ provider: {}@1.0.0-{}, graph: {}, entry: {}, facts: {{ {}: inputs.n }} }}",
            x(id),
            x(version - 6),
            x(graph),
            x(entry),
            x(fact)
        ))
    };
    let (id, version) = (limits::GRAPH_ID_CHARACTERS, limits::PROVIDER_VERSION_CHARACTERS);
    let fact = limits::FACT_PATH_CHARACTERS;
    document(&named(id, version, id, id, fact));
    assert!(error(&named(id + 1, version, id, id, fact)).contains("160 characters at most"));
    assert!(error(&named(id, version + 1, id, id, fact)).contains("ends in no version"));
    assert!(error(&named(id, version, id + 1, id, fact)).contains("160 characters at most"));
    assert!(error(&named(id, version, id, id + 1, fact)).contains("160 characters at most"));
    assert!(error(&named(id, version, id, id, fact + 1)).contains("160 characters at most"));
    let deep = |names: usize| {
        with(&format!("{{ provider: a, graph: g, facts: {{ {}: inputs.n }} }}", vec!["x"; names].join(".")))
    };
    document(&deep(limits::FACT_PATH_NAMES));
    assert!(error(&deep(limits::FACT_PATH_NAMES + 1)).contains("16 names and 160 characters at most"));
}

#[test]
fn the_hash_covers_the_graph() {
    let hash = |file: &str| content_hash(&document(file));
    let first = hash(FILE);
    for (from, to) in [
        ("acme/release@1.2.0", "acme/release@1.2.1"),
        ("acme/release@1.2.0", "acme/release"),
        ("graph: release", "graph: ship"),
        ("      entry: build\n", ""),
        ("release.version: inputs", "release.name: inputs"),
        ("        release.version: inputs.version\n", ""),
        ("      require_complete: true\n", ""),
    ] {
        assert_ne!(first, hash(&FILE.replace(from, to)), "{from}");
    }
}

#[test]
fn the_pictures_show_which_steps_a_graph_guides() {
    let document = document(FILE);
    let (mermaid, svg) = (map::mermaid(&document), map::svg(&document));
    assert!(mermaid.contains("graph: release of acme#47;release#64;1.2.0, to its end\""), "{mermaid}");
    assert!(mermaid.contains("graph: ship of acme#47;release\""), "{mermaid}");
    assert_eq!(mermaid.matches("graph: ").count(), 2, "{mermaid}");
    assert_eq!(svg.matches("graph: ").count(), 2, "{svg}");
}
