//! `claim`, `renew`, and what every call with a token checks.

use run::{Claimed, Command, Reply, Status};
use serde_json::json;

use crate::common::*;

const FRONT: &str = "steps:
  - { id: a, agent: Do it., due: 1h }
  - { id: b, agent: More., next: c }
  - { id: c, task: Look., person: crew }
  - { id: z, finish: over }";

#[test]
fn a_claim_is_refused_with_the_reason() {
    let mut play = Play::start(FRONT);
    let claim = |play: &mut Play, by: &run::Actor, step: &str| play.act(by, &Command::Claim { step: step.to_owned() });
    let (ada, bob, crew) = (agent("ada"), agent("bob"), person("cleo", &["g_crew"]));
    assert_eq!(refused(claim(&mut play, &ada, "nowhere")), "not_found");
    assert_eq!(refused(claim(&mut play, &ada, "c")), "forbidden");
    assert_eq!(refused(claim(&mut play, &crew, "a")), "forbidden");
    assert_eq!(refused(claim(&mut play, &operator(), "a")), "forbidden");
    assert_eq!(refused(claim(&mut play, &ada, "b")), "conflict: not_ready");
    let change = claim(&mut play, &ada, "a").unwrap();
    let expires_at = minute(10);
    assert_eq!(change.reply, Reply::Leased { step: "a".to_owned(), attempt: 1, lease: 1, expires_at });
    assert!(change.events.is_empty(), "a claim is no entry of the journal");
    assert_eq!(play.states(&["a", "b"]), "claimed -");
    assert_eq!(play.run.state(), run::RunState::Active);
    assert_eq!(refused(claim(&mut play, &ada, "a")), "conflict: claimed_by_you");
    assert_eq!(refused(claim(&mut play, &bob, "a")), "conflict: claimed_by_other");
}

#[test]
fn an_expired_lease_is_claimable_at_once() {
    let mut play = Play::start(FRONT);
    let first = play.claim("a");
    play.clock = run::Time::from_millis(minute(10).millis() - 1);
    assert_eq!(refused(play.claim_by("bob", "a")), "conflict: claimed_by_other");
    play.clock(10);
    assert_eq!(play.states(&["a"]), "ready");
    assert_eq!(refused(play.submit(&first, work(json!({})))), "stale", "the lease ended");
    assert_eq!(refused(play.renew(&first, None)), "stale");
    let second = play.claim_by("bob", "a").unwrap();
    assert_eq!((second.attempt, second.lease), (1, 2), "a lease of the same attempt");
    assert_eq!(refused(play.submit(&first, work(json!({})))), "stale", "the claim was replaced");
    assert_eq!(refused(play.escalate(&first, "Help.")), "stale");
    play.submit(&second, work(json!({}))).unwrap();
    assert_eq!(play.states(&["a", "b"]), "done ready");
    assert_eq!(play.data("a")["by"], "bob");
    assert_eq!(refused(play.submit(&second, work(json!({})))), "stale", "the step moved on");
}

#[test]
fn the_same_agent_may_claim_again_after_its_lease() {
    let mut play = Play::start(FRONT);
    let first = play.claim("a");
    play.clock(11);
    let second = play.claim("a");
    assert_eq!(refused(play.submit(&first, work(json!({})))), "stale");
    play.submit(&second, work(json!({}))).unwrap();
}

#[test]
fn a_renewal_replaces_the_token_and_keeps_the_latest_note() {
    let mut play = Play::start(FRONT);
    let first = play.claim("a");
    play.clock(9);
    let second = play.renew(&first, Some("Half.")).unwrap();
    assert_eq!(play.attempts["a"].lease.as_ref().unwrap().expires_at, minute(19));
    for refused_again in [play.renew(&first, None).map(drop), play.submit(&first, work(json!({}))).map(drop)] {
        assert_eq!(refused(refused_again), "stale");
    }
    let third = play.renew(&second, Some("Most.")).unwrap();
    let fourth = play.renew(&third, Some("  ")).unwrap();
    assert_eq!(play.attempts["a"].handoff.progress.as_deref(), Some("Most."), "a blank note says nothing");
    assert_eq!(play.run.updated_at, minute(0), "the journal did not move");
    play.clock(19);
    assert_eq!(refused(play.renew(&fourth, None)), "stale");
    let next = play.claim_by("bob", "a").unwrap();
    assert_eq!(play.attempts["a"].handoff.progress.as_deref(), Some("Most."), "it is handed on");
    play.submit(&next, work(json!({}))).unwrap();
    assert!(play.attempts.is_empty(), "and gone with the step");
}

