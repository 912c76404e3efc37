//! Time and events: waits, timeouts, due times, held events, and catching up in the order of time.

use run::{Command, Decision, Limits, Mode, Timer, timers};
use serde_json::json;

use crate::common::*;

#[test]
fn a_late_tick_applies_what_was_due_at_its_own_time() {
    let front = "steps:
  - { id: a, wait: 30m }
  - { id: b, wait_for: go, timeout: 30m, on_timeout: d }
  - { id: c, wait: 1d }
  - { id: d, wait: 1h }
  - { id: e, agent: Do it., due: 2h }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    assert_eq!(timers(&play.run), [(minute(30), Timer::Continue("a".to_owned()))]);
    assert!(play.tick().is_empty(), "nothing is due");
    play.clock(600);
    let change = play.tick();
    assert_eq!(play.states(&["a", "b", "c", "d", "e"]), "done done - done ready");
    for (step, when) in [("a", 30), ("b", 60), ("d", 120)] {
        assert_eq!(play.data(step), json!({ "by": "server", "at": at(when), "history": [] }), "{step}");
    }
    assert_eq!(play.run.step("e").unwrap().ready_since, Some(minute(120)));
    assert_eq!(
        play.shown("e"),
        json!({ "id": "e", "kind": "agent", "state": "ready", "due": at(240), "overdue": true })
    );
    assert_eq!(change.at, minute(600));
    assert!(play.tick().is_empty(), "firing twice is harmless");
    assert_eq!(timers(&play.run), []);
}

#[test]
fn a_late_event_loses_against_an_elapsed_timeout() {
    let front = "steps:
  - { id: a, wait_for: go, timeout: 30m, on_timeout: late }
  - { id: good, finish: good }
  - { id: late, task: Look., person: crew }
  - { id: z, finish: late }";
    let mut play = Play::start(front);
    play.clock(30);
    assert_eq!(play.send("go", json!({})).unwrap(), None, "it is held");
    assert_eq!(play.states(&["a", "good", "late"]), "done - waiting");
    assert_eq!(play.data("a"), json!({ "by": "server", "at": at(30), "history": [] }));

    let mut play = Play::start(front);
    play.clock(29);
    assert_eq!(play.send("go", json!({ "x": 1 })).unwrap().as_deref(), Some("a"));
    assert_eq!(play.ended(), "ended/good");
    assert_eq!(play.data("a"), json!({ "output": { "x": 1 }, "by": "gate", "at": at(29), "history": [] }));
}

#[test]
fn held_events_are_consumed_oldest_first_when_their_wait_is_ready() {
    let front = "steps:
  - { id: a, agent: Do it. }
  - { id: b, wait_for: go, timeout: 0m, on_timeout: y }
  - { id: c, wait_for: go }
  - { id: z, finish: over }
  - { id: y, finish: timed out }";
    let mut play = Play::start(front);
    for (name, n) in [("go", 1), ("other", 2), ("go", 3), ("go", 4)] {
        assert_eq!(play.send(name, json!({ "n": n })).unwrap(), None);
    }
    assert_eq!(play.run.held.len(), 4);
    play.clock(5);
    play.does("a", work(json!({})));
    assert_eq!(play.ended(), "ended/over", "the timeout never starts");
    assert_eq!(play.data("b"), json!({ "output": { "n": 1 }, "by": "gate", "at": at(5), "history": [] }));
    assert_eq!(play.data("c")["output"], json!({ "n": 3 }));
    assert!(play.run.held.is_empty(), "what nobody took is discarded");
}

#[test]
fn a_surplus_event_serves_a_reworked_wait() {
    let front = "steps:
  - { id: a, wait_for: go }
  - { id: b, approve: Good?, person: crew, on_reject: a }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    assert_eq!(play.send("go", json!({ "n": 1 })).unwrap().as_deref(), Some("a"));
    play.send("go", json!({ "n": 2 })).unwrap();
    let cleo = person("cleo", &["g_crew"]);
    play.decide(&cleo, "b", Decision::Rejected("Other.".to_owned())).unwrap();
    assert_eq!(play.states(&["a", "b"]), "done waiting");
    let a = play.data("a");
    assert_eq!((&a["output"], &a["history"][0]["output"]), (&json!({ "n": 2 }), &json!({ "n": 1 })));
    play.decide(&cleo, "b", Decision::Rejected("Other.".to_owned())).unwrap();
    assert_eq!(play.states(&["a", "b"]), "waiting -", "there is no third");
}

#[test]
fn who_may_send_what() {
    let front = "steps:\n  - { id: a, wait_for: go }\n  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let send = |name: &str| Command::SendEvent { name: name.to_owned(), data: object(json!({})) };
    assert_eq!(refused(play.act(&person("mira", &[]), &send("go"))), "forbidden");
    for bad in ["", "Go", "1go", "go!", &"g".repeat(65)] {
        assert!(refused(play.act(&agent("ada"), &send(bad))).starts_with("invalid: name:"), "{bad}");
    }
    assert_eq!(play.send("unknown", json!({})).unwrap(), None, "a name nobody waits for is held");
    play.act(&operator(), &send("go")).unwrap();
    assert_eq!(play.data("a"), json!({ "output": {}, "by": "olga", "at": at(0), "history": [] }));
    assert_eq!(refused(play.send("go", json!({}))), "conflict: run_ended");
}

