//! What an evaluator is shown of a submission, and how run data is cut to the size it may have.

use run::{Cited, Decision, EvidenceFile, Inquiry, ShownKind, Submission};
use serde_json::{Value, json};

use crate::checks::yes;
use crate::common::*;

const FRONT: &str = "inputs: { first: string, last: string }
steps:
  - { id: a, agent: Do it., output: { n: number } }
  - { id: b, agent: Do more., output: { text: string } }
  - { id: c, agent: \"Check  it.\\n\", output: { ok: boolean }, check: Done? }
  - { id: d, approve: Good?, person: crew, on_reject: b }
  - { id: z, finish: over }";

fn file(id: &str) -> Cited {
    Cited::File(EvidenceFile {
        r#ref: id.to_owned(),
        sha256: "00ff".to_owned(),
        file_name: "report.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
    })
}

/// A play at `c`.
fn at_c() -> Play {
    let mut play = Play::with(FRONT, json!({ "first": "1".repeat(30), "last": "2".repeat(30) }));
    let submission = Submission { evidence: vec![file("f_1")], ..work(json!({})) };
    play.does("a", Submission { output: Some(exact(r#"{"n": 1.10}"#)), ..submission });
    play.does("b", work(json!({ "text": "b".repeat(40) })));
    play
}

/// The inquiry about Ada's submission of `c` to an evaluator that is shown so many bytes of run data, and whether its
/// verdict tells that run data was cut.
fn asked(play: &Play, bytes: usize) -> (Inquiry, bool) {
    let mut play = play.clone();
    play.world.limits.check_state_bytes = bytes;
    let evidence = vec![file("f_2"), Cited::Link("doc 7".to_owned())];
    play.says(&[yes(0.95)]).does("c", Submission { evidence, ..work(json!({ "ok": true })) });
    let told = play.data("c")["check"].get("truncated") == Some(&json!(true));
    (play.asked.last().unwrap().clone(), told)
}

/// The step entries that are shown.
fn steps(inquiry: &Inquiry) -> Vec<&str> {
    inquiry.data["steps"].as_object().unwrap().keys().map(String::as_str).collect()
}

fn bytes(data: &Value) -> usize {
    data.to_string().len()
}

#[test]
fn an_evaluator_sees_the_work_the_data_and_the_submission_and_no_link_to_a_file() {
    let play = at_c();
    let data = play.view()["data"].clone();
    let (inquiry, told) = asked(&play, 65_536);
    assert_eq!((inquiry.step.as_str(), inquiry.instructions.as_str()), ("c", "Check  it.\n"));
    assert_eq!(inquiry.body, play.world.document.body);
    assert_eq!((&inquiry.data, inquiry.truncated, told), (&data, false, false));
    assert!(inquiry.data.to_string().contains(r#""n":1.10"#), "numbers keep their text");
    assert!(inquiry.data.to_string().contains(r#"{"kind":"file","ref":"f_1","sha256":"00ff"}"#));
    assert_eq!(inquiry.submission.output, object(json!({ "ok": true })));
    assert_eq!(inquiry.submission.summary.as_deref(), Some("Did it."));
    let evidence: Vec<(ShownKind, &str)> =
        inquiry.submission.evidence.iter().map(|e| (e.kind, e.r#ref.as_str())).collect();
    assert_eq!(evidence, [(ShownKind::File, "f_2"), (ShownKind::Link, "doc 7")]);
    let shown = serde_json::to_string(&inquiry.submission).unwrap() + &inquiry.data.to_string();
    for hidden in ["url", "report.pdf", "application/pdf"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
    assert_eq!(
        inquiry.questions,
        play.world.document.step("c").unwrap().work().unwrap().check.clone().unwrap().questions
    );
}

#[test]
fn the_step_that_completed_longest_ago_is_left_out_first_then_the_last_inputs() {
    let play = at_c();
    let whole = bytes(&asked(&play, 65_536).0.data);
    let mut wanted = vec![(vec!["a", "b"], 2)];
    let mut sizes = vec![whole];
    for limit in (0..=whole).rev() {
        let (inquiry, told) = asked(&play, limit);
        let size = bytes(&inquiry.data);
        let inputs = inquiry.data["inputs"].as_object().unwrap();
        let seen = (steps(&inquiry), inputs.len());
        assert_eq!((inquiry.truncated, told), (size < whole, size < whole), "cut, and recorded so");
        assert!(size <= limit || seen == (vec![], 0), "{size} of {limit}");
        if size != *sizes.last().unwrap() {
            assert_eq!(limit + 1, *sizes.last().unwrap(), "as much as fits is shown");
            sizes.push(size);
            wanted.push((seen.0.clone().into_iter().map(|s| if s == "b" { "b" } else { "?" }).collect(), seen.1));
        }
        assert!(inputs.len() != 1 || inputs.contains_key("first"));
    }
    assert_eq!(wanted, [(vec!["a", "b"], 2), (vec!["b"], 2), (vec![], 2), (vec![], 1), (vec![], 0)]);
    assert_eq!(sizes.last(), Some(&r#"{"inputs":{},"steps":{}}"#.len()));
}

#[test]
fn an_entry_is_as_old_as_its_latest_completion() {
    // After the rework `a` completed first, then `d` rejected, then `b` completed anew; `c` has its history alone.
    let mut play = at_c();
    play.says(&[yes(0.95)]).does("c", work(json!({ "ok": false })));
    play.decide(&person("cleo", &["g_crew"]), "d", Decision::Rejected("Again.".to_owned())).unwrap();
    play.does("b", work(json!({ "text": "b" })));
    let whole = bytes(&asked(&play, 65_536).0.data);
    let mut seen: Vec<String> = Vec::new();
    for limit in (0..=whole).rev() {
        let shown = steps(&asked(&play, limit).0).join(" ");
        if seen.last() != Some(&shown) {
            seen.push(shown);
        }
    }
    assert_eq!(seen, ["a b c d", "b c d", "b d", "b", ""]);
}
