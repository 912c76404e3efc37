//! `claim`: a ready agent step is leased to one caller (core §6.2). Changes the attempt alone.

use process::Kind;

use crate::command::{Actor, ActorKind, Code, Fault, Refusal, Reply};
use crate::flow::Flow;
use crate::{Attempt, Lease, Status};

pub(super) fn claim(flow: &mut Flow<'_>, actor: &Actor, step: &str) -> Result<Reply, Fault> {
    let Some(declared) = flow.context.document.step(step) else {
        let message = format!("This process has no step `{step}`. Call get_work for steps you may claim.");
        return Err(Refusal::new(Code::NotFound, message).into());
    };
    if actor.kind != ActorKind::Agent {
        return Err(
            Refusal::new(Code::Forbidden, "Only agents claim steps; people find their work with get_work.").into()
        );
    }
    if !matches!(declared.kind, Kind::Agent(_)) {
        let message = format!("Step `{step}` is not an agent step ({}), so nobody can claim it.", declared.kind_name());
        return Err(Refusal::new(Code::Forbidden, message).into());
    }
    if flow.run.step(step).and_then(|s| s.status) != Some(Status::Ready) {
        let message = format!("Step `{step}` is not ready. Call get_work for steps that are.");
        return Err(Refusal::new(Code::Conflict, message).issue("not_ready").into());
    }
    let attempt = flow.attempt(step);
    if let Some(lease) = attempt.live(flow.now) {
        let (issue, who, now) = match lease.holder == actor.subject {
            true => ("claimed_by_you", "you hold", "Go on with the token of that claim."),
            false => ("claimed_by_other", "another caller holds", "Claim another step that get_work listed."),
        };
        let message = format!("Step `{step}` is claimed: {who} it until {}. {now}", lease.expires_at);
        return Err(Refusal::new(Code::Conflict, message).issue(issue).into());
    }
    Ok(lease(flow, step, attempt, &actor.subject))
}

/// Gives out the attempt's next lease; an earlier one stops working.
pub(super) fn lease(flow: &mut Flow<'_>, step: &str, mut attempt: Attempt, holder: &str) -> Reply {
    let serial = attempt.leases + 1;
    let expires_at = flow.now.plus_seconds(flow.context.limits.lease_seconds);
    attempt.leases = serial;
    attempt.lease = Some(Lease { serial, holder: holder.to_owned(), expires_at });
    attempt.writes += 1;
    let reply = Reply::Leased { step: step.to_owned(), attempt: attempt.attempt, lease: serial, expires_at };
    flow.remember(step, attempt);
    reply
}
