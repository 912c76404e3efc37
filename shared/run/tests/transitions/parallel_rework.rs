//! Rework and branches (parallel-1): inside one it is that branch's alone, from after the join every branch runs again.

use run::Decision;
use serde_json::{Value, json};

use crate::common::*;
use crate::parallel::{ALL, FRONT, crew, done, forked, last};

fn reject(play: &mut Play, step: &str, note: &str) {
    play.decide(&crew(), step, Decision::Rejected(note.to_owned())).unwrap();
}

fn approve(play: &mut Play, step: &str) {
    play.decide(&crew(), step, Decision::Approved(None)).unwrap();
}

fn history(play: &Play, step: &str) -> usize {
    play.data(step)["history"].as_array().map_or(0, Vec::len)
}

/// Every branch of the shared process runs to its join, with this number in what it records.
fn branches(play: &mut Play, n: u32) {
    play.does("b1", work(json!({ "n": n })));
    approve(play, "b2");
    play.decide(&crew(), "c", done(json!({ "n": n }))).unwrap();
    play.send("go", json!({ "n": n })).unwrap();
    assert_eq!(play.states(&ALL), "done done done done done done waiting -");
}

#[test]
fn rework_inside_a_branch_touches_no_sibling() {
    let front = "steps:
  - { id: p, parallel: [a1, b1, c], next: z }
  - { id: a1, agent: Draw., next: a2 }
  - { id: a2, agent: Paint., next: a3 }
  - { id: a3, approve: Good?, person: crew, on_reject: a1, next: join }
  - { id: b1, agent: Write., due: 1h, next: b2 }
  - { id: b2, agent: Print., due: 1h, next: join }
  - { id: c, wait: 1d, next: join }
  - { id: z, finish: over }";
    let all = ["p", "a1", "a2", "a3", "b1", "b2", "c"];
    let mut play = Play::start(front);
    play.does("a1", work(json!({})));
    play.clock(5).does("b1", work(json!({})));
    play.clock(6).does("a2", work(json!({})));
    let token = play.claim_by("bob", "b2").unwrap();
    let token = play.renew(&token, Some("Half.")).unwrap();
    let (siblings, attempts) = (["p", "b1", "b2", "c"].map(|s| play.run.step(s).cloned()), play.attempts.clone());
    let shown = (play.shown("b2"), play.data("b1"));
    play.clock(7);
    // Everything that completed after a1 did, b1 among it, but of the branch alone.
    reject(&mut play, "a3", "Larger.");
    assert_eq!(last(&play), "rejected a3, rewound a2, ready a1");
    assert_eq!(play.states(&all), "waiting ready - - done claimed waiting");
    assert_eq!(["p", "b1", "b2", "c"].map(|s| play.run.step(s).cloned()), siblings);
    assert_eq!((play.attempts.clone(), (play.shown("b2"), play.data("b1"))), (attempts, shown));
    assert_eq!(play.data("a3")["note"], "Larger.");
    play.submit(&token, work(json!({}))).expect("the sibling's claim goes on");
    assert_eq!(play.states(&all), "waiting ready - - done done waiting");
    play.does("a1", work(json!({}))).does("a2", work(json!({})));
    assert_eq!((history(&play, "a1"), history(&play, "a2"), history(&play, "b1")), (1, 1, 0));
    approve(&mut play, "a3");
    play.clock(2_000).tick();
    assert_eq!(play.ended(), "ended/over");
    assert_eq!(play.data("a3")["history"][0]["note"], "Larger.");
}

#[test]
fn rework_inside_a_branch_to_a_step_it_had_skipped_stays_inside() {
    let front = "steps:
  - { id: p, parallel: [a1, b], next: z }
  - { id: a1, agent: Choose., next: [a2, a3] }
  - { id: a2, agent: Prepare., next: a3 }
  - { id: a3, agent: Do it., next: a4 }
  - { id: a4, approve: Good?, person: crew, on_reject: a2, next: join }
  - { id: b, agent: Write., next: join }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a1", routed(json!({}), "a3")).does("a3", work(json!({}))).does("b", work(json!({})));
    reject(&mut play, "a4", "Prepare first.");
    assert_eq!(last(&play), "rejected a4, rewound a3, ready a2");
    assert_eq!(play.states(&["p", "a1", "a2", "a3", "a4", "b"]), "waiting done ready - - done");
}

