//! `record_outcome`: what came of a node of a graph run.

use async_trait::async_trait;
use graph::documents::Outcome;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use store::graph_runs::GraphCommand;

use super::graphs::{RunShown, shown};
use super::{Call, Tool};

pub(crate) struct RecordOutcome;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
    /// The node: afterAction.recordNode of its route.
    node: String,
    /// What came of it.
    outcome: Outcome,
    /// What there is to say about it.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    detail: Option<Map<String, Value>>,
    /// The revision you acted on; when the run is not there any more, nothing is recorded.
    #[serde(default)]
    #[schemars(with = "String")]
    revision: Option<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for RecordOutcome {
    const NAME: &'static str = "record_outcome";
    const TITLE: &'static str = "Record an outcome";
    const DESCRIPTION: &'static str = "Records what came of a node of a graph run, once you did what its route says, and returns \
        the run with its next evaluation. get_route gives its commands, resources and the key to record under. Say \
        what is true: partial, unverified and skipped are not completed. Only a node that is open takes an outcome, or an \
        action that has one, to correct it or to end a loop whose start was done again; else conflict with node_not_open, which names what is open. A gate is a \
        person's to record; an agent may only while the run's authorities resolve it, else forbidden. conflict with \
        route_revision_stale means the run changed since the revision you sent: evaluate again.";
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        let Arguments { graph_run_id, node, outcome, detail, revision, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let command = GraphCommand::Record { node, outcome, detail: detail.map(Value::Object), revision };
        shown(call.store.change_graph_run(&request, &graph_run_id, command).await?)
    }
}
