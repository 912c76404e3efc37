//! Checks as they are read: the model, what a server without an evaluator says of them, the hash, the pictures.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use process::{Check, QuestionKind, ReadOptions, content_hash, map, read, read_in_folder, read_with};

const FILE: &str = "\
---
name: report
description: Write a report and have it read.
steps:
  - id: write
    agent: Write it.
    check:
      - ask: The report says what was asked for.
        pass: 0.95
        fail: 0.40
      - ask: |
          How does it read?
        one_of: { plain: Anyone understands it., dense: Experts understand it., lost: Nobody does. }
        pass: [plain]
        unsure: [dense]
        confidence: 0.7
      - ask: How complete is it?
        levels: [Nothing is there., Half is there., All is there.]
        pass: 1
  - id: send
    task: Send it.
    person: clerk
    check: It was sent to whom it is for.
    advisory: true
  - id: file
    task: File it.
    person: clerk
  - id: done
    finish: written
---
";

fn checks(file: &str) -> Vec<Option<Check>> {
    let reading = read(file.as_bytes());
    let document = reading.document.unwrap_or_else(|| panic!("{:?}", reading.problems));
    document.steps.iter().map(|step| step.work().and_then(|work| work.check.clone())).collect()
}

#[test]
fn a_check_is_what_the_file_says() {
    let found = checks(FILE);
    let written = found[0].as_ref().unwrap();
    assert!(!written.advisory);
    let asks: Vec<&str> = written.questions.iter().map(|q| q.ask.as_str()).collect();
    assert_eq!(asks, ["The report says what was asked for.", "How does it read?\n", "How complete is it?"]);
    let named = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<String>>();
    let one_of = [("plain", "Anyone understands it."), ("dense", "Experts understand it."), ("lost", "Nobody does.")];
    assert_eq!(written.questions[0].kind, QuestionKind::YesNo { pass: Some(0.95), fail: Some(0.4) });
    assert_eq!(
        written.questions[1].kind,
        QuestionKind::Choice {
            one_of: one_of.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())).to_vec(),
            pass: named(&["plain"]),
            unsure: named(&["dense"]),
            confidence: Some(0.7),
        }
    );
    assert_eq!(
        written.questions[2].kind,
        QuestionKind::Rubric {
            levels: named(&["Nothing is there.", "Half is there.", "All is there."]),
            pass: 1,
            confidence: None,
        }
    );
    let sent = found[1].as_ref().unwrap();
    assert!(sent.advisory);
    assert_eq!(sent.questions.len(), 1);
    assert_eq!(sent.questions[0].ask, "It was sent to whom it is for.");
    assert_eq!(sent.questions[0].kind, QuestionKind::YesNo { pass: None, fail: None });
    assert_eq!(found[2..], [None, None]);
}

#[test]
fn a_file_with_a_check_needs_the_profile() {
    assert_eq!(read(FILE.as_bytes()).document.unwrap().profiles(), ["check-1"]);
    let plain = FILE.lines().filter(|l| !l.contains("check") && !l.contains("advisory"));
    let plain = plain.filter(|l| !l.starts_with("      ")).fold(String::new(), |file, l| file + l + "\n");
    assert_eq!(read(plain.as_bytes()).document.unwrap().profiles(), <[&str; 0]>::default());
}

#[test]
fn without_an_evaluator_each_key_is_refused_where_it_stands_and_no_other_fault_is_hidden() {
    let without = ReadOptions { check: false, ..ReadOptions::default() };
    let told = |file: &str, options: &ReadOptions<'_>| -> Vec<String> {
        let reading = read_with(file.as_bytes(), options);
        assert_eq!(reading.document.is_some(), reading.problems.is_empty());
        let profile = |p: Option<&str>| p.map(|p| format!(" [{p}]")).unwrap_or_default();
        reading.problems.iter().map(|p| format!("{p}{}", profile(p.profile))).collect()
    };
    let offered = "needs profile check-1, which this server does not offer: it has no evaluator [check-1]";
    assert_eq!(
        told(FILE, &without),
        [
            format!("7:5: steps[0].check: `check` {offered}"),
            format!("23:5: steps[1].check: `check` {offered}"),
            format!("24:5: steps[1].advisory: `advisory` {offered}"),
        ]
    );
    // What such a key holds is of no interest where the key itself is refused.
    let wrong = FILE.replace("pass: 0.95", "pass: 95").replace("agent: Write it.", "agent:");
    let wrong = wrong.replace("    person: clerk\n    check", "    advisroy: true\n    check");
    assert_eq!(
        told(&wrong, &ReadOptions { folder_name: Some("reports"), ..without }),
        [
            "2:7: name: the folder is called `reports`; give it the name of the process, `report`".to_owned(),
            "6:10: steps[0].agent: has no value; write instructions".to_owned(),
            format!("7:5: steps[0].check: `check` {offered}"),
            "20:5: steps[1]: `task` needs `person`: a role, `initiator`, or a path to a person".to_owned(),
            "22:5: steps[1].advisroy: unknown key; a step takes id, agent, task, approve, wait, wait_until, wait_for, \
             parallel, finish, output, evidence, next, person, on_reject, due, timeout, on_timeout, graph"
                .to_owned(),
            format!("23:5: steps[1].check: `check` {offered}"),
            format!("24:5: steps[1].advisory: `advisory` {offered}"),
        ]
    );
}

#[test]
fn the_short_forms_allow_everything() {
    assert_eq!(read(FILE.as_bytes()), read_with(FILE.as_bytes(), &ReadOptions::default()));
    assert!(read(FILE.as_bytes()).document.is_some());
    assert!(read_in_folder(FILE.as_bytes(), "report").document.is_some());
    assert!(read_in_folder(FILE.as_bytes(), "reports").document.is_none());
}

#[test]
fn the_hash_covers_the_check() {
    let hash = |file: &str| content_hash(&read(file.as_bytes()).document.unwrap());
    let first = hash(FILE);
    for (from, to) in [
        ("pass: 0.95", "pass: 0.96"),
        ("        fail: 0.40\n", ""),
        ("plain: Anyone", "plain: Everyone"),
        ("unsure: [dense]", "unsure: [lost]"),
        ("advisory: true", "advisory: false"),
        ("    advisory: true\n", ""),
        ("It was sent", "It is sent"),
    ] {
        assert_ne!(first, hash(&FILE.replace(from, to)), "{from}");
    }
    // How it is spelled does not count, and neither does the order of keys.
    assert_eq!(first, hash(&FILE.replace("fail: 0.40", "fail: 0.4")));
    assert_eq!(
        first,
        hash(&FILE.replace("pass: [plain]\n        unsure: [dense]", "unsure: [dense]\n        pass: [plain]"))
    );
}

#[test]
fn the_pictures_show_which_steps_are_checked() {
    let document = read(FILE.as_bytes()).document.unwrap();
    for picture in [map::mermaid(&document), map::svg(&document)] {
        assert_eq!(picture.matches("checked: 3 questions").count(), 1, "{picture}");
        assert_eq!(picture.matches("checked: 1 question, advisory").count(), 1, "{picture}");
        assert_eq!(picture.matches("checked").count(), 2, "{picture}");
    }
}
