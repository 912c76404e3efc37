//! A check that was unsure (profile check-1): the submission is held, and a person of the operators decides.

use serde_json::{Value, json};

use super::checks::outcome;
use crate::harness::{Org, Script, item, refused, refused_as, scenarios, state, states};

scenarios! {
    checked: [
        an_unsure_submission_is_held_and_escalated,
        an_escalation_by_a_check_loses_the_claim,
        only_the_operators_decide_it,
        returned_to_the_agents_the_same_attempt_goes_on,
        returned_to_a_person_the_task_is_theirs_again,
        the_item_that_a_person_submitted_is_superseded,
        failed_ends_the_run,
        a_snapshot_from_before_the_escalation_is_stale,
        the_due_time_does_not_restart,
        a_run_that_waits_for_it_can_be_cancelled,
        the_branch_beside_it_goes_on,
    ],
}

/// A checked agent step with everything that a submission can carry.
pub(super) const REPORT: &str = "
steps:
  - id: report
    agent: Report on it.
    output: { text: string, score: { type: number, optional: true } }
    evidence: [file]
    check:
      - { ask: Is the report sound?, pass: 0.9, fail: 0.5 }
      - { ask: How complete is it?, levels: [Not at all., By half., Wholly.], pass: 2 }
    due: 2d
    next: [sign, end]
  - { id: sign, approve: Sign., person: boss, on_reject: report, next: end }
  - { id: end, finish: reported }
";

pub(super) const FILE: &[u8] = b"what was found";

/// What completes [`REPORT`].
pub(super) fn work(org: &Org, script: &Script) -> Value {
    let file = org.agent.upload("found.txt", FILE);
    json!({
        "output": { "text": "All well.", "score": serde_json::from_str::<Value>("1.50").unwrap() },
        "evidence": [{ "kind": "file", "ref": file["id"] }, { "kind": "link", "ref": "DOC-1" }],
        "summary": script.summary(), "next": "sign", "reason": "It is sound.",
    })
}

/// A run of [`REPORT`] of which the check was unsure: the submission, and the view that answered it.
pub(super) fn held(org: &Org, script: &Script) -> (Value, Value) {
    let run = org.run("report", REPORT, json!({}));
    let submission = work(org, script);
    let view = org.agent.work_on(&run, "report", submission["output"].clone(), submission.clone());
    (submission, view)
}

pub(super) fn unsure() -> Script {
    Script::new().yes(0.7).level(1, 0.9)
}

const LINES: [&str; 2] =
    ["check: Is the report sound? → no (0.7)", "check: How complete is it? → level 1: By half. (0.9)"];

fn an_unsure_submission_is_held_and_escalated(org: &Org) {
    let script = unsure();
    let (submission, view) = held(org, &script);
    assert_eq!(states(&view), "waiting/- report=waiting sign=- end=-");
    let work = item(&view, "report");
    assert_eq!((&work["kind"], &work["text"]), (&json!("agent"), &json!("Report on it.")));
    assert_eq!(work["decide"]["decisions"], json!(["returned", "completed", "failed"]));
    assert_eq!(work["evidence"], json!(["file"]));
    assert_eq!(work["next"], json!([{ "to": "sign" }, { "to": "end" }]));
    let escalation = &work["escalation"];
    assert_eq!((&escalation["by"], &escalation["at"]), (&json!("a_one"), &view["run"]["updatedAt"]));
    for line in LINES {
        assert!(escalation["note"].as_str().unwrap().contains(line), "{escalation}");
    }
    let check = &escalation["check"];
    assert_eq!(
        (&check["verdict"], &check["advisory"], &check["at"]),
        (&json!("unsure"), &json!(false), &escalation["at"])
    );
    let results: Vec<&Value> = check["questions"].as_array().unwrap().iter().map(|q| &q["result"]).collect();
    assert_eq!(results, ["unsure", "fail"]);
    let candidate = &escalation["candidate"];
    for field in ["output", "summary", "next", "reason"] {
        assert_eq!(candidate[field], submission[field], "{field}");
    }
    assert_eq!(candidate["output"].to_string(), submission["output"].to_string(), "numbers keep their text");
    assert_eq!((&candidate["by"], &candidate["at"]), (&json!("a_one"), &escalation["at"]));
    let shown: Vec<Value> =
        candidate["evidence"].as_array().unwrap().iter().map(|e| json!([e["kind"], e["ref"]])).collect();
    assert_eq!(shown, [json!(["file", submission["evidence"][0]["ref"]]), json!(["link", "DOC-1"])]);
    // Run data shows the verdict and nothing else: no step completed.
    assert_eq!(view["data"]["steps"], json!({ "report": { "check": check, "history": [] } }));
    assert_eq!(script.asked(), 2, "once for each question, however often the call is sent");
    assert!(org.agent.work_of(&view).is_empty());
    let listed = org.agent.ok("list_runs", json!({ "state": "waiting" }));
    assert_eq!(listed["items"][0]["id"], view["run"]["id"]);
}

