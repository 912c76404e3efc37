//! A bundle as one object: checked before it is stored, and again whenever it is read.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use graph::documents::{Bundle, Resource};
use run::{Code, Refusal};
use serde_json::{Map, Value};

use super::{ProviderRef, PublishedProvider};
use crate::error::Error;
use crate::keys;
use crate::store::Store;

/// Most files of a bundle that is published here: each is an object of its own as well.
pub const BUNDLE_FILES: usize = 1_000;

/// The path of a bundle's manifest.
pub(super) const MANIFEST: &str = "manifest.json";

/// A bundle that holds together.
pub(super) struct Checked {
    pub(super) provider: graph::Provider,
    pub(super) bundle: Bundle,
    /// The files, the manifest in its one spelling: what is stored follows from the digest alone.
    pub(super) files: BTreeMap<String, Arc<[u8]>>,
}

/// Holds the files of a bundle together.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn checked(files: BTreeMap<String, Vec<u8>>) -> Result<Checked, graph::Failure> {
    if !files.contains_key(MANIFEST) {
        let said = format!("there is no {MANIFEST}: publish every file of the folder that `agent-graph build` writes");
        return Err(graph::Failure::new("file-missing", said));
    }
    let mut source = graph::Memory(files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect());
    // No file that the bundle does not list is among them either: what is stored follows from the digest.
    let mut provider = graph::load(&source, MANIFEST)?;
    let Some(bundle) = provider.bundle.take() else {
        return Err(graph::Failure::new(
            "bundle-invalid",
            "these files are no built bundle: build the Provider first, with `agent-graph build`",
        ));
    };
    let manifest = serde_json::to_value(&bundle).unwrap_or_default();
    source.0.insert(MANIFEST.to_owned(), run::canonical(&manifest).into_bytes().into());
    provider.bundle = Some(bundle.clone());
    Ok(Checked { provider, bundle, files: source.0 })
}

/// The one object that a bundle is stored as: canonical JSON, paths to bytes in base64.
pub(super) fn packed(files: &BTreeMap<String, Arc<[u8]>>) -> Vec<u8> {
    let text = |bytes: &Arc<[u8]>| Value::String(STANDARD.encode(bytes));
    let files: Map<String, Value> = files.iter().map(|(path, bytes)| (path.clone(), text(bytes))).collect();
    run::canonical(&Value::Object(files)).into_bytes()
}

fn unpacked(object: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let files: BTreeMap<String, String> = serde_json::from_slice(object).ok()?;
    files.into_iter().map(|(path, text)| Some((path, STANDARD.decode(text).ok()?))).collect()
}

/// Why so many files of so many bytes are not taken.
pub(super) fn too_large(files: &BTreeMap<String, Vec<u8>>, most_bytes: usize) -> Option<Refusal> {
    let bytes: usize = files.values().map(Vec::len).sum();
    let mut issues = Vec::new();
    if files.len() > BUNDLE_FILES {
        issues.push(format!("files: {} files, at most {BUNDLE_FILES}", files.len()));
    }
    if bytes > most_bytes {
        issues.push(format!("files: {bytes} bytes, at most {most_bytes}"));
    }
    let message = "This bundle is too large to be published. Leave out what no Graph needs, or split the Provider.";
    (!issues.is_empty()).then(|| Refusal::new(Code::Invalid, message).issues(issues))
}

/// The media type that a file of a Provider is shown with: what its Resource says, or what its name does.
pub(super) fn media_type<'a>(provider: &'a graph::Provider, path: &str) -> &'a str {
    let said = provider.resources.values().chain(provider.skills.values()).find_map(|loaded| match &loaded.value {
        Resource::File(file) if file.path == path => Some(file.media_type.as_str()),
        _ => None,
    });
    said.unwrap_or_else(|| match path.rsplit_once('.').map(|(_, end)| end) {
        Some("md") => "text/markdown; charset=utf-8",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    })
}

impl Store {
    /// Reads a published bundle and keeps it in memory.
    ///
    /// # Errors
    ///
    /// [`Error::Invariant`] when the stored bytes are not those that were published.
    pub(super) async fn load_bundle(&self, org: &str, reference: ProviderRef) -> Result<Arc<PublishedProvider>, Error> {
        let object = self.files.get(&keys::bundle_object(org, &reference.digest)).await?;
        let altered = |why: &str| {
            let ProviderRef { provider, version, digest, .. } = &reference;
            Error::Invariant(format!("the stored bundle {digest} of {provider} {version} {why}"))
        };
        let object = object.ok_or_else(|| altered("is gone"))?;
        let bytes = object.len();
        let files = unpacked(&object).ok_or_else(|| altered("was altered: it is no bundle any more"))?;
        let checked = checked(files).map_err(|failure| altered(&format!("was altered: {failure}")))?;
        let (id, version) = (&checked.bundle.provider.id, &checked.bundle.provider.version);
        if checked.bundle.digest != reference.digest || *id != reference.provider || *version != reference.version {
            return Err(altered("was altered: it is another one"));
        }
        let published = Arc::new(PublishedProvider { reference, provider: checked.provider });
        self.providers.keep(org, Arc::clone(&published), bytes);
        Ok(published)
    }
}
