//! The content hash (core §6.5): SHA-256 over the RFC 8785 form of the frontmatter, a line feed, and the body.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::model::Document;

/// The content hash in lower-case hexadecimal, 64 characters. How the frontmatter is spelled does not count; every byte
/// of the body does. Numbers count as the doubles they are nearest to (RFC 8785).
pub fn content_hash(document: &Document) -> String {
    let mut hash = Sha256::new();
    // Writing to memory cannot fail, and `read` refuses numbers that are not finite; what failed would be left out.
    hash.update(serde_jcs::to_vec(&document.frontmatter).unwrap_or_default());
    hash.update(b"\n");
    hash.update(document.body.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
