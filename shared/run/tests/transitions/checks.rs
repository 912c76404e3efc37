//! What an answer comes to: every kind of question at, just below and just above each threshold, and the worst of several.

use run::{Answer, Limits, Mode};
use serde_json::{Value, json};

use crate::common::*;

pub fn yes(probability: f64) -> Answer {
    Answer::Yes(probability)
}

pub fn name(name: &str, confidence: f64) -> Answer {
    Answer::Name { name: name.to_owned(), confidence }
}

pub fn level(level: usize, confidence: f64) -> Answer {
    Answer::Level { level, confidence }
}

/// An agent step with this check, and a finish. The check is JSON, which is YAML too.
fn play(check: &Value, limits: Limits) -> Play {
    let front = format!("steps:\n  - {{ id: a, agent: Do it., check: {check} }}\n  - {{ id: z, finish: over }}");
    let mut world = World::new(document(&front));
    world.limits = limits;
    Play::begin(world, object(json!({})), &person("mira", &[]), Mode::Live).unwrap()
}

/// What a submission comes to with these answers: `pass`, or `fail` or `unsure` with their lines.
#[track_caller]
fn under(limits: Limits, check: &Value, answers: &[Answer]) -> String {
    let mut play = play(check, limits);
    let token = play.claim("a");
    let submitted = play.says(answers).submit(&token, work(json!({})));
    let lines =
        |lines: Vec<&str>| lines.iter().map(|l| l.strip_prefix("check: ").unwrap()).collect::<Vec<_>>().join("; ");
    match submitted {
        Err(refused) => {
            assert_eq!(refused.code, run::Code::NotAccepted, "{refused:?}");
            format!("fail: {}", lines(refused.issues.iter().map(String::as_str).collect()))
        }
        Ok(_) => match &play.run.step("a").unwrap().item {
            Some(item) => {
                let note = &item.escalation.as_ref().unwrap().note;
                let said = note.lines().filter(|line| !line.ends_with(':'));
                format!("unsure: {}", lines(said.collect()))
            }
            None => {
                assert_eq!(play.ended(), "ended/over");
                "pass".to_owned()
            }
        },
    }
}

#[track_caller]
fn comes_to(check: &Value, answers: &[Answer]) -> String {
    under(Limits::default(), check, answers)
}

#[test]
fn a_yes_no_question_passes_from_its_threshold_on_and_fails_below() {
    for (check, p, wanted) in [
        (json!("Done?"), 0.9, "pass"),
        (json!("Done?"), 1.0, "pass"),
        (json!("Done?"), 0.8999, "fail: Done? → no (0.8999)"),
        (json!("Done?"), 0.899_96, "pass"),
        (json!("Done?"), 0.899_94, "fail: Done? → no (0.8999)"),
        (json!("Done?"), 0.42, "fail: Done? → no (0.42)"),
        (json!("Done?"), 0.0, "fail: Done? → no (0)"),
        (json!([{ "ask": "Done?", "pass": 0.5 }]), 0.5, "pass"),
        (json!([{ "ask": "Done?", "pass": 0.5 }]), 0.4999, "fail: Done? → no (0.4999)"),
        (json!([{ "ask": "Done?", "pass": 0 }]), 0.0, "pass"),
        (json!([{ "ask": "Done?", "pass": 1 }]), 1.0, "pass"),
        (json!([{ "ask": "Done?", "pass": 1 }]), 0.999_96, "pass"),
        (json!([{ "ask": "Done?", "pass": 1 }]), 0.9999, "fail: Done? → no (0.9999)"),
    ] {
        assert_eq!(comes_to(&check, &[yes(p)]), wanted, "{check} {p}");
    }
}

