//! Every transition of a run: what it does, what it refuses when it is asked for again, and what it refuses altogether.
//! One file a topic. The [`common::Play`] checks at every step that the events lead to the run, also after they were
//! written down and read again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../common/mod.rs"]
mod common;

mod acceptance;
mod candidates;
mod check_effects;
mod checks;
mod claims;
mod endings;
mod escalations;
mod graphs;
mod inquiries;
mod parallel;
mod parallel_endings;
mod parallel_rework;
mod parallel_time;
mod people;
mod rework;
mod starts;
mod waits;
