//! `procession publish`: what it refuses before it sends anything, and what it says of the rest.

use super::*;

#[test]
fn publish_without_a_token_says_where_to_get_one() {
    let (_, err) = exits(1, &["publish", "examples/trial-followup"]);
    assert!(err.contains("PROCESSION_TOKEN") && err.contains("procession token"), "{err}");
}

#[test]
fn publish_publishes_once_and_refuses_before_it_sends() {
    let server = Dev::start();
    let operator = server.token(&["--operator"]);

    let unbound = server.publish(&operator, &["examples/supplier-onboarding", "examples/parcel-return"]);
    let message = err(&unbound);
    assert_eq!(unbound.status.code(), Some(1), "{message}");
    assert!(message.contains("`finance`") && message.contains("--bind finance=GROUP"), "{message}");
    assert!(message.contains("`warehouse`") && message.contains("--bind warehouse=GROUP"), "{message}");

    let unknown = server.publish(&operator, &["examples/supplier-onboarding", "--bind", "finance=f", "--bind", "x=y"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        err(&unknown).contains("--bind x=y: no process given here has this role; the roles there are: finance"),
        "{}",
        err(&unknown)
    );

    // One bad file among several: nothing of the good one is sent.
    let bad = server.publish(&operator, &["examples/trial-followup", "Cargo.toml"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(err(&bad).contains("Cargo.toml:1:1") && err(&bad).contains("nothing was sent"), "{}", err(&bad));

    let args = ["examples/trial-followup", "examples/supplier-onboarding", "--bind", "finance=g_finance"];
    let plain = server.publish(&server.token(&[]), &args);
    assert_eq!(plain.status.code(), Some(1));
    assert!(err(&plain).contains("forbidden"), "{}", err(&plain));

    let done = server.publish(&operator, &args);
    let told = out(&done);
    assert_eq!(done.status.code(), Some(0), "{told}{}", err(&done));
    let (hash, _) = exits(0, &["hash", "examples/supplier-onboarding"]);
    for part in [
        "finance → g_finance",
        "requires  company-register",
        // Nothing was left of the refused calls before: both are first versions.
        "trial-followup version 1 is published",
        "supplier-onboarding version 1 is published",
        hash.trim(),
    ] {
        assert!(told.contains(part), "{part}:\n{told}");
    }

    let again = server.publish(&operator, &args);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(out(&again).matches("already published as version 1").count(), 2, "{}", out(&again));

    let rebound = server.publish(&operator, &["examples/supplier-onboarding", "--bind", "finance=g_other"]);
    assert!(out(&rebound).contains("supplier-onboarding version 2 is published"), "{}", out(&rebound));

    let stranger = server.publish("not.a.token", &args);
    assert_eq!(stranger.status.code(), Some(1));
    assert!(err(&stranger).contains("does not take this token"), "{}", err(&stranger));
}

#[test]
fn publish_reads_address_and_token_from_the_environment() {
    let server = Dev::start();
    let token = server.token(&["--operator"]);
    let mut command = procession(&["publish", "examples/trial-followup"]);
    let done = command.env("PROCESSION_URL", &server.mcp).env("PROCESSION_TOKEN", &token).output().expect("it runs");
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    let (_, missing) = exits(1, &["publish", "examples/trial-followup", "--url", &server.mcp]);
    assert!(missing.contains("there is no token"), "{missing}");
    let mut help = procession(&["publish", "--help"]);
    let help = help.env("PROCESSION_TOKEN", &token).output().expect("it runs");
    assert!(!out(&help).contains(&token), "the help shows a token");
}

#[test]
fn publish_says_when_nobody_answers() {
    let args = ["publish", "examples/trial-followup", "--token", "t", "--url"];
    let (_, err) = exits(1, &[&args[..], &["http://127.0.0.1:9/mcp"]].concat());
    assert!(err.contains("does not answer") && err.contains("Is the server running"), "{err}");
    let (_, err) = exits(1, &[&args[..], &["http://processes.example/mcp"]].concat());
    assert!(err.contains("unencrypted"), "{err}");
}

#[test]
fn what_a_file_says_steers_no_terminal() {
    let server = Dev::start();
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("odd");
    std::fs::create_dir(&folder).expect("a folder");
    let source = "---\nname: odd\ndescription: \"a\\e]0;b\\x07c\"\nsteps: [{ id: z, finish: done }]\n---\n";
    std::fs::write(folder.join("PROCESS.md"), source).expect("written");
    let output = server.publish(&server.token(&["--operator"]), &[text(&folder)]);
    let told = out(&output);
    assert_eq!(output.status.code(), Some(0), "{told}{}", err(&output));
    assert!(told.contains("odd  a\u{fffd}]0;b\u{fffd}c"), "{told:?}");
}
