//! `locate_resource`: where a resource of a provider is.

use async_trait::async_trait;
use graph::documents::ResourceLocation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graphs::{ProviderAsked, pin, places, refused};
use super::{Call, Tool};

pub(crate) struct LocateResource;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The provider's id.
    provider: String,
    /// Its version; the latest when this and digest are left out.
    #[serde(default)]
    #[schemars(with = "String")]
    version: Option<String>,
    /// The same by the bundle's digest, sha256:…, as routes and graph runs show it.
    #[serde(default)]
    #[schemars(with = "String")]
    digest: Option<String>,
    /// The resource's id, or its path in the bundle.
    id: String,
}

/// Where a resource is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Located {
    /// The provider that was asked.
    provider: ProviderAsked,
    /// Its location; a file's path is the one it has in the bundle.
    location: ResourceLocation,
    /// Of a file: opens its bytes without a token, for some minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Of a file: the digest of its bytes, sha256:….
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

#[async_trait]
impl Tool for LocateResource {
    const NAME: &'static str = "locate_resource";
    const TITLE: &'static str = "Locate a resource";
    const DESCRIPTION: &'static str = "Tells where a resource of a provider is. A file: a url that opens its bytes for some \
        minutes, their digest to hold them to, and its path in the bundle. Anything else: the action or the host's handler \
        that makes it. Give the provider's digest as the route showed it, so that you read the version you act on.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Located;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Located, store::Error> {
        let Arguments { provider, version, digest, id } = arguments;
        let pin = pin(version.as_deref(), digest.as_deref())?;
        let published = call.store.provider(call.org(), &provider, pin).await?;
        let location = graph::locate(&published.provider, &places(), &id).map_err(refused)?;
        let (url, digest) = match &location {
            ResourceLocation::File(file) => {
                let url = call.store.provider_link(call.org(), &published, &file.file_path).await?;
                (Some(url), Some(file.digest.clone()))
            }
            ResourceLocation::GraphAction(_) | ResourceLocation::HostAction(_) => (None, None),
        };
        Ok(Located { provider: ProviderAsked::from(&*published), location, url, digest })
    }
}
