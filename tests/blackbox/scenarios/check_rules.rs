//! What a file may say of a check (profile check-1), as a client meets it at import.

use serde_json::{Value, json};

use crate::harness::{Org, file, refused_as, scenarios};

scenarios! {
    checked: [
        a_check_is_a_text_or_a_list_of_questions,
        every_key_belongs_to_its_kind_of_question,
        a_check_stands_on_agent_and_task_steps,
        every_fault_is_told_at_once_with_its_place,
        what_lets_everything_pass_is_a_warning,
        a_published_check_never_changes,
    ],
}

/// A process whose one step is checked like this, in its seventh line.
fn with(check: &str) -> String {
    file(
        "rules",
        &format!("steps:\n  - id: write\n    agent: Write.\n    check: {check}\n  - {{ id: end, finish: sent }}"),
    )
}

fn import(org: &Org, source: &str) -> crate::harness::Answer {
    org.operator.exact("import_process", json!({ "source": source, "requestId": crate::harness::fresh() }))
}

/// Holds that each of these checks is refused for one reason, which names its line and this word.
fn refuses(org: &Org, rows: &[(&str, &str)]) {
    for (check, word) in rows {
        let error = refused_as(import(org, &with(check)), "invalid");
        assert_eq!(error.issues.len(), 1, "{check}: {:#?}", error.issues);
        let issue = &error.issues[0];
        assert!(issue.starts_with("7:") && issue.contains(word), "{check}: {issue}");
    }
    refused_as(org.operator.call("get_process", json!({ "name": "rules" })), "not_found");
}

fn a_check_is_a_text_or_a_list_of_questions(org: &Org) {
    refuses(
        org,
        &[
            ("", "check"),
            ("' '", "blank"),
            ("true", "boolean"),
            ("0.9", "number"),
            ("[]", "empty"),
            ("{ ask: Is it so? }", "list"),
            ("[Is it so?]", "ask"),
            ("[{ pass: 0.5 }]", "ask"),
            ("[{ ask: ' ' }]", "blank"),
            (&"ü".repeat(1_001), "1000"),
        ],
    );
    assert!(import(org, &with(&"ü".repeat(1_000))).is_ok(), "a verdict records its questions, so they have a length");
    for check in ["Is it so?", "'Is it: so?'", "[{ ask: Is it so? }]"] {
        assert_eq!(import(org, &with(check)).unwrap()["warnings"], json!([]), "{check}");
    }
}

fn every_key_belongs_to_its_kind_of_question(org: &Org) {
    let choice = |rest: &str| format!("[{{ ask: What?, one_of: {{ a: It is a., b: It is b. }}{rest} }}]");
    let rubric = |rest: &str| format!("[{{ ask: How?, levels: [Bad., Good.]{rest} }}]");
    let yes = |rest: &str| format!("[{{ ask: Is it so?{rest} }}]");
    let eleven: Vec<String> = (0..11).map(|n| format!("l{n}")).collect();
    let eleven = format!("[{{ ask: How?, levels: [{}], pass: 1 }}]", eleven.join(", "));
    let rows = [
        // Yes/no questions.
        (yes(", confidence: 0.5"), "confidence"),
        (yes(", unsure: [a]"), "unsure"),
        (yes(", pass: [a]"), "pass"),
        (yes(", pass: 1.5"), "pass"),
        (yes(", fail: -0.1"), "fail"),
        (yes(", pass: 0.5, fail: 0.6"), "fail"),
        (yes(", fail: 0.95"), "0.9"),
        (yes(", weight: 2"), "weight"),
        (yes(", advisory: true"), "advisory"),
        // Choices.
        (choice(""), "pass"),
        (choice(", pass: []"), "pass"),
        (choice(", pass: a"), "pass"),
        (choice(", pass: [c]"), "c"),
        (choice(", pass: [a, a]"), "a"),
        (choice(", pass: [a], unsure: [a]"), "unsure"),
        (choice(", pass: [a], unsure: [d]"), "d"),
        (choice(", pass: [a], fail: 0.5"), "fail"),
        (choice(", pass: [a], confidence: 2"), "confidence"),
        ("[{ ask: What?, one_of: { a: It is a. }, pass: [a] }]".to_owned(), "two"),
        ("[{ ask: What?, one_of: [a, b], pass: [a] }]".to_owned(), "one_of"),
        ("[{ ask: What?, one_of: { a: It is a., b: ' ' }, pass: [a] }]".to_owned(), "blank"),
        // Rubrics.
        (rubric(""), "pass"),
        (rubric(", pass: 2"), "pass"),
        (rubric(", pass: 0.5"), "pass"),
        (rubric(", pass: -1"), "pass"),
        (rubric(", pass: [1]"), "pass"),
        (rubric(", pass: 1, fail: 0"), "fail"),
        (rubric(", pass: 1, unsure: [0]"), "unsure"),
        (rubric(", pass: 1, confidence: high"), "confidence"),
        ("[{ ask: How?, levels: [Good.], pass: 0 }]".to_owned(), "2"),
        (eleven, "10"),
        ("[{ ask: How?, levels: { a: Bad., b: Good. }, pass: 1 }]".to_owned(), "levels"),
        // One of the two, or neither.
        ("[{ ask: What?, one_of: { a: A., b: B. }, levels: [Bad., Good.] }]".to_owned(), "one_of"),
    ];
    let rows: Vec<(&str, &str)> = rows.iter().map(|(check, word)| (check.as_str(), *word)).collect();
    refuses(org, &rows);
    let ten: Vec<String> = (0..10).map(|n| format!("l{n}")).collect();
    let ten = format!("[{{ ask: How?, levels: [{}], pass: 9, confidence: 1 }}]", ten.join(", "));
    for check in [
        yes(", pass: 0.5, fail: 0.5"),
        yes(", fail: 0.9"),
        yes(", pass: 1, fail: 0"),
        choice(", pass: [a], unsure: [b], confidence: 0"),
        rubric(", pass: 1"),
        ten,
    ] {
        assert_eq!(import(org, &with(&check)).unwrap()["warnings"], json!([]), "{check}");
    }
}

