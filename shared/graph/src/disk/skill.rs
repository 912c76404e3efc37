//! The files of a Skill's binding: the `SKILL.md`, the registry, and the Provider that they lead to.

use std::fs;
use std::path::{Path, PathBuf};

use super::Disk;
use crate::bundle::BUNDLE_MANIFEST;
use crate::documents::SkillBinding;
use crate::failure::Failure;
use crate::limits::FILE_BYTES;
use crate::load::{Provider, load};
use crate::skill::{Locator, Registry, SkillClaim};

/// A Skill's binding with the Provider that it leads to.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The binding.
    pub binding: SkillBinding,
    /// The Provider.
    pub provider: Provider,
    /// Its files.
    pub disk: Disk,
}

/// Resolves the binding of a `SKILL.md`, with the registry of the host where it names a Provider by its id.
///
/// # Errors
///
/// `file-missing`, `file-read-failed`, the codes of [`SkillClaim`] and [`Registry`], and those of loading the Provider.
pub fn bind(skill: &Path, registry: Option<&Path>) -> Result<Bound, Failure> {
    let (skill_path, bytes) = read(skill)?;
    let claim = SkillClaim::of(&skill_path, &bytes)?;
    let beside = |file: &Path, path: &str| file.parent().unwrap_or(Path::new("")).join(path);
    let manifest = match claim.locator()? {
        Locator::Path(path) => in_bundle(beside(skill, &path)),
        Locator::Provider(id) => {
            let Some(registry) = registry else {
                let message = format!("the Skill names the Provider `{id}` by its id; name a registry that has it");
                return Err(Failure::new("provider-unresolved", message));
            };
            let (registry_path, bytes) = read(registry)?;
            beside(registry, Registry::of(&registry_path, &bytes)?.manifest(&id)?)
        }
    };
    let (disk, name) = Disk::of(&manifest)?;
    let provider = load(&disk, &name)?;
    let binding = claim.bound(&provider, &skill_path, &disk.folder().join(name).to_string_lossy())?;
    Ok(Bound { binding, provider, disk })
}

/// The manifest at this path. A bundle has its own manifest in the place of one that had another name.
fn in_bundle(manifest: PathBuf) -> PathBuf {
    let bundle = manifest.with_file_name(BUNDLE_MANIFEST);
    if !manifest.exists() && bundle.is_file() { bundle } else { manifest }
}

/// A file that is no part of a Provider, with its absolute path.
fn read(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let shown = path.display();
    let about = fs::metadata(path).ok();
    if about.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(super::is_folder(path));
    }
    let about = about.filter(fs::Metadata::is_file);
    let about = about.ok_or_else(|| Failure::new("file-missing", format!("there is no file {shown}")))?;
    if about.len() > FILE_BYTES as u64 {
        let message = format!("{shown} has {} bytes; a file may have {FILE_BYTES}", about.len());
        return Err(Failure::new("file-read-failed", message));
    }
    let unreadable = |error| Failure::new("file-read-failed", format!("cannot read {shown}: {error}"));
    let absolute = fs::canonicalize(path).map_err(unreadable)?;
    let bytes = fs::read(path).map_err(unreadable)?;
    Ok((absolute.to_string_lossy().into_owned(), bytes))
}
