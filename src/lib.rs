//! The command `procession`: one verb a file in `verbs`, and the server that `dev`, `demo` and `bench` start.

pub mod server;
pub mod verbs;
