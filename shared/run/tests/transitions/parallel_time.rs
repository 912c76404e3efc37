//! Time and events in several branches: clocks of their own, applied in the order of time; events shared out in order.

use run::{Command, Event, catch_up, snapshot};
use serde_json::json;

use crate::common::*;
use crate::parallel::{crew, done, last, names};

#[test]
fn timers_of_several_branches_elapse_in_one_write_in_the_order_of_time() {
    let front = "steps:
  - { id: p, parallel: [a1, b1, c], next: w }
  - { id: a1, wait: 30m, next: a2 }
  - { id: a2, wait: 30m, next: join }
  - { id: b1, wait: 45m, next: b2 }
  - { id: b2, wait_for: never, timeout: 30m, on_timeout: join, next: join }
  - { id: c, wait: 10m, next: join }
  - { id: w, wait: 5m }
  - { id: e, agent: Do it., due: 20m }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.clock(200);
    let change = play.tick();
    assert_eq!(
        last(&play),
        "completed c, arrived c, completed a1, waiting a2, completed b1, waiting b2, completed a2, arrived a1, \
         completed b2, arrived b1, joined p, waiting w, completed w, ready e, overdue e"
    );
    assert_eq!(change.at, minute(200));
    for (step, when) in [("c", 10), ("a1", 30), ("b1", 45), ("a2", 60), ("b2", 75), ("w", 80)] {
        assert_eq!(play.data(step), json!({ "by": "server", "at": at(when), "history": [] }), "{step}");
    }
    assert_eq!(play.shown("e")["due"], at(100));
    assert!(play.tick().is_empty(), "firing twice is harmless");
}

