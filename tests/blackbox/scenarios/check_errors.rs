//! An evaluator that does not answer, is not there, or takes long (profile check-1): nothing is lost, and nothing leaks.

use std::time::Duration;

use serde_json::{Value, json};

use super::checks::letter;
use crate::harness::{
    Answer, Asks, BRIEF_SECONDS, Client, Options, Org, Script, Server, Trouble, evaluator, eventually, file, item,
    pass, refused, refused_as, scenarios, state, states,
};

scenarios! {
    checked: [
        one_fault_is_tried_again_unseen,
        without_an_answer_the_call_is_to_be_sent_again,
        a_persons_call_is_to_be_sent_again_too,
        an_answer_that_answers_nothing_is_none,
        an_advisory_check_records_that_there_was_no_answer,
    ],
    brief: [
        a_submission_that_came_in_time_is_accepted_after_the_lease,
        whoever_claims_after_the_lease_has_the_step,
    ],
    own: [
        without_an_evaluator_the_profile_is_not_offered,
        an_evaluator_that_went_away_is_waited_for,
        an_evaluator_too_slow_is_no_answer,
        a_kill_while_it_thinks_commits_nothing,
        neither_key_nor_submission_reaches_the_log,
    ],
}

const POLITE: &str = "[{ ask: Is the letter polite?, pass: 0.9, fail: 0.5 }]";

/// A claimed step of [`letter`], and the call that submits it.
pub(super) fn writing(org: &Org, script: &Script) -> (Value, Value) {
    let run = org.run("letter", &letter(POLITE), json!({}));
    let claimed = org.agent.claim(&run, "write");
    let call = json!({
        "token": claimed["token"], "output": { "text": "Dear all" }, "summary": script.summary(),
        "requestId": crate::harness::fresh(),
    });
    (run, call)
}

fn one_fault_is_tried_again_unseen(org: &Org) {
    for trouble in [Trouble::Status(500), Trouble::Status(429), Trouble::Garbage] {
        let script = Script::new();
        let (_, call) = writing(org, &script);
        script.spoil(&[trouble]);
        let ended = org.agent.ok("submit", call);
        assert_eq!(states(&ended), "ended/sent write=done end=done", "{trouble:?}");
        assert_eq!(script.asked(), 2, "{trouble:?}");
    }
}

fn without_an_answer_the_call_is_to_be_sent_again(org: &Org) {
    let script = Script::new().yes(0.95);
    let (run, call) = writing(org, &script);
    let before = org.agent.view(&run);
    for round in 1..=2 {
        script.spoil(&[Trouble::Status(503), Trouble::Status(503)]);
        refused(org.agent.exact("submit", call.clone()), "retry", &[]);
        assert_eq!(script.asked(), 2 * round, "asked once more and then no more");
        assert_eq!(org.agent.view(&run), before, "nothing changed");
    }
    refused(org.other.try_claim(&run, "write"), "conflict", &["claimed_by_other"]);
    let ended = org.agent.ok("submit", call);
    assert_eq!(states(&ended), "ended/sent write=done end=done");
    assert_eq!(ended["data"]["steps"]["write"]["check"]["questions"][0]["answer"], 0.95);
    assert_eq!(script.asked(), 5);
}

fn a_persons_call_is_to_be_sent_again_too(org: &Org) {
    let rest = "
steps:
  - { id: write, task: Write., person: clerk, check: Is it polite? }
  - { id: end, finish: sent }
";
    let run = org.run("task", rest, json!({}));
    let script = Script::new();
    script.spoil(&[Trouble::Prose, Trouble::Prose]);
    let mut call = item(&run, "write")["decide"]["arguments"].clone();
    (call["decision"], call["output"], call["summary"]) = (json!("completed"), json!({}), json!(script.summary()));
    call["requestId"] = json!(crate::harness::fresh());
    refused(org.staff.exact("decide", call.clone()), "retry", &[]);
    assert_eq!(org.staff.view(&run), run, "nothing changed, the handoff neither");
    let ended = org.staff.ok("decide", call);
    assert_eq!((states(&ended).as_str(), script.asked()), ("ended/sent write=done end=done", 3));
}

fn an_answer_that_answers_nothing_is_none(org: &Org) {
    let rest = "
steps:
  - id: write
    agent: Write.
    check: [{ ask: What is it?, one_of: { prose: It is prose., verse: It is verse. }, pass: [prose] }]
  - id: rate
    agent: Rate.
    check: [{ ask: How good?, levels: [Bad., Good.], pass: 1 }]
  - { id: end, finish: over }
";
    org.publish(&file("answers", rest));
    for trouble in [Trouble::Prose, Trouble::Garbage, Trouble::Refusal, Trouble::Stranger, Trouble::Status(401)] {
        let run = org.agent.start("answers", json!({}));
        for step in ["write", "rate"] {
            let script = Script::new();
            script.spoil(&[trouble, trouble]);
            let claimed = org.agent.claim(&run, step);
            let more = json!({ "summary": script.summary() });
            refused(org.agent.submit(&claimed, json!({}), more.clone()), "retry", &[]);
            assert_eq!(script.asked(), 2, "{trouble:?}");
            org.agent.submit(&claimed, json!({}), more).unwrap();
        }
    }
}