fn a_check_stands_on_agent_and_task_steps(org: &Org) {
    let end = "  - { id: end, finish: over }";
    let one = |step: &str| file("rules", &format!("steps:\n  - {{ id: a, {step} }}\n{end}"));
    for step in ["agent: Do., check: Done?", "task: Do., person: p, check: Done?, advisory: true"] {
        import(org, &one(step)).unwrap();
    }
    for (step, word) in [
        ("approve: Look., person: p, check: Seen?", "check"),
        ("wait: 1d, check: Over?", "check"),
        ("wait_for: go, check: Gone?", "check"),
        ("wait_for: go, advisory: true", "advisory"),
        ("agent: Do., advisory: true", "advisory"),
        ("agent: Do., advisory: false", "advisory"),
        ("agent: Do., check: Done?, advisory: maybe", "advisory"),
        ("agent: Do., check: Done?, advisory: 1", "advisory"),
    ] {
        let error = refused_as(import(org, &one(step)), "invalid");
        assert_eq!(error.issues.len(), 1, "{step}: {:#?}", error.issues);
        assert!(error.issues[0].starts_with("5:") && error.issues[0].contains(word), "{step}: {:#?}", error.issues);
    }
    let finish = file("rules", "steps:\n  - { id: end, finish: over, check: Over? }");
    assert!(refused_as(import(org, &finish), "invalid").issues[0].contains("check"));
}

fn every_fault_is_told_at_once_with_its_place(org: &Org) {
    let rest = "
steps:
  - id: write
    agent: Write.
    check:
      - { ask: Is it so?, pass: 2 }
      - { aks: Is it so? }
      - ask: What?
        one_of: { a: It is a., b: It is b. }
        pass: [c]
        unsure: [b, b]
      - { ask: How?, levels: [Bad.], pass: 3 }
    advisroy: true
  - { id: look, approve: Look., person: boss, check: Seen? }
  - { id: end, finish: sent }
";
    let error = refused_as(import(org, &file("faults", rest)), "invalid");
    let places: Vec<u32> = error.issues.iter().map(|i| i.split(':').next().unwrap().parse().unwrap()).collect();
    assert!(places.is_sorted(), "{:#?}", error.issues);
    for line in [8, 9, 12, 13, 14, 15, 16] {
        assert!(places.contains(&line), "nothing of line {line}: {:#?}", error.issues);
    }
}

fn what_lets_everything_pass_is_a_warning(org: &Org) {
    for check in [
        "[{ ask: Is it so?, pass: 0 }]",
        "[{ ask: What?, one_of: { a: A., b: B. }, pass: [a, b] }]",
        "[{ ask: How?, levels: [Bad., Good.], pass: 0 }]",
    ] {
        let warnings = import(org, &with(check)).unwrap()["warnings"].clone();
        assert_eq!(warnings.as_array().unwrap().len(), 1, "{check}: {warnings}");
        assert!(warnings[0].as_str().unwrap().starts_with("7:"), "{check}: {warnings}");
    }
}

fn a_published_check_never_changes(org: &Org) {
    let strict = with("[{ ask: Is it so?, pass: 0.9 }]");
    let first = org.publish(&strict);
    let run = org.agent.start("rules", json!({}));
    let second = org.publish(&with("[{ ask: Is it so?, pass: 0.1 }]"));
    assert_ne!(first["hash"], second["hash"], "the check is part of what is hashed");
    let claimed = org.agent.claim(&run, "write");
    let more = json!({ "summary": crate::harness::Script::new().yes(0.5).summary() });
    refused_as(org.agent.submit(&claimed, json!({}), more.clone()), "not_accepted");
    let run = org.agent.start("rules", json!({}));
    let ended = org.agent.work_on(&run, "write", json!({}), more);
    assert_eq!(ended["run"]["outcome"], "sent");
    let known = org.operator.ok("get_process", json!({ "name": "rules", "version": 1 }));
    assert_eq!(known["published"]["source"], json!(strict));
    assert_eq!(known["published"]["roles"], Value::Object(serde_json::Map::new()));
}
