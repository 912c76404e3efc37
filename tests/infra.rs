//! The template of the hosted form and its README, held equal to the code that they speak of.
//!
//! `infra/lint` checks the template by itself; here stands what only the code can say: the table's keys, the shape of an
//! object's key, and that every document that the README tells operators to give is one that a function takes.

use std::path::Path;

use store::dynamo::{PARTITION, SORT};

#[expect(clippy::panic, reason = "a test that finds no file is to say which")]
fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("infra").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a resource, up to the next one.
fn resource<'a>(template: &'a str, name: &str) -> Vec<&'a str> {
    let lines: Vec<&str> = template.lines().skip_while(|line| *line != format!("  {name}:")).skip(1).collect();
    assert!(!lines.is_empty(), "the template has no resource {name}");
    let own = |line: &&&str| line.is_empty() || line.starts_with("    ");
    lines.iter().take_while(own).map(|line| line.trim()).collect()
}

#[test]
fn the_table_has_the_stores_keys() {
    let template = read("template.yaml");
    let table = resource(&template, "Table");
    let named = |what: &str| -> Vec<&str> {
        table.iter().filter(|line| line.contains("AttributeName") && line.contains(what)).copied().collect()
    };
    assert_eq!(
        named("KeyType"),
        [
            format!("- {{ AttributeName: {PARTITION}, KeyType: HASH }}"),
            format!("- {{ AttributeName: {SORT}, KeyType: RANGE }}")
        ]
    );
    assert_eq!(
        named("AttributeType"),
        [
            format!("- {{ AttributeName: {PARTITION}, AttributeType: S }}"),
            format!("- {{ AttributeName: {SORT}, AttributeType: S }}")
        ]
    );
}

#[test]
fn an_objects_key_has_the_shape_that_the_roles_name() {
    // What an upload is given, and the only thing that is ever looked for: `f_` and twenty characters.
    let key = store::keys::object("an organization", &format!("f_{}", "a".repeat(20)));
    let shape: String = key.chars().map(|c| if c == '/' { '/' } else { '?' }).collect();
    let template = read("template.yaml");
    for (bucket, times) in [("${Bucket.Arn}", 2), ("${KeptBucket}", 1)] {
        let named = format!("{bucket}/{shape}");
        assert_eq!(template.lines().filter(|line| line.ends_with(&named)).count(), times, "{named}");
        assert_eq!(template.matches(&format!("{bucket}/")).count(), times);
    }
}

/// What publishing and evaluating the costliest graphs took that two bundles of the largest size can hold, in MB.
const GRAPHS_TOOK_MB: u32 = 345;

#[test]
fn no_memory_is_taken_that_graphs_have_no_room_in() {
    let template = read("template.yaml");
    let memory = resource(&template, "McpMemory");
    let least = memory.iter().find_map(|line| line.strip_prefix("MinValue: ")).expect("a least value");
    let least: u32 = least.parse().expect("a number");
    // A third more, for the clients of AWS and for what others are doing.
    assert!(least >= GRAPHS_TOOK_MB * 4 / 3, "{least} MB");
    for file in ["template.yaml", "README.md"] {
        assert!(read(file).contains(&format!("took {GRAPHS_TOOK_MB} MB")), "{file}");
    }
}

/// The JSON blocks of the README that hold this key at their top.
fn documents(key: &str) -> Vec<String> {
    let readme = read("README.md");
    let blocks = readme.split("```json\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.filter(|block| block.starts_with(&format!("{{ \"{key}\""))).map(str::to_owned).collect()
}

#[test]
fn every_issuer_that_the_readme_shows_is_one_that_is_taken() {
    let documents = documents("issuers");
    assert_eq!(documents.len(), 5);
    for document in documents {
        let config = identity::Config::from_json(&document).unwrap_or_else(|why| panic!("{document}: {why:?}"));
        let issuer = &config.issuers[0];
        assert!(!issuer.people_clients.is_empty(), "nobody could decide: {document}");
    }
}

#[test]
fn every_evaluator_that_the_readme_shows_is_one_that_is_taken() {
    let documents = documents("kind");
    assert_eq!(documents.len(), 2);
    for document in documents {
        let config: evaluator::Config =
            serde_json::from_str(&document).unwrap_or_else(|why| panic!("{document}: {why}"));
        assert_eq!(config.check(), Ok(()), "{document}");
    }
}
