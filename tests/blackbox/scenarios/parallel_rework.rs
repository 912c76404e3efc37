//! Going back in a run with branches (parallel-1): within one branch, and from after the join.

use serde_json::{Value, json};

use super::waits::millis;
use crate::harness::{Org, fresh, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        rework_in_a_branch_touches_no_sibling,
        rework_in_a_branch_moves_only_what_came_after,
        rework_in_a_branch_into_a_step_that_never_completed,
        a_rejection_into_an_approval_of_the_branch_itself_asks_again,
        rework_to_the_parallel_step_runs_every_branch_again,
        rework_to_the_parallel_step_gives_fresh_clocks_and_empty_handoffs,
        rework_to_a_step_before_the_fork_takes_the_region_along,
        rework_again_and_again_keeps_every_round,
        rework_to_a_region_before_another_takes_both_along,
        rework_to_a_step_after_the_join_leaves_the_region,
        held_events_stay_held_while_branches_run_again,
    ],
}

/// Two branches with an approval that sends back within its own, and steps before and after.
const BOOK: &str = "
steps:
  - { id: plan, agent: Plan. }
  - { id: make, parallel: [write, paint], next: bind }
  - { id: write, agent: Write., output: { n: number }, next: [tidy, read] }
  - { id: tidy, agent: Tidy., next: read }
  - { id: read, approve: Read it., person: editor, on_reject: write, next: join }
  - { id: paint, agent: Paint., due: 5d, next: frame }
  - { id: frame, task: Frame., person: framer, due: 5d, next: join }
  - { id: bind, agent: Bind. }
  - { id: look, approve: Look., person: boss, on_reject: BACK }
  - { id: end, finish: printed }
";

/// [`BOOK`], whose last approval sends back to this step.
fn book(org: &Org, back: &str) -> Value {
    org.run("book", &BOOK.replace("BACK", back), json!({}))
}

fn to(next: &str) -> Value {
    json!({ "next": next, "reason": "So." })
}

fn forked(org: &Org, back: &str) -> Value {
    let run = book(org, back);
    org.agent.work_on(&run, "plan", json!({}), json!({}))
}

/// Everything of both branches, up to the open last approval.
fn whole_round(org: &Org, run: &Value, n: u32) -> Value {
    org.agent.work_on(run, "write", json!({ "n": n }), to("tidy"));
    org.agent.work_on(run, "tidy", json!({}), json!({}));
    org.agent.work_on(run, "paint", json!({}), json!({ "summary": format!("painted {n}") }));
    org.staff.decide(run, "read", "approved", json!({}));
    org.staff.decide(run, "frame", "completed", json!({ "summary": format!("framed {n}") }));
    org.agent.work_on(run, "bind", json!({}), json!({}))
}

/// The entry without its history: one element of a later history.
fn bare(entry: &Value) -> Value {
    let mut entry = entry.clone();
    entry.as_object_mut().unwrap().shift_remove("history");
    entry
}

fn without<'a>(view: &'a Value, list: &str, id: &str) -> Vec<&'a Value> {
    let name = if list == "steps" { "id" } else { "stepId" };
    view[list].as_array().unwrap().iter().filter(|s| s[name] == id).collect()
}

