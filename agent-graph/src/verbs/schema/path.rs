//! `agent-graph schema path`.

use clap::Args;
use graph::{Failure, schema_named};
use serde_json::json;

use crate::call::{Done, Global};
use crate::files;

/// Prints the path of a schema's file.
///
/// The command carries the schemas in itself; the file is written into the user's cache when it is not there.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  check-jsonschema --schemafile \"$(agent-graph schema path graph)\" graphs/*.yaml

Exit codes: 0 the file is there; 1 there is no such schema, or no cache to keep it in.")]
pub struct SchemaPath {
    /// The schema's name.
    name: String,
}

impl SchemaPath {
    /// Prints it.
    pub fn run(self, global: &Global) -> Done {
        schema_named(&self.name)?;
        let extract =
            format!("write it to a place of your own: agent-graph schema extract {} --output FILE", self.name);
        let root = super::root().ok_or_else(|| {
            let message = format!("neither XDG_CACHE_HOME nor HOME says where to keep the file of a schema; {extract}");
            Failure::new("file-missing", message)
        })?;
        let path = super::kept(&root, &self.name)
            .map_err(|failure| Failure { message: format!("{}; {extract}", failure.message), ..failure })?;
        let path = files::text(&path);
        global.tell(&json!({ "name": self.name, "path": path }), |_| vec![path.clone()])
    }
}