#[test]
fn a_token_works_for_the_identity_it_was_given_to() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let commands = |token: &Claimed| {
        [
            Command::Renew { token: token.clone(), progress: None },
            Command::Submit { token: token.clone(), submission: work(json!({})) },
            Command::Escalate { token: token.clone(), note: "Help.".to_owned() },
        ]
    };
    for command in commands(&token) {
        assert_eq!(refused(play.act(&agent("bob"), &command)), "forbidden");
        assert_eq!(refused(play.act(&person("ada", &[]), &command)), "forbidden", "people hold no claims");
    }
    for command in commands(&Claimed { lease: 2, ..token.clone() }) {
        assert_eq!(refused(play.act(&agent("ada"), &command)), "stale");
    }
    for command in commands(&Claimed { step: "b".to_owned(), ..token }) {
        assert_eq!(refused(play.act(&agent("ada"), &command)), "stale");
    }
}

#[test]
fn claiming_does_not_touch_the_due_time() {
    let mut play = Play::start(FRONT);
    assert_eq!(play.shown("a")["due"], at(60));
    let token = play.claim("a");
    play.clock(59);
    let token2 = play.claim("a");
    assert_ne!(token, token2);
    assert_eq!(
        play.shown("a"),
        json!({ "id": "a", "kind": "agent", "state": "claimed", "due": at(60), "overdue": false })
    );
    play.clock(60);
    assert_eq!(play.shown("a")["overdue"], true, "from the due time itself on");
    play.clock(61);
    assert_eq!(play.shown("a")["overdue"], true, "shown when it has passed, whoever noted it");
    let token = play.renew(&token2, None).unwrap();
    assert!(play.run.step("a").unwrap().overdue, "and any write notes it");
    assert_eq!(play.entries.last().unwrap().events.len(), 1);
    assert_eq!(play.states(&["a"]), "claimed", "the work stays open");
    play.submit(&token, work(json!({}))).unwrap();
    assert_eq!(play.shown("a"), json!({ "id": "a", "kind": "agent", "state": "done" }));
}

#[test]
fn time_in_a_run_never_goes_back() {
    let mut play = Play::start(FRONT);
    play.clock(30);
    play.does("a", work(json!({})));
    play.clock(5);
    let token = play.claim("b");
    assert_eq!(play.attempts["b"].lease.as_ref().unwrap().expires_at, minute(40), "from the last entry on");
    play.submit(&token, work(json!({}))).unwrap();
    assert_eq!(play.data("b")["at"], at(30));
    assert_eq!(play.run.updated_at, minute(30));
    assert_eq!(play.run.step("c").unwrap().status, Some(Status::Waiting));
}

#[test]
fn a_submission_that_was_evaluated_came_in_time_whatever_others_wrote_since() {
    let mut play = Play::start(
        "steps:
  - { id: p, parallel: [a, b], next: z }
  - { id: a, agent: Do it., check: Is it good?, next: join }
  - { id: b, agent: More., next: join }
  - { id: z, finish: over }",
    );
    let token = play.claim("a");
    let evaluated = |asked_at| {
        let answers = Some(vec![run::Answer::Yes(1.0)]);
        let evaluation = run::Evaluation { model: JUDGE.to_owned(), answers, truncated: false, asked_at };
        run::Submission { evaluation: Some(Box::new(evaluation)), ..work(json!({})) }
    };
    // It was asked about at nine. The lease ended at ten, and while the evaluator thought, the other branch wrote at eleven.
    play.clock(11).does("b", work(json!({})));
    let mut claimed = play.clone();
    let mut late = play.clone();
    let change = play.submit(&token, evaluated(minute(9))).unwrap();
    assert_eq!((change.at, play.states(&["a", "p"]).as_str()), (minute(11), "done done"), "time never goes back");
    // Whoever claimed it since has it.
    claimed.claim_by("bob", "a").unwrap();
    assert_eq!(refused(claimed.submit(&token, evaluated(minute(9)))), "stale");
    // And what was late when it was asked about is late.
    assert_eq!(refused(late.submit(&token, evaluated(minute(10)))), "stale");
}
