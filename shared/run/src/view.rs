//! The run view (tool contracts, Shared shapes): a run as everybody in the organization sees it. Never a token.
//!
//! A view is made of the folded run and an [`Overlay`], the little that the journal does not know. A recorded overlay
//! gives the same view again, which is how a repeated call gets its first answer.

use process::{Document, Step};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::RunData;
use crate::state::{Run, RunState, Status, StepState};
use crate::{Context, Mode, Overlay, Time, WorkItem};

/// What `start_run`, `get_run`, `submit`, `decide`, `escalate` and `cancel` return.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunView {
    /// The run itself.
    pub run: RunInfo,
    /// Run data.
    pub data: RunData,
    /// Every step of the process, in file order.
    pub steps: Vec<StepInfo>,
    /// The open work items, oldest first.
    pub work_items: Vec<WorkItem>,
    /// The body of PROCESS.md.
    pub body: String,
}

/// `run` of a run view.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct RunInfo {
    /// The run's id.
    pub id: String,
    /// The process's name.
    pub process: String,
    /// The version the run keeps.
    pub version: u64,
    /// Live or test.
    pub mode: Mode,
    /// The run's state.
    pub state: RunState,
    /// A finish outcome, `rejected` or `failed`; null until the run ended, and when it was cancelled.
    pub outcome: Option<String>,
    /// Null until the run ended or was cancelled.
    pub ended: Option<EndedInfo>,
    /// The subject that started it.
    pub started_by: String,
    /// When it started.
    pub started_at: Time,
    /// When its journal last moved.
    pub updated_at: Time,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct EndedInfo {
    /// A subject, or `server`.
    pub by: String,
    /// When.
    pub at: Time,
    /// The cancel reason, the failed or rejection note, or null for a finish.
    pub note: Option<String>,
}

/// One of `steps` of a run view.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct StepInfo {
    /// The step's id.
    pub id: String,
    /// Its kind key.
    pub kind: String,
    /// Its state; null when it is not currently reached.
    pub state: Option<ShownStatus>,
    /// On open steps that declare `due`: when it is overdue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due: Option<Time>,
    /// On open steps that declare `due`: whether that has passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue: Option<bool>,
}

/// A step's state as everybody sees it (core §3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ShownStatus {
    /// An agent may claim it.
    Ready,
    /// An agent holds it.
    Claimed,
    /// A person, a time or an event is awaited.
    Waiting,
    /// It completed.
    Done,
    /// Its failure ended the run.
    Failed,
    /// The run ended before it completed.
    Cancelled,
}

impl RunView {
    /// The view of a run at `now`. Evidence has no URLs yet.
    pub fn of(context: &Context<'_>, run: &Run, overlay: &Overlay, now: Time) -> RunView {
        let document = context.document;
        let data = RunData::of(run, document.steps.iter().map(|s| s.id.as_str()));
        let snapshot = data.snapshot();
        let mut items: Vec<(Time, WorkItem)> = Vec::new();
        for step in &document.steps {
            if let Some(state) = run.step(&step.id)
                && let Some(item) = &state.item
            {
                let handoff = overlay.handoffs.get(&step.id).cloned();
                let (id, mode) = (&run.meta.id, run.meta.mode);
                items.push((item.since, WorkItem::of(id, mode, step, item, state.due, &snapshot, handoff)));
            }
        }
        items.sort_by_key(|(since, _)| *since);
        RunView {
            run: RunInfo::of(run),
            data,
            steps: document.steps.iter().map(|s| StepInfo::of(run, s, overlay, now)).collect(),
            work_items: items.into_iter().map(|(_, item)| item).collect(),
            body: document.body.clone(),
        }
    }
}

impl RunInfo {
    fn of(run: &Run) -> RunInfo {
        RunInfo {
            id: run.meta.id.clone(),
            process: run.meta.process.clone(),
            version: run.meta.version,
            mode: run.meta.mode,
            state: run.state(),
            outcome: run.ended.as_ref().and_then(|e| e.outcome.clone()),
            ended: run.ended.as_ref().map(|e| EndedInfo { by: e.by.clone(), at: e.at, note: e.note.clone() }),
            started_by: run.meta.started_by.clone(),
            started_at: run.meta.started_at,
            updated_at: run.updated_at,
        }
    }
}

impl StepInfo {
    fn of(run: &Run, step: &Step, overlay: &Overlay, now: Time) -> StepInfo {
        let state = run.step(&step.id);
        let shown = state.and_then(|s| shown(&step.id, s, overlay));
        let open = matches!(shown, Some(ShownStatus::Ready | ShownStatus::Claimed | ShownStatus::Waiting));
        let due = state.and_then(|s| s.due).filter(|_| open);
        StepInfo {
            id: step.id.clone(),
            kind: step.kind_name().to_owned(),
            state: shown,
            due,
            // A due time that has passed has passed, whether or not the timer that notes it came by already.
            overdue: due.map(|due| state.is_some_and(|s| s.overdue) || due <= now),
        }
    }
}

fn shown(id: &str, state: &StepState, overlay: &Overlay) -> Option<ShownStatus> {
    Some(match state.status? {
        Status::Ready if overlay.claimed.iter().any(|c| c == id) => ShownStatus::Claimed,
        Status::Ready => ShownStatus::Ready,
        Status::Waiting => ShownStatus::Waiting,
        Status::Done => ShownStatus::Done,
        Status::Failed => ShownStatus::Failed,
        Status::Cancelled => ShownStatus::Cancelled,
    })
}

/// The declared inputs of a process, as the file has them.
pub fn inputs_shown(document: &Document) -> Map<String, Value> {
    document.inputs.iter().map(|(name, field)| (name.to_owned(), field.declared.clone())).collect()
}
