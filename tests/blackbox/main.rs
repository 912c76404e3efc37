//! The black-box suite: everything a client can see of a server, over MCP and HTTP, with real tokens.
//!
//! It starts the command `procession` on loopback and talks to nothing else of the product. `PROCESSION_URL` and
//! `PROCESSION_TOKEN_COMMAND` aim it at any other server; scenarios that need a server of their own are then reported as
//! ignored, by name. `PROCESSION_RECORD` appends every tool call to a file, one JSON line each.
//!
//! Checks are answered by an endpoint in this program that speaks the chat-completions protocol on loopback; every server
//! that the suite starts asks it. A server elsewhere is held to the profile check-1 when it asks the endpoint too: let the
//! suite listen at a fixed place with `PROCESSION_EVALUATOR_LISTEN=127.0.0.1:4567`, start the server with
//! `--evaluator http://127.0.0.1:4567/v1 --evaluator-model scripted-1`, and give both the same `PROCESSION_EVALUATOR_KEY`.
//! Otherwise those scenarios are reported as ignored.
//!
//! Every call is also held to what needs no scenario: the answer fits the schema that the server published, its text says
//! the same as its structured content, a run view is consistent in itself, and a repeated write gets its first answer.

#![allow(missing_docs, reason = "a test program has no public items")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::unreachable,
    reason = "a failed expectation is how a test fails"
)]

mod harness;
mod scenarios;

use std::process::ExitCode;
use std::time::Duration;

use harness::{Need, Scenario};
use libtest_mimic::{Arguments, Failed, Trial};

/// Longest that the whole suite may take, in seconds, unless `PROCESSION_SUITE_SECONDS` says otherwise, as a server elsewhere
/// may need. Whatever hangs ends then, and the servers with it.
const SUITE_SECONDS: u64 = 300;

/// Scenarios that run at one time.
const THREADS: usize = 4;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Scenarios mostly wait for the server, some for time to pass.
    arguments.test_threads.get_or_insert(THREADS);
    let remote = harness::is_remote();
    let checked = harness::evaluator::is_asked();
    let trials = scenarios::all().into_iter().map(|scenario| trial(scenario, remote, checked)).collect();
    let seconds = std::env::var("PROCESSION_SUITE_SECONDS").ok().map_or(SUITE_SECONDS, |text| {
        text.parse().unwrap_or_else(|e| panic!("PROCESSION_SUITE_SECONDS `{text}`: {e}"))
    });
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        eprintln!("the suite took more than {seconds} seconds and was stopped");
        std::process::exit(2);
    });
    let conclusion = libtest_mimic::run(&arguments, trials);
    harness::stop_servers();
    conclusion.exit_code()
}

fn trial(scenario: Scenario, remote: bool, checked: bool) -> Trial {
    let Scenario { name, need, run } = scenario;
    let trial = Trial::test(name, move || {
        run();
        Ok::<(), Failed>(())
    });
    // Shown by name as ignored: a server that somebody else runs can neither be killed nor given another clock, and it may
    // ask another evaluator or none.
    match need {
        Need::Any => trial,
        Need::Evaluator => trial.with_kind("evaluator").with_ignored_flag(!checked),
        Need::Own => trial.with_kind("own server").with_ignored_flag(remote),
    }
}
