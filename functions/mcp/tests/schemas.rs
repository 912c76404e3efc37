//! The published schemas are those of the types. `UPDATE_SCHEMAS=1 cargo test -p mcp --test schemas` writes them anew.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(of)
}

fn files_below(folder: &Path, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path(), &format!("{name}/")));
        } else {
            found.insert(name);
        }
    }
    found
}

/// Holds a folder of schemas to those that were made, each file and no other.
fn holds(of: &str, made: &[(String, serde_json::Value)]) {
    let folder = folder(of);
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        for (path, schema) in made {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, serde_json::to_string_pretty(schema).unwrap() + "\n").unwrap();
        }
    }
    for (path, schema) in made {
        let stored = fs::read_to_string(folder.join(path)).unwrap_or_default();
        let stored: serde_json::Value = serde_json::from_str(&stored).unwrap_or_default();
        assert_eq!(&stored, schema, "{of}/{path} is not what the types say; see the head of this file");
    }
    let expected: BTreeSet<String> = made.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(files_below(&folder, ""), expected);
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    holds("core-2", &mcp::tools::published());
}

#[test]
fn the_published_schemas_of_the_tools_of_graphs_are_those_of_the_types() {
    holds("graph-1", &mcp::tools::published_graphs());
}

#[test]
fn every_schema_is_one_and_closed() {
    for (path, schema) in mcp::tools::published().into_iter().chain(mcp::tools::published_graphs()) {
        if path == "index.json" {
            continue;
        }
        jsonschema::options().build(&schema).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(schema["type"], "object", "{path}");
        assert_eq!(schema["additionalProperties"], false, "{path}");
    }
}

#[test]
fn every_tool_has_its_schemas_in_one_of_the_folders() {
    let tools = |made: Vec<(String, serde_json::Value)>| -> Vec<String> {
        let arguments = |path: &str| path.strip_prefix("tools/")?.strip_suffix(".arguments.json").map(str::to_owned);
        made.iter().filter_map(|(path, _)| arguments(path)).collect()
    };
    let graphs = tools(mcp::tools::published_graphs());
    assert_eq!(graphs, identity::GRAPH_TOOLS);
    let all = [tools(mcp::tools::published()), graphs].concat();
    assert_eq!(all, identity::TOOLS);
}
