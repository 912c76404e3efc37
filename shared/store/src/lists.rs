//! List entries: what work lists, inboxes, run lists and timers say of one run.
//!
//! They are a pure function of the run and its attempts, so a write's list operations are the difference between what
//! was and what will be, in the same transaction as the change itself. No list ever disagrees with a run.

use std::collections::BTreeMap;

use run::{Attempt, Escalation, Handoff, Item, Mode, Note, Run, RunState, Status, StepState, Time, Timer, snapshot};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::keys;
use crate::table::{self, Key, Op, When};

/// An agent step in a work list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEntry {
    /// The run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The process.
    pub process: String,
    /// The version the run keeps.
    pub version: u64,
    /// Live or test.
    pub mode: Mode,
    /// When the attempt started.
    pub ready_since: Time,
    /// When it is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// What the previous attempt left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
}

/// An open work item in an inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemEntry {
    /// The run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The process.
    pub process: String,
    /// The version the run keeps.
    pub version: u64,
    /// Live or test.
    pub mode: Mode,
    /// The work item, without its candidate: that is as large as a submission, and an entry is written anew by every
    /// write that changes run data.
    pub item: Item,
    /// The revision whose entry holds the candidate, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate_rev: Option<u64>,
    /// The snapshot of run data after the write that this entry was made by; every write that changes run data makes
    /// it anew.
    pub snapshot: String,
    /// When it is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// What the previous attempt left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Handoff>,
}

/// A run in the lists of runs. Its inputs stay in the journal, so that an entry's size does not depend on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEntry {
    /// The run.
    pub run: String,
    /// The process.
    pub process: String,
    /// The version it keeps.
    pub version: u64,
    /// Its state.
    pub state: RunState,
    /// Its outcome.
    pub outcome: Option<String>,
    /// When it started.
    pub started_at: Time,
    /// When its journal last moved.
    pub updated_at: Time,
}

/// A timer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimerEntry {
    /// The organization.
    pub org: String,
    /// The run.
    pub run: String,
    /// When.
    pub at: Time,
    /// Which timer of the run, as in [`crate::Alarm::timer`].
    pub timer: String,
}

/// Notices of one write that people are to be told of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notices {
    /// The organization.
    pub org: String,
    /// The run.
    pub run: String,
    /// The process.
    pub process: String,
    /// The revision of the write.
    pub rev: u64,
    /// When.
    pub at: Time,
    /// What happened.
    pub notices: Vec<Notice>,
}

/// One thing people are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Notice {
    /// Somebody has new work.
    Work {
        /// The step.
        step: String,
        /// The work item.
        item: String,
        /// Who.
        assigned: run::Assigned,
        /// Set when an agent could not finish, or a check could not tell: why, without what was submitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalation: Option<Note>,
    },
    /// A step is overdue: its assignee, if a person's, and the operators are told.
    Overdue {
        /// The step.
        step: String,
        /// When it was due.
        due: Time,
        /// Who has it, when a person does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        assigned: Option<run::Assigned>,
    },
}

/// Every list entry of a run.
pub fn entries(org: &str, run: &Run, attempts: &BTreeMap<String, Attempt>) -> Result<BTreeMap<Key, Value>, Error> {
    with_work(org, run, &work(org, run, attempts)?)
}

