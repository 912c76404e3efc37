//! One call of each tool, and what has to be there before it.

use identity::Caller;
use serde_json::{Value, json};

use crate::graphs;
use crate::world::{Desk, with_request};

/// Two agent steps, the second with a file, an approval, a pause and an event; timers on some of them.
pub const LETTER: &str = "---
name: letter
description: A letter.
steps:
  - { id: draft, agent: Draft it., due: 1h, output: { text: string } }
  - { id: print, agent: Print it., evidence: [file] }
  - { id: sign, person: editor, approve: Sign it?, on_reject: draft }
  - { id: pause, wait: 1h }
  - { id: posted, wait_for: posted, timeout: 2h, on_timeout: sent }
  - { id: sent, finish: sent }
---
Letters.
";

const NOTE: &str = "---
name: note
description: A note.
steps:
  - { id: write, agent: Write it. }
  - { id: done, finish: done }
---
Notes.
";

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    pub tool: &'static str,
    pub caller: Caller,
    pub arguments: Value,
}

/// A case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Import,
    Publish,
    Start,
    Claim,
    Renew,
    Upload,
    Submit,
    SubmitFile,
    SubmitRefused,
    Escalate,
    Approve,
    Reject,
    Cancel,
    SendEvent,
    HoldEvent,
    Fire,
    GetRun,
    AgentWork,
    PersonWork,
    ListRuns,
    ListProcesses,
    GetProcess,
    Describe,
    PublishProvider,
    PublishGuided,
    ClaimGuided,
    SubmitGuided,
    ListProviders,
    EvaluateGraph,
    GetRoute,
    LocateResource,
    StartGraphRun,
    RecordOutcome,
    SetFacts,
    SetAuthorities,
    GetGraphRun,
    CheckpointGraphRun,
    ResumeGraphRun,
}

impl Case {
    /// Whether its call is refused when everything works.
    pub fn is_refused(self) -> bool {
        self == Case::SubmitRefused
    }

    /// Whether its call asks storage for anything.
    pub fn asks(self) -> bool {
        self != Case::Describe
    }

