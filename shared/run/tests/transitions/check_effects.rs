//! What follows from each verdict, on an agent's step and on a person's task; advisory checks; and rework afterwards.

use run::{
    Answer, Cited, Command, Decision, Evaluation, EvidenceFile, Fault, Limits, Mode, Submission, decide, snapshot,
};
use serde_json::{Value, json};

use crate::checks::{level, name, yes};
use crate::common::*;

const FRONT: &str = "steps:
  - id: a
    agent: Do it.
    output: { n: number }
    check: [{ ask: Is it done?, pass: 0.8, fail: 0.4 }, { ask: Is it right?, pass: 0.8, fail: 0.4 }]
  - id: b
    task: Look at it.
    person: crew
    check: Did they look?
  - { id: c, approve: Good?, person: crew, on_reject: a }
  - { id: z, finish: over }";

const GOOD: [Answer; 2] = [Answer::Yes(0.95), Answer::Yes(0.8)];
const BAD: [Answer; 2] = [Answer::Yes(0.95), Answer::Yes(0.25)];
const LINE: &str = "check: Is it right? → no (0.25)";

fn crew() -> run::Actor {
    person("cleo", &["g_crew"])
}

fn handoff(play: &Play, step: &str) -> Value {
    serde_json::to_value(&play.attempts[step].handoff).unwrap()
}

#[test]
fn a_submission_that_passes_completes_the_step_and_leaves_its_verdict() {
    let mut play = Play::start(FRONT);
    play.says(&GOOD).does("a", work(json!({ "n": 1 })));
    assert_eq!(play.states(&["a", "b"]), "done waiting");
    assert_eq!(play.data("a")["check"]["verdict"], "pass");
    assert_eq!(play.asked.len(), 1);
    assert!(play.attempts.is_empty());
}

#[test]
fn a_submission_that_fails_is_refused_and_the_attempt_remembers_it() {
    let mut play = Play::start(FRONT);
    let token = play.clock(2).claim("a");
    let before = (play.run.clone(), play.entries.len(), snapshot(&play.run));
    let refusal = play.says(&BAD).submit(&token, work(json!({ "n": 1 }))).unwrap_err();
    assert_eq!(refused(Err::<(), _>(refusal.clone())), format!("not_accepted: {LINE}"));
    assert_eq!((&play.run, play.entries.len(), snapshot(&play.run)), (&before.0, before.1, before.2));
    assert_eq!(
        handoff(&play, "a"),
        json!({ "issues": [LINE], "check": { "verdict": "fail", "advisory": false, "model": JUDGE, "at": at(2),
            "questions": [
                { "ask": "Is it done?", "kind": "yes_no", "answer": 0.95, "result": "pass" },
                { "ask": "Is it right?", "kind": "yes_no", "answer": 0.25, "result": "fail" },
            ] } })
    );

    // The claim stands, and so does the answer: whoever submits the same again, and whenever.
    play.clock(5);
    assert_eq!(play.submit(&token, work(json!({ "n": 1 }))).unwrap_err().issues, refusal.issues);
    let told = handoff(&play, "a");
    play.clock(20);
    let token = play.claim_by("bob", "a").unwrap();
    let again = play.submit(&token, work(json!({ "n": 1 }))).unwrap_err();
    assert_eq!((again.code, &again.message, &again.issues), (refusal.code, &refusal.message, &refusal.issues));
    assert_eq!(handoff(&play, "a"), told, "the first time it was said");
    assert_eq!(play.asked.len(), 1, "nobody rolls the dice");

    play.says(&GOOD).submit(&token, work(json!({ "n": 2 }))).unwrap();
    assert_eq!(play.data("a")["check"]["verdict"], "pass");
    assert!(play.attempts.is_empty(), "the handoff went with the attempt");
}

