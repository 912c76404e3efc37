//! What a host hands back for a Host-action Resource (section-resources).

use serde_json::Value;

use crate::digest::Digest;
use crate::documents::{HostActionLocation, HostActionResult};
use crate::failure::Failure;

/// The digest of `{handler, input.schema, input.value}`.
pub fn input_digest(location: &HostActionLocation) -> Digest {
    let _ = location;
    todo!()
}

/// Holds a host's result to the location that was asked for.
///
/// # Errors
///
/// `schema-invalid`, `host-action-handler-mismatch`, `host-action-input-mismatch`, `host-action-output-mismatch`.
pub fn validate_host_action_result(location: &HostActionLocation, result: &Value) -> Result<HostActionResult, Failure> {
    let _ = (location, result);
    todo!()
}
