//! What people are told: the answer, and what can be done next.

use crate::support::Place;

#[test]
fn every_answer_leads_on() {
    let place = Place::with_provider();
    let next = |args: &[&str]| {
        let told = place.human(args);
        let line = told.lines().last().unwrap_or_default().to_owned();
        let command = line.split_once(": ").map(|(_, command)| command.to_owned()).unwrap_or_default();
        assert!(command.starts_with("agent-graph "), "{args:?}: {told}");
        command
    };
    assert_eq!(next(&["validate"]), "agent-graph evaluate release");
    let route = next(&["evaluate", "release", "--facts", r#"{"a": "it's"}"#, "--authority", "x", "y"]);
    assert!(route.ends_with(r#"--facts '{"a": "it'\''s"}' --authority x y"#), "{route}");
    // What is told can be typed as it is.
    let typed = |line: &str| {
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_agent-graph")).parent().unwrap().to_str().unwrap();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", line]).current_dir(place.path("")).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let told = typed(&route);
    assert!(told.contains("run: ls dist") && told.contains("release.view"), "{told}");
    // Outcomes that were given are given again.
    let told = typed(&next(&["route", "release"]));
    assert!(told.starts_with("waiting-user"), "{told}");
    let told = typed(&next(&["route", "release", "--outcomes", r#"{"release/inspect":"completed"}"#]));
    assert!(told.starts_with("complete, outcome completed"), "{told}");
    typed(&next(&["--skill", "skills/release/SKILL.md", "route"]));
    let status = next(&["run", "start", "release", "--state", "my run.json"]);
    let told = typed(&status);
    let route = told.lines().last().unwrap().strip_prefix("next: ").unwrap().to_owned();
    let told = typed(&route);
    let record = told.lines().last().unwrap().strip_prefix("afterwards: ").unwrap().to_owned();
    assert!(record.contains("run record release/inspect completed"), "{record}");
    let told = typed(&record);
    assert!(told.contains("recorded release/inspect completed") && !told.contains("note:"), "{told}");
    assert!(typed(&status).contains("waiting-user"));
    assert!(place.human(&["route", "--state", "my run.json"]).contains("a person must answer: May it be published?"));
    next(&["run", "facts", "--state", "my run.json", "--set", "{}"]);
    next(&["run", "authority", "--state", "my run.json", "--set", "lead"]);
    next(&["run", "checkpoint", "--state", "my run.json", "--to", "c.json"]);
    typed(&next(&["run", "resume", "c.json", "--state", "r2.json"]));
    typed(&next(&["build", "b"]));
    typed(&next(&["inspect", "skill", "skills/release/SKILL.md"]));
    typed(&next(&["--skill", "skills/release/SKILL.md", "evaluate"]));
    typed(&next(&["--manifest", "b/manifest.json", "validate"]));
    next(&["resource", "locate", "release.view"]);
    let told = place.human(&["init", "new place", "--id", "acme/new"]);
    typed(told.lines().last().unwrap().strip_prefix("next: ").unwrap());
}

#[test]
fn a_key_that_nothing_looks_at_is_noted() {
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "r.json"]);
    for format in ["human", "json"] {
        let record =
            |key: &str| place.call(&["--format", format, "run", "record", key, "completed", "--state", "r.json"]).err;
        let told = record("release/inspct");
        assert!(told.starts_with("note: ") && told.contains("release/inspect"), "{told}");
        // What a terminal ends with is looked at.
        assert_eq!(record("release/done"), "");
        assert_eq!(record("release/inspect"), "");
    }
}

#[test]
fn nothing_is_coloured_but_on_a_terminal() {
    let place = Place::with_provider();
    for args in
        [&["validate"][..], &["evaluate", "release"], &["route", "release"], &["test"], &["inspect", "provider"]]
    {
        assert!(!place.human(args).contains('\u{1b}'));
    }
}

#[test]
fn what_a_provider_says_steers_no_terminal() {
    let place = Place::with_provider();
    let graph = place.read("graphs/release.yaml").replace("May it be published?", "\"\\e[2JMay it?\"");
    place.write("graphs/release.yaml", &graph);
    let told = place.human(&["route", "release", "--entry", "publish"]);
    assert!(told.contains("May it?") && !told.contains('\u{1b}'), "{told:?}");
}

#[test]
fn every_shell_completes() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = place.human(&["completions", shell]);
        assert!(script.contains("materialize") && script.contains("agent-graph"), "{shell}");
    }
}

#[test]
fn bash_completes_every_word() {
    let place = Place::new();
    place.write("agent-graph.bash", &place.human(&["completions", "bash"]));
    let replies = |words: &[&str]| {
        let line = format!(
            "source agent-graph.bash; COMP_WORDS=({}); COMP_CWORD={}; _agent__graph agent-graph '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1].trim_matches('\''),
            words[words.len() - 2],
        );
        let output =
            std::process::Command::new("bash").args(["-c", &line]).current_dir(place.path("")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(replies(&["agent-graph", "eval"]), "evaluate");
    assert_eq!(replies(&["agent-graph", "run", "rec"]), "record");
    assert_eq!(replies(&["agent-graph", "resource", "ver"]), "verify-host");
    assert!(replies(&["agent-graph", "resource", "verify-host", "--re"]).contains("--result"));
    assert_eq!(replies(&["agent-graph", "evaluate", "--fac"]), "--facts");
}
