//! Steps that a graph guides (profile graph-1): what their versions pin, the run of the graph that a claim opens, and where
//! it stands when the step is submitted.
//!
//! A run of a graph belongs to one attempt of one step, and its id says which. It is opened by the transaction of the
//! attempt's first claim; every later claim of the attempt finds it again.

use std::collections::{BTreeMap, BTreeSet};

use graph::documents::StatusCode;
use graph::{Evaluated, State};
use process::{Document, GraphBinding};
use run::{Change, Code, GraphInquiry, GraphStanding, GraphStatus, MappedFacts, Reply};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalogue::Version;
use crate::error::{Error, quoted};
use crate::graph_runs::{GraphRun, Opening};
use crate::partition::Partition;
use crate::providers::{Pin, PublishedProvider};
use crate::request::Request;
use crate::store::Store;
use crate::table::Op;

/// Most names that an issue lists to choose from.
const LISTED_NAMES: usize = 10;

/// Most characters of a diagnostic's message that a submission is told.
const WHY_CHARS: usize = 600;

/// The published version of a provider that a version of a process keeps for the graph of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphPin {
    /// The provider's id.
    pub provider: String,
    /// Its version.
    pub version: String,
    /// The digest of its bundle.
    pub digest: String,
}

/// What the record of a claim keeps of the run of the step's graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphGiven {
    /// The run of the graph.
    pub graph_run: String,
    /// Its last event.
    pub sequence: u64,
}

/// The id of the run of a step's graph in one of its attempts.
pub(crate) fn graph_run_id(run: &str, step: &str, attempt: u32) -> String {
    format!("g_{}_{step}_{attempt}", run.trim_start_matches("r_"))
}

impl Store {
    /// What the graphs of a process are pinned to, by step: the version that each names, or the latest.
    ///
    /// # Errors
    ///
    /// An issue for every provider, graph and entry that is not there, within what the call itself may fail with.
    pub(crate) async fn pins(
        &self,
        org: &str,
        document: &Document,
    ) -> Result<Result<BTreeMap<String, GraphPin>, Vec<String>>, Error> {
        let named = |binding: &GraphBinding| (binding.provider.clone(), binding.version.clone());
        let wanted: BTreeSet<_> = document.graphs().map(|(_, binding)| named(binding)).collect();
        let found = futures::future::join_all(wanted.into_iter().map(|(id, version)| async move {
            let pin = version.as_deref().map_or(Pin::Latest, Pin::Version);
            let found = match self.provider(org, &id, pin).await {
                Ok(provider) => Ok(provider),
                Err(Error::Refused(refusal)) if refusal.code == Code::NotFound => Err(refusal.message),
                Err(error) => return Err(error),
            };
            Ok(((id, version), found))
        }))
        .await;
        let found: BTreeMap<_, _> = found.into_iter().collect::<Result<_, Error>>()?;
        let (mut pins, mut issues) = (BTreeMap::new(), Vec::new());
        for (step, binding) in document.graphs() {
            let pinned = match found.get(&named(binding)) {
                Some(Ok(provider)) => pinned(binding, provider),
                Some(Err(why)) => Err(why.clone()),
                None => return Err(Error::Invariant(format!("nobody looked for the provider of step {}", step.id))),
            };
            match pinned {
                Ok(pin) => drop(pins.insert(step.id.clone(), pin)),
                Err(why) => issues.push(format!("steps.{}.graph: {why}", step.id)),
            }
        }
        Ok(if issues.is_empty() { Ok(pins) } else { Err(issues) })
    }

    /// The run of the graph of a step that was just claimed, with the operations that open it or bring its facts up to date;
    /// `None` for a step that no graph guides.
    ///
    /// # Errors
    ///
    /// `invalid` for a graph that cannot be evaluated without a fact; publication refuses it.
    pub(crate) async fn guide(
        &self,
        request: &Request<'_>,
        version: &Version,
        change: &Change,
    ) -> Result<Option<(GraphRun, Vec<Op>)>, Error> {
        let Reply::Leased { step, attempt, .. } = &change.reply else { return Ok(None) };
        let document = &version.document;
        let Some(binding) = document.step(step).and_then(|s| s.graph()) else { return Ok(None) };
        let id = graph_run_id(&change.run.meta.id, step, *attempt);
        let gone = |why: &str| Error::Invariant(format!("the graph of {} step {step}: {why}", document.name));
        let pin = version.graphs.get(step).ok_or_else(|| gone("the version pins no provider"))?;
        let provider = self.provider(request.org, &pin.provider, Pin::Digest(&pin.digest)).await;
        let provider = provider.map_err(|error| match error {
            Error::Refused(refusal) => gone(&refusal.message),
            other => other,
        })?;
        let mapped = MappedFacts::of(document, &change.run, step);
        let opening = Opening {
            id: &id,
            provider,
            graph: &binding.graph,
            entry: &binding.entry,
            facts: &|facts: &Map<String, Value>| mapped.over(facts),
            actor: request.actor,
            tool: request.tool,
            at: change.at,
        };
        self.graph_run_opening(request.org, opening).await.map(Some)
    }

    /// Where the graph of a step stands with a submission, and the operation that refuses when somebody moves it meanwhile.
    pub(crate) async fn standing(
        &self,
        org: &str,
        run: &str,
        inquiry: &GraphInquiry,
    ) -> Result<(GraphStanding, Op), Error> {
        let id = graph_run_id(run, &inquiry.step, inquiry.attempt);
        let broken = |why: String| Error::Invariant(format!("the run {id} of the graph of a claimed step: {why}"));
        let read = self.graph_run(org, &id).await.map_err(|error| match error {
            Error::Refused(refusal) => broken(refusal.message),
            other => other,
        })?;
        let GraphRun { provider, run, .. } = &read;
        let state = State { facts: inquiry.facts.over(&run.facts), ..run.state() };
        let standing = match graph::evaluate(&provider.provider, &run.graph, &run.entry, &state) {
            Ok(evaluated) => told(&evaluated),
            // With these facts, which are the submission's: as the run stands it can be evaluated.
            Err(failure) => GraphStanding {
                status: GraphStatus::Error,
                outcome: None,
                place: Some(failure.code.to_string()),
                why: None,
            },
        };
        Ok((standing, self.graph_run_unchanged(org, &read)))
    }

