//! The hosted form where things go wrong: functions that end in the middle of a call, timers that fire twice, late, or not
//! at all, services of AWS that throttle, fail and lose answers, keys that rotate, and people who are to be told.
//!
//! It runs against a stack whose functions were built with the faults switched on, such as `localstack/deploy --faults`
//! makes; `PROCESSION_HOSTED` names the file that says where that stack is, when it is not that one. Every fault strikes one
//! organization, so that tests run beside each other; a test that has to be alone says so.
//!
//! Each test ends by holding the stored journal to what was acknowledged: no gap, nothing lost, nothing twice.

#![allow(missing_docs, reason = "a test program has no public items")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is how a test fails"
)]

mod conflicts;
mod dead_letters;
mod firings;
mod harness;
mod kills;
mod notices;
mod outages;
mod rotation;
