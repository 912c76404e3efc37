//! `get_run`: the run view. Never a token.

use async_trait::async_trait;
use run::RunView;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Tool};

pub(crate) struct GetRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The run's id.
    run_id: String,
}

#[async_trait]
impl Tool for GetRun {
    const NAME: &'static str = "get_run";
    const TITLE: &'static str = "Read a run";
    const DESCRIPTION: &'static str = "Returns the run view: the run's state, everything its steps recorded (data), the \
        state of every step, the open work items with the exact decide call for each, and the process's body text. Each \
        read makes fresh file links and a fresh snapshot for decide.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        call.store.view(call.org(), &arguments.run_id).await
    }
}
