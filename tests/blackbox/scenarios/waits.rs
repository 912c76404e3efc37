//! Time (core §2.2, §3.6): waits, due times and timeouts, on a clock that runs an hour a second.

use serde_json::{Value, json};

use crate::harness::{Org, eventually, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        a_time_already_past_continues_at_once,
        a_wait_of_no_time_continues_at_once,
        a_wait_until_without_a_value_fails_the_run,
        due_shows_on_open_steps_that_declare_it,
        an_overdue_instant_shows_overdue,
    ],
    fast: [
        a_wait_goes_on_by_itself,
        a_wait_until_goes_on_at_its_time,
        a_timeout_goes_where_it_says,
        a_timeout_without_a_target_goes_to_next,
        a_late_event_loses_against_an_elapsed_timeout,
        an_event_in_time_stops_the_timeout,
        an_overdue_step_stays_open,
        the_due_clock_survives_a_return_and_restarts_with_rework,
        several_waits_pass_in_the_order_of_their_times,
        an_event_and_its_timeout_at_one_instant_have_one_winner,
        a_held_event_keeps_the_timeout_from_starting,
    ],
}

/// Milliseconds since 1970 of a time as the server writes it, so that distances can be told.
pub fn millis(time: &Value) -> i64 {
    let text = time.as_str().unwrap_or_else(|| panic!("not a time: {time}"));
    let (date, clock) = text.strip_suffix('Z').expect("UTC").split_once('T').expect("a date and a time");
    let date: Vec<i64> = date.split('-').map(|n| n.parse().unwrap()).collect();
    let (clock, part) = clock.split_once('.').unwrap_or((clock, "0"));
    let clock: Vec<i64> = clock.split(':').map(|n| n.parse().unwrap()).collect();
    let part: i64 = format!("{part:0<3}")[..3].parse().unwrap();
    // Days from civil, by the usual count of leap days.
    let (year, month) = if date[1] > 2 { (date[0], date[1] - 3) } else { (date[0] - 1, date[1] + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + date[2] - 719_469;
    (((days * 24 + clock[0]) * 60 + clock[1]) * 60 + clock[2]) * 1_000 + part
}

const HOUR: i64 = 3_600_000;

fn a_time_already_past_continues_at_once(org: &Org) {
    let rest = "
inputs: { when: { type: datetime, optional: true } }
steps:
  - { id: hold, wait_until: inputs.when }
  - { id: end, finish: over }
";
    let run = org.run("holds", rest, json!({ "when": "2020-01-01T00:00:00+01:00" }));
    assert_eq!(states(&run), "ended/over hold=done end=done");
    let entry = &run["data"]["steps"]["hold"];
    assert_eq!(entry["by"], "server");
    assert_eq!(entry["at"], run["run"]["startedAt"], "it went on when it was reached");
    assert!(entry.get("output").is_none());
}

fn a_wait_of_no_time_continues_at_once(org: &Org) {
    let rest = "
steps:
  - { id: one, wait: 0m }
  - { id: two, wait: 0d }
  - { id: work, agent: Work. }
  - { id: end, finish: over }
";
    let run = org.run("no-time", rest, json!({}));
    assert_eq!(states(&run), "active/- one=done two=done work=ready end=-");
    assert_eq!(run["data"]["steps"]["one"]["by"], "server");
}

fn a_wait_until_without_a_value_fails_the_run(org: &Org) {
    let rest = "
inputs: { when: { type: datetime, optional: true } }
steps:
  - { id: work, agent: Work. }
  - { id: hold, wait_until: inputs.when }
  - { id: end, finish: over }
";
    let run = org.run("holds", rest, json!({}));
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/failed work=done hold=failed end=-");
    let entry = &ended["data"]["steps"]["hold"];
    assert_eq!((&entry["decision"], &entry["by"]), (&json!("failed"), &json!("server")));
    assert!(entry["note"].as_str().unwrap().contains("inputs.when"), "{entry}");
    assert_eq!(ended["run"]["ended"]["by"], "server");
    refused_as(org.agent.call("start_run", json!({ "process": "holds", "inputs": { "when": "tomorrow" } })), "invalid");
}

fn due_shows_on_open_steps_that_declare_it(org: &Org) {
    let rest = "
steps:
  - { id: work, agent: Work., due: 2h }
  - { id: free, agent: Work. }
  - { id: look, task: Look., person: clerk, due: 3d }
  - { id: sign, approve: Sign., person: boss, due: 30m }
  - { id: end, finish: over }
";
    let run = org.run("dues", rest, json!({}));
    let steps = |view: &Value| -> Vec<String> {
        let shown = view["steps"].as_array().unwrap().iter().filter(|s| s.get("due").is_some());
        shown.map(|s| format!("{} {}", s["id"].as_str().unwrap(), s["overdue"])).collect()
    };
    assert_eq!(steps(&run), ["work false"]);
    let started = millis(&run["run"]["startedAt"]);
    assert_eq!(millis(&run["steps"][0]["due"]), started + 2 * HOUR);
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!((&listed["due"], &listed["overdue"]), (&run["steps"][0]["due"], &json!(false)));
    let view = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(steps(&view), [""; 0], "a step that is done has no due time");
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!((&listed["due"], &listed["overdue"]), (&Value::Null, &json!(false)));
    let view = org.agent.work_on(&run, "free", json!({}), json!({}));
    assert_eq!(steps(&view), ["look false"]);
    let at = millis(&view["data"]["steps"]["free"]["at"]);
    assert_eq!(millis(&item(&view, "look")["due"]), at + 72 * HOUR);
    let view = org.staff.decide(&run, "look", "completed", json!({}));
    assert_eq!(steps(&view), ["sign false"]);
    assert_eq!(item(&view, "sign")["due"], view["steps"][3]["due"]);
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(steps(&ended), [""; 0]);
}

fn an_overdue_instant_shows_overdue(org: &Org) {
    let rest = "steps:\n  - { id: work, agent: Work., due: 0m }\n  - { id: end, finish: over }";
    let run = org.run("at-once", rest, json!({}));
    assert_eq!(run["steps"][0]["overdue"], true);
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!(listed["overdue"], true);
    org.agent.work_on(&run, "work", json!({}), json!({}));
}

fn a_wait_goes_on_by_itself(org: &Org) {
    let rest = "steps:\n  - { id: pause, wait: 30m }\n  - { id: work, agent: Work. }\n  - { id: end, finish: over }";
    let run = org.run("pauses", rest, json!({}));
    assert_eq!(states(&run), "waiting/- pause=waiting work=- end=-");
    refused(org.agent.try_claim(&run, "work"), "conflict", &["not_ready"]);
    let listed = eventually("the wait ends", || org.agent.work_of(&run).pop());
    let view = org.agent.view(&run);
    assert_eq!(states(&view), "active/- pause=done work=ready end=-");
    let entry = &view["data"]["steps"]["pause"];
    assert_eq!(entry["by"], "server");
    assert_eq!(millis(&entry["at"]), millis(&run["run"]["startedAt"]) + HOUR / 2, "recorded at its due instant");
    assert_eq!(listed["readySince"], entry["at"]);
    assert!(entry.get("output").is_none());
}

fn a_wait_until_goes_on_at_its_time(org: &Org) {
    let rest = "
steps:
  - { id: plan, agent: Plan., output: { start: datetime } }
  - { id: hold, wait_until: steps.plan.output.start }
  - { id: end, finish: over }
";
    let run = org.run("plans", rest, json!({}));
    // The server's clock runs ahead of ours: its own times say what now is. An hour later, in another time zone's words.
    let claimed = org.agent.claim(&run, "plan");
    let now = millis(&org.agent.view(&run)["run"]["updatedAt"]);
    let at = now / 1_000 + 7_200;
    let (days, second) = (at / 86_400, at % 86_400);
    let text = format!("{}T{:02}:{:02}:{:02}Z", date(days), second / 3_600, second / 60 % 60, second % 60);
    let view = org.agent.submit(&claimed, json!({ "start": text }), json!({})).unwrap();
    assert_eq!(states(&view), "waiting/- plan=done hold=waiting end=-", "{text}");
    let ended = eventually("the time comes", || Some(org.agent.view(&run)).filter(|v| v["run"]["state"] == "ended"));
    assert_eq!(millis(&ended["data"]["steps"]["hold"]["at"]), at * 1_000);
    assert_eq!(ended["run"]["ended"]["at"], ended["data"]["steps"]["hold"]["at"]);
}

/// The date of a day since 1970.
fn date(days: i64) -> String {
    let mut year = 1970;
    let mut left = days;
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while left >= if leap(year) { 366 } else { 365 } {
        left -= if leap(year) { 366 } else { 365 };
        year += 1;
    }
    let months = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in months {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", left + 1)
}

const TIMED: &str = "
steps:
  - { id: heard, wait_for: reply, timeout: 1h, on_timeout: remind, next: thank }
  - { id: thank, agent: Thank., next: end }
  - { id: remind, agent: Remind., next: end }
  - { id: end, finish: over }
";

fn a_timeout_goes_where_it_says(org: &Org) {
    let run = org.run("timed", TIMED, json!({}));
    let view = eventually("the timeout", || Some(org.agent.view(&run)).filter(|v| v["run"]["state"] == "active"));
    assert_eq!(states(&view), "active/- heard=done thank=- remind=ready end=-");
    let entry = &view["data"]["steps"]["heard"];
    assert_eq!(entry["by"], "server");
    assert_eq!(millis(&entry["at"]), millis(&run["run"]["startedAt"]) + HOUR);
    assert!(entry.get("output").is_none(), "nothing was heard");
}

fn a_timeout_without_a_target_goes_to_next(org: &Org) {
    let rest = "
steps:
  - { id: heard, wait_for: reply, timeout: 1h, next: work }
  - { id: never, finish: never }
  - { id: work, agent: Work., next: [end, never] }
  - { id: end, finish: over }
";
    let run = org.run("plain-timeout", rest, json!({}));
    let view = eventually("the timeout", || Some(org.agent.view(&run)).filter(|v| v["run"]["state"] == "active"));
    assert_eq!(state(&view, "work"), "ready");
}

fn a_late_event_loses_against_an_elapsed_timeout(org: &Org) {
    let run = org.run("timed", TIMED, json!({}));
    eventually("the timeout", || Some(()).filter(|()| !org.agent.work_of(&run).is_empty()));
    let event = json!({ "runId": run["run"]["id"], "name": "reply", "data": { "late": true } });
    assert_eq!(org.agent.ok("send_event", event), json!({ "consumedBy": null }), "held, for nobody waits any more");
    let view = org.agent.view(&run);
    assert_eq!((state(&view, "remind"), state(&view, "thank")), (&json!("ready"), &Value::Null));
}

fn an_event_in_time_stops_the_timeout(org: &Org) {
    let run = org.run("timed", TIMED, json!({}));
    let event = json!({ "runId": run["run"]["id"], "name": "reply" });
    assert_eq!(org.agent.ok("send_event", event), json!({ "consumedBy": "heard" }));
    let view = org.agent.view(&run);
    assert_eq!(states(&view), "active/- heard=done thank=ready remind=- end=-");
    let entry = &view["data"]["steps"]["heard"];
    assert_eq!((&entry["by"], &entry["output"]), (&json!(org.agent.subject()), &json!({})), "no data reads as none");
    crate::harness::pass(1_500);
    assert_eq!(org.agent.view(&run), view, "the timer that would have fired does nothing");
}

fn an_overdue_step_stays_open(org: &Org) {
    let rest = "
steps:
  - { id: sign, approve: Sign., person: boss, due: 30m }
  - { id: work, agent: Work., due: 30m }
  - { id: end, finish: over }
";
    let run = org.run("dues", rest, json!({}));
    let view = eventually("it is overdue", || Some(org.staff.view(&run)).filter(|v| v["steps"][0]["overdue"] == true));
    assert_eq!(states(&view), "waiting/- sign=waiting work=- end=-");
    assert_eq!(view["steps"][0]["due"], run["steps"][0]["due"]);
    assert_eq!(org.staff.work_of(&run).len(), 1);
    org.staff.decide(&run, "sign", "approved", json!({}));
    let late = eventually("the work is overdue", || org.agent.work_of(&run).pop().filter(|w| w["overdue"] == true));
    assert!(late["due"].is_string());
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over");
    // People are told, once of each.
    let told = |step: &str, what: &str| {
        let log = org.server.log();
        let lines =
            log.lines().filter(|l| l.contains(run["run"]["id"].as_str().unwrap()) && l.contains("people are told"));
        lines.filter(|l| l.contains(&format!("\"{step}\"")) && l.contains(&format!("\"{what}\""))).count()
    };
    eventually("the notices are sent", || Some(()).filter(|()| told("work", "overdue") > 0));
    assert_eq!((told("sign", "work"), told("sign", "overdue"), told("work", "overdue")), (1, 1, 1));
}

fn the_due_clock_survives_a_return_and_restarts_with_rework(org: &Org) {
    let rest = "
steps:
  - { id: work, agent: Work., due: 4d }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: end, finish: over }
";
    let run = org.run("dues", rest, json!({}));
    let first = run["steps"][0]["due"].clone();
    let claimed = org.agent.claim(&run, "work");
    let view = org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    assert_eq!(item(&view, "work")["due"], first);
    let view = org.operator.decide(&run, "work", "returned", json!({ "note": "Go on." }));
    assert_eq!(view["steps"][0]["due"], first, "a return is the same attempt");
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!((&listed["due"], &listed["readySince"]), (&first, &run["run"]["startedAt"]));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    let view = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
    let at = millis(&view["data"]["steps"]["sign"]["at"]);
    assert_eq!(millis(&view["steps"][0]["due"]), at + 96 * HOUR, "rework is a new attempt");
    assert_eq!(millis(&org.agent.work_of(&run)[0]["readySince"]), at);
}

fn several_waits_pass_in_the_order_of_their_times(org: &Org) {
    let rest = "
steps:
  - { id: one, wait: 10m }
  - { id: two, wait: 20m }
  - { id: three, wait_for: never, timeout: 15m }
  - { id: four, wait: 0m }
  - { id: end, finish: over }
";
    let run = org.run("row", rest, json!({}));
    let ended = eventually("all pass", || Some(org.agent.view(&run)).filter(|v| v["run"]["state"] == "ended"));
    let start = millis(&run["run"]["startedAt"]);
    let at = |step: &str| (millis(&ended["data"]["steps"][step]["at"]) - start) / 60_000;
    assert_eq!(
        (at("one"), at("two"), at("three"), at("four")),
        (10, 30, 45, 45),
        "each from where the one before ended"
    );
}

fn an_event_and_its_timeout_at_one_instant_have_one_winner(org: &Org) {
    org.publish(&crate::harness::file("timed", TIMED));
    // A timeout takes a second here; the events arrive around it, a little earlier or later each.
    let ends = crate::harness::at_once(6, |n| {
        let run = org.agent.start("timed", json!({}));
        crate::harness::pass(820 + 40 * u64::try_from(n).unwrap());
        let event = json!({ "runId": run["run"]["id"], "name": "reply", "data": { "n": n } });
        let consumed = org.agent.ok("send_event", event)["consumedBy"].clone();
        let view = org.agent.view(&run);
        match consumed.as_str() {
            Some("heard") => {
                assert_eq!(states(&view), "active/- heard=done thank=ready remind=- end=-");
                assert_eq!(view["data"]["steps"]["heard"]["output"], json!({ "n": n }));
            }
            None => {
                assert_eq!(states(&view), "active/- heard=done thank=- remind=ready end=-");
                assert_eq!(view["data"]["steps"]["heard"]["by"], "server");
            }
            other => panic!("consumed by {other:?}"),
        }
        let later = crate::harness::eventually("the second passes", || {
            let view = org.agent.view(&run);
            Some(view).filter(|_| !org.agent.work_of(&run).is_empty())
        });
        (states(&view), states(&later))
    });
    assert!(ends.iter().all(|(at_once, later)| at_once == later), "{ends:#?}");
}

fn a_held_event_keeps_the_timeout_from_starting(org: &Org) {
    let rest = "
steps:
  - { id: work, agent: Work. }
  - { id: heard, wait_for: reply, timeout: 0m, on_timeout: late, next: end }
  - { id: late, finish: late }
  - { id: end, finish: over }
";
    let run = org.run("held", rest, json!({}));
    org.agent.ok("send_event", json!({ "runId": run["run"]["id"], "name": "reply", "data": { "k": 1 } }));
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/over work=done heard=done late=- end=done");
    assert_eq!(ended["data"]["steps"]["heard"]["output"], json!({ "k": 1 }));
    // Without one, a timeout of no time is past at once.
    let run = org.agent.start("held", json!({}));
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/late work=done heard=done late=done end=-");
}
