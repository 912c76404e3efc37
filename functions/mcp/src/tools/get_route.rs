//! `get_route`: a route with all that is needed to take it.

use std::collections::BTreeMap;

use async_trait::async_trait;
use graph::RouteRequest;
use graph::documents::{Outcome, ReadReceipts, Route};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::asked::{Asked, Question};
use super::graphs::{AUTHORITIES, ProviderAsked, places};
use super::{Call, Tool};

pub(crate) struct GetRoute;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run; leave out everything else of the graph then.
    #[serde(default)]
    #[schemars(with = "String")]
    graph_run_id: Option<String>,
    /// Without a run: the provider's id, as list_providers shows it.
    #[serde(default)]
    #[schemars(with = "String")]
    provider: Option<String>,
    /// The provider's version; the latest when this and digest are left out.
    #[serde(default)]
    #[schemars(with = "String")]
    version: Option<String>,
    /// The same by the bundle's digest, sha256:….
    #[serde(default)]
    #[schemars(with = "String")]
    digest: Option<String>,
    /// The graph.
    #[serde(default)]
    #[schemars(with = "String")]
    graph: Option<String>,
    /// Its entry; `default` when left out.
    #[serde(default)]
    #[schemars(with = "String")]
    entry: Option<String>,
    /// What is known.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    facts: Option<Map<String, Value>>,
    /// The outcome of each node that has one, by its key: a route's afterAction.recordNode.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Outcome>")]
    outcomes: Option<BTreeMap<String, Outcome>>,
    /// Authorities that resolve gates; only from people who decide, and operators.
    #[serde(default)]
    #[schemars(with = "Vec<String>", length(max = AUTHORITIES))]
    authorities: Option<Vec<String>>,
    /// The route; the primary one when left out.
    #[serde(default)]
    #[schemars(with = "String")]
    route_id: Option<String>,
    /// The revision of the evaluation that showed it; refused when the state is another one by now.
    #[serde(default)]
    #[schemars(with = "String")]
    revision: Option<String>,
    /// What you have read of the provider in this conversation; it is marked current then.
    #[serde(default)]
    #[schemars(with = "ReadReceipts")]
    receipts: Option<ReadReceipts>,
}

/// A route in full.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resolved {
    /// The provider that was asked.
    provider: ProviderAsked,
    /// The route.
    route: Route,
    /// What to know beside it: the facts without which it does not count as done, and what has to be recorded anew after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[async_trait]
impl Tool for GetRoute {
    const NAME: &'static str = "get_route";
    const TITLE: &'static str = "Get a route";
    const DESCRIPTION: &'static str = "Shows a route in full, the primary one when routeId is left out: its action with the \
        commandPlan to run, the resources to read before, the gate and who may resolve it, and the node to record; notes \
        say what else counts. Paths are those in the bundle: locate_resource opens each, a script of the plan too. The \
        server runs nothing: run the plan with your own tools, unless a person must act first, then record_outcome. Send \
        the revision you saw; conflict means that it changed, or with route_unavailable that no route is open: evaluate \
        again. Changes nothing.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Resolved;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Resolved, store::Error> {
        let Arguments {
            graph_run_id,
            provider,
            version,
            digest,
            graph,
            entry,
            facts,
            outcomes,
            authorities,
            route_id,
            revision,
            receipts,
        } = arguments;
        let question = Question { graph_run_id, provider, version, digest, graph, entry, facts, outcomes, authorities };
        let Asked { provider, graph, entry, state } = question.ask(&call).await?;
        let request = RouteRequest {
            graph: &graph,
            entry: &entry,
            route_id: route_id.as_deref(),
            revision: revision.as_deref(),
            receipts: receipts.as_ref(),
        };
        let route = graph::route(&provider.provider, &places(), &state, &request)?;
        let notes = graph::notes(&provider.provider, &graph, &entry, &state, &route);
        Ok(Resolved { provider: ProviderAsked::from(&*provider), route, notes })
    }
}
