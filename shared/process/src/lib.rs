//! `PROCESS.md`: read, validate, hash, draw (core §2, §6.5).
//!
//! Pure: bytes in, a [`Document`] or every [`Problem`] at once out. Never touches a file, a clock or the environment.

mod model;

pub use model::*;
