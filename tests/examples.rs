//! Every example can be run, and the examples' own README knows all of them and what they show.

#![allow(clippy::expect_used, reason = "a failed expectation is how a test fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use graph::Places;
use graph::disk::Disk;
use process::{CHECK_1, GRAPH_1, PARALLEL_1};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(&folder).expect("the examples");
    let mut folders: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

fn read(folder: &Path) -> process::Reading {
    let bytes = std::fs::read(folder.join("PROCESS.md")).expect("a PROCESS.md");
    process::read_in_folder(&bytes, &folder.file_name().expect("a name").to_string_lossy())
}

#[test]
fn every_example_can_be_run_without_a_warning() {
    let folders = examples();
    assert!(folders.len() >= 5, "{folders:?}");
    for folder in folders {
        let reading = read(&folder);
        assert!(reading.problems.is_empty(), "{}: {:?}", folder.display(), reading.problems);
        assert!(reading.document.is_some());
    }
}

#[test]
fn the_examples_show_every_kind_of_step() {
    let mut kinds = BTreeSet::new();
    for folder in examples() {
        kinds.extend(read(&folder).document.expect("well-formed").steps.iter().map(|step| step.kind_name()));
    }
    let all = ["agent", "approve", "finish", "parallel", "task", "wait", "wait_for", "wait_until"];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_examples_show_every_profile_alone_and_two_together() {
    let mut shown = BTreeSet::new();
    for folder in examples() {
        shown.insert(read(&folder).document.expect("well-formed").profiles());
    }
    let all = [vec![], vec![CHECK_1], vec![CHECK_1, PARALLEL_1], vec![GRAPH_1], vec![PARALLEL_1]];
    assert_eq!(shown.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_examples_show_every_kind_of_question_and_a_check_that_advises() {
    let (mut kinds, mut advising) = (BTreeSet::new(), BTreeSet::new());
    for folder in examples() {
        let document = read(&folder).document.expect("well-formed");
        for check in document.steps.iter().filter_map(|step| step.work()?.check.as_ref()) {
            kinds.extend(check.questions.iter().map(|question| question.kind.name()));
            advising.insert(check.advisory);
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["choice", "rubric", "yes_no"]);
    assert_eq!(advising.into_iter().collect::<Vec<_>>(), [false, true]);
}

/// The files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut found: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    found.sort();
    found
}

#[test]
fn the_graphs_of_the_examples_are_those_of_the_providers_beside_them_and_their_tests_pass() {
    let (mut required, mut providers) = (BTreeSet::new(), 0);
    for folder in examples() {
        let document = read(&folder).document.expect("well-formed");
        let manifest = folder.join("provider/provider.yaml");
        assert_eq!(manifest.is_file(), document.graphs().next().is_some(), "{}", folder.display());
        if !manifest.is_file() {
            continue;
        }
        providers += 1;
        let (disk, name) = Disk::of(&manifest).expect("a provider");
        let provider =
            graph::load(&disk, &name).unwrap_or_else(|e| panic!("{}: {:?}", folder.display(), e.diagnostics));
        for (step, binding) in document.graphs() {
            required.insert(binding.require_complete);
            assert_eq!(binding.provider, provider.id(), "{}", step.id);
            assert!(binding.version.as_ref().is_none_or(|v| *v == provider.manifest.value.version), "{}", step.id);
            let graph = provider.graphs.get(&binding.graph).unwrap_or_else(|| panic!("no graph for {}", step.id));
            assert!(graph.value.entrypoints.contains_key(&binding.entry), "{}", step.id);
        }
        let places = Places { provider_root: "/provider".to_owned(), workspace: "/workspace".to_owned() };
        let tests = files(&folder.join("provider/tests"));
        assert!(tests.len() >= 5, "{tests:?}");
        for path in tests {
            let text = std::fs::read(&path).expect("a test");
            let report = graph::run_test(&provider, &places, &path.display().to_string(), &text).expect("a test");
            assert!(report.passed, "{}: {:?}", path.display(), report.failures);
        }
    }
    assert_eq!((providers, required.len()), (2, 2), "with and without require_complete");
}

#[test]
fn the_readme_names_every_example_and_its_roles() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    for folder in examples() {
        let document = read(&folder).document.expect("well-formed");
        let link = format!("[{0}]({0}/PROCESS.md)", document.name);
        let row = readme.lines().find(|line| line.contains(&link));
        let row = row.unwrap_or_else(|| panic!("the README has no row for {}", document.name));
        let roles = row.rsplit('|').nth(1).expect("a last column");
        match document.roles().as_slice() {
            [] => assert_eq!(roles.trim(), "none", "{row}"),
            named => named.iter().for_each(|role| assert!(roles.contains(&format!("`{role}`")), "{row}")),
        }
    }
}
