//! A folder of its own for every test, and the command in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use jsonschema::{Retrieve, Uri};
use serde_json::Value;

/// A folder with the command in it.
pub struct Place {
    folder: tempfile::TempDir,
    root: PathBuf,
}

/// What a call came to.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Answer {
    /// What standard error says besides notes, which are no faults.
    fn faults(&self) -> Vec<&str> {
        self.err.lines().filter(|line| !line.starts_with("note: ")).collect()
    }
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Place { folder, root }
    }

    /// A place with a Provider: an Action, then a Gate, then an end; a file Resource and one that a command makes.
    pub fn with_provider() -> Place {
        let place = Place::new();
        for (path, text) in PROVIDER {
            place.write(path, text);
        }
        place
    }

    pub fn path(&self, path: &str) -> PathBuf {
        assert!(self.folder.path().exists());
        if path.is_empty() { self.root.clone() } else { self.root.join(path) }
    }

    pub fn text(&self, path: &str) -> String {
        self.path(path).to_str().unwrap().to_owned()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// Every file, sorted.
    pub fn files(&self) -> Vec<String> {
        fn walk(root: &Path, folder: &Path, all: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() && !path.is_symlink() {
                    true => walk(root, &path, all),
                    false => all.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()),
                }
            }
        }
        let mut all = Vec::new();
        walk(&self.root, &self.root, &mut all);
        all.sort();
        all
    }

    /// The command, not yet started. What it finds in the environment is this place's own.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agent-graph"));
        command.args(args).current_dir(&self.root).stdin(Stdio::null()).env("XDG_CACHE_HOME", self.path(".cache"));
        command
    }

    pub fn call(&self, args: &[&str]) -> Answer {
        self.command(args).output().unwrap().into()
    }

    /// The answer of a call that must succeed, as JSON on one line.
    pub fn json(&self, args: &[&str]) -> Value {
        let answer = self.call(&[&["--format", "json"], args].concat());
        assert_eq!((answer.code, answer.faults()), (Some(0), vec![]), "{args:?}: {answer:?}");
        one_line(&answer.out)
    }

    /// The error of a call that must be refused.
    pub fn error(&self, args: &[&str]) -> Value {
        let answer = self.call(&[&["--format", "json"], args].concat());
        assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{args:?}: {answer:?}");
        let error = one_line(&answer.err);
        valid("error", &error);
        error["error"].clone()
    }

    pub fn code(&self, args: &[&str]) -> String {
        self.error(args)["code"].as_str().unwrap().to_owned()
    }

    /// What people are told by a call that must succeed.
    pub fn human(&self, args: &[&str]) -> String {
        let answer = self.call(args);
        assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{args:?}: {answer:?}");
        answer.out
    }
}

impl From<Output> for Answer {
    fn from(output: Output) -> Answer {
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn one_line(text: &str) -> Value {
    assert!(text.ends_with('\n') && text.lines().count() == 1, "not one line: {text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Schemas name each other by their identities.
struct Published;

impl Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().rsplit(':').next().unwrap_or_default();
        Ok(serde_json::from_str(graph::schema_named(name)?)?)
    }
}

/// Holds a value to a published schema.
pub fn valid(schema: &str, value: &Value) {
    let schema: Value = serde_json::from_str(graph::schema_named(schema).unwrap()).unwrap();
    let validator = jsonschema::options().with_retriever(Published).build(&schema).unwrap();
    let faults: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}: {value}");
}

/// Waits for something that must come to be.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < until, "{what} did not come to be");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The Provider of most tests.
pub const PROVIDER: &[(&str, &str)] = &[
    (
        "provider.yaml",
        "\
schema: agent-graph.provider.v1
id: acme/release
version: 1.2.0
graphs: [graphs/release.yaml]
catalogs: {codes: codes.yaml}
",
    ),
    (
        "graphs/release.yaml",
        "\
schema: agent-graph.graph.v1
id: release
entrypoints: {default: inspect, publish: publish}
nodes:
  - id: inspect
    kind: action
    action: actions/inspect.yaml
    reasonCode: route.release.inspect
    description: Look at the artifact
    resources: {required: [resources/view.yaml], recommended: [resources/checklist.md]}
  - id: publish
    kind: gate
    reasonCode: route.release.publish
    gate: {id: publish, prompt: May it be published?, authority: lead, delegatable: true}
  - id: done
    kind: terminal
    terminalOutcome: completed
edges:
  - {from: inspect, to: publish}
  - {from: publish, to: done}
",
    ),
    (
        "actions/inspect.yaml",
        "{schema: agent-graph.action.v1, id: inspect, runner: command, effect: read, command: ls dist}\n",
    ),
    (
        "actions/view.yaml",
        "{schema: agent-graph.action.v1, id: view, runner: script, runtime: shell, effect: read, entry: scripts/view.sh}\n",
    ),
    ("scripts/view.sh", "printf '{\"input\":%s}' \"$AGENT_GRAPH_INPUT\"\n"),
    (
        "resources/view.yaml",
        "\
schema: agent-graph.resource.graph-action.v1
id: release.view
kind: context-view
mediaType: application/json
materializer: actions/view.yaml
",
    ),
    (
        "resources/checklist.md",
        "---\nid: release.checklist\nkind: procedure\nmedia-type: text/markdown\n---\n\n# Checklist\n",
    ),
    (
        "codes.yaml",
        "\
schema: agent-graph.code-catalog.v1
codes:
  - {code: route.release.inspect, kind: route-reason, summary: Nobody has looked at it yet, document: resources/checklist.md}
  - {code: route.release.publish, kind: route-reason, summary: Somebody must say yes}
",
    ),
    (
        "tests/first.yaml",
        "\
schema: agent-graph.test.v1
name: looking comes first
graph: release
entry: default
expect: {statusCode: actionable, primaryNode: inspect}
",
    ),
    (
        "skills/release/SKILL.md",
        "\
---
name: release
description: Releases.
metadata:
  agent-graph: path:../../provider.yaml
  agent-graph.graph: release
  agent-graph.entry: default
---
Evaluate.
",
    ),
];