#[test]
fn a_rejection_to_the_parallel_step_runs_every_branch_again() {
    let mut play = forked(FRONT);
    let first = play.claim("b1");
    play.submit(&first, work(json!({ "n": 1 }))).unwrap();
    reject(&mut play, "b2", "Once more.");
    branches(&mut play, 1);
    let (old, before) = (play.item("sign"), play.entries.len());
    let change = play.clock(100).decide(&crew(), "sign", Decision::Rejected("All anew.".to_owned())).unwrap();

    assert_eq!(play.entries.len(), before + 1, "in the same write");
    assert_eq!(last(&play), "rejected sign, rewound b1+b2+c+d, forked p, ready b1, assigned c, waiting d");
    assert!(change.attempts.is_empty(), "nothing was left of the first attempts");
    assert_eq!(play.states(&ALL), "done waiting ready - waiting waiting - -");
    assert_eq!(play.ended(), "active/-");
    let sign = json!({ "decision": "rejected", "note": "All anew.", "by": "cleo", "at": at(100), "history": [] });
    assert_eq!(play.data("sign"), sign, "the note stays to be read");
    for (step, times) in [("b1", 2), ("b2", 2), ("c", 1), ("d", 1)] {
        let data = play.data(step);
        assert_eq!(data.as_object().unwrap().keys().collect::<Vec<_>>(), ["history"], "{step}: nothing is current");
        assert_eq!(history(&play, step), times, "{step}");
    }
    assert_eq!(play.data("a")["output"], json!({ "n": 0 }), "before it: untouched");
    let due = |step: &str| play.shown(step)["due"].clone();
    assert_eq!((due("b1"), due("c")), (json!(at(160)), json!(at(130))), "fresh clocks");
    let items: Vec<Value> = play.view()["workItems"].as_array().unwrap().clone();
    assert_eq!(items.iter().map(|i| i["stepId"].as_str().unwrap()).collect::<Vec<_>>(), ["c"]);
    assert_eq!(refused(play.decide_item(&crew(), &old, Decision::Approved(None))), "conflict: already_decided");
    play.claim("b1");
    assert_eq!(refused(play.submit(&first, work(json!({ "n": 9 })))), "stale");
    play.does_claimed("b1", work(json!({ "n": 2 })));
    approve(&mut play, "b2");
    play.decide(&crew(), "c", done(json!({ "n": 2 }))).unwrap();
    assert_eq!(play.states(&["p", "sign"]), "waiting -", "all of them must join again");
    play.send("go", json!({ "n": 2 })).unwrap();
    assert_eq!(play.data("c")["history"][0]["output"], json!({ "n": 1 }));
    approve(&mut play, "sign");
    assert_eq!((play.ended().as_str(), history(&play, "sign")), ("ended/over", 1));
}

#[test]
fn the_third_time_is_like_the_second() {
    let mut play = forked(FRONT);
    for n in 1..=3 {
        branches(&mut play, n);
        reject(&mut play, "sign", "Again.");
        assert_eq!(play.states(&ALL), "done waiting ready - waiting waiting - -");
        assert_eq!(["b1", "b2", "c", "d"].map(|step| history(&play, step)), [n as usize; 4]);
        assert_eq!(history(&play, "sign"), n as usize - 1);
    }
}

