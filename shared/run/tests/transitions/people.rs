//! `decide` on tasks and approvals: the order of checks, who may, and what each decision does.

use run::{Assigned, Command, Decision, Submission, same_person, snapshot};
use serde_json::json;

use crate::common::*;

const FRONT: &str = "inputs: { boss: person }
steps:
  - { id: a, task: Do it., person: crew, output: { heir: { type: person, optional: true } }, due: 30m }
  - { id: b, approve: Good?, person: inputs.boss }
  - { id: c, approve: Still good?, person: steps.a.output.heir }
  - { id: z, finish: over }";

fn play() -> Play {
    Play::with(FRONT, json!({ "boss": "Boss@Example.com" }))
}

fn crew() -> run::Actor {
    person("cleo", &["g_crew"])
}

fn done(output: serde_json::Value) -> Decision {
    Decision::Completed(Submission { output: Some(object(output)), ..Submission::default() })
}

#[test]
fn the_checks_come_in_the_published_order() {
    let mut play = play();
    let stale = |play: &mut Play, by: &run::Actor, item: &str, decision: Decision| {
        play.act(by, &Command::Decide { item: item.to_owned(), snapshot: "old".to_owned(), decision })
    };
    let outsider = person("nemo", &["g_other"]);
    for (item, wanted) in [
        ("w_1_2", "not_found"),
        ("w_1_0", "not_found"),
        ("w_1_01", "not_found"),
        ("w_2_1", "not_found"),
        ("x", "not_found"),
        ("w_1_", "not_found"),
    ] {
        assert_eq!(refused(stale(&mut play, &outsider, item, Decision::Approved(None))), wanted, "{item}");
    }
    assert_eq!(refused(stale(&mut play, &outsider, "w_1_1", Decision::Approved(None))), "stale", "before who it is");
    assert_eq!(refused(play.decide(&outsider, "a", Decision::Approved(None))), "forbidden", "before what it is");
    assert_eq!(refused(play.decide(&agent("ada"), "a", done(json!({})))), "forbidden");
    assert_eq!(
        refused(play.decide(&crew(), "a", Decision::Approved(None))),
        "invalid: decision: one of completed, failed"
    );
    assert_eq!(
        refused(play.decide(&crew(), "a", Decision::Returned("Back.".to_owned()))),
        "invalid: decision: one of completed, failed",
        "a task that nobody escalated is not returned"
    );
    assert_eq!(refused(play.decide(&crew(), "a", done(json!({ "x": 1 })))), "not_accepted: output.x: not declared");
    play.decide(&crew(), "a", done(json!({}))).unwrap();
    let again = stale(&mut play, &outsider, "w_1_1", done(json!({})));
    assert_eq!(refused(again), "conflict: already_decided", "before the snapshot");
    play.cancel().unwrap();
    for item in ["w_1_1", "w_1_2", "w_1_9"] {
        assert_eq!(refused(stale(&mut play, &outsider, item, done(json!({})))), "conflict: run_ended", "before all");
    }
}

#[test]
fn a_task_shows_what_it_asks_for_and_an_approval_nothing() {
    let mut play = play();
    let view = play.view();
    let item = &view["workItems"][0];
    assert_eq!(item["output"], json!({ "heir": { "type": "person", "optional": true } }));
    assert_eq!((&item["evidence"], &item["next"], &item["due"]), (&json!([]), &json!(null), &json!(at(30))));
    assert_eq!(item["decide"]["decisions"], json!(["completed", "failed"]));
    assert_eq!(item["snapshot"], json!(snapshot(&play.run)));
    play.decide(&crew(), "a", done(json!({ "heir": "h@example.com" }))).unwrap();
    let view = play.view();
    let item = &view["workItems"][0];
    assert_eq!((&item["id"], &item["kind"], &item["text"]), (&json!("w_1_2"), &json!("approve"), &json!("Good?")));
    for key in ["output", "evidence", "next", "due", "escalation", "handoff"] {
        assert_eq!(item[key], json!(null), "{key}");
    }
    assert_eq!(item["assignedTo"], json!({ "person": "Boss@Example.com" }));
    assert_eq!(item["decide"]["decisions"], json!(["approved", "rejected", "failed"]));
}

#[test]
fn an_approval_goes_on_and_records_only_itself() {
    let mut play = play();
    play.decide(&crew(), "a", done(json!({ "heir": "h@example.com" }))).unwrap();
    let boss = run::Actor { person: Some("boss@example.COM".to_owned()), ..person("u_9", &[]) };
    play.clock(3);
    play.decide(&boss, "b", Decision::Approved(Some("  ".to_owned()))).unwrap();
    assert_eq!(play.data("b"), json!({ "decision": "approved", "by": "u_9", "at": at(3), "history": [] }));
    let heir = run::Actor { person: Some("h@example.com".to_owned()), ..person("u_8", &[]) };
    assert_eq!(refused(play.decide(&boss, "c", Decision::Approved(None))), "forbidden");
    play.decide(&heir, "c", Decision::Approved(Some("Fine.".to_owned()))).unwrap();
    assert_eq!(
        play.data("c"),
        json!({ "decision": "approved", "note": "Fine.", "by": "u_8", "at": at(3), "history": [] })
    );
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn a_rejection_without_a_way_back_ends_the_run() {
    let mut play = play();
    play.decide(&crew(), "a", done(json!({}))).unwrap();
    let boss = person("boss", &[]);
    assert_eq!(refused(play.decide(&boss, "b", Decision::Rejected(" ".to_owned()))), "invalid: note: missing");
    play.decide(&boss, "b", Decision::Rejected("No.".to_owned())).unwrap();
    assert_eq!((play.ended(), play.states(&["a", "b", "c", "z"])), ("ended/rejected".into(), "done done - -".into()));
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "boss", "at": at(0), "note": "No." }));
    assert_eq!(
        play.data("b"),
        json!({ "decision": "rejected", "note": "No.", "by": "boss", "at": at(0), "history": [] })
    );
}

