//! `start_run`: a run of a published process begins.

use async_trait::async_trait;
use run::{Mode, RunView};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Call, Tool};

pub(crate) struct StartRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The process's name, as list_processes shows it.
    process: String,
    /// The version to run; the latest published one when left out.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1, max = 9_007_199_254_740_991_u64))]
    version: Option<u64>,
    /// The inputs the process declares.
    inputs: Map<String, Value>,
    /// `test` for a rehearsal without real effects; `live` when left out.
    #[serde(default)]
    #[schemars(with = "Mode")]
    mode: Option<Mode>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for StartRun {
    const NAME: &'static str = "start_run";
    const TITLE: &'static str = "Start a run";
    const DESCRIPTION: &'static str = "Starts a run of a published process with its inputs and returns the run view. Inputs \
        must match what list_processes shows; every fault comes back at once in issues. A run keeps its version for life. \
        Use mode test to rehearse: nothing real may be done in a test run. A process with a step for the initiator can only \
        be started by a person.";
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        let Arguments { process, version, inputs, mode, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let written = call.store.start(&request, &process, version, inputs, mode.unwrap_or(Mode::Live)).await?;
        call.store.written_view(call.org(), &written).await
    }
}
