//! A step that a graph guides (graph-1): what the graph is told, when a submission waits for it, and who need not.

use run::{Decision, Fault, GraphStatus, MappedFacts, Submission, decide};
use serde_json::{Map, Value, json};

use crate::checks::yes;
use crate::common::*;

const FRONT: &str = "inputs: { version: string, part: { type: string, optional: true } }
steps:
  - id: a
    agent: Prepare it.
    output: { notes: string, size: { type: number, optional: true } }
  - id: b
    agent: Build it.
    output: { digest: string, note: { type: string, optional: true } }
    graph:
      provider: acme/release
      graph: release
      require_complete: true
      facts:
        release.version: inputs.version
        release.part: inputs.part
        release.notes: steps.a.output.notes
        release.size: steps.a.output.size
        artifact.digest: steps.b.output.digest
        artifact.note: steps.b.output.note
  - { id: c, approve: Look., person: crew, on_reject: b }
  - { id: z, finish: over }";

fn play() -> Play {
    let mut play = Play::with(FRONT, json!({ "version": "1.2.0" }));
    play.does("a", work(json!({ "notes": "New.", "size": 1 })));
    play
}

fn facts(mapped: &MappedFacts) -> Value {
    Value::Object(mapped.over(&Map::new()))
}

/// The facts of the step as a claim maps them.
fn claimed(play: &Play, step: &str) -> Value {
    facts(&MappedFacts::of(&play.world.document, &play.run, step))
}

#[test]
fn a_claim_maps_what_run_data_holds() {
    let play = play();
    let held = json!({ "release": { "version": "1.2.0", "notes": "New.", "size": 1 } });
    assert_eq!(claimed(&play, "b"), held, "and leaves out the rest, what the step itself is to submit included");
    assert_eq!(claimed(&play, "a"), json!({}), "a step without a graph has no facts");
    assert_eq!(claimed(&play, "nowhere"), json!({}));

    let play = Play::with(FRONT, json!({ "version": "1.2.0", "part": "core" }));
    assert_eq!(claimed(&play, "b"), json!({ "release": { "version": "1.2.0", "part": "core" } }));
}

#[test]
fn a_submission_maps_its_own_output() {
    let mut play = play();
    let token = play.claim("b");
    let ended = |play: &mut Play| {
        play.stands(GraphStatus::Complete, Some("completed"), None);
    };
    ended(&mut play);
    play.submit(&token, work(json!({ "digest": "d1" }))).unwrap();
    let [looked] = play.looked.as_slice() else { panic!("{:?}", play.looked) };
    assert_eq!((looked.step.as_str(), looked.attempt), ("b", token.attempt));
    let release = json!({ "version": "1.2.0", "notes": "New.", "size": 1 });
    assert_eq!(facts(&looked.facts), json!({ "release": release, "artifact": { "digest": "d1" } }));

    // After rework the first completion stays current until the step completes anew, and is no fact of the new attempt.
    play.decide(&person("cora", &["g_crew"]), "c", Decision::Rejected("Again.".to_owned())).unwrap();
    assert_eq!(play.data("b")["output"]["digest"], "d1");
    assert_eq!(claimed(&play, "b"), json!({ "release": release }));
    let second = play.claim("b");
    assert_ne!(second.attempt, token.attempt, "its own run of the graph");
    ended(&mut play);
    play.submit(&second, work(json!({ "digest": "d2", "note": "x" }))).unwrap();
    assert_eq!(facts(&play.looked[1].facts)["artifact"], json!({ "digest": "d2", "note": "x" }));
    assert_eq!(play.looked[1].attempt, second.attempt);
}

#[test]
fn a_submission_waits_until_the_graph_is_complete_and_is_told_everything_at_once() {
    let mut play = play();
    let token = play.claim("b");
    let before = play.run.clone();
    let issue = "graph: actionable (verify): take this route and record its outcome first";
    play.stands(GraphStatus::Actionable, None, Some("verify"));
    let refusal = play.submit(&token, work(json!({ "digest": "d1" }))).unwrap_err();
    assert!(refusal.message.contains("nothing changed"), "{}", refusal.message);
    assert_eq!(refused::<()>(Err(refusal)), format!("not_accepted: {issue}"));
    play.stands(GraphStatus::Complete, Some("partial"), None);
    let faulty = Submission { summary: None, ..routed(json!({ "digest": 1, "x": 2 }), "c") };
    assert_eq!(
        refused(play.submit(&token, faulty)),
        "not_accepted: summary: missing; output.digest: expected string; output.x: not declared; next: not allowed, this \
         step has no list of routes; reason: not allowed, this step has no list of routes; graph: partial: it must end as \
         completed"
    );
    assert_eq!(play.run, before, "nothing changed");
    let handoff = &play.attempts["b"].handoff;
    assert_eq!(handoff.issues.as_ref().unwrap().last().unwrap(), "graph: partial: it must end as completed");

    play.stands(GraphStatus::Complete, Some("completed"), Some("worth-knowing"));
    play.submit(&token, work(json!({ "digest": "d1" }))).unwrap();
    assert_eq!(play.states(&["b", "c"]), "done waiting");
    assert_eq!(play.data("b").get("graph"), None, "run data has no place for it");
}

