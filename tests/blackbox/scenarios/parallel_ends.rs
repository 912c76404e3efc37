//! The end of a run whose branches are open (parallel-1): whoever ends it, every branch ends with it, at once.

use serde_json::{Value, json};

use super::parallel::{complete, forked};
use crate::harness::{Org, fresh, item, refused, scenarios, state, states, without_urls};

scenarios! {
    any: [
        a_failed_decision_ends_every_branch,
        a_failed_escalation_ends_every_branch,
        a_rejection_without_on_reject_ends_every_branch,
        a_wait_until_without_a_value_ends_the_fork_itself,
        a_wait_until_without_a_value_ends_the_other_branches,
        a_branch_for_nobody_ends_every_branch,
        an_operator_cancels_every_branch,
        what_was_asked_before_the_end_is_answered_as_before,
        events_held_for_a_branch_end_with_the_run,
    ],
}

/// Nothing of an ended run is anybody's work any more, whatever they held of it.
fn is_over(org: &Org, run: &Value, claimed: &[(&str, &Value)], items: &[Value]) {
    for client in [&org.agent, &org.other, &org.staff, &org.operator] {
        assert!(client.work_of(run).is_empty(), "{}", client.subject());
    }
    for (step, claimed) in claimed {
        let token = &claimed["token"];
        for (tool, arguments) in [
            ("submit", json!({ "token": token, "output": { "text": "t" }, "summary": "Done." })),
            ("renew", json!({ "token": token })),
            ("escalate", json!({ "token": token, "note": "Stuck." })),
            ("claim", json!({ "runId": run["run"]["id"], "stepId": step })),
        ] {
            refused(org.agent.call(tool, arguments), "conflict", &["run_ended"]);
        }
    }
    for item in items {
        let mut call = item["decide"]["arguments"].clone();
        call["requestId"] = json!(fresh());
        call["decision"] = json!("failed");
        call["note"] = json!("No.");
        refused(org.staff.call("decide", call), "conflict", &["run_ended"]);
    }
    let event = json!({ "runId": run["run"]["id"], "name": "any" });
    refused(org.agent.call("send_event", event), "conflict", &["run_ended"]);
    let cancel = json!({ "runId": run["run"]["id"], "reason": "Enough." });
    refused(org.operator.call("cancel", cancel), "conflict", &["run_ended"]);
}

fn open_items(view: &Value) -> Vec<Value> {
    view["workItems"].as_array().unwrap().clone()
}

fn a_failed_decision_ends_every_branch(org: &Org) {
    let run = forked(org);
    let (write, shoot) = (org.agent.claim(&run, "write"), org.agent.claim(&run, "shoot"));
    let open = open_items(&org.staff.view(&run));
    let ended = org.staff.decide(&run, "permit", "failed", json!({ "note": "Forbidden by law." }));
    let shown =
        "ended/failed plan=done make=cancelled write=cancelled shoot=cancelled retouch=- permit=failed look=- end=-";
    assert_eq!(states(&ended), shown);
    let how = &ended["run"]["ended"];
    assert_eq!((&how["by"], &how["note"]), (&json!(org.staff.subject()), &json!("Forbidden by law.")));
    assert_eq!(ended["data"]["steps"]["permit"]["decision"], "failed");
    assert_eq!(org.agent.view(&run), ended);
    is_over(org, &run, &[("write", &write), ("shoot", &shoot)], &open);
    // What a branch had done before stays in the record.
    let run = forked(org);
    complete(org, &run, "write");
    complete(org, &run, "shoot");
    let open = open_items(&org.staff.view(&run));
    let ended = org.staff.decide(&run, "retouch", "failed", json!({ "note": "Blurred." }));
    let shown =
        "ended/failed plan=done make=cancelled write=done shoot=done retouch=failed permit=cancelled look=- end=-";
    assert_eq!(states(&ended), shown);
    assert_eq!(ended["data"]["steps"]["write"]["output"], json!({ "text": "t" }));
    is_over(org, &run, &[], &open);
}

fn a_failed_escalation_ends_every_branch(org: &Org) {
    let run = forked(org);
    let write = org.agent.claim(&run, "write");
    let shoot = org.agent.claim(&run, "shoot");
    org.agent.ok("escalate", json!({ "token": shoot["token"], "note": "No camera." }));
    let open = open_items(&org.staff.view(&run));
    assert_eq!(open.len(), 2);
    let ended = org.operator.decide(&run, "shoot", "failed", json!({ "note": "No camera anywhere." }));
    let shown =
        "ended/failed plan=done make=cancelled write=cancelled shoot=failed retouch=- permit=cancelled look=- end=-";
    assert_eq!(states(&ended), shown);
    is_over(org, &run, &[("write", &write), ("shoot", &shoot)], &open);
}

fn a_rejection_without_on_reject_ends_every_branch(org: &Org) {
    let run = forked(org);
    let write = org.agent.claim(&run, "write");
    complete(org, &run, "shoot");
    let open = open_items(&org.staff.view(&run));
    let ended = org.staff.decide(&run, "permit", "rejected", json!({ "note": "Not here." }));
    let shown =
        "ended/rejected plan=done make=cancelled write=cancelled shoot=done retouch=cancelled permit=done look=- end=-";
    assert_eq!(states(&ended), shown);
    let how = &ended["run"]["ended"];
    assert_eq!((&how["by"], &how["note"]), (&json!(org.staff.subject()), &json!("Not here.")));
    is_over(org, &run, &[("write", &write)], &open);
}

