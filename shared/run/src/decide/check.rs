//! The check of a submission that meets the objective rules (check-1): what was answered decides whether the step completes.
//!
//! Nobody is asked here. Without an evaluation the answer is [`Fault::Check`], unless this very submission has failed
//! already in this attempt: then the same refusal comes again. So a lost reply is no second evaluation, and nobody rolls
//! the dice until the answers suit.

use process::{Check, Work};
use serde_json::json;

use crate::check::{failures, judge};
use crate::command::{Code, Fault, Refusal};
use crate::data::EvidenceShown;
use crate::flow::Flow;
use crate::{Evaluation, Inquiry, Record, Ruling, Verdict, canonical};

/// What becomes of a submission that was not refused.
pub(super) enum Checked {
    /// The step completes; the verdict is recorded.
    Recorded(Verdict),
    /// A person must say.
    Unsure(Verdict),
}

pub(super) fn check(
    flow: &Flow<'_>,
    step: &str,
    work: &Work,
    check: &Check,
    record: &Record,
    evaluation: Option<&Evaluation>,
) -> Result<Checked, Fault> {
    let attempt = flow.attempt(step);
    let name = fingerprint(record);
    if attempt.failed.as_ref() == Some(&name)
        && let Some(verdict) = attempt.handoff.check
    {
        return Err(failed(flow, step, check, name, *verdict).into());
    }
    let Some(evaluation) = evaluation else {
        return Err(Fault::Check(Box::new(Inquiry::of(&flow.context, &flow.run, step, work, check, record))));
    };
    let verdict = judge(check, &flow.context.limits, evaluation, flow.now);
    match verdict.verdict {
        Ruling::Pass => Ok(Checked::Recorded(verdict)),
        _ if check.advisory => Ok(Checked::Recorded(verdict)),
        Ruling::Unsure => Ok(Checked::Unsure(verdict)),
        Ruling::Fail => Err(failed(flow, step, check, name, verdict).into()),
        Ruling::Error => {
            let message = "The check could not be answered, and nothing changed. Send the same call again, with the same \
                           `requestId`.";
            Err(Refusal::new(Code::Retry, message).into())
        }
    }
}

/// The refusal of a submission that failed, which the attempt remembers.
fn failed(flow: &Flow<'_>, step: &str, check: &Check, name: String, verdict: Verdict) -> Refusal {
    let issues = failures(&check.questions, &verdict);
    let mut attempt = flow.attempt(step);
    attempt.handoff.keep_issues(&issues);
    attempt.handoff.check = Some(Box::new(verdict));
    attempt.failed = Some(name);
    attempt.writes += 1;
    let message = "The check did not accept the submission, and nothing changed. Each issue is a question that it failed, \
                   with the answer. Fix the work and send it again: the same submission gets this same answer.";
    let mut refusal = Refusal::new(Code::NotAccepted, message).issues(issues);
    refusal.attempt = Some(Box::new((step.to_owned(), attempt)));
    refusal
}

/// Names what was submitted, whoever submits it.
fn fingerprint(record: &Record) -> String {
    let evidence = record.evidence.iter().flatten().map(EvidenceShown::of);
    let evidence: Vec<_> = evidence.map(|e| json!([e.kind, e.r#ref])).collect();
    canonical::digest(&json!([record.output, record.summary, evidence, record.next, record.reason]))
}
