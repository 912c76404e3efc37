//! `import_process`: a PROCESS.md becomes the draft of its process (core §7).

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::list_processes::Requires;
use super::{Call, Tool};

pub(crate) struct ImportProcess;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// PROCESS.md, whole and exactly as written.
    source: String,
    /// The name of the folder it travels in, which must be the process's name.
    #[serde(default)]
    #[schemars(with = "String")]
    folder: Option<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// The draft.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Imported {
    /// The process's name.
    name: String,
    /// What it does and when to start it.
    description: String,
    /// The content hash it would be published with, SHA-256 in lower-case hex.
    hash: String,
    /// Every role it names: bind each to a group when you publish.
    roles: Vec<String>,
    /// What the organization must have outside this server; null when it does not say.
    requires: Option<Requires>,
    /// The inputs a run starts with.
    inputs: Map<String, Value>,
    /// What reads well but may not be meant, as line:column: message.
    warnings: Vec<String>,
}

#[async_trait]
impl Tool for ImportProcess {
    const NAME: &'static str = "import_process";
    const TITLE: &'static str = "Import a process";
    const DESCRIPTION: &'static str = "For operators: checks a PROCESS.md and keeps it as the draft of its process, in place of \
        an earlier draft. Every fault comes back at once as line:column: message, and then nothing is kept. Shows the roles \
        to bind and the outside systems it requires. Nothing runs until publish_process.";
    type Arguments = Arguments;
    type Data = Imported;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Imported, store::Error> {
        let Arguments { source, folder, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let answer = |draft: &store::catalogue::Draft| {
            let document = &draft.document;
            serde_json::json!({
                "name": document.name,
                "description": document.description,
                "hash": draft.hash,
                "roles": document.roles(),
                "requires": super::list_processes::requires_shown(document),
                "inputs": run::inputs_shown(document),
                "warnings": draft.warnings,
            })
        };
        super::recorded(call.store.import(&request, &source, folder.as_deref(), answer).await?)
    }
}
