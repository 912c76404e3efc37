//! `evaluate_graph`: what a graph allows next.

use std::collections::BTreeMap;

use async_trait::async_trait;
use graph::documents::{Evaluation, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::asked::{Asked, Question};
use super::graphs::{AUTHORITIES, ProviderAsked};
use super::{Call, Tool};

pub(crate) struct EvaluateGraph;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run; leave out everything else then.
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
}

/// An evaluation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Evaluated {
    /// The provider that was asked.
    provider: ProviderAsked,
    /// What can be done.
    evaluation: Evaluation,
}

#[async_trait]
impl Tool for EvaluateGraph {
    const NAME: &'static str = "evaluate_graph";
    const TITLE: &'static str = "Evaluate a graph";
    const DESCRIPTION: &'static str = "Tells what a graph allows next: in the state of a graph run, or, with provider and graph, \
        in the state that you give. statusCode says whether a route can be taken at once (actionable), waits for a person, is \
        blocked, or whether the graph is complete, with which outcome. primaryRoute is the move to make; get_route shows it in \
        full. Changes nothing.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Evaluated;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Evaluated, store::Error> {
        let Arguments { graph_run_id, provider, version, digest, graph, entry, facts, outcomes, authorities } =
            arguments;
        let question = Question { graph_run_id, provider, version, digest, graph, entry, facts, outcomes, authorities };
        let Asked { provider, graph, entry, state } = question.ask(&call).await?;
        let evaluated = graph::evaluate(&provider.provider, &graph, &entry, &state)?;
        Ok(Evaluated { provider: ProviderAsked::from(&*provider), evaluation: evaluated.evaluation })
    }
}
