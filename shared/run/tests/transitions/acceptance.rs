//! `submit` and `completed`: every rule, all issues at once, in the words of the contract.

use run::{Cited, Decision, EvidenceFile, Limits, Mode, Submission};
use serde_json::json;

use crate::common::*;

const FRONT: &str = "steps:
  - id: a
    agent: Do it.
    output: { cleared: boolean, note: { type: string, optional: true }, tags: { type: list, items: { type: string, one_of: [x, y] } } }
    evidence: [file]
    next: [{ to: b, when: It is good }, z]
  - id: b
    task: Look.
    person: crew
    output: { ok: boolean }
    evidence: [link]
    next: z
  - { id: z, finish: over }";

fn file(id: &str) -> Cited {
    Cited::File(EvidenceFile {
        r#ref: id.to_owned(),
        sha256: "00ff".to_owned(),
        file_name: "report.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
    })
}

fn good() -> Submission {
    Submission {
        output: Some(object(json!({ "cleared": true, "tags": ["x"] }))),
        evidence: vec![file("f_1")],
        summary: Some("Looked.".to_owned()),
        next: Some("b".to_owned()),
        reason: Some("It is good.".to_owned()),
        ..Submission::default()
    }
}

/// The output of a submission that has one.
fn output(submission: &mut Submission) -> &mut serde_json::Map<String, serde_json::Value> {
    submission.output.as_mut().unwrap()
}

/// The issues of the good submission after `change`.
fn issues(change: impl FnOnce(&mut Submission)) -> String {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    let mut submission = good();
    change(&mut submission);
    let before = (play.run.clone(), play.entries.len());
    let issues = refused(play.submit(&token, submission));
    assert_eq!((&play.run, play.entries.len()), (&before.0, before.1), "nothing changed");
    play.submit(&token, good()).expect("the claim stands");
    issues
}

#[test]
fn every_rule_has_its_issue() {
    let not = |what: &str| format!("not_accepted: {what}");
    assert_eq!(issues(|s| s.summary = None), not("summary: missing"));
    assert_eq!(issues(|s| s.summary = Some(" \n".to_owned())), not("summary: missing"));
    assert_eq!(issues(|s| s.summary = Some("é".repeat(2001))), not("summary: 2001 characters, at most 2000"));
    assert_eq!(issues(|s| drop(output(s).remove("cleared"))), not("output.cleared: missing"));
    assert_eq!(issues(|s| output(s)["cleared"] = json!("yes")), not("output.cleared: expected boolean"));
    assert_eq!(issues(|s| output(s)["cleared"] = json!(null)), not("output.cleared: expected boolean"));
    assert_eq!(issues(|s| drop(output(s).insert("note".into(), json!(null)))), not("output.note: expected string"));
    assert_eq!(issues(|s| drop(output(s).insert("extra".into(), json!(1)))), not("output.extra: not declared"));
    assert_eq!(issues(|s| output(s)["tags"] = json!(["y", "w"])), not("output.tags[1]: expected one of x, y"));
    assert_eq!(issues(|s| s.evidence.clear()), not("evidence: file required"));
    assert_eq!(issues(|s| s.evidence = vec![Cited::Link("doc 7".into())]), not("evidence: file required"));
    assert_eq!(issues(|s| s.evidence = vec![Cited::Missing("f_000".into())]), not("evidence f_000: not found"));
    assert_eq!(issues(|s| s.evidence.push(Cited::Missing("f_000".into()))), not("evidence f_000: not found"));
    assert_eq!(
        issues(|s| s.evidence = vec![Cited::Altered("f_1".into())]),
        not("evidence f_1: the stored bytes no longer match the hash recorded at upload")
    );
    assert_eq!(issues(|s| s.evidence.push(Cited::Link(" ".into()))), not("evidence: a link has a blank ref"));
    assert_eq!(issues(|s| s.next = None), not("next: required, one of b, z"));
    assert_eq!(issues(|s| s.next = Some(String::new())), not("next: required, one of b, z"));
    assert_eq!(issues(|s| s.next = Some("a".to_owned())), not("next: expected one of b, z"));
    assert_eq!(issues(|s| s.reason = None), not("reason: required"));
    assert_eq!(issues(|s| s.reason = Some("  ".to_owned())), not("reason: required"));
    assert_eq!(
        issues(|s| *s = Submission::default()),
        not("summary: missing; output.cleared: missing; output.tags: missing; evidence: file required; \
             next: required, one of b, z; reason: required")
    );
}

