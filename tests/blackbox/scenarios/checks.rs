//! The check of a submission (profile check-1): what a failure leaves, and what is recorded.

use serde_json::{Value, json};

use crate::harness::{Answer, Org, Script, evaluator, item, refused, refused_as, scenarios, state, states};

scenarios! {
    checked: [
        describe_lists_the_profile_and_its_limits,
        a_failure_changes_nothing_and_is_handed_on,
        a_persons_task_is_refused_alike,
        objective_issues_come_first_and_nobody_is_asked,
        the_record_says_how_it_was_checked,
        rework_starts_without_a_handoff_and_keeps_the_verdict_in_history,
        the_verdict_of_a_persons_task_is_recorded,
        an_advisory_check_never_blocks,
        advisory_may_be_said_to_be_false,
        a_rehearsal_is_checked_too,
    ],
}

/// A process whose one step is checked like this.
pub(super) fn letter(check: &str) -> String {
    format!(
        "
steps:
  - id: write
    agent: Write the letter.
    output: {{ text: string }}
    check: {check}
  - {{ id: end, finish: sent }}
"
    )
}

/// What comes of a submission: the verdict, with the issues of a failure.
pub(super) fn outcome(answer: &Answer, step: &str) -> (&'static str, Vec<String>) {
    match answer {
        Err(error) if error.code == "not_accepted" => ("fail", error.issues.clone()),
        Ok(view) if state(view, step) == "done" => ("pass", Vec::new()),
        Ok(view) if state(view, step) == "waiting" => ("unsure", Vec::new()),
        other => panic!("neither accepted nor held nor refused: {other:?}"),
    }
}

/// Starts [`letter`] with this check, and submits as the script says.
pub(super) fn sent(org: &Org, check: &str, script: &Script) -> Answer {
    let run = org.run("letter", &letter(check), json!({}));
    let claimed = org.agent.claim(&run, "write");
    org.agent.submit(&claimed, json!({ "text": "Dear all" }), json!({ "summary": script.summary() }))
}

fn describe_lists_the_profile_and_its_limits(org: &Org) {
    for client in [&org.agent, &org.staff] {
        let described = client.ok("describe", json!({}));
        assert!(described["profiles"].as_array().unwrap().contains(&json!("check-1")), "{described}");
        let limits = &described["limits"];
        for share in ["checkPass", "checkConfidence"] {
            assert!((0.0..=1.0).contains(&limits[share].as_f64().unwrap()), "{share}: {limits}");
        }
        assert!(limits["checkFail"].is_null() || limits["checkFail"].is_number(), "{limits}");
        assert!(limits["checkStateBytes"].as_u64().unwrap() > 0, "{limits}");
        if !crate::harness::is_remote() {
            let shown = ["checkPass", "checkFail", "checkConfidence", "checkStateBytes"].map(|l| limits[l].clone());
            assert_eq!(json!(shown), json!([0.9, null, 0.8, 65_536]), "what the profile says where nothing is set");
        }
    }
}

/// A question of each kind.
pub(super) const THREE: &str = "
      - { ask: Is the letter polite?, pass: 0.9, fail: 0.5 }
      - ask: What does it do?
        one_of: { proves: It says so., dodges: It avoids to say., obscure: Who knows. }
        pass: [proves]
        unsure: [obscure]
      - { ask: How complete is it?, levels: [Not at all., By half., Wholly.], pass: 2, confidence: 0.8 }";

fn a_failure_changes_nothing_and_is_handed_on(org: &Org) {
    let run = org.run("letter", &letter(THREE), json!({}));
    let claimed = org.agent.claim(&run, "write");
    let before = org.agent.view(&run);
    let script = Script::new().yes(0.42).name("dodges", 1.0).level(2, 0.9);
    let call = json!({
        "token": claimed["token"], "output": { "text": "Hey" }, "summary": script.summary(), "requestId": "failed",
    });
    let error = refused_as(org.agent.call("submit", call.clone()), "not_accepted");
    assert_eq!(org.agent.view(&run), before, "a failed check leaves no trace in the run");
    assert_eq!(before["data"]["steps"], json!({}));
    // The claim stands, and the call is not recorded: its id may be used for the mended submission.
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"] }));
    org.agent.ok("escalate", json!({ "token": renewed["token"], "note": "Look at this." }));
    let shown = item(&org.operator.view(&run), "write")["handoff"].clone();
    assert_eq!(org.operator.work_of(&run)[0]["workItem"]["handoff"], shown);
    org.operator.decide(&run, "write", "returned", json!({ "note": "Mend it." }));
    let handoff = org.other.work_of(&run)[0]["handoff"].clone();
    let claimed = org.other.claim(&run, "write");
    assert_eq!(claimed["handoff"], handoff, "get_work and claim hand on the same");
    assert_eq!(handoff["returned"]["note"], "Mend it.");
    for handoff in [&shown, &handoff] {
        assert_eq!(handoff["issues"], json!(error.issues));
        let check = &handoff["check"];
        assert_eq!((&check["verdict"], &check["advisory"]), (&json!("fail"), &json!(false)));
        let results: Vec<&Value> = check["questions"].as_array().unwrap().iter().map(|q| &q["result"]).collect();
        assert_eq!(results, ["fail", "fail", "pass"]);
        assert_eq!(check["questions"][1]["answer"], "dodges");
    }
    let good = Script::new();
    let call = json!({
        "token": claimed["token"], "output": { "text": "Dear all" }, "summary": good.summary(), "requestId": "failed",
    });
    let ended = org.other.ok("submit", call);
    assert_eq!(states(&ended), "ended/sent write=done end=done");
    assert_eq!(ended["data"]["steps"]["write"]["check"]["verdict"], "pass");
    assert_eq!(ended["data"]["steps"]["write"]["history"], json!([]), "what failed was no completion");
}

