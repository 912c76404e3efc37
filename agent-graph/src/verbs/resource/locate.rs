//! `agent-graph resource locate`.

use clap::Args;
use graph::documents::ResourceLocation;

use crate::call::{Done, Global};

/// Says where a Resource is, with its digest, or how it is made. Nothing is run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph resource locate release.checklist
  agent-graph resource locate resources/checklist.md

Exit codes: 0 found; 1 there is no such Resource.")]
pub struct ResourceLocate {
    /// The Resource's id, or its path below the Provider root.
    resource: String,
}

impl ResourceLocate {
    /// Finds it.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let location = graph::locate(&opened.provider, &opened.places, &self.resource)?;
        global.tell(&location, |paint| match &location {
            ResourceLocation::File(file) => vec![file.file_path.clone(), paint.dim(&file.digest)],
            ResourceLocation::GraphAction(made) => {
                let words = ["resource", "materialize", made.id.as_str(), "--cache", "CACHE", "--revision", "REVISION"];
                vec![
                    format!("{} is made when a Route selects it", made.id),
                    format!("next: {}", paint.typed(global.command(words))),
                ]
            }
            ResourceLocation::HostAction(made) => {
                let words = ["resource", "verify-host", made.id.as_str(), "--result", "@RESULT"];
                vec![
                    format!("{} is made by the host's {}", made.id, made.materialize.handler),
                    format!("input {} of {}", made.materialize.input.value, made.materialize.input.schema),
                    format!("its digest {}", graph::input_digest(made)),
                    format!("afterwards: {}", paint.typed(global.command(words))),
                ]
            }
        })
    }
}