#[test]
fn several_branches_are_overdue_at_one_instant() {
    let front = "steps:
  - { id: p, parallel: [c, a, b, d], next: z }
  - { id: a, agent: A., due: 1h, next: join }
  - { id: b, task: B., person: crew, due: 1h, next: join }
  - { id: c, approve: C?, person: crew, due: 1h, next: join }
  - { id: d, wait: 1h, next: d2 }
  - { id: d2, agent: D., due: 0m, next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let token = play.claim("a");
    let escalate = play.escalate(&token, "I cannot.").unwrap();
    assert_eq!(escalate.events.len(), 1);
    play.clock(60).tick();
    assert_eq!(last(&play), "overdue a, overdue b, overdue c, completed d, ready d2, overdue d2");
    for event in play.entries.last().unwrap().events.iter() {
        let (Event::Overdue { at, .. } | Event::Ready { at, .. }) = event else { continue };
        assert_eq!(*at, minute(60));
    }
    for step in ["a", "b", "c", "d2"] {
        let shown = play.shown(step);
        assert_eq!((&shown["due"], &shown["overdue"]), (&json!(at(60)), &json!(true)), "{step}");
    }
    play.decide(&crew(), "b", done(json!({}))).expect("the work stays open");
}

#[test]
fn waits_that_end_at_one_instant_go_on_in_the_order_of_the_file() {
    let front = "steps:
  - { id: p, parallel: [a, z9], next: z }
  - { id: z9, wait: 1h, next: z8 }
  - { id: z8, wait_for: go, next: join }
  - { id: a, wait: 1h, next: b }
  - { id: b, wait_for: go, next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.send("go", json!({ "n": 1 })).unwrap();
    play.send("go", json!({ "n": 2 })).unwrap();
    play.clock(60).tick();
    assert_eq!((&play.data("z8")["output"], &play.data("b")["output"]), (&json!({ "n": 1 }), &json!({ "n": 2 })));
    assert_eq!(play.ended(), "ended/over", "and in one write both join");
    assert_eq!(play.entries.len(), 4);
}

#[test]
fn an_event_goes_to_the_wait_that_has_been_ready_longest_then_to_the_first_in_the_file() {
    let front = "steps:
  - { id: p, parallel: [c, a, b1], next: z }
  - { id: b1, wait: 10m, next: b2 }
  - { id: b2, wait_for: go, next: join }
  - { id: a, wait_for: go, next: join }
  - { id: c, wait_for: go, next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.clock(20);
    let consumed: Vec<_> = (0..3).map(|n| play.send("go", json!({ "n": n })).unwrap().unwrap()).collect();
    assert_eq!(consumed, ["a", "c", "b2"], "each delivery satisfies one wait");
    assert_eq!(play.ended(), "ended/over");
    assert_eq!(play.data("b2"), json!({ "output": { "n": 2 }, "by": "gate", "at": at(20), "history": [] }));
}

#[test]
fn held_events_are_shared_out_among_entries_in_the_order_of_the_file() {
    let front = "steps:
  - { id: s, agent: Start. }
  - { id: p, parallel: [c, b, a], next: z }
  - { id: a, wait_for: go, timeout: 0m, on_timeout: late, next: join }
  - { id: b, wait_for: go, next: join }
  - { id: c, wait_for: go, next: join }
  - { id: late, agent: Look., next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    for n in 1..=2 {
        assert_eq!(play.send("go", json!({ "n": n })).unwrap(), None);
    }
    play.does("s", work(json!({})));
    assert_eq!(play.states(&["p", "a", "b", "c"]), "waiting done done waiting");
    assert_eq!((&play.data("a")["output"], &play.data("b")["output"]), (&json!({ "n": 1 }), &json!({ "n": 2 })));
    assert_eq!(play.send("go", json!({})).unwrap().as_deref(), Some("c"));
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn fork_and_join_may_be_one_write() {
    let front = "steps:
  - { id: s, agent: Start. }
  - { id: p, parallel: [a1, b], next: e }
  - { id: a1, wait_for: go, next: a2 }
  - { id: a2, wait_for: go, next: join }
  - { id: b, wait_for: stop, next: join }
  - { id: e, task: End it., person: crew }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    for name in ["go", "stop", "go", "go"] {
        play.send(name, json!({})).unwrap();
    }
    play.does("s", work(json!({})));
    assert_eq!(
        last(&play),
        "completed s, forked p, waiting a1, consumed a1, completed a1, waiting b, consumed b, completed b, waiting a2, \
         consumed a2, completed a2, arrived b, arrived a1, joined p, assigned e"
    );
    assert_eq!(play.states(&["s", "p", "a1", "a2", "b", "e"]), "done done done done done waiting");
    assert_eq!(play.run.held.len(), 1);

    let start = "steps:\n  - { id: p, parallel: [a, b], next: z }\n  - { id: a, wait: 0m, next: join }\n  \
                 - { id: b, wait: 0d, next: join }\n  - { id: z, finish: over }";
    let play = Play::start(start);
    assert_eq!((play.ended().as_str(), play.entries.len()), ("ended/over", 1), "in the very start");
    assert_eq!(
        names(&play.entries[0]),
        "started, forked p, waiting a, waiting b, completed a, arrived a, completed b, arrived b, joined p, reached z, \
         ended"
    );
}

#[test]
fn a_run_is_shown_as_the_next_write_will_find_it() {
    let front = "steps:
  - { id: p, parallel: [a1, b], next: z }
  - { id: a1, wait: 30m, next: a2 }
  - { id: a2, task: Look., person: crew, due: 1h, next: join }
  - { id: b, approve: Good?, person: crew, next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let stored = play.run.clone();
    play.clock(50);
    let (shown, attempts) =
        catch_up(play.world.context(), play.run.clone(), play.attempts.clone(), play.clock).unwrap();
    assert_eq!((&play.run, attempts), (&stored, play.attempts.clone()), "nothing is committed");
    assert_eq!((shown.updated_at, shown.rev), (minute(30), stored.rev), "when the last thing happened");
    assert_eq!(shown.state(), run::RunState::Waiting);
    assert_ne!(snapshot(&shown), snapshot(&stored), "a sibling's wait is run data");

    let decide = |play: &mut Play, item: &str, seen: &run::Run, decision| {
        play.act(&crew(), &Command::Decide { item: item.to_owned(), snapshot: snapshot(seen), decision })
    };
    let item = |run: &run::Run, step: &str| run.step(step).unwrap().item.clone().unwrap().id;
    let approved = run::Decision::Approved(None);
    let mut behind = play.clone();
    assert_eq!(refused(decide(&mut behind, &item(&stored, "b"), &stored, approved.clone())), "stale");
    // The item that exists nowhere yet, with the snapshot that nobody stored: a moment later, no timer has fired.
    play.clock(55);
    decide(&mut play, &item(&shown, "a2"), &shown, done(json!({}))).unwrap();
    assert_eq!(last(&play), "completed a1, assigned a2, completed a2, arrived a1");
    assert_eq!(item(&play.run, "b"), item(&shown, "b"));

    let (again, _) = catch_up(play.world.context(), play.run.clone(), play.attempts.clone(), play.clock).unwrap();
    assert_eq!(again, play.run, "when nothing is due, what is stored is what is shown");
    decide(&mut play, &item(&again, "b"), &again, approved).unwrap();
    play.clock(9_000);
    let (over, attempts) = catch_up(play.world.context(), play.run.clone(), play.attempts.clone(), play.clock).unwrap();
    assert_eq!((over, attempts.len()), (play.run.clone(), 0));
}

#[test]
fn a_run_that_a_branch_ends_while_nobody_looks_is_shown_without_its_claims() {
    let front = "inputs: { on: { type: datetime, optional: true } }
steps:
  - { id: p, parallel: [a1, b], next: z }
  - { id: a1, wait: 5m, next: a2 }
  - { id: a2, wait_until: inputs.on, next: join }
  - { id: b, agent: Do it., due: 1h, next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let token = play.claim("b");
    let token = play.renew(&token, Some("Half.")).unwrap();
    play.clock(6);
    let (shown, attempts) =
        catch_up(play.world.context(), play.run.clone(), play.attempts.clone(), play.clock).unwrap();
    assert!(shown.ended.as_ref().is_some_and(|e| e.at == minute(5)) && attempts.is_empty());
    assert_eq!(refused(play.submit(&token, work(json!({})))), "conflict: run_ended");
    play.tick();
    assert_eq!(play.run.steps, shown.steps);
    assert_eq!(play.states(&["p", "a1", "a2", "b"]), "cancelled done failed cancelled");
}
