//! `decide`: a person's decision on a work item (core §3.4), its checks in the published order.

use process::Kind;

use super::escalated;
use super::submit::hand_in;
use crate::accept::{Summary, given};
use crate::command::{Actor, ActorKind, Code, Context, Decision, Fault, Refusal, Reply};
use crate::data::snapshot;
use crate::flow::Flow;
use crate::{Assigned, Decided, Event, Item, Note, Record, Run};

pub(super) fn decide(
    flow: &mut Flow<'_>,
    actor: &Actor,
    item_id: &str,
    seen: &str,
    decision: &Decision,
) -> Result<Reply, Fault> {
    let (step, item) = match flow.run.open_item(item_id) {
        Some((step, item)) => (step.to_owned(), item.clone()),
        None => return Err(gone(&flow.run, item_id).into()),
    };
    if seen != snapshot(&flow.run) {
        let message = "Run data changed since you read it. Call get_run, look again, and send the decision with the \
                       fresh snapshot.";
        return Err(Refusal::new(Code::Stale, message).into());
    }
    may_decide(&flow.context, actor, &item)?;
    let kind = &flow.step(&step)?.kind;
    let allowed = decisions(kind, &item);
    if !allowed.contains(&decision.name()) {
        let message =
            format!("This work item does not take `{}`; send one of: {}.", decision.name(), allowed.join(", "));
        return Err(Refusal::new(Code::Invalid, message)
            .issue(format!("decision: one of {}", allowed.join(", ")))
            .into());
    }
    let by = actor.subject.as_str();
    let now = flow.now;
    match decision {
        Decision::Completed(submission) => {
            return match &item.escalation {
                Some(escalation) => escalated::finish(flow, actor, &step, escalation, submission),
                None => hand_in(flow, actor, &step, submission, Summary::Optional),
            };
        }
        Decision::Approved(note) => {
            let Kind::Approve { next, .. } = kind else { return Err(unsuitable(&step)) };
            let note = given(note.as_deref()).map(str::to_owned);
            let record = Record { decision: Some(Decided::Approved), note, ..flow.record(by, now) };
            flow.complete(&step, record, next)?;
        }
        Decision::Rejected(note) => {
            let Kind::Approve { on_reject, .. } = kind else { return Err(unsuitable(&step)) };
            let record = Record { decision: Some(Decided::Rejected), note: Some(note.clone()), ..flow.record(by, now) };
            match on_reject {
                // A finish ends the run, so there is no re-entry that the approval could wait for: it is done.
                Some(target) if matches!(flow.step(target)?.kind, Kind::Finish { .. }) => {
                    flow.complete(&step, record, target)?;
                }
                Some(target) => flow.reject_into(&step, record, target)?,
                None => {
                    flow.emit(Event::Completed { step, record });
                    flow.end(false, Some("rejected".to_owned()), by, now, Some(note.clone()));
                }
            }
        }
        Decision::Returned(note) => {
            let Some(escalation) = &item.escalation else { return Err(unsuitable(&step)) };
            escalated::give_back(flow, &step, escalation, Note { note: note.clone(), by: by.to_owned(), at: now })?;
        }
        Decision::Failed(note) => flow.fail(&step, by, now, note.clone()),
    }
    Ok(Reply::View)
}

/// The decisions a work item takes, in the order they are shown (tool contracts, Run view).
pub(crate) fn decisions(kind: &Kind, item: &Item) -> &'static [&'static str] {
    match kind {
        _ if item.escalation.is_some() => &["returned", "completed", "failed"],
        Kind::Approve { .. } => &["approved", "rejected", "failed"],
        _ => &["completed", "failed"],
    }
}

impl Decision {
    /// The word on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Decision::Completed(_) => "completed",
            Decision::Approved(_) => "approved",
            Decision::Rejected(_) => "rejected",
            Decision::Returned(_) => "returned",
            Decision::Failed(_) => "failed",
        }
    }
}

fn gone(run: &Run, item_id: &str) -> Refusal {
    if run.issued(item_id) {
        let message = "This work item is not open any more: it was decided, or the run moved on. Move on.";
        return Refusal::new(Code::Conflict, message).issue("already_decided");
    }
    let message = format!("This run never had a work item `{item_id}`. Call get_work for the ones you may decide.");
    Refusal::new(Code::NotFound, message)
}

fn may_decide(context: &Context<'_>, actor: &Actor, item: &Item) -> Result<(), Refusal> {
    let forbidden = |why: &str| Err(Refusal::new(Code::Forbidden, why));
    if actor.kind != ActorKind::Person {
        return forbidden("Only people decide. An agent that cannot finish its step escalates it.");
    }
    if !actor.may_decide {
        return forbidden(
            "This token was issued to a client through which people do not act. Sign in where people do.",
        );
    }
    if assigned_to(context, actor, &item.assigned) {
        return Ok(());
    }
    forbidden("This work item is assigned to somebody else.")
}

/// Whether the assignment includes this person at this moment.
pub fn assigned_to(context: &Context<'_>, actor: &Actor, assigned: &Assigned) -> bool {
    match assigned {
        Assigned::Group(group) => actor.groups.contains(group) || (actor.operator && group == context.operators_group),
        Assigned::Person(person) => actor.person.as_deref().is_some_and(|p| same_person(p, person)),
    }
}

/// Whether two `person` values name one person: compared without case.
pub fn same_person(a: &str, b: &str) -> bool {
    person_key(a) == person_key(b)
}

/// The form of a `person` value that is compared.
pub fn person_key(value: &str) -> String {
    value.trim().to_lowercase()
}

fn unsuitable(step: &str) -> Fault {
    Fault::Invariant(format!("step `{step}` took a decision of another kind"))
}