fn an_advisory_check_records_that_there_was_no_answer(org: &Org) {
    let process = letter(POLITE).replace("    check:", "    advisory: true\n    check:");
    let run = org.run("advised", &process, json!({}));
    let script = Script::new();
    script.spoil(&[Trouble::Status(500), Trouble::Refusal]);
    let ended = org.agent.work_on(&run, "write", json!({ "text": "Hey" }), json!({ "summary": script.summary() }));
    assert_eq!(states(&ended), "ended/sent write=done end=done");
    let entry = &ended["data"]["steps"]["write"];
    let expected = json!({
        "verdict": "error", "advisory": true, "model": entry["check"]["model"],
        "questions": [{ "ask": "Is the letter polite?", "kind": "yes_no", "answer": null, "result": "unsure" }],
        "at": entry["at"],
    });
    assert_eq!(entry["check"], expected);
    assert!(evaluator::is_model(&entry["check"]["model"]), "{entry}");
    assert_eq!(script.asked(), 2);
}

/// Sends a call while the evaluator keeps its answer back, does something meanwhile, and gives what the call had in the end.
pub(super) fn meanwhile(
    script: &Script,
    client: &Client,
    tool: &str,
    call: &Value,
    run: impl FnOnce(),
) -> Option<Answer> {
    client.token();
    script.hold();
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| client.try_exact(tool, call));
        script.wait_asked(1);
        run();
        script.release();
        sent.join().unwrap()
    })
}

fn a_submission_that_came_in_time_is_accepted_after_the_lease(org: &Org) {
    for (p, expected) in [(1.0, "ended/sent write=done end=done"), (0.7, "waiting/- write=waiting end=-")] {
        let script = Script::new().yes(p);
        let (run, call) = writing(org, &script);
        let lapse = || {
            eventually("the lease ends", || Some(()).filter(|()| state(&org.agent.view(&run), "write") == "ready"));
        };
        let view = meanwhile(&script, &org.agent, "submit", &call, lapse).unwrap().unwrap();
        assert_eq!(states(&view), expected);
        assert_eq!(script.asked(), 1);
    }
}

fn whoever_claims_after_the_lease_has_the_step(org: &Org) {
    let script = Script::new();
    let (run, call) = writing(org, &script);
    let mut claimed = Value::Null;
    let take = || {
        pass(BRIEF_SECONDS * 1_000);
        claimed = eventually("the lease ends", || org.other.try_claim(&run, "write").ok());
    };
    refused_as(meanwhile(&script, &org.agent, "submit", &call, take).unwrap(), "stale");
    let more = json!({ "summary": Script::new().summary() });
    let ended = org.other.submit(&claimed, json!({ "text": "Dear all" }), more).unwrap();
    assert_eq!(ended["data"]["steps"]["write"]["by"], "a_two");
}

/// Where the fault of a file is that uses a check.
const CHECKED: &str =
    "steps:\n  - id: write\n    agent: Write.\n    check: Is it polite?\n  - { id: end, finish: sent }";

fn without_an_evaluator_the_profile_is_not_offered() {
    let server = Server::start_asking(Options::default(), Asks::Nobody);
    let org = Org::new(&server, "nobody");
    let described = org.agent.ok("describe", json!({}));
    assert!(!described["profiles"].as_array().unwrap().contains(&json!("check-1")), "{described}");
    let import = |source: &str| org.operator.call("import_process", json!({ "source": source }));
    let advised = CHECKED.replace("    check:", "    advisory: true\n    check:");
    for (rest, places) in [(CHECKED, vec!["7:5:"]), (advised.as_str(), vec!["7:5:", "8:5:"])] {
        let error = refused_as(import(&file("checked", rest)), "invalid");
        for (issue, place) in error.issues.iter().zip(&places) {
            assert!(issue.starts_with(place) && issue.contains("needs profile check-1"), "{:#?}", error.issues);
        }
        assert_eq!(error.issues.len(), places.len(), "{:#?}", error.issues);
    }
    refused_as(org.operator.call("get_process", json!({ "name": "checked" })), "not_found");
    // A draft from when there was one is refused when it is to be published.
    server.restart_asking(Options::default(), Asks::Endpoint);
    import(&file("checked", CHECKED)).unwrap();
    server.restart_asking(Options::default(), Asks::Nobody);
    let publish = || org.operator.call("publish_process", json!({ "name": "checked", "roles": {} }));
    let error = refused_as(publish(), "invalid");
    assert!(error.issues[0].starts_with("7:5:") && error.issues[0].contains("needs profile check-1"), "{error:?}");
    server.restart_asking(Options::default(), Asks::Endpoint);
    publish().unwrap();
    assert!(org.agent.ok("describe", json!({}))["profiles"].as_array().unwrap().contains(&json!("check-1")));
}