/// A task with a check.
const TASK: &str = "
steps:
  - id: write
    task: Write the letter.
    person: clerk
    output: { text: string }
    check: [{ ask: Is the letter polite?, pass: 0.9, fail: 0.5 }]
  - { id: end, finish: sent }
";

fn completing(script: &Script) -> Value {
    json!({ "output": { "text": "Hey" }, "summary": script.summary() })
}

fn a_persons_task_is_refused_alike(org: &Org) {
    let run = org.run("task", TASK, json!({}));
    let script = Script::new().yes(0.2);
    let line = "check: Is the letter polite? → no (0.2)";
    refused(org.staff.try_decide(&run, "write", "completed", completing(&script)), "not_accepted", &[line]);
    let second = org.person("sara@acme.example", &["staff"]);
    refused(second.try_decide(&run, "write", "completed", completing(&script)), "not_accepted", &[line]);
    assert_eq!(script.asked(), 1, "the same submission has the same answer, whoever sends it");
    let view = org.staff.view(&run);
    assert_eq!(states(&view), states(&run));
    assert_eq!((&view["data"], &view["run"]), (&run["data"], &run["run"]), "nothing changed");
    let open = item(&view, "write");
    assert_eq!((&open["id"], &open["snapshot"]), (&item(&run, "write")["id"], &item(&run, "write")["snapshot"]));
    assert_eq!(open["escalation"], Value::Null);
    assert_eq!(open["handoff"]["issues"], json!([line]));
    assert_eq!(open["handoff"]["check"]["verdict"], "fail");
    assert_eq!(open["handoff"].as_object().unwrap().len(), 2, "{open}");
    assert_eq!(&org.staff.work_of(&run)[0]["workItem"], open);
    let ended = org.staff.decide(&run, "write", "completed", completing(&Script::new()));
    assert_eq!(states(&ended), "ended/sent write=done end=done");
}

fn objective_issues_come_first_and_nobody_is_asked(org: &Org) {
    let rest = "
steps:
  - id: write
    agent: Write the letter.
    output: { text: string }
    evidence: [link]
    check: Is the letter polite?
    next: [look, end]
  - { id: look, task: Look., person: clerk, output: { n: number }, check: Did you look?, next: end }
  - { id: end, finish: sent }
";
    let run = org.run("objective", rest, json!({}));
    let claimed = org.agent.claim(&run, "write");
    let script = Script::new().yes(0.0);
    let issues = [
        "output.text: expected string",
        "evidence: link required",
        "next: required, one of look, end",
        "reason: required",
    ];
    let more = json!({ "summary": script.summary() });
    refused(org.agent.submit(&claimed, json!({ "text": 1 }), more.clone()), "not_accepted", &issues);
    // Nor when the submission does not come that far.
    refused_as(
        org.agent.call("submit", json!({ "token": "none", "output": {}, "summary": script.summary() })),
        "invalid",
    );
    refused_as(org.other.submit(&claimed, json!({ "text": "Hey" }), more), "forbidden");
    let more = json!({ "next": "look", "reason": "So.", "evidence": [{ "kind": "link", "ref": "DOC" }] });
    org.agent.submit(&claimed, json!({ "text": "Dear" }), more).unwrap();
    let undone = json!({ "output": { "n": "one" }, "summary": script.summary() });
    refused(org.staff.try_decide(&run, "look", "completed", undone), "not_accepted", &["output.n: expected number"]);
    let done = json!({ "output": { "n": 1 }, "summary": script.summary() });
    refused_as(org.outsider.try_decide(&run, "look", "completed", done.clone()), "forbidden");
    let mut stale = done;
    stale["snapshot"] = json!("old");
    refused_as(org.staff.try_decide(&run, "look", "completed", stale), "stale");
    assert_eq!(script.asked(), 0);
}

fn the_record_says_how_it_was_checked(org: &Org) {
    let script = Script::new().yes(0.912_345_6).name("proves", 0.987_65).level(2, 0.8);
    let ended = sent(org, THREE, &script).unwrap();
    let entry = &ended["data"]["steps"]["write"];
    assert!(evaluator::is_model(&entry["check"]["model"]), "{entry}");
    let expected = json!({
        "verdict": "pass", "advisory": false, "model": entry["check"]["model"],
        "questions": [
            { "ask": "Is the letter polite?", "kind": "yes_no", "answer": 0.9123, "result": "pass" },
            { "ask": "What does it do?", "kind": "choice", "answer": "proves", "confidence": 0.9877, "result": "pass" },
            { "ask": "How complete is it?", "kind": "rubric", "answer": 2, "confidence": 0.8, "result": "pass" },
        ],
        "at": entry["at"],
    });
    assert_eq!(entry["check"], expected);
    assert_eq!((&entry["summary"], &entry["by"]), (&json!(script.summary()), &json!("a_one")));
}

