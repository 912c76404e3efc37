//! How runs end, and what is left of them: nothing that can change.

use run::{Command, Decision, Reply};
use serde_json::json;

use crate::common::*;

const FRONT: &str = "steps:
  - { id: a, agent: Do it., due: 1h }
  - { id: b, task: Look., person: crew, due: 1h }
  - { id: c, wait_for: go, timeout: 1h }
  - { id: z, finish: over }";

const ALL: [&str; 4] = ["a", "b", "c", "z"];

fn reach(step: &str) -> Play {
    let mut play = Play::start(FRONT);
    if step != "a" {
        play.does("a", work(json!({})));
    }
    if step == "c" {
        play.decide(&person("cleo", &["g_crew"]), "b", Decision::Completed(Default::default())).unwrap();
    }
    play
}

#[test]
fn cancelling_cancels_what_is_open_and_nothing_else() {
    for (step, states) in [("a", "cancelled - - -"), ("b", "done cancelled - -"), ("c", "done done cancelled -")] {
        let mut play = reach(step);
        play.send("other", json!({})).unwrap();
        play.clock(9);
        play.cancel().unwrap();
        assert_eq!((play.states(&ALL).as_str(), play.ended().as_str()), (states, "cancelled/-"));
        let view = play.view();
        assert_eq!(view["run"]["ended"], json!({ "by": "olga", "at": at(9), "note": "Not needed." }));
        assert_eq!(view["workItems"], json!([]));
        assert!(view["steps"].as_array().unwrap().iter().all(|s| s.get("due").is_none()));
        assert!(play.run.held.is_empty() && run::timers(&play.run).is_empty());
        assert_eq!(refused(play.cancel()), "conflict: run_ended");
    }
}

#[test]
fn cancelling_is_for_operators_people_or_machines_and_needs_a_reason() {
    let mut play = reach("a");
    let cancel = |reason: &str| Command::Cancel { reason: reason.to_owned() };
    for actor in [agent("ada"), person("mira", &[]), person("otto", &[OPERATORS])] {
        assert_eq!(refused(play.act(&actor, &cancel("No."))), "forbidden");
    }
    assert_eq!(refused(play.act(&operator(), &cancel(" "))), "invalid: reason: missing");
    let pipeline = run::Actor { operator: true, ..agent("pipeline") };
    play.act(&pipeline, &cancel("No.")).unwrap();
    assert_eq!(play.view()["run"]["ended"]["by"], "pipeline");
}

#[test]
fn a_claim_ends_with_the_run() {
    let mut play = reach("a");
    let token = play.claim("a");
    let token = play.renew(&token, Some("Half.")).unwrap();
    let change = play.cancel().unwrap();
    assert_eq!(change.attempts["a"], None);
    assert!(play.attempts.is_empty());
    assert_eq!(refused(play.submit(&token, work(json!({})))), "conflict: run_ended");
}

#[test]
fn an_ended_run_refuses_every_write_before_anything_else() {
    for step in ["a", "c"] {
        let mut play = reach(step);
        match step {
            "a" => drop(play.cancel().unwrap()),
            _ => assert_eq!(play.send("go", json!({})).unwrap().as_deref(), Some("c")),
        }
        let before = play.clone();
        play.clock(100_000);
        let token = run::Claimed { step: "a".into(), attempt: 9, lease: 9, subject: "x".into() };
        let nobody = person("nobody", &[]);
        for command in [
            Command::Claim { step: "nowhere".to_owned() },
            Command::Renew { token: token.clone(), progress: None },
            Command::Submit { token: token.clone(), submission: work(json!({})) },
            Command::Escalate { token, note: "Help.".to_owned() },
            Command::Decide { item: "w_9_9".into(), snapshot: "x".into(), decision: Decision::Approved(None) },
            Command::Cancel { reason: "Again.".to_owned() },
            Command::SendEvent { name: "BAD".to_owned(), data: object(json!({})) },
        ] {
            assert_eq!(refused(play.act(&nobody, &command)), "conflict: run_ended", "{command:?}");
        }
        let change = play.tick();
        assert!(change.is_empty() && change.reply == Reply::View);
        assert_eq!((&play.run, &play.entries), (&before.run, &before.entries));
    }
}

#[test]
fn a_finish_ends_the_run_as_the_server() {
    let mut play = reach("c");
    play.clock(12);
    play.send("go", json!({})).unwrap();
    assert_eq!((play.states(&ALL).as_str(), play.ended().as_str()), ("done done done done", "ended/over"));
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "server", "at": at(12), "note": null }));
    assert_eq!(play.data("z"), json!(null));
    assert_eq!(play.view()["run"]["updatedAt"], at(12));
}

#[test]
fn a_journal_that_does_not_fit_is_not_folded() {
    let play = reach("c");
    let [first, second, third] = &play.entries[..] else { panic!("three entries") };
    assert!(run::fold([]).unwrap().is_none());
    assert_eq!(run::fold([first, third]).unwrap_err().rev, 3, "one is missing");
    assert_eq!(run::fold([second]).unwrap_err().rev, 2, "the first is missing");
    let newer = run::Entry { v: run::ENTRY_VERSION + 1, ..second.clone() };
    assert!(run::fold([first, &newer]).unwrap_err().why.contains("newer"));
    let twice = run::Entry { rev: 2, ..first.clone() };
    assert!(run::fold([first, &twice]).unwrap_err().why.contains("second time"));
    let empty = run::Entry { events: Vec::new(), ..first.clone() };
    assert!(run::fold([&empty]).is_err());
    let other = run::Entry { rev: 1, ..second.clone() };
    assert!(run::fold([&other]).unwrap_err().why.contains("not started"));
}
