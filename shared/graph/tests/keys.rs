//! State keys of a Provider whose Graphs enter one another.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails, and this is how"
)]

use std::fmt::Write;

use graph::{Memory, Provider, near_keys, node_at, recordable};

const ACTION: &str = "schema: agent-graph.action.v1\nid: do\nrunner: command\neffect: read\ncommand: make\n";

fn provider(graphs: &[(&str, &str)]) -> Provider {
    let mut manifest = "schema: agent-graph.provider.v1\nid: p\nversion: 1.0.0\ngraphs:\n".to_owned();
    let mut files = vec![("do.yaml".to_owned(), ACTION.to_owned())];
    for (n, (id, nodes)) in graphs.iter().enumerate() {
        writeln!(manifest, "  - g{n}.yaml").unwrap();
        let text = format!(
            "schema: agent-graph.graph.v1\nid: {id}\nentrypoints: {{ default: first }}\nnodes:\n{nodes}  \
             - {{ id: end, kind: terminal, terminalOutcome: completed }}\nedges: []\n"
        );
        files.push((format!("g{n}.yaml"), text));
    }
    files.push(("provider.yaml".to_owned(), manifest));
    let files = files.into_iter().map(|(path, text)| (path, text.into_bytes().into())).collect();
    graph::load(&Memory(files), "provider.yaml").unwrap()
}

fn action(id: &str) -> String {
    format!("  - {{ id: {id}, kind: action, reasonCode: route.x, action: do.yaml }}\n")
}

fn enters(id: &str, graph: &str) -> String {
    format!("  - {{ id: {id}, kind: subgraph, graph: {graph}, entry: default }}\n")
}

fn nested() -> Provider {
    let main = [action("first"), enters("left", "a/b"), enters("right", "a/b")].concat();
    let ab = [action("first"), action("first/again"), enters("deep", "c")].concat();
    provider(&[("main", &main), ("a/b", &ab), ("c", &action("first"))])
}

#[test]
fn a_key_names_the_node_at_its_end() {
    let provider = nested();
    for (key, node) in [
        ("main/first", "first"),
        ("main/left", "left"),
        ("main/left>a/b/first", "first"),
        ("main/right>a/b/first/again", "first/again"),
        ("main/right>a/b/deep>c/first", "first"),
        ("main/right>a/b/deep>c/end", "end"),
    ] {
        let found = node_at(&provider, "main", key).unwrap_or_else(|| panic!("{key}"));
        assert_eq!(found.id, node);
        assert_eq!(recordable(found), !["left", "end"].contains(&node), "{key}");
    }
    let long = format!("main/left>{}", "a/b/deep>".repeat(200));
    for key in [
        "",
        ">",
        "main",
        "main/",
        "main/none",
        "first",
        "a/b/first",
        "main/first>",
        "main/first>a/b/first",
        "main/left>",
        "main/left>c/first",
        "main/left>a/b/deep",
        "main/left>main/first",
        ">main/first",
        "main/left>a/b/deep>c/first>x/y",
        &long,
    ] {
        let found = node_at(&provider, "main", key).filter(|node| recordable(node));
        assert!(found.is_none(), "{key}: {found:?}");
    }
    assert!(node_at(&provider, "none", "main/first").is_none());
    assert_eq!(node_at(&provider, "a/b", "a/b/deep>c/first").unwrap().id, "first");
}

#[test]
fn near_keys_are_those_of_the_same_name_and_of_slips() {
    let provider = nested();
    for (key, near) in [
        ("first", &["main/first", "main/left>a/b/deep>c/first", "main/left>a/b/first"][..]),
        ("main/frist", &["main/first"]),
        ("main/left>a/b/frst", &["main/left>a/b/first"]),
        ("again", &["main/left>a/b/first/again", "main/right>a/b/first/again"]),
        ("main/left>a/b/dep>c/first", &["main/first", "main/left>a/b/deep>c/first", "main/left>a/b/first"]),
        ("zzz", &[]),
        ("", &[]),
    ] {
        assert_eq!(near_keys(&provider, "main", key), near, "{key}");
    }
    assert!(near_keys(&provider, "none", "main/first").is_empty());
    assert!(near_keys(&provider, "main", &"main/first".repeat(100)).is_empty());
}

#[test]
fn a_graph_with_more_keys_than_there_is_room_for_is_searched_in_bounds() {
    // Twelve levels, each entered in ten places: a million million keys.
    let ids: Vec<String> = (0..13).map(|level| format!("g{level}")).collect();
    let mut graphs: Vec<(&str, String)> = Vec::new();
    for (level, id) in ids.iter().enumerate() {
        let below = (0..10).filter_map(|n| Some(enters(&format!("s{n}"), ids.get(level + 1)?)));
        graphs.push((id, below.chain([action("first")]).collect()));
    }
    let graphs: Vec<(&str, &str)> = graphs.iter().map(|(id, nodes)| (*id, nodes.as_str())).collect();
    let provider = provider(&graphs);
    let deep = (0..12).map(|level| format!("g{level}/s{}>", level % 10)).collect::<String>();
    assert_eq!(node_at(&provider, "g0", &format!("{deep}g12/first")).unwrap().id, "first");
    let begun = std::time::Instant::now();
    assert!(near_keys(&provider, "g0", &format!("{deep}g12/frist")).contains(&format!("{deep}g12/first")));
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}
