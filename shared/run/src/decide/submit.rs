//! `submit`: an agent's work, accepted whole or refused with every issue (core §6.3).
//!
//! [`finish`] is shared with a person's `completed`.

use process::{Next, Work};

use super::renew::held;
use super::send_event::held_bytes;
use crate::accept::{self, Summary, given};
use crate::command::{Actor, Cited, Claimed, Code, Fault, Refusal, Reply, Submission};
use crate::data::data_bytes;
use crate::flow::Flow;
use crate::{Event, Evidence, Record};

pub(super) fn submit(
    flow: &mut Flow<'_>,
    actor: &Actor,
    token: &Claimed,
    submission: &Submission,
) -> Result<Reply, Fault> {
    held(flow, actor, token)?;
    let work = work(flow, &token.step)?;
    finish(flow, actor, &token.step, work, submission, Summary::Required)
}

pub(super) fn work<'a>(flow: &Flow<'a>, step: &str) -> Result<&'a Work, Fault> {
    flow.step(step)?.work().ok_or_else(|| Fault::Invariant(format!("step `{step}` takes no submission")))
}

/// Completes the step with the submission, or refuses it with every issue, which the attempt then remembers.
pub(super) fn finish(
    flow: &mut Flow<'_>,
    actor: &Actor,
    step: &str,
    work: &Work,
    submission: &Submission,
    summary: Summary,
) -> Result<Reply, Fault> {
    let mut issues = accept::issues(work, submission, summary);
    let record = record(flow, actor, work, submission);
    let limit = flow.context.limits.run_data_bytes;
    let bytes = {
        let mut after = flow.run.clone();
        after.apply(&Event::Completed { step: step.to_owned(), record: record.clone() });
        // An event that is held becomes run data without anybody being asked again, so its place is kept.
        data_bytes(&after) + held_bytes(&after)
    };
    if bytes > limit {
        let held = if flow.run.held.is_empty() { "" } else { " and held events" };
        issues.push(format!("run data: {bytes} bytes with this submission{held}, at most {limit}"));
    }
    if !issues.is_empty() {
        let mut attempt = flow.attempt(step);
        attempt.handoff.keep_issues(&issues);
        attempt.writes += 1;
        let message = "The submission was not accepted and nothing changed. Fix every issue and send it again.";
        let mut refusal = Refusal::new(Code::NotAccepted, message).issues(issues);
        refusal.attempt = Some(Box::new((step.to_owned(), attempt)));
        return Err(refusal.into());
    }
    let next = match &work.next {
        Next::To(id) => id.clone(),
        Next::Routes(_) => record.next.clone().unwrap_or_default(),
    };
    flow.complete(step, record, &next)?;
    Ok(Reply::View)
}

fn record(flow: &Flow<'_>, actor: &Actor, work: &Work, submission: &Submission) -> Record {
    let text = |t: &Option<String>| given(t.as_deref()).map(str::to_owned);
    let routes = matches!(work.next, Next::Routes(_));
    let evidence = submission.evidence.iter().filter_map(|c| match c {
        Cited::Link(text) => Some(Evidence::Link { r#ref: text.clone() }),
        Cited::File(file) => Some(Evidence::File(file.clone())),
        Cited::Missing(_) | Cited::Altered(_) => None,
    });
    Record {
        output: Some(submission.output.clone().unwrap_or_default()),
        evidence: Some(evidence.collect()),
        summary: text(&submission.summary),
        next: text(&submission.next).filter(|_| routes),
        reason: text(&submission.reason).filter(|_| routes),
        ..flow.record(&actor.subject, flow.now)
    }
}
