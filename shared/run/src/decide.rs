//! Deciding: a run, its attempts, a caller and a command give a change or a refusal. Total, and pure.
//!
//! The order of checks that all tools share is here: a required text that says nothing is a bad argument, a run that
//! ended refuses everything (core §3.5), timers that are due are applied, and the command's own checks follow in its
//! file. A refusal changes nothing, except that a refused submission leaves its issues in the handoff.

mod cancel;
mod check;
mod claim;
mod escalate;
mod escalated;
mod renew;
mod send_event;
mod start;
mod submit;
mod unsure;
pub(crate) mod work_item;

use std::collections::BTreeMap;

pub use start::start;

use crate::accept::blank;
use crate::command::{Actor, Change, Code, Command, Context, Decision, Fault, Refusal, Reply};
use crate::flow::Flow;
use crate::{Attempt, Run, Time};

/// Decides one command on a run. `clock` is this machine's time; the entry's time is the later of it and the entry
/// before. `attempts` are the stored attempts of the run, by step.
pub fn decide(
    context: Context<'_>,
    run: &Run,
    attempts: &BTreeMap<String, Attempt>,
    actor: &Actor,
    command: &Command,
    clock: Time,
) -> Result<Change, Fault> {
    arguments(command)?;
    if let Some(ended) = &run.ended {
        return match command {
            Command::Tick => Ok(Flow::new(context, run.clone(), attempts.clone(), clock).change(Reply::View)),
            _ => Err(run_ended(ended.cancelled).into()),
        };
    }
    let mut flow = Flow::new(context, run.clone(), attempts.clone(), clock);
    flow.apply_due()?;
    if let Some(ended) = &flow.run.ended {
        return match command {
            Command::Tick => Ok(flow.change(Reply::View)),
            _ => Err(run_ended(ended.cancelled).into()),
        };
    }
    let reply = match command {
        Command::Claim { step } => claim::claim(&mut flow, actor, step)?,
        Command::Renew { token, progress } => renew::renew(&mut flow, actor, token, progress.as_deref())?,
        Command::Submit { token, submission } => submit::submit(&mut flow, actor, token, submission)?,
        Command::Escalate { token, note } => escalate::escalate(&mut flow, actor, token, note)?,
        Command::Decide { item, snapshot, decision } => work_item::decide(&mut flow, actor, item, snapshot, decision)?,
        Command::Cancel { reason } => cancel::cancel(&mut flow, actor, reason)?,
        Command::SendEvent { name, data } => send_event::send_event(&mut flow, actor, name, data)?,
        Command::Tick => Reply::View,
    };
    flow.apply_due()?;
    Ok(flow.change(reply))
}

/// Refuses a command whose required note or reason is blank, which counts as missing: no record is to hold one.
fn arguments(command: &Command) -> Result<(), Refusal> {
    let (argument, text) = match command {
        Command::Escalate { note, .. } => ("note", note),
        Command::Cancel { reason } => ("reason", reason),
        Command::Decide {
            decision: Decision::Rejected(note) | Decision::Returned(note) | Decision::Failed(note),
            ..
        } => ("note", note),
        _ => return Ok(()),
    };
    if !blank(text) {
        return Ok(());
    }
    Err(Refusal::new(Code::Invalid, format!("This call needs a `{argument}`. Say why, in a sentence."))
        .issue(format!("{argument}: missing")))
}

fn run_ended(cancelled: bool) -> Refusal {
    let how = if cancelled { "was cancelled" } else { "has ended" };
    Refusal::new(Code::Conflict, format!("The run {how}; nothing can change it any more. Move on.")).issue("run_ended")
}
