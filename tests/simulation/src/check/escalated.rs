//! A step that is given to people and back, and what a check decides about a completion (core §6.4, check-1): what a check is
//! unsure of is held whole, what is adopted is what was held, and no checked work completes without a verdict that allows
//! it.

use process::{Check, Document, Kind, Work};
use run::{Candidate, Entry, Event, Evidence, Item, Note, Record, Ruling, Verdict};

use super::asked::{cited, submitted};
use super::follow::{Checked, Follow, Open, may_decide, must};
use super::{Checker, Known, RunCopy, accept, verdict};

impl Follow {
    pub(super) fn escalated(
        &mut self,
        document: &Document,
        entry: &Entry,
        step: &str,
        item: &Item,
        request: Option<&Known>,
    ) -> Checked {
        let declared = document.step(step).ok_or("no such step")?;
        let open = self.open.get_mut(step).filter(|o| !o.escalated).ok_or("not open")?;
        let escalation = item.escalation.as_ref().ok_or("not escalated")?;
        must(escalation.by == entry.by && escalation.at == entry.at, || "escalated by somebody else".to_owned())?;
        let by_agent = matches!(declared.kind, Kind::Agent(_));
        match (&escalation.check, &escalation.candidate) {
            (None, None) => must(entry.tool == "escalate" && by_agent, || "not escalated".to_owned())?,
            (Some(found), Some(candidate)) => {
                let work = declared.work().ok_or("nothing is submitted here")?;
                let tool = if by_agent { "submit" } else { "decide" };
                must(entry.tool == tool, || "held of no submission".to_owned())?;
                if !by_agent {
                    may_decide(open, &entry.by)?;
                }
                let blocking = work.check.as_ref().filter(|c| !c.advisory).ok_or("held though nothing blocks it")?;
                must(found.verdict == Ruling::Unsure, || "held though nobody is unsure".to_owned())?;
                said(request, blocking, found, entry)?;
                let note = &escalation.note;
                must(verdict::lines(found, blocking, true).iter().all(|line| note.contains(line)), || {
                    "the note does not say why".to_owned()
                })?;
                let record = held(candidate, entry);
                must(candidate.by == entry.by && candidate.at == entry.at, || "held for somebody else".to_owned())?;
                as_submitted(request, &record)?;
                let wrong = accept::wrong(work, &record, by_agent);
                must(wrong.is_empty(), || format!("held though {wrong:?}"))?;
            }
            _ => return Err("a verdict without a candidate".to_owned()),
        }
        let right = item.assigned == run::Assigned::Group("operators".to_owned());
        must(right, || "not for the operators".to_owned())?;
        open.escalated = true;
        open.assigned = Some(item.assigned.clone());
        open.candidate = escalation.candidate.clone().zip(escalation.check.clone());
        Ok(())
    }

    pub(super) fn returned(&mut self, entry: &Entry, step: &str, returned: &Note, item: Option<&Item>) -> Checked {
        let open = self.open.get_mut(step).filter(|o| o.escalated).ok_or("not escalated")?;
        must(returned.by == entry.by && entry.tool == "decide", || "returned by nobody".to_owned())?;
        may_decide(open, &entry.by)?;
        open.escalated = false;
        open.candidate = None;
        open.assigned = open.own.clone();
        must(item.map(|i| &i.assigned) == open.own.as_ref(), || "returned to somebody else".to_owned())?;
        must(item.is_none_or(|i| i.escalation.is_none()), || "returned and still escalated".to_owned())
    }
}

