//! Materializers (section-resources): the one kind of program that the command runs, and only when it is asked to.
//!
//! `effect: read` is what an author promises, no sandbox. What is held here: a small environment, a process group that is
//! killed whole, limits of time and bytes, and nothing kept unless it ended well.

mod capture;
mod plan;

pub use capture::{Limits, capture};
pub use plan::{Given, Plan, plan};
