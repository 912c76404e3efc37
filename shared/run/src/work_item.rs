//! Work items as people read them, in a run view or in an inbox (tool contracts, Shared shapes).

use process::{Kind, Next, Step, Work};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::ShownKind;
use crate::decide::work_item::decisions;
use crate::{Assigned, Completion, Escalation, EvidenceShown, Handoff, Item, Mode, Time, Verdict};

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
