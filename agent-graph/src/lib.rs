//! The command `agent-graph`: Providers and their Graphs on one machine.
//!
//! The crate `graph` decides; here are the edges: arguments, files, locks, processes and what is printed. Nothing here runs
//! an Action, but for the materializer of a Resource that `resource materialize` was asked for.

pub mod authoring;
pub mod call;
pub mod files;
pub mod hints;
pub mod limits;
pub mod materializer;
pub mod runs;
pub mod select;
pub mod shell;
pub mod values;
pub mod verbs;
