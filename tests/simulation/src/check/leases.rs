//! One actor at a time (core §6.2): what a transaction may do to leases.

use std::collections::BTreeMap;

use run::{Attempt, Entry, Event, Time};
use store::request::Record;

use super::Known;

/// Everything that is wrong with what became of leases.
pub(super) fn wrong(
    before: &BTreeMap<String, Attempt>,
    after: &BTreeMap<String, Attempt>,
    record: Option<&Record>,
    entry: Option<&Entry>,
    request: Option<&Known>,
) -> Vec<String> {
    let mut bad = Vec::new();
    let tool = record.map_or("", |r| r.tool.as_str());
    let subject = record.and_then(|r| r.caller.split_once(':')).map_or("", |(_, s)| s);
    let at = record.map_or(Time::from_millis(0), |r| r.at);
    for (step, new) in after {
        let old = before.get(step).filter(|old| old.attempt == new.attempt);
        let old_lease = old.and_then(|a| a.lease.as_ref());
        let Some(lease) = &new.lease else { continue };
        if old_lease == Some(lease) {
            continue;
        }
        let next = old.map_or(0, |a| a.leases) + 1;
        let right = match tool {
            "claim" => old_lease.is_none_or(|l| l.expires_at <= at),
            "renew" => old_lease.is_some_and(|l| l.holder == subject && at < l.expires_at),
            _ => false,
        };
        if !right || lease.holder != subject || lease.serial != next || lease.expires_at <= at {
            bad.push(format!("step {step}: lease {old_lease:?} became {lease:?} by {tool} of {subject} at {at}"));
        }
    }
    if let Some(entry) = entry
        && matches!(entry.tool.as_str(), "submit" | "escalate")
    {
        let step = entry.events.iter().rev().find_map(|e| match (e, entry.tool.as_str()) {
            (Event::Completed { step, record }, "submit") if record.summary.is_some() => Some(step),
            (Event::Escalated { step, .. }, _) => Some(step),
            _ => None,
        });
        let held = step.and_then(|s| before.get(s)).and_then(|a| a.lease.as_ref());
        // Whoever was in time when the evaluator was asked is in time.
        let asked = request.iter().flat_map(|r| r.made.iter().filter_map(|m| m.asked_at));
        let at = asked.chain([entry.at]).min().unwrap_or(entry.at);
        if !held.is_some_and(|l| l.holder == entry.by && at < l.expires_at) {
            bad.push(format!("{} of {step:?} by {} at {} without a lease: {held:?}", entry.tool, entry.by, entry.at));
        }
    }
    bad
}

/// Whether a lease had ended when what was handed in under it was written: the evaluator had been asked in time.
pub(super) fn outlived(before: &BTreeMap<String, Attempt>, entry: &Entry) -> bool {
    let over = |step: &str| {
        before
            .get(step)
            .and_then(|a| a.lease.as_ref())
            .is_some_and(|l| l.holder == entry.by && l.expires_at <= entry.at)
    };
    entry.tool == "submit"
        && entry.events.iter().any(|e| match e {
            Event::Completed { step, record } => record.check.is_some() && over(step),
            Event::Escalated { step, .. } => over(step),
            _ => false,
        })
}
