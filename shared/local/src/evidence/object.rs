//! Evidence objects as files: one file an object.
//!
//! A file is a line of JSON (the object's key and media type) followed by the object's bytes as they are. Its name is the
//! SHA-256 of the key, so no key can name a place outside the folder, and keys that differ only in case stay apart.
//!
//! Invariants: a file appears whole or not at all, and is on disk before the write is answered; of any number of writers
//! that want to be the first, one is. A file that was changed from outside is read as changed, never as missing: whoever
//! reads it compares its hash.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::folder::{private, private_dir, sync_dir};

/// Most bytes of the line before an object's bytes: a key of 1,024 bytes, escaped, and a media type.
const HEADER_BYTES: usize = 16 * 1024;

/// What a file's name starts with until it is whole.
const ASIDE: &str = "new-";

/// The line before an object's bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    key: String,
    content_type: String,
}

/// One stored object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) content_type: String,
    pub(super) bytes: Vec<u8>,
}

/// Whether a write came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Stored,
    /// Only the first write was wanted, and this is not it.
    NotFirst,
}

/// A folder of objects.
#[derive(Debug)]
pub(super) struct Objects {
    dir: PathBuf,
}

impl Objects {
    /// Makes the folder if it is missing, and clears away what a killed writer left.
    pub(super) fn open(dir: PathBuf) -> io::Result<Self> {
        private_dir(&dir)?;
        for entry in fs::read_dir(&dir)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(ASIDE) {
                fs::remove_file(entry.path())?;
            }
        }
        sync_dir(&dir)?;
        Ok(Self { dir })
    }

    /// Writes an object; with `first`, only if there is none under this key.
    pub(super) fn put(&self, key: &str, content_type: &str, bytes: &[u8], first: bool) -> io::Result<Written> {
        let path = self.path(key);
        // Found out again below, where it counts; here it spares a useless write.
        if first && path.try_exists()? {
            return Ok(Written::NotFirst);
        }
        let aside = self.dir.join(format!("{ASIDE}{:032x}", rand::random::<u128>()));
        let placed = self.fill(&aside, key, content_type, bytes).and_then(|()| {
            if !first {
                return fs::rename(&aside, &path).map(|()| Written::Stored);
            }
            match fs::hard_link(&aside, &path) {
                Ok(()) => Ok(Written::Stored),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Written::NotFirst),
                Err(error) => Err(error),
            }
        });
        // Renamed away already, or no longer needed.
        let _ = fs::remove_file(&aside);
        let written = placed?;
        sync_dir(&path)?;
        Ok(written)
    }

    fn fill(&self, aside: &Path, key: &str, content_type: &str, bytes: &[u8]) -> io::Result<()> {
        let header = Header { key: key.to_owned(), content_type: content_type.to_owned() };
        let mut line = serde_json::to_vec(&header)?;
        line.push(b'\n');
        if line.len() > HEADER_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the object's key and type are too long"));
        }
        let mut file: File = private(OpenOptions::new().write(true).create_new(true)).open(aside)?;
        file.write_all(&line)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Reads an object.
    pub(super) fn get(&self, key: &str) -> io::Result<Option<Object>> {
        let mut bytes = match fs::read(self.path(key)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let end = bytes.iter().take(HEADER_BYTES).position(|byte| *byte == b'\n');
        let header = end.and_then(|end| serde_json::from_slice::<Header>(bytes.get(..end)?).ok());
        let content_type = match (header, end) {
            (Some(header), Some(end)) => {
                bytes.drain(..=end);
                header.content_type
            }
            // Somebody wrote over the line: all of it is handed out, and no hash will agree with it.
            _ => "application/octet-stream".to_owned(),
        };
        Ok(Some(Object { content_type, bytes }))
    }

    fn path(&self, key: &str) -> PathBuf {
        let mut name = String::with_capacity(64);
        for byte in Sha256::digest(key.as_bytes()) {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        self.dir.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects() -> (tempfile::TempDir, Objects) {
        let dir = tempfile::tempdir().unwrap();
        let objects = Objects::open(dir.path().join("evidence")).unwrap();
        (dir, objects)
    }

    fn only_file(objects: &Objects) -> PathBuf {
        let mut files = fs::read_dir(&objects.dir).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none());
        file
    }

    #[test]
    fn no_key_leaves_the_folder() {
        let (dir, objects) = objects();
        for (number, key) in ["../../escape", "/etc/passwd", "a/b", "A/B", ".", "..", "a\0b", ""].iter().enumerate() {
            objects.put(key, "text/plain", key.as_bytes(), true).unwrap();
            assert_eq!(objects.get(key).unwrap().unwrap().bytes, key.as_bytes());
            assert_eq!(fs::read_dir(&objects.dir).unwrap().count(), number + 1, "{key:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_first_write_stays_unless_replacing_was_asked_for() {
        let (_dir, objects) = objects();
        assert_eq!(objects.put("k", "text/plain", b"one\ntwo", true).unwrap(), Written::Stored);
        assert_eq!(objects.put("k", "text/html", b"three", true).unwrap(), Written::NotFirst);
        let first = Object { content_type: "text/plain".into(), bytes: b"one\ntwo".to_vec() };
        assert_eq!(objects.get("k").unwrap(), Some(first));
        assert_eq!(objects.put("k", "text/html", b"three", false).unwrap(), Written::Stored);
        assert_eq!(objects.get("k").unwrap().unwrap().bytes, b"three");
        only_file(&objects);
    }

    #[test]
    fn a_changed_file_is_read_as_changed() {
        let (_dir, objects) = objects();
        objects.put("k", "text/plain", b"bytes", true).unwrap();
        let file = only_file(&objects);
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(objects.get("k").unwrap().unwrap().bytes, b"byter");
        for changed in [&b"no line"[..], b"", b"\n", b"{\"key\":7}\nbytes"] {
            fs::write(&file, changed).unwrap();
            assert_eq!(objects.get("k").unwrap().unwrap().bytes, changed);
        }
    }

    #[test]
    fn what_a_killed_writer_left_is_cleared_away() {
        let (_dir, objects) = objects();
        objects.put("k", "text/plain", b"bytes", true).unwrap();
        fs::write(objects.dir.join(format!("{ASIDE}1")), "half").unwrap();
        let objects = Objects::open(objects.dir).unwrap();
        only_file(&objects);
        assert!(objects.get("k").unwrap().is_some());
    }
}
