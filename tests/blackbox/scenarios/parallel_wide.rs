//! As many branches as one write holds (parallel-1): what happens to all of them at once is still one write.

use serde_json::{Value, json};

use crate::harness::{Org, eventually, file, item, refused, scenarios, state};

scenarios! {
    any: [
        thirty_branches_fork_and_join,
        a_wide_region_follows_a_wide_region,
        thirty_claims_end_in_one_write,
        thirty_escalations_with_all_they_can_carry_go_on_and_end,
        thirty_held_events_are_consumed_by_the_fork,
    ],
    fast: [thirty_waits_pass_and_thirty_steps_are_overdue_at_one_moment],
}

/// The most branches of one step.
pub const BRANCHES: usize = 30;

/// Steps with that many branches: every second one an agent's, the others a person's, all with a due time.
pub fn wide(branches: usize) -> String {
    let entries: Vec<String> = (0..branches).map(|n| format!("b{n}")).collect();
    let mut rest = format!("steps:\n  - {{ id: all, parallel: [{}], next: sign }}\n", entries.join(", "));
    for n in 0..branches {
        let what = if n % 2 == 0 { "agent: Do." } else { "task: Do., person: clerk" };
        rest.push_str(&format!("  - {{ id: b{n}, {what}, due: 2h, next: join }}\n"));
    }
    rest + "  - { id: sign, approve: Sign., person: boss, on_reject: all }\n  - { id: end, finish: over }\n"
}

fn thirty_branches_fork_and_join(org: &Org) {
    let run = org.run("wide", &wide(BRANCHES), json!({}));
    let through = |round: usize| {
        assert_eq!(org.agent.work_of(&run).len(), BRANCHES / 2);
        assert_eq!(org.staff.work_of(&run).len(), BRANCHES / 2);
        let mut view = Value::Null;
        for n in (0..BRANCHES).rev() {
            let step = format!("b{n}");
            view = match n % 2 {
                0 => org.agent.work_on(&run, &step, json!({}), json!({})),
                _ => org.staff.decide(&run, &step, "completed", json!({})),
            };
            assert_eq!(view["data"]["steps"][&step]["history"].as_array().unwrap().len(), round);
        }
        assert_eq!((state(&view, "all"), state(&view, "sign")), (&json!("done"), &json!("waiting")));
    };
    through(0);
    // One write takes all thirty back and makes them ready again.
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    assert_eq!(state(&view, "all"), "waiting");
    through(1);
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
    // And one write ends a run whose thirty branches are all open.
    let run = org.agent.start("wide", json!({}));
    let view = org.staff.decide(&run, "b1", "failed", json!({ "note": "No." }));
    let cancelled = view["steps"].as_array().unwrap().iter().filter(|s| s["state"] == "cancelled").count();
    assert_eq!(cancelled, BRANCHES, "the parallel step and all branches but the one that failed");
    assert!(org.staff.work_of(&run).is_empty() && org.agent.work_of(&run).is_empty());
}

fn all(n: usize) -> impl DoubleEndedIterator<Item = String> {
    (0..n).map(|n| format!("b{n}"))
}

fn count(view: &Value, state: &str) -> usize {
    view["steps"].as_array().unwrap().iter().filter(|s| s["state"] == state).count()
}

/// The same with agents alone.
fn wide_agents() -> String {
    wide(BRANCHES).replace("task: Do., person: clerk", "agent: Do.")
}

fn a_wide_region_follows_a_wide_region(org: &Org) {
    let (first, second) = (wide(BRANCHES), wide(BRANCHES));
    let (first, _) = first.split_once("  - { id: sign").unwrap();
    let (_, second) = second.split_once("steps:\n").unwrap();
    let second =
        second.replace("id: all", "id: more").replace("id: b", "id: c").replace("[b", "[c").replace(", b", ", c");
    let run = org.run("twice", &format!("{}{second}", first.replace("next: sign", "next: more")), json!({}));
    let through = |letter: &str| {
        let mut view = Value::Null;
        for n in 0..BRANCHES {
            let step = format!("{letter}{n}");
            view = match n % 2 {
                0 => {
                    let call = json!({ "runId": run["run"]["id"], "stepId": step });
                    let claimed = org.agent.exact("claim", with_id(call)).unwrap();
                    let call = json!({ "token": claimed["token"], "output": {}, "summary": "Done." });
                    org.agent.exact("submit", with_id(call)).unwrap()
                }
                _ => org.staff.decide(&run, &step, "completed", json!({})),
            };
        }
        view
    };
    let view = through("b");
    assert_eq!((state(&view, "all"), state(&view, "more")), (&json!("done"), &json!("waiting")), "one write did both");
    assert_eq!((org.agent.work_of(&run).len(), org.staff.work_of(&run).len()), (BRANCHES / 2, BRANCHES / 2));
    let view = through("c");
    assert_eq!((state(&view, "more"), state(&view, "sign")), (&json!("done"), &json!("waiting")));
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    assert_eq!((state(&view, "all"), state(&view, "more")), (&json!("waiting"), &Value::Null), "sixty steps go back");
    assert_eq!((count(&view, "done"), count(&view, "ready")), (0, BRANCHES / 2));
    assert_eq!((org.agent.work_of(&run).len(), org.staff.work_of(&run).len()), (BRANCHES / 2, BRANCHES / 2));
}

