//! `cancel`: an operator ends a run.

use async_trait::async_trait;
use run::{Command, RunView};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Tool};

pub(crate) struct Cancel;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The run.
    run_id: String,
    /// Why.
    #[schemars(length(max = 4000))]
    reason: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for Cancel {
    const NAME: &'static str = "cancel";
    const TITLE: &'static str = "Cancel a run";
    const DESCRIPTION: &'static str = "For operators: ends a run that has not ended, with a reason. Every unfinished step is \
        cancelled, every open work item and claim goes with it. What the run caused outside this server is not undone.";
    const DESTRUCTIVE: bool = true;
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        let Arguments { run_id, reason, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let command = |_| Command::Cancel { reason: reason.clone() };
        let written = call.store.write(&request, &run_id, &[], command).await?;
        call.store.written_view(call.org(), &written).await
    }
}
