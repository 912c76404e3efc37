//! The run view (tool contracts, Shared shapes): a run as everybody in the organization sees it. Never a token.
//!
//! A view is made of the folded run and an [`Overlay`], the little that the journal does not know. A recorded overlay
//! gives the same view again, which is how a repeated call gets its first answer.

use std::collections::BTreeMap;

use process::{Document, Kind, Next, Step, Work};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::{RunData, ShownKind};
use crate::decide::work_item::decisions;
use crate::state::{Item, Run, RunState, Status, StepState};
use crate::{Assigned, Attempt, Completion, Context, Escalation, EvidenceShown, Handoff, Mode, Time, Verdict};

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

/// A work item with everything a person needs to decide it, but for the body and run data.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct WorkItem {
    /// The work item's id.
    pub id: String,
    /// The step's id.
    pub step_id: String,
    /// `agent`, `task` or `approve`.
    pub kind: String,
    /// The step's instructions, or what is to be approved.
    pub text: String,
    /// The fields a submission must contain; null on an approval.
    pub output: Option<Map<String, Value>>,
    /// The evidence kinds that must be attached; null on an approval.
    pub evidence: Option<Vec<ShownKind>>,
    /// The routes to choose from, when there is a choice.
    pub next: Option<Vec<RouteShown>>,
    /// Who may decide it.
    pub assigned_to: Assigned,
    /// The hash of run data at this read: send it with the decision.
    pub snapshot: String,
    /// When it is overdue.
    pub due: Option<Time>,
    /// Set on an escalated step.
    pub escalation: Option<EscalationShown>,
    /// What the previous attempt left behind.
    pub handoff: Option<Handoff>,
    /// `test` in a test run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<TestMode>,
    /// The exact call to make.
    pub decide: DecideCall,
}

/// Why a step waits on a person of the operators group, as people read it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct EscalationShown {
    /// What the agent said, or what the check could not tell.
    pub note: String,
    /// The agent, or whoever submitted what the check was unsure of.
    pub by: String,
    /// When.
    pub at: Time,
    /// Set when a check was unsure: its verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Verdict>,
    /// Set when a check was unsure: what was submitted. `completed` without `output` adopts it whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Completion>,
}

impl EscalationShown {
    fn of(escalation: &Escalation) -> EscalationShown {
        let candidate = escalation.candidate.as_deref().map(|c| Completion {
            output: Some(c.output.clone()),
            evidence: Some(c.evidence.iter().map(EvidenceShown::of).collect()),
            summary: c.summary.clone(),
            next: c.next.clone(),
            reason: c.reason.clone(),
            by: Some(c.by.clone()),
            at: Some(c.at),
            ..Completion::default()
        });
        EscalationShown {
            note: escalation.note.clone(),
            by: escalation.by.clone(),
            at: escalation.at,
            check: escalation.check.as_deref().cloned(),
            candidate,
        }
    }
}

/// Marks what belongs to a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum TestMode {
    /// A rehearsal.
    Test,
}

/// One route an actor may choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct RouteShown {
    /// The step it leads to.
    pub to: String,
    /// When to take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// The exact `decide` call for a work item.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct DecideCall {
    /// `decide`
    pub tool: DecideTool,
    /// Its arguments; `requestId` is the caller's to make, and the decision with what it requires to be added.
    pub arguments: DecideArguments,
    /// The decisions this item takes.
    pub decisions: Vec<String>,
}

/// The tool of a [`DecideCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum DecideTool {
    /// `decide`
    Decide,
}

/// The arguments of a [`DecideCall`].
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct DecideArguments {
    /// The run.
    pub run_id: String,
    /// The work item.
    pub work_item_id: String,
    /// The hash of run data at this read.
    pub snapshot: String,
    /// A placeholder: make a new UUID for every new decision.
    pub request_id: String,
}

/// What stands where the caller puts a request id of its own.
pub const NEW_REQUEST_ID: &str = "<new UUID>";

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

impl WorkItem {
    /// Every file item of the candidate, to be given a fresh `url`.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut EvidenceShown> {
        let candidate = self.escalation.as_mut().and_then(|e| e.candidate.as_mut());
        candidate.into_iter().flat_map(|c| c.evidence.iter_mut().flatten())
    }

    /// The work item of a step as a person reads it: of a run, or of what a work list keeps of one.
    pub fn of(
        run_id: &str,
        mode: Mode,
        step: &Step,
        item: &Item,
        due: Option<Time>,
        snapshot: &str,
        handoff: Option<Handoff>,
    ) -> WorkItem {
        let work = step.work();
        WorkItem {
            id: item.id.clone(),
            step_id: step.id.clone(),
            kind: step.kind_name().to_owned(),
            text: text(step).to_owned(),
            output: work.map(output_shown),
            evidence: work.map(evidence_shown),
            next: work.and_then(routes_shown),
            assigned_to: item.assigned.clone(),
            snapshot: snapshot.to_owned(),
            due,
            escalation: item.escalation.as_ref().map(EscalationShown::of),
            handoff,
            mode: (mode == Mode::Test).then_some(TestMode::Test),
            decide: DecideCall {
                tool: DecideTool::Decide,
                arguments: DecideArguments {
                    run_id: run_id.to_owned(),
                    work_item_id: item.id.clone(),
                    snapshot: snapshot.to_owned(),
                    request_id: NEW_REQUEST_ID.to_owned(),
                },
                decisions: decisions(&step.kind, item).iter().map(|d| (*d).to_owned()).collect(),
            },
        }
    }
}

/// The instructions of a step, or what is to be approved.
fn text(step: &Step) -> &str {
    match &step.kind {
        Kind::Agent(work) | Kind::Task { work, .. } => &work.instructions,
        Kind::Approve { text, .. } => text,
        _ => "",
    }
}

/// The declared output fields, as the file has them.
pub fn output_shown(work: &Work) -> Map<String, Value> {
    work.output.iter().map(|(name, field)| (name.to_owned(), field.declared.clone())).collect()
}

/// The declared evidence kinds.
pub fn evidence_shown(work: &Work) -> Vec<ShownKind> {
    work.evidence
        .iter()
        .map(|kind| match kind {
            process::EvidenceKind::File => ShownKind::File,
            process::EvidenceKind::Link => ShownKind::Link,
        })
        .collect()
}

/// The routes, when `next` is a list.
pub fn routes_shown(work: &Work) -> Option<Vec<RouteShown>> {
    match &work.next {
        Next::To(_) => None,
        Next::Routes(routes) => {
            Some(routes.iter().map(|r| RouteShown { to: r.to.clone(), when: r.when.clone() }).collect())
        }
    }
}

/// The declared inputs of a process, as the file has them.
pub fn inputs_shown(document: &Document) -> Map<String, Value> {
    document.inputs.iter().map(|(name, field)| (name.to_owned(), field.declared.clone())).collect()
}
