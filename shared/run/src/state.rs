//! What a run is after its journal is folded: the only state that decisions are made from.
//!
//! Nothing here knows of leases. Whether an agent step is being worked is said by its [`crate::Attempt`], which changes
//! without the journal; so a `ready` step may at this moment be claimed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Assigned, Escalation, Item, Record, Time};

/// A run, folded from its journal up to [`Run::rev`].
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What never changes after the start.
    pub meta: Meta,
    /// The revision of the last entry folded in; 1 is the start.
    pub rev: u64,
    /// The time of the last entry folded in.
    pub updated_at: Time,
    /// What the run started with.
    pub inputs: Map<String, Value>,
    /// Every step that was ever reached, by id.
    pub steps: BTreeMap<String, StepState>,
    /// Events that no wait has consumed yet, oldest first.
    pub held: Vec<HeldEvent>,
    /// How many events were sent to this run: the next held event's number is one more.
    pub events_received: u32,
    /// How many work items this run has made: the next one's number is one more.
    pub items_issued: u32,
    /// How many completions this run has recorded: orders them.
    pub completions: u32,
    /// Set once the run ended or was cancelled.
    pub ended: Option<Ended>,
}

/// What never changes after the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// The run's id.
    pub id: String,
    /// The process's name.
    pub process: String,
    /// The version this run keeps for life (core §6.5).
    pub version: u64,
    /// Live or test.
    pub mode: Mode,
    /// The subject that started it.
    pub started_by: String,
    /// When it started.
    pub started_at: Time,
    /// The starter's `person` value; absent when an agent started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiator: Option<String>,
}

/// Whether a run may have effects outside the server (core §3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Mode {
    /// The real thing.
    Live,
    /// A rehearsal: no real effects, no notifications.
    Test,
}

/// One step that was reached at least once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepState {
    /// Where the step is; `None` when it was rewound.
    pub status: Option<Status>,
    /// How often the step was made ready; the number of its current attempt.
    pub attempt: u32,
    /// When the current attempt started.
    pub ready_since: Option<Time>,
    /// When the current attempt is overdue, on steps that declare `due`.
    pub due: Option<Time>,
    /// Whether the due time passed and was noted.
    pub overdue: bool,
    /// When a wait continues by itself: the end of `wait` and `wait_until`, the timeout of `wait_for`.
    pub until: Option<Time>,
    /// The open work item, on person steps and escalated ones.
    pub item: Option<Item>,
    /// Who the attempt's work is for, on a person step: fixed when the attempt began. An escalation goes to others and comes
    /// back to them.
    pub assignee: Option<Assigned>,
    /// The revision whose entry escalated the step, while it is escalated: where its candidate can be read.
    pub escalated_rev: Option<u64>,
    /// On a parallel step, the entries of the branches that have joined since the fork.
    pub arrived: Vec<String>,
    /// On a parallel step that is done, how many completions the run had recorded when it joined: its place among them.
    pub joined_at: Option<u32>,
    /// The current completion.
    pub current: Option<Record>,
    /// Earlier completions, oldest first.
    pub history: Vec<Record>,
}

/// Where a step is (core §3.5). `claimed` is `Ready` with a live lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// An agent may claim it, or has.
    Ready,
    /// A person, a time or an event is awaited.
    Waiting,
    /// It completed.
    Done,
    /// Its failure ended the run.
    Failed,
    /// The run ended before it completed.
    Cancelled,
}

/// An event that waits for its wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldEvent {
    /// Its number among the run's events.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Its data.
    pub data: Map<String, Value>,
    /// Who sent it.
    pub by: String,
}

/// How a run ended (core §3.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// Whether it was cancelled; it ended by itself otherwise.
    pub cancelled: bool,
    /// A finish outcome, `rejected` or `failed`; `None` when cancelled.
    pub outcome: Option<String>,
    /// Who ended it: a subject, or `server`.
    pub by: String,
    /// When.
    pub at: Time,
    /// The reason, the note, or nothing.
    pub note: Option<String>,
}

impl StepState {
    /// Why the step waits on a person of the operators group, when it does.
    pub fn escalation(&self) -> Option<&Escalation> {
        self.item.as_ref()?.escalation.as_ref()
    }
}

impl Run {
    /// The state of a step, when it was ever reached.
    pub fn step(&self, id: &str) -> Option<&StepState> {
        self.steps.get(id)
    }

    /// The open work item with this id, and its step.
    pub fn open_item(&self, id: &str) -> Option<(&str, &Item)> {
        self.steps.iter().find_map(|(step, s)| s.item.as_ref().filter(|i| i.id == id).map(|i| (step.as_str(), i)))
    }

    /// The id of this run's work item with this number.
    pub fn item_id(&self, number: u32) -> String {
        format!("w_{}_{number}", self.bare_id())
    }

    /// Whether this run ever made a work item with this id.
    pub fn issued(&self, item: &str) -> bool {
        item.strip_prefix("w_")
            .and_then(|rest| rest.strip_prefix(self.bare_id()))
            .and_then(|rest| rest.strip_prefix('_'))
            .filter(|n| !n.starts_with(['0', '+']))
            .and_then(|n| n.parse::<u32>().ok())
            .is_some_and(|n| n <= self.items_issued)
    }

    fn bare_id(&self) -> &str {
        self.meta.id.strip_prefix("r_").unwrap_or(&self.meta.id)
    }

    /// `active`, `waiting`, `ended` or `cancelled` (core §3.5).
    pub fn state(&self) -> RunState {
        match &self.ended {
            Some(e) if e.cancelled => RunState::Cancelled,
            Some(_) => RunState::Ended,
            None if self.steps.values().any(|s| s.status == Some(Status::Ready)) => RunState::Active,
            None => RunState::Waiting,
        }
    }
}

/// The state of a run as everybody sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum RunState {
    /// Some step is ready or claimed.
    Active,
    /// Only people, timers, events or escalations are pending.
    Waiting,
    /// It ended with an outcome.
    Ended,
    /// An operator cancelled it.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_knows_the_items_it_made() {
        let at = Time::from_millis(0);
        let run = |id: &str| Run {
            meta: Meta {
                id: id.to_owned(),
                process: "p".to_owned(),
                version: 1,
                mode: Mode::Live,
                started_by: "mira".to_owned(),
                started_at: at,
                initiator: None,
            },
            rev: 1,
            updated_at: at,
            inputs: Map::new(),
            steps: BTreeMap::new(),
            held: Vec::new(),
            events_received: 0,
            items_issued: 12,
            completions: 0,
            ended: None,
        };
        for id in ["r_8f2", "r_r_8", "8f2", "r_", "r_1_2"] {
            let run = run(id);
            for number in 1..=12 {
                assert!(run.issued(&run.item_id(number)), "{id} {number}");
            }
            let first = run.item_id(1);
            for never in
                [run.item_id(0), run.item_id(13), format!("{first}x"), format!("x{first}"), first.to_uppercase()]
            {
                assert!(!run.issued(&never), "{id} {never}");
            }
            assert!(!run.issued(&first.replace("_1", "_+1")) && !run.issued(&first.replace("_1", "_01")));
            assert!(!run.issued("") && !run.issued("w_") && !run.issued("w_99999999999"));
        }
    }
}
