//! The data folder: its layout, its modes and its lock.
//!
//! ```text
//! DIR/                 mode 0700
//!   lock               held by the running server as an advisory lock of the system, so that it ends with the process
//!                      however that ends; its text is the number of the process that held it last
//!   keys/              mode 0700; each key in a file of mode 0600
//!     storage          what signs the links to evidence, made on the first start
//!   table.sqlite       the DynamoDB table, with its -wal and -shm beside it while it is open
//!   evidence/          one file an object, named by the SHA-256 of its key
//! ```
//!
//! Invariants: a folder with anything else in it is not touched; a key, once made, is never changed here.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::LocalError;

/// Most bytes read of a key file or of the lock's text.
const SMALL_FILE_BYTES: u64 = 64 * 1024;

const LOCK: &str = "lock";
const KEYS: &str = "keys";

/// A data folder that this process holds. The lock is released when the last holder drops it.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: PathBuf,
    _lock: File,
}

impl Folder {
    /// Makes the folder if it is missing, and locks it.
    pub(crate) fn open(dir: &Path) -> Result<Self, LocalError> {
        let fault = |path: &Path| {
            let path = path.to_owned();
            move |source| LocalError::Io { path, source }
        };
        if !ours(dir).map_err(fault(dir))? {
            return Err(LocalError::NotOurs { dir: dir.to_owned() });
        }
        private_dir(dir).map_err(fault(dir))?;
        let dir = dir.canonicalize().map_err(fault(dir))?;
        let path = dir.join(LOCK);
        let mut lock =
            private(OpenOptions::new().read(true).write(true).create(true)).open(&path).map_err(fault(&path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LocalError::InUse { holder: holder(&mut lock), dir }),
            Err(TryLockError::Error(source)) => return Err(LocalError::Io { path, source }),
        }
        // Only for the message of a second server; the lock itself is the system's.
        let noted = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| write!(lock, "{}", std::process::id()));
        noted.map_err(fault(&path))?;
        let keys = dir.join(KEYS);
        private_dir(&keys).map_err(fault(&keys))?;
        Ok(Self { dir, _lock: lock })
    }

    /// The database file.
    pub(crate) fn table(&self) -> PathBuf {
        self.dir.join("table.sqlite")
    }

    /// The folder of the evidence objects.
    pub(crate) fn evidence(&self) -> PathBuf {
        self.dir.join("evidence")
    }

    /// The folder of the keys.
    pub(crate) fn keys(&self) -> PathBuf {
        self.dir.join(KEYS)
    }

    /// The text of the key of this name, made on the first call.
    pub(crate) fn key(&self, name: &str, make: impl FnOnce() -> String) -> Result<String, LocalError> {
        let path = self.keys().join(name);
        key_file(&path, make).map_err(|source| LocalError::Io { path, source })
    }
}

/// Whether the folder is missing, empty, or one that a server made.
fn ours(dir: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut empty = true;
    for entry in entries {
        let name = entry?.file_name();
        if name == LOCK || name == KEYS {
            return Ok(true);
        }
        empty = false;
    }
    Ok(empty)
}

/// Reads a key, or makes it: written aside, flushed, then linked into place, so that a key is whole or missing and the
/// first of two makers wins.
fn key_file(path: &Path, make: impl FnOnce() -> String) -> io::Result<String> {
    if let Some(text) = read_small(path)? {
        return Ok(text);
    }
    let aside = path.with_extension("new");
    let _ = fs::remove_file(&aside);
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&aside)?;
    file.write_all(make().as_bytes())?;
    file.sync_all()?;
    match fs::hard_link(&aside, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => fs::remove_file(&aside)?,
    }
    sync_dir(path)?;
    read_small(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read_small(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(SMALL_FILE_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

fn holder(lock: &mut File) -> String {
    let mut text = String::new();
    let read = lock.rewind().and_then(|()| lock.take(SMALL_FILE_BYTES).read_to_string(&mut text));
    match (read, text.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!(" (process {process})"),
        _ => String::new(),
    }
}

/// Makes a folder that only its owner may enter; an existing one becomes so.
pub(crate) fn private_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Options that make a file which only its owner may read.
pub(crate) fn private(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Flushes the folder that holds this file, so that the file's name outlives a power loss.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(dir) = path.parent() {
        File::open(dir)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_server_is_told_who_holds_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let held = Folder::open(dir.path()).unwrap();
        let refused = Folder::open(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(dir.path().to_str().unwrap()), "{refused}");
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(held);
        Folder::open(dir.path()).unwrap();
    }

    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("letter.txt"), "mine").unwrap();
        assert!(matches!(Folder::open(dir.path()), Err(LocalError::NotOurs { .. })));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_key_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(folder.key("a", || "first".into()).unwrap(), "first");
        assert_eq!(folder.key("a", || "second".into()).unwrap(), "first");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_the_folder_and_its_keys() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("deep").join("data");
        let folder = Folder::open(&dir).unwrap();
        folder.key("a", || "secret".into()).unwrap();
        for (path, mode) in [("", 0o700), ("lock", 0o600), ("keys", 0o700), ("keys/a", 0o600)] {
            let found = fs::metadata(dir.join(path)).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode, "{path:?} has mode {found:o}");
        }
    }
}