    /// Brings everything about that the call needs, and gives the call.
    pub async fn prepare(self, desk: &mut Desk) -> Call {
        let (bot, ann) = (desk.agent(), desk.person());
        let read = |caller, tool, arguments| Call { tool, caller, arguments };
        let (tool, caller, arguments) = match self {
            Case::Import => ("import_process", ann, json!({ "source": NOTE })),
            Case::Publish => {
                desk.ok(&ann, "import_process", json!({ "source": NOTE })).await;
                ("publish_process", ann, json!({ "name": "note", "roles": {} }))
            }
            Case::Start => {
                desk.publish().await;
                ("start_run", bot, json!({ "process": "letter", "inputs": {} }))
            }
            Case::Claim => ("claim", bot, json!({ "runId": desk.start().await, "stepId": "draft" })),
            Case::Renew => {
                let run = desk.start().await;
                ("renew", bot, json!({ "token": desk.claim(&run, "draft").await, "progress": "Half." }))
            }
            Case::Upload => {
                let file = json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "YQ==" });
                ("upload", bot, file)
            }
            Case::Submit => {
                let run = desk.start().await;
                ("submit", bot, draft(&desk.claim(&run, "draft").await))
            }
            Case::SubmitFile => {
                let run = drafted(desk).await;
                let (token, evidence) = (desk.claim(&run, "print").await, desk.file().await);
                ("submit", bot, json!({ "token": token, "output": {}, "evidence": evidence, "summary": "Printed." }))
            }
            Case::SubmitRefused => {
                let run = desk.start().await;
                let token = desk.claim(&run, "draft").await;
                ("submit", bot, json!({ "token": token, "output": {}, "summary": "Nothing." }))
            }
            Case::Escalate => {
                let run = desk.start().await;
                ("escalate", bot, json!({ "token": desk.claim(&run, "draft").await, "note": "No pen." }))
            }
            Case::Approve => ("decide", ann, decision(desk, json!({ "decision": "approved" })).await),
            Case::Reject => ("decide", ann, decision(desk, json!({ "decision": "rejected", "note": "No." })).await),
            Case::Cancel => ("cancel", ann, json!({ "runId": signed(desk).await, "reason": "Moved." })),
            Case::SendEvent => {
                let run = signed(desk).await;
                desk.pass(3_700);
                ("send_event", bot, json!({ "runId": run, "name": "posted" }))
            }
            Case::HoldEvent => ("send_event", bot, json!({ "runId": desk.start().await, "name": "posted" })),
            Case::Fire => {
                let arguments = json!({ "runId": signed(desk).await });
                desk.pass(3_700);
                return read(bot, "timer", arguments);
            }
            Case::GetRun => {
                let run = signed(desk).await;
                return read(bot, "get_run", json!({ "runId": run }));
            }
            Case::AgentWork => {
                desk.start().await;
                return read(bot, "get_work", json!({}));
            }
            Case::PersonWork => {
                printed(desk).await;
                return read(ann, "get_work", json!({}));
            }
            Case::ListRuns => {
                desk.start().await;
                return read(bot, "list_runs", json!({}));
            }
            Case::ListProcesses => {
                desk.publish().await;
                return read(bot, "list_processes", json!({}));
            }
            Case::GetProcess => {
                desk.publish().await;
                return read(ann, "get_process", json!({ "name": "letter" }));
            }
            Case::Describe => return read(bot, "describe", json!({})),
            Case::PublishProvider => ("publish_provider", ann, json!({ "files": graphs::bundle() })),
            Case::PublishGuided => {
                graphs::deed(desk).await;
                desk.ok(&ann, "import_process", json!({ "source": graphs::DEED })).await;
                ("publish_process", ann, json!({ "name": "deed", "roles": {} }))
            }
            Case::ClaimGuided => {
                let run = graphs::deed(desk).await;
                // The run of the graph that the claim opens.
                let opened = format!("g_{}_seal_1", run.as_str().unwrap().trim_start_matches("r_"));
                desk.keep_graph_run(&opened);
                ("claim", bot, json!({ "runId": run, "stepId": "seal" }))
            }
            Case::SubmitGuided => {
                let token = graphs::sealed(desk).await;
                ("submit", bot, json!({ "token": token, "output": {}, "summary": "Sealed." }))
            }
            Case::ListProviders => {
                graphs::published(desk).await;
                return read(bot, "list_providers", json!({}));
            }
            Case::EvaluateGraph => {
                graphs::published(desk).await;
                return read(bot, "evaluate_graph", graphs::seal());
            }
            Case::GetRoute => return read(bot, "get_route", json!({ "graphRunId": graphs::begun(desk).await })),
            Case::LocateResource => {
                graphs::published(desk).await;
                return read(bot, "locate_resource", json!({ "provider": "acme/seal", "id": "wax" }));
            }
            Case::StartGraphRun => {
                graphs::published(desk).await;
                ("start_graph_run", bot, graphs::seal())
            }
            Case::RecordOutcome => {
                let run = graphs::begun(desk).await;
                let outcome = json!({ "graphRunId": run, "node": "seal/melt", "outcome": "completed" });
                ("record_outcome", bot, outcome)
            }
            Case::SetFacts => {
                ("set_facts", bot, json!({ "graphRunId": graphs::begun(desk).await, "facts": { "colour": "red" } }))
            }
            Case::SetAuthorities => {
                let run = graphs::begun(desk).await;
                ("set_authorities", ann, json!({ "graphRunId": run, "authorities": ["press"] }))
            }
            Case::GetGraphRun => {
                return read(bot, "get_graph_run", json!({ "graphRunId": graphs::begun(desk).await }));
            }
            Case::CheckpointGraphRun => {
                ("checkpoint_graph_run", bot, json!({ "graphRunId": graphs::begun(desk).await }))
            }
            Case::ResumeGraphRun => ("resume_graph_run", bot, json!({ "checkpoint": graphs::checkpoint(desk).await })),
        };
        Call { tool, caller, arguments: with_request(desk.request(), arguments) }
    }
}

fn draft(token: &Value) -> Value {
    json!({ "token": token, "output": { "text": "Dear" }, "summary": "Drafted." })
}

/// A run whose first step is done.
async fn drafted(desk: &mut Desk) -> Value {
    let (bot, run) = (desk.agent(), desk.start().await);
    let token = desk.claim(&run, "draft").await;
    desk.ok(&bot, "submit", draft(&token)).await;
    run
}

/// A run that waits to be signed.
async fn printed(desk: &mut Desk) -> Value {
    let (bot, run) = (desk.agent(), drafted(desk).await);
    let (token, evidence) = (desk.claim(&run, "print").await, desk.file().await);
    let print = json!({ "token": token, "output": {}, "evidence": evidence, "summary": "Printed." });
    desk.ok(&bot, "submit", print).await;
    run
}

/// The decision on a run that waits to be signed.
async fn decision(desk: &mut Desk, mut decision: Value) -> Value {
    let (ann, run) = (desk.person(), printed(desk).await);
    let view = desk.ok(&ann, "get_run", json!({ "runId": run })).await;
    let item = &view["workItems"][0];
    decision["runId"] = run;
    decision["workItemId"] = item["id"].clone();
    decision["snapshot"] = item["snapshot"].clone();
    decision
}

/// A run that was signed, and pauses.
async fn signed(desk: &mut Desk) -> Value {
    let ann = desk.person();
    let approved = decision(desk, json!({ "decision": "approved" })).await;
    let run = approved["runId"].clone();
    desk.ok(&ann, "decide", approved).await;
    run
}