fn rework_in_a_branch_touches_no_sibling(org: &Org) {
    // A sibling that is claimed.
    let run = forked(org, "make");
    let before = org.other.work_of(&run).into_iter().find(|w| w["stepId"] == "paint").unwrap();
    let claimed = org.other.claim(&run, "paint");
    let renewed = org.other.ok("renew", json!({ "token": claimed["token"], "progress": "The sky." }));
    org.agent.work_on(&run, "write", json!({ "n": 1 }), to("read"));
    let was = org.staff.view(&run);
    let view = org.staff.decide(&run, "read", "rejected", json!({ "note": "Dull." }));
    let shown = "active/- plan=done make=waiting write=ready tidy=- read=- paint=claimed frame=- bind=- look=- end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(without(&view, "steps", "paint"), without(&was, "steps", "paint"), "its due time above all");
    let renewed = org.other.ok("renew", json!({ "token": renewed["token"] }));
    let view = org.other.submit(&renewed, json!({}), json!({})).unwrap();
    assert_eq!(view["data"]["steps"]["paint"]["history"], json!([]));
    assert_eq!(before["due"], without(&was, "steps", "paint")[0]["due"]);
    // A sibling that waits on a person: its item, its time and its place in the inbox stay.
    let was = item(&view, "frame").clone();
    org.agent.work_on(&run, "write", json!({ "n": 2 }), to("read"));
    let view = org.staff.decide(&run, "read", "rejected", json!({ "note": "Duller." }));
    let is = item(&view, "frame");
    for field in ["id", "due", "assignedTo", "handoff"] {
        assert_eq!(is[field], was[field], "{field}");
    }
    assert_ne!(is["snapshot"], was["snapshot"], "run data did change");
    assert_eq!(view["data"]["steps"]["paint"]["summary"], "Done as asked.");
    org.staff.decide(&run, "frame", "completed", json!({}));
    // A sibling that has joined stays so, and the join still waits for the one that went back.
    let view = org.staff.view(&run);
    let done = bare(&view["data"]["steps"]["frame"]);
    org.agent.work_on(&run, "write", json!({ "n": 3 }), to("read"));
    let view = org.staff.decide(&run, "read", "rejected", json!({ "note": "Dullest." }));
    assert_eq!((state(&view, "make"), state(&view, "frame")), (&json!("waiting"), &json!("done")));
    assert_eq!(bare(&view["data"]["steps"]["frame"]), done);
    org.agent.work_on(&run, "write", json!({ "n": 4 }), to("read"));
    let view = org.staff.decide(&run, "read", "approved", json!({}));
    let shown =
        "active/- plan=done make=done write=done tidy=- read=done paint=done frame=done bind=ready look=- end=-";
    assert_eq!(states(&view), shown);
    // A ready sibling keeps its place in the list of work.
    let run = forked(org, "make");
    let place = |step: &str| org.agent.work_of(&run).into_iter().find(|w| w["stepId"] == step).unwrap();
    let was = place("paint");
    org.agent.work_on(&run, "write", json!({ "n": 1 }), to("read"));
    org.staff.decide(&run, "read", "rejected", json!({ "note": "Dull." }));
    assert_eq!(place("paint"), was);
    assert_ne!(place("write")["readySince"], was["readySince"]);
}

fn rework_in_a_branch_moves_only_what_came_after(org: &Org) {
    let run = forked(org, "make");
    org.agent.work_on(&run, "write", json!({ "n": 1 }), to("tidy"));
    org.agent.work_on(&run, "paint", json!({}), json!({}));
    org.agent.work_on(&run, "tidy", json!({}), json!({}));
    let was = org.staff.decide(&run, "frame", "completed", json!({}))["data"]["steps"].clone();
    let view = org.staff.decide(&run, "read", "rejected", json!({ "note": "Dull." }));
    let shown = "active/- plan=done make=waiting write=ready tidy=- read=- paint=done frame=done bind=- look=- end=-";
    assert_eq!(states(&view), shown);
    let is = &view["data"]["steps"];
    // Painted and framed after the draft, and yet not after it: another branch.
    for step in ["plan", "paint", "frame", "write"] {
        assert_eq!(is[step], was[step], "{step}");
    }
    assert_eq!(is["tidy"], json!({ "history": [bare(&was["tidy"])] }));
    assert_eq!((&is["read"]["decision"], &is["read"]["note"]), (&json!("rejected"), &json!("Dull.")));
    let claimed = org.agent.claim(&run, "write");
    assert_eq!(claimed["data"]["steps"]["read"]["note"], "Dull.");
    assert_eq!(claimed["handoff"], Value::Null);
    let view = org.agent.submit(&claimed, json!({ "n": 2 }), to("read")).unwrap();
    assert_eq!(view["data"]["steps"]["write"]["history"], json!([bare(&was["write"])]));
    let view = org.staff.decide(&run, "read", "approved", json!({}));
    assert_eq!((state(&view, "make"), state(&view, "bind")), (&json!("done"), &json!("ready")));
}

