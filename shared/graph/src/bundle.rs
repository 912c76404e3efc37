//! Bundles: deterministic, relocatable, complete (section-run).
//!
//! A bundle is the reachable files of a Provider as they are, its manifest in one normal form, and `manifest.json`, which
//! lists them with their digests. Nothing in it says where or when it was built, so the same Provider gives the same bytes
//! anywhere, and a bundle built again gives itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::digest::{Digest, digest_bytes, digest_value};
use crate::documents::{
    Bundle, BundleEntry, BundleFile, BundleProvider, BundleSchema, FileResource, Resource, ResourceKind,
};
use crate::failure::Failure;
use crate::faults::Faults;
use crate::load::{Provider, load};
use crate::locate::{Way, at, tidy};
use crate::source::{Memory, Source};

mod normal;
mod verify;

pub(crate) use verify::{alone, intact, told};

/// The name of a bundle's own manifest.
pub const BUNDLE_MANIFEST: &str = "manifest.json";

/// The name of the Provider manifest in a bundle.
pub const PROVIDER_MANIFEST: &str = "provider.yaml";

/// A bundle in memory.
#[derive(Debug, Clone)]
pub struct BuiltBundle {
    /// Its manifest.
    pub manifest: Bundle,
    /// Its files by path, `manifest.json` and the normalized `provider.yaml` included.
    pub files: BTreeMap<String, Arc<[u8]>>,
}

/// Builds the bundle of a loaded Provider.
///
/// # Errors
///
/// `build-absolute-path-leak`, `bundle-invalid` (a file of the Provider stands where the bundle's own would), and what
/// reading can come to.
pub fn build(source: &dyn Source, provider: &Provider) -> Result<BuiltBundle, Failure> {
    let mut files = copied(source, provider)?;
    let normal = normal::yaml(&provider.manifest.value);
    files.insert(PROVIDER_MANIFEST.to_owned(), Arc::from(normal.into_bytes()));
    relocatable(source, &files)?;

    let catalogs = Catalogs::of(provider)?;
    let mut manifest = Bundle {
        schema: BundleSchema::V1,
        provider: BundleProvider {
            id: provider.manifest.value.id.clone(),
            version: provider.manifest.value.version.clone(),
        },
        provider_manifest: PROVIDER_MANIFEST.to_owned(),
        graphs: catalogs.graphs,
        actions: catalogs.actions,
        resources: catalogs.resources,
        schemas: catalogs.schemas,
        files: files.iter().map(|(path, b)| BundleFile { path: path.clone(), digest: digest_bytes(b) }).collect(),
        graph_dependencies: dependencies(provider),
        digest: String::new(),
    };
    manifest.digest = manifest_digest(&manifest);
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Failure::new("bundle-invalid", format!("the bundle's manifest has no JSON form: {error}")))?;
    files.insert(BUNDLE_MANIFEST.to_owned(), Arc::from((text + "\n").into_bytes()));

    // What cannot be loaded is never handed out.
    load(&Memory(files.clone()), BUNDLE_MANIFEST)?;
    Ok(BuiltBundle { manifest, files })
}

/// Refuses an output folder that would take the place of the Provider's own files, or become one of them: the root, a folder
/// above a file that the bundle is made from, or a folder in a Skill's own directory, which is packaged whole. Both paths
/// are absolute and without links.
///
/// # Errors
///
/// `build-output-overlaps-source`.
pub fn refuse_overlap(provider: &Provider, root: &Path, output: &Path) -> Result<(), Failure> {
    let refuse = |what: String| {
        let said = format!("the bundle cannot be written to {}: {what}; choose another folder", output.display());
        Err(Failure::new("build-output-overlaps-source", said))
    };
    if root.starts_with(output) {
        return refuse(format!("the Provider in {} would be replaced", root.display()));
    }
    if let Some(path) = provider.files.keys().find(|path| root.join(path).starts_with(output)) {
        return refuse(format!("{path} of the Provider would be replaced"));
    }
    let folders = provider.skills.keys().filter_map(|path| Path::new(path).parent());
    match folders.filter(|folder| !folder.as_os_str().is_empty()).find(|folder| output.starts_with(root.join(folder))) {
        Some(folder) => refuse(format!("it would become a part of the Skill in {}", folder.display())),
        None => Ok(()),
    }
}

