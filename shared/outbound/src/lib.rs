//! HTTP to others: one client, for endpoints that are asked directly and for the AWS SDK alike.
//!
//! Invariants: one TLS implementation in the whole program; no redirect is followed; what is read of an answer is bounded.

mod connector;
mod http;

pub use connector::client;
pub use http::{Fault, Http};