fn thirty_claims_end_in_one_write(org: &Org) {
    let run = org.run("claims", &wide_agents(), json!({}));
    let claimed: Vec<Value> = all(BRANCHES).map(|step| org.agent.claim(&run, &step)).collect();
    let tokens: Vec<Value> = claimed
        .iter()
        .map(|c| org.agent.ok("renew", json!({ "token": c["token"], "progress": "Half." }))["token"].clone())
        .collect();
    let view = org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Enough." }));
    assert_eq!(count(&view, "cancelled"), BRANCHES + 1);
    for token in tokens {
        let submit = json!({ "token": token, "output": {}, "summary": "Done." });
        refused(org.agent.exact("submit", with_id(submit)), "conflict", &["run_ended"]);
    }
    assert!(org.agent.work_of(&run).is_empty());
}

fn with_id(mut call: Value) -> Value {
    call["requestId"] = json!(crate::harness::fresh());
    call
}

fn thirty_escalations_with_all_they_can_carry_go_on_and_end(org: &Org) {
    let run = org.run("escalated", &wide_agents(), json!({}));
    // The longest texts there may be, in characters of four bytes.
    let long = "\u{1f6e0}".repeat(4_000);
    let once = |tool: &str, call: Value| org.agent.exact(tool, with_id(call)).unwrap();
    for step in all(BRANCHES) {
        let claimed = once("claim", json!({ "runId": run["run"]["id"], "stepId": step }));
        let renewed = once("renew", json!({ "token": claimed["token"], "progress": long }));
        once("escalate", json!({ "token": renewed["token"], "note": long }));
    }
    assert_eq!(org.operator.work_of(&run).len(), BRANCHES);
    let view = org.operator.view(&run);
    for step in all(BRANCHES) {
        let item = item(&view, &step);
        assert_eq!((&item["escalation"]["note"], &item["handoff"]["progress"]), (&json!(long), &json!(long)));
    }
    // One comes back, and one is completed: all the others have a new snapshot in the same write.
    org.operator.decide(&run, "b0", "returned", json!({ "note": long }));
    let claimed = org.agent.claim(&run, "b0");
    assert_eq!(claimed["handoff"]["returned"]["note"], json!(long));
    org.agent.submit(&claimed, json!({}), json!({})).unwrap();
    org.operator.decide(&run, "b1", "completed", json!({ "output": {} }));
    let ended = org.operator.decide(&run, "b2", "failed", json!({ "note": long }));
    assert_eq!((count(&ended, "done"), count(&ended, "failed"), count(&ended, "cancelled")), (2, 1, BRANCHES - 2));
    assert!(org.operator.work_of(&run).is_empty());
}

/// Thirty waits, each before a person's step.
fn waits(wait: &str) -> String {
    let entries: Vec<String> = all(BRANCHES).collect();
    let mut rest = format!(
        "steps:\n  - {{ id: begin, agent: Begin. }}\n  - {{ id: all, parallel: [{}], next: end }}\n",
        entries.join(", ")
    );
    for n in 0..BRANCHES {
        rest.push_str(&format!("  - {{ id: b{n}, {wait}, next: t{n} }}\n"));
        rest.push_str(&format!("  - {{ id: t{n}, task: Do., person: clerk, due: 30m, next: join }}\n"));
    }
    rest + "  - { id: end, finish: over }\n"
}

fn thirty_held_events_are_consumed_by_the_fork(org: &Org) {
    let run = org.run("events", &waits("wait_for: paid, timeout: 1d"), json!({}));
    for n in 0..BRANCHES {
        let event = json!({ "runId": run["run"]["id"], "name": "paid", "data": { "n": n } });
        org.agent.exact("send_event", with_id(event)).unwrap();
    }
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    for (n, step) in all(BRANCHES).enumerate() {
        assert_eq!(
            view["data"]["steps"][&step]["output"],
            json!({ "n": n }),
            "in the order they came, and of the file"
        );
    }
    assert_eq!((count(&view, "waiting"), org.staff.work_of(&run).len()), (BRANCHES + 1, BRANCHES));
}

fn thirty_waits_pass_and_thirty_steps_are_overdue_at_one_moment(org: &Org) {
    org.publish(&file("waits", &waits("wait: 30m")));
    let run = org.agent.start("waits", json!({}));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(count(&view, "waiting"), BRANCHES + 1);
    let listed = eventually("all waits pass", || Some(org.staff.work_of(&run)).filter(|l| !l.is_empty()));
    assert_eq!(listed.len(), BRANCHES, "in one write");
    let overdue = |view: &Value| view["steps"].as_array().unwrap().iter().filter(|s| s["overdue"] == true).count();
    let view = eventually("they are overdue", || Some(org.staff.view(&run)).filter(|v| overdue(v) > 0));
    assert_eq!(overdue(&view), BRANCHES);
    let told = || {
        let (log, id) = (org.server.log(), run["run"]["id"].as_str().unwrap().to_owned());
        log.lines().filter(|l| l.contains(&id) && l.contains("people are told") && l.contains("\"overdue\"")).count()
    };
    eventually("people are told of each", || Some(()).filter(|()| told() >= BRANCHES));
    let ended = org.staff.decide(&run, "t7", "failed", json!({ "note": "Too late." }));
    assert_eq!(count(&ended, "cancelled"), BRANCHES);
    assert_eq!(told(), BRANCHES, "of each once");
}
