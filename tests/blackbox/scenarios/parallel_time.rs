//! Time and events in branches (parallel-1): clocks of their own, waits beside each other, timeouts that join.

use serde_json::{Value, json};

use super::examples::swift;
use super::waits::millis;
use crate::harness::{Org, eventually, fresh, item, refused_as, scenarios, state, states};

scenarios! {
    any: [
        every_branch_has_a_due_clock_of_its_own,
        an_event_held_before_the_fork_is_consumed_by_it,
        of_two_waits_of_one_name_the_longest_ready_is_served_first,
        an_event_may_be_what_joins,
        waits_of_no_time_join_in_the_write_that_forked,
        a_timeout_may_join,
    ],
    fast: [
        one_overdue_branch_leaves_the_others_in_time,
        waits_in_branches_pass_each_at_its_time_and_the_last_joins,
        a_late_event_loses_in_a_branch_too,
        what_was_read_before_a_siblings_wait_elapsed_is_stale,
    ],
    own: [a_run_read_after_a_siblings_wait_elapsed_can_be_decided],
}

const MINUTE: i64 = 60_000;

fn send(org: &Org, run: &Value, name: &str, n: u32) -> Value {
    let event = json!({ "runId": run["run"]["id"], "name": name, "data": { "n": n } });
    org.agent.ok("send_event", event)["consumedBy"].clone()
}

/// The steps that show a due time, with the distance to `since` in minutes.
fn dues(view: &Value, since: &Value) -> Vec<(String, i64)> {
    let shown = view["steps"].as_array().unwrap().iter().filter(|s| s.get("due").is_some());
    shown.map(|s| (s["id"].as_str().unwrap().to_owned(), (millis(&s["due"]) - millis(since)) / MINUTE)).collect()
}

const DUES: &str = "
steps:
  - { id: all, parallel: [one, two, three], next: end }
  - { id: one, agent: One., due: 30m, next: four }
  - { id: two, task: Two., person: clerk, due: 2h, next: join }
  - { id: three, approve: Three., person: boss, next: join }
  - { id: four, task: Four., person: clerk, due: 30m, next: join }
  - { id: end, finish: over }
";

fn every_branch_has_a_due_clock_of_its_own(org: &Org) {
    let run = org.run("dues", DUES, json!({}));
    let clocks = |list: &[(&str, i64)]| list.iter().map(|(s, m)| ((*s).to_owned(), *m)).collect::<Vec<_>>();
    assert_eq!(dues(&run, &run["run"]["startedAt"]), clocks(&[("one", 30), ("two", 120)]), "from the fork");
    let (two, was) = (item(&run, "two")["due"].clone(), &run["steps"][2]["due"]);
    assert_eq!(&two, was);
    assert_eq!(item(&run, "three")["due"], Value::Null);
    let view = org.agent.work_on(&run, "one", json!({}), json!({}));
    let at = &view["data"]["steps"]["one"]["at"];
    assert_eq!(item(&view, "two")["due"], two, "a sibling's progress does not touch it");
    assert_eq!(millis(&item(&view, "four")["due"]) - millis(at), 30 * MINUTE, "from when its branch came to it");
    let listed = org.staff.work_of(&run);
    let due = |step: &str| listed.iter().find(|w| w["workItem"]["stepId"] == step).unwrap()["workItem"]["due"].clone();
    assert_eq!((due("two"), due("four")), (two, item(&view, "four")["due"].clone()));
}

