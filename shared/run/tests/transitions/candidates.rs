//! A submission that a check was unsure of: held, shown, and adopted, given back, replaced or failed by a person.

use run::{
    Answer, Cited, Command, Decision, EvidenceFile, EvidenceShown, Overlay, Ruling, RunView, Submission, snapshot,
};
use serde_json::{Value, json};

use crate::checks::yes;
use crate::common::*;

const FRONT: &str = "steps:
  - id: a
    agent: Do it.
    output: { n: number }
    due: 1h
    check: [{ ask: Is it done?, pass: 0.8, fail: 0.4 }, { ask: Is it right?, pass: 0.8, fail: 0.4 }]
    next: [{ to: b, when: It is good }, z]
  - id: b
    task: Look at it.
    person: crew
    output: { n: number }
    due: 1h
    check: [{ ask: Did they look?, fail: 0.5 }]
  - { id: c, approve: Good?, person: crew, on_reject: a }
  - { id: z, finish: over }";

const GOOD: [Answer; 2] = [Answer::Yes(0.95), Answer::Yes(0.8)];
const UNSURE: [Answer; 2] = [Answer::Yes(0.1), Answer::Yes(0.6)];
const LINES: [&str; 2] = ["check: Is it done? → no (0.1)", "check: Is it right? → no (0.6)"];

fn crew() -> run::Actor {
    person("cleo", &["g_crew"])
}

fn otto() -> run::Actor {
    person("otto", &[OPERATORS])
}

fn done(submission: Submission) -> Decision {
    Decision::Completed(submission)
}

fn adopted() -> Decision {
    done(Submission::default())
}

fn returned(note: &str) -> Decision {
    Decision::Returned(note.to_owned())
}

fn file() -> Cited {
    Cited::File(EvidenceFile {
        r#ref: "f_1".to_owned(),
        sha256: "00ff".to_owned(),
        file_name: "report.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
    })
}

