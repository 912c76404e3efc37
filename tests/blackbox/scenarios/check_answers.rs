//! Which answers pass a check (profile check-1): thresholds of each kind of question, the worst of several, and the line that
//! tells of a failure.

use serde_json::json;

use super::checks::{THREE, outcome, sent};
use crate::harness::{Org, Script, refused, scenarios};

scenarios! {
    checked: [
        one_text_is_one_question_with_the_servers_threshold,
        a_yes_no_question_passes_fails_or_is_unsure,
        a_choice_passes_fails_or_is_unsure,
        a_rubric_passes_fails_or_is_unsure,
        the_worst_question_rules,
        every_failed_question_has_its_line,
        a_question_is_shown_on_one_line,
    ],
}

/// Holds a table of checks: each with what the evaluator says, and what comes of it.
fn table(org: &Org, rows: &[(&str, Script, &str)]) {
    for (n, (check, script, expected)) in rows.iter().enumerate() {
        let answer = sent(org, check, script);
        assert_eq!(&outcome(&answer, "write").0, expected, "row {n}: {check}: {answer:?}");
        let questions = if let Ok(view) = &answer {
            let check = &view["data"]["steps"]["write"]["check"];
            assert_eq!(check["verdict"], *expected, "row {n}");
            check["questions"].as_array().unwrap().len()
        } else {
            1
        };
        assert_eq!(script.asked(), questions, "row {n}: one request for each question, none for the repeated call");
    }
}

fn one_text_is_one_question_with_the_servers_threshold(org: &Org) {
    let limits = org.agent.ok("describe", json!({}))["limits"].clone();
    let pass = limits["checkPass"].as_f64().unwrap();
    let below = if limits["checkFail"].is_null() { "fail" } else { "unsure" };
    let ask = "Is the letter polite?";
    let full = format!("[{{ ask: {ask} }}]");
    for check in [ask, full.as_str()] {
        table(
            org,
            &[
                (check, Script::new().yes(1.0), "pass"),
                (check, Script::new().yes(pass), "pass"),
                (check, Script::new().yes(pass - 0.01), below),
                (check, Script::new().yes(0.0), "fail"),
            ],
        );
    }
}

fn a_yes_no_question_passes_fails_or_is_unsure(org: &Org) {
    let both = "[{ ask: Is the letter polite?, pass: 0.9, fail: 0.5 }]";
    let pass = "[{ ask: Is the letter polite?, pass: 0.6 }]";
    let same = "[{ ask: Is the letter polite?, pass: 0.7, fail: 0.7 }]";
    table(
        org,
        &[
            (both, Script::new().yes(0.9), "pass"),
            (both, Script::new().yes(0.89), "unsure"),
            (both, Script::new().yes(0.5), "unsure"),
            (both, Script::new().yes(0.49), "fail"),
            (both, Script::new().yes(0.0), "fail"),
            (pass, Script::new().yes(0.6), "pass"),
            (pass, Script::new().yes(0.59), "fail"),
            (same, Script::new().yes(0.7), "pass"),
            (same, Script::new().yes(0.69), "fail"),
        ],
    );
}

fn a_choice_passes_fails_or_is_unsure(org: &Org) {
    let given = org.agent.ok("describe", json!({}))["limits"]["checkConfidence"].as_f64().unwrap();
    let names =
        "one_of: { proves: It says so., dodges: It avoids to say., silent: Says nothing., obscure: Who knows. }";
    let usual = &format!("[{{ ask: What does it do?, {names}, pass: [proves, silent], unsure: [obscure] }}]");
    let strict = &format!("[{{ ask: What does it do?, {names}, pass: [proves], confidence: 0.95 }}]");
    table(
        org,
        &[
            (usual, Script::new().name("proves", 1.0), "pass"),
            (usual, Script::new().name("silent", given), "pass"),
            (usual, Script::new().name("proves", given - 0.01), "unsure"),
            (usual, Script::new().name("obscure", 1.0), "unsure"),
            (usual, Script::new().name("dodges", 1.0), "fail"),
            (usual, Script::new().name("dodges", given - 0.01), "unsure"),
            (strict, Script::new().name("proves", 0.95), "pass"),
            (strict, Script::new().name("proves", 0.94), "unsure"),
            (strict, Script::new().name("obscure", 0.95), "fail"),
        ],
    );
}

