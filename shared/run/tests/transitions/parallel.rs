//! Fork and join (parallel-1): several steps open at once, each on its own, and one way on when all have arrived.

use run::{Command, Decision, Event, Mode, ShownStatus, StepInfo};
use serde_json::{Value, json};

use crate::common::*;

pub fn crew() -> run::Actor {
    person("cleo", &["g_crew"])
}

pub fn done(output: Value) -> Decision {
    Decision::Completed(work(output))
}

/// The names of an entry's events, with the step each is about.
pub fn names(entry: &run::Entry) -> String {
    let name = |event: &Event| {
        let value = serde_json::to_value(event).unwrap();
        let (kind, fields) = value.as_object().unwrap().iter().next().unwrap();
        let step = fields["entry"].as_str().or_else(|| fields["step"].as_str());
        let of = step.map(str::to_owned).unwrap_or_else(|| {
            let list = fields.get("steps").or_else(|| fields.get("cancelled")).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join("+")
        });
        format!("{kind} {of}").trim().to_owned()
    };
    entry.events.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// What the last write did.
pub fn last(play: &Play) -> String {
    names(play.entries.last().unwrap())
}

pub const FRONT: &str = "steps:
  - { id: a, agent: Begin., output: { n: number } }
  - { id: p, parallel: [b1, c, d], next: sign }
  - { id: b1, agent: Draw., output: { n: number }, due: 1h, next: b2 }
  - { id: b2, approve: Good?, person: crew, on_reject: b1, due: 2h, next: join }
  - { id: c, task: Count., person: crew, output: { n: number }, due: 30m, next: join }
  - { id: d, wait_for: go, next: join }
  - { id: sign, approve: All good?, person: crew, on_reject: p, next: z }
  - { id: z, finish: over }";

pub const ALL: [&str; 8] = ["a", "p", "b1", "b2", "c", "d", "sign", "z"];

/// At minute 10 the run has forked.
pub fn forked(front: &str) -> Play {
    let mut play = Play::start(front);
    play.clock(10).does("a", work(json!({ "n": 0 })));
    play
}

/// The branch that begins so runs to its join.
fn finish_branch(play: &mut Play, entry: char) {
    match entry {
        'b' => {
            play.does("b1", work(json!({ "n": 1 })));
            play.decide(&crew(), "b2", Decision::Approved(None)).unwrap();
        }
        'c' => drop(play.decide(&crew(), "c", done(json!({ "n": 2 }))).unwrap()),
        _ => assert_eq!(play.send("go", json!({ "n": 3 })).unwrap().as_deref(), Some("d")),
    }
}

#[test]
fn a_fork_makes_every_entry_ready_in_one_write() {
    let play = forked(FRONT);
    assert_eq!(last(&play), "completed a, forked p, ready b1, assigned c, waiting d");
    assert_eq!(play.entries.len(), 2, "the start, and that one write");
    assert_eq!(play.states(&ALL), "done waiting ready - waiting waiting - -");
    assert_eq!(play.ended(), "active/-");
    assert_eq!(play.shown("p"), json!({ "id": "p", "kind": "parallel", "state": "waiting" }));
    for (step, due) in [("b1", 70), ("c", 40)] {
        let shown = play.shown(step);
        assert_eq!((&shown["due"], &shown["overdue"]), (&json!(at(due)), &json!(false)), "a clock of its own");
    }
    for step in ["p", "b1", "c", "d"] {
        assert_eq!(play.run.step(step).unwrap().ready_since, Some(minute(10)), "{step}");
    }
    assert_eq!(play.data("p"), json!(null));
    let items = play.view()["workItems"].as_array().unwrap().clone();
    assert_eq!(items.iter().map(|i| i["stepId"].as_str().unwrap()).collect::<Vec<_>>(), ["c"]);
}

#[test]
fn a_run_is_active_while_any_branch_is_ready_or_claimed() {
    let mut play = forked(FRONT);
    play.claim("b1");
    assert_eq!(play.states(&["p", "b1", "c"]), "waiting claimed waiting");
    assert_eq!(play.ended(), "active/-");
    play.clock(700);
    assert_eq!(play.states(&["b1"]), "ready", "the lease has ended");
    finish_branch(&mut play, 'c');
    assert_eq!(play.ended(), "active/-");
    play.does("b1", work(json!({ "n": 1 })));
    assert_eq!(play.ended(), "waiting/-", "only people and events are awaited");
}

#[test]
fn an_early_branch_waits_with_its_output_in_run_data() {
    let mut play = forked(FRONT);
    finish_branch(&mut play, 'c');
    assert_eq!(last(&play), "completed c, arrived c");
    assert_eq!(play.states(&ALL), "done waiting ready - done waiting - -");
    assert_eq!(play.data("c")["output"], json!({ "n": 2 }));
    let token = play.claim("b1");
    finish_branch(&mut play, 'd');
    assert_eq!(play.states(&ALL), "done waiting claimed - done done - -");
    play.submit(&token, work(json!({ "n": 1 }))).unwrap();
    assert_eq!(last(&play), "completed b1, assigned b2", "the end of a step is not the end of its branch");
    assert_eq!(play.states(&ALL), "done waiting done waiting done done - -");
}

#[test]
fn the_last_branch_joins_in_its_own_write_whichever_it_is() {
    for order in ["bcd", "bdc", "cbd", "cdb", "dbc", "dcb"] {
        let mut play = forked(FRONT);
        for (n, branch) in order.chars().enumerate() {
            assert_eq!(play.states(&["p", "sign"]), "waiting -", "{order} before branch {n}");
            play.clock(20 + i64::try_from(n).unwrap());
            finish_branch(&mut play, branch);
        }
        let own = match order.chars().last() {
            Some('b') => "completed b2, arrived b1",
            Some('c') => "completed c, arrived c",
            _ => "consumed d, completed d, arrived d",
        };
        assert_eq!(last(&play), format!("{own}, joined p, assigned sign"), "{order}");
        assert_eq!(play.states(&ALL), "done done done done done done waiting -", "{order}");
        assert_eq!(play.run.step("sign").unwrap().ready_since, Some(minute(22)));
        assert_eq!(play.shown("p"), json!({ "id": "p", "kind": "parallel", "state": "done" }));
        assert_eq!(play.data("p"), json!(null), "a parallel step records nothing");
        play.decide(&crew(), "sign", Decision::Approved(None)).unwrap();
        assert_eq!(play.ended(), "ended/over");
        assert_eq!(play.states(&ALL), "done done done done done done done done");
    }
}

#[test]
fn branches_are_worked_by_different_agents_at_once() {
    let front = "steps:
  - { id: p, parallel: [one, two], next: z }
  - { id: one, agent: One., next: join }
  - { id: two, agent: Two., next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    assert_eq!(last(&play), "started, forked p, ready one, ready two", "a fork may be the first thing that happens");
    let one = play.claim_by("ada", "one").unwrap();
    let two = play.claim_by("bob", "two").unwrap();
    assert_eq!(refused(play.claim_by("bob", "one")), "conflict: claimed_by_other");
    let one = play.renew(&one, Some("Half.")).unwrap();
    play.submit(&two, work(json!({}))).unwrap();
    assert_eq!(refused(play.submit(&two, work(json!({})))), "stale");
    play.submit(&one, work(json!({}))).expect("a sibling's completion takes nobody's claim away");
    assert_eq!(last(&play), "completed one, arrived one, joined p, reached z, ended", "and nothing is cancelled");
    assert_eq!(
        (play.states(&["p", "one", "two", "z"]).as_str(), &*play.ended()),
        ("done done done done", "ended/over")
    );
}

#[test]
fn an_escalation_is_its_branchs_own() {
    let mut play = forked(FRONT);
    let token = play.claim("b1");
    play.escalate(&token, "I cannot.").unwrap();
    assert_eq!(play.states(&ALL), "done waiting waiting - waiting waiting - -");
    assert_eq!(play.ended(), "waiting/-");
    let ids = (play.item("b1"), play.item("c"));
    assert_ne!(ids.0, ids.1);
    finish_branch(&mut play, 'c');
    assert_eq!(play.item("b1"), ids.0);
    let otto = person("otto", &[OPERATORS]);
    assert_eq!(refused(play.decide(&crew(), "b1", Decision::Returned("Try.".to_owned()))), "forbidden");
    play.decide(&otto, "b1", Decision::Returned("Try.".to_owned())).unwrap();
    assert_eq!(play.states(&ALL), "done waiting ready - done waiting - -");
    assert_eq!(play.shown("b1")["due"], at(70), "the same attempt");
    finish_branch(&mut play, 'b');
    finish_branch(&mut play, 'd');
    assert_eq!(play.states(&["p", "sign"]), "done waiting");
}

#[test]
fn a_siblings_completion_makes_an_open_decision_stale() {
    let mut play = forked(FRONT);
    let item = play.item("c");
    let seen = run::snapshot(&play.run);
    let decide = |seen: &str| Command::Decide {
        item: item.clone(),
        snapshot: seen.to_owned(),
        decision: done(json!({ "n": 2 })),
    };
    play.claim("b1");
    assert_eq!(run::snapshot(&play.run), seen, "a claim is not data");
    play.does_claimed("b1", work(json!({ "n": 1 })));
    assert_eq!(refused(play.act(&crew(), &decide(&seen))), "stale");
    let seen = run::snapshot(&play.run);
    play.send("other", json!({})).unwrap();
    play.act(&crew(), &decide(&seen)).expect("an event that is held is not data either");
    assert_eq!(
        refused(play.act(&crew(), &decide(&seen))),
        "conflict: already_decided",
        "before the snapshot is looked at"
    );
}

#[test]
fn a_route_and_a_timeout_may_lead_to_the_join() {
    let front = "steps:
  - { id: p, parallel: [a1, b], next: z }
  - { id: a1, agent: Choose., next: [a2, { to: join, when: Nothing is to be done }] }
  - { id: a2, task: Do it., person: crew, next: join }
  - { id: b, wait_for: go, timeout: 1h, on_timeout: join, next: b2 }
  - { id: b2, agent: Answer., next: join }
  - { id: z, agent: End it., next: y }
  - { id: y, finish: over }";
    let all = ["p", "a1", "a2", "b", "b2", "z"];
    let mut play = Play::start(front);
    let token = play.claim("a1");
    assert_eq!(
        refused(play.submit(&token, routed(json!({}), "z"))),
        "not_accepted: next: expected one of a2, join",
        "a branch is not left but by its join"
    );
    play.submit(&token, routed(json!({}), "join")).unwrap();
    assert_eq!(last(&play), "completed a1, arrived a1");
    assert_eq!(play.data("a1")["next"], "join");
    assert_eq!(play.states(&all), "waiting done - waiting - -");
    play.clock(61).tick();
    assert_eq!(last(&play), "completed b, arrived b, joined p, ready z");
    assert_eq!(play.states(&all), "done done - done - ready");
    assert_eq!(play.run.step("z").unwrap().ready_since, Some(minute(60)), "as of the time of the last arrival");

    let mut play = Play::start(front);
    play.does("a1", routed(json!({}), "a2"));
    play.send("go", json!({})).unwrap();
    play.does("b2", work(json!({})));
    assert_eq!(play.states(&all), "waiting done waiting done done -");
    play.decide(&crew(), "a2", done(json!({}))).unwrap();
    assert_eq!(play.states(&all), "done done done done done ready");
}

#[test]
fn regions_follow_each_other_and_each_joins_by_itself() {
    let front = "steps:
  - { id: p, parallel: [a, b], next: q }
  - { id: a, agent: A., next: join }
  - { id: b, agent: B., next: join }
  - { id: q, parallel: [d, c], next: z }
  - { id: c, agent: C., next: join }
  - { id: d, agent: D., next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("b", work(json!({}))).does("a", work(json!({})));
    assert_eq!(last(&play), "completed a, arrived a, joined p, forked q, ready c, ready d", "in the order of the file");
    play.does("d", work(json!({}))).does("c", work(json!({})));
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn a_parallel_step_is_nobodys_work() {
    let mut play = forked(FRONT);
    assert_eq!(refused(play.claim_by("ada", "p")), "forbidden");
    assert_eq!(refused(play.claim_by("ada", "join")), "not_found", "a word, not a step");
    assert!(play.view()["workItems"].as_array().unwrap().iter().all(|i| i["stepId"] != "p"));
    let shown = StepInfo {
        id: "p".into(),
        kind: "parallel".into(),
        state: Some(ShownStatus::Waiting),
        due: None,
        overdue: None,
    };
    assert_eq!(play.shown("p"), serde_json::to_value(shown).unwrap());
}

#[test]
fn without_a_parallel_step_join_is_a_step_like_any_other() {
    let front = "steps:
  - { id: a, agent: A., next: join }
  - { id: join, wait_for: go, timeout: 1h, on_timeout: z }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", work(json!({})));
    assert_eq!(last(&play), "completed a, waiting join");
    play.clock(60).tick();
    assert_eq!(last(&play), "completed join, reached z, ended");
}

#[test]
fn a_test_run_forks_like_a_live_one() {
    let world = World::new(document(FRONT));
    let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Test).unwrap();
    play.does("a", work(json!({ "n": 0 })));
    assert!(play.view()["workItems"].as_array().unwrap().iter().all(|i| i["mode"] == "test"));
}
