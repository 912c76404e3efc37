//! Evidence in memory, with the same kinds of faults as the table.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use store::files::{Files, FilesError, Shown};

use crate::World;

/// A bucket in memory; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Bucket(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

/// One server's way to the bucket.
pub struct FaultyFiles {
    pub(crate) world: Arc<World>,
    pub(crate) bucket: Bucket,
}

#[async_trait]
impl Files for FaultyFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>, _: &str) -> Result<(), FilesError> {
        self.world.delay().await;
        if self.world.strikes("file put fails", |f| f.files) {
            return Err(FilesError::Unavailable("simulated".into()));
        }
        self.bucket.0.lock().unwrap().insert(key.to_owned(), bytes);
        if self.world.strikes("file put's answer is lost", |f| f.files) {
            return Err(FilesError::Unavailable("simulated".into()));
        }
        Ok(())
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        self.world.delay().await;
        if self.world.strikes("file get fails", |f| f.files) {
            return Err(FilesError::Unavailable("simulated".into()));
        }
        Ok(self.bucket.0.lock().unwrap().get(key).cloned())
    }

    async fn link(&self, key: &str, _: &Shown, expires: Duration) -> Result<String, FilesError> {
        // Never the same link twice, so that an answer compared with its link would not be found equal.
        Ok(format!("https://files.test/{key}?until={}&n={}", expires.as_secs(), self.world.below(1 << 40)))
    }
}
