//! Loads everything that is reachable from a manifest, and refuses what does not hold together.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::digest::Digest;
use crate::documents::{Action, Bundle, CodeCatalog, CodeEntry, Graph, ProviderManifest, Resource};
use crate::failure::Failure;
use crate::source::Source;

/// A document with where it stands.
#[derive(Debug, Clone)]
pub struct Loaded<T> {
    /// Its path below the Provider root.
    pub path: String,
    /// The digest of the file's bytes.
    pub digest: Digest,
    /// What it says.
    pub value: T,
}

/// A Provider that was loaded: every reference in it leads somewhere.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The manifest. Its path is as it was given to [`load`].
    pub manifest: Loaded<ProviderManifest>,
    /// The Graphs by id.
    pub graphs: BTreeMap<String, Loaded<Graph>>,
    /// The Actions by path.
    pub actions: BTreeMap<String, Loaded<Action>>,
    /// The Resources by the path that Graphs name (the Markdown file or the descriptor).
    pub resources: BTreeMap<String, Loaded<Resource>>,
    /// The Skills that Actions name, by path, as the file Resources they become on a Route (`skill.<name>`).
    pub skills: BTreeMap<String, Loaded<Resource>>,
    /// The JSON Schemas that Actions name, by path.
    pub schemas: BTreeMap<String, Arc<serde_json::Value>>,
    /// The Code Catalog.
    pub catalog: Option<Loaded<CodeCatalog>>,
    /// Digest and size of every reachable file, by path; what a bundle holds (without its `manifest.json`).
    pub files: BTreeMap<String, Digest>,
    /// For each Graph, the paths of the files that it and the Graphs it enters depend on: what its revision is made of.
    pub closures: BTreeMap<String, Vec<String>>,
    /// For each Graph, the Graphs that its Subgraph nodes enter, sorted.
    pub dependencies: BTreeMap<String, Vec<String>>,
    /// The bundle's manifest, when this is one.
    pub bundle: Option<Bundle>,
}

impl Provider {
    /// The Provider's id.
    pub fn id(&self) -> &str {
        &self.manifest.value.id
    }

    /// The entry of the Code Catalog for a code.
    pub fn code(&self, code: &str) -> Option<&CodeEntry> {
        self.catalog.as_ref()?.value.codes.iter().find(|entry| entry.code == code)
    }
}

/// Loads a Provider from its manifest, or a bundle from its `manifest.json`, at this path of the source.
///
/// # Errors
///
/// The stable codes of everything that can be wrong with a Provider; of all faults of one kind at once.
pub fn load(source: &dyn Source, manifest: &str) -> Result<Provider, Failure> {
    let _ = (source, manifest);
    todo!()
}
