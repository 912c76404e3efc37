//! `list_runs`: the organization's runs, newest first.

use async_trait::async_trait;
use run::{RunState, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::runs::RunFilter;

use super::arguments::PAGE_ITEMS;
use super::{Call, Tool};

pub(crate) struct ListRuns;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only runs of this process.
    #[serde(default)]
    #[schemars(with = "String")]
    process: Option<String>,
    /// Only runs in this state.
    #[serde(default)]
    #[schemars(with = "RunState")]
    state: Option<RunState>,
    /// Only runs whose inputs equal these, field by field.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    inputs: Option<Map<String, Value>>,
    /// Most items to return, 1 to 100; 20 when left out.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1, max = 100))]
    limit: Option<usize>,
    /// The nextCursor of the page before.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
}

/// A page of runs, newest first.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Page {
    /// The runs.
    items: Vec<Run>,
    /// Give it to the next call; null at the end.
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Run {
    /// The run's id.
    id: String,
    /// The process.
    process: String,
    /// The version it keeps.
    version: u64,
    /// Its state.
    state: RunState,
    /// Its outcome; null until it ended, and when it was cancelled.
    outcome: Option<String>,
    /// When it started.
    started_at: Time,
    /// When it last moved.
    updated_at: Time,
    /// What it started with.
    inputs: Map<String, Value>,
}

#[async_trait]
impl Tool for ListRuns {
    const NAME: &'static str = "list_runs";
    const TITLE: &'static str = "List runs";
    const DESCRIPTION: &'static str = "Lists the runs of your organization, newest first, test runs included: id, process, \
        state, outcome and inputs. Filter by process, by state, and by any input field. Give nextCursor to the next call to \
        read on; a page may be short of its limit while there is more.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Page;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Page, store::Error> {
        let Arguments { process, state, inputs, limit, cursor } = arguments;
        let filter = RunFilter { process, state, inputs };
        let limit = limit.unwrap_or(PAGE_ITEMS);
        let (runs, next_cursor) =
            call.store.list_runs(call.org(), &call.actor, &filter, limit, cursor.as_deref()).await?;
        let items = runs.into_iter().map(|r| Run {
            id: r.entry.run,
            process: r.entry.process,
            version: r.entry.version,
            state: r.entry.state,
            outcome: r.entry.outcome,
            started_at: r.entry.started_at,
            updated_at: r.entry.updated_at,
            inputs: r.inputs,
        });
        Ok(Page { items: items.collect(), next_cursor })
    }
}
