//! Generates checks that read, with what each must read to, and breaks them.

use process::{Check, Question, QuestionKind, limits};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::text;

/// A check as the file has it, and as it must be read.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The value of `check`.
    pub check: Value,
    /// The value of `advisory`, when it is written.
    pub advisory: Option<bool>,
    /// What it must read to.
    pub expect: Check,
}

/// A valid check of one to a few questions.
pub fn asked() -> impl Strategy<Value = Asked> {
    let short = (asking(), prop::option::of(any::<bool>())).prop_map(|(ask, advisory)| {
        let question = Question { ask: ask.clone(), kind: QuestionKind::YesNo { pass: None, fail: None } };
        let expect = Check { questions: vec![question], advisory: advisory == Some(true) };
        Asked { check: json!(ask), advisory, expect }
    });
    let full =
        (prop::collection::vec(question(), 1..5), prop::option::of(any::<bool>())).prop_map(|(questions, advisory)| {
            let (check, questions): (Vec<Value>, Vec<Question>) = questions.into_iter().unzip();
            let expect = Check { questions, advisory: advisory == Some(true) };
            Asked { check: Value::Array(check), advisory, expect }
        });
    prop_oneof![1 => short, 3 => full]
}

/// Text of a question, which has no control character but line breaks and tabs.
fn asking() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "?"))
}

/// A share of one with two decimals, which JSON and Rust write and read alike.
fn share(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

fn question() -> impl Strategy<Value = (Value, Question)> {
    prop_oneof![yes_no(), choice(), rubric()]
}

fn yes_no() -> impl Strategy<Value = (Value, Question)> {
    (asking(), prop::option::of(1_u32..=100), prop::option::of(0_u32..=100)).prop_map(|(ask, pass, fail)| {
        let fail = fail.map(|fail| fail.min(pass.unwrap_or(90)));
        let mut file = json!({ "ask": ask });
        if let Some(pass) = pass {
            file["pass"] = json!(share(pass));
        }
        if let Some(fail) = fail {
            file["fail"] = json!(share(fail));
        }
        (file, Question { ask, kind: QuestionKind::YesNo { pass: pass.map(share), fail: fail.map(share) } })
    })
}

fn choice() -> impl Strategy<Value = (Value, Question)> {
    let name = prop_oneof!["[a-z]{1,8}", "[ -~]{0,20}x", Just("yes".to_owned()), Just("1".to_owned()), "ä{1,64}"];
    let answers = prop::collection::hash_map(name, asking(), 2..6);
    (asking(), answers, 1_usize..6, 0_usize..6, prop::option::of(0_u32..=100)).prop_map(
        |(ask, answers, pass, unsure, confidence)| {
            let one_of: Vec<(String, String)> = answers.into_iter().collect();
            let mut names = one_of.iter().map(|(name, _)| name.clone());
            let pass: Vec<String> = names.by_ref().take(pass.min(one_of.len() - 1)).collect();
            let unsure: Vec<String> = names.take(unsure).collect();
            let meanings: Map<String, Value> = one_of.iter().map(|(n, m)| (n.clone(), json!(m))).collect();
            let mut file = json!({ "pass": pass, "one_of": meanings, "ask": ask });
            if !unsure.is_empty() {
                file["unsure"] = json!(unsure);
            }
            if let Some(confidence) = confidence {
                file["confidence"] = json!(share(confidence));
            }
            (
                file,
                Question {
                    ask,
                    kind: QuestionKind::Choice { one_of, pass, unsure, confidence: confidence.map(share) },
                },
            )
        },
    )
}

fn rubric() -> impl Strategy<Value = (Value, Question)> {
    let levels = prop::collection::vec(asking(), 2..=limits::RUBRIC_LEVELS);
    (asking(), levels, 0_usize..9, prop::option::of(0_u32..=100)).prop_map(|(ask, levels, pass, confidence)| {
        let pass = 1 + pass % (levels.len() - 1);
        let mut file = json!({ "ask": ask, "levels": levels, "pass": pass });
        if let Some(confidence) = confidence {
            file["confidence"] = json!(share(confidence));
        }
        (file, Question { ask, kind: QuestionKind::Rubric { levels, pass, confidence: confidence.map(share) } })
    })
}

/// What a check says, for comparison whatever the order in which its file writes the answers of a choice.
pub fn shown(check: &Check) -> String {
    let mut check = check.clone();
    for question in &mut check.questions {
        if let QuestionKind::Choice { one_of, .. } = &mut question.kind {
            one_of.sort();
        }
    }
    format!("{check:?}")
}

/// The check with one fault in it, and the path of the fault in the check.
pub fn broken(check: &Value, fault: usize, at: usize) -> (Value, String) {
    // The short form becomes the full one, so that every fault fits.
    let mut list = match check {
        Value::Array(list) => list.clone(),
        ask => vec![json!({ "ask": ask })],
    };
    let at = at % list.len();
    let question = &mut list[at];
    let kind = if question.get("one_of").is_some() { "choice" } else { "other" };
    let kind = if question.get("levels").is_some() { "rubric" } else { kind };
    let mut put = |key: &str, value: Value| {
        question[key] = value;
        format!("[{at}].{key}")
    };
    let path = match (fault % 8, kind) {
        (0, _) => put("ask", json!(" \n")),
        (1, _) => put("ask", json!(true)),
        (2, _) => put("wanted", json!(0.9)),
        (3, "choice") => put("pass", json!(["~ nobody"])),
        (3, "rubric") => put("pass", json!(10)),
        (3, _) => put("pass", json!(1.01)),
        (4, "choice") => put("levels", json!(["a", "b"])).replace("levels", ""),
        (4, "rubric") => put("one_of", json!({ "a": "b", "c": "d" })).replace("one_of", ""),
        (4, _) => put("confidence", json!(0.5)),
        (5, "other") => put("fail", json!(1.01)),
        (5, _) => put("fail", json!(0.5)),
        (6, "choice") => put("one_of", json!(["a", "b"])),
        (6, "rubric") => put("levels", json!(["a"])),
        (6, _) => put("unsure", json!([])),
        _ => {
            question.as_object_mut().unwrap().remove("ask");
            format!("[{at}]")
        }
    };
    (Value::Array(list), path)
}
