//! `resume_graph_run`: a new graph run goes on from a checkpoint.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::graphs::{RunShown, shown};
use super::{Call, Tool};

pub(crate) struct ResumeGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The checkpoint, as checkpoint_graph_run named it.
    checkpoint: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for ResumeGraphRun {
    const NAME: &'static str = "resume_graph_run";
    const TITLE: &'static str = "Resume a graph run";
    const DESCRIPTION: &'static str = "Starts a new graph run from a checkpoint, with its facts, outcomes and events and without \
        its authorities. The run that the checkpoint was made of stays as it is. Returns the new run with its evaluation.";
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        let Arguments { checkpoint, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        shown(call.store.resume_graph_run(&request, &checkpoint).await?)
    }
}
