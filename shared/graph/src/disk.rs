//! The edge: a Provider's files in a folder. Nothing is ever read outside it, whatever symbolic links say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::failure::Failure;
use crate::source::Source;

/// A folder of files.
#[derive(Debug, Clone)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// The folder of a manifest, and the manifest's name in it.
    ///
    /// # Errors
    ///
    /// `file-missing`.
    pub fn of(manifest: &Path) -> Result<(Disk, String), Failure> {
        let _ = manifest;
        todo!()
    }

    /// The folder, absolute and without links.
    pub fn folder(&self) -> &Path {
        &self.root
    }
}

impl Source for Disk {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        let _ = path;
        todo!()
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let _ = folder;
        todo!()
    }

    fn root(&self) -> Option<&str> {
        self.root.to_str()
    }
}