/// What the check has to do with a completion of work.
pub(super) fn verdict_allows(
    work: &Work,
    open: &Open,
    entry: &Entry,
    record: &Record,
    request: Option<&Known>,
) -> Checked {
    if open.escalated {
        // Whoever sends an output completes the step with what is theirs, which nobody checks.
        let own = request.and_then(|r| submitted(&r.call.as_ref()?.act)).is_some_and(|(s, _)| s.output.is_some());
        let Some((candidate, held_verdict)) = open.candidate.as_ref().filter(|_| !own) else {
            must(own || open.candidate.is_none(), || "neither adopted nor submitted".to_owned())?;
            must(record.check.is_none(), || "a verdict on what nobody checked".to_owned())?;
            return as_submitted(request, record);
        };
        let bare = request.and_then(|r| submitted(&r.call.as_ref()?.act)).is_some_and(|(s, evidence)| {
            evidence.is_empty() && s.summary.is_none() && s.next.is_none() && s.reason.is_none()
        });
        must(bare, || "adopted with something beside".to_owned())?;
        must(record.check.as_ref() == Some(held_verdict), || "adopted without the verdict".to_owned())?;
        return must(same(record, &held(candidate, entry)), || format!("adopted is not what was held: {candidate:?}"));
    }
    as_submitted(request, record)?;
    match (&work.check, &record.check) {
        (None, None) => Ok(()),
        (Some(check), Some(found)) => {
            let right = check.advisory || found.verdict == Ruling::Pass;
            must(right, || "completed though the check does not pass".to_owned())?;
            said(request, check, found, entry)
        }
        (None, Some(_)) => Err("a verdict where nothing is asked".to_owned()),
        (Some(_), None) => Err("completed unchecked".to_owned()),
    }
}

/// The verdict is one that the evaluator gave while this call was made.
fn said(request: Option<&Known>, check: &Check, found: &Verdict, entry: &Entry) -> Checked {
    let given = request.is_some_and(|r| r.made.iter().any(|m| m.came_to(check, found)));
    must(given && found.at == entry.at, || format!("nobody said {found:?}"))
}

/// The record is what the call submitted.
fn as_submitted(request: Option<&Known>, record: &Record) -> Checked {
    let call = request.and_then(|r| r.call.as_ref()).ok_or("by nobody's call")?;
    let (submission, evidence) = submitted(&call.act).ok_or("by a call that submits nothing")?;
    let attached = record.evidence.iter().flatten().map(|e| match e {
        Evidence::File(file) => file.r#ref.as_str(),
        Evidence::Link { r#ref } => r#ref.as_str(),
    });
    let right = record.output == Some(submission.output.clone().unwrap_or_default())
        && record.summary == submission.summary
        && record.next == submission.next
        && record.reason == submission.reason
        && attached.eq(evidence.iter().map(cited));
    must(right, || format!("not what was submitted: {submission:?} {evidence:?}"))
}

/// A candidate as the record it would make.
fn held(candidate: &Candidate, entry: &Entry) -> Record {
    Record {
        output: Some(candidate.output.clone()),
        evidence: Some(candidate.evidence.clone()),
        summary: candidate.summary.clone(),
        next: candidate.next.clone(),
        reason: candidate.reason.clone(),
        decision: None,
        note: None,
        check: None,
        by: entry.by.clone(),
        at: entry.at,
        seq: 0,
    }
}

fn same(a: &Record, b: &Record) -> bool {
    (&a.output, &a.evidence, &a.summary, &a.next, &a.reason) == (&b.output, &b.evidence, &b.summary, &b.next, &b.reason)
}

impl Checker {
    /// What was not sure of a submission that is given back stays with the attempt, and nothing of it is settled.
    pub(super) fn given_back(copy: &RunCopy, document: &Document, entry: &Entry) -> Vec<String> {
        let mut bad = Vec::new();
        for event in &entry.events {
            let Event::Returned { step, returned, .. } = event else { continue };
            let earlier = copy.entries.iter().rev().flat_map(|e| e.events.iter().rev());
            let escalation = earlier
                .filter_map(|e| match e {
                    Event::Escalated { step: of, item } if of == step => item.escalation.as_ref(),
                    _ => None,
                })
                .next();
            let check = document.step(step).and_then(|s| s.work()).and_then(|w| w.check.as_ref());
            let found = escalation.and_then(|e| e.check.as_ref());
            let Some(attempt) = copy.attempts.get(step).filter(|a| a.handoff.returned.as_ref() == Some(returned))
            else {
                bad.push(format!("step {step} was returned and nobody will know"));
                continue;
            };
            let kept = match (found, check) {
                (Some(found), Some(check)) => {
                    attempt.handoff.check.as_ref() == Some(found)
                        && attempt.handoff.issues == Some(verdict::lines(found, check, true))
                }
                _ => true,
            };
            if !kept || attempt.failed.is_some() {
                bad.push(format!("step {step} was returned with {attempt:?}, the verdict was {found:?}"));
            }
        }
        bad
    }
}
