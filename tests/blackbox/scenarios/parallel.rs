//! Several branches at once (parallel-1): the fork, the join, and the states between them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Org, file, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        describe_offers_the_profile,
        a_fork_makes_every_entry_ready_in_the_write_that_reached_it,
        a_fork_may_be_the_first_thing_of_a_run,
        the_last_branch_joins_in_its_own_write,
        every_order_of_branches_joins_with_the_last,
        an_early_branch_waits_and_everybody_reads_its_output,
        a_run_is_active_while_any_branch_has_work_for_agents,
        a_parallel_step_shows_its_kind_and_records_nothing,
        a_route_may_join_at_once,
        a_region_may_follow_a_region,
    ],
}

/// One agent alone, one agent then a person, one person; before and after them somebody.
pub const LEAFLET: &str = "
steps:
  - { id: plan, agent: Plan., output: { title: string } }
  - { id: make, parallel: [write, shoot, permit], next: look }
  - { id: write, agent: Write., output: { text: string }, next: join }
  - { id: shoot, agent: Shoot., next: retouch }
  - { id: retouch, task: Retouch., person: studio, next: join }
  - { id: permit, approve: May we?, person: boss, next: join }
  - { id: look, approve: Look at it all., person: boss, on_reject: make }
  - { id: end, finish: printed }
";

/// A run of [`LEAFLET`] whose branches are all open.
pub fn forked(org: &Org) -> Value {
    let run = org.run("leaflet", LEAFLET, json!({}));
    org.agent.work_on(&run, "plan", json!({ "title": "t" }), json!({}))
}

/// Completes a step of [`LEAFLET`].
pub fn complete(org: &Org, run: &Value, step: &str) -> Value {
    match step {
        "write" => org.agent.work_on(run, "write", json!({ "text": "t" }), json!({})),
        "shoot" => org.agent.work_on(run, "shoot", json!({}), json!({})),
        "retouch" => org.staff.decide(run, "retouch", "completed", json!({})),
        _ => org.staff.decide(run, step, "approved", json!({})),
    }
}

fn describe_offers_the_profile(org: &Org) {
    let described = org.agent.ok("describe", json!({}));
    assert!(described["profiles"].as_array().unwrap().contains(&json!("parallel-1")), "{described}");
}

fn a_fork_makes_every_entry_ready_in_the_write_that_reached_it(org: &Org) {
    let view = forked(org);
    let shown = "active/- plan=done make=waiting write=ready shoot=ready retouch=- permit=waiting look=- end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(org.agent.view(&view), view, "nothing was left to do after the write returned");
    let at = &view["data"]["steps"]["plan"]["at"];
    let work = org.agent.work_of(&view);
    let listed: BTreeSet<&str> = work.iter().map(|w| w["stepId"].as_str().unwrap()).collect();
    assert_eq!(listed, BTreeSet::from(["shoot", "write"]));
    assert!(work.iter().all(|w| w["readySince"] == *at), "one moment for all: {work:?}");
    assert_eq!(item(&view, "permit")["decide"]["decisions"], json!(["approved", "rejected", "failed"]));
    assert_eq!(org.staff.work_of(&view).len(), 1);
    // What no branch has reached yet is nobody's work.
    refused_as(org.agent.try_claim(&view, "retouch"), "forbidden");
    refused(org.agent.try_claim(&view, "plan"), "conflict", &["not_ready"]);
    refused_as(org.agent.try_claim(&view, "make"), "forbidden");
    refused_as(org.agent.try_claim(&view, "join"), "not_found");
}

fn a_fork_may_be_the_first_thing_of_a_run(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [one, two], next: end }
  - { id: one, agent: One., next: join }
  - { id: two, task: Two., person: clerk, next: join }
  - { id: end, finish: over }