fn an_escalation_by_a_check_loses_the_claim(org: &Org) {
    let run = org.run("report", REPORT, json!({}));
    let claimed = org.agent.claim(&run, "report");
    let script = unsure();
    let submission = work(org, &script);
    org.agent.submit(&claimed, submission["output"].clone(), submission.clone()).unwrap();
    refused_as(org.agent.submit(&claimed, submission["output"].clone(), submission.clone()), "stale");
    refused_as(org.agent.call("renew", json!({ "token": claimed["token"] })), "stale");
    refused_as(org.agent.call("escalate", json!({ "token": claimed["token"], "note": "Stuck." })), "stale");
    refused(org.agent.try_claim(&run, "report"), "conflict", &["not_ready"]);
    org.operator.decide(&run, "report", "returned", json!({ "note": "Go on." }));
    refused_as(org.agent.submit(&claimed, submission["output"].clone(), submission), "stale");
    assert_eq!(script.asked(), 2, "nobody is asked about what comes too late");
}

fn only_the_operators_decide_it(org: &Org) {
    let (_, view) = held(org, &unsure());
    let group = item(&view, "report")["assignedTo"]["group"].as_str().unwrap().to_owned();
    for client in [&org.staff, &org.outsider, &org.agent, &org.client("agent", "pipeline", &[&group], true)] {
        refused_as(client.try_decide(&view, "report", "completed", json!({})), "forbidden");
    }
    assert!(org.staff.work_of(&view).is_empty());
    let member = org.person("mia@acme.example", &[&group]);
    assert_eq!(member.work_of(&view).len(), 1, "a member of the operators group, without the right itself");
    refused_as(member.try_decide(&view, "report", "approved", json!({})), "invalid");
    let view = member.decide(&view, "report", "completed", json!({}));
    assert_eq!(view["data"]["steps"]["report"]["by"], member.subject());
}

fn returned_to_the_agents_the_same_attempt_goes_on(org: &Org) {
    let (submission, view) = held(org, &unsure());
    let verdict = item(&view, "report")["escalation"]["check"].clone();
    refused(org.operator.try_decide(&view, "report", "returned", json!({})), "invalid", &["note: missing"]);
    let back = org.operator.decide(&view, "report", "returned", json!({ "note": "Name the source." }));
    assert_eq!(states(&back), "active/- report=ready sign=- end=-");
    assert_eq!(back["data"]["steps"], json!({}), "nothing waits on a person any more");
    let listed = org.other.work_of(&view).remove(0);
    let claimed = org.other.claim(&view, "report");
    let handoff = &claimed["handoff"];
    assert_eq!(handoff, &listed["handoff"]);
    assert_eq!((&handoff["returned"]["note"], &handoff["check"]), (&json!("Name the source."), &verdict));
    assert_eq!(handoff["issues"], json!(LINES), "a line for each question that did not pass");
    assert_eq!(handoff.as_object().unwrap().len(), 3, "{handoff}");
    // What was held is gone: the same submission is asked about anew.
    let again = unsure();
    let mut same = submission.clone();
    same["summary"] = json!(again.summary());
    let view = org.other.submit(&claimed, submission["output"].clone(), same).unwrap();
    assert_eq!((state(&view, "report"), again.asked()), (&json!("waiting"), 2));
    let work = item(&view, "report");
    assert_eq!(work["escalation"]["by"], "a_two");
    assert_eq!(&work["handoff"], handoff, "what the attempt was left with before");
    org.operator.decide(&view, "report", "returned", json!({ "note": "And the date." }));
    let claimed = org.agent.claim(&view, "report");
    assert_eq!(claimed["handoff"]["returned"]["note"], "And the date.");
    let good = Script::new();
    let view = org.agent.submit(&claimed, submission["output"].clone(), work_as(&submission, &good)).unwrap();
    assert_eq!(states(&view), "waiting/- report=done sign=waiting end=-");
    assert_eq!(view["data"]["steps"]["report"]["check"]["verdict"], "pass");
    assert_eq!(view["data"]["steps"]["report"]["history"], json!([]));
}

