//! Where a Provider's files come from: a folder, or a bundle in memory.
//!
//! Paths are relative to the Provider root, with `/`, without `.` or `..`: the loader normalises and refuses before it asks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::Failure;

/// The files of one Provider.
pub trait Source {
    /// The bytes of a file, `None` when there is none.
    ///
    /// # Errors
    ///
    /// `path-symlink-outside-provider`, `file-read-failed`.
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure>;

    /// Every file below a folder (`""` is the root), recursively, sorted by path.
    ///
    /// # Errors
    ///
    /// As for [`Source::read`].
    fn list(&self, folder: &str) -> Result<Vec<String>, Failure>;

    /// The absolute paths that the Provider root is known by: nothing in a bundle may contain one. None in memory.
    fn roots(&self) -> &[String] {
        &[]
    }
}

/// Files in memory, by path.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, Arc<[u8]>>);

impl Source for Memory {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        Ok(self.0.get(path).cloned())
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let below =
            |path: &str| folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        Ok(self.0.keys().filter(|path| below(path)).cloned().collect())
    }
}
