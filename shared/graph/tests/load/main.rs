//! Providers that load, and Providers that are refused: in memory, on disk, large ones and broken ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod broken;
mod large;
mod on_disk;
mod refused;
mod small;
mod whole;
