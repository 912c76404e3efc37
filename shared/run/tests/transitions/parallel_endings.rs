//! A branch ends the run (parallel-1): every other one ends with it, at once, also in the fork itself.

use run::Decision;
use serde_json::json;

use crate::common::*;
use crate::parallel::{crew, done, last};

/// Ends by a person's word, by a rejection, or by a time that is not there; a sibling is claimed, one escalated, one waits.
const FRONT: &str = "inputs: { on: { type: datetime, optional: true } }
steps:
  - { id: p, parallel: [claimed, escalated, ends, waits, early], next: z }
  - { id: claimed, agent: Do it., due: 1h, next: join }
  - { id: escalated, agent: Do it., next: join }
  - { id: ends, approve: Good?, person: crew, next: hold }
  - { id: hold, wait_until: inputs.on, next: join }
  - { id: waits, wait_for: go, timeout: 1h, next: join }
  - { id: early, task: Say., person: crew, next: join }
  - { id: z, finish: over }";

const ALL: [&str; 8] = ["p", "claimed", "escalated", "ends", "hold", "waits", "early", "z"];

fn under_way() -> (Play, run::Claimed) {
    let mut play = Play::start(FRONT);
    let token = play.claim("claimed");
    let token = play.renew(&token, Some("Half.")).unwrap();
    let other = play.claim("escalated");
    play.escalate(&other, "I cannot.").unwrap();
    play.decide(&crew(), "early", done(json!({}))).unwrap();
    play.send("nobody", json!({})).unwrap();
    assert_eq!(play.states(&ALL), "waiting claimed waiting waiting - waiting done -");
    (play, token)
}

#[test]
fn a_branch_that_ends_the_run_cancels_every_unfinished_step() {
    let note = || "No.".to_owned();
    let cases = [
        (Decision::Failed(note()), "ended/failed", "cancelled cancelled cancelled failed - cancelled done -", "cleo"),
        (Decision::Rejected(note()), "ended/rejected", "cancelled cancelled cancelled done - cancelled done -", "cleo"),
        (
            Decision::Approved(None),
            "ended/failed",
            "cancelled cancelled cancelled done failed cancelled done -",
            "server",
        ),
    ];
    for (decision, ended, states, by) in cases {
        let (mut play, token) = under_way();
        let (item, other) = (play.item("ends"), play.item("escalated"));
        let before = play.entries.len();
        play.decide_item(&crew(), &item, decision.clone()).unwrap();
        assert_eq!(play.entries.len(), before + 1, "one write");
        assert!(last(&play).ends_with("ended claimed+escalated+p+waits"), "{}", last(&play));
        assert_eq!((play.ended().as_str(), play.states(&ALL).as_str()), (ended, states));
        assert_eq!(play.view()["run"]["ended"]["by"], by);
        assert_eq!(play.view()["workItems"], json!([]));
        assert_eq!(play.data("early")["by"], "cleo", "what was done is kept");
        assert!(play.attempts.is_empty() && play.run.held.is_empty() && run::timers(&play.run).is_empty());
        assert_eq!(refused(play.submit(&token, work(json!({})))), "conflict: run_ended");
        assert_eq!(refused(play.renew(&token, None)), "conflict: run_ended");
        let otto = person("otto", &[OPERATORS]);
        assert_eq!(refused(play.decide_item(&otto, &other, Decision::Returned(note()))), "conflict: run_ended");
        assert!(play.clock(10_000).tick().is_empty());
    }
}

#[test]
fn an_escalated_step_of_a_branch_may_fail_the_run() {
    let (mut play, _) = under_way();
    play.decide(&person("otto", &[OPERATORS]), "escalated", Decision::Failed("Lost.".to_owned())).unwrap();
    assert_eq!(play.states(&ALL), "cancelled cancelled failed cancelled - cancelled done -");
}

#[test]
fn cancelling_cancels_every_branch() {
    let (mut play, token) = under_way();
    play.cancel().unwrap();
    assert_eq!(play.ended(), "cancelled/-");
    assert_eq!(play.states(&ALL), "cancelled cancelled cancelled cancelled - cancelled done -");
    assert_eq!(refused(play.submit(&token, work(json!({})))), "conflict: run_ended");
}

#[test]
fn an_entry_that_cannot_be_anybodys_ends_the_run_in_the_fork_itself() {
    // The entry is first, in the middle and last in the file: what its siblings read does not depend on it.
    let nobody = "{ id: n, task: Do it., person: inputs.who, next: join }";
    let agent = "{ id: a, agent: Do it., due: 1h, next: join }";
    let task = "{ id: t, task: Do it., person: crew, next: join }";
    for order in [[nobody, agent, task], [agent, nobody, task], [agent, task, nobody]] {
        let steps = order.map(|s| format!("\n  - {s}")).concat();
        let front = format!(
            "inputs: {{ who: {{ type: person, optional: true }} }}\nsteps:\n  - {{ id: s, agent: Start. }}\n  \
             - {{ id: p, parallel: [t, n, a], next: z }}{steps}\n  - {{ id: z, finish: over }}"
        );
        let mut play = Play::start(&front);
        play.does("s", work(json!({})));
        assert_eq!(play.entries.len(), 2);
        assert_eq!(play.states(&["s", "p", "n", "a", "t", "z"]), "done cancelled failed cancelled cancelled -");
        assert_eq!(play.ended(), "ended/failed");
        let view = play.view();
        assert_eq!(view["run"]["ended"]["note"], "person: inputs.who holds nobody");
        assert_eq!((&view["workItems"], &view["data"]["steps"]["n"]["by"]), (&json!([]), &json!("server")));
        assert!(view["steps"].as_array().unwrap().iter().all(|s| s.get("due").is_none()));
        assert!(run::timers(&play.run).is_empty() && play.attempts.is_empty());
        assert_eq!(refused(play.claim_by("ada", "a")), "conflict: run_ended");

        let who = json!({ "who": "will@example.com" });
        let mut play = Play::with(&front, who);
        play.does("s", work(json!({})));
        assert_eq!(play.states(&["p", "n", "a", "t"]), "waiting waiting ready waiting", "with somebody it forks");
    }
}

#[test]
fn a_step_that_a_sibling_was_about_to_make_ready_is_unfinished_too() {
    // Both waits have their events; the first leads to nobody, the second to work that then never begins.
    let front = "inputs: { who: { type: person, optional: true } }
steps:
  - { id: s, agent: Start. }
  - { id: p, parallel: [a, b], next: z }
  - { id: a, wait_for: go, next: n }
  - { id: n, approve: Good?, person: inputs.who, next: join }
  - { id: b, wait_for: go, next: w }
  - { id: w, agent: Do it., next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.send("go", json!({ "n": 1 })).unwrap();
    play.send("go", json!({ "n": 2 })).unwrap();
    play.does("s", work(json!({})));
    assert_eq!(play.states(&["p", "a", "n", "b", "w", "z"]), "cancelled done failed done cancelled -");
    assert_eq!(play.data("w"), json!(null), "it never ran");
}

#[test]
fn a_run_started_at_a_fork_may_end_there() {
    let front = "inputs: { on: { type: datetime, optional: true } }
steps:
  - { id: p, parallel: [a, b], next: z }
  - { id: a, wait_until: inputs.on, next: join }
  - { id: b, agent: Do it., next: join }
  - { id: z, finish: over }";
    let play = Play::start(front);
    assert_eq!(
        (play.states(&["p", "a", "b", "z"]).as_str(), &*play.ended()),
        ("cancelled failed cancelled -", "ended/failed")
    );
    assert_eq!(last(&play), "started, forked p, failed a, ended p+b");
}