fn rework_in_a_branch_into_a_step_that_never_completed(org: &Org) {
    let rest = BOOK.replace("on_reject: write", "on_reject: tidy").replace("BACK", "make");
    let run = org.run("detour", &rest, json!({}));
    org.agent.work_on(&run, "plan", json!({}), json!({}));
    org.agent.work_on(&run, "paint", json!({}), json!({}));
    org.agent.work_on(&run, "write", json!({ "n": 1 }), to("read"));
    let was = org.staff.decide(&run, "frame", "completed", json!({}));
    let view = org.staff.decide(&run, "read", "rejected", json!({ "note": "Untidy." }));
    let shown =
        "active/- plan=done make=waiting write=done tidy=ready read=- paint=done frame=done bind=- look=- end=-";
    assert_eq!(states(&view), shown);
    for step in ["plan", "write", "paint", "frame"] {
        assert_eq!(view["data"]["steps"][step], was["data"]["steps"][step], "{step}");
    }
    org.agent.work_on(&run, "tidy", json!({}), json!({}));
    let view = org.staff.decide(&run, "read", "approved", json!({}));
    assert_eq!((state(&view, "make"), state(&view, "bind")), (&json!("done"), &json!("ready")));
}

fn a_rejection_into_an_approval_of_the_branch_itself_asks_again(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [sign, work], next: end }
  - { id: sign, approve: Sign., person: boss, on_reject: sign, next: join }
  - { id: work, agent: Work., next: join }
  - { id: end, finish: over }
";
    let run = org.run("again", rest, json!({}));
    let first = item(&run, "sign").clone();
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Not today." }));
    assert_eq!(states(&view), "active/- both=waiting sign=waiting work=ready end=-");
    assert_ne!(item(&view, "sign")["id"], first["id"]);
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
    assert_eq!(ended["data"]["steps"]["sign"]["history"][0]["note"], "Not today.");
}

fn rework_to_the_parallel_step_runs_every_branch_again(org: &Org) {
    let run = forked(org, "make");
    let was = whole_round(org, &run, 1)["data"]["steps"].clone();
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "All of it again." }));
    let shown = "active/- plan=done make=waiting write=ready tidy=- read=- paint=ready frame=- bind=- look=- end=-";
    assert_eq!(states(&view), shown, "entries are ready, the other steps of the branches not reached");
    assert_eq!(org.agent.view(&run), view, "one write");
    let is = &view["data"]["steps"];
    for step in ["write", "tidy", "read", "paint", "frame", "bind"] {
        assert_eq!(is[step], json!({ "history": [bare(&was[step])] }), "{step}");
    }
    assert_eq!(is["plan"], was["plan"], "what lies before stays");
    let look = &is["look"];
    assert_eq!((&look["decision"], &look["note"]), (&json!("rejected"), &json!("All of it again.")));
    assert_eq!((&look["by"], &look["history"]), (&json!(org.staff.subject()), &json!([])));
    let listed = org.agent.work_of(&run);
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|w| w["readySince"] == look["at"] && w["handoff"].is_null()), "{listed:?}");
    // Whoever works reads the note.
    for step in ["write", "paint"] {
        let claimed = org.agent.claim(&run, step);
        assert_eq!(claimed["data"]["steps"]["look"]["note"], "All of it again.", "{step}");
        assert_eq!(claimed["handoff"], Value::Null);
        let (output, more) = if step == "write" { (json!({ "n": 2 }), to("read")) } else { (json!({}), json!({})) };
        org.agent.submit(&claimed, output, more).unwrap();
    }
    org.staff.decide(&run, "frame", "completed", json!({}));
    let view = org.staff.decide(&run, "read", "approved", json!({}));
    let shown =
        "active/- plan=done make=done write=done tidy=- read=done paint=done frame=done bind=ready look=- end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(view["data"]["steps"]["look"]["note"], "All of it again.", "current until it completes again");
    org.agent.work_on(&run, "bind", json!({}), json!({}));
    let ended = org.staff.decide(&run, "look", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "printed");
    assert_eq!(ended["data"]["steps"]["look"]["history"][0]["note"], "All of it again.");
    assert_eq!(ended["data"]["steps"]["tidy"]["history"].as_array().unwrap().len(), 1, "skipped this time");
}

