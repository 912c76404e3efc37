//! `escalate`, and what a person makes of it: `returned`, `completed`, `failed`.

use run::{Command, Decision, Submission};
use serde_json::json;

use crate::common::*;

const FRONT: &str = "steps:
  - { id: a, agent: Do it., output: { ok: boolean }, due: 1h, next: [b, z] }
  - { id: b, approve: Good?, person: crew, on_reject: a, next: z }
  - { id: z, finish: over }";

fn escalated() -> (Play, run::Claimed) {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    play.clock(5);
    let token = play.renew(&token, Some("Half.")).unwrap();
    play.escalate(&token, "No access.").unwrap();
    (play, token)
}

fn ops() -> run::Actor {
    person("otto", &[OPERATORS])
}

#[test]
fn an_escalated_step_waits_on_a_person() {
    let (mut play, token) = escalated();
    assert_eq!((play.states(&["a"]), play.ended()), ("waiting".to_owned(), "waiting/-".to_owned()));
    let view = play.view();
    assert_eq!(
        view["workItems"],
        json!([{ "id": "w_1_1", "stepId": "a", "kind": "agent", "text": "Do it.", "output": { "ok": "boolean" },
            "evidence": [], "next": [{ "to": "b" }, { "to": "z" }], "assignedTo": { "group": OPERATORS },
            "snapshot": view["workItems"][0]["snapshot"], "due": at(60),
            "escalation": { "note": "No access.", "by": "ada", "at": at(5) }, "handoff": { "progress": "Half." },
            "decide": { "tool": "decide", "arguments": { "runId": "r_1", "workItemId": "w_1_1",
                "snapshot": view["workItems"][0]["snapshot"], "requestId": "<new UUID>" },
                "decisions": ["returned", "completed", "failed"] } }])
    );
    assert_eq!(view["data"]["steps"], json!({}), "nothing was completed");
    assert_eq!(refused(play.escalate(&token, "Again.")), "stale", "the claim is over");
    assert_eq!(refused(play.submit(&token, work(json!({ "ok": true })))), "stale");
    assert_eq!(refused(play.renew(&token, None)), "stale");
    assert_eq!(refused(play.claim_by("bob", "a")), "conflict: not_ready");
}

#[test]
fn a_note_is_needed() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    for blank in ["", "  \n"] {
        assert_eq!(refused(play.escalate(&token, blank)), "invalid: note: missing");
    }
    play.escalate(&token, "No access.").unwrap();
    for decision in [Decision::Returned(String::new()), Decision::Failed(" ".to_owned())] {
        assert_eq!(refused(play.decide(&ops(), "a", decision)), "invalid: note: missing");
    }
}

#[test]
fn a_returned_step_is_the_same_attempt() {
    let (mut play, token) = escalated();
    play.clock(20);
    let item = play.item("a");
    play.decide(&ops(), "a", Decision::Returned("Use the other login.".to_owned())).unwrap();
    assert_eq!(
        play.shown("a"),
        json!({ "id": "a", "kind": "agent", "state": "ready", "due": at(60), "overdue": false })
    );
    assert_eq!(play.run.step("a").unwrap().ready_since, Some(minute(0)));
    assert_eq!(play.ended(), "active/-");
    let again = play.decide_item(&ops(), &item, Decision::Returned("Twice.".to_owned()));
    assert_eq!(refused(again), "conflict: already_decided");
    assert_eq!(refused(play.submit(&token, work(json!({ "ok": true })))), "stale", "the old token stays dead");
    let token = play.claim_by("bob", "a").unwrap();
    let handoff = serde_json::to_value(&play.attempts["a"].handoff).unwrap();
    let returned = json!({ "note": "Use the other login.", "by": "otto", "at": at(20) });
    assert_eq!(handoff, json!({ "progress": "Half.", "returned": returned }));

    play.escalate(&token, "Still none.").unwrap();
    assert_eq!(play.item("a"), "w_1_2", "each escalation has an item of its own");
    let item = play.decide_item(&ops(), &item, Decision::Returned("Thrice.".to_owned()));
    assert_eq!(refused(item), "conflict: already_decided");
    assert_eq!(play.view()["workItems"][0]["handoff"]["returned"], returned);
    play.decide(&ops(), "a", Decision::Returned("Now.".to_owned())).unwrap();
    play.does("a", routed(json!({ "ok": true }), "z"));
    assert!(play.attempts.is_empty());
}