/// The same submission with another script.
pub(super) fn work_as(submission: &Value, script: &Script) -> Value {
    let mut submission = submission.clone();
    submission["summary"] = json!(script.summary());
    submission
}

/// A checked task of a person who was chosen when the run started.
const LETTER: &str = "
inputs: { writer: person }
steps:
  - id: write
    task: Write the letter.
    person: inputs.writer
    output: { text: string }
    check: [{ ask: Is it polite?, pass: 0.9, fail: 0.5 }]
  - { id: end, finish: sent }
";

/// A run of [`LETTER`], its writer, and its task's first item.
pub(super) fn writing(org: &Org) -> (Value, crate::harness::Client, Value) {
    let run = org.run("letter", LETTER, json!({ "writer": "Wanda@acme.example" }));
    let first = item(&run, "write").clone();
    (run, org.person("wanda@acme.example", &[]), first)
}

pub(super) fn completing(script: &Script) -> Value {
    json!({ "output": { "text": "Hey" }, "summary": script.summary() })
}

fn returned_to_a_person_the_task_is_theirs_again(org: &Org) {
    let (run, writer, _) = writing(org);
    let view = writer.decide(&run, "write", "completed", completing(&Script::new().yes(0.6)));
    let escalated = item(&view, "write").clone();
    let back = org.operator.decide(&run, "write", "returned", json!({ "note": "Kinder." }));
    assert_eq!(states(&back), "waiting/- write=waiting end=-");
    assert_eq!(back["data"]["steps"], json!({}));
    let work = item(&back, "write");
    assert_ne!(work["id"], escalated["id"]);
    assert_eq!(work["assignedTo"], json!({ "person": "Wanda@acme.example" }));
    assert_eq!((&work["escalation"], &work["decide"]["decisions"]), (&Value::Null, &json!(["completed", "failed"])));
    let handoff = &work["handoff"];
    assert_eq!(handoff["returned"]["note"], "Kinder.");
    assert_eq!(handoff["returned"]["by"], org.operator.subject());
    assert_eq!(handoff["check"], escalated["escalation"]["check"]);
    assert_eq!(handoff["issues"], json!(["check: Is it polite? → no (0.6)"]));
    assert_eq!(&writer.work_of(&run)[0]["workItem"], work);
    assert!(org.operator.work_of(&run).is_empty());
    let ended = writer.decide(&run, "write", "completed", completing(&Script::new()));
    assert_eq!(states(&ended), "ended/sent write=done end=done");
    assert_eq!(ended["data"]["steps"]["write"]["by"], writer.subject());
}

fn the_item_that_a_person_submitted_is_superseded(org: &Org) {
    let (run, writer, first) = writing(org);
    let view = writer.decide(&run, "write", "completed", completing(&Script::new().yes(0.6)));
    let work = item(&view, "write");
    assert_ne!(work["id"], first["id"]);
    assert_eq!((&work["kind"], &work["text"]), (&json!("task"), &json!("Write the letter.")));
    assert_eq!(work["decide"]["decisions"], json!(["returned", "completed", "failed"]));
    assert_eq!(work["escalation"]["by"], writer.subject());
    assert_eq!(work["escalation"]["candidate"]["output"], json!({ "text": "Hey" }));
    assert!(writer.work_of(&run).is_empty(), "it is the operators' now");
    assert_eq!(&org.operator.work_of(&run)[0]["workItem"], work);
    refused_as(writer.try_decide(&run, "write", "completed", completing(&Script::new())), "forbidden");
    let decide = |client: &crate::harness::Client, id: &Value| {
        let mut call = item(&client.view(&run), "write")["decide"]["arguments"].clone();
        call.as_object_mut().unwrap().shift_remove("requestId");
        (call["workItemId"], call["decision"], call["note"]) = (id.clone(), json!("failed"), json!("No."));
        client.call("decide", call)
    };
    refused(decide(&writer, &first["id"]), "conflict", &["already_decided"]);
    let escalated = work["id"].clone();
    org.operator.decide(&run, "write", "returned", json!({ "note": "Kinder." }));
    for old in [&first["id"], &escalated] {
        refused(decide(&org.operator, old), "conflict", &["already_decided"]);
    }
}

