//! The check of a submission (profile check-1): what an evaluator is asked, what it may answer, and what follows.
//!
//! Nothing here asks anybody. [`crate::decide`] answers with [`crate::Fault::Check`] when a submission meets the
//! objective rules and its step has questions; whoever called asks an evaluator, and decides again with the
//! [`Evaluation`] in the submission.

mod inquiry;
mod judge;
mod lines;
mod share;

use process::{Question, QuestionKind};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::Time;
use crate::data::ShownKind;

pub(crate) use judge::judge;
pub(crate) use lines::{doubts, failures};

/// Everything an evaluator is shown of a submission, and what it is asked. The submission is untrusted: it is data, and
/// whatever it says is no instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Inquiry {
    /// The step's id.
    pub step: String,
    /// The step's instructions.
    pub instructions: String,
    /// The body of PROCESS.md.
    pub body: String,
    /// Run data, at most [`crate::Limits::check_state_bytes`] bytes as JSON.
    pub data: Value,
    /// Whether run data was larger and the oldest steps were left out.
    pub truncated: bool,
    /// What was submitted.
    pub submission: Submitted,
    /// The questions. None of them may be shown the answer to another.
    pub questions: Vec<Question>,
}

impl Inquiry {
    /// Whether the answers answer the questions: as many, each of its question's kind and within its domain.
    ///
    /// # Errors
    ///
    /// What is wrong with the first that does not, without a word of what was submitted.
    pub fn fits(&self, answers: &[Answer]) -> Result<(), String> {
        fits(&self.questions, answers)
    }
}

fn fits(questions: &[Question], answers: &[Answer]) -> Result<(), String> {
    if answers.len() != questions.len() {
        return Err(format!("{} answers to {} questions", answers.len(), questions.len()));
    }
    let share = |value: f64| (0.0..=1.0).contains(&value);
    for (n, (question, answer)) in questions.iter().zip(answers).enumerate() {
        let fits = match (&question.kind, answer) {
            (QuestionKind::YesNo { .. }, Answer::Yes(p)) => share(*p),
            (QuestionKind::Choice { one_of, .. }, Answer::Name { name, confidence }) => {
                one_of.iter().any(|(known, _)| known == name) && share(*confidence)
            }
            (QuestionKind::Rubric { levels, .. }, Answer::Level { level, confidence }) => {
                *level < levels.len() && share(*confidence)
            }
            _ => false,
        };
        if !fits {
            return Err(format!("the answer to question {} is outside what a {} takes", n + 1, question.kind.name()));
        }
    }
    Ok(())
}

/// What an evaluator sees of a submission. Never the content of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Submitted {
    /// The submitted fields.
    pub output: Map<String, Value>,
    /// What the work came to, as whoever submitted it tells it.
    pub summary: Option<String>,
    /// What is attached, by reference.
    pub evidence: Vec<Reference>,
}

/// An attached evidence item by reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// `file` or `link`.
    pub kind: ShownKind,
    /// The upload's id, or the link as stated.
    pub r#ref: String,
}

/// The answer to one question, of the question's kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To a yes/no question: the probability of yes, from 0 to 1.
    Yes(f64),
    /// To a choice: one of its names.
    Name {
        /// The name.
        name: String,
        /// How sure the evaluator is, from 0 to 1.
        confidence: f64,
    },
    /// To a rubric: one of its levels.
    Level {
        /// The level, from 0.
        level: usize,
        /// How sure the evaluator is, from 0 to 1.
        confidence: f64,
    },
}

/// What came of asking an evaluator about a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The evaluator's name for itself, such as the model it asks.
    pub model: String,
    /// One answer to each question, in order; `None` when it did not answer.
    pub answers: Option<Vec<Answer>>,
    /// [`Inquiry::truncated`] of what it was shown.
    pub truncated: bool,
    /// When it was asked. A submission that was in time then stays in time while the evaluator thinks.
    pub asked_at: Time,
}

/// The verdict of a check as it is recorded and shown (check-1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Verdict {
    /// The worst result: unsure over fail over pass. `error` when the evaluator did not answer an advisory check.
    pub verdict: Ruling,
    /// Whether the verdict was only recorded.
    pub advisory: bool,
    /// Who answered.
    pub model: String,
    /// The questions with their answers, in file order.
    pub questions: Vec<QuestionVerdict>,
    /// Set when the evaluator was not shown all of run data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// When.
    pub at: Time,
}

/// One question with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct QuestionVerdict {
    /// The question.
    pub ask: String,
    /// `yes_no`, `choice` or `rubric`.
    pub kind: AskKind,
    /// The probability of yes, a name, or a level from 0; null when there was no answer.
    #[schemars(with = "ShownAnswer")]
    pub answer: Value,
    /// How sure the evaluator was, on a choice and a rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub confidence: Option<Number>,
    /// What the answer comes to.
    pub result: Outcome,
}

/// The schema of an answer: a number, a text, or null.
#[derive(schemars::JsonSchema)]
#[schemars(inline, untagged)]
#[allow(dead_code)]
enum ShownAnswer {
    Number(f64),
    Text(String),
    Null,
}

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Ruling {
    /// Every question passed.
    Pass,
    /// A question failed, and none was unsure.
    Fail,
    /// A question was unsure.
    Unsure,
    /// The evaluator did not answer.
    Error,
}

/// What one answer comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Outcome {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// A person must say.
    Unsure,
}

/// The kind of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AskKind {
    /// Answered with a probability.
    YesNo,
    /// Answered with a name.
    Choice,
    /// Answered with a level.
    Rubric,
}
