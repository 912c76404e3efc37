//! Where Resources and codes are (section-resources, section-codes).

use crate::documents::{CodeLocation, ReadReceipts, ResourceLocation};
use crate::failure::Failure;
use crate::load::Provider;

/// How a path of the Provider, and the folders of Actions, are told to whoever asks.
#[derive(Debug, Clone)]
pub struct Places {
    /// What stands before a path of the Provider, without a slash at its end: the absolute root on one machine; empty where
    /// paths are told as they stand in the bundle.
    pub provider_root: String,
    /// The workspace.
    pub workspace: String,
}

/// Where a Resource is, by id or path.
///
/// # Errors
///
/// `resource-missing`.
pub fn locate(provider: &Provider, places: &Places, id_or_path: &str) -> Result<ResourceLocation, Failure> {
    let _ = (provider, places, id_or_path);
    todo!()
}

/// The Code Catalog as `code list` shows it: `{provider, catalog?, codes}`.
pub fn code_list(provider: &Provider, places: &Places) -> serde_json::Value {
    let _ = (provider, places);
    todo!()
}

/// Where a code leads.
///
/// # Errors
///
/// `code-missing`.
pub fn code_locate(provider: &Provider, places: &Places, code: &str) -> Result<CodeLocation, Failure> {
    let _ = (provider, places, code);
    todo!()
}

/// Receipts held to their schema and to this Provider.
///
/// # Errors
///
/// `schema-invalid`, `resource-receipts-provider-mismatch`.
pub fn receipts(provider: &Provider, value: &serde_json::Value) -> Result<ReadReceipts, Failure> {
    let _ = (provider, value);
    todo!()
}
