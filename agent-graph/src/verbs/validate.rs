//! `agent-graph validate`: a Provider is checked as a whole.

use clap::Args;

use super::inspect::counts;
use crate::call::{Done, Global};

/// Loads everything that can be reached from the manifest, and prints every fault.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph validate
  agent-graph validate --manifest dist/provider/manifest.json      a bundle, with its digests

Exit codes: 0 the Provider holds together; 1 it does not, and why.")]
pub struct Validate {}

impl Validate {
    /// Checks the Provider.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let provider = &opened.provider;
        global.tell(&graph::validated(provider, &opened.places), |paint| {
            let manifest = &provider.manifest.value;
            let first = provider.graphs.keys().next().map_or("GRAPH", String::as_str);
            vec![
                format!("{} {} {}", paint.good("valid"), paint.title(&manifest.id), manifest.version),
                counts(provider),
                format!("next: {}", paint.typed(global.command(["evaluate", first]))),
            ]
        })
    }
}
