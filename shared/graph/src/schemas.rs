//! The published schemas, and documents held to them: every fault at once, each with `schema.<keyword>`.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// The published schemas by name, in the order in which they are listed: the files of `schemas/agent-graph`.
pub const SCHEMAS: &[(&str, &str)] = &[];

/// The text of a published schema.
///
/// # Errors
///
/// `schema-type-unknown`.
pub fn schema_named(name: &str) -> Result<&'static str, Failure> {
    let _ = name;
    todo!()
}

/// A document of the named schema, from the text of a file (YAML or JSON) at `path`.
///
/// # Errors
///
/// `parse-failed`, `schema-invalid` with a diagnostic a fault.
pub(crate) fn document<T: DeserializeOwned>(name: &str, path: &str, text: &[u8]) -> Result<T, Failure> {
    let _ = (name, path, text);
    todo!()
}

/// A value held to a published schema and read into its type.
///
/// # Errors
///
/// `schema-invalid` with a diagnostic a fault.
pub(crate) fn valid<T: DeserializeOwned>(name: &str, path: &str, value: &Value) -> Result<T, Failure> {
    let _ = (name, path, value);
    todo!()
}
