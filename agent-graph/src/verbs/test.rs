//! `agent-graph test`: the tests of a Provider's Graphs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use graph::{Failure, TestReport, run_test};
use serde_json::json;

use crate::call::{Done, Global, Opened};
use crate::files;
use crate::limits::{FILES, FOLDER_LEVELS};

/// Evaluates every test of a file or a folder, and tells each expectation that does not hold. Nothing is run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph test                      the folder `tests` of the Provider
  agent-graph --manifest dist/provider/manifest.json test      a bundle, by the tests here
  agent-graph test tests/gate.yaml

Exit codes: 0 every test passed; 1 one did not, or there is none, and why.")]
pub struct Test {
    /// A test, or a folder of tests; unless said, `tests` beside the manifest, or else here.
    path: Option<PathBuf>,
}

impl Test {
    /// Runs the tests.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let path = self.path.clone().unwrap_or_else(|| usual(opened.disk.folder()));
        let mut found = Vec::new();
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => collect(&path, 0, &mut found)?,
            Ok(_) => found.push(path.clone()),
            Err(_) => {
                let message = format!("there are no tests at {}", path.display());
                return Err(Failure::new("test-path-missing", message));
            }
        }
        if found.is_empty() {
            let message = format!("there is no .yaml, .yml or .json file in {}", path.display());
            return Err(Failure::new("test-cases-empty", message));
        }
        found.sort();
        let results = reports(&opened, &found);
        let failed = results.iter().filter(|result| !result.passed).count();
        let state = if failed == 0 { "passed" } else { "failed" };
        let answer = json!({ "state": state, "total": results.len(), "failed": failed, "results": results });
        global.tell(&answer, |paint| {
            let mut lines = Vec::new();
            for result in &results {
                let passed = if result.passed { paint.good("passed") } else { paint.bad("failed") };
                lines.push(format!("{passed} {}  {}", result.name, paint.dim(&result.path)));
                lines.extend(result.failures.iter().map(|failure| format!("       {failure}")));
            }
            lines.push(format!("{} of {} passed", results.len() - failed, results.len()));
            lines
        })?;
        Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// The tests of a Provider stand beside its manifest; those of a bundle, which holds none, are where it is tested.
fn usual(folder: &Path) -> PathBuf {
    let (beside, here) = (folder.join("tests"), PathBuf::from("tests"));
    if !beside.is_dir() && here.is_dir() { here } else { beside }
}

/// Runs every test. One that cannot be run has failed, and keeps no other from being run.
fn reports(opened: &Opened, paths: &[PathBuf]) -> Vec<TestReport> {
    let report = |path: &PathBuf| {
        let told = files::text(&files::absolute(path));
        let text = files::read(path);
        let run = text.clone().and_then(|text| run_test(&opened.provider, &opened.places, &told, &text));
        run.unwrap_or_else(|failure| {
            let name = text.ok().and_then(|text| named(path, &text)).unwrap_or_else(|| told.clone());
            let failures = match failure.diagnostics.is_empty() {
                true => vec![format!("cannot be run: {} [{}]", failure.message, failure.code)],
                false => failure
                    .diagnostics
                    .iter()
                    .map(|one| format!("cannot be run: {}", crate::hints::line(one)))
                    .collect(),
            };
            TestReport { name, path: told, passed: false, failures }
        })
    };
    paths.iter().map(report).collect()
}

/// The name of a test whose file says one.
fn named(path: &Path, text: &[u8]) -> Option<String> {
    let value = crate::values::parsed(path, std::str::from_utf8(text).ok()?).ok()?;
    value.get("name")?.as_str().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// The tests of a folder and of those in it. Links to folders are not followed: they may lead round in circles.
fn collect(folder: &Path, level: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unread = |error| Failure::new("file-read-failed", format!("{} cannot be read: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unread)?);
        if kind.is_dir() && level < FOLDER_LEVELS {
            collect(&path, level + 1, found)?;
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") && path.is_file() {
            found.push(path);
        }
        if found.len() > FILES {
            let message = format!("{} holds more than {FILES} tests; run them folder by folder", folder.display());
            return Err(Failure::new("option-invalid", message));
        }
    }
    Ok(())
}
