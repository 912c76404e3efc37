//! `publish_process`: the draft of a process becomes its next version (core §6.5).

use std::collections::BTreeMap;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_processes::Requires;
use super::{Call, Tool};

pub(crate) struct PublishProcess;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The process's name.
    name: String,
    /// For every role it names, the id of a group; `{}` when it names none.
    roles: BTreeMap<String, String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// The published version.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Published {
    /// The process's name.
    name: String,
    /// The version's number.
    version: u64,
    /// The content hash, SHA-256 in lower-case hex.
    hash: String,
    /// The groups its roles are bound to.
    roles: BTreeMap<String, String>,
    /// What the organization must have outside this server; null when it does not say.
    requires: Option<Requires>,
}

#[async_trait]
impl Tool for PublishProcess {
    const NAME: &'static str = "publish_process";
    const TITLE: &'static str = "Publish a process";
    const DESCRIPTION: &'static str = "For operators: publishes the imported draft of a process as its next version, with a \
        group for every role. A published version never changes; runs that are under way keep theirs. An unbound role is \
        refused and named.";
    type Arguments = Arguments;
    type Data = Published;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Published, store::Error> {
        let Arguments { name, roles, request_id } = arguments;
        let request = call.request(Self::NAME, &request_id);
        let answer = |version: &store::catalogue::Version| {
            serde_json::json!({
                "name": version.document.name,
                "version": version.number,
                "hash": version.hash,
                "roles": version.roles,
                "requires": super::list_processes::requires_shown(&version.document),
            })
        };
        super::recorded(call.store.publish(&request, &name, &roles, answer).await?)
    }
}