fn an_evaluator_that_went_away_is_waited_for() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "away");
    let script = Script::new();
    let (run, call) = writing(&org, &script);
    let advised = letter(POLITE).replace("    check:", "    advisory: true\n    check:").replace("sent", "advised");
    org.publish(&file("advised", &advised));
    server.restart_asking(Options::default(), Asks::Nobody);
    let before = org.agent.view(&run);
    refused(org.agent.exact("submit", call.clone()), "retry", &[]);
    assert_eq!(org.agent.view(&run), before, "nothing changed");
    // A published version runs on, and only what blocks waits.
    let other = org.agent.start("advised", json!({}));
    let ended = org.agent.work_on(&other, "write", json!({ "text": "Hey" }), json!({}));
    assert_eq!(
        (&ended["run"]["outcome"], &ended["data"]["steps"]["write"]["check"]["verdict"]),
        (&json!("advised"), &json!("error"))
    );
    assert_eq!(script.asked(), 0);
    server.restart(Options::default());
    let ended = org.agent.ok("submit", call);
    assert_eq!(states(&ended), "ended/sent write=done end=done");
}

/// Longest that a server waits for an evaluator that it asks twice, in seconds.
const PATIENCE_SECONDS: u64 = 28;

fn an_evaluator_too_slow_is_no_answer() {
    let server = Server::shared();
    let org = Org::new(&server, "slow");
    let script = Script::new();
    let (run, call) = writing(&org, &script);
    let before = org.agent.view(&run);
    script.hold();
    let began = std::time::Instant::now();
    refused(org.agent.exact("submit", call.clone()), "retry", &[]);
    let took = began.elapsed();
    assert!(took < Duration::from_secs(PATIENCE_SECONDS), "a function would have been ended: {took:?}");
    script.release();
    assert_eq!((script.asked(), org.agent.view(&run)), (2, before));
    let ended = org.agent.ok("submit", call);
    assert_eq!(states(&ended), "ended/sent write=done end=done");
}

fn a_kill_while_it_thinks_commits_nothing() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "killed");
    let script = Script::new().yes(0.7);
    let (run, call) = writing(&org, &script);
    let before = org.agent.view(&run);
    let answer = meanwhile(&script, &org.agent, "submit", &call, || server.kill());
    assert_eq!(answer, None, "there was no answer");
    server.restart(Options::default());
    assert_eq!(org.agent.view(&run), before, "nothing was committed");
    let view = org.agent.ok("submit", call);
    assert_eq!(states(&view), "waiting/- write=waiting end=-");
    assert_eq!(script.asked(), 2, "what was lost is asked again");
    // And what came of it outlives the next kill, without being asked.
    server.kill();
    server.restart(Options::default());
    assert_eq!(org.operator.view(&run)["workItems"], view["workItems"]);
    let ended = org.operator.decide(&run, "write", "completed", json!({}));
    assert_eq!((states(&ended).as_str(), script.asked()), ("ended/sent write=done end=done", 2));
}

/// A key that the endpoint does not take.
const WRONG_KEY: &str = "sk-wrong-6b1f0f6a2c";

fn neither_key_nor_submission_reaches_the_log() {
    let key = &evaluator::endpoint().key;
    let server = Server::start_asking(Options::default(), Asks::WithKey(WRONG_KEY));
    let org = Org::new(&server, "secret");
    let script = Script::new();
    let (_, call) = writing(&org, &script);
    refused(org.agent.exact("submit", call.clone()), "retry", &[]);
    assert_eq!(script.asked(), 0, "the key is looked at first");
    server.restart(Options::default());
    for trouble in [
        Trouble::Status(400),
        Trouble::Status(401),
        Trouble::Status(500),
        Trouble::Garbage,
        Trouble::Refusal,
        Trouble::Prose,
    ] {
        script.spoil(&[trouble, trouble]);
        refused(org.agent.exact("submit", call.clone()), "retry", &[]);
    }
    org.agent.ok("submit", call);
    let log = server.log();
    assert!(log.contains("evaluator"), "the operator is told: {log}");
    for secret in [WRONG_KEY, key.as_str(), script.id(), "Dear all", "Is the letter polite?"] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
    for request in script.requests() {
        assert!(!request.raw.contains(key.as_str()), "the key is in a body");
    }
}
