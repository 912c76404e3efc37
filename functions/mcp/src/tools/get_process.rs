//! `get_process`: what is known of a process: a version, the draft, the bound groups.

use std::collections::BTreeMap;

use async_trait::async_trait;
use run::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Tool};

pub(crate) struct GetProcess;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The process's name.
    name: String,
    /// The version to read; the latest when left out.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1, max = 9_007_199_254_740_991_u64))]
    version: Option<u64>,
}

/// What is known of a process.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Known {
    /// The process's name.
    name: String,
    /// The latest version's number; 0 while there is only a draft.
    latest: u64,
    /// The version that was asked for; null while there is only a draft.
    published: Option<Published>,
    /// The draft that was imported since the last publication; null when there is none.
    draft: Option<Draft>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Published {
    /// Its number.
    version: u64,
    /// Its content hash, SHA-256 in lower-case hex.
    hash: String,
    /// The groups its roles are bound to.
    roles: BTreeMap<String, String>,
    /// By step, the provider that its graph is pinned to; not there when no graph guides a step.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    graphs: BTreeMap<String, Pinned>,
    /// Who published it.
    published_by: String,
    /// When.
    published_at: Time,
    /// PROCESS.md, exactly as imported.
    source: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Pinned {
    /// The provider's id.
    provider: String,
    /// Its version.
    version: String,
    /// The digest of its bundle, sha256:….
    digest: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
struct Draft {
    /// The content hash it would be published with.
    hash: String,
    /// Every role it names.
    roles: Vec<String>,
    /// What reads well but may not be meant, as line:column: message.
    warnings: Vec<String>,
    /// PROCESS.md, exactly as imported.
    source: String,
}

impl Pinned {
    fn of(pin: &store::GraphPin) -> Pinned {
        let store::GraphPin { provider, version, digest } = pin.clone();
        Pinned { provider, version, digest }
    }
}

#[async_trait]
impl Tool for GetProcess {
    const NAME: &'static str = "get_process";
    const TITLE: &'static str = "Read a process";
    const DESCRIPTION: &'static str = "For operators: returns a published version of a process with its PROCESS.md, content \
        hash, bound groups and pinned graph providers, and the draft that waits to be published, if any.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Known;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Known, store::Error> {
        let known = call.store.process(call.org(), &arguments.name, arguments.version).await?;
        Ok(Known {
            name: arguments.name,
            latest: known.latest,
            published: known.version.map(|v| Published {
                version: v.number,
                hash: v.hash.clone(),
                roles: v.roles.clone(),
                graphs: v.graphs.iter().map(|(step, pin)| (step.clone(), Pinned::of(pin))).collect(),
                published_by: v.published_by.clone(),
                published_at: v.published_at,
                source: v.source.clone(),
            }),
            draft: known.draft.map(|d| Draft {
                roles: d.document.roles().into_iter().map(str::to_owned).collect(),
                hash: d.hash,
                warnings: d.warnings,
                source: d.source,
            }),
        })
    }
}
