//! `cancel`: an operator ends a run. Works whatever the limits and the size of the run (core §3.5).

use crate::command::{Actor, Code, Fault, Refusal, Reply};
use crate::flow::Flow;

pub(super) fn cancel(flow: &mut Flow<'_>, actor: &Actor, reason: &str) -> Result<Reply, Fault> {
    if !actor.operator {
        return Err(Refusal::new(Code::Forbidden, "Only an operator cancels a run. Ask one.").into());
    }
    flow.end(true, None, &actor.subject, flow.now, Some(reason.to_owned()));
    Ok(Reply::View)
}
