//! `procession dev --evaluator`: which model answers checks is said, its key never, and what cannot be asked is told first.

use super::*;

#[test]
fn dev_says_which_model_answers_checks_and_never_its_key() {
    assert_eq!(Dev::start().evaluator, Value::Null);
    let url = "https://model.example/v1?api-version=1";
    let asked = Dev::with(&["--evaluator", url, "--evaluator-model", "checker"]);
    let at = "https://model.example/v1/chat/completions";
    assert_eq!(asked.evaluator, serde_json::json!({ "model": "checker", "at": at }));

    let dir = tempfile::tempdir().expect("a folder");
    let data = dir.path().join("data");
    let mut command = procession(&["dev", "--listen", "127.0.0.1:0", "--data", text(&data), "--evaluator", url]);
    command.args(["--evaluator-model", "checker"]).env("PROCESSION_EVALUATOR_KEY", "sk-very-secret\n");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines().map(|line| line.expect("a line"));
    let told: Vec<String> = lines.take_while(|line| !line.starts_with("Press Ctrl-C")).collect();
    child.kill().expect("killed");
    let logged = out(&child.wait_with_output().expect("it ends"));
    assert!(told.contains(&format!("Checks are answered by checker at {at}")), "{told:?}");
    assert!(!format!("{told:?}{logged}").contains("secret"), "{told:?}\n{logged}");
}

#[test]
fn a_model_that_cannot_be_asked_is_told_before_anything_starts() {
    let dir = tempfile::tempdir().expect("a folder");
    let data = dir.path().join("data");
    let start = |more: &[&str]| {
        let mut command = procession(&["dev", "--listen", "127.0.0.1:0", "--data", text(&data)]);
        command.args(more).env("PROCESSION_EVALUATOR_KEY", "sk-very\nsecret");
        // No AWS settings at all, so no region either.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
        command.env("HOME", dir.path()).env("AWS_EC2_METADATA_DISABLED", "true");
        let output = command.output().expect("the command runs");
        assert!(!err(&output).contains("secret"), "{}", err(&output));
        (output.status.code(), err(&output))
    };
    for (args, code, problems) in [
        (&["--evaluator", "https://h/v1"][..], 1, &["no model is named"][..]),
        (&["--evaluator", "ftp://h"], 1, &["no model is named", "the scheme ftp:"]),
        (&["--evaluator", "https://me:pass@h/v1", "--evaluator-model", "m"], 1, &["names a user"]),
        (&["--evaluator", "bedrock:a", "--evaluator-model", "b"], 1, &["two models are named"]),
        (&["--evaluator", "https://h/v1", "--evaluator-model", "m"], 1, &["the key has characters"]),
        (&["--evaluator", "bedrock:a"], 1, &["no AWS region is known", "the key has characters"]),
        (&["--evaluator-model", "m"], 2, &["--evaluator <URL>"]),
    ] {
        let (exit, told) = start(args);
        assert_eq!(exit, Some(code), "{args:?}: {told}");
        for problem in problems {
            assert!(told.contains(problem), "{args:?}: {told}");
        }
        assert!(!told.contains("pass@"), "{told}");
        assert!(!data.exists(), "{args:?} left a folder behind");
    }
}
