//! The edge: a Provider's files in a folder. Nothing is ever read outside it, whatever symbolic links say.
//!
//! What a link leads to is asked of the file system for the whole path, so a link in the middle of one counts like a link at
//! its end. A link that stays in the folder is followed.

mod skill;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::failure::Failure;
use crate::limits::{FILE_BYTES, FOLDER_LEVELS, PROVIDER_FILES};
use crate::source::Source;

pub use skill::{Bound, bind};

/// A folder of files.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
    /// The root, and what it is called where its path has links in it.
    roots: Vec<String>,
}

impl Disk {
    /// The folder of a manifest, and the manifest's name in it.
    ///
    /// # Errors
    ///
    /// `file-missing`, `file-read-failed`.
    pub fn of(manifest: &Path) -> Result<(Disk, String), Failure> {
        let missing = || Failure::new("file-missing", format!("there is no file {}", manifest.display()));
        let name = manifest.file_name().and_then(|name| name.to_str()).ok_or_else(missing)?;
        let folder = match manifest.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let not_read = |error: io::Error| match absent(&error) {
            true => missing(),
            false => Failure::new("file-read-failed", format!("cannot read {}: {error}", manifest.display())),
        };
        let root = fs::canonicalize(folder).map_err(not_read)?;
        let about = fs::metadata(root.join(name)).map_err(not_read)?;
        if about.is_dir() {
            return Err(is_folder(manifest));
        }
        if !about.is_file() {
            return Err(missing());
        }
        let roots = roots(&root, folder);
        Ok((Disk { root, roots }, name.to_owned()))
    }

    /// The folder, absolute and without links.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// Where a path really is; `None` when there is nothing.
    fn real(&self, path: &str) -> Result<Option<PathBuf>, Failure> {
        match fs::canonicalize(self.root.join(path)) {
            Ok(real) if real.starts_with(&self.root) => Ok(Some(real)),
            Ok(_) => {
                let message =
                    format!("`{path}` leads out of the Provider root by a symbolic link; put the file itself there");
                Err(Failure::new("path-symlink-outside-provider", message))
            }
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(unreadable(path, &error)),
        }
    }

    /// The entries of a folder, by name.
    fn entries(&self, folder: &str) -> Result<Vec<(String, fs::FileType)>, Failure> {
        let Some(real) = self.real(folder)? else { return Ok(Vec::new()) };
        let mut entries = Vec::new();
        for entry in fs::read_dir(real).map_err(|error| unreadable(folder, &error))? {
            let entry = entry.map_err(|error| unreadable(folder, &error))?;
            let name = entry.file_name().into_string().map_err(|name| {
                let message = format!("the name {} in `{folder}` is not UTF-8", name.to_string_lossy());
                Failure::new("file-read-failed", message)
            })?;
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            entries.push((path, entry.file_type().map_err(|error| unreadable(folder, &error))?));
        }
        Ok(entries)
    }
}

/// The paths of a folder: the real one, and those that its user sees when they went there by a link.
fn roots(real: &Path, folder: &Path) -> Vec<String> {
    let here = std::env::current_dir().ok();
    // What a shell calls the current folder, if it is that.
    let shown = std::env::var_os("PWD").map(PathBuf::from).filter(|shown| shown.is_absolute());
    let shown = shown.filter(|shown| fs::canonicalize(shown).ok() == here);
    let mut roots: Vec<String> = real.to_str().map(str::to_owned).into_iter().collect();
    for here in here.into_iter().chain(shown) {
        let mut path = PathBuf::new();
        for part in here.join(folder).components() {
            match part {
                Component::ParentDir => drop(path.pop()),
                Component::CurDir => {}
                part => path.push(part),
            }
        }
        // `..` after a link may be said of another folder.
        let same = fs::canonicalize(&path).is_ok_and(|found| found == real);
        roots.extend(path.to_str().filter(|_| same).map(str::to_owned));
    }
    roots.sort();
    roots.dedup();
    roots
}

/// A folder where a file was meant.
fn is_folder(path: &Path) -> Failure {
    Failure::new("file-missing", format!("{} is a folder; name the file in it", path.display()))
}

/// Whether this says that there is no such file.
fn absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidInput | InvalidFilename)
}

fn unreadable(path: &str, error: &io::Error) -> Failure {
    Failure::new("file-read-failed", format!("cannot read `{path}`: {error}"))
}

impl Source for Disk {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        let Some(real) = self.real(path)? else { return Ok(None) };
        let about = fs::metadata(&real).map_err(|error| unreadable(path, &error))?;
        if !about.is_file() {
            return Ok(None);
        }
        if about.len() > FILE_BYTES as u64 {
            let message = format!("`{path}` has {} bytes; a file may have {FILE_BYTES}", about.len());
            return Err(Failure::new("file-read-failed", message));
        }
        fs::read(&real).map(|bytes| Some(bytes.into())).map_err(|error| unreadable(path, &error))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let (mut files, mut folders) = (Vec::new(), 0_usize);
        // Each with where it and the folders above it really are.
        let mut open: Vec<(String, Vec<PathBuf>)> = vec![(folder.to_owned(), Vec::new())];
        while let Some((folder, mut above)) = open.pop() {
            above.extend(self.real(&folder)?);
            for (path, kind) in self.entries(&folder)? {
                let linked = if kind.is_symlink() { self.real(&path)? } else { None };
                if kind.is_dir() || linked.as_ref().is_some_and(|real| real.is_dir()) {
                    if linked.is_some_and(|real| above.iter().any(|folder| folder.starts_with(&real))) {
                        // A link back to a folder that it is in: what is there is listed already.
                        continue;
                    }
                    if above.len() > FOLDER_LEVELS {
                        let message = format!("`{path}` lies deeper than {FOLDER_LEVELS} folders");
                        return Err(Failure::new("file-read-failed", message));
                    }
                    folders = folders.saturating_add(1);
                    open.push((path, above.clone()));
                } else if kind.is_file() || linked.is_some_and(|real| real.is_file()) {
                    files.push(path);
                }
                // Folders by way of links can be many and hold nothing.
                if files.len().max(folders) > PROVIDER_FILES {
                    let message = format!("`{folder}` and others hold more than {PROVIDER_FILES} files or folders");
                    return Err(Failure::new("file-read-failed", message));
                }
            }
        }
        files.sort();
        Ok(files)
    }

    fn roots(&self) -> &[String] {
        &self.roots
    }
}