#[test]
fn a_rejection_to_a_step_before_takes_the_whole_region_along() {
    let front = FRONT.replace("on_reject: p", "on_reject: a");
    let mut play = forked(&front);
    branches(&mut play, 1);
    play.clock(50);
    reject(&mut play, "sign", "From the start.");
    assert_eq!(last(&play), "rejected sign, rewound b1+b2+c+d+p, ready a");
    assert_eq!(play.states(&ALL), "ready - - - - - - -");
    assert_eq!(play.data("a")["output"], json!({ "n": 0 }), "current until it completes anew");
    assert_eq!(play.data("p"), json!(null), "a parallel step has no history either");
    assert_eq!(play.view()["workItems"], json!([]));
    play.clock(60).does("a", work(json!({ "n": 5 })));
    assert_eq!(play.states(&ALL), "done waiting ready - waiting waiting - -");
    branches(&mut play, 2);
    assert_eq!(["a", "b1", "b2", "c", "d", "sign"].map(|s| history(&play, s)), [1, 1, 1, 1, 1, 0]);
    approve(&mut play, "sign");
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn a_rejection_to_a_step_before_that_never_ran_takes_it_along_too() {
    let front = "steps:
  - { id: a, agent: Choose., next: [s, p] }
  - { id: s, agent: Prepare., next: p }
  - { id: p, parallel: [b, c], next: d }
  - { id: b, agent: B., next: join }
  - { id: c, agent: C., next: join }
  - { id: d, approve: Good?, person: crew, on_reject: s, next: z }
  - { id: z, finish: over }";
    let mut play = Play::start(front);
    play.does("a", routed(json!({}), "p")).does("c", work(json!({}))).does("b", work(json!({})));
    reject(&mut play, "d", "Prepare.");
    assert_eq!(last(&play), "rejected d, rewound b+c+p, ready s");
    assert_eq!(play.states(&["a", "s", "p", "b", "c", "d"]), "done ready - - - -");
}

#[test]
fn a_rejection_to_a_step_after_the_join_leaves_the_region_alone() {
    let front = "steps:
  - { id: p, parallel: [a, b], next: c }
  - { id: a, agent: A., next: join }
  - { id: b, agent: B., next: join }
  - { id: c, agent: C. }
  - { id: d, approve: Good?, person: crew, on_reject: c }
  - { id: e, approve: Really?, person: crew, on_reject: d }
  - { id: z, finish: over }";
    let all = ["p", "a", "b", "c", "d", "e"];
    let mut play = Play::start(front);
    play.does("a", work(json!({}))).does("b", work(json!({}))).does("c", work(json!({})));
    reject(&mut play, "d", "No.");
    assert_eq!(last(&play), "rejected d, ready c");
    play.does("c", work(json!({})));
    approve(&mut play, "d");
    reject(&mut play, "e", "No.");
    assert_eq!(last(&play), "rejected e, assigned d");
    assert_eq!(play.states(&all), "done done done done waiting -");
}

#[test]
fn a_parallel_step_has_its_place_where_it_joined() {
    // The note of `last` is older than the join, so a later return to the region leaves it to be read.
    let front = "steps:
  - { id: a, agent: A. }
  - { id: p, parallel: [b, c], next: d }
  - { id: b, agent: B., next: join }
  - { id: c, agent: C., next: join }
  - { id: d, approve: Good?, person: crew, on_reject: p }
  - { id: e, agent: E. }
  - { id: last, approve: All good?, person: crew, on_reject: a }
  - { id: z, finish: over }";
    let region = |play: &mut Play| {
        play.does("b", work(json!({}))).does("c", work(json!({})));
    };
    let mut play = Play::start(front);
    play.does("a", work(json!({})));
    region(&mut play);
    approve(&mut play, "d");
    play.does("e", work(json!({})));
    reject(&mut play, "last", "All wrong.");
    assert_eq!(last(&play), "rejected last, rewound b+c+d+e+p, ready a");
    play.does("a", work(json!({})));
    region(&mut play);
    reject(&mut play, "d", "Again.");
    assert_eq!(last(&play), "rejected d, rewound b+c, forked p, ready b, ready c");
    assert_eq!(play.data("last")["note"], "All wrong.", "it stays until it is decided again");
    region(&mut play);
    approve(&mut play, "d");
    play.does("e", work(json!({})));
    approve(&mut play, "last");
    assert_eq!(play.data("last")["history"][0]["note"], "All wrong.");
    assert_eq!((history(&play, "b"), history(&play, "d")), (2, 2));
}

#[test]
fn a_branch_that_ends_the_run_after_rework_is_its_end() {
    let mut play = forked(FRONT);
    branches(&mut play, 1);
    reject(&mut play, "sign", "Again.");
    play.decide(&crew(), "c", Decision::Failed("It cannot be done.".to_owned())).unwrap();
    assert_eq!(play.states(&ALL), "done cancelled cancelled - failed cancelled - -");
    assert_eq!(history(&play, "c"), 1);
    assert_eq!(play.data("sign")["note"], "Again.");
}
