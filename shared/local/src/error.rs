//! Why the embedded server cannot open its folder.

use std::path::PathBuf;

/// Why [`crate::Local::open`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// Another server holds the folder.
    #[error("the data folder {} is in use by another server{holder}; stop it, or give another folder", dir.display())]
    InUse {
        /// The folder.
        dir: PathBuf,
        /// Who holds it, as ` (process 123)`; empty when that is not known.
        holder: String,
    },
    /// The folder holds something else.
    #[error("{} is neither empty nor a data folder of this server; give a folder of its own", dir.display())]
    NotOurs {
        /// The folder.
        dir: PathBuf,
    },
    /// A file of the folder cannot be made, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The public address is none.
    #[error("the public address {url:?} is not usable: {why}; it is written like http://127.0.0.1:8484")]
    PublicUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The database file cannot be opened.
    #[error("the database {} cannot be opened: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What the database said.
        why: String,
    },
    /// The table or the bucket cannot be made.
    #[error(transparent)]
    Provision(#[from] store::ProvisionError),
}
