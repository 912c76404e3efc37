//! Everything of the hosted form that is AWS and neither table nor files.
//!
//! [`Settings`] come from the environment, checked all at once; [`connect`] makes of them a store whose idle runs are woken
//! by EventBridge Scheduler ([`schedules`]), whose claim tokens are sealed with keys of Secrets Manager ([`claim_keys`]),
//! and a bus that notices leave by ([`bus`]).
//!
//! Invariants: no setting is a secret; no error and no log line has one, or anything of run data, in it; every call is
//! bounded in time and tries.

#[cfg(all(feature = "faults", not(debug_assertions)))]
compile_error!("the feature `faults` makes calls fail on purpose: it is for test builds, never for a release");

pub mod bus;
pub mod claim_keys;
pub mod clients;
mod connect;
pub mod events;
#[cfg(feature = "faults")]
pub mod faults;
pub mod schedules;
pub mod settings;
mod why;

#[cfg(test)]
mod testing;

pub use bus::{EventBus, NoBus, Notify};
pub use claim_keys::ClaimKeys;
pub use connect::{Cloud, connect};
pub use schedules::Schedules;
pub use settings::{Problems, Settings};
