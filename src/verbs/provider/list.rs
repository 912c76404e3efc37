//! `procession provider list`: what a server has published, each provider in its latest version.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};
use terminal::{Paint, clean};

use crate::client::{Client, arguments, at};
use crate::verbs::connect;

/// Lists the providers of graphs on a server: the latest version of each, with its digest, its graphs and their entries.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  procession provider list --url http://127.0.0.1:8484/mcp --token \"$TOKEN\"

Exit codes: 0 listed; 1 the server does not say; 2 a wrong command line.")]
pub(super) struct List {
    /// The server's endpoint, such as https://processes.example/mcp.
    #[arg(long, env = "PROCESSION_URL", default_value = "http://127.0.0.1:8484/mcp")]
    url: String,
    /// A bearer token.
    #[arg(long, env = "PROCESSION_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Providers on a page.
const PAGE_PROVIDERS: usize = 100;

/// Most pages that are read.
const PAGES: usize = 100;

impl List {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let client = connect(&self.url, self.token.as_deref()).await?;
        let done = list(&client).await;
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

async fn list(client: &Client) -> anyhow::Result<()> {
    let paint = Paint::detect();
    let (mut with, mut none) = (json!({ "limit": PAGE_PROVIDERS }), true);
    for _ in 0..PAGES {
        let page = client.call("list_providers", arguments(with)).await.map_err(anyhow::Error::from);
        let page = page.context("the providers cannot be listed")?;
        for provider in at(&page, "/items").as_array().into_iter().flatten() {
            none = false;
            show(provider, paint);
        }
        let next = at(&page, "/nextCursor");
        if next.is_null() {
            if none {
                terminal::say!("no provider is published here; publish one with `procession provider publish`");
            }
            return Ok(());
        }
        with = json!({ "limit": PAGE_PROVIDERS, "cursor": next });
    }
    bail!("there are more than {} providers; this list ends here", PAGES * PAGE_PROVIDERS)
}

/// A provider as an answer shows it.
pub(super) fn show(provider: &Value, paint: Paint) {
    let text = |pointer: &str| clean(at(provider, pointer).as_str().unwrap_or_default());
    let heading = format!("{} {}", paint.title(text("/id")), text("/version"));
    match text("/description").trim() {
        "" => terminal::say!("{heading}"),
        description => terminal::say!("{heading}  {description}"),
    }
    terminal::say!("  digest    {}", text("/digest"));
    for graph in at(provider, "/graphs").as_array().into_iter().flatten() {
        let entries = at(graph, "/entries").as_array().into_iter().flatten().filter_map(Value::as_str);
        let entries = entries.map(clean).collect::<Vec<_>>().join(", ");
        terminal::say!("  graph     {}: {entries}", clean(at(graph, "/id").as_str().unwrap_or_default()));
    }
}