#[test]
fn with_a_fail_threshold_it_is_unsure_between_the_two() {
    let both = json!([{ "ask": "Done?", "pass": 0.7, "fail": 0.4 }]);
    let fail = json!([{ "ask": "Done?", "fail": 0.4 }]);
    let same = json!([{ "ask": "Done?", "pass": 0.6, "fail": 0.6 }]);
    for (check, p, wanted) in [
        (&both, 0.7, "pass"),
        (&both, 0.6999, "unsure: Done? → no (0.6999)"),
        (&both, 0.4, "unsure: Done? → no (0.4)"),
        (&both, 0.399_96, "unsure: Done? → no (0.4)"),
        (&both, 0.3999, "fail: Done? → no (0.3999)"),
        (&fail, 0.9, "pass"),
        (&fail, 0.8999, "unsure: Done? → no (0.8999)"),
        (&fail, 0.39, "fail: Done? → no (0.39)"),
        (&same, 0.6, "pass"),
        (&same, 0.5999, "fail: Done? → no (0.5999)"),
    ] {
        assert_eq!(comes_to(check, &[yes(p)]), wanted, "{check} {p}");
    }
}

#[test]
fn a_choice_goes_by_its_name_once_it_is_sure_enough() {
    let check = json!([{ "ask": "Which?", "one_of": { "clean": "No hit.", "odd": "Hard to tell.", "dirty": "A hit." },
        "pass": ["clean"], "unsure": ["odd"] }]);
    let mut own = check.clone();
    own[0]["confidence"] = json!(0.25);
    for (check, answer, confidence, wanted) in [
        (&check, "clean", 1.0, "pass"),
        (&check, "clean", 0.8, "pass"),
        (&check, "clean", 0.799_96, "pass"),
        (&check, "clean", 0.7999, "unsure: Which? → clean (0.7999)"),
        (&check, "odd", 1.0, "unsure: Which? → odd (1)"),
        (&check, "dirty", 0.8, "fail: Which? → dirty (0.8)"),
        (&check, "dirty", 0.7999, "unsure: Which? → dirty (0.7999)"),
        (&own, "clean", 0.25, "pass"),
        (&own, "clean", 0.2499, "unsure: Which? → clean (0.2499)"),
        (&own, "dirty", 0.25, "fail: Which? → dirty (0.25)"),
    ] {
        assert_eq!(comes_to(check, &[name(answer, confidence)]), wanted, "{answer} {confidence}");
    }
}

#[test]
fn a_rubric_passes_from_its_level_on_once_it_is_sure_enough() {
    let check = json!([{ "ask": "How good?", "levels": ["Bad.", "Two\n  lines.", "Good."], "pass": 1 }]);
    let mut own = check.clone();
    own[0]["confidence"] = json!(0);
    let mut all = check.clone();
    all[0]["pass"] = json!(0);
    for (check, answer, confidence, wanted) in [
        (&check, 2, 0.8, "pass"),
        (&check, 1, 0.8, "pass"),
        (&check, 0, 0.8, "fail: How good? → level 0: Bad. (0.8)"),
        (&check, 1, 0.7999, "unsure: How good? → level 1: Two lines. (0.7999)"),
        (&check, 0, 0.0, "unsure: How good? → level 0: Bad. (0)"),
        (&own, 1, 0.0, "pass"),
        (&own, 0, 0.0, "fail: How good? → level 0: Bad. (0)"),
        (&all, 0, 0.9, "pass"),
    ] {
        assert_eq!(comes_to(check, &[level(answer, confidence)]), wanted, "{answer} {confidence}");
    }
}