fn rework_starts_without_a_handoff_and_keeps_the_verdict_in_history(org: &Org) {
    let rest = "
steps:
  - { id: write, agent: Write the letter., output: { text: string }, check: Is the letter polite? }
  - { id: sign, approve: Sign., person: boss, on_reject: write }
  - { id: end, finish: sent }
";
    let run = org.run("reworked", rest, json!({}));
    let claimed = org.agent.claim(&run, "write");
    let text = json!({ "text": "Hey" });
    let submit = |claimed: &Value, script: &Script| {
        org.agent.submit(claimed, text.clone(), json!({ "summary": script.summary() }))
    };
    refused_as(submit(&claimed, &Script::new().yes(0.3)), "not_accepted");
    let first = submit(&claimed, &Script::new().yes(0.95)).unwrap();
    let recorded = first["data"]["steps"]["write"]["check"].clone();
    assert_eq!(recorded["questions"][0]["answer"], 0.95);
    let back = org.staff.decide(&run, "sign", "rejected", json!({ "note": "Colder." }));
    assert_eq!(back["data"]["steps"]["write"]["check"], recorded, "current until it completes anew");
    assert_eq!(org.agent.work_of(&run)[0]["handoff"], Value::Null);
    let claimed = org.agent.claim(&run, "write");
    assert_eq!(claimed["handoff"], Value::Null, "a fresh attempt");
    let again = submit(&claimed, &Script::new().yes(0.99)).unwrap();
    let entry = &again["data"]["steps"]["write"];
    assert_eq!(entry["check"]["questions"][0]["answer"], 0.99);
    assert_eq!(entry["history"].as_array().unwrap().len(), 1);
    assert_eq!(entry["history"][0]["check"], recorded, "the earlier verdict with the earlier completion");
}

fn the_verdict_of_a_persons_task_is_recorded(org: &Org) {
    let run = org.run("task", TASK, json!({}));
    let script = Script::new().yes(0.97);
    let ended = org.staff.decide(&run, "write", "completed", completing(&script));
    let entry = &ended["data"]["steps"]["write"];
    assert_eq!((&entry["check"]["verdict"], &entry["by"]), (&json!("pass"), &json!(org.staff.subject())));
    assert_eq!(script.asked(), 1, "a person completing an ordinary task is checked, and once");
}

fn an_advisory_check_never_blocks(org: &Org) {
    let rest = format!("    advisory: true\n{}", "");
    let process = letter(THREE).replace("  - { id: end", &format!("{rest}  - {{ id: end"));
    org.publish(&crate::harness::file("advised", &process));
    for (script, verdict, results) in [
        (Script::new(), "pass", ["pass", "pass", "pass"]),
        (Script::new().yes(0.1).name("dodges", 1.0), "fail", ["fail", "fail", "pass"]),
        (Script::new().yes(0.7).name("dodges", 1.0), "unsure", ["unsure", "fail", "pass"]),
    ] {
        let run = org.agent.start("advised", json!({}));
        let more = json!({ "summary": script.summary() });
        let ended = org.agent.work_on(&run, "write", json!({ "text": "Hey" }), more);
        assert_eq!(states(&ended), "ended/sent write=done end=done", "{verdict}");
        let check = &ended["data"]["steps"]["write"]["check"];
        assert_eq!((&check["verdict"], &check["advisory"]), (&json!(verdict), &json!(true)));
        let given: Vec<&Value> = check["questions"].as_array().unwrap().iter().map(|q| &q["result"]).collect();
        assert_eq!(given, results);
        assert_eq!(script.asked(), 3);
    }
}

fn advisory_may_be_said_to_be_false(org: &Org) {
    let process = letter("Is the letter polite?").replace("    check:", "    advisory: false\n    check:");
    let run = org.run("advised", &process, json!({}));
    let claimed = org.agent.claim(&run, "write");
    let more = json!({ "summary": Script::new().yes(0.1).summary() });
    refused_as(org.agent.submit(&claimed, json!({ "text": "Hey" }), more), "not_accepted");
}

fn a_rehearsal_is_checked_too(org: &Org) {
    org.publish(&crate::harness::file("letter", &letter(THREE)));
    let run = org.agent.ok("start_run", json!({ "process": "letter", "inputs": {}, "mode": "test" }));
    let claimed = org.agent.claim(&run, "write");
    let script = Script::new().yes(0.7);
    let more = json!({ "summary": script.summary() });
    let view = org.agent.submit(&claimed, json!({ "text": "Hey" }), more).unwrap();
    let work = item(&view, "write");
    assert_eq!((&work["mode"], &work["escalation"]["check"]["verdict"]), (&json!("test"), &json!("unsure")));
    assert_eq!(&org.operator.work_of(&run)[0]["workItem"], work);
}
