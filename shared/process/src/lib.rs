//! `PROCESS.md`: read, validate, hash, draw (core §2, §6.5).
//!
//! Pure: bytes in, a [`Document`] or every [`Problem`] at once out. Never touches a file, a clock or the environment.
//!
//! The way through: [`read()`] splits the file, loads the frontmatter as YAML 1.2 core (`yaml`), checks every rule of
//! core §2 and of the profiles over the tree (`read`) and over the graph of steps (`graph`), and builds the [`Document`].
//! No recursion follows the input deeper than [`limits::DEPTH_LEVELS`].

mod graph;
mod hash;
pub mod limits;
pub mod map;
mod model;
mod problem;
mod read;
pub mod value;
mod yaml;

pub use hash::content_hash;
pub use model::*;
pub use problem::{Problem, Reading, Severity};
pub use read::{ReadOptions, read, read_in_folder, read_with};
pub use yaml::yaml;
