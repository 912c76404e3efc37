//! `start_graph_run`: a run of a provider's graph begins.

use async_trait::async_trait;
use process::DEFAULT_ENTRY;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::graphs::{RunShown, pin, shown};
use super::{Call, Tool};

pub(crate) struct StartGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The provider's id, as list_providers shows it.
    provider: String,
    /// The version to run; the latest when this and digest are left out.
    #[serde(default)]
    #[schemars(with = "String")]
    version: Option<String>,
    /// The same by the bundle's digest, sha256:….
    #[serde(default)]
    #[schemars(with = "String")]
    digest: Option<String>,
    /// The graph.
    graph: String,
    /// Its entry; `default` when left out.
    #[serde(default)]
    #[schemars(with = "String")]
    entry: Option<String>,
    /// What is known at the start.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    facts: Option<Map<String, Value>>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for StartGraphRun {
    const NAME: &'static str = "start_graph_run";
    const TITLE: &'static str = "Start a graph run";
    const DESCRIPTION: &'static str = "Starts a run of a provider's graph: a shared memory of facts, outcomes and events, which \
        keeps the provider's version for life. Returns it with its first evaluation. Then, until the evaluation is complete: \
        get_route, which gives the commands, the resources and the key to record under; do what it says with your own tools; \
        record_outcome.";
    type Arguments = Arguments;
    type Data = RunShown;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunShown, store::Error> {
        let Arguments { provider, version, digest, graph, entry, facts, request_id } = arguments;
        let pin = pin(version.as_deref(), digest.as_deref())?;
        let request = call.request(Self::NAME, &request_id);
        let entry = entry.as_deref().unwrap_or(DEFAULT_ENTRY);
        let facts = facts.unwrap_or_default();
        shown(call.store.start_graph_run(&request, &provider, pin, &graph, entry, facts).await?)
    }
}
