//! What is told when nothing can be done, and to whom.

use std::process::Stdio;

use crate::support::Place;

#[test]
fn a_wrong_command_line_exits_with_1() {
    let place = Place::with_provider();
    for (args, told) in [
        (&["nonsense"][..], "error: unknown command 'nonsense'"),
        (&["--format", "json", "nonsense"], "error: unknown command 'nonsense'"),
        (&["run", "nonsense"], "error: unknown command 'nonsense'"),
        (&["evalute", "main"], "Did you mean evaluate or"),
        (&["--format", "xml", "validate"], "[format-invalid]"),
        (&["init"], "--id <ID>"),
        (&["run", "start", "release"], "--state <RUN>"),
        (&["evaluate", "release", "--nonsense"], "--nonsense"),
        (&["resource", "materialize", "x"], "--cache <FOLDER>"),
        (&[], "Usage: agent-graph"),
        (&["run"], "Usage: agent-graph run"),
    ] {
        let answer = place.call(args);
        assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{args:?}: {answer:?}");
        assert!(answer.err.contains(told), "{args:?}: {}", answer.err);
    }
    assert_eq!(place.call(&["--format", "json", "nonsense"]).err, "error: unknown command 'nonsense'\n");
}

#[test]
fn a_program_is_told_one_line_whatever_is_wrong_with_its_command_line() {
    let place = Place::with_provider();
    for (args, told) in [
        (&["evaluate", "release", "--nonsense"][..], "'--nonsense'"),
        (&["evaluate", "release", "more"], "'more'"),
        (&["evaluate", "release", "--facts"], "--facts"),
        (&["run", "record"], "not provided: --state <RUN>; <NODE>; <OUTCOME>"),
        (&["run"], "a command is missing"),
        (&[], "subcommand"),
        (&["completions", "tcsh"], "possible values: bash"),
        (&["route", "a", "b", "c"], "'c'"),
    ] {
        let error = place.error(args);
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "option-invalid", "{args:?}");
        assert!(
            message.contains(told) && !message.contains('\n') && !message.contains("error:"),
            "{args:?}: {message}"
        );
    }
    let after = place.call(&["evaluate", "release", "--nonsense", "--format=json"]);
    assert!(after.err.starts_with('{') && after.err.lines().count() == 1, "{after:?}");
    let message = place.error(&["evaluate", "--authority", "lead", "release"])["message"].to_string();
    assert!(message.contains("write the Graph before it"), "{message}");
}

#[test]
fn an_option_that_is_given_twice_counts_as_the_last_time() {
    let place = Place::with_provider();
    let authorities = |args: &[&str]| place.json(&[&["run", "start", "release"], args].concat())["authorities"].clone();
    // What takes several keeps all of them.
    let more = ["--state", "a.json", "--authority", "lead", "--authority", "owner", "--state", "b.json"];
    assert_eq!(authorities(&more), serde_json::json!(["lead", "owner"]));
    assert!(!place.path("a.json").exists() && place.path("b.json").exists());
    let twice =
        ["--manifest", "none.yaml", "evaluate", "release", "--entry", "none", "--facts", "{", "--entry", "default"];
    let evaluated = place.json(&[&twice[..], &["--facts", "{}", "--manifest", "provider.yaml"]].concat());
    assert_eq!(evaluated["entry"], "default");
    assert!(place.call(&["--format", "json", "validate", "--format", "human"]).out.starts_with("valid"));
}

#[test]
fn the_version_is_that_of_the_protocols() {
    let told = Place::new().human(&["--version"]);
    assert!(told.starts_with("agent-graph 0.3.1 (procession "), "{told}");
}

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new();
    for args in [&["--help"][..], &["help", "run"], &["run", "record", "--help"], &["--version"]] {
        let answer = place.call(args);
        assert!(answer.code == Some(0) && answer.err.is_empty() && answer.out.contains("agent-graph"), "{answer:?}");
    }
}

#[test]
fn every_fault_is_told_at_once() {
    let place = Place::with_provider();
    place.write("graphs/release.yaml", "schema: agent-graph.graph.v1\nid: release\nnodez: []\nedges: {}\n");
    let error = place.error(&["validate"]);
    assert_eq!(error["code"], "schema-invalid");
    let diagnostics = error["diagnostics"].as_array().unwrap();
    assert!(diagnostics.len() >= 3, "{error}");
    for diagnostic in diagnostics {
        assert!(diagnostic["code"].as_str().unwrap().starts_with("schema."), "{diagnostic}");
        assert!(diagnostic["path"].as_str().unwrap().starts_with("graphs/release.yaml"), "{diagnostic}");
    }
    let answer = place.call(&["validate"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""));
    let lines: Vec<&str> = answer.err.lines().collect();
    assert!(lines[0].starts_with("error: ") && lines[0].ends_with("[schema-invalid]"), "{}", answer.err);
    assert_eq!(lines.iter().filter(|line| line.starts_with("  graphs/release.yaml")).count(), diagnostics.len());
    assert!(lines.last().unwrap().starts_with("hint: "));
}

#[test]
fn a_reader_that_went_away_is_no_fault_to_shout_about() {
    let place = Place::with_provider();
    for args in [&["validate"][..], &["--format", "json", "validate"], &["completions", "bash"], &["--help"]] {
        let mut child = place.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.stderr.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.code().is_some(), "{args:?}: {}", output.status);
    }
}

#[test]
fn a_full_disk_is_told_once() {
    let place = Place::with_provider();
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = place.command(&["inspect", "provider"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), told.lines().count()), (Some(1), 1), "{told}");
}
