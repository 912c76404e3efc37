//! Verdicts (check-1), judged anew from what was answered: in ten-thousandths, and with the thresholds that the server has
//! when the file has none.

use process::{Check, Question, QuestionKind};
use run::{Answer, AskKind, Outcome, Ruling, Verdict};
use serde_json::{Number, Value};

/// The `checkPass` and `checkConfidence` of a server that was not told otherwise; its `checkFail` is the same as `pass`.
const PASS: f64 = 0.9;
const CONFIDENCE: f64 = 0.8;

fn parts(share: f64) -> i64 {
    (share * 10_000.0).round() as i64
}

/// What an answer comes to, and how it is told.
fn answered(question: &Question, answer: &Answer) -> Option<(Value, Option<i64>, Outcome)> {
    let sure = |confidence: f64, least: &Option<f64>| parts(confidence) >= parts(least.unwrap_or(CONFIDENCE));
    Some(match (&question.kind, answer) {
        (QuestionKind::YesNo { pass, fail }, Answer::Yes(p)) => {
            let pass = parts(pass.unwrap_or(PASS));
            let result = match parts(*p) {
                p if p >= pass => Outcome::Pass,
                p if p < fail.map_or(pass, parts) => Outcome::Fail,
                _ => Outcome::Unsure,
            };
            (Value::from(parts(*p)), None, result)
        }
        (QuestionKind::Choice { pass, unsure, confidence: least, .. }, Answer::Name { name, confidence }) => {
            let result = match () {
                () if !sure(*confidence, least) || unsure.contains(name) => Outcome::Unsure,
                () if pass.contains(name) => Outcome::Pass,
                () => Outcome::Fail,
            };
            (Value::from(name.clone()), Some(parts(*confidence)), result)
        }
        (QuestionKind::Rubric { pass, confidence: least, .. }, Answer::Level { level, confidence }) => {
            let result = match () {
                () if !sure(*confidence, least) => Outcome::Unsure,
                () if level >= pass => Outcome::Pass,
                () => Outcome::Fail,
            };
            (Value::from(*level), Some(parts(*confidence)), result)
        }
        _ => return None,
    })
}

/// Whether a verdict on these questions is the one on these answers; on none it is an error.
pub(super) fn is_of(verdict: &Verdict, check: &Check, answers: Option<&[Answer]>) -> bool {
    let results = || verdict.questions.iter().map(|q| q.result);
    let ruling = match answers {
        None => Ruling::Error,
        Some(_) if results().any(|r| r == Outcome::Unsure) => Ruling::Unsure,
        Some(_) if results().any(|r| r == Outcome::Fail) => Ruling::Fail,
        Some(_) => Ruling::Pass,
    };
    let share = |number: &Number| number.as_f64().map(parts);
    let as_told = verdict.questions.iter().zip(&check.questions).enumerate().all(|(n, (told, question))| {
        let kind = match question.kind {
            QuestionKind::YesNo { .. } => AskKind::YesNo,
            QuestionKind::Choice { .. } => AskKind::Choice,
            QuestionKind::Rubric { .. } => AskKind::Rubric,
        };
        let (answer, confidence, result) = match answers.and_then(|a| a.get(n)) {
            None => (Value::Null, None, Outcome::Unsure),
            Some(answer) => match answered(question, answer) {
                Some(right) => right,
                None => return false,
            },
        };
        let shown = match (&told.answer, kind) {
            (Value::Number(p), AskKind::YesNo) => share(p).map_or(Value::Null, Value::from),
            (other, _) => other.clone(),
        };
        told.ask == question.ask
            && told.kind == kind
            && shown == answer
            && told.confidence.as_ref().and_then(share) == confidence
            && told.result == result
    });
    as_told
        && verdict.questions.len() == check.questions.len()
        && verdict.verdict == ruling
        && verdict.advisory == check.advisory
        && verdict.model == crate::evaluator::MODEL
}

/// The issues of the questions that failed, or of all that did not pass.
pub(super) fn lines(verdict: &Verdict, check: &Check, all: bool) -> Vec<String> {
    let wanted = |result| result == Outcome::Fail || (all && result == Outcome::Unsure);
    let told = check.questions.iter().zip(&verdict.questions).filter(|(_, told)| wanted(told.result));
    told.map(|(question, told)| {
        let ask = question.ask.split_whitespace().collect::<Vec<_>>().join(" ");
        let sure = told.confidence.as_ref().map(|c| format!(" ({c})")).unwrap_or_default();
        match &question.kind {
            QuestionKind::YesNo { .. } => format!("check: {ask} → no ({})", told.answer),
            QuestionKind::Choice { .. } => {
                format!("check: {ask} → {}{sure}", told.answer.as_str().unwrap_or_default())
            }
            QuestionKind::Rubric { levels, .. } => {
                let level = told.answer.as_u64().and_then(|n| levels.get(usize::try_from(n).ok()?));
                format!("check: {ask} → level {}: {}{sure}", told.answer, level.map_or("", String::as_str))
            }
        }
    })
    .collect()
}
