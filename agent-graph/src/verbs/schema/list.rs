//! `agent-graph schema list`.

use clap::Args;
use serde_json::json;

use crate::call::{Done, Global};
use crate::files;

/// Lists the schemas by name, and the folder in which other tools find them as files.
///
/// The command carries the schemas in itself. Their files are written into the user's cache, where there is one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph schema list
  agent-graph --format json schema list | jq -r .root

Exit codes: 0 listed.")]
pub struct SchemaList {}

impl SchemaList {
    /// Lists them.
    pub fn run(self, global: &Global) -> Done {
        let names: Vec<&str> = graph::SCHEMAS.iter().map(|(name, _)| *name).collect();
        // A cache that cannot be written is none; the names are right all the same.
        let root = super::root().filter(|root| names.iter().all(|name| super::kept(root, name).is_ok()));
        let answer = json!({ "root": root.as_deref().map(files::text), "schemas": names });
        global.tell(&answer, |paint| {
            let mut lines: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            lines.push(match &root {
                Some(root) => paint.dim(format!("files in {}", root.display())),
                None => paint.dim("no cache to keep their files in: agent-graph schema extract NAME --output FILE"),
            });
            lines
        })
    }
}
