//! Evidence bytes: one S3 object an upload (core §5).
//!
//! The object is named by the organization and the upload's id; its SHA-256 stands in the table, recorded at upload, so
//! a changed object is found out when its bytes are hashed again. Presigned links are made without a call and expire.

use std::time::Duration;

use async_trait::async_trait;

/// Why an evidence operation did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// Throttled, unreachable or broken; trying again may succeed.
    #[error("the evidence store did not answer: {0}")]
    Unavailable(String),
}

/// What a link says about the file it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The name a browser saves it under.
    pub file_name: String,
    /// Its media type.
    pub content_type: String,
}

/// An evidence bucket.
#[async_trait]
pub trait Files: Send + Sync + 'static {
    /// Stores the bytes under this object key. Storing the same bytes again is harmless.
    async fn put(&self, key: &str, bytes: Vec<u8>, content_type: &str) -> Result<(), FilesError>;

    /// The bytes under this object key, `None` when there is no such object.
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError>;

    /// A link that opens the object without credentials until `expires` from now. No call is made.
    async fn link(&self, key: &str, shown: &Shown, expires: Duration) -> Result<String, FilesError>;
}
