//! `get_graph_run`: a graph run as it is now.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::graphs::{RunShown, shown};
use super::{Call, Tool};

pub(crate) struct GetGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
}

#[async_trait]
impl Tool for GetGraphRun {
    const NAME: &'static str = "get_graph_run";
    const TITLE: &'static str = "Read a graph run";
    const DESCRIPTION: &'static str = "Returns a graph run: its facts, the latest outcome of each node, its authorities and all \
        its events, with the provider it keeps and the evaluation of its state now.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        shown(call.store.graph_run(call.org(), &arguments.graph_run_id).await?)
    }
}
