//! Paths below the Provider root, and the files there, each read once and remembered by its digest.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::digest::{Digest, digest_bytes};
use crate::failure::Failure;
use crate::limits::{FILE_BYTES, PROVIDER_FILES};
use crate::schemas::quote;
use crate::source::Source;

/// A reference as the path below the Provider root that it stands for, without `.` and empty segments.
///
/// # Errors
///
/// `absolute-path-forbidden`, also for a drive letter; `path-outside-provider` for `..` and for a backslash, which is a
/// separator on some machines only.
pub(crate) fn normal(reference: &str) -> Result<String, Failure> {
    let mut start = reference.chars();
    let drive = start.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && start.next() == Some(':');
    if drive || reference.starts_with(['/', '\\']) {
        let message = format!("the path {} is absolute; paths begin at the Provider root", quote(reference));
        return Err(Failure::new("absolute-path-forbidden", message));
    }
    if reference.contains('\\') || reference.split('/').any(|segment| segment == "..") {
        let message = format!(
            "the path {} could lead out of the Provider root; leave out `..`, and separate with `/`",
            quote(reference)
        );
        return Err(Failure::new("path-outside-provider", message));
    }
    let segments: Vec<&str> = reference.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    Ok(segments.join("/"))
}

/// The files that were read so far.
pub(crate) struct Files<'a> {
    source: &'a dyn Source,
    /// Their digests by path.
    pub(crate) digests: BTreeMap<String, Digest>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(source: &'a dyn Source) -> Files<'a> {
        Files { source, digests: BTreeMap::new() }
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// `file-missing`, `file-read-failed` also for what is over a limit, and what the source refuses.
    pub(crate) fn read(&mut self, path: &str) -> Result<Arc<[u8]>, Failure> {
        let missing = || Failure::new("file-missing", format!("there is no file {}", quote(path)));
        let bytes = self.source.read(path)?.ok_or_else(missing)?;
        if bytes.len() > FILE_BYTES {
            let message = format!("{} has {} bytes; a file may have {FILE_BYTES}", quote(path), bytes.len());
            return Err(Failure::new("file-read-failed", message));
        }
        if self.digests.len() >= PROVIDER_FILES && !self.digests.contains_key(path) {
            let message = format!("a Provider may have {PROVIDER_FILES} files, and {} is one more", quote(path));
            return Err(Failure::new("file-read-failed", message));
        }
        self.digests.insert(path.to_owned(), digest_bytes(&bytes));
        Ok(bytes)
    }

    /// Makes sure of a file whose bytes say nothing to the loader.
    ///
    /// # Errors
    ///
    /// As for [`Files::read`].
    pub(crate) fn ensure(&mut self, path: &str) -> Result<(), Failure> {
        if self.digests.contains_key(path) { Ok(()) } else { self.read(path).map(drop) }
    }

    /// The digest of a file that was read.
    pub(crate) fn digest(&self, path: &str) -> Digest {
        self.digests.get(path).cloned().unwrap_or_default()
    }

    /// Every file below a folder.
    ///
    /// # Errors
    ///
    /// What the source refuses.
    pub(crate) fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        self.source.list(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normal_or_refused() {
        let of = |reference: &str| normal(reference).map_err(|failure| failure.code.into_owned());
        assert_eq!(of("a/b.md").unwrap(), "a/b.md");
        assert_eq!(of("./a//b/./c.md").unwrap(), "a/b/c.md");
        assert_eq!(of("a/..b/c..").unwrap(), "a/..b/c..");
        assert_eq!(of("").unwrap(), "");
        for absolute in ["/etc/passwd", "\\\\host\\share", "C:\\x", "c:x", "C:/x"] {
            assert_eq!(of(absolute).unwrap_err(), "absolute-path-forbidden", "{absolute}");
        }
        for outside in ["..", "../x", "a/../../x", "a/..", "a\\..\\x", "a\\b", "x\n/../y"] {
            assert_eq!(of(outside).unwrap_err(), "path-outside-provider", "{outside:?}");
        }
    }
}
