//! Trying a write again that lost a race or met a passing fault: a bounded number of times, with longer and longer pauses.

use std::time::Duration;

use crate::error::Error;
use crate::store::Store;

/// How often a write that lost a race reads and decides again before the caller is told to.
pub const WRITE_ATTEMPTS: u32 = 5;

/// Longest pause before the second attempt, in milliseconds; it doubles with each further one. Long enough that thirty
/// branches of a run that are submitted at one moment, or as many writers as a partition has to throttle, mostly get through;
/// short enough that all pauses together fit a function's deadline beside an evaluator that is asked twice.
const PAUSE_MILLIS: u64 = 160;

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
        tokio::time::sleep(Duration::from_millis(self.ids.random(longest(attempt)))).await;
    }
}

/// Longest pause after so many attempts, in milliseconds.
fn longest(attempts: u32) -> u64 {
    PAUSE_MILLIS << attempts.clamp(1, WRITE_ATTEMPTS).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CHECK_SECONDS;

    #[test]
    fn a_write_that_an_evaluator_is_asked_about_twice_may_still_lose_every_race_but_the_last() {
        const FUNCTION_MILLIS: u64 = 30_000;
        let pauses: u64 = (1..WRITE_ATTEMPTS).map(longest).sum();
        assert_eq!(pauses, 160 + 320 + 640 + 1_280);
        // One pause between the two times that the evaluator is asked, and some time for storage.
        assert!(2 * CHECK_SECONDS * 1_000 + 1_000 + pauses + 2_000 <= FUNCTION_MILLIS);
    }
}
