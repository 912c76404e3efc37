//! `start_run`: inputs are checked, the first step is entered, and everything automatic follows.

use crate::command::{Actor, ActorKind, Change, Code, Context, Fault, Refusal, Reply, Start};
use crate::data::data_bytes;
use crate::flow::Flow;
use crate::{Meta, Run, Time};

/// Decides the start of a run.
///
/// # Errors
///
/// `invalid` with every issue: inputs that are missing, mistyped or undeclared, inputs over `runDataBytes`, and a
/// process with a step for `initiator` started by an agent (core §3.4).
pub fn start(context: Context<'_>, actor: &Actor, start: Start, clock: Time) -> Result<Change, Fault> {
    let mut issues = process::value::check_fields("inputs", &context.document.inputs, &start.inputs);
    let initiator = match actor.kind {
        ActorKind::Person => actor.person.clone(),
        ActorKind::Agent => None,
    };
    if context.document.needs_initiator() && initiator.is_none() {
        issues.push(match actor.kind {
            ActorKind::Agent => {
                "initiator: a step is assigned to the initiator, so a person must start this".to_owned()
            }
            ActorKind::Person => {
                "initiator: a step is assigned to the initiator, and your token carries no person value".to_owned()
            }
        });
    }
    let run = Run {
        meta: Meta {
            id: start.id,
            process: context.document.name.clone(),
            version: start.version,
            mode: start.mode,
            started_by: actor.subject.clone(),
            started_at: clock,
            initiator,
        },
        rev: 0,
        updated_at: clock,
        inputs: start.inputs,
        steps: Default::default(),
        held: Vec::new(),
        events_received: 0,
        items_issued: 0,
        completions: 0,
        ended: None,
    };
    let bytes = data_bytes(&run);
    if bytes > context.limits.run_data_bytes {
        issues.push(format!("inputs: {bytes} bytes of run data, at most {}", context.limits.run_data_bytes));
    }
    if !issues.is_empty() {
        let message = format!("The inputs do not fit `{}`. Fix each issue and start again.", context.document.name);
        return Err(Refusal::new(Code::Invalid, message).issues(issues).into());
    }
    let first = match context.document.steps.first() {
        Some(step) => step.id.clone(),
        None => return Err(Fault::Invariant("the process has no step".to_owned())),
    };
    let mut flow = Flow::started(context, run, clock);
    flow.enter(&first, clock)?;
    flow.apply_due()?;
    Ok(flow.change(Reply::View))
}
