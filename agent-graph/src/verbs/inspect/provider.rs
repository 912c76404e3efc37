//! `agent-graph inspect provider`.

use clap::Args;

use crate::call::{Done, Global};

/// Shows what a Provider holds: Graphs with their entries and nodes, Actions, Resources, codes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph inspect provider
  agent-graph --format json inspect provider | jq '.graphs[].entrypoints'

Exit codes: 0 shown; 1 the Provider does not hold together, and why.")]
pub struct InspectProvider {}

impl InspectProvider {
    /// Shows it.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        global.tell(&graph::inspect(&opened.provider, &opened.places), |paint| super::lines(&opened.provider, paint))
    }
}
