//! What the tests are written with: the stack, an organization on it, faults, and AWS itself.

mod aws;
mod faults;
mod org;
mod stack;

use std::future::Future;
use std::time::{Duration, Instant};

pub use aws::Aws;
pub use faults::{Fault, strike};
pub use org::{Answer, Ended, Org, Who, submission};
pub use stack::{alone, beside, stack};

/// Longest that something which must come about by itself is waited for, in seconds: a timer that is tried thrice while
/// nothing answers takes most of it.
const EVENTUALLY_SECONDS: u64 = 150;

/// Pause between two looks at something that must come about, in milliseconds.
const LOOK_MILLIS: u64 = 250;

/// Looks until `look` finds something, and fails when it never does.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let end = Instant::now() + Duration::from_secs(EVENTUALLY_SECONDS);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < end, "did not come about within {EVENTUALLY_SECONDS} seconds: {what}");
        pass(LOOK_MILLIS).await;
    }
}

/// Lets time pass.
pub async fn pass(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// The instant in so many seconds, as an input of a process.
pub fn in_seconds(seconds: u64) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    run::Time::from_millis(i64::try_from(since.as_millis()).unwrap()).plus_seconds(seconds).to_string()
}

/// An id that nobody used.
pub fn fresh() -> String {
    let bytes: [u8; 12] = rand::random();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