";
    let run = org.run("at-once", rest, json!({}));
    assert_eq!(states(&run), "active/- both=waiting one=ready two=waiting end=-");
    assert_eq!(org.agent.work_of(&run)[0]["readySince"], run["run"]["startedAt"]);
    org.agent.work_on(&run, "one", json!({}), json!({}));
    let ended = org.staff.decide(&run, "two", "completed", json!({}));
    assert_eq!(states(&ended), "ended/over both=done one=done two=done end=done");
}

fn the_last_branch_joins_in_its_own_write(org: &Org) {
    let run = forked(org);
    complete(org, &run, "write");
    complete(org, &run, "permit");
    let view = complete(org, &run, "shoot");
    let shown = "waiting/- plan=done make=waiting write=done shoot=done retouch=waiting permit=done look=- end=-";
    assert_eq!(states(&view), shown, "a branch that goes on has not joined");
    let view = complete(org, &run, "retouch");
    let shown = "waiting/- plan=done make=done write=done shoot=done retouch=done permit=done look=waiting end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(org.staff.view(&run), view, "nothing was left to do after the write returned");
    assert_eq!(view["run"]["updatedAt"], view["data"]["steps"]["retouch"]["at"], "one write");
    let ended = complete(org, &run, "look");
    assert_eq!(ended["run"]["outcome"], "printed");
    assert_eq!(state(&ended, "make"), "done");
}

fn every_order_of_branches_joins_with_the_last(org: &Org) {
    let orders = [
        ["write", "shoot", "retouch", "permit"],
        ["shoot", "permit", "retouch", "write"],
        ["permit", "write", "shoot", "retouch"],
        ["shoot", "write", "permit", "retouch"],
    ];
    for order in orders {
        let run = forked(org);
        for (n, step) in order.iter().enumerate() {
            let view = complete(org, &run, step);
            let last = n + 1 == order.len();
            let (make, look) = if last { ("done", json!("waiting")) } else { ("waiting", Value::Null) };
            assert_eq!((state(&view, "make"), state(&view, "look")), (&json!(make), &look), "{order:?} {step}");
        }
    }
}

fn an_early_branch_waits_and_everybody_reads_its_output(org: &Org) {
    let run = forked(org);
    let view = org.agent.work_on(&run, "write", json!({ "text": "early" }), json!({}));
    assert_eq!((state(&view, "write"), state(&view, "make")), (&json!("done"), &json!("waiting")));
    assert_eq!(view["data"]["steps"]["write"]["output"], json!({ "text": "early" }));
    let claimed = org.other.claim(&run, "shoot");
    assert_eq!(claimed["data"]["steps"]["write"]["output"], json!({ "text": "early" }), "a sibling reads it");
    assert_eq!(org.staff.view(&run)["data"]["steps"]["write"], view["data"]["steps"]["write"]);
    refused(org.agent.try_claim(&run, "write"), "conflict", &["not_ready"]);
}

fn a_run_is_active_while_any_branch_has_work_for_agents(org: &Org) {
    let run = forked(org);
    let state_of = || org.staff.view(&run)["run"]["state"].clone();
    assert_eq!(state_of(), "active");
    let (write, shoot) = (org.agent.claim(&run, "write"), org.other.claim(&run, "shoot"));
    assert_eq!(state_of(), "active", "claimed is work for agents, too");
    org.agent.submit(&write, json!({ "text": "t" }), json!({})).unwrap();
    assert_eq!(state_of(), "active", "the other branch goes on");
    let view = org.other.ok("escalate", json!({ "token": shoot["token"], "note": "No camera." }));
    assert_eq!(view["run"]["state"], "waiting", "people alone are awaited");
    let listed = |state: &str| org.agent.pages("list_runs", json!({ "process": "leaflet", "state": state })).len();
    assert_eq!((listed("active"), listed("waiting")), (0, 1));
    let view = org.operator.decide(&run, "shoot", "returned", json!({ "note": "Take mine." }));
    assert_eq!(view["run"]["state"], "active");
    assert_eq!((listed("active"), listed("waiting")), (1, 0));
    let view = complete(org, &run, "shoot");
    assert_eq!(view["run"]["state"], "waiting");
}

