//! `set_facts`: what is known in a graph run.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use store::graph_runs::GraphCommand;

use super::graphs::{RunShown, shown};
use super::{Call, Tool};

pub(crate) struct SetFacts;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
    /// The facts by name.
    facts: Map<String, Value>,
    /// Whether every other fact goes; they stay when left out.
    #[serde(default)]
    replace: bool,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for SetFacts {
    const NAME: &'static str = "set_facts";
    const TITLE: &'static str = "Set facts";
    const DESCRIPTION: &'static str = "Sets facts of a graph run: what was found or made and can be shown, never what was only \
        said. Each replaces the fact of its name; the others stay unless replace is true. A node may be completed by facts \
        alone. Returns the run with its evaluation.";
    const DESTRUCTIVE: bool = true;
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        let Arguments { graph_run_id, facts, replace, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let command = GraphCommand::Facts { facts, replace };
        shown(call.store.change_graph_run(&request, &graph_run_id, command).await?)
    }
}
