//! The questions of a `check` as the file asks them (profile check-1). Nothing here knows an answer.

/// `check` of an `agent` or `task` step (check-1).
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The questions in file order; at least one.
    pub questions: Vec<Question>,
    /// Whether the verdict is recorded only and never blocks.
    pub advisory: bool,
}

/// One question about a submission (check-1).
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, as written.
    pub ask: String,
    /// What kind of answer it takes, and which answers pass.
    pub kind: QuestionKind,
}

/// What answers a question takes, and which of them pass (check-1). Thresholds are from 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub enum QuestionKind {
    /// Neither `one_of` nor `levels`: the answer is the probability of yes.
    YesNo {
        /// At or above this it passes; `None` is the server's `checkPass`.
        pass: Option<f64>,
        /// Below this it fails, and between the two it is unsure; `None` is the server's `checkFail`.
        fail: Option<f64>,
    },
    /// `one_of`: the answer is a name.
    Choice {
        /// Names and what they mean, in file order; two or more.
        one_of: Vec<(String, String)>,
        /// The names that pass.
        pass: Vec<String>,
        /// The names that are unsure; any other fails.
        unsure: Vec<String>,
        /// Below this confidence the answer is unsure; `None` is the server's `checkConfidence`.
        confidence: Option<f64>,
    },
    /// `levels`: the answer is a level, counted from 0.
    Rubric {
        /// What each level means, worst first; 2 to 10.
        levels: Vec<String>,
        /// At or above this level it passes.
        pass: usize,
        /// Below this confidence the answer is unsure; `None` is the server's `checkConfidence`.
        confidence: Option<f64>,
    },
}

impl QuestionKind {
    /// The word on the wire: `yes_no`, `choice` or `rubric`.
    pub fn name(&self) -> &'static str {
        match self {
            QuestionKind::YesNo { .. } => "yes_no",
            QuestionKind::Choice { .. } => "choice",
            QuestionKind::Rubric { .. } => "rubric",
        }
    }
}
