//! Trying a write again that lost a race or met a passing fault: a bounded number of times, with longer and longer pauses.

use std::time::Duration;

use crate::error::Error;
use crate::store::Store;

/// How often a write that lost a race reads and decides again before the caller is told to.
pub const WRITE_ATTEMPTS: u32 = 5;

/// Longest pause before the second attempt, in milliseconds; it doubles with each further one.
const PAUSE_MILLIS: u64 = 20;

/// The attempts at one write.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    made: u32,
    last: String,
}

impl Tries {
    /// Notes why an attempt failed.
    pub(crate) fn failed(&mut self, why: String) {
        self.last = why;
    }

    /// What the caller is told when no attempt is left.
    pub(crate) fn gave_up(self) -> Error {
        Error::Retry(self.last)
    }
}

impl Store {
    /// Whether there is another attempt to be made. Waits before each but the first.
    pub(crate) async fn again(&self, tries: &mut Tries) -> bool {
        if tries.made == WRITE_ATTEMPTS {
            return false;
        }
        if tries.made > 0 {
            self.pause_before(tries.made).await;
        }
        tries.made += 1;
        true
    }

    pub(crate) async fn pause(&self) {
        self.pause_before(1).await;
    }

    /// Waits a random time, longer at each attempt, so that two who raced do not race again.
    async fn pause_before(&self, attempt: u32) {
        let most = PAUSE_MILLIS << attempt.min(6);
        tokio::time::sleep(Duration::from_millis(self.ids.random(most))).await;
    }
}
