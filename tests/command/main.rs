//! The command as people run it: every verb, what it prints, and how it exits.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is how a test fails"
)]

mod evaluator;
mod provider;
mod publish;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The command in the repository's folder, with nothing of the caller's environment that would change what it does.
fn procession(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_procession"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    for name in ["PROCESSION_URL", "PROCESSION_TOKEN", "PROCESSION_EVALUATOR_KEY", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

fn run(args: &[&str]) -> Output {
    procession(args).output().expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// What it printed, when it exited as it should.
fn exits(code: i32, args: &[&str]) -> (String, String) {
    let output = run(args);
    let (out, err) = (out(&output), err(&output));
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{out}\n{err}");
    (out, err)
}

/// A server of its own; ended when dropped.
struct Dev {
    child: Child,
    mcp: String,
    issuer: String,
    evaluator: Value,
    dir: tempfile::TempDir,
}

impl Dev {
    fn start() -> Dev {
        Dev::with(&[])
    }

    fn with(more: &[&str]) -> Dev {
        let dir = tempfile::tempdir().expect("a folder");
        let data = dir.path().join("data");
        let args = [&["dev", "--json", "--listen", "127.0.0.1:0", "--data", text(&data)], more].concat();
        let mut child = procession(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a server");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"));
        let keys: Vec<_> = ready.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["mcp", "issuer", "data", "evaluator"]);
        let mcp = ready["mcp"].as_str().expect("an address").to_owned();
        let issuer = ready["issuer"].as_str().expect("an issuer").to_owned();
        Dev { child, mcp, issuer, evaluator: ready["evaluator"].clone(), dir }
    }

    fn data(&self) -> String {
        text(&self.dir.path().join("data")).to_owned()
    }

    fn token(&self, more: &[&str]) -> String {
        let data = self.data();
        let args = [&["token", "--data", &data, "--kind", "person", "--subject", "olga@example.com"], more].concat();
        exits(0, &args).0.trim().to_owned()
    }

    fn publish(&self, token: &str, args: &[&str]) -> Output {
        run(&[&["publish", "--url", &self.mcp, "--token", token], args].concat())
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn the_demo_plays_to_the_end_in_plain_text_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = procession(&["demo"]).env("TMPDIR", dir.path()).output().expect("the demo runs");
    let (out, err) = (out(&output), err(&output));
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    assert_eq!(err, "", "nothing goes to standard error");
    assert!(!out.contains('\u{1b}'), "no colours without a terminal");
    assert!(!out.lines().any(|line| line.trim_start().starts_with('{')), "no lines of the log:\n{out}");
    let mut rest = out.as_str();
    for milestone in [
        "a server starts in",
        "answers after",
        "import_process",
        "publish_process",
        "start_run",
        "screen: – ⇒ ready   run: – ⇒ active",
        "get_work",
        "claim",
        "screen: ready ⇒ claimed",
        "the same requestId gets the same token again",
        "claimed_by_other",
        "renew",
        "progress=",
        "stale",
        "not_accepted",
        "output.listed: expected boolean",
        "reason: required",
        "upload",
        "next=approve reason=",
        "approve: – ⇒ waiting   run: active ⇒ waiting",
        "the link to the report opens",
        "decision=rejected",
        "screen: done ⇒ ready",
        "already_decided",
        "it reads finance's note",
        "escalate",
        "decision=returned",
        "the handoff: {\"progress\":",
        "decision=approved",
        "run: waiting ⇒ ended, outcome onboarded",
        "The record",
        "\"yearlySpend\":48000.50",
        "rejected by frida@example.com",
        "approved by felix@example.com",
        "Everything went as it should",
    ] {
        let at =
            rest.find(milestone).unwrap_or_else(|| panic!("{milestone:?} is missing, or not in its place:\n{out}"));
        rest = rest.get(at + milestone.len()..).expect("on a boundary");
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 0, "something was left behind");
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_that_goes_away_stops_nothing_and_a_full_disk_is_said_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut demo = procession(&["demo"])
        .env("TMPDIR", dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the demo starts");
    drop(demo.stdout.take());
    let output = demo.wait_with_output().expect("the demo ends");
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(1), ""));
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 0, "it cleaned up all the same");

    let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let output = procession(&["check", "examples/trial-followup", "examples/parcel-return"])
        .stdout(full)
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(err(&output).matches("standard output cannot be written").count(), 1, "{}", err(&output));
}