fn failed_ends_the_run(org: &Org) {
    let (_, view) = held(org, &unsure());
    let ended = org.operator.decide(&view, "report", "failed", json!({ "note": "Beyond repair." }));
    assert_eq!(states(&ended), "ended/failed report=failed sign=- end=-");
    let entry = &ended["data"]["steps"]["report"];
    assert_eq!((&entry["decision"], &entry["note"]), (&json!("failed"), &json!("Beyond repair.")));
    assert_eq!((entry["by"].as_str(), entry.get("check")), (Some(org.operator.subject()), None), "{entry}");
    assert_eq!(ended["run"]["ended"]["note"], "Beyond repair.");
    assert!(org.operator.work_of(&view).is_empty());
}

fn a_snapshot_from_before_the_escalation_is_stale(org: &Org) {
    let (run, writer, first) = writing(org);
    let view = writer.decide(&run, "write", "completed", completing(&Script::new().yes(0.6)));
    let work = item(&view, "write");
    assert_ne!(work["snapshot"], first["snapshot"], "the verdict that waits is run data");
    let older = json!({ "snapshot": first["snapshot"] });
    refused_as(org.operator.try_decide(&run, "write", "completed", older), "stale");
    // And back: what the returned task shows is older data again, and not what the operator saw.
    let back = org.operator.decide(&run, "write", "returned", json!({ "note": "Kinder." }));
    assert_eq!(item(&back, "write")["snapshot"], first["snapshot"]);
    let mut late = completing(&Script::new());
    late["snapshot"] = work["snapshot"].clone();
    refused_as(writer.try_decide(&run, "write", "completed", late), "stale");
}

fn the_due_time_does_not_restart(org: &Org) {
    let run = org.run("report", REPORT, json!({}));
    let due = run["steps"][0]["due"].clone();
    let submission = work(org, &unsure());
    let view = org.agent.work_on(&run, "report", submission["output"].clone(), submission);
    assert_eq!((&view["steps"][0]["due"], &item(&view, "report")["due"]), (&due, &due));
    let back = org.operator.decide(&run, "report", "returned", json!({ "note": "Go on." }));
    assert_eq!(back["steps"][0]["due"], due);
    assert_eq!(org.agent.work_of(&run)[0]["due"], due, "the same attempt");
}

fn a_run_that_waits_for_it_can_be_cancelled(org: &Org) {
    let (_, view) = held(org, &unsure());
    let mut late = item(&view, "report")["decide"]["arguments"].clone();
    let ended = org.operator.ok("cancel", json!({ "runId": view["run"]["id"], "reason": "Not needed." }));
    assert_eq!(states(&ended), "cancelled/- report=cancelled sign=- end=-");
    assert!(org.operator.work_of(&view).is_empty());
    late.as_object_mut().unwrap().shift_remove("requestId");
    late["decision"] = json!("completed");
    refused(org.operator.call("decide", late), "conflict", &["run_ended"]);
}

fn the_branch_beside_it_goes_on(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [report, count], next: end }
  - { id: report, agent: Report., check: [{ ask: Sound?, pass: 0.9, fail: 0.5 }], next: join }
  - { id: count, agent: Count., check: Counted?, next: join }
  - { id: end, finish: reported }
";
    let run = org.run("beside", rest, json!({}));
    let doubtful = Script::new().yes(0.6);
    let view = org.agent.work_on(&run, "report", json!({}), json!({ "summary": doubtful.summary() }));
    assert_eq!(states(&view), "active/- both=waiting report=waiting count=ready end=-");
    let seen = item(&view, "report").clone();
    let other = Script::new();
    let view = org.agent.work_on(&run, "count", json!({}), json!({ "summary": other.summary() }));
    assert_eq!(states(&view), "waiting/- both=waiting report=waiting count=done end=-");
    // What the operator saw has changed meanwhile.
    let older = json!({ "snapshot": seen["snapshot"] });
    refused_as(org.operator.try_decide(&run, "report", "completed", older), "stale");
    let ended = org.operator.decide(&run, "report", "completed", json!({}));
    assert_eq!(states(&ended), "ended/reported both=done report=done count=done end=done");
    let asked = other.requests();
    assert!(asked[0].prompt.contains("unsure"), "run data shows the other branch's verdict");
    assert!(!asked[0].around.contains(&doubtful.summary()), "and not what is held of it");
    assert_eq!(outcome(&Ok(ended), "report").0, "pass");
}
