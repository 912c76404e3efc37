//! The command `procession`: one verb a file in `verbs`, and what several of them share beside it.

pub mod bench;
pub mod client;
pub mod demo;
pub mod server;
pub mod verbs;
