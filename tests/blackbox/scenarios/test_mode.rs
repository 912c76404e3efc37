//! Rehearsals (core §3.3): a run with mode test says so wherever somebody works on it, and tells nobody outside.

use serde_json::{Value, json};

use crate::harness::{Org, eventually, file, item, refused_as, scenarios};

scenarios! {
    any: [a_test_run_says_so_everywhere, a_mode_is_live_or_test, a_test_run_keeps_its_initiator],
    fast: [a_test_run_keeps_real_durations_and_sends_no_notice],
}

const BOTH: &str = "
steps:
  - { id: work, agent: Work. }
  - { id: look, task: Look., person: clerk }
  - { id: end, finish: over }
";

fn start(org: &Org, process: &str, mode: &str) -> Value {
    org.agent.ok("start_run", json!({ "process": process, "inputs": {}, "mode": mode }))
}

fn a_test_run_says_so_everywhere(org: &Org) {
    org.publish(&file("both", BOTH));
    for mode in ["test", "live"] {
        let run = start(org, "both", mode);
        assert_eq!(run["run"]["mode"], mode);
        assert_eq!(org.agent.work_of(&run)[0]["mode"], mode);
        let claimed = org.agent.claim(&run, "work");
        assert_eq!(claimed["mode"], mode);
        let shown = if mode == "test" { json!("test") } else { Value::Null };
        let view = org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
        assert_eq!(item(&view, "work").get("mode").cloned().unwrap_or_default(), shown);
        let view = org.operator.decide(&run, "work", "completed", json!({ "output": {} }));
        assert_eq!(item(&view, "look").get("mode").cloned().unwrap_or_default(), shown);
        let listed = org.staff.work_of(&run).remove(0);
        assert_eq!(listed["mode"], mode);
        assert_eq!(listed["workItem"].get("mode").cloned().unwrap_or_default(), shown);
    }
    let listed = org.agent.pages("list_runs", json!({}));
    assert_eq!(listed.len(), 2, "tests are listed with the others");
}

fn a_mode_is_live_or_test(org: &Org) {
    org.publish(&file("both", BOTH));
    assert_eq!(org.agent.start("both", json!({}))["run"]["mode"], "live");
    for bad in [json!("Test"), json!("dry"), json!(true)] {
        refused_as(org.agent.call("start_run", json!({ "process": "both", "inputs": {}, "mode": bad })), "invalid");
    }
}

fn a_test_run_keeps_its_initiator(org: &Org) {
    let rest = "steps:\n  - { id: fill, task: Fill in., person: initiator }\n  - { id: end, finish: over }";
    org.publish(&file("mine", rest));
    let call = json!({ "process": "mine", "inputs": {}, "mode": "test" });
    let run = org.outsider.ok("start_run", call.clone());
    assert_eq!(item(&run, "fill")["assignedTo"], json!({ "person": org.outsider.subject() }));
    refused_as(org.agent.call("start_run", call), "invalid");
}

fn a_test_run_keeps_real_durations_and_sends_no_notice(org: &Org) {
    let rest = "
steps:
  - { id: pause, wait: 1h }
  - { id: look, task: Look., person: clerk, due: 30m }
  - { id: end, finish: over }
";
    org.publish(&file("slow", rest));
    let (test, live) = (start(org, "slow", "test"), start(org, "slow", "live"));
    assert_eq!(test["run"]["state"], "waiting");
    let overdue = |run: &Value| org.staff.view(run)["steps"][1]["overdue"] == true;
    eventually("both are overdue", || Some(()).filter(|()| overdue(&test) && overdue(&live)));
    let told = |run: &Value| {
        let id = run["run"]["id"].as_str().unwrap().to_owned();
        org.server.log().lines().filter(|l| l.contains("people are told") && l.contains(&id)).count()
    };
    eventually("the notices of the live run", || Some(()).filter(|()| told(&live) >= 2));
    assert_eq!((told(&test), told(&live)), (0, 2));
}
