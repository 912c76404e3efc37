//! `locate_resource`: where a resource of a provider is, or any other file of its bundle.

use async_trait::async_trait;
use graph::documents::{Resource, ResourceLocation};
use run::{Code, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graphs::{ProviderAsked, pin, places};
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
    /// The resource's id, or the path of any file in the bundle: an action's, a script's.
    id: String,
}

/// Where a resource is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Located {
    /// The provider that was asked.
    provider: ProviderAsked,
    /// The resource's location; not there for a file that is no resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResourceLocation")]
    location: Option<ResourceLocation>,
    /// The path of the file in the bundle; of a resource that an action makes, the path of that action.
    path: String,
    /// Opens the bytes of that file without a token, for some minutes.
    url: String,
    /// The digest of those bytes, sha256:….
    digest: String,
}

#[async_trait]
impl Tool for LocateResource {
    const NAME: &'static str = "locate_resource";
    const TITLE: &'static str = "Locate a resource";
    const DESCRIPTION: &'static str = "Tells where a resource of a provider is, or any file of its bundle by path: a url that \
        opens its bytes for some minutes, their digest to hold them to, and its path in the bundle. What an action makes is \
        not there yet, and the server makes nothing: the file is that action, which names the command, or the script and \
        runtime; fetch the script by its path, run it yourself, and what it writes is the resource. For a host action the \
        location says which handler of yours makes it, and from what. Give the provider's digest as the route showed it, so that you read the version you act on.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Located;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Located, store::Error> {
        let Arguments { provider, version, digest, id } = arguments;
        let pin = pin(version.as_deref(), digest.as_deref())?;
        let published = call.store.provider(call.org(), &provider, pin).await?;
        let known = &published.provider;
        let (location, path) = match graph::locate(known, &places(), &id) {
            Ok(location) => {
                let path = file(known, &location);
                (Some(location), path)
            }
            Err(_) if known.files.contains_key(&id) => (None, id),
            Err(failure) => return Err(failure.into()),
        };
        let Some(digest) = known.files.get(&path).cloned() else {
            let message = format!("The provider `{provider}` has no file `{path}` that makes the resource.");
            return Err(Refusal::new(Code::NotFound, message).into());
        };
        let url = call.store.provider_link(call.org(), &published, &path).await?;
        Ok(Located { provider: ProviderAsked::from(&*published), location, path, url, digest })
    }
}

/// The path of the file that a resource is, or of the action that makes it.
fn file(provider: &graph::Provider, location: &ResourceLocation) -> String {
    if let ResourceLocation::File(file) = location {
        return file.file_path.clone();
    }
    let made = provider.resources.values().find(|known| known.value.id() == location.id());
    match made.map(|known| &known.value) {
        Some(Resource::GraphAction(made)) => made.materializer.clone(),
        Some(Resource::HostAction(made)) => made.materializer.clone(),
        Some(Resource::File(_)) | None => String::new(),
    }
}