const FIVE_DAYS: i64 = 5 * 24 * 3_600_000;

fn rework_to_the_parallel_step_gives_fresh_clocks_and_empty_handoffs(org: &Org) {
    let run = forked(org, "make");
    let old = org.agent.claim(&run, "paint");
    let renewed = org.agent.ok("renew", json!({ "token": old["token"], "progress": "The sky." }));
    refused_as(org.agent.submit(&renewed, json!({ "sky": 1 }), json!({})), "not_accepted");
    org.agent.submit(&renewed, json!({}), json!({})).unwrap();
    org.agent.work_on(&run, "write", json!({ "n": 1 }), to("read"));
    let read = org.staff.view(&run);
    let mut decided = item(&read, "frame")["decide"]["arguments"].clone();
    org.staff.decide(&run, "frame", "completed", json!({}));
    org.staff.decide(&run, "read", "approved", json!({}));
    org.agent.work_on(&run, "bind", json!({}), json!({}));
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "Again." }));
    let at = millis(&view["data"]["steps"]["look"]["at"]);
    assert_eq!(millis(&without(&view, "steps", "paint")[0]["due"]), at + FIVE_DAYS);
    let claimed = org.agent.claim(&run, "paint");
    assert_eq!(claimed["handoff"], Value::Null);
    // What belonged to the first round is over: its token, and its item.
    refused_as(org.agent.submit(&renewed, json!({}), json!({})), "stale");
    let view = org.agent.submit(&claimed, json!({}), json!({})).unwrap();
    assert_eq!(millis(&item(&view, "frame")["due"]), millis(&view["data"]["steps"]["paint"]["at"]) + FIVE_DAYS);
    assert_ne!(item(&view, "frame")["id"], decided["workItemId"]);
    decided["requestId"] = json!(fresh());
    decided["decision"] = json!("completed");
    refused(org.staff.call("decide", decided), "conflict", &["already_decided"]);
}

fn rework_to_a_step_before_the_fork_takes_the_region_along(org: &Org) {
    let run = forked(org, "plan");
    let was = whole_round(org, &run, 1)["data"]["steps"].clone();
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "Another plan." }));
    let shown = "active/- plan=ready make=- write=- tidy=- read=- paint=- frame=- bind=- look=- end=-";
    assert_eq!(states(&view), shown);
    let is = &view["data"]["steps"];
    assert_eq!(is["plan"], was["plan"], "current until it completes anew");
    for step in ["write", "tidy", "read", "paint", "frame", "bind"] {
        assert_eq!(is[step], json!({ "history": [bare(&was[step])] }), "{step}");
    }
    assert!(is.get("make").is_none());
    let view = org.agent.work_on(&run, "plan", json!({}), json!({}));
    let shown = "active/- plan=done make=waiting write=ready tidy=- read=- paint=ready frame=- bind=- look=- end=-";
    assert_eq!(states(&view), shown, "and it forks again");
    whole_round(org, &run, 2);
    let ended = org.staff.decide(&run, "look", "approved", json!({}));
    let shown = "ended/printed plan=done make=done write=done tidy=done read=done paint=done frame=done bind=done \
                 look=done end=done";
    assert_eq!(states(&ended), shown);
}

