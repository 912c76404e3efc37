//! What a person may do with an escalated step beside failing it (core §3.4, check-1): give it back, or finish it.

use super::submit::{accepted, complete};
use crate::accept::{Summary, given};
use crate::check::doubts;
use crate::command::{Actor, Cited, Code, Fault, Refusal, Reply, Submission};
use crate::flow::Flow;
use crate::{Candidate, Escalation, Event, Evidence, Note};

/// `returned`: the same attempt goes on, with the agents or with whoever the task is for.
pub(super) fn give_back(flow: &mut Flow<'_>, step: &str, escalation: &Escalation, returned: Note) -> Result<(), Fault> {
    let mut attempt = flow.attempt(step);
    attempt.handoff.returned = Some(returned.clone());
    if let Some(verdict) = &escalation.check {
        let check = flow.step(step)?.work().and_then(|w| w.check.as_ref());
        let lines = check.map(|c| doubts(&c.questions, verdict)).unwrap_or_default();
        attempt.handoff.keep_issues(&lines);
        attempt.handoff.check = Some(verdict.clone());
    }
    // A person has looked: the same submission is asked about anew.
    attempt.failed = None;
    attempt.writes += 1;
    flow.remember(step, attempt);
    let assignee = flow.run.step(step).and_then(|s| s.assignee.clone());
    let item = assignee.map(|assigned| flow.item(assigned, flow.now, None));
    flow.emit(Event::Returned { step: step.to_owned(), returned, item });
    Ok(())
}

/// `completed`: a person finishes the step in the place of whoever had it. Without an output of their own they adopt the
/// whole candidate, and the verdict stays with it; what they say themselves nobody checks again.
pub(super) fn finish(
    flow: &mut Flow<'_>,
    actor: &Actor,
    step: &str,
    escalation: &Escalation,
    submission: &Submission,
) -> Result<Reply, Fault> {
    let record = match &escalation.candidate {
        Some(candidate) if submission.output.is_none() => {
            if says_something(submission) {
                let message = "This work item holds a candidate. Send `output` with the rest to complete the step with \
                               what is yours, or nothing beside the decision to adopt the candidate whole.";
                return Err(Refusal::new(Code::Invalid, message).issue("output: missing").into());
            }
            let verdict = escalation.check.clone();
            accepted(flow, actor, step, &candidate.submission(submission.adopted.clone()), Summary::Optional, verdict)?
        }
        _ => accepted(flow, actor, step, submission, Summary::Optional, None)?,
    };
    complete(flow, step, record)
}

/// Whether there is anything of it beside the output.
fn says_something(submission: &Submission) -> bool {
    let Submission { output: _, evidence, summary, next, reason, evaluation: _, standing: _, adopted: _ } = submission;
    !evidence.is_empty() || [summary, next, reason].into_iter().any(|text| given(text.as_deref()).is_some())
}

impl Candidate {
    /// As it was submitted, with its evidence as the server finds it now; as it was verified then when nobody looked.
    fn submission(&self, adopted: Option<Vec<Cited>>) -> Submission {
        let cited = |evidence: &Evidence| match evidence {
            Evidence::Link { r#ref } => Cited::Link(r#ref.clone()),
            Evidence::File(file) => Cited::File(file.clone()),
        };
        Submission {
            output: Some(self.output.clone()),
            evidence: adopted.unwrap_or_else(|| self.evidence.iter().map(cited).collect()),
            summary: self.summary.clone(),
            next: self.next.clone(),
            reason: self.reason.clone(),
            evaluation: None,
            standing: None,
            adopted: None,
        }
    }
}
