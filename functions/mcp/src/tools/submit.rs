//! `submit`: the work of a claimed step.

use async_trait::async_trait;
use run::{Command, RunView, Submission};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::{EVIDENCE_ITEMS, EvidenceItem, refs};
use super::{Call, Tool};

pub(crate) struct Submit;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The token of your claim or of your last renewal.
    token: String,
    /// The fields the step asks for.
    output: Map<String, Value>,
    /// What you attach: uploads and links.
    #[serde(default)]
    #[schemars(with = "Vec<EvidenceItem>", length(max = EVIDENCE_ITEMS))]
    evidence: Option<Vec<EvidenceItem>>,
    /// Required: a few sentences on what you did, what you found and what you left undone. 1 to 2000 characters.
    // Its rules are the submission's, not the schema's: a fault here is told with all the others.
    #[serde(default)]
    #[schemars(with = "String")]
    summary: Option<String>,
    /// The route you choose, when the step has a list of them.
    #[serde(default)]
    #[schemars(with = "String")]
    next: Option<String>,
    /// Why that route.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4000))]
    reason: Option<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for Submit {
    const NAME: &'static str = "submit";
    const TITLE: &'static str = "Submit a step's work";
    const DESCRIPTION: &'static str = "Submits the work of a step you claimed: the output fields it asks for, the evidence, a \
        summary, and the chosen next with a reason when it has a list of routes. Returns the run view when it is accepted. \
        not_accepted lists every issue at once and changes nothing: fix them and submit again with a new requestId, your \
        claim stands. stale means your claim ended: stop and call get_work.";
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        let Arguments { token, output, evidence, summary, next, reason, request_id } = arguments;
        let claim = call.store.claimed(call.org(), &token)?;
        let request = call.request(Self::NAME, &request_id);
        let evidence = refs(evidence);
        let submission = Submission { output: Some(output), summary, next, reason, ..Submission::default() };
        let command = |evidence| Command::Submit {
            token: claim.claimed(),
            submission: Submission { evidence, ..submission.clone() },
        };
        let written = call.store.write(&request, &claim.run, &evidence, command).await?;
        call.store.written_view(call.org(), &written).await
    }
}
