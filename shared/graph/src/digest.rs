//! SHA-256 as the protocols write it: `sha256:` and 64 hex digits.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// `sha256:` and 64 lower-case hex digits.
pub type Digest = String;

/// The digest of bytes.
pub fn digest_bytes(bytes: &[u8]) -> Digest {
    let mut out = String::with_capacity(71);
    out.push_str("sha256:");
    for byte in Sha256::digest(bytes) {
        out.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        out.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    out
}

/// The digest of a value's canonical JSON (RFC 8785).
///
/// A value that has no JSON form (a map whose keys are not text) has the digest of nothing; no document type here is one.
pub fn digest_value(value: &impl Serialize) -> Digest {
    digest_bytes(&serde_jcs::to_vec(value).unwrap_or_default())
}
