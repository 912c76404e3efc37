//! What a view shows that the journal does not know: claims, and what attempts have left behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Attempt, Handoff, Run, Time};

/// What a view needs beside the journal: which ready steps are claimed, and what attempts have left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Overlay {
    /// Steps with a live lease.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<String>,
    /// By step: the handoff, where there is one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub handoffs: BTreeMap<String, Handoff>,
}

impl Overlay {
    /// The overlay at this moment.
    pub fn of(run: &Run, attempts: &BTreeMap<String, Attempt>, now: Time) -> Overlay {
        let mut overlay = Overlay::default();
        for (step, attempt) in attempts {
            if run.step(step).is_none_or(|s| s.attempt != attempt.attempt) {
                continue;
            }
            if attempt.live(now).is_some() {
                overlay.claimed.push(step.clone());
            }
            if !attempt.handoff.is_empty() {
                overlay.handoffs.insert(step.clone(), attempt.handoff.clone());
            }
        }
        overlay
    }

    /// The same with at most [`OVERLAY_BYTES`] of handoffs: the largest are left out first, that of `kept` last. A request
    /// record keeps an overlay, and a run with many branches may have left more behind than one item holds.
    #[must_use]
    pub fn bounded(mut self, kept: Option<&str>) -> Overlay {
        let bytes = |handoff: &Handoff| serde_json::to_string(handoff).map_or(0, |text| text.len());
        let mut sizes: Vec<(bool, usize, String)> =
            self.handoffs.iter().map(|(id, h)| (Some(id.as_str()) == kept, bytes(h), id.clone())).collect();
        let mut total: usize = sizes.iter().map(|(_, size, _)| size).sum();
        sizes.sort_by_key(|(kept, size, _)| (*kept, std::cmp::Reverse(*size)));
        for (_, size, id) in sizes {
            if total <= OVERLAY_BYTES {
                break;
            }
            self.handoffs.remove(&id);
            total -= size;
        }
        self
    }
}

/// Most bytes of handoffs that a write's answer shows, as JSON. `get_run` shows all of them.
pub const OVERLAY_BYTES: usize = 192 * 1024;
