//! A submission that a check was unsure of (check-1) is held as a candidate, and its step escalated: a person of the
//! operators group says what becomes of it, in [`super::escalated`].

use process::Check;

use crate::attempt::shortened;
use crate::check::{doubts, failures};
use crate::command::Reply;
use crate::flow::Flow;
use crate::{Assigned, Candidate, Escalation, Event, Record, Verdict};

/// Most bytes of lines in the note that a check escalates with; the verdict has them all.
const NOTE_BYTES: usize = 4_000;

/// Escalates the step exactly as `escalate` does, with the submission and the verdict. A task's own item is superseded.
pub(super) fn hold(flow: &mut Flow<'_>, step: &str, check: &Check, record: Record, verdict: Verdict) -> Reply {
    let mut attempt = flow.attempt(step);
    if attempt.lease.take().is_some() {
        attempt.writes += 1;
        flow.remember(step, attempt);
    }
    let failed = failures(&check.questions, &verdict);
    let unsure: Vec<String> =
        doubts(&check.questions, &verdict).into_iter().filter(|line| !failed.contains(line)).collect();
    let said = |lines: &[String]| shortened(lines, NOTE_BYTES / 2).join("\n");
    let failed = match failed.is_empty() {
        true => String::new(),
        false => format!("\nThese it did not accept:\n{}", said(&failed)),
    };
    let escalation = Escalation {
        note: format!("A check could not tell whether to accept what was submitted:\n{}{failed}", said(&unsure)),
        by: record.by.clone(),
        at: flow.now,
        check: Some(Box::new(verdict)),
        candidate: Some(Box::new(Candidate {
            output: record.output.unwrap_or_default(),
            evidence: record.evidence.unwrap_or_default(),
            summary: record.summary,
            next: record.next,
            reason: record.reason,
            by: record.by,
            at: record.at,
        })),
    };
    let operators = Assigned::Group(flow.context.operators_group.to_owned());
    let item = flow.item(operators, flow.now, Some(escalation));
    flow.emit(Event::Escalated { step: step.to_owned(), item });
    Reply::View
}
