//! `set_authorities`: a person lets the agents of a graph run resolve its gates.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use store::graph_runs::GraphCommand;

use super::graphs::{AUTHORITIES, RunShown, shown};
use super::{Call, Tool};

pub(crate) struct SetAuthorities;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
    /// Every authority from now on, as the gates name them; none with [].
    #[schemars(length(max = AUTHORITIES))]
    authorities: Vec<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for SetAuthorities {
    const NAME: &'static str = "set_authorities";
    const TITLE: &'static str = "Set authorities";
    const DESCRIPTION: &'static str = "For people who decide, and operators: sets the authorities of a graph run, in place of \
        those it has. While a gate's authority is among them and the gate is delegatable, agents may record its outcome. A \
        run that resumes from a checkpoint has none. Returns the run with its evaluation.";
    const DESTRUCTIVE: bool = true;
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        let Arguments { graph_run_id, authorities, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let command = GraphCommand::Authorities { authorities };
        shown(call.store.change_graph_run(&request, &graph_run_id, command).await?)
    }
}
