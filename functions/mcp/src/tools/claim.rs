//! `claim`: a step is leased to the calling agent.

use async_trait::async_trait;
use run::{Command, Handoff, Mode, RouteShown, RunData, ShownKind, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::guidance::Guidance;
use super::{Call, Tool};

pub(crate) struct Claim;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The run.
    run_id: String,
    /// The step.
    step_id: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// A claimed step, with everything needed to do it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Claimed {
    /// What submit, renew and escalate take. Keep it to yourself.
    token: String,
    /// When the claim ends; renew before.
    expires_at: Time,
    /// In a test run cause no real effects.
    mode: Mode,
    /// The step.
    step: Step,
    /// What the previous attempt left behind; null on a first attempt.
    handoff: Option<Handoff>,
    /// The body of PROCESS.md.
    body: String,
    /// Run data: what the run started with and what its steps recorded.
    data: RunData,
    /// What profiles add for this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions>,
}

/// What profiles add to a claim, each under its name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Extensions {
    /// The graph that guides the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<Guidance>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Step {
    /// Its id.
    id: String,
    /// What is to be done.
    instructions: String,
    /// The fields your output must contain.
    output: Option<Map<String, Value>>,
    /// The kinds of evidence you must attach.
    evidence: Option<Vec<ShownKind>>,
    /// The routes you choose from; null when there is no choice.
    next: Option<Vec<RouteShown>>,
}

#[async_trait]
impl Tool for Claim {
    const NAME: &'static str = "claim";
    const TITLE: &'static str = "Claim a step";
    const DESCRIPTION: &'static str = "Takes a ready agent step for you alone until expiresAt and returns a token, the \
        instructions, the required output and evidence, the routes to choose from, the handoff of the previous attempt, the \
        process's body and the run data. Then do the work with your own tools and submit with the token; renew if you need \
        longer; escalate if you cannot finish. Where extensions.graph is there, a graph guides the step: take its route, \
        record_outcome in its graphRunId, get_route for the next, until the evaluation is complete. conflict means somebody has it or it is not ready: claim another step of the \
        page you have, then call get_work.";
    type Arguments = Arguments;
    type Data = Claimed;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Claimed, store::Error> {
        let Arguments { run_id, step_id, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let command = |_| Command::Claim { step: step_id.clone() };
        let written = call.store.write(&request, &run_id, &[], command).await?;
        let (token, expires_at) = call.store.token(call.org(), &call.actor, &written)?;
        let document = &written.version.document;
        let work = document.step(&step_id).and_then(|s| s.work());
        let Some(work) = work else {
            return Err(store::Error::Invariant(format!("step `{step_id}` was claimed but takes no work")));
        };
        let graph = written.graph.clone().map(Guidance::of).transpose()?;
        let mut data = RunData::of(&written.run, document.steps.iter().map(|s| s.id.as_str()));
        call.store.link_data(call.org(), &mut data).await?;
        Ok(Claimed {
            token,
            expires_at,
            mode: written.run.meta.mode,
            step: Step {
                id: step_id.clone(),
                instructions: work.instructions.clone(),
                output: Some(run::output_shown(work)),
                evidence: Some(run::evidence_shown(work)),
                next: run::routes_shown(work),
            },
            handoff: written.overlay.handoffs.get(&step_id).cloned(),
            body: document.body.clone(),
            data,
            extensions: graph.map(|graph| Extensions { graph: Some(graph) }),
        })
    }
}
