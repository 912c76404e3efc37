//! `decide`: a person decides a work item.

use async_trait::async_trait;
use run::{Code, Command, Decision, Refusal, RunView, Submission};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::{EVIDENCE_ITEMS, EvidenceItem, given, refs};
use super::{Call, Tool};

pub(crate) struct Decide;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The run.
    run_id: String,
    /// The work item.
    work_item_id: String,
    /// The snapshot of your latest read of the run.
    snapshot: String,
    /// The decision; the work item lists those it takes.
    decision: Word,
    /// With `completed`: the fields the step asks for. Leave it out, and all below, to adopt the candidate of an item that
    /// has one (escalation.candidate).
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    output: Option<Map<String, Value>>,
    /// With `completed`: what you attach.
    #[serde(default)]
    #[schemars(with = "Vec<EvidenceItem>", length(max = EVIDENCE_ITEMS))]
    evidence: Option<Vec<EvidenceItem>>,
    /// With `completed`: what you did and found, if you like.
    #[serde(default)]
    #[schemars(with = "String", length(max = 2000))]
    summary: Option<String>,
    /// With `completed`: the route you choose, when the step has a list of them.
    #[serde(default)]
    #[schemars(with = "String")]
    next: Option<String>,
    /// With `completed`: why that route.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4000))]
    reason: Option<String>,
    /// Required with `rejected`, `returned` and `failed`; the next one to work on it reads it.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4000))]
    note: Option<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Word {
    Completed,
    Approved,
    Rejected,
    Returned,
    Failed,
}

#[async_trait]
impl Tool for Decide {
    const NAME: &'static str = "decide";
    const TITLE: &'static str = "Decide a work item";
    const DESCRIPTION: &'static str = "For people only: decides an open work item. completed finishes a task (or an escalated \
        step in the agent's place) with its output and evidence, or without any of them adopts escalation.candidate; approved and rejected answer an approval; returned gives an \
        escalated step back; failed ends the run. rejected, returned and failed need a note. Send the snapshot of your \
        latest read: stale means the run changed since, so read it again and decide anew.";
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        faults(&arguments)?;
        let Arguments {
            run_id,
            work_item_id,
            snapshot,
            decision,
            output,
            evidence,
            summary,
            next,
            reason,
            note,
            request_id,
        } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let evidence = refs(evidence);
        let note = given(note);
        let submission = Submission { output, summary: given(summary), next, reason, ..Submission::default() };
        let command = |evidence| {
            let text = || note.clone().unwrap_or_default();
            Command::Decide {
                item: work_item_id.clone(),
                snapshot: snapshot.clone(),
                decision: match decision {
                    Word::Completed => Decision::Completed(Submission { evidence, ..submission.clone() }),
                    Word::Approved => Decision::Approved(note.clone()),
                    Word::Rejected => Decision::Rejected(text()),
                    Word::Returned => Decision::Returned(text()),
                    Word::Failed => Decision::Failed(text()),
                },
            }
        };
        let written = call.store.write(&request, &run_id, &evidence, command).await?;
        call.store.written_view(call.org(), &written).await
    }
}

/// Faults that the arguments show by themselves: what a decision requires and what it does not take.
fn faults(arguments: &Arguments) -> Result<(), Refusal> {
    let mut issues = Vec::new();
    let completed = arguments.decision == Word::Completed;
    let needs_note = matches!(arguments.decision, Word::Rejected | Word::Returned | Word::Failed);
    if needs_note && arguments.note.as_deref().is_none_or(|n| n.trim().is_empty()) {
        issues.push("note: missing".to_owned());
    }
    if completed && arguments.note.is_some() {
        issues.push("note: not allowed with completed, say it in summary".to_owned());
    }
    let only_completed = [
        ("output", arguments.output.is_some()),
        ("evidence", arguments.evidence.is_some()),
        ("summary", arguments.summary.is_some()),
        ("next", arguments.next.is_some()),
        ("reason", arguments.reason.is_some()),
    ];
    for (name, given) in only_completed {
        if given && !completed {
            issues.push(format!("{name}: only with completed"));
        }
    }
    if issues.is_empty() {
        return Ok(());
    }
    let message = "The arguments do not fit the decision. Fix each issue and decide again.";
    Err(Refusal::new(Code::Invalid, message).issues(issues))
}
