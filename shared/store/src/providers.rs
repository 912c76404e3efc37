//! Providers of agent-graph: published as bundles, immutable, each with its digest as its identity.

use std::collections::BTreeMap;
use std::sync::Arc;

use run::{Actor, Time};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::Request;
use crate::store::Store;

/// A published version of a Provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRef {
    /// The Provider's id.
    pub provider: String,
    /// Its version.
    pub version: String,
    /// The digest of its bundle: `sha256:` and 64 hex digits.
    pub digest: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its Graphs, by id.
    pub graphs: Vec<GraphListed>,
    /// Who published it.
    pub published_by: String,
    /// When.
    pub published_at: Time,
}

/// A Graph of a published Provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GraphListed {
    /// Its id.
    pub id: String,
    /// The names of its entries, sorted.
    pub entries: Vec<String>,
}

/// A published version, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct PublishedProvider {
    /// What is known of it without its files.
    pub reference: ProviderRef,
    /// The loaded bundle.
    pub provider: graph::Provider,
}

/// Which published version of a Provider is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin<'a> {
    /// The highest version by semantic versioning, a release before any pre-release.
    Latest,
    /// This version.
    Version(&'a str),
    /// The version whose bundle has this digest.
    Digest(&'a str),
}

impl Store {
    /// Publishes a bundle: its files by path, `manifest.json` among them. The same bundle again answers the first reference.
    ///
    /// # Errors
    ///
    /// `invalid` with an issue a fault for a bundle that does not load, is too large, or is no bundle; `conflict` with the
    /// issue `version_published` when the version was published with another digest.
    pub async fn publish_provider(
        &self,
        request: &Request<'_>,
        files: BTreeMap<String, Vec<u8>>,
    ) -> Result<ProviderRef, Error> {
        let _ = (request, files);
        todo!()
    }

    /// A page of published Providers, by id, each in its latest version.
    ///
    /// # Errors
    ///
    /// `invalid` for a cursor that this list did not return to this caller.
    pub async fn list_providers(
        &self,
        org: &str,
        actor: &Actor,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<(Vec<ProviderRef>, Option<String>), Error> {
        let _ = (org, actor, limit, cursor);
        todo!()
    }

    /// A published version, verified against its digest before its first use in this process.
    ///
    /// # Errors
    ///
    /// `not_found` when the organization has no such Provider or version.
    pub async fn provider(&self, org: &str, id: &str, pin: Pin<'_>) -> Result<Arc<PublishedProvider>, Error> {
        let _ = (org, id, pin);
        todo!()
    }

    /// A link that opens a file of a bundle without credentials for a while. No call is made.
    ///
    /// # Errors
    ///
    /// `not_found` for a path that the bundle does not have.
    pub async fn provider_link(&self, org: &str, provider: &PublishedProvider, path: &str) -> Result<String, Error> {
        let _ = (org, provider, path);
        todo!()
    }
}