fn one_overdue_branch_leaves_the_others_in_time(org: &Org) {
    let rest = DUES.replace("two, task: Two., person: clerk, due: 2h", "two, task: Two., person: clerk, due: 9d");
    let run = org.run("dues", &rest, json!({}));
    let one = |view: &Value| view["steps"][1].clone();
    let view = eventually("one is overdue", || Some(org.staff.view(&run)).filter(|v| one(v)["overdue"] == true));
    assert_eq!(states(&view), "active/- all=waiting one=ready two=waiting three=waiting four=- end=-", "it stays open");
    assert_eq!(view["steps"][2]["overdue"], false);
    assert_eq!(org.agent.work_of(&run)[0]["overdue"], true);
    let told = |step: &str, what: &str| {
        let (log, id) = (org.server.log(), run["run"]["id"].as_str().unwrap().to_owned());
        let lines = log.lines().filter(|l| l.contains(&id) && l.contains("people are told"));
        lines.filter(|l| l.contains(&format!("\"{step}\"")) && l.contains(&format!("\"{what}\""))).count()
    };
    eventually("the notice is sent", || Some(()).filter(|()| told("one", "overdue") > 0));
    assert_eq!((told("two", "work"), told("three", "work")), (1, 1), "each person of their own item, once");
    assert_eq!((told("one", "overdue"), told("two", "overdue"), told("three", "overdue")), (1, 0, 0));
    org.agent.work_on(&run, "one", json!({}), json!({}));
    org.staff.decide(&run, "three", "approved", json!({}));
    org.staff.decide(&run, "two", "completed", json!({}));
    let ended = org.staff.decide(&run, "four", "completed", json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
}

const WAITS: &str = "
steps:
  - { id: begin, agent: Begin. }
  - { id: all, parallel: [second, first, work], next: end }
  - { id: work, agent: Work., next: join }
  - { id: first, wait_for: paid, next: third }
  - { id: second, wait_for: paid, next: join }
  - { id: third, wait_for: paid, next: join }
  - { id: end, finish: over }
";

fn an_event_held_before_the_fork_is_consumed_by_it(org: &Org) {
    let run = org.run("payments", WAITS, json!({}));
    assert_eq!((send(org, &run, "paid", 1), send(org, &run, "paid", 2)), (Value::Null, Value::Null));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    let shown = "active/- begin=done all=waiting work=ready first=done second=done third=waiting end=-";
    assert_eq!(states(&view), shown, "both waits that the fork made ready, in its write; the one after them waits");
    let entry = |step: &str| view["data"]["steps"][step].clone();
    assert_eq!(entry("first")["output"], json!({ "n": 1 }), "ready at one instant: the order of the file decides");
    assert_eq!(entry("second")["output"], json!({ "n": 2 }));
    assert_eq!(entry("first")["at"], entry("begin")["at"]);
    // A third one, held before: consumed by the wait that the first leads to, in the same write.
    let run = org.agent.start("payments", json!({}));
    (1..=3).for_each(|n| assert_eq!(send(org, &run, "paid", n), Value::Null));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    let shown = "active/- begin=done all=waiting work=ready first=done second=done third=done end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(view["data"]["steps"]["third"]["output"], json!({ "n": 3 }));
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
}

fn of_two_waits_of_one_name_the_longest_ready_is_served_first(org: &Org) {
    let run = org.run("payments", WAITS, json!({}));
    org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(send(org, &run, "paid", 1), "first", "ready at one instant: the order of the file decides");
    assert_eq!(send(org, &run, "other", 0), Value::Null);
    assert_eq!(send(org, &run, "paid", 2), "second", "it is ready longer than the third");
    let view = org.agent.view(&run);
    assert_eq!(states(&view), "active/- begin=done all=waiting work=ready first=done second=done third=waiting end=-");
    assert_eq!(send(org, &run, "paid", 3), "third");
    assert_eq!(send(org, &run, "paid", 4), Value::Null, "held, for nobody waits");
    // Which waits longer is not a matter of the file: here the later one in it waits first.
    let rest = "
steps:
  - { id: both, parallel: [one, two], next: end }
  - { id: one, agent: One., next: late }
  - { id: late, wait_for: paid, next: join }
  - { id: two, wait_for: paid, next: join }
  - { id: end, finish: over }
";
    let run = org.run("longest", rest, json!({}));
    org.agent.work_on(&run, "one", json!({}), json!({}));
    assert_eq!((send(org, &run, "paid", 1), send(org, &run, "paid", 2)), (json!("two"), json!("late")));
    assert_eq!(org.agent.view(&run)["run"]["outcome"], "over");
}

fn an_event_may_be_what_joins(org: &Org) {
    let run = org.run("payments", WAITS, json!({}));
    org.agent.work_on(&run, "begin", json!({}), json!({}));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    (1..=2).for_each(|n| drop(send(org, &run, "paid", n)));
    let view = org.agent.view(&run);
    assert_eq!(states(&view), "waiting/- begin=done all=waiting work=done first=done second=done third=waiting end=-");
    assert_eq!(send(org, &run, "paid", 3), "third");
    let ended = org.agent.view(&run);
    assert_eq!(states(&ended), "ended/over begin=done all=done work=done first=done second=done third=done end=done");
    assert_eq!(ended["run"]["ended"]["at"], ended["data"]["steps"]["third"]["at"], "in the event's own write");
}

fn waits_of_no_time_join_in_the_write_that_forked(org: &Org) {
    let rest = "
steps:
  - { id: begin, agent: Begin. }
  - { id: all, parallel: [one, two, three], next: after }
  - { id: one, wait: 0m, next: join }
  - { id: two, wait_for: never, timeout: 0m, next: still }
  - { id: still, wait: 0d, next: join }
  - { id: three, wait_for: held, timeout: 3d, next: join }
  - { id: after, agent: After. }
  - { id: end, finish: over }
";
    let run = org.run("no-time", rest, json!({}));
    send(org, &run, "held", 1);
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(states(&view), "active/- begin=done all=done one=done two=done still=done three=done after=ready end=-");
    assert_eq!(org.agent.work_of(&run)[0]["readySince"], view["data"]["steps"]["begin"]["at"]);
    assert!(view["data"]["steps"]["two"].get("output").is_none());
    assert_eq!(view["data"]["steps"]["three"]["output"], json!({ "n": 1 }));
}

fn a_timeout_may_join(org: &Org) {
    let rest = "
steps:
  - { id: begin, agent: Begin. }
  - { id: both, parallel: [hear, work], next: end }
  - { id: hear, wait_for: reply, timeout: 0m, on_timeout: join, next: thank }
  - { id: thank, agent: Thank., next: join }
  - { id: work, agent: Work., next: join }
  - { id: end, finish: over }
";
    let run = org.run("timeouts", rest, json!({}));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(states(&view), "active/- begin=done both=waiting hear=done thank=- work=ready end=-");
    assert_eq!(view["data"]["steps"]["hear"]["by"], "server");
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/over begin=done both=done hear=done thank=- work=done end=done");
    // An event in time takes the other way.
    let run = org.agent.start("timeouts", json!({}));
    send(org, &run, "reply", 1);
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(states(&view), "active/- begin=done both=waiting hear=done thank=ready work=ready end=-");
    org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(org.agent.work_on(&run, "thank", json!({}), json!({}))["run"]["outcome"], "over");
}

fn waits_in_branches_pass_each_at_its_time_and_the_last_joins(org: &Org) {
    let rest = "
inputs: { day: datetime }
steps:
  - { id: all, parallel: [one, two, three, four], next: after }
  - { id: one, wait: 30m, next: five }
  - { id: two, wait_for: never, timeout: 20m, on_timeout: join, next: six }
  - { id: three, wait_for: never, timeout: 10m, next: join }
  - { id: four, wait_until: inputs.day, next: join }
  - { id: five, wait: 15m, next: join }
  - { id: six, agent: Six., next: join }
  - { id: after, agent: After. }
  - { id: end, finish: over }
";
    let run = org.run("beside", rest, json!({ "day": "2020-01-01T00:00:00Z" }));
    let start = &run["run"]["startedAt"];
    assert_eq!(
        states(&run),
        "waiting/- all=waiting one=waiting two=waiting three=waiting four=done five=- six=- after=- end=-"
    );
    let work = eventually("the last wait passes", || org.agent.work_of(&run).pop());
    let view = org.agent.view(&run);
    assert_eq!(
        states(&view),
        "active/- all=done one=done two=done three=done four=done five=done six=- after=ready end=-"
    );
    let at = |step: &str| (millis(&view["data"]["steps"][step]["at"]) - millis(start)) / MINUTE;
    assert_eq!((at("one"), at("two"), at("three"), at("four"), at("five")), (30, 20, 10, 0, 45), "beside each other");
    assert_eq!(work["readySince"], view["data"]["steps"]["five"]["at"], "joined at the instant of the last");
    assert_eq!(work["stepId"], "after");
}

fn a_late_event_loses_in_a_branch_too(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [hear, work], next: end }
  - { id: hear, wait_for: reply, timeout: 30m, on_timeout: join, next: thank }
  - { id: thank, agent: Thank., next: join }
  - { id: work, agent: Work., next: join }
  - { id: end, finish: over }
";
    let run = org.run("late", rest, json!({}));
    let passed = |v: &Value| state(v, "hear") == "done";
    let view = eventually("the timeout", || Some(org.agent.view(&run)).filter(passed));
    assert_eq!(states(&view), "active/- both=waiting hear=done thank=- work=ready end=-");
    assert_eq!(send(org, &run, "reply", 1), Value::Null);
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
}