#[test]
fn held_events_and_run_data_share_one_size() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: b, wait_for: go }\n  - { id: z, finish: over }";
    let mut world = World::new(document(front));
    world.limits = Limits { run_data_bytes: 200, ..Limits::default() };
    let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap();
    let data = json!({ "x": "0123456789" });
    let mut held = 0;
    while play.send("go", data.clone()).is_ok() {
        held += 1;
    }
    let own = "go".len() + "gate".len() + data.to_string().len();
    let bytes = run::data_bytes(&play.run) + (held + 1) * own;
    assert!(held > 2 && bytes > 200 && bytes - own <= 200);
    assert_eq!(refused(play.send("go", data)), format!("invalid: data: {bytes} bytes, at most 200"));
    play.send("go", json!({})).expect("a small one still fits");
}

#[test]
fn wait_until_reads_every_datetime_and_fails_without_one() {
    let front = "inputs: { on: { type: datetime, optional: true } }\nsteps:\n  - { id: a, agent: Do it. }\n  \
                 - { id: b, wait_until: inputs.on }\n  - { id: z, finish: over }";
    let cases = [
        (json!({ "on": "2026-10-06T12:00:00+02:00" }), "waiting/-", Some(minute(60))),
        (json!({ "on": "2026-10-06T09:00:00.999Z" }), "ended/over", None),
        (json!({ "on": "0001-01-01T00:00:00Z" }), "ended/over", None),
        (json!({ "on": "9999-12-31T23:59:59Z" }), "waiting/-", run::Time::parse("9999-12-31T23:59:59Z")),
        (json!({}), "ended/failed", None),
    ];
    for (inputs, ended, timer) in cases {
        let mut play = Play::with(front, inputs.clone());
        play.clock(1);
        play.does("a", work(json!({})));
        assert_eq!(play.ended(), ended, "{inputs}");
        assert_eq!(timers(&play.run).first().map(|(at, _)| *at), timer, "{inputs}");
    }
    let mut play = Play::with(front, json!({ "on": "2020-01-01T00:00:00Z" }));
    play.clock(1);
    play.does("a", work(json!({})));
    assert_eq!(play.data("b"), json!({ "by": "server", "at": at(1), "history": [] }), "when it was reached");
    let mut play = Play::with(front, json!({}));
    play.does("a", work(json!({})));
    assert_eq!(play.states(&["a", "b", "z"]), "done failed -");
    assert_eq!(play.data("b")["note"], "wait_until: inputs.on holds no datetime");
    assert_eq!(play.view()["run"]["ended"]["by"], "server");
}

#[test]
fn a_timer_fires_at_its_very_instant() {
    let mut play = Play::start("steps:\n  - { id: a, wait: 10m }\n  - { id: z, finish: over }");
    play.clock = run::Time::from_millis(minute(10).millis() - 1);
    assert!(play.tick().is_empty());
    play.clock(10);
    play.tick();
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "server", "at": at(10), "note": null }));
    assert!(play.tick().is_empty(), "on an ended run it is a no-op");
}

#[test]
fn a_write_on_a_run_that_time_has_ended_is_refused() {
    let mut play = Play::start("steps:\n  - { id: a, wait: 10m }\n  - { id: z, finish: over }");
    play.clock(11);
    assert_eq!(refused(play.cancel()), "conflict: run_ended");
    assert_eq!(play.ended(), "waiting/-", "a refusal writes nothing; the timer will");
}

#[test]
fn a_long_row_of_waits_passes_in_one_write() {
    // As many steps as a process may have: neither the stack nor the bound on transitions is in the way.
    let row = |kind: &str| {
        let steps: String = (0..199).map(|n| format!("\n  - {{ id: s{n}, {kind} }}")).collect();
        format!("steps:\n  - {{ id: a, agent: Do it. }}{steps}\n  - {{ id: z, finish: over }}")
    };
    let mut play = Play::start(&row("wait: 1m"));
    play.does("a", work(json!({})));
    play.clock(1000).tick();
    assert_eq!(play.view()["run"]["ended"]["at"], at(199));

    let mut play = Play::start(&row("wait_for: go"));
    for n in 1..=199 {
        let held = run::HeldEvent { number: n, name: "go".to_owned(), data: object(json!({})), by: "gate".to_owned() };
        play.run.held.push(held);
    }
    let token = run::Claimed { step: "a".into(), attempt: 1, lease: 1, subject: "ada".into() };
    play.claim("a");
    let command = Command::Submit { token, submission: work(json!({})) };
    let change =
        run::decide(play.world.context(), &play.run, &play.attempts, &agent("ada"), &command, play.clock).unwrap();
    assert!(change.run.ended.is_some());
}
