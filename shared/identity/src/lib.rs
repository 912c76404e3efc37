//! Bearer token to caller, and what a caller may do.
//!
//! [`Verifier`] turns the `Authorization` header of a request into a [`Caller`]; [`permit`] says which tool a caller may
//! call. Invariants: nothing here trusts a claim before the signature over it was verified with a key of the configured
//! issuer; only asymmetric algorithms are ever accepted; no error of this crate carries any part of a token.

mod caller;
pub mod config;
pub mod fetch;
mod keys;
mod permit;
mod remembered;
mod verify;

pub use caller::{Caller, Kind};
pub use config::{ClaimNames, Config, IssuerConfig};
pub use fetch::{FetchError, FetchKeys, HttpFetch, install_tls};
pub use permit::{
    AGENT_TOOLS, Denied, GRAPH_TOOLS, OPERATOR_TOOLS, TOOLS, When, may_decide, may_give_authority, permit,
};
pub use verify::{AuthError, LEEWAY_SECONDS, TOKEN_BYTES, Verifier};