fn a_rubric_passes_fails_or_is_unsure(org: &Org) {
    let given = org.agent.ok("describe", json!({}))["limits"]["checkConfidence"].as_f64().unwrap();
    let usual = "[{ ask: How complete is it?, levels: [Not at all., By half., Wholly.], pass: 1 }]";
    let bold = "[{ ask: How complete is it?, levels: [Not at all., Wholly.], pass: 1, confidence: 0.3 }]";
    let all = "[{ ask: How complete is it?, levels: [a, b, c, d, e, f, g, h, i, j], pass: 9 }]";
    table(
        org,
        &[
            (usual, Script::new().level(2, 1.0), "pass"),
            (usual, Script::new().level(1, given), "pass"),
            (usual, Script::new().level(1, given - 0.01), "unsure"),
            (usual, Script::new().level(0, 1.0), "fail"),
            (usual, Script::new().level(0, given - 0.01), "unsure"),
            (bold, Script::new().level(1, 0.6), "pass"),
            (bold, Script::new().level(0, 0.6), "fail"),
            (all, Script::new().level(9, 1.0), "pass"),
            (all, Script::new().level(8, 1.0), "fail"),
        ],
    );
}

fn the_worst_question_rules(org: &Org) {
    let says = |p: f64, name: &str, level: usize| Script::new().yes(p).name(name, 1.0).level(level, 1.0);
    table(
        org,
        &[
            (THREE, says(0.9, "proves", 2), "pass"),
            (THREE, says(0.7, "proves", 2), "unsure"),
            (THREE, says(0.9, "obscure", 2), "unsure"),
            // Unsure is over fail.
            (THREE, says(0.7, "dodges", 0), "unsure"),
            (THREE, says(0.1, "obscure", 0), "unsure"),
        ],
    );
    for (p, name, level) in [(0.1, "proves", 2), (0.9, "dodges", 2), (0.9, "proves", 1), (0.1, "dodges", 0)] {
        assert_eq!(outcome(&sent(org, THREE, &says(p, name, level)), "write").0, "fail", "{p} {name} {level}");
    }
}

fn every_failed_question_has_its_line(org: &Org) {
    let lines = [
        "check: Is the letter polite? → no (0.42)",
        "check: What does it do? → dodges (0.8125)",
        "check: How complete is it? → level 1: By half. (0.97)",
    ];
    let all = Script::new().yes(0.42).name("dodges", 0.8125).level(1, 0.97);
    refused(sent(org, THREE, &all), "not_accepted", &lines);
    let last = Script::new().yes(1.0).name("proves", 1.0).level(1, 0.97);
    refused(sent(org, THREE, &last), "not_accepted", &lines[2..]);
    let first = Script::new().yes(0.42).name("proves", 1.0).level(2, 1.0);
    refused(sent(org, THREE, &first), "not_accepted", &lines[..1]);
    let polite = "Is the letter polite?";
    for (p, line) in [(0.0, "no (0)"), (0.123_44, "no (0.1234)"), (0.123_46, "no (0.1235)"), (0.5, "no (0.5)")] {
        let line = format!("check: {polite} → {line}");
        refused(sent(org, polite, &Script::new().yes(p)), "not_accepted", &[&line]);
    }
}

fn a_question_is_shown_on_one_line(org: &Org) {
    let check = "
      - ask: |
          Is the letter   polite?
          Mind the first line.
      - ask: How complete is it?
        levels:
          - |
            Not at
            all.
          - Wholly.
        pass: 1";
    let answer = sent(org, check, &Script::new().yes(0.1).level(0, 1.0));
    let (verdict, issues) = outcome(&answer, "write");
    assert_eq!(verdict, "fail");
    let lines = [
        "check: Is the letter polite? Mind the first line. → no (0.1)",
        "check: How complete is it? → level 0: Not at all. (1)",
    ];
    assert_eq!(issues, lines);
}
