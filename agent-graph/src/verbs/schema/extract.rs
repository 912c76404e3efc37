//! `agent-graph schema extract`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::call::{Done, Global};
use crate::files;

/// Writes a schema to a file, in the place of one that is there.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph schema extract graph --output graph.schema.json

Exit codes: 0 written; 1 there is no such schema, or the file cannot be written.")]
pub struct SchemaExtract {
    /// The schema's name.
    name: String,
    /// The file.
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

impl SchemaExtract {
    /// Writes it.
    pub fn run(self, global: &Global) -> Done {
        let text = graph::schema_named(&self.name)?;
        let path = files::absolute(&self.output);
        files::write_over(&path, text.as_bytes()).map_err(|error| files::unwritten(&path, &error))?;
        let path = files::text(&path);
        global.tell(&json!({ "name": self.name, "path": path }), |_| vec![path.clone()])
    }
}
