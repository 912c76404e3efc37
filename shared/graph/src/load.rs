//! Loads everything that is reachable from a manifest, and refuses what does not hold together.
//!
//! Three phases: the manifest; the Code Catalog and the Graphs; and what these refer to. A phase tells all of its faults at
//! once, the first of them gives the refusal its code, and the next phase begins only without any. Nothing recurses over
//! what a Provider says. Every path in a loaded document is normal: what two documents name alike is one file.

mod closure;
mod files;
mod front;
mod parts;
mod rules;
mod structure;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::digest::Digest;
use crate::documents::{Action, Bundle, CodeCatalog, CodeEntry, Graph, ProviderManifest, Resource};
use crate::failure::Failure;
use crate::schemas;
use crate::source::Source;
use files::normal;
pub(crate) use front::frontmatter;
use parts::Parts;

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
    /// The manifest. Its path is as it was given to [`load`]; of a bundle, as the bundle gives it.
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
    pub schemas: BTreeMap<String, Arc<Value>>,
    /// The Code Catalog.
    pub catalog: Option<Loaded<CodeCatalog>>,
    /// Digest of every reachable file, by path; what a bundle holds (without its `manifest.json`).
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
    let mut parts = Parts::new(source);
    let (path, bytes, value) = opened(&mut parts, manifest)?;
    if value.get("schema").and_then(Value::as_str) != Some("agent-graph.bundle.v1") {
        return loaded(parts, path, &bytes, &value);
    }
    let bundle: Bundle = schemas::valid("bundle", &path, &value)?;
    crate::bundle::intact(source, &bundle)?;
    // The bundle's own manifest is no file of the Provider.
    let own = path;
    let mut parts = Parts::new(source);
    let (path, bytes, value) = opened(&mut parts, &bundle.provider_manifest)?;
    let mut provider = loaded(parts, path, &bytes, &value)?;
    crate::bundle::told(&provider, &bundle)?;
    crate::bundle::alone(source, &own, &bundle)?;
    provider.bundle = Some(bundle);
    Ok(provider)
}

/// The manifest's path, its bytes and what they say.
fn opened(parts: &mut Parts<'_>, manifest: &str) -> Result<(String, Arc<[u8]>, Value), Failure> {
    let path = normal(manifest)?;
    let bytes = parts.files.read(&path)?;
    let value = schemas::parse(&path, &bytes)?;
    Ok((path, bytes, value))
}

/// Everything from the manifest on.
fn loaded(mut parts: Parts<'_>, path: String, bytes: &[u8], value: &Value) -> Result<Provider, Failure> {
    let mut manifest: ProviderManifest = schemas::valid("provider", &path, value)?;
    let digest = crate::digest::digest_bytes(bytes);

    let codes = manifest.catalogs.as_mut().and_then(|catalogs| catalogs.codes.as_mut());
    let catalog = codes.and_then(|codes| parts.catalog(&format!("{path}#/catalogs/codes"), codes));
    let mut graphs = BTreeMap::new();
    let mut order = Vec::new();
    for (index, reference) in manifest.graphs.iter_mut().enumerate() {
        let Some(graph) = parts.graph(&format!("{path}#/graphs/{index}"), reference) else { continue };
        let id = graph.value.id.clone();
        if let Some(Loaded { path: first, .. }) = graphs.get(&id) {
            let message =
                format!("the id `{id}` is that of {first} as well; Graphs of one Provider differ in their ids");
            parts.faults.say("graph-id-duplicate", graph.path, message);
            continue;
        }
        order.push(id.clone());
        graphs.insert(id, graph);
    }
    let mut parts = parts.checked()?;

    let uses = rules::references(&mut parts, &mut graphs, &order);
    rules::recursion(&mut parts, &graphs, &order, &uses);
    rules::reasons(&mut parts, &graphs, &order, catalog.as_ref());
    rules::materializers(&mut parts);
    let parts = parts.checked()?;

    let closures = closure::closures(&parts, &graphs, &uses);
    let dependencies = uses.into_iter().map(|(id, uses)| (id, uses.graphs.into_iter().collect())).collect();
    Ok(Provider {
        manifest: Loaded { path, digest, value: manifest },
        graphs,
        actions: parts.actions,
        resources: parts.resources,
        skills: parts.skills,
        schemas: parts.schemas.into_iter().map(|(path, schema)| (path, schema.value)).collect(),
        catalog,
        files: parts.files.digests,
        closures,
        dependencies,
        bundle: None,
    })
}