/// The entry of each step in the work lists and inboxes, by step: all that a run's lists take from its attempts. A write
/// that changes one without writing the step's attempt must hold that attempt still, or it would undo what a claim said.
pub(crate) fn work(
    org: &str,
    run: &Run,
    attempts: &BTreeMap<String, Attempt>,
) -> Result<BTreeMap<String, (Key, Value)>, Error> {
    let mut all = BTreeMap::new();
    let id = &run.meta.id;
    let mut seen = None;
    for (step, state) in &run.steps {
        let attempt = attempts.get(step).filter(|a| a.attempt == state.attempt);
        let handoff = attempt.map(|a| a.handoff.clone()).filter(|h| !h.is_empty());
        if let Some(item) = &state.item {
            let snapshot = seen.get_or_insert_with(|| snapshot(run)).clone();
            let entry = ItemEntry {
                run: id.clone(),
                step: step.clone(),
                process: run.meta.process.clone(),
                version: run.meta.version,
                mode: run.meta.mode,
                item: without_candidate(item),
                candidate_rev: candidate_rev(item, state),
                snapshot,
                due: state.due,
                handoff,
            };
            let key = keys::inbox(org, &item.assigned, &item.id, item.since);
            all.insert(step.clone(), (key, doc(&entry)?));
        } else if let (Some(Status::Ready), Some(since)) = (state.status, state.ready_since) {
            let entry = StepEntry {
                run: id.clone(),
                step: step.clone(),
                process: run.meta.process.clone(),
                version: run.meta.version,
                mode: run.meta.mode,
                ready_since: since,
                due: state.due,
                handoff,
            };
            let key = match attempt.and_then(|a| a.lease.as_ref()) {
                Some(lease) => keys::leased(org, id, step, lease.expires_at),
                None => keys::ready(org, id, step, since),
            };
            all.insert(step.clone(), (key, doc(&entry)?));
        }
    }
    Ok(all)
}

fn without_candidate(item: &Item) -> Item {
    let escalation = item.escalation.as_ref().map(|e| Escalation { candidate: None, ..e.clone() });
    Item { escalation, ..item.clone() }
}

fn candidate_rev(item: &Item, state: &StepState) -> Option<u64> {
    item.escalation.as_ref().and_then(|e| e.candidate.as_ref()).and(state.escalated_rev)
}

/// The same entries by key, and with them those that attempts have no part in.
pub(crate) fn with_work(
    org: &str,
    run: &Run,
    work: &BTreeMap<String, (Key, Value)>,
) -> Result<BTreeMap<Key, Value>, Error> {
    let mut all: BTreeMap<Key, Value> = work.values().cloned().collect();
    let id = &run.meta.id;
    for (at, timer) in run::timers(run) {
        let (kind, step) = kind_and_step(&timer);
        let entry = TimerEntry { org: org.to_owned(), run: id.clone(), at, timer: timer_name(run, &timer) };
        all.insert(keys::timer(org, id, at, kind, step), doc(&entry)?);
    }
    let entry = RunEntry {
        run: id.clone(),
        process: run.meta.process.clone(),
        version: run.meta.version,
        state: run.state(),
        outcome: run.ended.as_ref().and_then(|e| e.outcome.clone()),
        started_at: run.meta.started_at,
        updated_at: run.updated_at,
    };
    all.insert(keys::runs(org, &run.meta.process, run.ended.is_some(), run.meta.started_at, id), doc(&entry)?);
    Ok(all)
}

fn kind_and_step(timer: &Timer) -> (&'static str, &str) {
    match timer {
        Timer::Overdue(step) => ("due", step),
        Timer::Continue(step) => ("wait", step),
    }
}

/// Names a timer among all that its run ever has: what it does, the step, and which of the step's attempts.
pub(crate) fn timer_name(run: &Run, timer: &Timer) -> String {
    let (kind, step) = kind_and_step(timer);
    format!("{kind}/{step}/{}", run.step(step).map_or(0, |s| s.attempt))
}

/// The operations that lead from one set of entries to another.
pub fn difference(before: &BTreeMap<Key, Value>, after: &BTreeMap<Key, Value>) -> Vec<Op> {
    let gone = before.keys().filter(|key| !after.contains_key(key));
    let gone = gone.map(|key| Op::Delete { key: key.clone(), when: When::Always });
    let new = after.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    let new = new.map(|(key, value)| Op::Put {
        item: table::Item { key: key.clone(), tag: String::new(), doc: value.clone() },
        when: When::Always,
    });
    gone.chain(new).collect()
}

/// A type of ours as a document.
pub(crate) fn doc<T: Serialize>(value: &T) -> Result<Value, Error> {
    serde_json::to_value(value).map_err(|e| Error::Invariant(format!("a document cannot be written: {e}")))
}

/// A document as a type of ours.
pub(crate) fn read<T: serde::de::DeserializeOwned>(item: table::Item) -> Result<T, Error> {
    let key = item.key;
    run::typed(item.doc).map_err(|e| Error::Invariant(format!("{} {} cannot be read: {e}", key.partition, key.sort)))
}