#[test]
fn tokens_of_a_named_issuer_are_taken_and_of_no_other() {
    let other = Dev::start();
    let token = other.token(&["--operator", "--org", "elsewhere"]);
    let id = other.issuer.rsplit('/').next().expect("an id");
    let keys = other.mcp.replace("/mcp", "/issuer/jwks.json");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("issuers.json");
    let issuer = serde_json::json!({
        "issuer": other.issuer, "audiences": [format!("procession:{id}")], "jwksUri": keys, "organization": "guests",
    });
    std::fs::write(&file, serde_json::json!({ "issuers": [issuer] }).to_string()).expect("written");

    let trusting = Dev::with(&["--issuers", text(&file)]);
    let done = trusting.publish(&token, &["examples/trial-followup"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let strict = Dev::start();
    let refused = strict.publish(&token, &["examples/trial-followup"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(err(&refused).contains("does not take this token"), "{}", err(&refused));

    std::fs::write(&file, r#"{"issuers":[{"issuer":"","audiences":[]}]}"#).expect("written");
    let data = dir.path().join("data");
    let (_, told) = exits(1, &["dev", "--listen", "127.0.0.1:0", "--data", text(&data), "--issuers", text(&file)]);
    assert!(told.contains("issuers[0].issuer") && told.contains("issuers[0].audiences"), "{told}");
    assert!(!data.exists(), "nothing was made");
}

#[test]
fn a_kept_demo_can_be_served_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let output = procession(&["demo", "--keep"]).env("TMPDIR", dir.path()).output().expect("the demo runs");
    let out = out(&output);
    assert_eq!(output.status.code(), Some(0), "{out}");
    let kept = std::fs::read_dir(dir.path()).expect("the folder").next().expect("kept").expect("kept").path();
    assert!(out.contains(&format!("procession dev --data {}", kept.display())), "{out}");
    let (token, _) = exits(0, &["token", "--data", text(&kept), "--kind", "agent", "--subject", "a"]);
    assert_eq!(token.split('.').count(), 3, "{token}");
}

#[test]
fn check_names_file_line_and_column_of_every_problem() {
    let (out, _) = exits(0, &["check", "examples/supplier-onboarding", "examples/parcel-return/PROCESS.md"]);
    assert!(out.contains("supplier-onboarding is well-formed"), "{out}");

    let dir = tempfile::tempdir().expect("a folder");
    let bad = dir.path().join("bad.md");
    let file =
        "---\nname: bad\ndescription: D\nsteps:\n  - id: one\n    agent: Do it.\n    next: two\n    due: soon\n---\n";
    std::fs::write(&bad, file).expect("written");
    let missing = dir.path().join("missing.md");
    let (out, _) = exits(1, &["check", text(&bad), text(&missing), "examples/trial-followup"]);
    let name = bad.display();
    assert!(out.contains(&format!("{name}:7:11: ")) && out.contains(&format!("{name}:8:10: ")), "{out}");
    assert!(out.contains("missing.md: cannot be read"), "{out}");
    assert!(out.contains("trial-followup is well-formed"), "{out}");

    // What a server must offer to run a file is told with it.
    let checked = dir.path().join("checked.md");
    let file = "---\nname: checked\ndescription: D\nsteps:\n  - id: one\n    agent: Do it.\n    check: It was done.\n  - id: \
                two\n    finish: done\n---\n";
    std::fs::write(&checked, file).expect("written");
    let (out, _) = exits(0, &["check", text(&checked), "examples/trial-followup"]);
    let needs = format!("{}: needs profile check-1: the server that runs it needs an evaluator\n", checked.display());
    assert!(out.contains("checked is well-formed, 2 steps\n") && out.contains(&needs), "{out}");
    assert_eq!(out.matches("needs").count(), 2, "{out}");

    // A folder must have the name of its process.
    let folder = dir.path().join("other-name");
    std::fs::create_dir(&folder).expect("made");
    std::fs::copy("examples/trial-followup/PROCESS.md", folder.join("PROCESS.md")).expect("copied");
    let (out, _) = exits(1, &["check", text(&folder)]);
    assert!(out.contains("other-name"), "{out}");
}

#[test]
fn hash_prints_what_the_server_will_report() {
    let (hash, _) = exits(0, &["hash", "examples/supplier-onboarding"]);
    assert!(hash.trim().len() == 64 && hash.trim().bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
    assert_eq!(exits(0, &["hash", "examples/supplier-onboarding/PROCESS.md"]).0, hash);
    let (out, err) = exits(1, &["hash", "Cargo.toml"]);
    assert!(out.is_empty() && err.contains("Cargo.toml:1:1"), "{err}");
}

#[test]
fn map_draws_in_both_formats() {
    let (mermaid, _) = exits(0, &["map", "examples/supplier-onboarding"]);
    assert!(mermaid.starts_with("flowchart") || mermaid.starts_with("---"), "{mermaid}");
    assert!(mermaid.contains("No list names this company"), "{mermaid}");
    let (svg, _) = exits(0, &["map", "examples/supplier-onboarding", "--format", "svg"]);
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    exits(1, &["map", "Cargo.toml"]);
    exits(2, &["map", "examples/supplier-onboarding", "--format", "png"]);
}

#[test]
fn token_needs_a_servers_folder() {
    let dir = tempfile::tempdir().expect("a folder");
    let nowhere = dir.path().join("nowhere");
    let (_, err) = exits(1, &["token", "--data", text(&nowhere), "--kind", "agent", "--subject", "a"]);
    assert!(err.contains("no such data folder") && err.contains("procession dev"), "{err}");
    assert!(!nowhere.exists());
}

#[test]
fn one_server_to_a_folder_and_no_folder_of_anybody_else() {
    let server = Dev::start();
    let (_, message) = exits(1, &["dev", "--listen", "127.0.0.1:0", "--data", &server.data()]);
    assert!(message.contains("in use by another server") && message.contains("another folder"), "{message}");
    let port = server.mcp.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let elsewhere = server.dir.path().join("elsewhere");
    let (_, message) = exits(1, &["dev", "--listen", &port, "--data", text(&elsewhere)]);
    assert!(message.contains("--listen"), "{message}");

    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("thesis.txt"), "mine").expect("written");
    let (_, message) = exits(1, &["dev", "--listen", "127.0.0.1:0", "--data", text(dir.path())]);
    assert!(message.contains("neither empty nor a data folder"), "{message}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 1, "something was made in it");
}

#[test]
#[cfg(unix)]
fn a_server_ends_when_it_is_told_to() {
    let mut server = Dev::start();
    let told = Command::new("kill").arg(server.child.id().to_string()).status().expect("kill runs");
    assert!(told.success());
    let began = Instant::now();
    loop {
        if let Some(status) = server.child.try_wait().expect("its state") {
            assert_eq!(status.code(), Some(0));
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn bench_measures_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = procession(&["bench", "--users", "1,2", "--units", "5", "--json"]);
    let output = command.env("TMPDIR", dir.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let report: Value = serde_json::from_str(&out(&output)).expect("JSON");
    assert_eq!(report["levels"].as_array().expect("levels").len(), 2);
    assert_eq!(report["levels"][0]["units"], 5);
    let tools: Vec<&str> =
        report["storage"].as_array().expect("tools").iter().filter_map(|t| t["tool"].as_str()).collect();
    assert_eq!(tools, ["start_run", "claim", "submit", "decide"]);
    // The requirement behind the speed: two reads at once, one transaction.
    for tool in report["storage"].as_array().expect("tools") {
        assert_eq!(tool["calls"], 3, "{tool}");
    }
    assert_eq!(report["levels"][0]["steps"]["steps"], 5);
    let sizes = report["costs"]["sizes"].as_array().expect("sizes");
    let bytes: Vec<u64> = sizes.iter().filter_map(|size| size["runDataBytes"].as_u64()).collect();
    assert_eq!(bytes, [1_024, 51_200, 204_800]);
    for size in sizes {
        assert_eq!(size["steps"][0]["writeUnits"], sizes[0]["steps"][0]["writeUnits"]);
        assert!(size["calls"].as_array().expect("calls").iter().any(|call| call["tool"] == "get_run"));
    }
    assert_eq!(report["costs"]["stepFunctionsDollars"], serde_json::json!([25.0, 50.0]));
    assert_eq!(report["functions"], Value::Null, "none were named");
    assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 0, "something was left behind");
}

#[test]
#[cfg(unix)]
fn bench_says_which_function_does_not_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    let functions = dir.path().join("lambda");
    let bench = ["bench", "--users", "1", "--units", "1", "--functions", text(&functions)];
    let (nothing, missing) = exits(1, &bench);
    assert!(missing.contains("timer-function/bootstrap.zip") && missing.contains("cargo lambda build"), "{missing}");
    assert_eq!(nothing, "", "it is said before anything is measured");

    let script = "#!/bin/sh\necho PROCESSION_TABLE is not a table >&2\nexit 3\n";
    for name in ["mcp-function", "timer-function"] {
        let program = functions.join(name).join("bootstrap");
        std::fs::create_dir_all(functions.join(name)).expect("made");
        std::fs::write(&program, script).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).expect("runnable");
    }
    let (tables, why) = exits(1, &bench);
    assert!(tables.contains("Step Functions Standard") && tables.contains("does not start"), "{tables}");
    for part in ["mcp-function does not start", "timer-function does not start", "status: 3", "is not a table"] {
        assert!(why.contains(part), "{part} is not in {why}");
    }
}

#[test]
fn the_readme_shows_every_help_as_it_is() {
    let readme = std::fs::read_to_string("README.md").expect("the README");
    let verbs =
        ["demo", "dev", "token", "publish", "provider publish", "provider list", "check", "hash", "map", "bench"];
    for verb in verbs {
        let line: Vec<&str> = verb.split(' ').chain(["--help"]).collect();
        let (help, _) = exits(0, &line);
        let help: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
        assert!(readme.contains(&format!("```text\n{}\n```", help.join("\n"))), "README's help of {verb} is another");
    }
}

#[test]
fn help_teaches_and_a_wrong_line_exits_2() {
    let (help, _) = exits(0, &["--help"]);
    for verb in ["demo", "dev", "token", "publish", "provider", "check", "hash", "map", "bench"] {
        assert!(help.contains(verb), "{help}");
        assert!(exits(0, &[verb, "--help"]).0.contains("Exit codes"), "{verb}");
    }
    exits(2, &["no-such-verb"]);
    exits(2, &[]);
}
