//! `list_providers`: the providers of graphs there are.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::PAGE_ITEMS;
use super::graphs::ProviderListed;
use super::{Call, Tool};

pub(crate) struct ListProviders;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The nextCursor of the page before.
    #[serde(default)]
    #[schemars(with = "String")]
    cursor: Option<String>,
    /// Most items to return, 1 to 100; 20 when left out.
    #[serde(default)]
    #[schemars(with = "u64", range(min = 1, max = 100))]
    limit: Option<usize>,
}

/// A page of providers, by id.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Page {
    /// The latest version of each provider.
    items: Vec<ProviderListed>,
    /// Give it to the next call; null at the end.
    next_cursor: Option<String>,
}

#[async_trait]
impl Tool for ListProviders {
    const NAME: &'static str = "list_providers";
    const TITLE: &'static str = "List providers of graphs";
    const DESCRIPTION: &'static str = "Lists the providers of your organization. A provider is a published bundle of graphs; a \
        graph says what may be done next from what is known so far. Shows each one's latest version, its digest, and its \
        graphs with their entries: what evaluate_graph and start_graph_run take. Give nextCursor to the next call to read on.";
    const READ_ONLY: bool = true;
    type Arguments = Arguments;
    type Data = Page;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Page, store::Error> {
        let Arguments { cursor, limit } = arguments;
        let limit = limit.unwrap_or(PAGE_ITEMS);
        let (list, next_cursor) = call.store.list_providers(call.org(), &call.actor, limit, cursor.as_deref()).await?;
        Ok(Page { items: list.into_iter().map(ProviderListed::from).collect(), next_cursor })
    }
}
