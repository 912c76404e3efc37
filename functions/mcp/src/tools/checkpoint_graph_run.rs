//! `checkpoint_graph_run`: a state of a graph run to go back to.

use async_trait::async_trait;
use graph::documents::{Evaluation, Run};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::graph_runs::GraphCommand;

use super::graphs::{ProviderAsked, RunShown, shown};
use super::{Call, Tool};

pub(crate) struct CheckpointGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// The checkpoint, and the run it was made of.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Kept {
    /// Its name: what resume_graph_run takes.
    checkpoint: String,
    /// The run.
    run: Run,
    /// The provider it keeps.
    provider: ProviderAsked,
    /// What can be done now.
    evaluation: Evaluation,
}

#[async_trait]
impl Tool for CheckpointGraphRun {
    const NAME: &'static str = "checkpoint_graph_run";
    const TITLE: &'static str = "Checkpoint a graph run";
    const DESCRIPTION: &'static str = "Keeps the state of a graph run as it is now, without its authorities, and returns the \
        checkpoint's name: resume_graph_run goes on from there whenever you like. The run itself goes on as before.";
    type Arguments = Arguments;
    type Data = Kept;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Kept, store::Error> {
        let Arguments { graph_run_id, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let changed = call.store.change_graph_run(&request, &graph_run_id, GraphCommand::Checkpoint).await?;
        let Some(checkpoint) = changed.checkpoint() else {
            return Err(store::Error::Invariant(format!(
                "a checkpoint of {graph_run_id} was accepted and has no name"
            )));
        };
        let RunShown { run, provider, evaluation } = shown(changed)?;
        Ok(Kept { checkpoint, run, provider, evaluation })
    }
}
