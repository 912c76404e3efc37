//! Asking the evaluator about a submission (profile check-1), before the transaction that commits what it comes to.
//!
//! It is asked once for a call, however often the write loses a race afterwards: what was said of a submission does not
//! change with the journal. A fault is tried once more, all within a time that fits a function's deadline.

use std::time::Duration;

use run::{Evaluation, Inquiry, Time};

use crate::store::Store;

/// How often an evaluator is asked before the caller is told to try again.
const CHECK_ATTEMPTS: u32 = 2;

/// Longest that an evaluator may take for one inquiry when it does not say itself, in seconds: two of them, the pause, and
/// the write fit the 30 seconds that a function is given.
pub const CHECK_SECONDS: u64 = 12;

/// Pause before an evaluator that failed is asked again, in milliseconds: a busy one needs a moment.
const CHECK_PAUSE_MILLIS: u64 = 1_000;

/// The name of an evaluator that is not there.
const NOBODY: &str = "none";

impl Store {
    /// What the evaluator says. No answers when it fails twice, answers out of a question's domain, or is not configured
    /// any more: what that means is the run's to say.
    pub(crate) async fn evaluate(&self, org: &str, run: &str, inquiry: &Inquiry, asked_at: Time) -> Evaluation {
        let (step, truncated) = (inquiry.step.as_str(), inquiry.truncated);
        let Some(evaluator) = &self.evaluator else {
            tracing::error!(org, run, step, "a step has a check, and no evaluator is configured");
            return Evaluation { model: NOBODY.to_owned(), answers: None, truncated, asked_at };
        };
        let (model, within) = (evaluator.model(), evaluator.within());
        let mut answers = None;
        for attempt in 0..CHECK_ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(Duration::from_millis(CHECK_PAUSE_MILLIS)).await;
            }
            let answered = tokio::time::timeout(within, evaluator.answer(inquiry)).await;
            let answered = answered.unwrap_or_else(|_| Err(format!("no answer within {} s", within.as_secs())));
            match answered.and_then(|given| inquiry.fits(&given).map(|()| given)) {
                Ok(given) => {
                    answers = Some(given);
                    break;
                }
                Err(why) => tracing::warn!(org, run, step, model, why, "the evaluator did not answer"),
            }
        }
        Evaluation { model: model.to_owned(), answers, truncated, asked_at }
    }
}
