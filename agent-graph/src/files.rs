//! Files: read within a limit, written whole or not at all.
//!
//! A file is written beside its place, made durable, and then moved there in one step, so that nobody ever sees half of it.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use graph::Failure;
use tempfile::NamedTempFile;

use crate::limits::READ_BYTES;

/// Whether a file can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is only read.
    Data,
    /// It can be run as well.
    Program,
}

impl Kind {
    /// The kind of a file that is there.
    pub fn of(path: &Path) -> Kind {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 => Kind::Program,
            _ => Kind::Data,
        }
    }
}

/// A path as it is told: absolute, and without `..` where that can be found out.
pub fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !whole.components().any(|part| part == std::path::Component::ParentDir) {
        return whole;
    }
    // Only the system knows where `..` leads when there are symbolic links, and only for what is there.
    let mut missing = Vec::new();
    let mut there = whole.as_path();
    loop {
        if let Ok(found) = there.canonicalize() {
            return missing.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                there = parent;
            }
            _ => return whole,
        }
    }
}

/// A path as text.
pub fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Reads a file.
///
/// # Errors
///
/// `file-missing`, `file-read-failed` (a folder, no right to read, more than [`READ_BYTES`]).
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let unreadable = |error: io::Error| unreadable(path, &error);
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(Failure::new("file-read-failed", format!("{} is a folder, not a file", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(READ_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > READ_BYTES {
        let message = format!("{} is over the limit of {READ_BYTES} bytes", path.display());
        return Err(Failure::new("file-read-failed", message));
    }
    Ok(bytes)
}

/// Reads a file of UTF-8 text.
///
/// # Errors
///
/// As for [`read`].
pub fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?)
        .map_err(|_| Failure::new("file-read-failed", format!("{} is not UTF-8 text", path.display())))
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::new("file-missing", format!("there is no file {}", path.display())),
        _ => Failure::new("file-read-failed", format!("{} cannot be read: {error}", path.display())),
    }
}

/// What could not be written, as a refusal.
pub fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::new("unexpected-error", format!("{} cannot be written: {error}", path.display()))
}

/// Whether something is there, be it a link to nowhere.
pub fn taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Writes a file that must not be there yet; its folders are made. Whoever comes second gets
/// [`io::ErrorKind::AlreadyExists`].
pub fn write_new(path: &Path, bytes: &[u8], kind: Kind) -> io::Result<()> {
    let folder = folder_of(path);
    folders(folder)?;
    written(folder, bytes, kind, None)?.persist_noclobber(path).map_err(|error| error.error)?;
    settle(folder)
}

/// Writes a file, in the place of one that may be there; its folders are made.
pub fn write_over(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    folders(folder)?;
    written(folder, bytes, Kind::Data, fs::metadata(path).ok())?.persist(path).map_err(|error| error.error)?;
    settle(folder)
}

/// Makes a folder with those above it. A file in the way is told as what it is: not as something that is there already.
pub fn folders(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => io::ErrorKind::NotADirectory.into(),
        _ => error,
    })
}

/// The folder of a path.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A durable file beside its place, removed again unless it is moved there.
fn written(folder: &Path, bytes: &[u8], kind: Kind, before: Option<Metadata>) -> io::Result<NamedTempFile> {
    // What is new gets the rights that the user's mask leaves, what is replaced keeps its own.
    let rights = Permissions::from_mode(match kind {
        Kind::Data => 0o666,
        Kind::Program => 0o777,
    });
    let mut file = tempfile::Builder::new().prefix(".agent-graph-").permissions(rights).tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// Makes the names in a folder durable.
pub fn settle(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_never_replaces_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        write_new(&path, b"one", Kind::Data).unwrap();
        assert_eq!(write_new(&path, b"two", Kind::Data).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        // Not even a link to nowhere is replaced.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(taken(&link));
        assert_eq!(write_new(&link, b"x", Kind::Program).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
        // A file where a folder should be is not the file that was asked for.
        let below = path.join("c.json");
        assert_eq!(write_new(&below, b"x", Kind::Data).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert_eq!(write_over(&below, b"x").unwrap_err().kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn what_is_replaced_keeps_its_rights() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_over(&path, b"one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_over(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn paths_are_told_whole() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(absolute(&root.join("a/../b/c")), root.join("a/../b/c"), "nobody knows where a/.. leads");
        fs::create_dir(root.join("a")).unwrap();
        assert_eq!(absolute(&root.join("a/../b/c")), root.join("b/c"));
        assert!(absolute(Path::new("x")).is_absolute());
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("no")).unwrap_err().code, "file-missing");
        assert_eq!(read(folder.path()).unwrap_err().code, "file-read-failed");
    }
}
