//! `get_graph_run`: a graph run as it is now.

use async_trait::async_trait;
use graph::documents::{Evaluation, Run};
use run::{ActorKind, Code, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::graph_runs::{GraphRun, RecordedBy};

use super::graphs::{ProviderAsked, RunShown, shown};
use super::{Call, Tool};

pub(crate) struct GetGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run; or leave it out and name a run and its step.
    #[serde(default)]
    #[schemars(with = "String")]
    graph_run_id: Option<String>,
    /// The run of a process, together with stepId.
    #[serde(default)]
    #[schemars(with = "String")]
    run_id: Option<String>,
    /// A step of it that a graph guides: the graph run of its present attempt is returned.
    #[serde(default)]
    #[schemars(with = "String")]
    step_id: Option<String>,
}

impl Arguments {
    /// Looks up what is named.
    ///
    /// # Errors
    ///
    /// `invalid` with every fault when it is not named once; `not_found`.
    async fn ask(&self, call: &Call<'_>) -> Result<GraphRun, store::Error> {
        match (&self.graph_run_id, &self.run_id, &self.step_id) {
            (Some(graph_run), None, None) => call.store.graph_run(call.org(), graph_run).await,
            (None, Some(run), Some(step)) => call.store.graph_run_of(call.org(), run, step).await,
            (graph_run, run, step) => {
                let named = [("runId", run), ("stepId", step)];
                let issues: Vec<String> = match graph_run {
                    Some(_) => {
                        let more = named.into_iter().filter(|(_, given)| given.is_some());
                        more.map(|(name, _)| format!("{name}: not together with graphRunId")).collect()
                    }
                    None if run.is_none() && step.is_none() => {
                        vec!["graphRunId: missing, or runId and stepId".to_owned()]
                    }
                    None => {
                        let less = named.into_iter().filter(|(_, given)| given.is_none());
                        less.map(|(name, _)| format!("{name}: missing")).collect()
                    }
                };
                let message =
                    "Name a graph run with graphRunId, or the run of a process with runId and its step with stepId.";
                Err(Refusal::new(Code::Invalid, message).issues(issues).into())
            }
        }
    }
}

/// A run, and who did what in it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Read {
    /// The run.
    run: Run,
    /// The provider it keeps.
    provider: ProviderAsked,
    /// What can be done now.
    evaluation: Evaluation,
    /// Who recorded each event of the run; what a resumed one began with is told by the run that its checkpoint names.
    recorded_by: Vec<Recorder>,
}

/// Who recorded an event.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Recorder {
    /// The event's sequence.
    sequence: u64,
    /// Who.
    by: String,
    /// Whether that is an agent or a person.
    #[schemars(with = "String", extend("enum" = ["agent", "person"]))]
    kind: ActorKind,
}

impl From<RecordedBy> for Recorder {
    fn from(RecordedBy { sequence, by, kind }: RecordedBy) -> Recorder {
        Recorder { sequence, by, kind }
    }
}

#[async_trait]
impl Tool for GetGraphRun {
    const NAME: &'static str = "get_graph_run";
    const TITLE: &'static str = "Read a graph run";
    const DESCRIPTION: &'static str = "Returns a graph run: its facts, the latest outcome of each node, its authorities and all \
        its events, with the provider it keeps and the evaluation of its state now. recordedBy names who recorded each event, \
        and whether that was an agent or a person. Of a step that a graph guides, runId and stepId find it too.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Read;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Read, store::Error> {
        let read = arguments.ask(&call).await?;
        let recorded_by = read.recorded_by.iter().cloned().map(Recorder::from).collect();
        let RunShown { run, provider, evaluation } = shown(read)?;
        Ok(Read { run, provider, evaluation, recorded_by })
    }
}
