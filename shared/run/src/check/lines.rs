//! What a verdict says in words: one line for each question that matters to whoever reads it (check-1).

use process::{Question, QuestionKind};

use super::{Outcome, QuestionVerdict, Verdict};

/// The issue of every failed question, in file order.
pub(crate) fn failures(questions: &[Question], verdict: &Verdict) -> Vec<String> {
    lines(questions, verdict, |result| result == Outcome::Fail)
}

/// The issue of every question that did not pass, in file order.
pub(crate) fn doubts(questions: &[Question], verdict: &Verdict) -> Vec<String> {
    lines(questions, verdict, |result| result != Outcome::Pass)
}

/// The verdict is of these questions.
fn lines(questions: &[Question], verdict: &Verdict, wanted: impl Fn(Outcome) -> bool) -> Vec<String> {
    let asked = questions.iter().zip(&verdict.questions).filter(|(_, told)| wanted(told.result));
    asked.map(|(question, told)| format!("check: {} → {}", folded(&told.ask), answer(question, told))).collect()
}

fn answer(question: &Question, told: &QuestionVerdict) -> String {
    let sure = told.confidence.as_ref().map(|c| format!(" ({c})")).unwrap_or_default();
    match &question.kind {
        // It passes exactly from its threshold on, so that what does not pass is below it.
        QuestionKind::YesNo { .. } if told.answer.is_number() => {
            format!("{} ({})", if told.result == Outcome::Pass { "yes" } else { "no" }, told.answer)
        }
        QuestionKind::Rubric { levels, .. } => {
            let level = told.answer.as_u64().and_then(|n| usize::try_from(n).ok());
            let text = level.and_then(|n| levels.get(n)).map(|text| folded(text)).unwrap_or_default();
            format!("level {}: {text}{sure}", told.answer)
        }
        _ => format!("{}{sure}", told.answer.as_str().unwrap_or("no answer")),
    }
}

/// One line of it, however the file breaks the text.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