#[test]
fn a_person_completes_in_the_agents_place() {
    let (mut play, _) = escalated();
    play.clock(30);
    let done = |submission: Submission| Decision::Completed(submission);
    assert_eq!(
        refused(play.decide(&ops(), "a", done(Submission::default()))),
        "not_accepted: output.ok: missing; next: required, one of b, z; reason: required"
    );
    play.decide(&ops(), "a", done(Submission { summary: None, ..routed(json!({ "ok": true }), "b") })).unwrap();
    assert_eq!(
        play.data("a"),
        json!({ "output": { "ok": true }, "evidence": [], "next": "b", "reason": "It fits.", "by": "otto",
            "at": at(30), "history": [] })
    );
    assert_eq!(play.states(&["a", "b", "z"]), "done waiting -");
    assert!(play.attempts.is_empty(), "the handoff went with the attempt");
    assert_eq!(play.view()["workItems"][0]["handoff"], json!(null));
}

#[test]
fn a_person_fails_the_run_there() {
    let (mut play, _) = escalated();
    play.decide(&ops(), "a", Decision::Failed("Cannot be done.".to_owned())).unwrap();
    assert_eq!((play.ended(), play.states(&["a", "b", "z"])), ("ended/failed".to_owned(), "failed - -".to_owned()));
    assert_eq!(
        play.data("a"),
        json!({ "decision": "failed", "note": "Cannot be done.", "by": "otto", "at": at(5), "history": [] })
    );
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "otto", "at": at(5), "note": "Cannot be done." }));
}

#[test]
fn the_operator_queue_is_for_operators() {
    let decision = || Decision::Returned("Go on.".to_owned());
    let (mut play, _) = escalated();
    assert_eq!(refused(play.decide(&person("cleo", &["g_crew"]), "a", decision())), "forbidden");
    assert_eq!(refused(play.decide(&agent("ada"), "a", decision())), "forbidden");
    let machine = run::Actor { operator: true, groups: vec![OPERATORS.to_owned()], ..agent("pipeline") };
    assert_eq!(refused(play.decide(&machine, "a", decision())), "forbidden", "deciding stays with people");
    let elsewhere = run::Actor { may_decide: false, ..ops() };
    assert_eq!(refused(play.decide(&elsewhere, "a", decision())), "forbidden");
    for wrong in [Decision::Approved(None), Decision::Rejected("No.".to_owned())] {
        let wanted = "invalid: decision: one of returned, completed, failed";
        assert_eq!(refused(play.decide(&ops(), "a", wrong)), wanted);
    }
    play.decide(&operator(), "a", decision()).expect("the operator right includes the queue");
}

#[test]
fn rework_clears_what_was_handed_on() {
    let (mut play, _) = escalated();
    play.decide(&ops(), "a", Decision::Returned("Go on.".to_owned())).unwrap();
    play.does("a", routed(json!({ "ok": true }), "b"));
    play.clock(40);
    play.decide(&person("cleo", &["g_crew"]), "b", Decision::Rejected("Again.".to_owned())).unwrap();
    assert_eq!(play.shown("a")["due"], at(100), "a repeat restarts the clock");
    let change = play.act(&agent("ada"), &Command::Claim { step: "a".to_owned() }).unwrap();
    assert!(change.attempts["a"].as_ref().unwrap().handoff.is_empty());
}
