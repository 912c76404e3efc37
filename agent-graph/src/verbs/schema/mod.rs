//! `agent-graph schema`: the JSON Schemas of the documents, which the command carries in itself.

mod extract;
mod list;
mod path;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use graph::{Failure, digest_value, schema_named};

use crate::call::{Done, Global};
use crate::files;

/// What can be asked of the schemas.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Schema {
    #[command(about = "List the schemas by name")]
    List(list::SchemaList),
    #[command(about = "Print the path of a schema's file")]
    Path(path::SchemaPath),
    #[command(about = "Write a schema to a file")]
    Extract(extract::SchemaExtract),
}

impl Schema {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Schema::List(verb) => verb.run(global),
            Schema::Path(verb) => verb.run(global),
            Schema::Extract(verb) => verb.run(global),
        }
    }
}

/// The folder that the schemas are kept in for other tools: the user's cache, by the digest of all of them, so that no
/// version ever finds those of another. `None` where the user has no place for a cache.
fn root() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    let digest = digest_value(&graph::SCHEMAS);
    let digest = digest.trim_start_matches("sha256:");
    Some(cache.join("agent-graph").join(format!("schemas-{}", digest.get(..16).unwrap_or(digest))))
}

/// The file of a schema in the folder, written when it is not there or says something else.
fn kept(root: &Path, name: &str) -> Result<PathBuf, Failure> {
    let text = schema_named(name)?;
    let path = root.join(format!("{name}.schema.json"));
    if std::fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(path);
    }
    files::write_over(&path, text.as_bytes()).map_err(|error| files::unwritten(&path, &error))?;
    Ok(path)
}
