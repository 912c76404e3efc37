//! Verified tokens, remembered by the SHA-256 of their text, so that a signature is not verified on every call.
//!
//! Bounded: two generations, the older dropped whole when the younger is full. A token is never remembered past its
//! expiry, nor longer than [`REMEMBERED_SECONDS`], so that a key an issuer withdrew stops working soon.

use crate::caller::Caller;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most tokens in one of the two generations.
pub(crate) const GENERATION_TOKENS: usize = 4_096;

/// Longest that a verified token is believed without verifying it again, in seconds.
pub(crate) const REMEMBERED_SECONDS: u64 = 300;

pub(crate) type Fingerprint = [u8; 32];

#[derive(Debug, Clone)]
struct Entry {
    caller: Arc<Caller>,
    until: u64,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Fingerprint, Entry>,
    old: HashMap<Fingerprint, Entry>,
}

/// The memory itself.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Mutex<Generations>);

/// The key under which a token is remembered; the token itself is not kept.
pub(crate) fn fingerprint(token: &str) -> Fingerprint {
    Sha256::digest(token.as_bytes()).into()
}

impl Remembered {
    pub(crate) fn get(&self, key: &Fingerprint, now: u64) -> Option<Arc<Caller>> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = generations.young.get(key) {
            return (now < entry.until).then(|| Arc::clone(&entry.caller));
        }
        let entry = generations.old.remove(key).filter(|entry| now < entry.until)?;
        let caller = Arc::clone(&entry.caller);
        generations.insert(*key, entry);
        Some(caller)
    }

    /// Remembers `caller` until `expires` (exclusive, in seconds), or for [`REMEMBERED_SECONDS`] if that is sooner.
    pub(crate) fn put(&self, key: Fingerprint, caller: Arc<Caller>, expires: u64, now: u64) {
        let until = expires.min(now.saturating_add(REMEMBERED_SECONDS));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Entry { caller, until });
    }
}

impl Generations {
    fn insert(&mut self, key: Fingerprint, entry: Entry) {
        if self.young.len() >= GENERATION_TOKENS {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Kind;

    fn caller() -> Arc<Caller> {
        Arc::new(Caller {
            org: "acme".into(),
            subject: "a".into(),
            kind: Kind::Agent,
            groups: vec![],
            operator: false,
            person: None,
            client: None,
            may_decide: false,
        })
    }

    #[test]
    fn nothing_is_remembered_past_its_expiry_or_for_too_long() {
        let memory = Remembered::default();
        memory.put([1; 32], caller(), 1_100, 1_000);
        memory.put([2; 32], caller(), 999_999, 1_000);
        assert!(memory.get(&[1; 32], 1_099).is_some());
        assert!(memory.get(&[1; 32], 1_100).is_none());
        assert!(memory.get(&[2; 32], 1_000 + REMEMBERED_SECONDS - 1).is_some());
        assert!(memory.get(&[2; 32], 1_000 + REMEMBERED_SECONDS).is_none());
        assert!(memory.get(&[3; 32], 0).is_none());
    }

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let memory = Remembered::default();
        let hot = fingerprint("hot");
        memory.put(hot, caller(), u64::MAX, 0);
        for index in 0..3 * GENERATION_TOKENS {
            memory.put(fingerprint(&index.to_string()), caller(), u64::MAX, 0);
            assert!(memory.get(&hot, 0).is_some(), "after {index}");
        }
        let generations = memory.0.lock().expect("not poisoned");
        assert!(generations.young.len() + generations.old.len() <= 2 * GENERATION_TOKENS);
        drop(generations);
        assert!(memory.get(&fingerprint("0"), 0).is_none(), "what is not used goes");
    }
}
