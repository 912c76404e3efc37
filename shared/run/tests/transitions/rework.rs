//! A rejection into `on_reject`: what moves to history, what stays, what is ready.

use run::Decision;
use serde_json::json;

use crate::common::*;

fn crew() -> run::Actor {
    person("cleo", &["g_crew"])
}

fn reject(play: &mut Play, step: &str, note: &str) {
    play.decide(&crew(), step, Decision::Rejected(note.to_owned())).unwrap();
}

fn approve(play: &mut Play, step: &str) {
    play.decide(&crew(), step, Decision::Approved(None)).unwrap();
}

const FRONT: &str = "steps:
  - { id: a, agent: Do it., output: { n: number } }
  - { id: b, agent: Again., output: { n: number }, due: 1h }
  - { id: c, wait: 10m }
  - { id: d, approve: Good?, person: crew, on_reject: b, due: 1h }
  - { id: z, finish: over }";

const ALL: [&str; 5] = ["a", "b", "c", "d", "z"];

fn to_approval() -> Play {
    let mut play = Play::start(FRONT);
    play.does("a", work(json!({ "n": 1 })));
    play.does("b", work(json!({ "n": 2 })));
    play.clock(10).tick();
    assert_eq!(play.states(&ALL), "done done done waiting -");
    play
}

#[test]
fn what_completed_after_the_returned_step_moves_to_history() {
    let mut play = to_approval();
    play.clock(20);
    reject(&mut play, "d", "Wrong.");
    assert_eq!(play.states(&ALL), "done ready - - -");
    assert_eq!(play.ended(), "active/-");
    assert_eq!(play.data("a")["output"], json!({ "n": 1 }), "before it: untouched");
    let b = play.data("b");
    assert_eq!((&b["output"], &b["history"]), (&json!({ "n": 2 }), &json!([])), "current until it completes anew");
    assert_eq!(play.data("c"), json!({ "history": [{ "by": "server", "at": at(10) }] }));
    let d = json!({ "decision": "rejected", "note": "Wrong.", "by": "cleo", "at": at(20), "history": [] });
    assert_eq!(play.data("d"), d, "the note stays to be read");
    assert_eq!(play.shown("b")["due"], at(80), "a repeat restarts the clock");
    assert_eq!(play.shown("d"), json!({ "id": "d", "kind": "approve", "state": null }));

    let token = play.claim("b");
    assert_eq!(token.attempt, 2);
    play.submit(&token, work(json!({ "n": 3 }))).unwrap();
    let b = play.data("b");
    assert_eq!((&b["output"], &b["history"][0]["output"]), (&json!({ "n": 3 }), &json!({ "n": 2 })));
    assert_eq!(b["history"][0].get("history"), None, "never nested");
    assert_eq!(play.data("c")["history"].as_array().unwrap().len(), 1);
    play.clock(30).tick();
    assert_eq!(play.data("c")["at"], at(30));
    assert_eq!(play.data("d"), d, "current until it completes again");
    assert_eq!(play.item("d"), "w_1_2");
    let old = play.decide_item(&crew(), "w_1_1", Decision::Approved(None));
    assert_eq!(refused(old), "conflict: already_decided");

    play.clock(31);
    reject(&mut play, "d", "Still wrong.");
    let history = |play: &Play, step: &str| play.data(step)["history"].as_array().unwrap().len();
    assert_eq!((history(&play, "b"), history(&play, "c"), history(&play, "d")), (1, 2, 1));
    assert_eq!(play.data("d")["history"][0]["note"], "Wrong.");
    play.does("b", work(json!({ "n": 4 })));
    play.clock(41).tick();
    approve(&mut play, "d");
    assert_eq!(play.states(&ALL), "done done done done done");
    let d = play.data("d");
    assert_eq!((&d["decision"], d.get("note")), (&json!("approved"), None), "no note was given");
    let notes: Vec<_> = d["history"].as_array().unwrap().iter().map(|h| h["note"].clone()).collect();
    assert_eq!(notes, ["Wrong.", "Still wrong."], "oldest first");
}

#[test]
fn the_old_work_item_and_token_are_dead_after_rework() {
    let mut play = to_approval();
    let item = play.item("d");
    reject(&mut play, "d", "Wrong.");
    for decision in [Decision::Approved(None), Decision::Rejected("Twice.".to_owned())] {
        assert_eq!(refused(play.decide_item(&crew(), &item, decision)), "conflict: already_decided");
    }
    let first = run::Claimed { step: "b".into(), attempt: 1, lease: 1, subject: "ada".into() };
    let second = play.claim("b");
    assert_eq!(second.lease, 1, "serials begin anew with an attempt");
    assert_eq!(refused(play.submit(&first, work(json!({ "n": 9 })))), "stale");
}