fn rework_again_and_again_keeps_every_round(org: &Org) {
    let run = forked(org, "make");
    for round in 1..=3 {
        whole_round(org, &run, round);
        org.staff.decide(&run, "look", "rejected", json!({ "note": format!("no {round}") }));
    }
    let view = whole_round(org, &run, 4);
    let texts = |step: &str, field: &str| -> Vec<String> {
        let history = view["data"]["steps"][step]["history"].as_array().unwrap().iter();
        history.map(|h| h.pointer(field).unwrap().as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts("paint", "/summary"), ["painted 1", "painted 2", "painted 3"]);
    assert_eq!(texts("frame", "/summary"), ["framed 1", "framed 2", "framed 3"]);
    assert_eq!(texts("look", "/note"), ["no 1", "no 2"], "the third is still current");
    assert_eq!(org.staff.decide(&run, "look", "approved", json!({}))["run"]["outcome"], "printed");
}

fn rework_to_a_region_before_another_takes_both_along(org: &Org) {
    let rest = "
steps:
  - { id: first, parallel: [a, b], next: second }
  - { id: a, agent: A., next: join }
  - { id: b, agent: B., next: join }
  - { id: second, parallel: [c, d], next: look }
  - { id: c, agent: C., next: join }
  - { id: d, agent: D., next: join }
  - { id: look, approve: Look., person: boss, on_reject: BACK, next: end }
  - { id: end, finish: over }
";
    for (back, shown) in [
        ("first", "active/- first=waiting a=ready b=ready second=- c=- d=- look=- end=-"),
        ("second", "active/- first=done a=done b=done second=waiting c=ready d=ready look=- end=-"),
    ] {
        let run = org.run("two", &rest.replace("BACK", back), json!({}));
        for step in ["b", "a", "d", "c"] {
            org.agent.work_on(&run, step, json!({}), json!({}));
        }
        let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "Again." }));
        assert_eq!(states(&view), shown);
        let again = if back == "first" { &["a", "b", "c", "d"][..] } else { &["d", "c"] };
        for step in again {
            let view = org.agent.work_on(&run, step, json!({}), json!({}));
            assert_eq!(view["data"]["steps"][step]["history"].as_array().unwrap().len(), 1, "{step}");
        }
        assert_eq!(org.staff.decide(&run, "look", "approved", json!({}))["run"]["outcome"], "over");
    }
}

fn rework_to_a_step_after_the_join_leaves_the_region(org: &Org) {
    let run = forked(org, "bind");
    let was = whole_round(org, &run, 1)["data"]["steps"].clone();
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "Bind it better." }));
    let shown =
        "active/- plan=done make=done write=done tidy=done read=done paint=done frame=done bind=ready look=- end=-";
    assert_eq!(states(&view), shown);
    for step in ["plan", "write", "tidy", "read", "paint", "frame", "bind"] {
        assert_eq!(view["data"]["steps"][step], was[step], "{step}");
    }
}

fn held_events_stay_held_while_branches_run_again(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [hear, work], next: look }
  - { id: hear, wait_for: signal, next: join }
  - { id: work, agent: Work., next: join }
  - { id: look, approve: Look., person: boss, on_reject: both }
  - { id: end, finish: over }
";
    let run = org.run("hearing", rest, json!({}));
    let send = |n: u32| {
        let event = json!({ "runId": run["run"]["id"], "name": "signal", "data": { "n": n } });
        org.agent.ok("send_event", event)["consumedBy"].clone()
    };
    assert_eq!((send(1), send(2), send(3)), (json!("hear"), Value::Null, Value::Null));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "Again." }));
    assert_eq!(states(&view), "active/- both=waiting hear=done work=ready look=- end=-", "the surplus event serves it");
    let hear = &view["data"]["steps"]["hear"];
    assert_eq!((&hear["output"], &hear["history"][0]["output"]), (&json!({ "n": 2 }), &json!({ "n": 1 })));
}