#[test]
fn whatever_is_submitted_tells_two_submissions_apart() {
    let front = "steps:
  - { id: a, agent: Do it., output: { n: number }, check: Done?, next: [y, z] }
  - { id: y, finish: other }
  - { id: z, finish: over }";
    let file = |id: &str| {
        Cited::File(EvidenceFile {
            r#ref: id.to_owned(),
            sha256: "00ff".to_owned(),
            file_name: "report.pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
        })
    };
    let first = || Submission { evidence: vec![file("f_1")], ..routed(json!({ "n": 1 }), "z") };
    let changes: [fn(&mut Submission); 6] = [
        |s| s.output = Some(exact(r#"{"n": 1.0}"#)),
        |s| s.summary = Some("Did it again.".to_owned()),
        |s| s.next = Some("y".to_owned()),
        |s| s.reason = Some("It fits well.".to_owned()),
        |s| s.evidence.clear(),
        |s| s.evidence = vec![Cited::Link("f_1".to_owned())],
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let mut play = Play::start(front);
        let token = play.claim("a");
        refused(play.says(&[yes(0.1)]).submit(&token, first()));
        refused(play.submit(&token, first()));
        assert_eq!(play.asked.len(), 1);
        let mut other = first();
        change(&mut other);
        play.says(&[yes(0.9)]).submit(&token, other).unwrap_or_else(|r| panic!("{n}: {r:?}"));
        assert_eq!(play.asked.len(), 2, "{n}");
    }
}

#[test]
fn the_objective_rules_come_first_and_all_of_them() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let faulty = Submission { summary: None, ..work(json!({ "n": "one", "x": 1 })) };
    let issues = "not_accepted: summary: missing; output.n: expected number; output.x: not declared";
    assert_eq!(refused(play.submit(&token, faulty.clone())), issues);
    assert!(play.asked.is_empty());
    assert_eq!(handoff(&play, "a").get("check"), None);

    refused(play.says(&BAD).submit(&token, work(json!({ "n": 1 }))));
    assert_eq!(refused(play.submit(&token, faulty)), issues, "not a line of the check");
    let told = handoff(&play, "a");
    assert_eq!(told["issues"].as_array().unwrap().len(), 3, "the latest issues");
    assert_eq!(told["check"]["verdict"], "fail", "the latest verdict");
    assert_eq!(refused(play.submit(&token, work(json!({ "n": 1 })))), format!("not_accepted: {LINE}"));
    assert_eq!(handoff(&play, "a")["issues"], json!([LINE]));
    assert_eq!(play.asked.len(), 1, "it is still known to have failed");
}

#[test]
fn a_token_and_an_item_come_before_the_check() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    play.clock(10);
    assert_eq!(refused(play.submit(&token, work(json!({ "n": 1 })))), "stale");
    play.says(&GOOD).does("a", work(json!({ "n": 1 })));
    let done = || Decision::Completed(Submission::default());
    assert_eq!(refused(play.decide(&person("nemo", &[]), "b", done())), "forbidden");
    assert_eq!(play.asked.len(), 1);
}

#[test]
fn a_persons_task_is_checked_alike() {
    let mut play = Play::start(FRONT);
    play.says(&GOOD).does("a", work(json!({ "n": 1 })));
    let did = |text: &str| Decision::Completed(Submission { summary: Some(text.to_owned()), ..Submission::default() });
    let line = "check: Did they look? → no (0.3)";
    let item = play.item("b");
    assert_eq!(
        refused(play.clock(4).says(&[yes(0.3)]).decide(&crew(), "b", did("No."))),
        format!("not_accepted: {line}")
    );
    let view = play.view();
    assert_eq!(view["data"]["steps"].get("b"), None);
    assert_eq!(
        view["workItems"][0]["handoff"],
        json!({ "issues": [line], "check": { "verdict": "fail", "advisory": false, "model": JUDGE, "at": at(4),
            "questions": [{ "ask": "Did they look?", "kind": "yes_no", "answer": 0.3, "result": "fail" }] } })
    );
    assert_eq!(
        (view["workItems"][0]["id"].as_str(), view["workItems"][0].get("escalation")),
        (Some(item.as_str()), Some(&json!(null)))
    );
    let dora = person("dora", &["g_crew"]);
    assert_eq!(refused(play.decide(&dora, "b", did("No."))), format!("not_accepted: {line}"), "the same from another");
    assert_eq!(play.asked.len(), 2);
    play.says(&[yes(0.9)]).decide(&dora, "b", did("Yes.")).unwrap();
    assert_eq!((&play.data("b")["by"], &play.data("b")["check"]["verdict"]), (&json!("dora"), &json!("pass")));
}

