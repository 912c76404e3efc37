//! `renew`: a new lease in place of a live one, and the latest progress note. Changes the attempt alone.
//!
//! [`held`] is the check that every tool with a claim token shares.

use super::claim::lease;
use crate::accept::given;
use crate::command::{Actor, ActorKind, Claimed, Code, Fault, Refusal, Reply};
use crate::flow::Flow;
use crate::{Attempt, Status, Time};

pub(super) fn renew(
    flow: &mut Flow<'_>,
    actor: &Actor,
    token: &Claimed,
    progress: Option<&str>,
) -> Result<Reply, Fault> {
    let mut attempt = held(flow, actor, token, flow.now)?;
    if let Some(note) = given(progress) {
        attempt.handoff.progress = Some(note.to_owned());
    }
    Ok(lease(flow, &token.step, attempt, &actor.subject))
}

/// The attempt whose lease the token names, which had not ended at `at`.
///
/// # Errors
///
/// `forbidden` for a person, and for another identity than the one the token was given to; `stale` when the lease
/// ended, was renewed or replaced, or the step moved on.
pub(super) fn held(flow: &Flow<'_>, actor: &Actor, token: &Claimed, at: Time) -> Result<Attempt, Refusal> {
    if actor.kind != ActorKind::Agent {
        return Err(Refusal::new(Code::Forbidden, "Only agents work with claim tokens; people use decide."));
    }
    if actor.subject != token.subject {
        return Err(Refusal::new(Code::Forbidden, "This token was given to another identity. Claim a step yourself."));
    }
    let stale = |why: &str| Refusal::new(Code::Stale, format!("{why} Stop this work and call get_work again."));
    let state = flow.run.step(&token.step);
    if state.is_none_or(|s| s.attempt != token.attempt || s.status != Some(Status::Ready)) {
        return Err(stale("The step has moved on since this token was given out."));
    }
    let attempt = flow.attempt(&token.step);
    match &attempt.lease {
        Some(lease) if lease.serial != token.lease || lease.holder != token.subject => {
            Err(stale("This token was replaced by a later claim or renewal."))
        }
        Some(lease) if at >= lease.expires_at => {
            Err(stale(&format!("The lease of this token ended at {}.", lease.expires_at)))
        }
        Some(_) => Ok(attempt),
        None => Err(stale("The claim of this token is over.")),
    }
}
