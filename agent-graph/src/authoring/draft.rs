//! Files to be written into a folder: all of them or none.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graph::disk::Disk;
use graph::{Failure, Memory, Source};

use crate::files::{self, Kind};

/// Files that are not there yet, and files that are to be changed, by their paths below a folder.
#[derive(Debug, Default)]
pub struct Draft {
    new: BTreeMap<String, (Vec<u8>, Kind)>,
    /// What a changed file says now, and what it is to say.
    changed: BTreeMap<String, (Option<Vec<u8>>, Vec<u8>)>,
}

impl Draft {
    /// Adds a file that must not be there yet.
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.new.insert(path.into(), (bytes.into(), Kind::Data));
    }

    /// Adds a copy of a file that is there, which can be run when that one can be.
    pub fn copy(&mut self, path: impl Into<String>, bytes: Vec<u8>, of: &Path) {
        self.new.insert(path.into(), (bytes, Kind::of(of)));
    }

    /// Changes a file from what it says now; `None` where there is none yet and one that comes up is to be kept.
    pub fn change(&mut self, path: impl Into<String>, before: Option<Vec<u8>>, after: impl Into<Vec<u8>>) {
        self.changed.insert(path.into(), (before, after.into()));
    }

    /// Holds that nothing is where the new files come: with this code, one message for all.
    ///
    /// # Errors
    ///
    /// The code that was given.
    pub fn vacant(&self, root: &Path, code: &'static str) -> Result<(), Failure> {
        // A folder's name that is taken by a file is in the way as well.
        let mut taken = BTreeSet::new();
        for path in self.new.keys() {
            let mut place = root.to_owned();
            let mut parts = Path::new(path).components().peekable();
            while let Some(part) = parts.next() {
                place.push(part);
                let last = parts.peek().is_none();
                if files::taken(&place) && (last || !place.is_dir()) {
                    taken.insert(place.clone());
                    break;
                }
            }
        }
        if taken.is_empty() {
            return Ok(());
        }
        let taken = taken.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        Err(Failure::new(
            code,
            format!("nothing was written: there is something already, and it is not replaced: {taken}"),
        ))
    }

    /// The Provider as it will be: loads or is refused.
    ///
    /// # Errors
    ///
    /// Whatever would be wrong with it.
    pub fn load(&self, disk: Option<&Disk>, manifest: &str) -> Result<(), Failure> {
        let new = self.new.iter().map(|(path, (bytes, _))| (path.clone(), Arc::from(bytes.as_slice())));
        let changed = self.changed.iter().map(|(path, (_, bytes))| (path.clone(), Arc::from(bytes.as_slice())));
        let overlay = Overlay { over: Memory(new.chain(changed).collect()), disk };
        graph::load(&overlay, manifest).map(|_| ()).map_err(|failure| Failure {
            message: format!("nothing was written: the Provider would not be valid: {}", failure.message),
            ..failure
        })
    }

    /// Writes every file. What was written is taken back when one cannot be.
    ///
    /// # Errors
    ///
    /// The code that was given for what came up in the meantime; `unexpected-error` when something cannot be written.
    pub fn write(self, root: &Path, code: &'static str) -> Result<(), Failure> {
        self.vacant(root, code)?;
        let mut written: Vec<PathBuf> = Vec::new();
        let mut folders: Vec<PathBuf> = Vec::new();
        let done = self.put(root, code, &mut written, &mut folders);
        if done.is_err() {
            for path in written.iter().rev() {
                let _ = std::fs::remove_file(path);
            }
            for folder in folders.iter().rev() {
                // One that something else was put into stays.
                let _ = std::fs::remove_dir(folder);
            }
        }
        done
    }

    fn put(
        self,
        root: &Path,
        code: &'static str,
        written: &mut Vec<PathBuf>,
        folders: &mut Vec<PathBuf>,
    ) -> Result<(), Failure> {
        for (path, (bytes, kind)) in &self.new {
            let path = root.join(path);
            let missing = path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned);
            let mut missing: Vec<_> = missing.collect();
            missing.reverse();
            folders.extend(missing);
            files::write_new(&path, bytes, *kind).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists => Failure::new(
                    code,
                    format!("there is something at {} already, and it is not replaced", path.display()),
                ),
                _ => files::unwritten(&path, &error),
            })?;
            written.push(path);
        }
        let mut restore: Vec<(PathBuf, Option<Vec<u8>>)> = Vec::new();
        for (path, (before, after)) in self.changed {
            let path = root.join(path);
            // A link is followed to the file that it leads to.
            let path = path.canonicalize().unwrap_or(path);
            let done = match unchanged(&path, before.as_deref()) {
                true => files::write_over(&path, &after).map_err(|error| files::unwritten(&path, &error)),
                false => Err(Failure::new(
                    "unexpected-error",
                    format!("{} was changed meanwhile; try again", path.display()),
                )),
            };
            if let Err(failure) = done {
                for (path, before) in restore.into_iter().rev() {
                    let _ = match before {
                        Some(bytes) => files::write_over(&path, &bytes),
                        None => std::fs::remove_file(&path),
                    };
                }
                return Err(failure);
            }
            restore.push((path, before));
        }
        Ok(())
    }
}

fn unchanged(path: &Path, before: Option<&[u8]>) -> bool {
    match before {
        Some(bytes) => std::fs::read(path).is_ok_and(|now| now == bytes),
        None => !files::taken(path),
    }
}

/// Files in memory over those of a folder.
struct Overlay<'a> {
    over: Memory,
    disk: Option<&'a Disk>,
}

impl Source for Overlay<'_> {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        match (self.over.read(path)?, self.disk) {
            (None, Some(disk)) => disk.read(path),
            (found, _) => Ok(found),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        let mut all: BTreeSet<String> = self.over.list(folder)?.into_iter().collect();
        if let Some(disk) = self.disk {
            all.extend(disk.list(folder)?);
        }
        Ok(all.into_iter().collect())
    }

    fn roots(&self) -> &[String] {
        self.disk.map(Source::roots).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written_or_none() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("there"), "1").unwrap();
        let draft = |path: &str| {
            let mut draft = Draft::default();
            draft.add("a/b/c", "new");
            draft.add(path, "new");
            draft.change("there", Some(b"1".to_vec()), "2");
            draft
        };
        for taken in ["there", "there/below"] {
            let failure = draft(taken).write(root.path(), "import-target-exists").unwrap_err();
            assert_eq!(failure.code, "import-target-exists", "{taken}");
            assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
        }
        // A file that was changed meanwhile takes everything back.
        let mut late = draft("z");
        late.change("there", Some(b"0".to_vec()), "2");
        assert_eq!(late.write(root.path(), "x").unwrap_err().code, "unexpected-error");
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
        draft("z").write(root.path(), "x").unwrap();
        assert_eq!(std::fs::read(root.path().join("there")).unwrap(), b"2");
        assert_eq!(std::fs::read(root.path().join("a/b/c")).unwrap(), b"new");
    }
}
