//! The run's journal, attempts, request records, work lists, catalogue, evidence and timers.
//!
//! [`Store`] is written against two seams, [`table`] and [`files`], and against the traits in [`context`]; [`dynamo`]
//! and [`s3`] implement the seams with the AWS clients, hosted and embedded alike. The write path is in [`write`]: two
//! rounds, one to read and one to commit.

pub mod catalogue;
mod changes;
mod check;
mod claims;
pub mod context;
pub mod counting;
pub mod dynamo;
pub mod error;
pub mod evidence;
pub mod files;
pub mod graph_runs;
mod guided;
pub mod keys;
pub mod lists;
#[cfg(any(test, feature = "memory"))]
pub mod memory;
mod merge;
pub mod partition;
pub mod providers;
mod provision;
mod publication;
pub mod request;
pub mod runs;
pub mod s3;
pub mod seal;
pub mod store;
pub mod table;
mod tries;
pub mod wake;
pub mod work;
pub mod write;

pub use check::CHECK_SECONDS;
pub use context::{Alarm, Alarms, Clock, Evaluator, Ids, NoAlarms, RandomIds, SystemClock};
pub use error::Error;
pub use evidence::EvidenceRef;
pub use graph_runs::{GraphCommand, GraphLimits, GraphRun};
pub use guided::{GraphGiven, GraphPin};
pub use merge::Page;
pub use providers::{GraphListed, Pin, ProviderRef, PublishedProvider};
pub use provision::{ProvisionError, provision};
pub use request::Request;
pub use seal::{ClaimToken, Seal, SealKey};
pub use store::{Parts, Settings, Store};
pub use tries::WRITE_ATTEMPTS;