#[test]
fn without_its_standing_a_submission_is_not_decided_and_leaves_no_trace() {
    let mut play = play();
    let token = play.claim("b");
    // Not even what is wrong with it is told: all issues are told together.
    for submission in [work(json!({ "digest": "d1" })), work(json!({}))] {
        let command = run::Command::Submit { token: token.clone(), submission };
        let decided = decide(play.world.context(), &play.run, &play.attempts, &agent("ada"), &command, play.clock);
        assert!(matches!(decided, Err(Fault::Graph(_))), "{decided:?}");
    }
    // A claim that is over is over whatever the graph says.
    let stale = run::Claimed { lease: 7, ..token };
    assert_eq!(refused(play.submit(&stale, work(json!({ "digest": "d1" })))), "stale");
    assert!(play.looked.is_empty());
}

#[test]
fn a_graph_that_need_not_be_complete_holds_nobody_up() {
    for require in ["", "      require_complete: false\n"] {
        let front = FRONT.replace("      require_complete: true\n", require);
        let mut play = Play::with(&front, json!({ "version": "1.2.0" }));
        play.does("a", work(json!({ "notes": "New." }))).does("b", work(json!({ "digest": "d1" })));
        assert_eq!(play.states(&["b"]), "done");
        assert!(play.looked.is_empty());
    }
}

#[test]
fn a_person_who_completes_an_escalated_step_is_not_held_to_the_graph() {
    let mut play = play();
    let token = play.claim("b");
    play.escalate(&token, "It never ends.").unwrap();
    play.decide(&operator(), "b", Decision::Completed(work(json!({ "digest": "d1" })))).unwrap();
    assert_eq!(play.states(&["b", "c"]), "done waiting");
    assert!(play.looked.is_empty());
}

#[test]
fn the_check_comes_after_the_graph() {
    let front = FRONT.replace("    agent: Build it.\n", "    agent: Build it.\n    check: Done?\n");
    let mut play = Play::with(&front, json!({ "version": "1.2.0" }));
    play.does("a", work(json!({ "notes": "New." })));
    let token = play.claim("b");
    let submission = || work(json!({ "digest": "d1" }));
    play.stands(GraphStatus::Blocked, None, None);
    assert_eq!(
        refused(play.submit(&token, submission())),
        "not_accepted: graph: blocked: get_graph_run tells what is in the way"
    );
    assert!(play.asked.is_empty(), "nobody is asked about what is not acceptable anyhow");

    // Held for a person by the check, and adopted by them: the graph is not asked again.
    play.stands(GraphStatus::Complete, Some("completed"), None).says(&[yes(0.85)]);
    let unsure = front.replace("check: Done?", "check: [{ ask: Done?, pass: 0.9, fail: 0.5 }]");
    play.world.document = document(&unsure);
    play.submit(&token, submission()).unwrap();
    assert_eq!((play.states(&["b"]), play.asked.len(), play.looked.len()), ("waiting".to_owned(), 1, 2));
    play.decide(&operator(), "b", Decision::Completed(Submission::default())).unwrap();
    assert_eq!((play.states(&["b"]), play.looked.len()), ("done".to_owned(), 2));
}

#[test]
fn a_returned_step_goes_on_in_the_same_run_of_the_graph() {
    let mut play = play();
    let first = play.claim("b");
    play.escalate(&first, "Help.").unwrap();
    play.decide(&operator(), "b", Decision::Returned("Try again.".to_owned())).unwrap();
    let second = play.claim("b");
    assert_eq!(second.attempt, first.attempt);
    play.clock(60);
    let third = play.claim_by("bob", "b").unwrap();
    assert_eq!((third.attempt, third.lease), (first.attempt, second.lease + 1));
}