#[test]
fn an_accepted_submission_is_recorded_whole() {
    let mut play = Play::start(FRONT);
    play.clock(4);
    let token = play.claim("a");
    let mut submission = good();
    submission.summary = Some("é".repeat(2000));
    submission.evidence.push(Cited::Link("doc 7".to_owned()));
    submission.output = Some(exact(r#"{"cleared": true, "note": "1.10", "tags": []}"#));
    play.submit(&token, submission).unwrap();
    assert_eq!(
        play.data("a"),
        json!({ "output": { "cleared": true, "note": "1.10", "tags": [] },
            "evidence": [{ "kind": "file", "ref": "f_1", "sha256": "00ff" }, { "kind": "link", "ref": "doc 7" }],
            "summary": "é".repeat(2000), "next": "b", "reason": "It is good.", "by": "ada", "at": at(4), "history": [] })
    );
    assert_eq!(play.states(&["a", "b", "z"]), "done waiting -");
}

#[test]
fn a_route_is_for_steps_that_have_a_choice() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: z, finish: over }";
    let mut play = Play::start(front);
    let token = play.claim("a");
    assert_eq!(
        refused(play.submit(&token, routed(json!({}), "z"))),
        "not_accepted: next: not allowed, this step has no list of routes; \
         reason: not allowed, this step has no list of routes"
    );
    let blank = Submission { next: Some(String::new()), reason: Some(" ".to_owned()), ..work(json!({})) };
    play.submit(&token, blank).expect("blank counts as missing");
    assert_eq!(play.data("a").get("next"), None);
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn a_person_meets_the_same_rules_but_for_the_summary() {
    let mut play = Play::start(FRONT);
    play.does("a", good());
    let cleo = person("cleo", &["g_crew"]);
    assert_eq!(
        refused(play.decide(&cleo, "b", Decision::Completed(Submission::default()))),
        "not_accepted: output.ok: missing; evidence: link required"
    );
    assert_eq!(
        play.view()["workItems"][0]["handoff"],
        json!({ "issues": ["output.ok: missing", "evidence: link required"] })
    );
    let mut done = routed(json!({ "ok": true }), "z");
    done.evidence = vec![Cited::Link("doc 8".to_owned())];
    assert_eq!(
        refused(play.decide(&cleo, "b", Decision::Completed(done.clone()))),
        "not_accepted: next: not allowed, this step has no list of routes; \
         reason: not allowed, this step has no list of routes"
    );
    done = Submission { next: None, reason: None, summary: Some(" ".to_owned()), ..done };
    play.decide(&cleo, "b", Decision::Completed(done)).unwrap();
    assert_eq!(
        play.data("b"),
        json!({ "output": { "ok": true }, "evidence": [{ "kind": "link", "ref": "doc 8" }], "by": "cleo", "at": at(0),
            "history": [] })
    );
}

#[test]
fn numbers_keep_their_text() {
    let front = "inputs: { n: number }\nsteps:\n  - { id: a, agent: Do it., output: { m: number, o: object } }\n  \
                 - { id: z, finish: over }";
    let inputs = exact(r#"{"n": 1.10}"#);
    let mut play = Play::begin(World::new(document(front)), inputs, &person("mira", &[]), Mode::Live).unwrap();
    let token = play.claim("a");
    let output = Some(exact(r#"{"m": 1e400, "o": {"deep": [12345678901234567890.123456789, -0.0]}}"#));
    play.submit(&token, Submission { output, ..work(json!({})) }).unwrap();
    let journal = serde_json::to_string(&play.entries).unwrap();
    let view = play.view().to_string();
    // The parser spells an exponent `e+400`; from there on nothing touches the text.
    for number in ["1.10", "1e+400", "12345678901234567890.123456789", "-0.0"] {
        assert!(journal.contains(number), "{number} in {journal}");
        assert!(view.contains(number), "{number} in {view}");
    }
}

#[test]
fn run_data_stays_within_its_size() {
    let front = "steps:\n  - { id: a, agent: Do it., output: { text: string } }\n  - { id: z, finish: over }";
    let after = |limit: usize| {
        let mut world = World::new(document(front));
        world.limits = Limits { run_data_bytes: limit, ..Limits::default() };
        let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap();
        let token = play.claim("a");
        play.submit(&token, work(json!({ "text": "0123456789" }))).map(|c| run::data_bytes(&c.run))
    };
    let bytes = after(10_000).unwrap();
    assert_eq!(after(bytes).unwrap(), bytes, "the limit itself is allowed");
    let wanted = format!("not_accepted: run data: {bytes} bytes with this submission, at most {}", bytes - 1);
    assert_eq!(refused(after(bytes - 1)), wanted);
}

#[test]
fn a_held_event_keeps_its_place_in_the_size() {
    let front = "steps:\n  - { id: a, agent: Do it., output: { text: string } }\n  - { id: w, wait_for: news }\n  \
                 - { id: z, finish: over }";
    let mut world = World::new(document(front));
    world.limits = Limits { run_data_bytes: 1_000, ..Limits::default() };
    let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap();
    assert_eq!(play.send("news", json!({ "text": "x".repeat(600) })).unwrap(), None);
    let token = play.claim("a");
    let refusal = refused(play.submit(&token, work(json!({ "text": "y".repeat(400) }))));
    assert!(refusal.contains("with this submission and held events, at most 1000"), "{refusal}");
    play.submit(&token, work(json!({ "text": "y" }))).unwrap();
    assert!(run::data_bytes(&play.run) <= 1_000, "the event was consumed within the size");
    assert_eq!(play.ended(), "ended/over");
}

#[test]
fn notes_do_not_count_to_the_size() {
    let front = "steps:\n  - { id: a, agent: Do it. }\n  - { id: b, approve: Good?, person: crew, on_reject: a }\n  \
                 - { id: z, finish: over }";
    let mut world = World::new(document(front));
    world.limits = Limits { run_data_bytes: 600, ..Limits::default() };
    let mut play = Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap();
    play.does("a", work(json!({})));
    let before = run::data_bytes(&play.run);
    let note = Decision::Rejected("x".repeat(4000));
    play.decide(&person("cleo", &["g_crew"]), "b", note).unwrap();
    assert!(run::data_bytes(&play.run) < before + 200);
    play.does("a", work(json!({})));
    assert_eq!(play.states(&["a", "b"]), "done waiting");
}

#[test]
fn the_issues_of_a_refused_submission_are_handed_on() {
    let mut play = Play::start(FRONT);
    let token = play.claim("a");
    refused(play.submit(&token, Submission { summary: None, ..good() }));
    refused(play.submit(&token, Submission { reason: None, ..good() }));
    let handoff = &play.attempts["a"].handoff;
    assert_eq!(handoff.issues.as_deref(), Some(&["reason: required".to_owned()][..]), "the last one's");
    play.clock(10);
    let next = play.claim_by("bob", "a").unwrap();
    assert!(play.attempts["a"].handoff.issues.is_some());
    play.submit(&next, good()).unwrap();
    assert!(play.attempts.is_empty());
}