#[test]
fn a_path_that_holds_nobody_fails_the_run_there() {
    let mut play = play();
    play.decide(&crew(), "a", done(json!({}))).unwrap();
    play.clock(7);
    play.decide(&person("boss", &[]), "b", Decision::Approved(None)).unwrap();
    assert_eq!((play.ended(), play.states(&["b", "c", "z"])), ("ended/failed".into(), "done failed -".into()));
    let data = play.data("c");
    assert_eq!(data["note"], "person: steps.a.output.heir holds nobody");
    assert_eq!(data, json!({ "decision": "failed", "note": data["note"], "by": "server", "at": at(7), "history": [] }));
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "server", "at": at(7), "note": data["note"] }));
    assert_eq!(play.view()["workItems"], json!([]));
}

#[test]
fn a_failed_task_ends_the_run() {
    let mut play = play();
    play.decide(&crew(), "a", Decision::Failed("Cannot.".to_owned())).unwrap();
    assert_eq!((play.ended(), play.states(&["a", "b"])), ("ended/failed".into(), "failed -".into()));
    let mut play = self::play();
    play.decide(&crew(), "a", done(json!({}))).unwrap();
    play.decide(&person("boss", &[]), "b", Decision::Failed("Cannot.".to_owned())).unwrap();
    assert_eq!((play.ended(), play.states(&["a", "b"])), ("ended/failed".into(), "done failed".into()));
}

#[test]
fn the_snapshot_is_of_run_data() {
    let mut play = Play::start(
        "steps:\n  - { id: w, wait_for: go, timeout: 5m, next: a }\n  - { id: a, task: Do it., person: crew }\n  - { id: z, finish: over }",
    );
    let first = snapshot(&play.run);
    play.send("other", json!({})).unwrap();
    assert_eq!(snapshot(&play.run), first, "a held event is not run data yet");
    play.clock(5).tick();
    let second = snapshot(&play.run);
    assert_ne!(first, second);
    let decide = Command::Decide { item: play.item("a"), snapshot: first, decision: done(json!({})) };
    assert_eq!(refused(play.act(&crew(), &decide)), "stale");
    play.decide(&crew(), "a", done(json!({}))).expect("the same decision with a fresh snapshot");
}

#[test]
fn people_are_compared_without_case() {
    assert!(same_person("A@Example.com", "a@example.COM "));
    assert!(same_person("mira@acme.example", "Mira@ACME.example"));
    assert!(same_person(" mira@acme.example", "mira@acme.example "));
    assert!(same_person("jörg@acme.example", "JÖRG@acme.example"));
    assert!(!same_person("mira@acme.example", "mira@acme.example.evil"));
    assert!(!same_person("mira", "mina"));
    assert!(!same_person("a@example.com", "b@example.com"));
    let play = play();
    let item = play.run.step("a").unwrap().item.clone().unwrap();
    assert_eq!(item.assigned, Assigned::Group("g_crew".to_owned()));
    assert!(run::assigned_to(&play.world.context(), &crew(), &item.assigned));
    assert!(!run::assigned_to(&play.world.context(), &operator(), &item.assigned), "the right opens one queue only");
}

#[test]
fn a_decision_after_the_due_time_notes_that_it_was_late() {
    let mut play = play();
    play.clock(31);
    assert_eq!(play.shown("a")["overdue"], true);
    let change = play.decide(&crew(), "a", done(json!({}))).unwrap();
    assert!(matches!(&change.events[0], run::Event::Overdue { step, at } if step == "a" && *at == minute(30)));
    assert_eq!(play.shown("a"), json!({ "id": "a", "kind": "task", "state": "done" }));
}

#[test]
fn a_caller_without_a_person_value_is_nobody_and_groups_are_compared_exactly() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: z, finish: over }";
    let world = World::new(document(front));
    let mut caller = person("u_mira", &["g_finance"]);
    caller.person = None;
    let is = |assigned| run::assigned_to(&world.context(), &caller, &assigned);
    assert!(!is(Assigned::Person(String::new())));
    assert!(!is(Assigned::Person("u_mira".to_owned())));
    assert!(is(Assigned::Group("g_finance".to_owned())));
    assert!(!is(Assigned::Group("G_FINANCE".to_owned())));
}
