//! What the journal holds: facts. Whatever follows from one stands beside it as another, and folding has nothing to decide.
//!
//! Journals stay readable for ever. A variant or field is never renamed, removed or given another meaning; a new field
//! has a default, and a new meaning is a new variant.
//!
//! An entry is read from its text. By way of a `serde_json::Value` the number `-0` would lose its sign, and the snapshot
//! of a run read so would not be the one that was given out.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Ended, HeldEvent, Item, Meta, Note, Record, Time};

/// The version of the entries this code writes; it reads this one and every earlier one.
pub const ENTRY_VERSION: u32 = 1;

/// One accepted write: one item of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The version of this entry's form.
    pub v: u32,
    /// Its place in the journal, from 1, without gaps.
    pub rev: u64,
    /// When it was written; never before the entry that it follows.
    pub at: Time,
    /// The subject whose call this was, or `server` for a timer.
    pub by: String,
    /// The tool that was called, or `timer`.
    pub tool: String,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// One thing that happened to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// Tagged from outside: a tag inside would buffer the content, and numbers would lose their text on the way.
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run started. Always the first event, and only there.
    Started {
        /// What never changes.
        meta: Meta,
        /// What it starts with.
        inputs: Map<String, Value>,
    },
    /// An agent step became ready: a new attempt.
    Ready {
        /// The step.
        step: String,
        /// When: the attempt's `readySince`.
        at: Time,
        /// When it is overdue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<Time>,
    },
    /// A person step became ready: a new attempt with a work item.
    Assigned {
        /// The step.
        step: String,
        /// When.
        at: Time,
        /// When it is overdue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<Time>,
        /// The work item.
        item: Item,
    },
    /// A wait began: a new attempt.
    Waiting {
        /// The step.
        step: String,
        /// When.
        at: Time,
        /// When it continues by itself; a `wait_for` without timeout has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// A step completed; an earlier completion that was still current moves to its history.
    Completed {
        /// The step.
        step: String,
        /// The completion.
        record: Record,
    },
    /// A step passed without a record: a finish was reached.
    Reached {
        /// The step.
        step: String,
    },
    /// A rejection into `on_reject`: the approval waits for re-entry, its decision stays current.
    Rejected {
        /// The approval.
        step: String,
        /// The rejection.
        record: Record,
    },
    /// These steps' current completions moved to history, and the steps are not reached any more.
    Rewound {
        /// The steps.
        steps: Vec<String>,
    },
    /// An agent gave a step to a person of the operators group, or a check was unsure of what was submitted; the same attempt
    /// goes on.
    Escalated {
        /// The step.
        step: String,
        /// The work item, its `escalation` set.
        item: Item,
    },
    /// A person gave an escalated step back; the same attempt goes on.
    Returned {
        /// The step.
        step: String,
        /// The note, who and when: what `handoff.returned` tells whoever works on it next.
        returned: Note,
        /// On a task: the work item of whoever it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<Item>,
    },
    /// A parallel step was reached: it waits until every branch has joined. The entries become ready by events of their own.
    Forked {
        /// The parallel step.
        step: String,
        /// When.
        at: Time,
    },
    /// A branch reached the join.
    Arrived {
        /// The parallel step.
        step: String,
        /// The branch, by its entry.
        entry: String,
    },
    /// The last branch had joined: the parallel step is done, and the run goes on at its `next`.
    Joined {
        /// The parallel step.
        step: String,
    },
    /// The due time of a step passed.
    Overdue {
        /// The step.
        step: String,
        /// The due time.
        at: Time,
    },
    /// An event arrived that no ready wait asked for.
    Held {
        /// The event.
        held: HeldEvent,
    },
    /// An event was taken by a wait, which completes with its data.
    Consumed {
        /// The event's number.
        number: u32,
        /// The wait.
        step: String,
    },
    /// A step failed and so ended the run.
    Failed {
        /// The step.
        step: String,
        /// `decision: failed` with its note.
        record: Record,
    },
    /// The run ended or was cancelled; these steps were unfinished and are cancelled.
    Ended {
        /// How.
        ended: Ended,
        /// The unfinished steps.
        cancelled: Vec<String>,
    },
}
