//! `submit`: an agent's work, accepted whole or refused with every issue (core §6.3), and checked where the step asks for it
//! (check-1).
//!
//! [`hand_in`] is shared with a person's `completed`. The order is fixed: the objective rules, and with them where the
//! step's graph stands (graph-1), then the check, then the completion.

use process::{Next, Work};

use super::check::{Checked, check};
use super::renew::held;
use super::send_event::held_bytes;
use super::unsure;
use crate::accept::{self, Summary, given};
use crate::command::{Actor, Cited, Claimed, Code, Fault, Refusal, Reply, Submission};
use crate::data::data_bytes;
use crate::flow::Flow;
use crate::{Event, Evidence, GraphInquiry, MappedFacts, Record, Verdict};

pub(super) fn submit(
    flow: &mut Flow<'_>,
    actor: &Actor,
    token: &Claimed,
    submission: &Submission,
) -> Result<Reply, Fault> {
    // Whoever was in time when the evaluator was asked is in time, whatever others wrote since. Had anybody claimed the
    // step meanwhile, the lease would be another.
    let at = submission.evaluation.as_ref().map_or(flow.now, |e| e.asked_at.min(flow.now));
    held(flow, actor, token, at)?;
    standing(flow, token, submission)?;
    hand_in(flow, actor, &token.step, submission, Summary::Required)
}

/// Asks for the standing of a graph that must be complete. Only agents are held to one: whoever finishes an escalated step
/// does so in the agent's place, and decides for themselves.
fn standing(flow: &Flow<'_>, token: &Claimed, submission: &Submission) -> Result<(), Fault> {
    let Some(binding) = flow.step(&token.step)?.graph().filter(|binding| binding.require_complete) else {
        return Ok(());
    };
    if submission.standing.is_some() {
        return Ok(());
    }
    let facts = MappedFacts::with(binding, &flow.run, &token.step, submission.output.as_ref());
    let (step, attempt) = (token.step.clone(), token.attempt);
    Err(Fault::Graph(Box::new(GraphInquiry { step, attempt, facts })))
}

/// Completes the step with the submission, holds it for a person where a check is unsure of it, or refuses it with every
/// issue, which the attempt then remembers.
pub(super) fn hand_in(
    flow: &mut Flow<'_>,
    actor: &Actor,
    step: &str,
    submission: &Submission,
    summary: Summary,
) -> Result<Reply, Fault> {
    let work = work(flow, step)?;
    let mut record = accepted(flow, actor, step, submission, summary, None)?;
    if let Some(asked) = &work.check {
        let checked = check(flow, step, work, asked, &record, submission.evaluation.as_deref())?;
        let (Checked::Recorded(verdict) | Checked::Unsure(verdict)) = &checked;
        record.check = Some(Box::new(verdict.clone()));
        // A candidate becomes a record with its verdict, so it must fit as one.
        if let Some(issue) = oversize(flow, step, &record) {
            return Err(not_accepted(flow, step, vec![issue]).into());
        }
        if let Checked::Unsure(verdict) = checked {
            return Ok(unsure::hold(flow, step, asked, record, verdict));
        }
    }
    complete(flow, step, record)
}

/// The record of a submission that meets the objective rules.
pub(super) fn accepted(
    flow: &Flow<'_>,
    actor: &Actor,
    step: &str,
    submission: &Submission,
    summary: Summary,
    verdict: Option<Box<Verdict>>,
) -> Result<Record, Fault> {
    let work = work(flow, step)?;
    let mut issues = accept::issues(work, submission, summary);
    issues.extend(submission.standing.as_ref().and_then(|standing| standing.issue()));
    let record = Record { check: verdict, ..record(flow, actor, work, submission) };
    issues.extend(oversize(flow, step, &record));
    match issues.is_empty() {
        true => Ok(record),
        false => Err(not_accepted(flow, step, issues).into()),
    }
}

/// The step completes, and the run goes on at its `next` or at the route that was chosen.
pub(super) fn complete(flow: &mut Flow<'_>, step: &str, record: Record) -> Result<Reply, Fault> {
    let next = match &work(flow, step)?.next {
        Next::To(id) => id.clone(),
        Next::Routes(_) => record.next.clone().unwrap_or_default(),
    };
    flow.complete(step, record, &next)?;
    Ok(Reply::View)
}

fn work<'a>(flow: &Flow<'a>, step: &str) -> Result<&'a Work, Fault> {
    flow.step(step)?.work().ok_or_else(|| Fault::Invariant(format!("step `{step}` takes no submission")))
}

/// The issue of a record with which run data would be too large.
fn oversize(flow: &Flow<'_>, step: &str, record: &Record) -> Option<String> {
    let limit = flow.context.limits.run_data_bytes;
    let mut after = flow.run.clone();
    after.apply(&Event::Completed { step: step.to_owned(), record: record.clone() });
    // An event that is held becomes run data without anybody being asked again, so its place is kept.
    let bytes = data_bytes(&after) + held_bytes(&after);
    let held = if flow.run.held.is_empty() { "" } else { " and held events" };
    (bytes > limit).then(|| format!("run data: {bytes} bytes with this submission{held}, at most {limit}"))
}

fn not_accepted(flow: &Flow<'_>, step: &str, issues: Vec<String>) -> Refusal {
    let mut attempt = flow.attempt(step);
    attempt.handoff.keep_issues(&issues);
    attempt.writes += 1;
    let message = "The submission was not accepted and nothing changed. Fix every issue and send it again.";
    let mut refusal = Refusal::new(Code::NotAccepted, message).issues(issues);
    refusal.attempt = Some(Box::new((step.to_owned(), attempt)));
    refusal
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
