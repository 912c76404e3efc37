//! What the tools of graphs share: how a provider is named and how a run is shown.

use graph::Places;
use graph::documents::{Evaluation, Run};
use run::{Code, Refusal, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::graph_runs::GraphRun;
use store::providers::{Pin, ProviderRef, PublishedProvider};

/// Most authorities of one session.
pub(super) const AUTHORITIES: usize = 100;

/// A published version of a provider.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct ProviderListed {
    /// The provider's id.
    id: String,
    /// Its version.
    version: String,
    /// The digest of its bundle, sha256:….
    digest: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Its graphs.
    graphs: Vec<GraphListed>,
    /// Who published it.
    published_by: String,
    /// When.
    published_at: Time,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct GraphListed {
    /// The graph's id.
    id: String,
    /// The names of its entries.
    entries: Vec<String>,
}

impl From<ProviderRef> for ProviderListed {
    fn from(known: ProviderRef) -> ProviderListed {
        let ProviderRef { provider, version, digest, description, graphs, published_by, published_at } = known;
        let graphs = graphs.into_iter().map(|g| GraphListed { id: g.id, entries: g.entries }).collect();
        ProviderListed { id: provider, version, digest, description, graphs, published_by, published_at }
    }
}

/// Which version of a provider was asked.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct ProviderAsked {
    /// The provider's id.
    id: String,
    /// Its version.
    version: String,
    /// The digest of its bundle, sha256:….
    digest: String,
}

impl From<&PublishedProvider> for ProviderAsked {
    fn from(published: &PublishedProvider) -> ProviderAsked {
        let ProviderRef { provider, version, digest, .. } = published.reference.clone();
        ProviderAsked { id: provider, version, digest }
    }
}

/// A graph run, and what its graph allows next.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RunShown {
    /// The run.
    pub(super) run: Run,
    /// The provider it keeps.
    pub(super) provider: ProviderAsked,
    /// What can be done now.
    pub(super) evaluation: Evaluation,
}

/// A run as its tools show it.
pub(super) fn shown(read: GraphRun) -> Result<RunShown, store::Error> {
    let GraphRun { provider, run, .. } = read;
    let evaluated = graph::evaluate(&provider.provider, &run.graph, &run.entry, &run.state())?;
    Ok(RunShown { run, provider: ProviderAsked::from(&*provider), evaluation: evaluated.evaluation })
}

/// Which published version is meant.
///
/// # Errors
///
/// `invalid` when it is said twice.
pub(super) fn pin<'a>(version: Option<&'a str>, digest: Option<&'a str>) -> Result<Pin<'a>, Refusal> {
    match (version, digest) {
        (None, None) => Ok(Pin::Latest),
        (Some(version), None) => Ok(Pin::Version(version)),
        (None, Some(digest)) => Ok(Pin::Digest(digest)),
        (Some(_), Some(_)) => {
            let message = "A version and a digest both name one bundle. Give one of them, or neither for the latest.";
            Err(Refusal::new(Code::Invalid, message).issue("digest: not together with version"))
        }
    }
}

/// Paths are told as they stand in the bundle: the server has no folder of it that a caller could open.
pub(super) fn places() -> Places {
    Places { provider_root: String::new(), workspace: ".".to_owned() }
}
