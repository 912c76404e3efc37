//! agent-graph v1: documents, loader, evaluation, routes, runs, tests and bundles.
//!
//! Pure but for [`disk`], the edge: nothing else here reads a file, a clock or the environment, or makes an id. A
//! [`Source`] hands over the bytes of a Provider's files; [`load`] reads and checks everything that is reachable from the
//! manifest; the rest works on the loaded [`Provider`].

mod bundle;
mod digest;
pub mod disk;
pub mod documents;
mod evaluate;
mod failure;
mod faults;
mod host;
mod inspect;
mod keys;
pub mod limits;
mod load;
mod locate;
mod notes;
mod route;
mod run;
mod schemas;
mod skill;
mod source;
mod tests_runner;
mod version;

pub use bundle::{BUNDLE_MANIFEST, BuiltBundle, PROVIDER_MANIFEST, build, refuse_overlap};
pub use digest::{Digest, digest_bytes, digest_value};
pub use evaluate::{Candidate, Evaluated, State, evaluate, proof};
pub use failure::{Diagnostic, Failure, Severity};
pub use host::{input_digest, read_receipt, validate_host_action_result, validate_host_action_result_of};
pub use inspect::{inspect, validated};
pub use keys::{near_keys, node_at, recordable};
pub use load::{Loaded, Provider, load};
pub use locate::{Places, code_list, code_locate, locate, receipts};
pub use notes::notes;
pub use route::{RouteRequest, route};
pub use run::{Change, checkpoint, read as read_run, record, resume, set_authorities, set_facts, start};
pub use schemas::{SCHEMAS, schema_named};
pub use skill::{Locator, Registry, SkillClaim};
pub use source::{Memory, Source};
pub use tests_runner::{TestReport, run_test};
pub use version::{is_prerelease, precedence};
