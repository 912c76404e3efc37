//! The command as it is installed: every verb, both formats, exit codes, limits, locks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod authoring;
mod building;
mod errors;
mod human;
mod materializing;
mod routing;
mod running;
mod session;
mod support;
