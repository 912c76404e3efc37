//! From answers to a verdict: every answer against its question's thresholds, and the worst of them (check-1).

use process::{Check, Question, QuestionKind};
use serde_json::Value;

use super::share::Share;
use super::{Answer, AskKind, Evaluation, Outcome, QuestionVerdict, Ruling, Verdict, fits};
use crate::{Limits, Time};

/// The verdict. Answers that are missing, or that do not answer these questions, are an error, and nothing is told of them.
pub(crate) fn judge(check: &Check, limits: &Limits, evaluation: &Evaluation, at: Time) -> Verdict {
    let answers = evaluation.answers.as_deref().filter(|answers| fits(&check.questions, answers).is_ok());
    let (verdict, questions) = match answers {
        Some(answers) => {
            let told: Vec<QuestionVerdict> = check
                .questions
                .iter()
                .zip(answers)
                .map(|(question, answer)| answered(question, answer, limits))
                .collect();
            (worst(&told), told)
        }
        None => (Ruling::Error, check.questions.iter().map(unanswered).collect()),
    };
    Verdict {
        verdict,
        advisory: check.advisory,
        model: evaluation.model.clone(),
        questions,
        truncated: evaluation.truncated,
        at,
    }
}

/// Unsure over fail over pass.
fn worst(questions: &[QuestionVerdict]) -> Ruling {
    let any = |result: Outcome| questions.iter().any(|q| q.result == result);
    match () {
        () if any(Outcome::Unsure) => Ruling::Unsure,
        () if any(Outcome::Fail) => Ruling::Fail,
        () => Ruling::Pass,
    }
}

fn answered(question: &Question, answer: &Answer, limits: &Limits) -> QuestionVerdict {
    let unsure = |confidence: Share, least: &Option<f64>| confidence.value() < least.unwrap_or(limits.check_confidence);
    match (&question.kind, answer) {
        (QuestionKind::YesNo { pass, fail }, Answer::Yes(p)) => {
            let p = Share::rounded(*p);
            let result = match fail.or(limits.check_fail) {
                _ if p.value() >= pass.unwrap_or(limits.check_pass) => Outcome::Pass,
                Some(fail) if p.value() >= fail => Outcome::Unsure,
                _ => Outcome::Fail,
            };
            told(question, Value::Number(p.number()), None, result)
        }
        (QuestionKind::Choice { pass, unsure: names, confidence: least, .. }, Answer::Name { name, confidence }) => {
            let confidence = Share::rounded(*confidence);
            let result = match () {
                () if unsure(confidence, least) => Outcome::Unsure,
                () if pass.contains(name) => Outcome::Pass,
                () if names.contains(name) => Outcome::Unsure,
                () => Outcome::Fail,
            };
            told(question, Value::String(name.clone()), Some(confidence), result)
        }
        (QuestionKind::Rubric { pass, confidence: least, .. }, Answer::Level { level, confidence }) => {
            let confidence = Share::rounded(*confidence);
            let result = match () {
                () if unsure(confidence, least) => Outcome::Unsure,
                () if level >= pass => Outcome::Pass,
                () => Outcome::Fail,
            };
            told(question, Value::from(*level), Some(confidence), result)
        }
        _ => unanswered(question),
    }
}

fn unanswered(question: &Question) -> QuestionVerdict {
    told(question, Value::Null, None, Outcome::Unsure)
}

fn told(question: &Question, answer: Value, confidence: Option<Share>, result: Outcome) -> QuestionVerdict {
    let kind = match &question.kind {
        QuestionKind::YesNo { .. } => AskKind::YesNo,
        QuestionKind::Choice { .. } => AskKind::Choice,
        QuestionKind::Rubric { .. } => AskKind::Rubric,
    };
    QuestionVerdict { ask: question.ask.clone(), kind, answer, confidence: confidence.map(Share::number), result }
}
