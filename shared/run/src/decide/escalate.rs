//! `escalate`: an agent gives its step to a person of the operators group (core §3.3). The attempt goes on without it.

use super::renew::held;
use crate::command::{Actor, Claimed, Fault, Reply};
use crate::flow::Flow;
use crate::{Assigned, Escalation, Event};

pub(super) fn escalate(flow: &mut Flow<'_>, actor: &Actor, token: &Claimed, note: &str) -> Result<Reply, Fault> {
    let mut attempt = held(flow, actor, token, flow.now)?;
    attempt.lease = None;
    attempt.writes += 1;
    flow.remember(&token.step, attempt);
    let escalation =
        Escalation { note: note.to_owned(), by: actor.subject.clone(), at: flow.now, check: None, candidate: None };
    let operators = Assigned::Group(flow.context.operators_group.to_owned());
    let item = flow.item(operators, flow.now, Some(escalation));
    flow.emit(Event::Escalated { step: token.step.clone(), item });
    Ok(Reply::View)
}