#[test]
fn the_servers_thresholds_stand_in_for_those_a_question_does_not_name() {
    let limits = Limits { check_pass: 0.6, check_fail: Some(0.3), check_confidence: 0.5, ..Limits::default() };
    let plain = json!("Done?");
    let own = json!([{ "ask": "Done?", "pass": 0.8, "fail": 0.7 }]);
    let choice = json!([{ "ask": "Which?", "one_of": { "a": "A.", "b": "B." }, "pass": ["a"] }]);
    let rubric = json!([{ "ask": "How?", "levels": ["A.", "B."], "pass": 1 }]);
    for (check, answer, wanted) in [
        (&plain, yes(0.6), "pass"),
        (&plain, yes(0.5999), "unsure: Done? → no (0.5999)"),
        (&plain, yes(0.3), "unsure: Done? → no (0.3)"),
        (&plain, yes(0.2999), "fail: Done? → no (0.2999)"),
        (&own, yes(0.75), "unsure: Done? → no (0.75)"),
        (&own, yes(0.65), "fail: Done? → no (0.65)"),
        (&choice, name("a", 0.5), "pass"),
        (&choice, name("a", 0.4999), "unsure: Which? → a (0.4999)"),
        (&rubric, level(1, 0.5), "pass"),
        (&rubric, level(1, 0.4999), "unsure: How? → level 1: B. (0.4999)"),
    ] {
        assert_eq!(under(limits, check, std::slice::from_ref(&answer)), wanted, "{answer:?}");
    }
}

#[test]
fn the_verdict_is_the_worst_question() {
    let check = json!([
        { "ask": "One?", "pass": 0.8, "fail": 0.4 },
        { "ask": "Two?", "pass": 0.8, "fail": 0.4 },
        { "ask": "Three?", "pass": 0.8, "fail": 0.4 },
    ]);
    let (pass, unsure, fail) = (yes(0.9), yes(0.5), yes(0.1));
    for (answers, wanted) in [
        ([&pass, &pass, &pass], "pass"),
        ([&pass, &fail, &pass], "fail: Two? → no (0.1)"),
        ([&fail, &pass, &fail], "fail: One? → no (0.1); Three? → no (0.1)"),
        ([&unsure, &pass, &pass], "unsure: One? → no (0.5)"),
        ([&fail, &pass, &unsure], "unsure: Three? → no (0.5); One? → no (0.1)"),
        ([&fail, &unsure, &fail], "unsure: Two? → no (0.5); One? → no (0.1); Three? → no (0.1)"),
    ] {
        let answers: Vec<Answer> = answers.into_iter().cloned().collect();
        assert_eq!(comes_to(&check, &answers), wanted, "{answers:?}");
    }
}

#[test]
fn a_question_is_one_line_of_its_issue_however_it_is_written() {
    let check = json!([{ "ask": "\n  Is it\tsigned,\n\n and by   whom? \n" }]);
    assert_eq!(comes_to(&check, &[yes(0.1)]), "fail: Is it signed, and by whom? → no (0.1)");
}

#[test]
fn a_verdict_says_what_was_asked_and_answered() {
    let check = json!([
        { "ask": "Is it\n done?", "pass": 0.5 },
        { "ask": "Which?", "one_of": { "clean": "No hit.", "dirty": "A hit." }, "pass": ["clean"] },
        { "ask": "How good?", "levels": ["Bad.", "Good."], "pass": 1 },
    ]);
    let mut play = play(&check, Limits::default());
    play.clock(3).says(&[yes(1.0 / 3.0 + 0.2), name("clean", 1.0), level(1, 0.87654)]).does("a", work(json!({})));
    assert_eq!(
        play.data("a"),
        json!({ "output": {}, "evidence": [], "summary": "Did it.", "by": "ada", "at": at(3), "history": [], "check": {
            "verdict": "pass", "advisory": false, "model": JUDGE, "at": at(3), "questions": [
                { "ask": "Is it\n done?", "kind": "yes_no", "answer": 0.5333, "result": "pass" },
                { "ask": "Which?", "kind": "choice", "answer": "clean", "confidence": 1, "result": "pass" },
                { "ask": "How good?", "kind": "rubric", "answer": 1, "confidence": 0.8765, "result": "pass" },
            ] } })
    );
    let text = serde_json::to_string(&play.entries.last().unwrap()).unwrap();
    for shown in [r#""answer":0.5333,"#, r#""confidence":1,"#, r#""answer":1,"#, r#""confidence":0.8765,"#] {
        assert!(text.contains(shown), "{shown} in {text}");
    }
}