    /// The run of the graph of a step, in the step's present attempt: for whoever was not told its id.
    ///
    /// # Errors
    ///
    /// `not_found` when the organization has no such run, its process no such step, the step no graph, or its present attempt
    /// no claim yet.
    pub async fn graph_run_of(&self, org: &str, run: &str, step: &str) -> Result<GraphRun, Error> {
        let missing = |why: String| Error::refused(Code::NotFound, why);
        let Some(partition) = Partition::load(self.table.as_ref(), org, run).await? else {
            return Err(missing(format!("No run `{}` in this organization.", quoted(run))));
        };
        let process = self.version_of(org, &partition.run.meta).await?;
        let document = &process.document;
        if document.step(step).and_then(|step| step.graph()).is_none() {
            let guided = listed(document.graphs().map(|(step, _)| step.id.as_str()));
            let said = format!(
                "`{}` has no step `{}` that a graph guides; of those that one does it has: {guided}.",
                document.name,
                quoted(step)
            );
            return Err(missing(said));
        }
        let unclaimed = || missing(format!("The step `{step}` was not claimed yet; its claim begins the graph's run."));
        let attempt = partition.run.step(step).ok_or_else(unclaimed)?.attempt;
        match self.graph_run(org, &graph_run_id(run, step, attempt)).await {
            Err(Error::Refused(refusal)) if refusal.code == Code::NotFound => Err(unclaimed()),
            found => found,
        }
    }

    /// The run of a graph as it was given with a claim.
    pub(crate) async fn given(&self, org: &str, given: &GraphGiven) -> Result<GraphRun, Error> {
        let GraphGiven { graph_run, sequence } = given;
        self.graph_run_at(org, graph_run, *sequence).await?.ok_or_else(|| {
            Error::Invariant(format!("the run {graph_run} of a graph has no event {sequence} that a claim was given"))
        })
    }
}

/// What a step's graph is pinned to, when the provider has the graph and the entry.
fn pinned(binding: &GraphBinding, provider: &PublishedProvider) -> Result<GraphPin, String> {
    let reference = &provider.reference;
    let place = format!("`{}` version {}", reference.provider, reference.version);
    let graphs = &reference.graphs;
    let Some(graph) = graphs.iter().find(|graph| graph.id == binding.graph) else {
        let names = listed(graphs.iter().map(|graph| graph.id.as_str()));
        return Err(format!("{place} has no graph `{}`; it has {names}", binding.graph));
    };
    if !graph.entries.contains(&binding.entry) {
        let names = listed(graph.entries.iter().map(String::as_str));
        return Err(format!("graph `{}` of {place} has no entry `{}`; it has {names}", graph.id, binding.entry));
    }
    // A graph that is too large before anything is known of it would be so at every claim.
    if let Err(failure) = graph::evaluate(&provider.provider, &binding.graph, &binding.entry, &graph::State::default())
    {
        return Err(format!("graph `{}` of {place} cannot be evaluated: {}", binding.graph, failure.message));
    }
    let (provider, version, digest) = (reference.provider.clone(), reference.version.clone(), reference.digest.clone());
    Ok(GraphPin { provider, version, digest })
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let shown: Vec<&str> = names.iter().take(LISTED_NAMES).copied().collect();
    let more = names.len() - shown.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    if shown.is_empty() { "none".to_owned() } else { format!("{}{rest}", shown.join(", ")) }
}

/// An evaluation as a submission is held to it.
fn told(evaluated: &Evaluated) -> GraphStanding {
    let Evaluated { evaluation, candidates, .. } = evaluated;
    let word = |outcome| serde_json::to_value(outcome).ok().and_then(|word| word.as_str().map(str::to_owned));
    let route = candidates.first().map(|open| quoted(&open.state_key));
    let diagnostic = evaluation.diagnostics.first();
    GraphStanding {
        status: match evaluation.status_code {
            StatusCode::Actionable => GraphStatus::Actionable,
            StatusCode::WaitingUser => GraphStatus::WaitingUser,
            StatusCode::Blocked => GraphStatus::Blocked,
            StatusCode::Complete => GraphStatus::Complete,
            StatusCode::Error => GraphStatus::Error,
        },
        outcome: evaluation.outcome.and_then(word),
        place: route.or_else(|| diagnostic.map(|told| told.code.to_string())),
        why: diagnostic.map(|told| told.message.chars().take(WHY_CHARS).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_of_every_step_has_a_run_of_its_own() {
        assert_eq!(graph_run_id("r_abc", "build_it", 2), "g_abc_build_it_2");
        let ids = [("r_a", "b", 1), ("r_a", "b", 2), ("r_a", "c", 1), ("r_b", "b", 1)];
        let ids: BTreeSet<String> = ids.into_iter().map(|(run, step, n)| graph_run_id(run, step, n)).collect();
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn what_there_is_to_choose_from_is_told_as_far_as_it_is_of_use() {
        assert_eq!(listed(["a", "b"].into_iter()), "a, b");
        assert_eq!(listed([].into_iter()), "none");
        let many: Vec<String> = (0..LISTED_NAMES + 3).map(|n| n.to_string()).collect();
        assert_eq!(listed(many.iter().map(String::as_str)), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more");
    }
}
