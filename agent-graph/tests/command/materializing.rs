//! Materializers: what they get, what they may use, and that nothing of them is left.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, valid, wait_for};

const REVISION: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A Provider whose view is made by this shell script.
fn viewing(script: &str) -> Place {
    let place = Place::with_provider();
    place.write("scripts/view.sh", script);
    place
}

fn words<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["resource", "materialize", "release.view", "--cache", "cache", "--revision", REVISION], more].concat()
}

/// Whether a process is there and not only waits to be reaped.
fn alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

/// Holds that all processes whose ids were written to a file are gone.
fn gone(place: &Place, path: &str) {
    let pids = place.read(path);
    assert!(pids.lines().count() > 0);
    wait_for("the end of every process", || pids.lines().all(|pid| !alive(pid)));
}

#[test]
fn what_is_made_is_kept_under_its_digest() {
    let place = Place::with_provider();
    let made = place.json(&words(&["--input", r#"{"b": 1.50, "a": [null]}"#]));
    valid("resource-location-file", &made);
    let digest = made["digest"].as_str().unwrap();
    let file = format!("cache/{}.json", digest.trim_start_matches("sha256:"));
    assert_eq!(made["filePath"], place.text(&file));
    assert_eq!((&made["revision"], &made["kind"]), (&json!(REVISION), &json!("context-view")));
    assert_eq!(place.read(&file), r#"{"input":{"b":1.50,"a":[null]}}"#);
    assert_eq!(graph::digest_bytes(place.read(&file).as_bytes()), digest);
    // The same again is the same file; what somebody spoiled is mended.
    place.write(&file, "spoiled");
    assert_eq!(place.json(&words(&["--input", r#"{"b": 1.50, "a": [null]}"#])), made);
    assert_eq!(place.read(&file), r#"{"input":{"b":1.50,"a":[null]}}"#);
    let other = place.json(&words(&[]));
    assert_ne!(other["digest"], made["digest"]);
    assert_eq!(std::fs::read_dir(place.path("cache")).unwrap().count(), 2);
    // By its path as well, and from a bundle.
    place.json(&["build", "bundle"]);
    let bundled = [&["--manifest", "bundle/manifest.json"], &words(&[])[..]].concat();
    assert_eq!(place.json(&bundled), other);
}

#[test]
fn the_environment_is_small() {
    let place = viewing("env | sort > \"$AGENT_GRAPH_WORKSPACE/env\"; pwd > pwd; cat > stdin; echo {}\n");
    let mut command = place.command(&[&["--format", "json"], &words(&["--workspace", "w"])[..]].concat());
    std::fs::create_dir(place.path("w")).unwrap();
    let command = command.env("SECRET_TOKEN", "s").env("LANG", "C").env("HOME", "/h").env_remove("TMPDIR");
    // What the command itself is given on standard input is not passed on.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"typed").unwrap();
    assert!(child.wait().unwrap().success());
    let names = place.read("w/env");
    let names: Vec<&str> = names.lines().filter_map(|line| line.split('=').next()).collect();
    // The shell itself adds the last ones.
    let given: Vec<&str> = names.into_iter().filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name)).collect();
    let ours = ["AGENT_GRAPH_INPUT", "AGENT_GRAPH_PROVIDER_ROOT", "AGENT_GRAPH_REVISION", "AGENT_GRAPH_WORKSPACE"];
    assert_eq!(given, [&ours[..], &["HOME", "LANG", "PATH"]].concat());
    let env = place.read("w/env");
    for line in [
        "AGENT_GRAPH_INPUT=null".to_owned(),
        format!("AGENT_GRAPH_PROVIDER_ROOT={}", place.text("")),
        format!("AGENT_GRAPH_REVISION={REVISION}"),
        format!("AGENT_GRAPH_WORKSPACE={}", place.text("w")),
    ] {
        assert!(env.lines().any(|one| one == line), "{line} is not in {env}");
    }
    assert_eq!(place.read("w/pwd").trim(), place.text("w"));
    assert_eq!(place.read("w/stdin"), "");
}

#[test]
fn a_failure_leaves_nothing() {
    let place = viewing("echo half; echo broken >&2; exit 3\n");
    let error = place.error(&words(&[]));
    assert_eq!(error["code"], "materializer-failed");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("exit status: 3") && message.contains("broken"), "{message}");
    assert!(!place.path("cache").exists());
    place.write("actions/view.yaml", &place.read("actions/view.yaml").replace("runtime: shell", "runtime: bun"));
    let mut command = place.command(&[&["--format", "json"], &words(&[])[..]].concat());
    let answer = command.env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(told.contains("materializer-failed") && told.contains("`bun`"), "{told}");
    assert!(!place.path("cache").exists());
}

#[test]
fn options_have_their_form() {
    let place = Place::with_provider();
    for more in [
        &["--timeout-ms", "0"][..],
        &["--timeout-ms", "soon"],
        &["--max-output-bytes", "1.5"],
        &["--max-error-bytes", "99999999999999999999"],
    ] {
        assert_eq!(place.code(&words(more)), "option-invalid", "{more:?}");
    }
    assert_eq!(place.code(&words(&["--input", "{"])), "json-invalid");
    assert_eq!(place.code(&words(&["--workspace", "no"])), "file-missing");
    place.write("big.json", &format!("\"{}\"", "x".repeat(200_000)));
    assert_eq!(place.code(&words(&["--input", "@big.json"])), "option-invalid");
    let revised =
        |revision: &str| place.code(&["resource", "materialize", "x", "--cache", "c", "--revision", revision]);
    assert_eq!(revised("latest"), "revision-invalid");
    assert_eq!(revised(REVISION), "resource-missing");
    let file = ["resource", "materialize", "release.checklist", "--cache", "c", "--revision", REVISION];
    assert_eq!(place.code(&file), "resource-static");
    assert!(!place.path("cache").exists() && !place.path("c").exists());
}

#[test]
fn only_what_reads_makes_resources() {
    let place = Place::with_provider();
    let action = place.read("actions/view.yaml");
    place.write("actions/view.yaml", &action.replace("effect: read", "effect: write"));
    assert_eq!(place.code(&words(&[])), "materializer-effect-invalid");
    let agent =
        "{schema: agent-graph.action.v1, id: view, runner: agent, effect: read, skill: skills/release/SKILL.md}";
    place.write("actions/view.yaml", agent);
    assert_eq!(place.code(&words(&[])), "materializer-runner-invalid");
    assert!(!place.path("cache").exists());
}

/// Starts a tree of processes that write their ids to a file, and goes on with the rest.
fn tree(rest: &str) -> String {
    format!(
        "trap '' TERM HUP INT\n\
         (sleep 60 & echo $! >> pids; (sleep 60 & echo $! >> pids; wait) & echo $! >> pids; wait) &\n\
         echo $! >> pids; echo $$ >> pids\n\
         while [ \"$(wc -l < pids)\" -lt 5 ]; do sleep 0.01; done\n{rest}\n"
    )
}

#[test]
fn the_whole_group_is_killed_when_the_time_is_up() {
    let place = viewing(&tree("wait"));
    let begun = Instant::now();
    let error = place.error(&words(&["--timeout-ms", "700"]));
    assert_eq!(error["code"], "materializer-timeout");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    gone(&place, "pids");
    assert!(!place.path("cache").exists());
}

#[test]
fn the_whole_group_is_killed_when_too_much_is_written() {
    for (rest, limit, code) in [
        ("yes", "--max-output-bytes", "materializer-output-limit"),
        ("yes >&2", "--max-error-bytes", "materializer-error-limit"),
        // Something it started writes as well as it does itself.
        ("yes & echo $! >> pids; wait", "--max-output-bytes", "materializer-output-limit"),
    ] {
        let place = viewing(&tree(rest));
        assert_eq!(place.code(&words(&[limit, "100000"])), code, "{rest}");
        gone(&place, "pids");
        assert!(!place.path("cache").exists());
    }
    // A limit is what may be written, not what may not.
    let place = viewing("printf 12345\n");
    assert_eq!(place.json(&words(&["--max-output-bytes", "5"]))["id"], "release.view");
    assert_eq!(place.code(&words(&["--max-output-bytes", "4"])), "materializer-output-limit");
}

#[test]
fn a_flood_is_never_held_in_memory() {
    let place = viewing("exec cat /dev/zero\n");
    let mut command = Command::new("sh");
    let line = "ulimit -v 400000; exec \"$0\" \"$@\"";
    let args = [&["--format", "json"], &words(&["--max-output-bytes", "50000000"])[..]].concat();
    command.args(["-c", line, env!("CARGO_BIN_EXE_agent-graph")]).args(args).current_dir(place.path(""));
    let answer = command.output().unwrap();
    let told = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(told.contains("materializer-output-limit"), "{told}");
}

#[test]
fn what_is_left_running_is_killed_and_not_waited_for() {
    let place = viewing(&tree("printf '{}'"));
    let begun = Instant::now();
    let made = place.json(&words(&[]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(std::fs::read_to_string(made["filePath"].as_str().unwrap()).unwrap(), "{}");
    gone(&place, "pids");
}

#[test]
fn what_leaves_the_group_and_keeps_the_pipes_is_not_waited_for() {
    if !Path::new("/usr/bin/setsid").exists() && !Path::new("/bin/setsid").exists() {
        return;
    }
    let leave = "setsid sh -c 'echo $$ > away; exec sleep 60' &\nwhile [ ! -s away ]; do sleep 0.01; done\n";
    let place = viewing(&format!("{leave}printf '{{}}'\n"));
    let begun = Instant::now();
    let made = place.json(&words(&[]));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(std::fs::read_to_string(made["filePath"].as_str().unwrap()).unwrap(), "{}");
    // That one is nobody's but this test's to end.
    Command::new("kill").args(["-9", place.read("away").trim()]).status().unwrap();
    let place = viewing(&format!("{leave}sleep 60\n"));
    assert_eq!(place.code(&words(&["--timeout-ms", "700"])), "materializer-timeout");
    Command::new("kill").args(["-9", place.read("away").trim()]).status().unwrap();
}

#[test]
fn an_interruption_ends_all_of_it() {
    for (name, signal) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let place = viewing(&tree("wait"));
        let mut child = place.command(&words(&[])).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let pids = place.path("pids");
        wait_for("the whole tree", || std::fs::read_to_string(&pids).is_ok_and(|pids| pids.lines().count() == 5));
        Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal), "the caller sees the signal");
        gone(&place, "pids");
        assert!(!place.path("cache").exists());
    }
}

/// A Provider with a Resource that the host makes.
fn hosted() -> Place {
    let place = Place::with_provider();
    let schema =
        |id: &str| json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": id, "type": "object"});
    place.write("schemas/in.json", &schema("acme.ask/v1").to_string());
    place.write("schemas/out.json", &schema("acme.answer/v1").to_string());
    place.write(
        "actions/view.yaml",
        "{schema: agent-graph.action.v1, id: view, runner: host, effect: read, handler: acme.look/v1, \
         inputSchema: schemas/in.json, outputSchema: schemas/out.json}\n",
    );
    place.write(
        "resources/view.yaml",
        "{schema: agent-graph.resource.host-action.v1, id: release.view, kind: procedure, mediaType: application/json, \
         materializer: actions/view.yaml, input: {protocol: acme.ask/v1, what: everything}}\n",
    );
    place
}

#[test]
fn what_the_host_made_is_held_to_what_was_asked() {
    let place = hosted();
    assert_eq!(place.code(&words(&[])), "materializer-runner-invalid");
    let location = place.json(&["resource", "locate", "release.view"]);
    valid("resource-location-host-action", &location);
    let read: graph::documents::HostActionLocation = serde_json::from_value(location).unwrap();
    let result = json!({
        "schema": "agent-graph.host-action-result.v1",
        "handler": "acme.look/v1",
        "input_digest": graph::input_digest(&read),
        "output": {"schema": "acme.answer/v1", "inline": {"seen": true}},
        "receipt": {"adapter": "acme-host", "adapter_version": "2.0.0"},
    });
    place.write("result.json", &result.to_string());
    let asked = ["resource", "verify-host", "release.view", "--revision", REVISION, "--result"];
    let answer = place.json(&[&asked[..], &["@result.json"]].concat());
    assert_eq!(
        (&answer["state"], &answer["revision"], &answer["result"]),
        (&json!("valid"), &json!(REVISION), &result)
    );
    let wrong = |key: &str, value: Value| {
        let mut wrong = result.clone();
        wrong[key] = value;
        place.code(&[&asked[..], &[wrong.to_string().as_str()]].concat())
    };
    assert_eq!(wrong("handler", json!("acme.other/v1")), "host-action-handler-mismatch");
    assert_eq!(wrong("input_digest", json!(REVISION)), "host-action-input-mismatch");
    assert_eq!(wrong("output", json!({"schema": "acme.other/v1", "inline": 1})), "host-action-output-mismatch");
    assert_eq!(wrong("output", json!({"schema": "acme.answer/v1"})), "schema-invalid");
    assert_eq!(wrong("output", json!({"schema": "acme.answer/v1", "inline": 1})), "host-action-output-invalid");
    let kept = json!({"schema": "acme.answer/v1", "resource": {"ref": "store:1", "digest": REVISION}});
    let kept = json!({"output": kept}).as_object().cloned().unwrap();
    let kept: Value = result.as_object().cloned().unwrap().into_iter().chain(kept).collect();
    place.json(&[&asked[..], &[kept.to_string().as_str()]].concat());
    let file = ["resource", "verify-host", "release.checklist", "--result", "{}"];
    assert_eq!(place.code(&file), "materializer-runner-invalid");
}
