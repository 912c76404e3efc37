//! A Provider that holds together, and what is known of it once it is loaded.

use graph::documents::{Resource, ResourceKind};

use crate::small::Small;

#[test]
fn everything_that_is_named_is_loaded_and_nothing_else() {
    let provider = Small::new().put("notes.md", "not named").load().unwrap();
    let mut expected: Vec<String> = Small::new().0.into_keys().collect();
    expected.sort();
    assert_eq!(provider.files.keys().cloned().collect::<Vec<_>>(), expected);
    for (path, text) in &Small::new().0 {
        assert_eq!(provider.files[path], graph::digest_bytes(text.as_bytes()), "{path}");
    }
    assert_eq!(provider.actions.len(), 6);
    assert_eq!(provider.resources.len(), 4);
    assert_eq!(provider.schemas.len(), 3);
    assert_eq!(provider.dependencies["main"], ["child"]);
    assert!(provider.dependencies["child"].is_empty());
    assert!(provider.code("small.broken").is_some());
    let skill = &provider.skills["skills/work/SKILL.md"];
    assert_eq!((skill.value.id(), skill.value.kind()), ("skill.work", ResourceKind::Skill));
    assert!(
        matches!(&provider.resources["resources/asked.yaml"].value, Resource::HostAction(made) if made.input["about"] == "small")
    );
}

#[test]
fn a_graph_depends_on_its_own_files_and_on_those_of_the_graphs_it_enters() {
    let provider = Small::new().load().unwrap();
    let child = ["actions/run.yaml", "graphs/child.yaml", "scripts/lib.sh", "scripts/run.sh"];
    assert_eq!(provider.closures["child"], child);
    let mut main: Vec<&str> = provider.files.keys().map(String::as_str).collect();
    // The manifest and the Code Catalog decide nothing, and a file only the catalog names does not either.
    main.retain(|path| !["provider.yaml", "codes.yaml", "resources/table.yaml", "data/table.csv"].contains(path));
    assert_eq!(provider.closures["main"], main);
}

#[test]
fn a_skill_at_the_root_carries_only_itself() {
    let small = Small::new()
        .edit("actions/work.yaml", "skills/work/SKILL.md", "SKILL.md")
        .put("SKILL.md", "---\nname: root\n---\n")
        .put("other.md", "not named");
    let provider = small.load().unwrap();
    assert!(provider.files.contains_key("SKILL.md"));
    assert!(!provider.files.contains_key("other.md") && !provider.files.contains_key("skills/work/SKILL.md"));
}

#[test]
fn paths_that_are_written_differently_are_one_file() {
    let small = Small::new()
        .edit("provider.yaml", "graphs/child.yaml", "./graphs//child.yaml")
        .edit("graphs/child.yaml", "actions/run.yaml", "./actions/./run.yaml")
        .edit("actions/run.yaml", "scripts/lib.sh", ".//scripts/lib.sh")
        .edit("codes.yaml", "resources/guide.md", "./resources/guide.md")
        .edit("resources/view.yaml", "actions/view.yaml", "./actions/view.yaml");
    let provider = small.load().unwrap();
    assert_eq!(provider.files.len(), Small::new().0.len());
    assert_eq!(provider.graphs["child"].path, "graphs/child.yaml");
    assert_eq!(provider.graphs["child"].value.nodes[0].action.as_deref(), Some("actions/run.yaml"));
    assert_eq!(provider.actions["actions/run.yaml"].value.files.as_deref().unwrap(), ["scripts/lib.sh"]);
    assert_eq!(provider.code("route.main.gate").unwrap().document.as_deref(), Some("resources/guide.md"));
}

#[test]
fn a_provider_may_be_json_and_its_manifest_may_have_any_name() {
    let manifest = r#"{"schema": "agent-graph.provider.v1", "id": "a", "version": "0.0.0", "graphs": ["g.json"]}"#;
    let graph = r#"{"schema": "agent-graph.graph.v1", "id": "g", "entrypoints": {"default": "t"},
        "nodes": [{"id": "t", "kind": "terminal", "terminalOutcome": "skipped"}], "edges": []}"#;
    let mut small = Small::new();
    small.0.clear();
    let small = small.put("any.json", manifest).put("g.json", graph);
    let provider = graph::load(&small.source(), "any.json").unwrap();
    assert_eq!((provider.id(), provider.manifest.path.as_str()), ("a", "any.json"));
}

#[test]
fn one_file_may_be_named_from_many_places() {
    let small = Small::new()
        .edit("graphs/child.yaml", "priority: -5", "priority: 5, resources: {required: [resources/guide.md]}")
        .edit("actions/view.yaml", "command: cat view", "command: cat view, files: [scripts/run.sh, data/table.csv]");
    let provider = small.load().unwrap();
    assert!(provider.closures["main"].contains(&"data/table.csv".to_owned()));
}
