//! `send_event`: an event meets the wait that has been ready longest, or is held (core §3.6).

use process::Kind;
use serde_json::{Map, Value};

use crate::command::{Actor, ActorKind, Code, Fault, Refusal, Reply};
use crate::data::data_bytes;
use crate::flow::Flow;
use crate::{Event, HeldEvent, Run, Status, canonical};

pub(super) fn send_event(
    flow: &mut Flow<'_>,
    actor: &Actor,
    name: &str,
    data: &Map<String, Value>,
) -> Result<Reply, Fault> {
    if actor.kind != ActorKind::Agent && !actor.operator {
        return Err(Refusal::new(Code::Forbidden, "Only agents and operators send events.").into());
    }
    if !process::is_step_id(name) {
        let message = "An event name is like a step id: a lower-case letter, then up to 63 of a-z, 0-9, _ and -.";
        return Err(Refusal::new(Code::Invalid, message).issue(format!("name: `{name}` is not an event name")).into());
    }
    let number = flow.run.events_received + 1;
    let limit = flow.context.limits.run_data_bytes;
    let bytes = data_bytes(&flow.run) + held_bytes(&flow.run) + size(name, &actor.subject, data);
    if bytes > limit {
        let message = format!(
            "This event would bring run data and held events to {bytes} bytes; at most {limit}. Send a reference."
        );
        return Err(Refusal::new(Code::Invalid, message).issue(format!("data: {bytes} bytes, at most {limit}")).into());
    }
    match ready(flow, name) {
        Some((step, next)) => {
            flow.consume(&step, number, &actor.subject, data.clone(), flow.now, &next)?;
            Ok(Reply::Sent { consumed_by: Some(step) })
        }
        None => {
            let held = HeldEvent { number, name: name.to_owned(), data: data.clone(), by: actor.subject.clone() };
            flow.emit(Event::Held { held });
            Ok(Reply::Sent { consumed_by: None })
        }
    }
}

/// The ready wait for this name that has been ready longest, then first in the file; and where it continues.
fn ready(flow: &Flow<'_>, name: &str) -> Option<(String, String)> {
    let steps = flow.context.document.steps.iter().enumerate();
    let waits = steps.filter_map(|(place, step)| match &step.kind {
        Kind::WaitFor { event, next, .. } if event == name => {
            let state = flow.run.step(&step.id).filter(|s| s.status == Some(Status::Waiting))?;
            Some((state.ready_since, place, &step.id, next))
        }
        _ => None,
    });
    waits.min().map(|(_, _, step, next)| (step.clone(), next.clone()))
}

/// Bytes of the events that a run holds. They become run data when their waits come, so they count against the same cap.
pub(super) fn held_bytes(run: &Run) -> usize {
    run.held.iter().map(|h| size(&h.name, &h.by, &h.data)).sum()
}

/// Name and sender count too: the number of held events is bounded, not just what they carry.
fn size(name: &str, by: &str, data: &Map<String, Value>) -> usize {
    name.len() + by.len() + canonical::canonical(&Value::Object(data.clone())).len()
}