const DATED: &str = "
inputs: { when: { type: datetime, optional: true } }
steps:
  - { id: begin, agent: Begin. }
  - { id: all, parallel: [work, hold, sign, hear], next: end }
  - { id: work, agent: Work., next: join }
  - { id: hold, wait_until: inputs.when, next: join }
  - { id: sign, approve: Sign., person: boss, next: join }
  - { id: hear, wait_for: signal, next: join }
  - { id: end, finish: over }
";

fn a_wait_until_without_a_value_ends_the_fork_itself(org: &Org) {
    let run = org.run("dated", DATED, json!({}));
    let ended = org.agent.work_on(&run, "begin", json!({}), json!({}));
    let shown = "ended/failed begin=done all=cancelled work=cancelled hold=failed sign=cancelled hear=cancelled end=-";
    assert_eq!(states(&ended), shown, "every entry was ready in this write, and is cancelled in it");
    assert_eq!(ended["run"]["ended"]["by"], "server");
    let entry = &ended["data"]["steps"]["hold"];
    assert_eq!((&entry["decision"], &entry["by"]), (&json!("failed"), &json!("server")));
    assert!(entry["note"].as_str().unwrap().contains("inputs.when"), "{entry}");
    is_over(org, &run, &[], &[]);
    assert_eq!(org.agent.view(&run), ended);
    // With a value the very same file runs.
    let run = org.agent.start("dated", json!({ "when": "2020-01-01T00:00:00Z" }));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    let shown = "active/- begin=done all=waiting work=ready hold=done sign=waiting hear=waiting end=-";
    assert_eq!(states(&view), shown, "a time that is past continues in the same write");
}

fn a_wait_until_without_a_value_ends_the_other_branches(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [plan, work, sign], next: end }
  - { id: plan, agent: Plan., output: { start: { type: datetime, optional: true } }, next: hold }
  - { id: hold, wait_until: steps.plan.output.start, next: join }
  - { id: work, agent: Work., next: join }
  - { id: sign, approve: Sign., person: boss, next: join }
  - { id: end, finish: over }
";
    let run = org.run("planned", rest, json!({}));
    let work = org.agent.claim(&run, "work");
    let open = open_items(&run);
    let ended = org.agent.work_on(&run, "plan", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/failed both=cancelled plan=done hold=failed work=cancelled sign=cancelled end=-");
    assert!(ended["run"]["ended"]["note"].as_str().unwrap().contains("steps.plan.output.start"), "{}", ended["run"]);
    is_over(org, &run, &[("work", &work)], &open);
}

fn a_branch_for_nobody_ends_every_branch(org: &Org) {
    let rest = "
inputs: { who: { type: person, optional: true } }
steps:
  - { id: begin, agent: Begin. }
  - { id: both, parallel: [work, look], next: end }
  - { id: work, agent: Work., next: join }
  - { id: look, task: Look., person: inputs.who, next: join }
  - { id: end, finish: over }
";
    let run = org.run("for-nobody", rest, json!({}));
    let ended = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(states(&ended), "ended/failed begin=done both=cancelled work=cancelled look=failed end=-");
    assert!(ended["run"]["ended"]["note"].as_str().unwrap().contains("inputs.who"), "{}", ended["run"]);
    is_over(org, &run, &[], &[]);
}

fn an_operator_cancels_every_branch(org: &Org) {
    let run = forked(org);
    let (write, shoot) = (org.agent.claim(&run, "write"), org.agent.claim(&run, "shoot"));
    org.agent.ok("escalate", json!({ "token": shoot["token"], "note": "No camera." }));
    let open = open_items(&org.staff.view(&run));
    let cancelled = org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Out of money." }));
    let shown = "cancelled/- plan=done make=cancelled write=cancelled shoot=cancelled retouch=- permit=cancelled \
                 look=- end=-";
    assert_eq!(states(&cancelled), shown);
    assert_eq!(cancelled["run"]["ended"]["note"], "Out of money.");
    is_over(org, &run, &[("write", &write), ("shoot", &shoot)], &open);
}

fn what_was_asked_before_the_end_is_answered_as_before(org: &Org) {
    let run = forked(org);
    let claim = json!({ "runId": run["run"]["id"], "stepId": "write", "requestId": fresh() });
    let claimed = org.agent.ok("claim", claim.clone());
    let submit = json!({
        "token": claimed["token"], "output": { "text": "t" }, "summary": "Done.", "requestId": fresh(),
    });
    let submitted = org.agent.ok("submit", submit.clone());
    let mut decide = item(&submitted, "permit")["decide"]["arguments"].clone();
    decide["requestId"] = json!(fresh());
    decide["decision"] = json!("failed");
    decide["note"] = json!("No.");
    let ended = org.staff.ok("decide", decide.clone());
    assert_eq!(org.agent.ok("claim", claim), claimed);
    assert_eq!(org.agent.ok("submit", submit), submitted);
    assert_eq!(without_urls(org.staff.ok("decide", decide)), without_urls(ended));
}

fn events_held_for_a_branch_end_with_the_run(org: &Org) {
    let run = org.run("dated", DATED, json!({ "when": "2020-01-01T00:00:00Z" }));
    let event = json!({ "runId": run["run"]["id"], "name": "other", "data": { "n": 1 } });
    assert_eq!(org.agent.ok("send_event", event), json!({ "consumedBy": null }));
    org.agent.work_on(&run, "begin", json!({}), json!({}));
    let ended = org.staff.decide(&run, "sign", "rejected", json!({ "note": "No." }));
    assert_eq!((state(&ended, "hear"), state(&ended, "hold")), (&json!("cancelled"), &json!("done")));
    is_over(org, &run, &[], &[]);
}
