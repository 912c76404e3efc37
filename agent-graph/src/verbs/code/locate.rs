//! `agent-graph code locate`.

use clap::Args;
use graph::documents::ResourceLocation;

use crate::call::{Done, Global};

/// Says what a code means, and where the document is that says more. The document itself is not printed.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph code locate route.release.inspect

Exit codes: 0 found; 1 there is no such code.")]
pub struct CodeLocate {
    /// The code.
    code: String,
}

impl CodeLocate {
    /// Finds it.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let location = graph::code_locate(&opened.provider, &opened.places, &self.code)?;
        global.tell(&location, |paint| {
            let mut lines = vec![format!("{}  {}", paint.title(&location.code), location.summary)];
            if let Some(ResourceLocation::File(file)) = &location.document {
                lines.push(format!("see {}", file.file_path));
            }
            lines
        })
    }
}
