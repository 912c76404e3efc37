//! What a claim tells of the graph that guides its step (profile graph-1).

use graph::RouteRequest;
use graph::documents::{Evaluation, Route};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::graph_runs::GraphRun;

use super::graphs::{ProviderAsked, places};

/// The run of a step's graph as the claim leaves it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Guidance {
    /// The run of the graph, for record_outcome, set_facts, get_graph_run and get_route.
    graph_run_id: String,
    /// The provider that the process's version is pinned to.
    provider: ProviderAsked,
    /// What can be done now: agent-graph.evaluation.v1.
    // Whole, the two schemas would be most of what every agent is told of a claim; evaluate_graph and get_route have them.
    #[schemars(with = "Map<String, Value>")]
    evaluation: Evaluation,
    /// The primary route in full: agent-graph.route.v1. Not there when no route is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    route: Option<Route>,
    /// What to know beside the route, as get_route tells it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Guidance {
    /// The evaluation of a run and its primary route.
    pub(super) fn of(read: GraphRun) -> Result<Guidance, store::Error> {
        let evaluation = read.evaluated()?.evaluation;
        let GraphRun { provider, run, .. } = read;
        let route = evaluation.primary_route.as_ref().map(|primary| {
            let request = RouteRequest {
                graph: &run.graph,
                entry: &run.entry,
                route_id: Some(&primary.route_id),
                revision: Some(&evaluation.revision),
                receipts: None,
            };
            graph::route(&provider.provider, &places(), &run.state(), &request).map_err(store::Error::from)
        });
        let route = route.transpose()?;
        let told =
            route.as_ref().map(|route| graph::notes(&provider.provider, &run.graph, &run.entry, &run.state(), route));
        let (graph_run_id, notes) = (run.id, told.unwrap_or_default());
        Ok(Guidance { graph_run_id, provider: ProviderAsked::from(&*provider), evaluation, route, notes })
    }
}
