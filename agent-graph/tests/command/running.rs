//! Runs in files: never half written, never replaced, no event lost.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Place, valid};

#[test]
fn every_change_is_an_event() {
    let place = Place::with_provider();
    let start =
        ["run", "start", "release", "--state", "d/r.json", "--workspace", "w", "--facts", r#"{"a":{"b":1.50}}"#];
    let run = place.json(&start);
    valid("run", &run);
    assert_eq!(run["workspace"], place.text("w"));
    assert_eq!(run["facts"].to_string(), r#"{"a":{"b":1.50}}"#);
    let at = ["--state", "d/r.json"];
    let change = |args: &[&str]| {
        let run = place.json(&[args, &at[..]].concat());
        valid("run", &run);
        assert_eq!(serde_json::from_str::<Value>(&place.read("d/r.json")).unwrap(), run);
        run
    };
    let run = change(&["run", "record", "release/inspect", "partial", "--detail", "-5"]);
    assert_eq!(run["outcomes"]["release/inspect"]["detail"], -5);
    let run = change(&["run", "facts", "--set", r#"{"c":null}"#]);
    assert_eq!(run["facts"], serde_json::from_str::<Value>(r#"{"a":{"b":1.50},"c":null}"#).unwrap());
    let run = change(&["run", "facts", "--set", r#"{"d":1}"#, "--replace"]);
    assert_eq!(run["facts"], json!({"d": 1}));
    let run = change(&["run", "authority", "--set", "lead", "ops"]);
    assert_eq!(run["authorities"], json!(["lead", "ops"]));
    let run = change(&["run", "authority"]);
    assert_eq!(run["authorities"], json!([]));
    let events = place.json(&["run", "events", "--state", "d/r.json"])["events"].clone();
    let sequence: Vec<u64> = events.as_array().unwrap().iter().map(|e| e["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequence, [1, 2, 3, 4, 5, 6]);
    assert_eq!(events, run["events"]);
}

#[test]
fn nothing_is_replaced() {
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "r.json"]);
    let before = place.read("r.json");
    place.write("other", "mine");
    assert_eq!(place.code(&["run", "start", "release", "--state", "r.json"]), "run-target-exists");
    assert_eq!(place.code(&["run", "start", "release", "--state", "other"]), "run-target-exists");
    assert_eq!(place.code(&["run", "checkpoint", "--state", "r.json", "--to", "other"]), "run-target-exists");
    assert_eq!(place.code(&["run", "checkpoint", "--state", "r.json", "--to", "r.json"]), "run-target-exists");
    assert_eq!(place.read("r.json"), before, "a checkpoint that came to nothing is no event");
    place.json(&["run", "checkpoint", "--state", "r.json", "--to", "c.json"]);
    assert_eq!(place.code(&["run", "resume", "c.json", "--state", "r.json"]), "run-target-exists");
    assert_eq!(place.code(&["run", "resume", "c.json", "--state", "c.json"]), "run-target-exists");
    assert_eq!(place.read("other"), "mine");
    // What lies below a file is not there: the file is in its way.
    let error = place.error(&["run", "start", "release", "--state", "other/r.json"]);
    assert!(error["message"].as_str().unwrap().contains("cannot be written: not a directory"), "{error}");
}

#[test]
fn a_checkpoint_has_no_authorities() {
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "r.json", "--authority", "lead", "--facts", r#"{"a":1}"#]);
    place.json(&["run", "checkpoint", "--state", "r.json", "--to", "c.json"]);
    let checkpoint: Value = serde_json::from_str(&place.read("c.json")).unwrap();
    valid("run", &checkpoint);
    assert_eq!(checkpoint["authorities"], json!([]));
    let run: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(run["authorities"], json!(["lead"]));
    assert_eq!(run["events"], checkpoint["events"]);
    // Not even one that somebody wrote into it.
    place.write("c.json", &place.read("c.json").replace(r#""authorities": []"#, r#""authorities": ["lead"]"#));
    let resumed = place.json(&["run", "resume", "c.json", "--state", "r2.json"]);
    assert_eq!((&resumed["authorities"], &resumed["facts"]), (&json!([]), &json!({"a": 1})));
    let last = resumed["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["detail"]), (&json!("run.resumed"), &json!({"checkpoint": "c.json"})));
}

#[test]
fn what_is_no_run_is_refused_and_left_as_it_is() {
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "r.json"]);
    let good = place.read("r.json");
    for (bad, code) in [
        ("{", "parse-failed"),
        ("{}", "schema-invalid"),
        (&good.replace(r#""facts""#, r#""fact""#), "schema-invalid"),
        (&good.replace(r#""sequence": 1"#, r#""sequence": 2"#), "schema-invalid"),
        (&good.replace("run.v1", "run.v2"), "schema-invalid"),
    ] {
        place.write("bad.json", bad);
        for args in [
            &["run", "record", "release/inspect", "completed", "--state", "bad.json"][..],
            &["run", "facts", "--set", "{}", "--state", "bad.json"],
            &["run", "status", "--state", "bad.json"],
            &["run", "events", "--state", "bad.json"],
            &["run", "resume", "bad.json", "--state", "new.json"],
            &["run", "checkpoint", "--state", "bad.json", "--to", "new.json"],
            &["evaluate", "release", "--state", "bad.json"],
        ] {
            assert_eq!(place.code(args), code, "{args:?} {bad}");
        }
        assert_eq!(place.read("bad.json"), bad);
        assert!(!place.path("new.json").exists());
    }
    assert_eq!(place.code(&["run", "record", "a/b", "completed", "--state", "no.json"]), "file-missing");
    // What is there and cannot be opened is not missing.
    std::os::unix::fs::symlink("loop", place.path("loop")).unwrap();
    assert_eq!(place.code(&["run", "record", "a/b", "completed", "--state", "loop"]), "file-read-failed");
    assert_eq!(place.code(&["run", "record", "a/b", "done", "--state", "r.json"]), "outcome-invalid");
    assert_eq!(place.code(&["run", "facts", "--set", "1", "--state", "r.json"]), "json-object-required");
    assert_eq!(place.read("r.json"), good);
}

#[test]
fn a_run_that_could_not_be_read_again_is_not_written() {
    let place = Place::with_provider();
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let facts = |levels: usize| format!("{{\"x\": {}}}", deep(levels));
    for levels in [100, 125, 126, 127, 128, 1_000] {
        let state = format!("{levels}.json");
        let answer = place.call(&["run", "start", "release", "--state", &state, "--facts", &facts(levels)]);
        if answer.code == Some(0) {
            place.json(&["run", "status", "--state", &state]);
        } else {
            assert!(levels > 100 && !place.path(&state).exists(), "{levels}: {}", answer.err);
        }
    }
    for levels in [122, 123, 124, 125, 126, 127, 128] {
        let before = place.read("100.json");
        for change in [
            &["run", "record", "release/inspect", "completed", "--detail", &deep(levels)][..],
            &["run", "facts", "--set", &facts(levels)],
        ] {
            let answer = place.call(&[change, &["--state", "100.json"]].concat());
            place.json(&["run", "status", "--state", "100.json"]);
            assert!(answer.code == Some(0) || place.read("100.json") == before, "{levels}: {}", answer.err);
            std::fs::write(place.path("100.json"), &before).unwrap();
        }
    }
    let told =
        place.error(&["run", "record", "release/inspect", "completed", "--detail", &deep(125), "--state", "100.json"]);
    assert_eq!(told["code"], "json-invalid");
    assert!(told["message"].as_str().unwrap().contains("too many levels"), "{told}");
}

/// Starts this many processes at once, of which each makes some calls, and waits for all.
fn at_once(processes: usize, calls: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for process in 0..processes {
            let calls = &calls;
            scope.spawn(move || calls(process));
        }
    });
}

#[test]
fn processes_that_record_at_once_lose_no_event() {
    const PROCESSES: usize = 12;
    const CALLS: usize = 6;
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "real.json"]);
    // Half of them come by a link.
    std::os::unix::fs::symlink("real.json", place.path("link.json")).unwrap();
    at_once(PROCESSES, |process| {
        for call in 0..CALLS {
            let state = if process % 2 == 0 { "real.json" } else { "link.json" };
            let key = format!("release/n{process}-{call}");
            match call % 3 {
                0 => place.json(&["run", "facts", "--state", state, "--set", &format!("{{\"{key}\":1}}")]),
                _ => place.json(&["run", "record", &key, "completed", "--state", state]),
            };
        }
    });
    assert!(place.path("link.json").is_symlink());
    let run: Value = serde_json::from_str(&place.read("real.json")).unwrap();
    valid("run", &run);
    let events = run["events"].as_array().unwrap();
    let numbers: Vec<u64> = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=(1 + PROCESSES * CALLS) as u64).collect::<Vec<_>>());
    let (outcomes, facts) = (run["outcomes"].as_object().unwrap(), run["facts"].as_object().unwrap());
    let keys: BTreeSet<&String> = outcomes.keys().chain(facts.keys()).collect();
    assert_eq!(keys.len(), PROCESSES * CALLS);
    let left: Vec<String> = place.files().into_iter().filter(|path| path.contains("agent-graph-")).collect();
    assert_eq!(left, Vec::<String>::new(), "nothing but the Run is left behind");
}

#[test]
fn of_processes_that_start_at_once_one_does() {
    let place = Place::with_provider();
    let started = std::sync::Mutex::new(Vec::new());
    at_once(8, |_| {
        let answer = place.call(&["--format", "json", "run", "start", "release", "--state", "r.json"]);
        match answer.code {
            Some(0) => started.lock().unwrap().push(serde_json::from_str::<Value>(&answer.out).unwrap()),
            code => assert!(code == Some(1) && answer.err.contains("run-target-exists"), "{answer:?}"),
        }
    });
    let started = started.into_inner().unwrap();
    assert_eq!(started.len(), 1);
    assert_eq!(serde_json::from_str::<Value>(&place.read("r.json")).unwrap(), started[0]);
}
