//! Bundles: deterministic, relocatable, complete (section-run).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::documents::Bundle;
use crate::failure::Failure;
use crate::load::Provider;
use crate::source::Source;

/// A bundle in memory.
#[derive(Debug, Clone)]
pub struct BuiltBundle {
    /// Its manifest.
    pub manifest: Bundle,
    /// Its files by path, `manifest.json` and the normalized `provider.yaml` included.
    pub files: BTreeMap<String, Arc<[u8]>>,
}

/// Builds the bundle of a loaded Provider.
///
/// # Errors
///
/// `build-absolute-path-leak`, and what reading can come to.
pub fn build(source: &dyn Source, provider: &Provider) -> Result<BuiltBundle, Failure> {
    let _ = (source, provider);
    todo!()
}

/// Holds a loaded Provider to the bundle manifest that it came with.
///
/// # Errors
///
/// The `bundle-…` codes.
pub(crate) fn verify(source: &dyn Source, provider: &Provider, bundle: &Bundle) -> Result<(), Failure> {
    let _ = (source, provider, bundle);
    todo!()
}
