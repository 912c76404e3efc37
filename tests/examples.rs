//! Every example can be run, and the examples' own README knows all of them and what they show.

#![allow(clippy::expect_used, reason = "a failed expectation is how a test fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use process::{CHECK_1, PARALLEL_1};

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
fn the_examples_show_both_profiles_alone_and_together() {
    let mut shown = BTreeSet::new();
    for folder in examples() {
        shown.insert(read(&folder).document.expect("well-formed").profiles());
    }
    let all = [vec![], vec![CHECK_1], vec![CHECK_1, PARALLEL_1], vec![PARALLEL_1]];
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
