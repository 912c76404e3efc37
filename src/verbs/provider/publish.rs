//! `procession provider publish`: a bundle becomes a version of its provider on a server.
//!
//! Invariants: the bundle is loaded and verified here before anything is sent; a write whose answer was lost is repeated
//! with its own `requestId`; and the server answers the same bundle again as before, so repeating the command is safe.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use graph::Source as _;
use graph::disk::Disk;
use serde_json::{Value, json};
use terminal::Paint;

use super::list::show;
use crate::client::{Client, arguments, at, request_id};
use crate::verbs::connect;

/// Publishes the bundle of a provider of graphs on a server.
///
/// Nothing is sent when the bundle is not whole. A version never changes: publishing the same bundle again changes nothing,
/// and other content under the same version is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph --manifest provider.yaml build dist
  procession provider publish dist --url http://127.0.0.1:8484/mcp --token \"$TOKEN\"
      the token needs the operator right:
      export PROCESSION_TOKEN=$(procession token --kind person --subject me@example.com --operator)

Exit codes: 0 published, or already there; 1 the bundle or the server is not right; 2 a wrong command line.")]
pub(super) struct Publish {
    /// The folder that `agent-graph build` wrote, or its manifest.json.
    bundle: PathBuf,
    /// The server's endpoint, such as https://processes.example/mcp.
    #[arg(long, env = "PROCESSION_URL", default_value = "http://127.0.0.1:8484/mcp")]
    url: String,
    /// A bearer token with the operator right.
    #[arg(long, env = "PROCESSION_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// The name of a bundle's manifest.
const MANIFEST: &str = "manifest.json";

/// A bundle that is whole.
#[derive(Debug)]
struct Bundle {
    id: String,
    version: String,
    /// Each file's path and bytes, the manifest among them.
    files: Vec<(String, Vec<u8>)>,
}

impl Publish {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let bundle = read(&self.bundle)?;
        let client = connect(&self.url, self.token.as_deref()).await?;
        let done = publish(&client, &bundle).await;
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

/// Reads and verifies a bundle.
fn read(path: &Path) -> anyhow::Result<Bundle> {
    let manifest = if path.is_dir() { path.join(MANIFEST) } else { path.to_owned() };
    let none = || {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        anyhow!(
            "nothing was sent: {} is no bundle. Build one and publish that:\n  \
             agent-graph --manifest {} build dist\n  procession provider publish dist",
            path.display(),
            folder.join("provider.yaml").display()
        )
    };
    if !path.exists() {
        bail!("nothing was sent: {} does not exist", path.display());
    }
    if manifest.file_name().is_none_or(|name| name != MANIFEST) || !manifest.exists() {
        return Err(none());
    }
    let wrong = |failure: graph::Failure| {
        let faults = failure.diagnostics.iter().map(|d| match &d.path {
            Some(path) => format!("\n  {}: {path}: {}", d.code, d.message),
            None => format!("\n  {}: {}", d.code, d.message),
        });
        let faults: String = faults.collect();
        anyhow!("nothing was sent: {}: {}: {}{faults}", manifest.display(), failure.code, failure.message)
    };
    let (disk, name) = Disk::of(&manifest).map_err(wrong)?;
    let provider = graph::load(&disk, &name).map_err(wrong)?;
    let Some(bundle) = provider.bundle else { return Err(none()) };
    let mut files = Vec::with_capacity(bundle.files.len() + 1);
    for path in bundle.files.iter().map(|file| file.path.as_str()).chain([MANIFEST]) {
        let bytes = disk.read(path).map_err(wrong)?;
        let bytes = bytes.with_context(|| format!("nothing was sent: {path} of the bundle went away"))?;
        files.push((path.to_owned(), bytes.to_vec()));
    }
    Ok(Bundle { id: bundle.provider.id, version: bundle.provider.version, files })
}

async fn publish(client: &Client, bundle: &Bundle) -> anyhow::Result<()> {
    let what = format!("`{}` version {}", bundle.id, bundle.version);
    let about = client.call("describe", arguments(json!({}))).await.map_err(anyhow::Error::from)?;
    let bytes: usize = bundle.files.iter().map(|(_, bytes)| bytes.len()).sum();
    if let Some(most) = at(&about, "/maxUploadBytes").as_u64()
        && bytes as u64 > most
    {
        bail!(
            "{what} was not published: its files have {bytes} bytes together, and this server takes {most}. Name large files \
             by their address instead of packaging them"
        );
    }
    let files: Vec<Value> = bundle
        .files
        .iter()
        .map(|(path, bytes)| json!({ "path": path, "contentBase64": STANDARD.encode(bytes) }))
        .collect();
    let call = arguments(json!({ "files": files, "requestId": request_id() }));
    let published = client.write("publish_provider", &call).await.map_err(anyhow::Error::from);
    let published = published.with_context(|| format!("{what} was not published"))?;
    let paint = Paint::detect();
    show(&published, paint);
    terminal::say!("{}", paint.good(format!("{} version {} is published", bundle.id, bundle.version)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_bundle_is_refused_with_the_command_that_builds_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let said = |path: &Path| format!("{:#}", read(path).expect_err("refused"));
        let manifest = dir.path().join("provider.yaml");
        let build = format!("agent-graph --manifest {} build dist", manifest.display());
        assert!(said(dir.path()).contains(&build), "{}", said(dir.path()));
        std::fs::write(&manifest, "schema: agent-graph.provider.v1\n").expect("written");
        assert!(said(&manifest).contains(&build), "{}", said(&manifest));
        assert!(said(&dir.path().join("away")).contains("does not exist"));
        std::fs::write(dir.path().join(MANIFEST), "{}").expect("written");
        let said = said(dir.path());
        assert!(said.contains("nothing was sent") && said.contains(MANIFEST), "{said}");
    }
}
