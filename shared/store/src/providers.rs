//! Providers of agent-graph: published as bundles, immutable, each with its digest as its identity.
//!
//! A bundle's bytes never change once they are published, and they are held to the digest whenever they are read; so a
//! loaded Provider is kept in memory. What changes is which version is the latest.

mod bundle;
mod kept;
mod publish;

use std::sync::Arc;

use run::{Actor, Code, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, quoted};
use crate::files::Shown;
use crate::keys;
use crate::lists::read;
use crate::merge::merged;
use crate::store::Store;
use crate::work::{Position, bound, opened};

pub use bundle::BUNDLE_FILES;
pub(crate) use kept::Kept;

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
        let bound = bound("list_providers", org, actor, &Value::Null);
        let after = opened(self, &bound, cursor)?;
        let partition = [keys::providers_partition(org)];
        let keep = |item| Ok(Some(read::<ProviderRef>(item)?));
        let page = merged(self.table.as_ref(), &partition, after.as_deref(), false, limit, keep).await?;
        Ok((page.items, page.after.map(|after| self.seal.cursor(&bound, &Position { after }))))
    }

    /// A published version, verified against its digest before its first use in this process. One round, of no calls at
    /// all for a digest whose bundle is in memory; a bundle that is not there is read from the bucket in another.
    ///
    /// # Errors
    ///
    /// `not_found` when the organization has no such Provider or version.
    pub async fn provider(&self, org: &str, id: &str, pin: Pin<'_>) -> Result<Arc<PublishedProvider>, Error> {
        if let Pin::Digest(digest) = pin
            && let Some(kept) = self.providers.get(org, digest).filter(|kept| kept.reference.provider == id)
        {
            return Ok(kept);
        }
        let Some(reference) = self.provider_reference(org, id, pin).await? else {
            return Err(self.no_provider(org, id, pin).await?);
        };
        match self.providers.get(org, &reference.digest) {
            Some(kept) => Ok(kept),
            None => self.load_bundle(org, reference).await,
        }
    }

    /// What is known of a published version without its files.
    async fn provider_reference(&self, org: &str, id: &str, pin: Pin<'_>) -> Result<Option<ProviderRef>, Error> {
        let named = match pin {
            Pin::Latest => "",
            Pin::Version(text) | Pin::Digest(text) => text,
        };
        if id.is_empty() || !keys::storable(id) || !keys::storable(named) {
            return Ok(None);
        }
        let key = match pin {
            Pin::Latest => keys::listed_provider(org, id),
            Pin::Version(version) => keys::provider_version(org, id, version),
            Pin::Digest(digest) => keys::provider_digest(org, id, digest),
        };
        self.table.get(&[key]).await?.into_iter().flatten().next().map(read).transpose()
    }

    async fn no_provider(&self, org: &str, id: &str, pin: Pin<'_>) -> Result<Error, Error> {
        let (what, text) = match pin {
            Pin::Latest => ("", ""),
            Pin::Version(version) => ("version", version),
            Pin::Digest(digest) => ("bundle with the digest", digest),
        };
        let text = quoted(text);
        let latest = match pin {
            Pin::Latest => None,
            _ => self.provider_reference(org, id, Pin::Latest).await?,
        };
        let message = match latest {
            Some(latest) => format!("`{id}` has no {what} {text}; the latest version is {}.", latest.version),
            None => format!(
                "No Provider `{}` here. The tool list_providers and the command `procession provider list` name the published \
                 ones.",
                quoted(id)
            ),
        };
        Ok(Error::refused(Code::NotFound, message))
    }

    /// A link that opens a file of a bundle without credentials for a while. No call is made.
    ///
    /// # Errors
    ///
    /// `not_found` for a path that the bundle does not have.
    pub async fn provider_link(&self, org: &str, provider: &PublishedProvider, path: &str) -> Result<String, Error> {
        let Some(digest) = provider.provider.files.get(path) else {
            let message = format!("`{}` has no file `{path}`.", provider.reference.provider);
            return Err(Error::refused(Code::NotFound, message));
        };
        let file_name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let content_type = bundle::media_type(&provider.provider, path).to_owned();
        let shown = Shown { file_name, content_type };
        Ok(self.files.link(&keys::bundle_file_object(org, digest), &shown, self.settings.link).await?)
    }
}
