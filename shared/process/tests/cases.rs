//! Every file in `tests/cases` is a list of cases, each a process file (or a part of one) and everything that reading
//! it reports. A case that expects nothing must give a document.
//!
//! A case begins with `=== what it shows`. Its text is a whole file when it begins with `---`; a list of steps when it
//! begins with `- `; a field mapping of `inputs` when it begins with `{`; else a frontmatter. Lines after `>>>` are the
//! report. Set `UPDATE_CASES=1` to write what is reported into the files; then read the difference.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Write;
use std::fs;
use std::path::Path;

use process::{Severity, read};

struct Case {
    title: String,
    text: String,
    expect: String,
}

#[test]
fn every_case_reports_what_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut count = 0;
    let mut failures = String::new();
    for path in files {
        let source = fs::read_to_string(&path).unwrap();
        let cases = parse(&source);
        let mut updated = String::new();
        for case in &cases {
            count += 1;
            let got = report(&case.text);
            write!(updated, "=== {}\n{}>>>\n{got}\n", case.title, case.text).unwrap();
            if got != case.expect {
                let file = path.file_name().unwrap().to_string_lossy();
                write!(failures, "{file}: {}\n{}expected\n{}got\n{got}\n", case.title, case.text, case.expect).unwrap();
            }
        }
        if update {
            fs::write(&path, updated.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(count >= 180, "only {count} cases were found");
    assert!(update || failures.is_empty(), "{failures}");
}

fn parse(source: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut expecting = false;
    for line in source.lines() {
        if let Some(title) = line.strip_prefix("=== ") {
            cases.push(Case { title: title.to_owned(), text: String::new(), expect: String::new() });
            expecting = false;
        } else if line == ">>>" {
            expecting = true;
        } else if let Some(case) = cases.last_mut() {
            if !expecting {
                writeln!(case.text, "{line}").unwrap();
            } else if !line.is_empty() {
                writeln!(case.expect, "{line}").unwrap();
            }
        }
    }
    cases
}

fn report(text: &str) -> String {
    let file = if text.starts_with("---") {
        text.to_owned()
    } else if text.starts_with("- ") {
        format!("---\nname: x\ndescription: x\nsteps:\n{text}---\n")
    } else if text.starts_with('{') {
        format!("---\nname: x\ndescription: x\nsteps: [{{ id: a, finish: done }}]\ninputs:\n  {text}---\n")
    } else {
        format!("---\n{text}---\n")
    };
    let reading = read(file.as_bytes());
    let refused = reading.problems.iter().any(|p| p.severity == Severity::Error);
    assert_eq!(reading.document.is_none(), refused, "a document exactly when nothing refuses it\n{file}");
    let mut report = String::new();
    for problem in &reading.problems {
        let warning = if problem.severity == Severity::Warning { "warning: " } else { "" };
        let profile = problem.profile.map(|p| format!(" [{p}]")).unwrap_or_default();
        writeln!(report, "{warning}{problem}{profile}").unwrap();
    }
    report
}