#[test]
fn without_an_answer_the_call_is_to_be_sent_again_and_nothing_changes() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let before = play.clone();
    let silent = play.says_nothing().submit(&token, work(json!({ "n": 1 }))).unwrap_err();
    assert_eq!((refused(Err::<(), _>(silent.clone())).as_str(), silent.attempt), ("retry", None));
    assert!(silent.message.contains("requestId"), "{}", silent.message);
    for unfit in [
        vec![],
        vec![yes(0.9)],
        vec![yes(0.9), yes(0.9), yes(0.9)],
        vec![yes(0.9), yes(1.01)],
        vec![yes(0.9), yes(-0.01)],
        vec![yes(0.9), yes(f64::NAN)],
        vec![yes(0.9), name("yes", 1.0)],
        vec![level(0, 1.0), yes(0.9)],
    ] {
        assert_eq!(refused(play.says(&unfit).submit(&token, work(json!({ "n": 1 })))), "retry", "{unfit:?}");
    }
    assert_eq!((&play.run, &play.attempts), (&before.run, &before.attempts));
    play.says(&GOOD).submit(&token, work(json!({ "n": 1 }))).expect("the same call again");
}

#[test]
fn an_answer_must_be_one_that_was_offered() {
    let front = "steps:
  - id: a
    agent: Do it.
    check:
      - { ask: Which?, one_of: { x: X., y: Y. }, pass: [x] }
      - { ask: How?, levels: [Bad., Good.], pass: 1 }
  - { id: z, finish: over }";
    for unfit in [
        [name("z", 1.0), level(1, 1.0)],
        [name("X", 1.0), level(1, 1.0)],
        [name("x", 1.1), level(1, 1.0)],
        [name("x", 1.0), level(2, 1.0)],
        [name("x", 1.0), level(1, -1.0)],
    ] {
        let mut play = Play::start(front);
        let token = play.claim("a");
        assert_eq!(refused(play.says(&unfit).submit(&token, work(json!({})))), "retry", "{unfit:?}");
        play.says(&[name("x", 1.0), level(1, 1.0)]).submit(&token, work(json!({}))).unwrap();
    }
}

#[test]
fn an_advisory_verdict_is_recorded_and_never_blocks() {
    let front = "steps:
  - { id: a, agent: Do it., check: [{ ask: Done?, pass: 0.8, fail: 0.4 }], advisory: true }
  - { id: b, task: Look., person: crew, check: [{ ask: Done?, pass: 0.8, fail: 0.4 }], advisory: true }
  - { id: z, finish: over }";
    for (answers, verdict, answer, result) in [
        (Some(vec![yes(0.8)]), "pass", json!(0.8), "pass"),
        (Some(vec![yes(0.5)]), "unsure", json!(0.5), "unsure"),
        (Some(vec![yes(0.1)]), "fail", json!(0.1), "fail"),
        (None, "error", json!(null), "unsure"),
        (Some(vec![yes(7.0)]), "error", json!(null), "unsure"),
    ] {
        let mut play = Play::start(front);
        play.answers.extend([answers.clone(), answers]);
        play.does("a", work(json!({})));
        play.decide(&crew(), "b", Decision::Completed(Submission::default())).unwrap();
        assert_eq!(play.ended(), "ended/over", "{verdict}");
        for step in ["a", "b"] {
            assert_eq!(
                play.data(step)["check"],
                json!({ "verdict": verdict, "advisory": true, "model": JUDGE, "at": at(0),
                    "questions": [{ "ask": "Done?", "kind": "yes_no", "answer": answer, "result": result }] })
            );
        }
        assert!(play.attempts.is_empty());
    }
}

#[test]
fn an_evaluation_that_nobody_needs_is_ignored() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let token = play.claim("a");
    let evaluation =
        Evaluation { model: "x".to_owned(), answers: Some(vec![yes(0.0)]), truncated: true, asked_at: minute(0) };
    play.submit(&token, Submission { evaluation: Some(Box::new(evaluation.clone())), ..work(json!({})) }).unwrap();
    assert_eq!(play.data("a").get("check"), None);

    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let faulty = Submission { evaluation: Some(Box::new(evaluation.clone())), ..work(json!({})) };
    assert_eq!(refused(play.submit(&token, faulty)), "not_accepted: output.n: missing");
    let mut claim = Command::Claim { step: "a".to_owned() };
    claim.evaluated(&evaluation);
    assert_eq!(claim, Command::Claim { step: "a".to_owned() });
}

