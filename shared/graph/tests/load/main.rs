//! Providers that load, and Providers that are refused: in memory, on disk, large ones and broken ones.

mod broken;
mod large;
mod on_disk;
mod refused;
mod small;
mod whole;