#[test]
fn an_approval_may_send_back_to_itself() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: b, approve: Good?, person: crew, on_reject: b, due: 1h }\n  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", work(json!({})));
    play.clock(5);
    reject(&mut play, "b", "Think again.");
    assert_eq!(play.states(&["a", "b"]), "done waiting");
    assert_eq!((play.item("b").as_str(), &play.shown("b")["due"]), ("w_1_2", &json!(at(65))));
    assert_eq!(play.data("b")["note"], "Think again.");
    approve(&mut play, "b");
    assert_eq!(play.data("b")["history"][0]["note"], "Think again.");
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn a_rejection_into_a_finish_ends_the_run_with_its_outcome() {
    let front = "steps:\n  - { id: a, approve: Good?, person: crew, on_reject: y }\n  - { id: z, finish: good }\n  - { id: y, finish: declined }";
    let mut play = Play::start(front);
    reject(&mut play, "a", "No.");
    assert_eq!(play.ended(), "ended/declined");
    assert_eq!(play.states(&["a", "z", "y"]), "done - done", "nothing is left to come back to");
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "server", "at": at(0), "note": null }));
    assert_eq!(
        play.data("a"),
        json!({ "decision": "rejected", "note": "No.", "by": "cleo", "at": at(0), "history": [] })
    );
}

#[test]
fn a_rejection_may_lead_forward() {
    // `c` had never completed: what lies forward of it would move, and nothing there has completed.
    let front = "steps:
  - { id: a, agent: Do it. }
  - { id: b, approve: Good?, person: crew, on_reject: c, next: z }
  - { id: c, agent: Mend it., next: z }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", work(json!({})));
    reject(&mut play, "b", "Mend.");
    assert_eq!(play.states(&["a", "b", "c", "z"]), "done - ready -");
    play.does("c", work(json!({})));
    assert_eq!(play.states(&["a", "b", "c", "z"]), "done - done done");
    assert_eq!(play.data("b")["decision"], "rejected");
}

#[test]
fn back_to_a_step_that_was_skipped_moves_what_lies_forward_of_it() {
    // The run went a → c → d; the rejection returns to b, which leads to c again.
    let front = "steps:
  - { id: a, agent: Choose., next: [b, c] }
  - { id: b, agent: Prepare., next: c }
  - { id: c, agent: Do it., next: d }
  - { id: d, approve: Good?, person: crew, on_reject: b }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", routed(json!({}), "c")).does("c", work(json!({})));
    reject(&mut play, "d", "Prepare first.");
    assert_eq!(play.states(&["a", "b", "c", "d"]), "done ready - -");
    assert_eq!(play.data("c")["history"].as_array().unwrap().len(), 1);
    assert_eq!(play.data("b"), json!(null));
    assert_eq!(play.data("a")["next"], "c", "not forward of it: untouched");
}

#[test]
fn nested_rework_keeps_each_note_where_it_belongs() {
    let front = "steps:
  - { id: a, agent: Do it. }
  - { id: b, approve: Good?, person: crew, on_reject: a }
  - { id: c, agent: More. }
  - { id: d, approve: All good?, person: crew, on_reject: a }
  - { id: z, finish: over }";
    let all = ["a", "b", "c", "d"];
    let mut play = Play::start(front);
    play.does("a", work(json!({})));
    reject(&mut play, "b", "One.");
    play.does("a", work(json!({})));
    approve(&mut play, "b");
    play.does("c", work(json!({})));
    reject(&mut play, "d", "Two.");
    assert_eq!(play.states(&all), "ready - - -");
    let b = play.data("b");
    assert_eq!(b.get("decision"), None, "the approval moved");
    let decisions: Vec<_> = b["history"].as_array().unwrap().iter().map(|h| h["decision"].clone()).collect();
    assert_eq!(decisions, ["rejected", "approved"]);
    assert_eq!(play.data("d")["note"], "Two.");
    play.does("a", work(json!({})));
    assert_eq!(play.data("a")["history"].as_array().unwrap().len(), 2);
    reject(&mut play, "b", "Three.");
    assert_eq!(play.data("d")["note"], "Two.", "it completed before a did: it stays");
}

#[test]
fn a_person_path_may_lead_into_a_step_that_was_moved() {
    // b's output names the person; the rework skips b the second time, so its path holds nobody any more.
    let front = "steps:
  - { id: a, agent: Choose., next: [b, c] }
  - { id: b, agent: Name., output: { who: person }, next: c }
  - { id: c, task: Do it., person: steps.b.output.who, next: d }
  - { id: d, approve: Good?, person: crew, on_reject: a }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", routed(json!({}), "b")).does("b", work(json!({ "who": "will@example.com" })));
    let done = Decision::Completed(Default::default());
    play.decide(&person("will", &[]), "c", done).unwrap();
    reject(&mut play, "d", "Choose again.");
    play.does("a", routed(json!({}), "c"));
    assert_eq!(play.ended(), "ended/failed");
    let c = play.data("c");
    assert_eq!((&c["decision"], &c["history"][0]["by"]), (&json!("failed"), &json!("will")));
}
