//! `agent-graph build`: the bundle of a Provider.
//!
//! A bundle is written beside its place and put there in one step. What is there already is only ever replaced when it is a
//! bundle of the same Provider and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use graph::documents::Bundle;
use graph::{BuiltBundle, Failure};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::call::{Done, Global, Opened};
use crate::files::{self, Kind};
use crate::limits::{FOLDER_LEVELS, READ_BYTES};

/// Builds the bundle of a Provider: all files that can be reached, a manifest with their digests, and nothing else.
///
/// The same Provider gives the same bundle, wherever it is built. An earlier bundle of the same Provider is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph build                     to dist/provider
  agent-graph build /tmp/release && agent-graph --manifest /tmp/release/manifest.json validate

Exit codes: 0 built; 1 not built, and why.")]
pub struct Build {
    /// The folder of the bundle.
    #[arg(default_value = "dist/provider")]
    output: PathBuf,
}

/// The manifest of a bundle.
const MANIFEST: &str = "manifest.json";

impl Build {
    /// Builds it.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let output = whole(&self.output);
        apart(&opened, &output)?;
        let replaces = replaceable(&output, opened.provider.id())?;
        let built = graph::build(&opened.disk, &opened.provider)?;
        put(&built, opened.disk.folder(), &output, replaces).map_err(|error| files::unwritten(&output, &error))?;
        let manifest = &built.manifest;
        global.tell(manifest, |paint| {
            let next = format!("{}/{MANIFEST}", output.display());
            vec![
                format!("{} {} {}", paint.good("built"), paint.title(&manifest.provider.id), manifest.provider.version),
                format!("{} files in {}", built.files.len(), output.display()),
                paint.dim(&manifest.digest),
                format!(
                    "next: {}",
                    paint.typed(crate::shell::line(["agent-graph", "validate", "--manifest", next.as_str()]))
                ),
            ]
        })
    }
}

/// Where a folder really is, or will be.
fn whole(path: &Path) -> PathBuf {
    let path = files::absolute(path);
    let mut missing = Vec::new();
    let mut there = path.as_path();
    loop {
        if let Ok(found) = there.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name);
                there = parent;
            }
            _ => return path,
        }
    }
}

/// Holds the bundle apart from the files that it is built from.
fn apart(opened: &Opened, output: &Path) -> Result<(), Failure> {
    let root = opened.disk.folder();
    let overlaps = |what: &Path| {
        let message =
            format!("the bundle would come over {}, which it is built from; name another folder", what.display());
        Failure::new("build-output-overlaps-source", message)
    };
    if root.starts_with(output) {
        return Err(overlaps(root));
    }
    graph::refuse_overlap(&opened.provider, root, output)?;
    if opened.provider.bundle.is_some() && output.starts_with(root) {
        let message = format!(
            "{} would be a file more in the folder of the bundle it is built from; name another folder",
            output.display()
        );
        return Err(Failure::new("build-output-overlaps-source", message));
    }
    if let Some(bundle) = output.ancestors().skip(1).find(|folder| bundle_in(folder).is_some()) {
        let message = format!(
            "{} would be a file more in the bundle in {}, which would not be whole any more; name another folder",
            output.display(),
            bundle.display()
        );
        return Err(Failure::new("build-output-overlaps-source", message));
    }
    let manifest = &opened.provider.manifest.path;
    for path in opened.provider.files.keys().chain([manifest]) {
        let file = root.join(path);
        let real = file.canonicalize().unwrap_or(file);
        // A file in the folder, or a folder below a file.
        if real.starts_with(output) || output.starts_with(&real) {
            return Err(overlaps(&real));
        }
    }
    Ok(())
}

/// Whether there is an earlier bundle to replace.
fn replaceable(output: &Path, provider: &str) -> Result<bool, Failure> {
    let taken = |why: &str| {
        let message = format!("{} {why}, and is not replaced; name another folder", output.display());
        Failure::new("build-output-exists", message)
    };
    if !files::taken(output) {
        return Ok(false);
    }
    if !output.is_dir() {
        return Err(taken("is no folder"));
    }
    let mut there = BTreeSet::new();
    contents(output, output, 0, &mut there)
        .map_err(|error| Failure::new("file-read-failed", format!("{} cannot be read: {error}", output.display())))?;
    if there.is_empty() {
        return Ok(true);
    }
    let Some(bundle) = bundle_in(output) else { return Err(taken("holds something else than a bundle")) };
    if bundle.provider.id != provider {
        return Err(taken(&format!("holds a bundle of {}", bundle.provider.id)));
    }
    let its: BTreeSet<&str> = bundle.files.iter().map(|file| file.path.as_str()).chain([MANIFEST]).collect();
    match there.iter().find(|path| !its.contains(path.as_str())) {
        Some(other) => Err(taken(&format!("holds {other} besides a bundle"))),
        None => Ok(true),
    }
}

/// The manifest of the bundle in a folder.
fn bundle_in(folder: &Path) -> Option<Bundle> {
    let manifest = folder.join(MANIFEST);
    let about = fs::metadata(&manifest).ok()?;
    let small = about.is_file() && about.len() <= READ_BYTES;
    small.then(|| fs::read(&manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())).flatten()
}

/// Every file below a folder; a link is a file here.
fn contents(root: &Path, folder: &Path, level: usize, there: &mut BTreeSet<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() && level < FOLDER_LEVELS {
            contents(root, &path, level + 1, there)?;
        } else {
            there.insert(files::text(path.strip_prefix(root).unwrap_or(&path)));
        }
    }
    Ok(())
}

/// Writes the bundle beside its place, and puts it there in one step.
fn put(built: &BuiltBundle, root: &Path, output: &Path, replaces: bool) -> std::io::Result<()> {
    let parent = files::folder_of(output);
    files::folders(parent)?;
    // Removed with all that is in it unless it is put in its place.
    let beside = tempfile::Builder::new().prefix(".agent-graph-").tempdir_in(parent)?;
    let new = beside.path().join("new");
    fs::create_dir(&new)?;
    for (path, bytes) in &built.files {
        // What can be run in the Provider can be run in its bundle.
        files::write_new(&new.join(path), bytes, Kind::of(&root.join(path)))?;
    }
    files::settle(&new)?;
    if replaces {
        swap(&new, output, &beside.path().join("old"))?;
    } else {
        fs::rename(&new, output)?;
    }
    files::settle(parent)
}

/// Puts a folder in the place of another, which is then in `old` or where the new one was.
fn swap(new: &Path, output: &Path, old: &Path) -> std::io::Result<()> {
    if renameat_with(CWD, new, CWD, output, RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    // Where the file system cannot exchange two names there is a moment without either.
    fs::rename(output, old)?;
    fs::rename(new, output).inspect_err(|_| {
        let _ = fs::rename(old, output);
    })
}
