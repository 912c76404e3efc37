//! `send_event`: something happened outside that a run waits for, or will.

use async_trait::async_trait;
use run::Command;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Call, Tool};

pub(crate) struct SendEvent;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The run.
    run_id: String,
    /// The event's name, exactly as the process's wait_for says it.
    name: String,
    /// What the wait step records as its output.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    data: Option<Map<String, Value>>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// Where the event went.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sent {
    /// The step that consumed it; null when it is held for a wait that is not ready.
    consumed_by: Option<String>,
}

#[async_trait]
impl Tool for SendEvent {
    const NAME: &'static str = "send_event";
    const TITLE: &'static str = "Send an event";
    const DESCRIPTION: &'static str = "Delivers an event to one run. A step that waits for this name goes on with data as its \
        output; otherwise the event is held and the first such wait to become ready consumes it, oldest first. For agents and \
        operators.";
    type Arguments = Arguments;
    type Data = Sent;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Sent, store::Error> {
        let Arguments { run_id, name, data, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let data = data.unwrap_or_default();
        let command = |_| Command::SendEvent { name: name.clone(), data: data.clone() };
        let written = call.store.write(&request, &run_id, &[], command).await?;
        match written.sent {
            Some(sent) => Ok(Sent { consumed_by: sent.consumed_by }),
            None => Err(store::Error::Invariant("an event was accepted without saying where it went".to_owned())),
        }
    }
}