fn submission() -> Submission {
    let evidence = vec![file(), Cited::Link("doc 7".to_owned())];
    Submission { output: Some(exact(r#"{"n": 1.10}"#)), evidence, ..routed(json!({}), "b") }
}

fn verdict(minutes: i64) -> Value {
    json!({ "verdict": "unsure", "advisory": false, "model": JUDGE, "at": at(minutes), "questions": [
        { "ask": "Is it done?", "kind": "yes_no", "answer": 0.1, "result": "fail" },
        { "ask": "Is it right?", "kind": "yes_no", "answer": 0.6, "result": "unsure" } ] })
}

/// Ada's submission at minute 5, which the check is unsure of.
fn held() -> (Play, run::Claimed) {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let token = play.clock(5).renew(&token, Some("Half.")).unwrap();
    play.says(&UNSURE).submit(&token, submission()).unwrap();
    (play, token)
}

/// The same at the task: its item before, and the play.
fn held_task() -> (String, Play) {
    let mut play = Play::start(FRONT);
    play.says(&GOOD).does("a", routed(json!({ "n": 1 }), "b"));
    let item = play.item("b");
    let own = Submission { summary: None, ..work(json!({ "n": 2 })) };
    play.clock(5).says(&[yes(0.7)]).decide(&crew(), "b", done(own)).unwrap();
    (item, play)
}

#[test]
fn an_unsure_submission_is_held_and_the_step_waits_on_an_operator() {
    let (mut play, token) = held();
    assert_eq!((play.states(&["a"]), play.ended()), ("waiting".to_owned(), "waiting/-".to_owned()));
    let view = play.view();
    let [fails, unsure] = LINES;
    let note = format!(
        "A check could not tell whether to accept what was submitted:\n{unsure}\nThese it did not accept:\n{fails}"
    );
    assert_eq!(
        view["workItems"],
        json!([{ "id": "w_1_1", "stepId": "a", "kind": "agent", "text": "Do it.", "output": { "n": "number" },
            "evidence": [], "next": [{ "to": "b", "when": "It is good" }, { "to": "z" }],
            "assignedTo": { "group": OPERATORS }, "snapshot": snapshot(&play.run), "due": at(60),
            "escalation": { "note": note, "by": "ada", "at": at(5), "check": verdict(5), "candidate": {
                "output": exact(r#"{"n": 1.10}"#), "summary": "Did it.", "next": "b", "reason": "It fits.",
                "evidence": [{ "kind": "file", "ref": "f_1", "sha256": "00ff" }, { "kind": "link", "ref": "doc 7" }],
                "by": "ada", "at": at(5) } },
            "handoff": { "progress": "Half." },
            "decide": { "tool": "decide", "arguments": { "runId": "r_1", "workItemId": "w_1_1",
                "snapshot": snapshot(&play.run), "requestId": "<new UUID>" },
                "decisions": ["returned", "completed", "failed"] } }])
    );
    assert_eq!(view["data"]["steps"], json!({ "a": { "check": verdict(5), "history": [] } }), "the verdict alone");
    assert_eq!(play.run.step("a").unwrap().escalated_rev, Some(play.run.rev));
    assert_eq!(play.run.step("a").unwrap().ready_since, Some(minute(0)), "the same attempt");

    assert_eq!(refused(play.submit(&token, submission())), "stale", "the claim is over");
    assert_eq!(refused(play.renew(&token, None)), "stale");
    assert_eq!(refused(play.escalate(&token, "Myself.")), "stale");
    assert_eq!(refused(play.claim_by("bob", "a")), "conflict: not_ready");
    assert_eq!(play.asked.len(), 1);
}

#[test]
fn a_waiting_verdict_is_run_data() {
    let mut play = Play::start(FRONT);
    let (before, bytes) = (snapshot(&play.run), run::data_bytes(&play.run));
    let token = play.claim("a");
    play.says(&UNSURE).submit(&token, submission()).unwrap();
    assert_ne!(snapshot(&play.run), before);
    let entry = json!({ "a": { "check": verdict(0), "history": [] } }).to_string();
    assert_eq!(run::data_bytes(&play.run), bytes + entry.len() - "{}".len());
    let stale = Command::Decide { item: play.item("a"), snapshot: before.clone(), decision: adopted() };
    assert_eq!(refused(play.act(&otto(), &stale)), "stale");
    play.decide(&otto(), "a", returned("Look again.")).unwrap();
    assert_eq!(snapshot(&play.run), before, "it is gone from run data");
    assert_eq!(play.data("a"), json!(null));
}

#[test]
fn a_waiting_verdict_stands_before_that_of_an_earlier_completion() {
    let mut play = Play::start(FRONT);
    play.says(&GOOD).does("a", routed(json!({ "n": 1 }), "b"));
    play.says(&[yes(1.0)]).decide(&crew(), "b", done(work(json!({ "n": 2 })))).unwrap();
    play.decide(&crew(), "c", Decision::Rejected("Again.".to_owned())).unwrap();
    play.clock(5).says(&UNSURE).does("a", routed(json!({ "n": 3 }), "b"));
    let a = play.data("a");
    assert_eq!((&a["output"], &a["check"], &a["history"]), (&json!({ "n": 1 }), &verdict(5), &json!([])));
    play.clock(6).decide(&otto(), "a", adopted()).unwrap();
    let a = play.data("a");
    assert_eq!((&a["output"], &a["check"]), (&json!({ "n": 3 }), &verdict(5)));
    assert_eq!(a["history"][0]["check"]["verdict"], "pass", "each completion has its own");

    play.clock(7).says(&[yes(0.6)]).decide(&crew(), "b", done(work(json!({ "n": 4 })))).unwrap();
    let b = play.data("b");
    assert_eq!((&b["check"]["verdict"], b.get("output")), (&json!("unsure"), None), "also beside history alone");
    assert_eq!(b["history"].as_array().unwrap().len(), 1);
}

#[test]
fn a_person_adopts_the_candidate_whole() {
    let (mut play, _) = held();
    play.clock(30).decide(&otto(), "a", adopted()).unwrap();
    assert_eq!(
        play.data("a"),
        json!({ "output": exact(r#"{"n": 1.10}"#), "summary": "Did it.", "next": "b", "reason": "It fits.",
            "evidence": [{ "kind": "file", "ref": "f_1", "sha256": "00ff" }, { "kind": "link", "ref": "doc 7" }],
            "check": verdict(5), "by": "otto", "at": at(30), "history": [] })
    );
    let text = serde_json::to_string(&play.entries.last().unwrap()).unwrap();
    assert!(text.contains(r#""output":{"n":1.10}"#), "{text}");
    assert_eq!(play.states(&["a", "b", "z"]), "done waiting -", "by the candidate's route");
    assert!(play.attempts.is_empty());
    assert_eq!(play.asked.len(), 1, "nobody is asked again");
    assert_eq!(refused(play.decide_item(&otto(), "w_1_1", adopted())), "conflict: already_decided");
}

#[test]
fn what_is_adopted_is_accepted_anew() {
    let (mut play, _) = held();
    let before = play.run.clone();
    let found = |first: Cited| {
        let mut decision = adopted();
        if let Decision::Completed(submission) = &mut decision {
            submission.adopted = Some(vec![first, Cited::Link("doc 7".to_owned())]);
        }
        decision
    };
    let item = play.item("a");
    let command = Command::Decide { item: item.clone(), snapshot: String::new(), decision: adopted() };
    assert_eq!(command.adopts(&play.run).len(), 2, "all that is cited of the candidate");
    let own = done(Submission { output: Some(object(json!({}))), ..Submission::default() });
    for other in [own, returned("No."), Decision::Failed("No.".to_owned())] {
        let command = Command::Decide { item: item.clone(), snapshot: String::new(), decision: other };
        assert!(command.adopts(&play.run).is_empty());
    }
    for (cited, why) in [(Cited::Altered("f_1".to_owned()), "altered"), (Cited::Missing("f_1".to_owned()), "not found")]
    {
        let refusal = play.decide(&otto(), "a", found(cited)).unwrap_err();
        assert!(refusal.issues.len() == 1 && refusal.issues[0].starts_with("evidence f_1: "), "{why}: {refusal:?}");
        assert_eq!(play.run, before, "the candidate is still there");
    }
    play.decide(&otto(), "a", found(file())).unwrap();
    assert_eq!(play.data("a")["evidence"].as_array().unwrap().len(), 2);
}

#[test]
fn with_an_output_of_their_own_a_person_takes_nothing_of_the_candidate() {
    let (mut play, _) = held();
    let only = || Submission { output: Some(object(json!({ "n": 7 }))), ..Submission::default() };
    let missing = "not_accepted: next: required, one of b, z; reason: required";
    assert_eq!(refused(play.decide(&otto(), "a", done(only()))), missing, "not even the route");
    let empty = Submission { output: Some(object(json!({}))), ..routed(json!({}), "z") };
    assert_eq!(refused(play.decide(&otto(), "a", done(empty))), "not_accepted: output.n: missing");
    let route = Submission { next: Some("z".to_owned()), reason: Some("Enough.".to_owned()), ..only() };
    play.clock(8).decide(&otto(), "a", done(route)).unwrap();
    assert_eq!(
        play.data("a"),
        json!({ "output": { "n": 7 }, "evidence": [], "next": "z", "reason": "Enough.", "by": "otto", "at": at(8),
            "history": [] }),
        "and nobody checks a person who stands in"
    );
    assert_eq!((play.ended().as_str(), play.asked.len()), ("ended/over", 1));
}

#[test]
fn half_an_adoption_is_refused() {
    let (mut play, _) = held();
    let before = (play.run.clone(), play.attempts.clone());
    let text = |t: &str| Some(t.to_owned());
    for half in [
        Submission { evidence: vec![Cited::Link("doc 8".to_owned())], ..Submission::default() },
        Submission { summary: text("Mine."), ..Submission::default() },
        Submission { next: text("z"), ..Submission::default() },
        Submission { reason: text("Mine."), ..Submission::default() },
        Submission { next: text("z"), reason: text("Mine."), ..Submission::default() },
    ] {
        let refusal = play.decide(&otto(), "a", done(half)).unwrap_err();
        assert!(refusal.message.contains("`output`"), "{}", refusal.message);
        assert_eq!(refused(Err::<(), _>(refusal)), "invalid: output: missing");
    }
    assert_eq!((&play.run, &play.attempts), (&before.0, &before.1));
    let stranger = Submission { next: text("z"), ..Submission::default() };
    assert_eq!(refused(play.decide(&crew(), "a", done(stranger))), "forbidden", "who it is comes first");
    let blank = Submission { summary: text("  "), next: text(""), ..Submission::default() };
    play.decide(&otto(), "a", done(blank)).expect("blank counts as missing");
}

#[test]
fn a_returned_submission_goes_back_with_its_verdict() {
    let (mut play, token) = held();
    play.clock(20).decide(&otto(), "a", returned("Say by whom.")).unwrap();
    let handoff = json!({ "progress": "Half.", "returned": { "note": "Say by whom.", "by": "otto", "at": at(20) },
        "issues": LINES, "check": verdict(5) });
    assert_eq!(serde_json::to_value(&play.attempts["a"].handoff).unwrap(), handoff);
    assert_eq!(
        play.shown("a"),
        json!({ "id": "a", "kind": "agent", "state": "ready", "due": at(60), "overdue": false })
    );
    assert_eq!((play.view()["workItems"].clone(), play.run.step("a").unwrap().escalated_rev), (json!([]), None));
    assert_eq!(refused(play.submit(&token, submission())), "stale", "the old token stays dead");

    let token = play.claim_by("bob", "a").unwrap();
    play.clock(25).says(&UNSURE).submit(&token, submission()).unwrap();
    assert_eq!(play.asked.len(), 2, "a person had it back: it is asked about anew");
    let view = play.view();
    let item = &view["workItems"][0];
    assert_eq!((item["id"].as_str(), &item["escalation"]["by"]), (Some("w_1_2"), &json!("bob")));
    assert_eq!(item["handoff"], handoff, "what the attempt had left behind before");
    assert_eq!(refused(play.decide_item(&otto(), "w_1_1", adopted())), "conflict: already_decided");
    play.decide(&otto(), "a", adopted()).unwrap();
    assert_eq!(play.data("a")["check"], verdict(25));
}

#[test]
fn a_failure_before_a_return_is_forgotten_with_its_verdict() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let first = || routed(json!({ "n": 1 }), "b");
    refused(play.says(&[yes(0.9), yes(0.1)]).submit(&token, first()));
    assert!(play.attempts["a"].failed.is_some());
    play.says(&UNSURE).submit(&token, submission()).unwrap();
    assert_eq!(play.view()["workItems"][0]["handoff"]["check"]["verdict"], "fail", "the latest that sent it back");
    play.decide(&otto(), "a", returned("Try.")).unwrap();
    assert_eq!(play.attempts["a"].failed, None);
    let token = play.claim("a");
    play.says(&GOOD).submit(&token, first()).unwrap();
    assert_eq!(play.asked.len(), 3);

    // A person who has looked and gives the step back lets the same work be asked about again.
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    refused(play.says(&[yes(0.9), yes(0.1)]).submit(&token, first()));
    play.escalate(&token, "I cannot.").unwrap();
    play.decide(&otto(), "a", returned("Try.")).unwrap();
    let token = play.claim("a");
    assert_eq!(play.attempts["a"].handoff.check.as_ref().map(|v| v.verdict), Some(Ruling::Fail), "the verdict stays");
    play.says(&GOOD).submit(&token, first()).unwrap();
    assert_eq!(play.asked.len(), 2);
}

#[test]
fn a_person_fails_the_run_instead() {
    let (mut play, _) = held();
    play.decide(&otto(), "a", Decision::Failed("Fraud.".to_owned())).unwrap();
    assert_eq!((play.ended().as_str(), play.states(&["a", "b"])), ("ended/failed", "failed -".to_owned()));
    assert_eq!(
        play.data("a"),
        json!({ "decision": "failed", "note": "Fraud.", "by": "otto", "at": at(5), "history": [] })
    );
}

#[test]
fn a_cancelled_run_has_no_verdict_waiting() {
    let (mut play, _) = held();
    play.cancel().unwrap();
    assert_eq!((play.view()["data"]["steps"].clone(), play.view()["workItems"].clone()), (json!({}), json!([])));
}

#[test]
fn a_task_leaves_its_assignee_for_the_operators() {
    let (before, mut play) = held_task();
    assert_eq!(before, "w_1_1");
    let view = play.view();
    let item = &view["workItems"][0];
    assert_eq!(
        (&item["id"], &item["stepId"], &item["kind"], &item["assignedTo"], &item["due"], &item["handoff"]),
        (&json!("w_1_2"), &json!("b"), &json!("task"), &json!({ "group": OPERATORS }), &json!(at(60)), &json!(null))
    );
    assert_eq!(item["decide"]["decisions"], json!(["returned", "completed", "failed"]));
    assert_eq!(
        item["escalation"]["candidate"],
        json!({ "output": { "n": 2 }, "evidence": [], "by": "cleo", "at": at(5) })
    );
    assert_eq!((view["workItems"].as_array().unwrap().len(), &view["run"]["state"]), (1, &json!("waiting")));
    assert_eq!(view["data"]["steps"]["b"]["check"]["verdict"], "unsure");
    assert!(play.attempts.is_empty(), "there was nothing to remember");

    let own = done(work(json!({ "n": 9 })));
    assert_eq!(refused(play.decide_item(&crew(), &before, own.clone())), "conflict: already_decided");
    assert_eq!(refused(play.decide_item(&otto(), &before, adopted())), "conflict: already_decided");
    assert_eq!(refused(play.decide(&crew(), "b", own)), "forbidden", "it is not theirs now");
    play.clock(8).decide(&otto(), "b", adopted()).unwrap();
    let b = play.data("b");
    assert_eq!(
        (&b["output"], &b["by"], &b["check"]["verdict"]),
        (&json!({ "n": 2 }), &json!("otto"), &json!("unsure"))
    );
    assert_eq!(play.states(&["b", "c"]), "done waiting");
}

#[test]
fn a_returned_task_is_its_assignees_again_in_the_same_attempt() {
    let (_, mut play) = held_task();
    play.clock(10).decide(&otto(), "b", returned("Look closer.")).unwrap();
    let view = play.view();
    let item = &view["workItems"][0];
    assert_eq!(
        (&item["id"], &item["assignedTo"], &item["escalation"]),
        (&json!("w_1_3"), &json!({ "group": "g_crew" }), &json!(null))
    );
    assert_eq!((&item["due"], &item["decide"]["decisions"]), (&json!(at(60)), &json!(["completed", "failed"])));
    assert_eq!(item["handoff"]["returned"], json!({ "note": "Look closer.", "by": "otto", "at": at(10) }));
    assert_eq!(item["handoff"]["issues"], json!(["check: Did they look? → no (0.7)"]));
    assert_eq!(item["handoff"]["check"]["verdict"], "unsure");
    assert_eq!((view["data"]["steps"].get("b"), play.run.step("b").unwrap().attempt), (None, 1));
    for old in ["w_1_1", "w_1_2"] {
        assert_eq!(refused(play.decide_item(&otto(), old, adopted())), "conflict: already_decided");
    }
    assert_eq!(
        refused(play.decide(&crew(), "b", returned("No."))),
        "invalid: decision: one of completed, failed",
        "only what a check escalated is returned"
    );
    assert_eq!(
        refused(play.decide(&crew(), "b", adopted())),
        "not_accepted: output.n: missing",
        "the candidate is gone"
    );

    let own = done(Submission { summary: None, ..work(json!({ "n": 2 })) });
    play.clock(12).says(&[yes(0.6)]).decide(&crew(), "b", own).unwrap();
    assert_eq!((play.item("b").as_str(), play.asked.len()), ("w_1_4", 3), "checked again, and unsure again");
    play.decide(&otto(), "b", returned("Once more.")).unwrap();
    play.says(&[yes(0.95)]).decide(&crew(), "b", done(work(json!({ "n": 3 })))).unwrap();
    assert_eq!((&play.data("b")["by"], &play.data("b")["check"]["verdict"]), (&json!("cleo"), &json!("pass")));
    assert!(play.attempts.is_empty());
}

#[test]
fn a_task_goes_back_to_the_one_person_it_was_given_to() {
    for (path, name) in [("inputs.who", "Will@example.com"), ("initiator", "mira@example.com")] {
        let front = format!(
            "inputs: {{ who: person }}\nsteps:\n  - {{ id: a, task: Do it., person: {path}, \
             check: [{{ ask: Done?, fail: 0.1 }}] }}\n  - {{ id: z, finish: over }}"
        );
        let mut play = Play::with(&front, json!({ "who": "Will@example.com" }));
        let they = person(name.split('@').next().unwrap().to_lowercase().as_str(), &[]);
        play.says(&[yes(0.5)]).decide(&they, "a", adopted()).unwrap();
        assert_eq!(play.view()["workItems"][0]["assignedTo"], json!({ "group": OPERATORS }));
        play.decide(&otto(), "a", returned("Go on.")).unwrap();
        assert_eq!(play.view()["workItems"][0]["assignedTo"], json!({ "person": name }));
        play.says(&[yes(0.95)]).decide(&they, "a", adopted()).unwrap();
        assert_eq!(play.ended(), "ended/over");
    }
}

#[test]
fn a_candidate_that_became_too_large_is_not_adopted() {
    let front = "steps:
  - { id: p, parallel: [x, y], next: z }
  - { id: x, agent: Do it., output: { text: string }, check: [{ ask: Done?, fail: 0.1 }], next: join }
  - { id: y, agent: Do it too., output: { text: string }, next: join }
  - { id: z, finish: over }";
    let begin = |limit: usize| {
        let mut world = World::new(document(front));
        world.limits.run_data_bytes = limit;
        let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), run::Mode::Live).unwrap();
        play.says(&[yes(0.5)]).does("x", work(json!({ "text": "x".repeat(300) })));
        play.does("y", work(json!({ "text": "y".repeat(300) })));
        play
    };
    let bytes = run::data_bytes(&begin(10_000).decide(&otto(), "x", adopted()).unwrap().run);
    assert!(begin(bytes).decide(&otto(), "x", adopted()).is_ok(), "the limit itself is allowed");
    let mut play = begin(bytes - 1);
    let wanted = format!("not_accepted: run data: {bytes} bytes with this submission, at most {}", bytes - 1);
    assert_eq!((refused(play.decide(&otto(), "x", adopted())), play.states(&["x"])), (wanted, "waiting".to_owned()));
    play.decide(&otto(), "x", done(work(json!({ "text": "x" })))).expect("what is shorter fits");
}

#[test]
fn the_files_of_a_candidate_can_be_linked() {
    let (play, _) = held();
    let mut view = RunView::of(&play.world.context(), &play.run, &Overlay::default(), play.clock);
    assert_eq!(view.data.files_mut().count(), 0, "a candidate is not run data");
    let link = |item: &mut EvidenceShown| item.url = Some("https://files.example/1".to_owned());
    view.work_items[0].files_mut().filter(|item| item.file.is_some()).for_each(link);
    let shown = serde_json::to_value(&view).unwrap();
    let evidence = &shown["workItems"][0]["escalation"]["candidate"]["evidence"];
    assert_eq!((&evidence[0]["url"], evidence[1].get("url")), (&json!("https://files.example/1"), None));
}

#[test]
fn the_note_of_a_check_is_short_however_long_its_questions_are() {
    let ask = |n: usize| json!({ "ask": format!("{n} {}?", "long ".repeat(190)), "fail": 0.1 });
    let check = json!((0..8).map(ask).collect::<Vec<_>>());
    let front = format!("steps:\n  - {{ id: a, agent: Do it., check: {check} }}\n  - {{ id: z, finish: over }}");
    let mut play = Play::start(&front);
    play.says(&vec![yes(0.5); 8]).does("a", work(json!({})));
    let note = play.view()["workItems"][0]["escalation"]["note"].as_str().unwrap().to_owned();
    assert!(note.len() < 2_200 && note.ends_with("\n… and 6 more"), "{} {note}", note.len());
}