/// The reachable files but the manifest, as they were loaded.
fn copied(source: &dyn Source, provider: &Provider) -> Result<BTreeMap<String, Arc<[u8]>>, Failure> {
    let mut own: BTreeSet<String> = BTreeSet::from([tidy(&provider.manifest.path)]);
    own.extend(provider.bundle.iter().map(|bundle| tidy(&bundle.provider_manifest)));
    let mut files = BTreeMap::new();
    for (path, digest) in provider.files.iter().filter(|(path, _)| !own.contains(*path)) {
        if path == BUNDLE_MANIFEST || path == PROVIDER_MANIFEST {
            let said =
                format!("{path} is a file of the Provider, but the bundle's own {path} must stand there: rename it");
            return Err(Failure::new("bundle-invalid", said));
        }
        let bytes = source.read(path)?.ok_or_else(|| Failure::new("file-missing", format!("{path} is gone")))?;
        if digest_bytes(&bytes) != *digest {
            let said = format!("{path} was changed while the bundle was built; build again");
            return Err(Failure::new("file-read-failed", said));
        }
        files.insert(path.clone(), bytes);
    }
    Ok(files)
}

/// Refuses files that say where the Provider stands on this machine.
fn relocatable(source: &dyn Source, files: &BTreeMap<String, Arc<[u8]>>) -> Result<(), Failure> {
    // Everything absolute contains `/`, so a Provider that stands there has no place to give away.
    let roots: Vec<&String> = source.roots().iter().filter(|root| root.len() > 1).collect();
    let within = |bytes: &[u8], root: &str| bytes.windows(root.len()).any(|part| part == root.as_bytes());
    let leaks = files.iter().filter(|(_, bytes)| roots.iter().any(|root| within(bytes, root)));
    let mut faults = Faults::default();
    for (path, _) in leaks {
        let said =
            "it contains the absolute path of its Provider, and a bundle must work anywhere: name files relative to it";
        faults.say("build-absolute-path-leak", path, said);
    }
    faults.done()
}

/// What a bundle's manifest lists beside the files.
struct Catalogs {
    graphs: Vec<BundleEntry>,
    actions: Vec<BundleEntry>,
    resources: Vec<BundleEntry>,
    schemas: Vec<BundleEntry>,
}

impl Catalogs {
    /// Sorted by id, the schemas by path: a schema's id is its path, unless a Resource gives it one.
    fn of(provider: &Provider) -> Result<Catalogs, Failure> {
        let entry = |id: &str, path: &str| {
            let path = tidy(path);
            let digest = at(&provider.files, &path).cloned();
            let digest = digest.ok_or_else(|| Failure::new("file-missing", format!("{path} was not loaded")))?;
            Ok(BundleEntry { id: id.to_owned(), path, digest })
        };
        let mut schemas = BTreeMap::new();
        for action in provider.actions.values() {
            for path in [Way::Input, Way::Output].into_iter().filter_map(|way| way.path(&action.value)) {
                schemas.insert(tidy(path), tidy(path));
            }
        }
        for resource in provider.resources.values() {
            if let Resource::File(FileResource { kind: ResourceKind::Schema, id, path, .. }) = &resource.value {
                schemas.insert(tidy(path), id.clone());
            }
        }
        let sorted = |entries: Result<Vec<BundleEntry>, Failure>| {
            entries.map(|mut entries| {
                entries.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
                entries
            })
        };
        Ok(Catalogs {
            graphs: sorted(provider.graphs.values().map(|g| entry(&g.value.id, &g.path)).collect())?,
            actions: sorted(provider.actions.values().map(|a| entry(&a.value.id, &a.path)).collect())?,
            resources: sorted(provider.resources.values().map(|r| entry(r.value.id(), &r.path)).collect())?,
            schemas: schemas.iter().map(|(path, id)| entry(id, path)).collect::<Result<_, Failure>>()?,
        })
    }
}

/// For each Graph the Graphs that it enters, sorted.
fn dependencies(provider: &Provider) -> BTreeMap<String, Vec<String>> {
    let of = |graph: &String| {
        let entered: BTreeSet<&String> = provider.dependencies.get(graph).into_iter().flatten().collect();
        entered.into_iter().cloned().collect()
    };
    provider.graphs.keys().map(|graph| (graph.clone(), of(graph))).collect()
}

/// The digest of everything that a manifest says beside it.
fn manifest_digest(manifest: &Bundle) -> Digest {
    let mut said = serde_json::to_value(manifest).unwrap_or_default();
    if let Value::Object(fields) = &mut said {
        fields.remove("digest");
    }
    digest_value(&said)
}
