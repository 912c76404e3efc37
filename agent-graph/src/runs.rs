//! Run files (section-run): held to their schema when they are read, replaced whole, and changed by one process at a time.
//!
//! Whoever changes a Run holds an exclusive lock on its file from before it reads until after it wrote. The file is
//! replaced, not rewritten, so a lock that was waited for may be one on a file that is no longer there; then the new file is
//! locked and read instead. No event is ever lost, and nothing but the Run is left behind.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use graph::documents::Run;
use graph::{Failure, read_run};

use crate::files;
use crate::limits::READ_BYTES;

/// A Run whose file nobody else changes while this lives.
#[derive(Debug)]
pub struct Held {
    /// The Run as it was read.
    pub run: Run,
    path: PathBuf,
    _lock: File,
}

impl Held {
    /// Locks and reads a Run. Waits for whoever is changing it.
    ///
    /// # Errors
    ///
    /// As for [`read`].
    pub fn of(path: &Path) -> Result<Held, Failure> {
        // A link stays one: the file it leads to is the one that is locked and replaced.
        let path = path.canonicalize().map_err(|error| unopened(path, &error))?;
        let failed = |error: std::io::Error| {
            Failure::new("file-read-failed", format!("{} cannot be locked: {error}", path.display()))
        };
        // Every turn but the last one, somebody else has written: nobody waits for a file that does not change.
        loop {
            let file = File::open(&path).map_err(|error| unopened(&path, &error))?;
            file.lock().map_err(failed)?;
            let (locked, now) = (file.metadata().map_err(failed)?, std::fs::metadata(&path));
            if now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Held { run: read(&path)?, path, _lock: file });
            }
        }
    }

    /// Puts the Run after a change in its place.
    ///
    /// # Errors
    ///
    /// `unexpected-error` when it cannot be written or has more than [`READ_BYTES`].
    pub fn replace(self, run: &Run) -> Result<(), Failure> {
        files::write_over(&self.path, &text(run)?).map_err(|error| files::unwritten(&self.path, &error))
    }
}

/// Reads a Run.
///
/// # Errors
///
/// `file-missing`, `file-read-failed`, `parse-failed`, `schema-invalid`.
pub fn read(path: &Path) -> Result<Run, Failure> {
    let value = serde_json::from_slice(&files::read(path)?)
        .map_err(|error| Failure::new("parse-failed", format!("{} is no JSON: {error}", path.display())))?;
    read_run(&files::text(path), &value)
}

/// Writes a Run where there is nothing yet.
///
/// # Errors
///
/// `run-target-exists`, and `unexpected-error` when it cannot be written.
pub fn create(path: &Path, run: &Run) -> Result<(), Failure> {
    files::write_new(path, &text(run)?, files::Kind::Data).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => files::unwritten(path, &error),
    })
}

/// Holds that there is nothing at a path yet.
///
/// # Errors
///
/// `run-target-exists`.
pub fn vacant(path: &Path) -> Result<(), Failure> {
    if files::taken(path) { Err(exists(path)) } else { Ok(()) }
}

/// Now, as Runs say it: RFC 3339 in UTC, to the millisecond.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn exists(path: &Path) -> Failure {
    let message =
        format!("there is something at {} already, and it is not replaced; name another path", path.display());
    Failure::new("run-target-exists", message)
}

fn unopened(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotFound => Failure::new("file-missing", format!("there is no Run at {}", path.display())),
        _ => Failure::new("file-read-failed", format!("{} cannot be opened: {error}", path.display())),
    }
}

/// The text of a Run's file: never one that could not be read back.
fn text(run: &Run) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec_pretty(run)
        .map_err(|error| Failure::new("unexpected-error", format!("the Run has no JSON: {error}")))?;
    text.push(b'\n');
    if text.len() as u64 > READ_BYTES {
        let message = format!("the Run would have more than {READ_BYTES} bytes; start a new one");
        return Err(Failure::new("unexpected-error", message));
    }
    // A value that can be read lies deeper in the Run.
    if let Err(error) = serde_json::from_slice::<serde_json::Value>(&text) {
        let message =
            format!("the Run could not be read again ({error}): a value in it has too many levels; nothing is written");
        return Err(Failure::new("json-invalid", message));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_decimals() {
        let now = now();
        assert_eq!(now.len(), "2026-11-30T17:39:15.191Z".len(), "{now}");
        assert!(now.parse::<jiff::Timestamp>().is_ok());
    }
}
