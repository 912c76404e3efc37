//! The example `supplier-check`, played to each of its ends with what the evaluator says on the way (profile check-1).

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Answer, Org, Script, item, refused, scenarios, states};

scenarios! {
    checked: [
        a_clear_supplier_is_welcome,
        a_listed_supplier_is_turned_down,
        work_that_failed_is_mended,
        a_rejected_screening_is_done_again,
        what_an_operator_adopts_goes_to_finance,
        what_an_operator_returns_is_done_again,
        it_fails_at_the_escalation,
        it_fails_at_the_approval,
    ],
}

fn started(org: &Org) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/supplier-check/PROCESS.md");
    org.publish(&std::fs::read_to_string(path).unwrap());
    let run = org.agent.start("supplier-check", json!({ "company": "Gull & Sons", "yearlySpend": 48_000 }));
    assert_eq!(states(&run), "active/- screen=ready sign=- turn_down=- welcome=-");
    run
}

/// Screens as the script says, and takes this route.
fn screened(org: &Org, run: &Value, script: &Script, next: &str) -> Answer {
    let claimed = org.agent.claim(run, "screen");
    submitted(org, &claimed, script, next)
}

fn submitted(org: &Org, claimed: &Value, script: &Script, next: &str) -> Answer {
    let report = org.agent.upload("report.txt", b"Nobody of that name.");
    let output = json!({ "clear": next == "sign", "findings": "Searched both lists for the name and two directors." });
    let more = json!({
        "evidence": [{ "kind": "file", "ref": report["id"] }], "summary": script.summary(), "next": next,
        "reason": "By the findings.",
    });
    org.agent.submit(claimed, output, more)
}

fn sound() -> Script {
    Script::new().yes_to("the field clear", 0.97).name("shown", 0.93).level(2, 0.88)
}

fn open() -> Script {
    Script::new().yes_to("the field clear", 0.97).name("open", 0.93).level(2, 0.88)
}

fn a_clear_supplier_is_welcome(org: &Org) {
    let run = started(org);
    let script = sound();
    let view = screened(org, &run, &script, "sign").unwrap();
    assert_eq!(states(&view), "waiting/- screen=done sign=waiting turn_down=- welcome=-");
    let questions = view["data"]["steps"]["screen"]["check"]["questions"].clone();
    let told: Vec<Value> =
        questions.as_array().unwrap().iter().map(|q| json!([q["kind"], q["answer"], q["result"]])).collect();
    assert_eq!(json!(told), json!([["yes_no", 0.97, "pass"], ["choice", "shown", "pass"], ["rubric", 2, "pass"]]));
    assert_eq!(script.asked(), 3);
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(states(&ended), "ended/welcome screen=done sign=done turn_down=- welcome=done");
}

fn a_listed_supplier_is_turned_down(org: &Org) {
    let run = started(org);
    let ended = screened(org, &run, &sound(), "turn_down").unwrap();
    assert_eq!(states(&ended), "ended/turned down screen=done sign=- turn_down=done welcome=-");
}

fn work_that_failed_is_mended(org: &Org) {
    let run = started(org);
    let claimed = org.agent.claim(&run, "screen");
    let poor = Script::new().yes(0.31).name("claimed", 0.9).level(1, 0.85);
    let lines = [
        "check: Does the field clear say the same as the findings? → no (0.31)",
        "check: How do the findings come to their conclusion? → claimed (0.9)",
        "check: How much of the lists do the findings cover? → level 1: One of the two lists. (0.85)",
    ];
    refused(submitted(org, &claimed, &poor, "sign"), "not_accepted", &lines);
    let view = submitted(org, &claimed, &sound(), "sign").unwrap();
    assert_eq!(states(&view), "waiting/- screen=done sign=waiting turn_down=- welcome=-");
}

fn a_rejected_screening_is_done_again(org: &Org) {
    let run = started(org);
    screened(org, &run, &sound(), "sign").unwrap();
    let back = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Search for the owner too." }));
    assert_eq!(states(&back), "active/- screen=ready sign=- turn_down=- welcome=-");
    let claimed = org.agent.claim(&run, "screen");
    assert_eq!(claimed["handoff"], Value::Null);
    assert_eq!(claimed["data"]["steps"]["sign"]["note"], "Search for the owner too.");
    let again = Script::new().yes(0.99).name("shown", 1.0).level(2, 1.0);
    let view = submitted(org, &claimed, &again, "sign").unwrap();
    let entry = &view["data"]["steps"]["screen"];
    let first = |entry: &Value| entry["check"]["questions"][0]["answer"].clone();
    assert_eq!((first(entry), first(&entry["history"][0])), (json!(0.99), json!(0.97)));
    assert!(again.requests()[0].around.contains("Search for the owner too."), "the evaluator sees the note");
    let ended = org.staff.decide(&run, "sign", "approved", json!({ "note": "Now it will do." }));
    assert_eq!(states(&ended), "ended/welcome screen=done sign=done turn_down=- welcome=done");
}

fn what_an_operator_adopts_goes_to_finance(org: &Org) {
    let run = started(org);
    let view = screened(org, &run, &open(), "sign").unwrap();
    assert_eq!(states(&view), "waiting/- screen=waiting sign=- turn_down=- welcome=-");
    let view = org.operator.decide(&run, "screen", "completed", json!({}));
    assert_eq!(states(&view), "waiting/- screen=done sign=waiting turn_down=- welcome=-");
    assert_eq!(view["data"]["steps"]["screen"]["check"]["verdict"], "unsure");
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "welcome");
}

fn what_an_operator_returns_is_done_again(org: &Org) {
    let run = started(org);
    screened(org, &run, &open(), "sign").unwrap();
    org.operator.decide(&run, "screen", "returned", json!({ "note": "Say what was searched." }));
    let claimed = org.agent.claim(&run, "screen");
    assert_eq!(claimed["handoff"]["returned"]["note"], "Say what was searched.");
    let line = "check: How do the findings come to their conclusion? → open (0.93)";
    assert_eq!(claimed["handoff"]["issues"], json!([line]));
    let ended = submitted(org, &claimed, &sound(), "turn_down").unwrap();
    assert_eq!(ended["run"]["outcome"], "turned down");
}

fn it_fails_at_the_escalation(org: &Org) {
    let run = started(org);
    // Sure of the name, and unsure of how sure: that goes to a person too.
    let script = Script::new().yes(0.97).name("shown", 0.5).level(2, 1.0);
    let view = screened(org, &run, &script, "sign").unwrap();
    assert_eq!(item(&view, "screen")["escalation"]["check"]["verdict"], "unsure");
    let ended = org.operator.decide(&run, "screen", "failed", json!({ "note": "There is no such company." }));
    assert_eq!(states(&ended), "ended/failed screen=failed sign=- turn_down=- welcome=-");
}

fn it_fails_at_the_approval(org: &Org) {
    let run = started(org);
    screened(org, &run, &sound(), "sign").unwrap();
    let ended = org.staff.decide(&run, "sign", "failed", json!({ "note": "We buy nothing any more." }));
    assert_eq!(states(&ended), "ended/failed screen=done sign=failed turn_down=- welcome=-");
    assert_eq!(ended["data"]["steps"]["screen"]["check"]["verdict"], "pass");
}
