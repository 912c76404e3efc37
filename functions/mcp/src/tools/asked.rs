//! A graph and the state that it is asked in: those of a graph run, or those that the call gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::State;
use graph::documents::Outcome;
use process::DEFAULT_ENTRY;
use run::{Code, Refusal};
use serde_json::{Map, Value};
use store::graph_runs::GraphRun;
use store::providers::{Pin, PublishedProvider};

use super::Call;
use super::graphs::pin;

/// What a call says of the graph and its state.
pub(super) struct Question {
    pub(super) graph_run_id: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) version: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) graph: Option<String>,
    pub(super) entry: Option<String>,
    pub(super) facts: Option<Map<String, Value>>,
    pub(super) outcomes: Option<BTreeMap<String, Outcome>>,
    pub(super) authorities: Option<Vec<String>>,
}

/// The graph and its state.
pub(super) struct Asked {
    pub(super) provider: Arc<PublishedProvider>,
    pub(super) graph: String,
    pub(super) entry: String,
    pub(super) state: State,
}

impl Question {
    /// Looks up what is asked.
    ///
    /// # Errors
    ///
    /// `invalid` with every fault when neither or both of a run and a provider are named, or one of them half; `forbidden`
    /// for authorities from who may not give any; `not_found`.
    pub(super) async fn ask(self, call: &Call<'_>) -> Result<Asked, store::Error> {
        let faults = self.faults();
        if !faults.is_empty() {
            let message = "Name a graph run with graphRunId and nothing else of the graph, or a provider and its graph with \
                           the facts and outcomes you know. Fix each issue and call again.";
            return Err(Refusal::new(Code::Invalid, message).issues(faults).into());
        }
        if self.authorities.as_ref().is_some_and(|given| !given.is_empty())
            && let Err(denied) = identity::may_give_authority(call.caller)
        {
            return Err(store::Error::refused(Code::Forbidden, denied.message));
        }
        if let Some(run) = self.graph_run_id {
            let GraphRun { provider, run, .. } = call.store.graph_run(call.org(), &run).await?;
            return Ok(Asked { provider, state: run.state(), graph: run.graph, entry: run.entry });
        }
        let Question { provider: Some(provider), version, digest, graph: Some(graph), entry, .. } = &self else {
            return Err(store::Error::Invariant("a question without a provider or a graph was accepted".to_owned()));
        };
        let pin: Pin<'_> = pin(version.as_deref(), digest.as_deref())?;
        let provider = call.store.provider(call.org(), provider, pin).await?;
        let (graph, entry) = (graph.clone(), entry.clone().unwrap_or_else(|| DEFAULT_ENTRY.to_owned()));
        let state = State {
            facts: self.facts.unwrap_or_default(),
            outcomes: self.outcomes.unwrap_or_default(),
            authorities: self.authorities.unwrap_or_default().into_iter().collect(),
        };
        Ok(Asked { provider, graph, entry, state })
    }

    /// What the arguments show by themselves.
    fn faults(&self) -> Vec<String> {
        let given = [
            ("provider", self.provider.is_some()),
            ("version", self.version.is_some()),
            ("digest", self.digest.is_some()),
            ("graph", self.graph.is_some()),
            ("entry", self.entry.is_some()),
            ("facts", self.facts.is_some()),
            ("outcomes", self.outcomes.is_some()),
            ("authorities", self.authorities.is_some()),
        ];
        let given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        if self.graph_run_id.is_some() {
            return given.map(|name| format!("{name}: not together with graphRunId")).collect();
        }
        if given.clone().next().is_none() {
            return vec!["graphRunId: missing, or provider and graph".to_owned()];
        }
        let mut faults = Vec::new();
        for (name, missing) in [("provider", self.provider.is_none()), ("graph", self.graph.is_none())] {
            if missing {
                faults.push(format!("{name}: missing"));
            }
        }
        if self.version.is_some() && self.digest.is_some() {
            faults.push("digest: not together with version".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(given: &[&str]) -> Vec<String> {
        let text = |name: &str| given.contains(&name).then(|| "x".to_owned());
        let question = Question {
            graph_run_id: text("graphRunId"),
            provider: text("provider"),
            version: text("version"),
            digest: text("digest"),
            graph: text("graph"),
            entry: text("entry"),
            facts: given.contains(&"facts").then(Map::new),
            outcomes: given.contains(&"outcomes").then(BTreeMap::new),
            authorities: given.contains(&"authorities").then(Vec::new),
        };
        question.faults()
    }

    #[test]
    fn a_run_or_a_provider_is_asked_and_every_fault_told() {
        for right in [&["graphRunId"][..], &["provider", "graph"], &["provider", "graph", "digest", "entry", "facts"]] {
            assert_eq!(faults(right), [""; 0], "{right:?}");
        }
        assert_eq!(faults(&[]), ["graphRunId: missing, or provider and graph"]);
        assert_eq!(faults(&["facts"]), ["provider: missing", "graph: missing"]);
        assert_eq!(faults(&["provider"]), ["graph: missing"]);
        assert_eq!(faults(&["graph", "version", "digest"]), ["provider: missing", "digest: not together with version"]);
        let all = ["graphRunId", "provider", "version", "digest", "graph", "entry", "facts", "outcomes", "authorities"];
        let told: Vec<String> = all[1..].iter().map(|name| format!("{name}: not together with graphRunId")).collect();
        assert_eq!(faults(&all), told);
    }
}
