//! `list_processes`: what can be started here.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Call, Tool};

pub(crate) struct ListProcesses;

/// Processes on a page.
const PAGE_PROCESSES: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The nextCursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    cursor: Option<String>,
}

/// A page of published processes, by name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Page {
    /// The processes.
    items: Vec<Process>,
    /// Give it to the next call; null at the end.
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Process {
    /// Its name: what start_run takes.
    name: String,
    /// What it does and when to start it.
    description: String,
    /// The latest published version.
    version: u64,
    /// The inputs a run starts with: a type name, or an object with `type` and what narrows it.
    inputs: Map<String, Value>,
    /// What the organization must have outside this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Requires")]
    requires: Option<Requires>,
}

/// What the organization must have outside this server.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct Requires {
    /// External systems that agents and people need access to.
    pub(crate) systems: Vec<String>,
}

#[async_trait]
impl Tool for ListProcesses {
    const NAME: &'static str = "list_processes";
    const TITLE: &'static str = "List processes";
    const DESCRIPTION: &'static str = "Lists the published processes of your organization by name: what each does and when \
        to start it, its latest version, the inputs that start_run needs, and the outside systems it requires. Give \
        nextCursor to the next call to read on.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Page;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Page, store::Error> {
        let (list, next_cursor) =
            call.store.list_processes(call.org(), &call.actor, PAGE_PROCESSES, arguments.cursor.as_deref()).await?;
        let items = list.into_iter().map(|l| Process {
            name: l.name,
            description: l.description,
            version: l.version,
            inputs: l.inputs,
            requires: l.systems.map(|systems| Requires { systems }),
        });
        Ok(Page { items: items.collect(), next_cursor })
    }
}

/// `requires` as answers of the operator tools show it.
pub(super) fn requires_shown(document: &process::Document) -> Value {
    match &document.requires {
        Some(requires) => json!({ "systems": requires.systems }),
        None => Value::Null,
    }
}