#[test]
fn without_an_evaluation_a_submission_is_not_decided_and_leaves_no_trace() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let command = Command::Submit { token, submission: work(json!({ "n": 1 })) };
    let ask = || decide(play.world.context(), &play.run, &play.attempts, &agent("ada"), &command, play.clock);
    let (Err(Fault::Check(first)), Err(Fault::Check(second))) = (ask(), ask()) else { panic!("it was decided") };
    assert_eq!(first, second);
    let questions = &play.world.document.steps[0].work().unwrap().check.as_ref().unwrap().questions;
    assert_eq!((&first.questions, first.step.as_str()), (questions, "a"));
}

#[test]
fn rework_is_a_fresh_attempt_and_the_earlier_verdict_is_history() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    refused(play.says(&BAD).submit(&token, work(json!({ "n": 1 }))));
    play.says(&GOOD).submit(&token, work(json!({ "n": 2 }))).unwrap();
    play.says(&[yes(0.99)]).decide(&crew(), "b", Decision::Completed(Submission::default())).unwrap();
    play.clock(9).decide(&crew(), "c", Decision::Rejected("Again.".to_owned())).unwrap();
    let history = |play: &Play, step: &str| play.data(step)["history"].as_array().unwrap().clone();
    assert_eq!(
        (&play.data("a")["check"]["verdict"], history(&play, "a").len()),
        (&json!("pass"), 0),
        "current until anew"
    );
    assert_eq!(history(&play, "b")[0]["check"]["questions"][0]["answer"], json!(0.99));
    assert!(play.attempts.is_empty(), "the handoff starts empty");

    let token = play.claim("a");
    assert!(play.attempts["a"].handoff.is_empty());
    refused(play.says(&BAD).submit(&token, work(json!({ "n": 1 }))));
    assert_eq!(play.asked.len(), 4, "what failed in another attempt is asked again");
    play.says(&[yes(0.8), yes(1.0)]).submit(&token, work(json!({ "n": 3 }))).unwrap();
    let a = play.data("a");
    assert_eq!(a["check"]["questions"][1]["answer"], json!(1));
    assert_eq!(history(&play, "a")[0]["check"]["questions"][0]["answer"], json!(0.95));
    assert_eq!(history(&play, "a")[0]["check"]["at"], at(0));
}

#[test]
fn run_data_stays_within_its_size_with_the_verdict() {
    let front = "steps:\n  - { id: a, agent: Do it., check: [{ ask: Done?, fail: 0.2 }] }\n  - { id: z, finish: over }";
    let with = |limit: usize, answer: f64| {
        let mut world = World::new(document(front));
        world.limits = Limits { run_data_bytes: limit, ..Limits::default() };
        let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap();
        let token = play.claim("a");
        let result = play.says(&[yes(answer)]).submit(&token, work(json!({})));
        (result.map(|change| run::data_bytes(&change.run)), play)
    };
    let bytes = with(10_000, 0.95).0.unwrap();
    assert_eq!(with(bytes, 0.95).0.unwrap(), bytes, "the limit itself is allowed");
    let wanted = format!("not_accepted: run data: {bytes} bytes with this submission, at most {}", bytes - 1);
    let (result, play) = with(bytes - 1, 0.95);
    assert_eq!(refused(result), wanted);
    assert_eq!(handoff(&play, "a").get("check"), None, "it is not the check that refused");

    // A candidate must fit as the record that it would become, with its verdict.
    let unsure = bytes + "unsure".len() * 2 - "pass".len() * 2;
    assert!(with(unsure, 0.85).0.is_ok());
    let (result, play) = with(unsure - 1, 0.85);
    let wanted = format!("not_accepted: run data: {unsure} bytes with this submission, at most {}", unsure - 1);
    assert_eq!((refused(result), play.states(&["a"])), (wanted, "claimed".to_owned()));
}
