//! What changes without the journal: the lease on a step, and what an attempt leaves behind.
//!
//! One attempt is one stored item. It exists while a step is being worked and something is to be remembered about it;
//! completion, rework and the end of the run remove it. A claim or a renewal is written here and leaves no journal entry.

use serde::{Deserialize, Serialize};

use crate::{Note, Time, Verdict};

/// Most bytes of issues that a handoff keeps, as JSON; the caller was shown all of them.
pub const HANDOFF_ISSUES_BYTES: usize = 16 * 1024;

/// The working state of one step's current attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The number of the step's attempt this belongs to.
    pub attempt: u32,
    /// How often this item was written; with `attempt` it names one state of the item.
    pub writes: u32,
    /// How many leases this attempt has given out; the last one's serial.
    pub leases: u32,
    /// The lease, live or expired; `None` when nobody holds the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// What this attempt leaves to whoever works on it next.
    #[serde(default, skip_serializing_if = "Handoff::is_empty")]
    pub handoff: Handoff,
    /// Names the submission that `handoff.check` failed, so that it is not evaluated a second time in this attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Attempt {
    /// An attempt that nobody has worked on.
    pub fn new(attempt: u32) -> Attempt {
        Attempt { attempt, writes: 0, leases: 0, lease: None, handoff: Handoff::default(), failed: None }
    }

    /// Names this state of the item: two states of one step never share a tag.
    pub fn tag(&self) -> String {
        format!("{}.{}", self.attempt, self.writes)
    }

    /// The lease, while it lasts.
    pub fn live(&self, now: Time) -> Option<&Lease> {
        self.lease.as_ref().filter(|l| now < l.expires_at)
    }
}

/// A claim's hold on a step (core §3.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Which lease of the attempt this is, from 1. A renewal is a new lease.
    pub serial: u32,
    /// The subject that holds it.
    pub holder: String,
    /// When it ends.
    pub expires_at: Time,
}

/// What the previous attempt at a step left behind (core §3.3); nothing of it on a first attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Handoff {
    /// The latest progress note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Set after a person gave the step back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Note>,
    /// The issues of the latest submission that was not accepted, or what a check could not say of the one that a person then
    /// sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issues: Option<Vec<String>>,
    /// The verdict of the latest check that did not let a submission pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Box<Verdict>>,
}

impl Handoff {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Handoff::default()
    }

    /// Keeps these issues, up to [`HANDOFF_ISSUES_BYTES`]; says how many were left out.
    pub fn keep_issues(&mut self, issues: &[String]) {
        self.issues = Some(shortened(issues, HANDOFF_ISSUES_BYTES));
    }
}

/// As many of the lines as this many bytes hold, from the first; a last one says how many were left out. The bytes are
/// those of JSON, for that is what is stored: a control character takes six there, and issues repeat what callers wrote.
pub(crate) fn shortened(lines: &[String], most: usize) -> Vec<String> {
    let mut bytes = 0;
    let fits = |line: &&String| {
        // Without the quotes. Writing a text to memory has no way to fail.
        bytes += serde_json::to_string(line).map_or(most, |text| text.len() - 2);
        bytes <= most
    };
    let mut kept: Vec<String> = lines.iter().take_while(fits).cloned().collect();
    if kept.len() < lines.len() {
        kept.push(format!("… and {} more", lines.len() - kept.len()));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lasts_until_its_very_end() {
        let end = Time::from_millis(1_000);
        let lease = Lease { serial: 1, holder: "ada".to_owned(), expires_at: end };
        let attempt = Attempt { lease: Some(lease), ..Attempt::new(1) };
        assert!(attempt.live(Time::from_millis(999)).is_some());
        assert!(attempt.live(end).is_none());
        assert!(Attempt::new(1).live(Time::from_millis(0)).is_none());
    }

    #[test]
    fn a_handoff_keeps_issues_up_to_its_limit_and_counts_the_rest() {
        let kept = |issues: &[String]| {
            let mut handoff = Handoff::default();
            handoff.keep_issues(issues);
            handoff.issues.unwrap()
        };
        let full = vec!["x".repeat(HANDOFF_ISSUES_BYTES / 2); 2];
        assert_eq!(kept(&full), full, "the limit itself is kept");
        let mut over = full.clone();
        over.extend(["y".to_owned(), "z".to_owned()]);
        assert_eq!(kept(&over), [full, vec!["… and 2 more".to_owned()]].concat());
        assert_eq!(kept(&["x".repeat(HANDOFF_ISSUES_BYTES + 1)]), ["… and 1 more"]);
        let escaped = vec!["\u{1}".repeat(HANDOFF_ISSUES_BYTES / 12); 2];
        assert!(kept(&escaped) == escaped && kept(&[escaped, vec!["\u{1}".repeat(2)]].concat()).len() == 3);
        assert_eq!(kept(&["\u{1}".repeat(HANDOFF_ISSUES_BYTES / 6 + 1)]), ["… and 1 more"], "as it is stored");
    }
}
