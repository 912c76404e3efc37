//! Argument shapes that several tools share.

use run::ShownKind;
use schemars::JsonSchema;
use serde::Deserialize;
use store::EvidenceRef;

/// Most items of evidence that one submission attaches. With the names and types of so many files its entry still fits
/// one item of the table.
pub(super) const EVIDENCE_ITEMS: usize = 50;

/// Items on a page when the caller does not say.
pub(super) const PAGE_ITEMS: usize = 20;

/// An attached piece of evidence.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct EvidenceItem {
    /// `file` for an upload, `link` for a URL or document number.
    pub kind: ShownKind,
    /// The id that upload returned, or the URL or document number.
    #[schemars(length(min = 1), regex(pattern = r"\S"))]
    pub r#ref: String,
}

/// The evidence as the store looks it up.
pub(super) fn refs(evidence: Option<Vec<EvidenceItem>>) -> Vec<EvidenceRef> {
    evidence
        .unwrap_or_default()
        .into_iter()
        .map(|item| match item.kind {
            ShownKind::File => EvidenceRef::File(item.r#ref),
            ShownKind::Link => EvidenceRef::Link(item.r#ref),
        })
        .collect()
}

/// A text that says something; blank counts as missing.
pub(super) fn given(text: Option<String>) -> Option<String> {
    text.filter(|t| !t.trim().is_empty())
}
