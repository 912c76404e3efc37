//! A bundle that is loaded is what was built, or it is refused.
//!
//! [`intact`] holds the bytes to the manifest before any of them is read as a document; [`told`] holds the manifest to
//! what the loaded documents say, so that one whose digests were made anew is refused as well; [`alone`] finds what was added
//! to its folder.

use std::collections::{BTreeMap, BTreeSet};

use super::{Catalogs, dependencies, manifest_digest};
use crate::digest::digest_bytes;
use crate::documents::{Bundle, BundleEntry};
use crate::failure::Failure;
use crate::faults::Faults;
use crate::limits::PROVIDER_FILES;
use crate::load::Provider;
use crate::locate::tidy;
use crate::source::Source;

const FILES: &str = "bundle-files-mismatch";
const CATALOG: &str = "bundle-catalog-mismatch";
const CHANGED: &str = "bundle-file-digest-mismatch";
const OTHER_BYTES: &str = "it is not the file that was bundled: its digest is another";

/// Holds the files of a bundle to its manifest, and the manifest to its own digest.
///
/// # Errors
///
/// `bundle-digest-mismatch`, `bundle-invalid`, `bundle-file-duplicate`, `bundle-file-digest-mismatch`, `file-missing`,
/// `bundle-catalog-mismatch`, `bundle-provider-unlisted`, and what reading can come to.
pub(crate) fn intact(source: &dyn Source, bundle: &Bundle) -> Result<(), Failure> {
    let digest = manifest_digest(bundle);
    if digest != bundle.digest {
        let said = format!("the bundle's manifest was changed: it says digest {}, but it has {digest}", bundle.digest);
        return Err(Failure::new("bundle-digest-mismatch", said));
    }
    if bundle.files.len() > PROVIDER_FILES {
        let said = format!("the bundle lists {} files; a Provider may have {PROVIDER_FILES}", bundle.files.len());
        return Err(Failure::new("bundle-invalid", said));
    }
    let (mut odd, mut twice) = (Faults::default(), Faults::default());
    let mut listed = BTreeMap::new();
    for file in &bundle.files {
        if tidy(&file.path) != file.path || file.path.starts_with("../") || file.path == super::BUNDLE_MANIFEST {
            odd.say("bundle-invalid", &file.path, "the bundle lists it, but it is no path of a bundled file");
        }
        if listed.insert(file.path.as_str(), file.digest.as_str()).is_some() {
            twice.say("bundle-file-duplicate", &file.path, "the bundle lists it more than once");
        }
    }
    odd.done()?;
    twice.done()?;

    let (mut gone, mut changed) = (Faults::default(), Faults::default());
    for (path, digest) in &listed {
        match source.read(path)? {
            None => gone.say("file-missing", *path, "the bundle lists it, but there is no such file"),
            Some(bytes) if digest_bytes(&bytes) != **digest => changed.say(CHANGED, *path, OTHER_BYTES),
            Some(_) => {}
        }
    }
    gone.done()?;
    changed.done()?;
    let mut strange = Faults::default();
    for entry in [&bundle.graphs, &bundle.actions, &bundle.resources, &bundle.schemas].into_iter().flatten() {
        if listed.get(entry.path.as_str()) != Some(&entry.digest.as_str()) {
            let said = format!("the bundle lists {} there, but no such file with that digest", entry.id);
            strange.say(CATALOG, &entry.path, said);
        }
    }
    strange.done()?;

    if listed.contains_key(bundle.provider_manifest.as_str()) {
        return Ok(());
    }
    let said = format!("the bundle does not list its Provider manifest {}", bundle.provider_manifest);
    Err(Failure::new("bundle-provider-unlisted", said))
}

/// Holds that the folder of a bundle has nothing in it but what the manifest at this path lists: what is started from the
/// bundle finds whatever lies there.
///
/// # Errors
///
/// `bundle-files-mismatch`, and what listing can come to.
pub(crate) fn alone(source: &dyn Source, manifest: &str, bundle: &Bundle) -> Result<(), Failure> {
    let listed: BTreeSet<&str> = bundle.files.iter().map(|file| file.path.as_str()).chain([manifest]).collect();
    let mut faults = Faults::default();
    for path in source.list("")?.iter().filter(|path| !listed.contains(path.as_str())) {
        faults.say(FILES, path, "it is in the folder of the bundle, which does not list it: take it out of there");
    }
    faults.done()
}