fn a_parallel_step_shows_its_kind_and_records_nothing(org: &Org) {
    let run = org.run("leaflet", LEAFLET, json!({}));
    let make = |view: &Value| view["steps"].as_array().unwrap().iter().find(|s| s["id"] == "make").unwrap().clone();
    assert_eq!(make(&run), json!({ "id": "make", "kind": "parallel", "state": null }));
    let view = org.agent.work_on(&run, "plan", json!({ "title": "t" }), json!({}));
    assert_eq!(make(&view), json!({ "id": "make", "kind": "parallel", "state": "waiting" }));
    assert!(view["workItems"].as_array().unwrap().iter().all(|i| i["stepId"] != "make"));
    for step in ["write", "shoot", "retouch", "permit"] {
        let view = complete(org, &run, step);
        assert!(view["data"]["steps"].get("make").is_none(), "{}", view["data"]);
    }
    let ended = complete(org, &run, "look");
    assert_eq!(make(&ended), json!({ "id": "make", "kind": "parallel", "state": "done" }));
    assert!(ended["data"]["steps"].get("make").is_none());
}

fn a_route_may_join_at_once(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [ask, check], next: end }
  - { id: ask, agent: Ask., next: [join, { to: call, when: Nobody answers }] }
  - { id: call, task: Call., person: clerk, next: [wait_a_bit, join] }
  - { id: wait_a_bit, wait: 0m, next: join }
  - { id: check, agent: Check., next: join }
  - { id: end, finish: over }
";
    org.publish(&file("routes", rest));
    let to = |next: &str| json!({ "next": next, "reason": "So." });
    let run = org.agent.start("routes", json!({}));
    let claimed = org.agent.claim(&run, "ask");
    assert_eq!(claimed["step"]["next"], json!([{ "to": "join" }, { "to": "call", "when": "Nobody answers" }]));
    let unknown = org.agent.submit(&claimed, json!({}), to("check"));
    refused(unknown, "not_accepted", &["next: expected one of join, call"]);
    let view = org.agent.submit(&claimed, json!({}), to("join")).unwrap();
    assert_eq!(states(&view), "active/- both=waiting ask=done call=- wait_a_bit=- check=ready end=-");
    assert_eq!(view["data"]["steps"]["ask"]["next"], "join");
    let ended = org.agent.work_on(&run, "check", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/over both=done ask=done call=- wait_a_bit=- check=done end=done");
    for (next, wait) in [("join", "-"), ("wait_a_bit", "done")] {
        let run = org.agent.start("routes", json!({}));
        org.agent.work_on(&run, "check", json!({}), json!({}));
        org.agent.work_on(&run, "ask", json!({}), to("call"));
        assert_eq!(item(&org.staff.view(&run), "call")["next"], json!([{ "to": "wait_a_bit" }, { "to": "join" }]));
        let ended = org.staff.decide(&run, "call", "completed", to(next));
        let shown = format!("ended/over both=done ask=done call=done wait_a_bit={wait} check=done end=done");
        assert_eq!(states(&ended), shown);
    }
}

fn a_region_may_follow_a_region(org: &Org) {
    let rest = "
steps:
  - { id: first, parallel: [a, b], next: second }
  - { id: a, agent: A., next: join }
  - { id: b, agent: B., next: join }
  - { id: second, parallel: [c, d], next: end }
  - { id: c, agent: C., next: join }
  - { id: d, task: D., person: clerk, next: join }
  - { id: end, finish: over }
";
    let run = org.run("two", rest, json!({}));
    org.agent.work_on(&run, "b", json!({}), json!({}));
    let view = org.agent.work_on(&run, "a", json!({}), json!({}));
    assert_eq!(states(&view), "active/- first=done a=done b=done second=waiting c=ready d=waiting end=-");
    org.staff.decide(&run, "d", "completed", json!({}));
    let ended = org.agent.work_on(&run, "c", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/over first=done a=done b=done second=done c=done d=done end=done");
}