/// Runs whose wait elapses before they are read.
const READ_RUNS: usize = 12;

fn a_run_read_after_a_siblings_wait_elapsed_can_be_decided() {
    let org = Org::new(&swift(), "elapsed");
    let rest = "
steps:
  - { id: both, parallel: [pause, sign], next: end }
  - { id: pause, wait: 5m, next: join }
  - { id: sign, approve: Sign., person: boss, due: 1m, next: join }
  - { id: end, finish: over }
";
    org.publish(&crate::harness::file("elapsed", rest));
    org.staff.token();
    for _ in 0..READ_RUNS {
        let run = org.agent.exact("start_run", json!({ "process": "elapsed", "inputs": {}, "requestId": fresh() }));
        let run = run.unwrap();
        let until = millis(&run["run"]["startedAt"]) + 5 * MINUTE;
        // Another run's start says what time it is on the server.
        eventually("the time passes", || {
            let other = org.agent.start("elapsed", json!({}));
            Some(()).filter(|()| millis(&other["run"]["startedAt"]) >= until)
        });
        // Whether or not its timer has fired by now: who reads the run sees the wait done, and may decide on that.
        let view = org.staff.view(&run);
        assert_eq!(states(&view), "waiting/- both=waiting pause=done sign=waiting end=-");
        assert_eq!(
            (&view["steps"][2]["overdue"], &view["data"]["steps"]["pause"]["by"]),
            (&json!(true), &json!("server"))
        );
        let mut call = item(&view, "sign")["decide"]["arguments"].clone();
        call["decision"] = json!("approved");
        call["requestId"] = json!(fresh());
        assert_eq!(org.staff.ok("decide", call)["run"]["outcome"], "over");
    }
}

fn what_was_read_before_a_siblings_wait_elapsed_is_stale(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [pause, sign], next: end }
  - { id: pause, wait: 30m, next: join }
  - { id: sign, approve: Sign., person: boss, next: join }
  - { id: end, finish: over }
";
    let run = org.run("elapsing", rest, json!({}));
    let decide = |view: &Value| {
        let mut call = item(view, "sign")["decide"]["arguments"].clone();
        call["decision"] = json!("approved");
        call["requestId"] = json!(fresh());
        org.staff.call("decide", call)
    };
    let view = eventually("the wait passes", || Some(org.staff.view(&run)).filter(|v| state(v, "pause") == "done"));
    refused_as(decide(&run), "stale");
    assert_eq!(decide(&view).unwrap()["run"]["outcome"], "over");
}
