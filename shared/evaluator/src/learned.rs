//! What an endpoint turned out not to take.
//!
//! Models of one protocol differ in which optional parts of a request they accept, and say so only by refusing the whole
//! request. What was refused is left out from then on, for as long as the process runs. Invariant: it is only remembered
//! once the request without it was answered, so a refusal for another reason, whatever words it uses, changes nothing.

use std::sync::atomic::{AtomicU8, Ordering};

/// Parts of a request that are left out, one bit each.
#[derive(Debug, Default)]
pub(crate) struct Learned(AtomicU8);

impl Learned {
    /// The parts to leave out.
    pub(crate) fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Leaves these out from now on. Whether that is news.
    pub(crate) fn add(&self, parts: u8) -> bool {
        self.0.fetch_or(parts, Ordering::Relaxed) & parts != parts
    }
}
