//! What a view shows that the journal does not know: claims, and what attempts have left behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Attempt, Handoff, Reply, Run, Time};

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

    /// What the answer to this reply shows of it. A request record keeps that, so that a repeated call shows what the first
    /// one did: the handoff of a leased step alone, and in a view those of open work items, at most [`OVERLAY_BYTES`] of
    /// them. The largest are left out first, for a run with many branches may have left more behind than one item holds.
    #[must_use]
    pub fn told(mut self, run: &Run, reply: &Reply) -> Overlay {
        match reply {
            Reply::Sent { .. } => return Overlay::default(),
            Reply::Leased { step, .. } => {
                let handoffs = self.handoffs.remove_entry(step).into_iter().collect();
                return Overlay { claimed: Vec::new(), handoffs };
            }
            Reply::View => self.handoffs.retain(|id, _| run.step(id).is_some_and(|s| s.item.is_some())),
        }
        let bytes = |handoff: &Handoff| serde_json::to_string(handoff).map_or(0, |text| text.len());
        let mut sizes: Vec<(usize, String)> = self.handoffs.iter().map(|(id, h)| (bytes(h), id.clone())).collect();
        let mut total: usize = sizes.iter().map(|(size, _)| size).sum();
        sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
        for (size, id) in sizes {
            if total <= OVERLAY_BYTES {
                break;
            }
            self.handoffs.remove(&id);
            total -= size;
        }
        self
    }
}

/// Most bytes of handoffs that the view of a write shows, as JSON. `get_run` shows all of them.
pub const OVERLAY_BYTES: usize = 192 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Item};

    fn run() -> Run {
        let at = Time::from_millis(0);
        let started = r#"{"v":1,"rev":1,"at":"2026-01-01T00:00:00.000Z","by":"a","tool":"start_run","events":[
            {"started":{"meta":{"id":"r_1","process":"p","version":1,"mode":"live","startedBy":"a",
             "startedAt":"2026-01-01T00:00:00.000Z"},"inputs":{}}}]}"#;
        let entry: crate::Entry = serde_json::from_str(started).unwrap();
        let mut run = crate::fold([&entry]).unwrap().unwrap();
        for (step, number) in [("small", 1), ("large", 2)] {
            let item = Item {
                id: run.item_id(number),
                assigned: crate::Assigned::Group("g".to_owned()),
                since: at,
                escalation: None,
            };
            run.apply(&Event::Assigned { step: step.to_owned(), at, due: None, item });
        }
        run.apply(&Event::Ready { step: "agents".to_owned(), at, due: None });
        run
    }

    #[test]
    fn an_answer_tells_what_it_shows_and_no_more() {
        let mut overlay = Overlay { claimed: vec!["agents".to_owned()], handoffs: BTreeMap::new() };
        for (step, bytes) in [("agents", 10), ("small", 10), ("large", OVERLAY_BYTES)] {
            let handoff = Handoff { progress: Some("x".repeat(bytes)), ..Handoff::default() };
            overlay.handoffs.insert(step.to_owned(), handoff);
        }
        let run = run();
        let steps = |overlay: &Overlay| overlay.handoffs.keys().cloned().collect::<Vec<_>>();

        let view = overlay.clone().told(&run, &Reply::View);
        assert_eq!((steps(&view), view.claimed.len()), (vec!["small".to_owned()], 1));
        let leased = Reply::Leased { step: "large".to_owned(), attempt: 1, lease: 1, expires_at: Time::from_millis(0) };
        assert_eq!(steps(&overlay.clone().told(&run, &leased)), ["large"], "what a claim hands over is whole");
        assert_eq!(overlay.told(&run, &Reply::Sent { consumed_by: None }), Overlay::default());
    }
}