/// Holds a loaded Provider to the bundle manifest that it came with. The bytes were held to it by [`intact`].
///
/// # Errors
///
/// `bundle-provider-mismatch`, `bundle-catalog-mismatch`, `bundle-files-mismatch`, `bundle-file-digest-mismatch`,
/// `bundle-dependencies-mismatch`.
pub(crate) fn told(provider: &Provider, bundle: &Bundle) -> Result<(), Failure> {
    let manifest = &provider.manifest.value;
    if (&bundle.provider.id, &bundle.provider.version) != (&manifest.id, &manifest.version) {
        let said = format!(
            "the bundle says that it is {} {}, but its Provider manifest is of {} {}",
            bundle.provider.id, bundle.provider.version, manifest.id, manifest.version
        );
        return Err(Failure::new("bundle-provider-mismatch", said));
    }
    catalogs(provider, bundle)?;
    files(provider, bundle)?;
    entered(provider, bundle)
}

fn catalogs(provider: &Provider, bundle: &Bundle) -> Result<(), Failure> {
    let reached = Catalogs::of(provider)?;
    let mut faults = Faults::default();
    for (what, listed, reached) in [
        ("graphs", &bundle.graphs, &reached.graphs),
        ("actions", &bundle.actions, &reached.actions),
        ("resources", &bundle.resources, &reached.resources),
        ("schemas", &bundle.schemas, &reached.schemas),
    ] {
        // Counted, so that an entry twice is one too many.
        let mut count: BTreeMap<(&str, &str, &str), i64> = BTreeMap::new();
        for (entries, one) in [(listed, 1), (reached, -1)] {
            for BundleEntry { id, path, digest } in entries {
                *count.entry((id, path, digest)).or_default() += one;
            }
        }
        for ((id, path, _), count) in count.into_iter().filter(|(_, count)| *count != 0) {
            let said = match count {
                1.. => format!("the bundle lists {id} in {what}, which its Provider does not reach"),
                _ => format!("the Provider reaches {id}, which the bundle does not list in {what}"),
            };
            faults.say(CATALOG, path, said);
        }
    }
    faults.done()
}

fn files(provider: &Provider, bundle: &Bundle) -> Result<(), Failure> {
    let (mut faults, mut changed) = (Faults::default(), Faults::default());
    let listed: BTreeMap<&str, &str> = bundle.files.iter().map(|f| (f.path.as_str(), f.digest.as_str())).collect();
    for (path, digest) in &listed {
        match provider.files.get(*path) {
            None => faults.say(FILES, *path, "the bundle lists it, but its Provider does not need it"),
            Some(loaded) if loaded != digest => changed.say(CHANGED, *path, OTHER_BYTES),
            Some(_) => {}
        }
    }
    for path in provider.files.keys().filter(|path| !listed.contains_key(path.as_str())) {
        faults.say(FILES, path, "the Provider needs it, but the bundle does not list it");
    }
    faults.done()?;
    changed.done()
}

fn entered(provider: &Provider, bundle: &Bundle) -> Result<(), Failure> {
    let sorted = |ids: &Vec<String>| ids.iter().cloned().collect::<BTreeSet<String>>().into_iter().collect();
    let listed: BTreeMap<String, Vec<String>> =
        bundle.graph_dependencies.iter().map(|(graph, ids)| (graph.clone(), sorted(ids))).collect();
    let is = dependencies(provider);
    let mut faults = Faults::default();
    for graph in listed.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
        let shown = |of: &BTreeMap<String, Vec<String>>| of.get(graph).map(|ids| ids.join(", "));
        let (listed, is) = (shown(&listed), shown(&is));
        if listed != is {
            let said = match (listed, is) {
                (Some(listed), Some(is)) => format!("the bundle says that Graph {graph} enters [{listed}], not [{is}]"),
                (None, _) => format!("the bundle does not say what Graph {graph} enters"),
                (_, None) => format!("the bundle says what Graph {graph} enters, but there is no such Graph"),
            };
            faults.say("bundle-dependencies-mismatch", "graphDependencies", said);
        }
    }
    faults.done()
}
