//! `get_graph_run`: a graph run as it is now.

use async_trait::async_trait;
use graph::documents::{Evaluation, Run};
use run::ActorKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::graph_runs::RecordedBy;

use super::graphs::{ProviderAsked, RunShown, shown};
use super::{Call, Tool};

pub(crate) struct GetGraphRun;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The graph run.
    graph_run_id: String,
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
        and whether that was an agent or a person.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Read;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Read, store::Error> {
        let read = call.store.graph_run(call.org(), &arguments.graph_run_id).await?;
        let recorded_by = read.recorded_by.iter().cloned().map(Recorder::from).collect();
        let RunShown { run, provider, evaluation } = shown(read)?;
        Ok(Read { run, provider, evaluation, recorded_by })
    }
}
