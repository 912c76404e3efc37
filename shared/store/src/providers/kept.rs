//! The Providers in memory: the ones used last, bounded in number and in bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::PublishedProvider;

/// Most Providers kept.
const KEPT_PROVIDERS: usize = 64;

/// Most bytes of the files that kept Providers were loaded from. What is loaded of them is a few times as large.
const KEPT_BYTES: usize = 48 * 1024 * 1024;

/// The Providers in memory, by organization and digest.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    uses: u64,
    bytes: usize,
    all: HashMap<(String, String), One>,
}

struct One {
    used: u64,
    bytes: usize,
    provider: Arc<PublishedProvider>,
}

impl Kept {
    pub(super) fn get(&self, org: &str, digest: &str) -> Option<Arc<PublishedProvider>> {
        let mut inner = self.0.lock().ok()?;
        inner.uses += 1;
        let used = inner.uses;
        let one = inner.all.get_mut(&(org.to_owned(), digest.to_owned()))?;
        one.used = used;
        Some(Arc::clone(&one.provider))
    }

    pub(super) fn keep(&self, org: &str, provider: Arc<PublishedProvider>, bytes: usize) {
        let Ok(mut inner) = self.0.lock() else { return };
        inner.uses += 1;
        let one = One { used: inner.uses, bytes, provider };
        let key = (org.to_owned(), one.provider.reference.digest.clone());
        inner.bytes += bytes;
        if let Some(old) = inner.all.insert(key, one) {
            inner.bytes -= old.bytes;
        }
        // The last one stays, however large it is: it is about to be used.
        while inner.all.len() > 1 && (inner.all.len() > KEPT_PROVIDERS || inner.bytes > KEPT_BYTES) {
            let Some(oldest) = inner.all.iter().min_by_key(|(_, one)| one.used).map(|(key, _)| key.clone()) else {
                return;
            };
            if let Some(gone) = inner.all.remove(&oldest) {
                inner.bytes -= gone.bytes;
            }
        }
    }
}
