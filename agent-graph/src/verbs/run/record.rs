//! `agent-graph run record`.

use std::path::PathBuf;

use clap::Args;
use graph::documents::Run;

use crate::call::{Done, Global};
use crate::runs::{self, Held};
use crate::values;

/// Records the outcome of a node. Processes that record at once wait for each other; no event is lost.
///
/// The key is the one that a Route tells as `afterAction.recordNode`. An outcome is one of completed, partial, failed,
/// unverified, skipped, pending, blocked and waiting-user.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph run record release/inspect completed --state .runtime/release.json
  agent-graph run record 'main/quality>quality/check' failed --state r.json --detail '{\"exit\": 2}'

Exit codes: 0 recorded; 1 not recorded, and why.")]
pub struct RunRecord {
    /// The state key of the node.
    node: String,
    /// What became of it.
    outcome: String,
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
    /// More, to be kept with the event.
    #[arg(long, value_name = "JSON|@FILE", allow_negative_numbers = true)]
    detail: Option<String>,
}

impl RunRecord {
    /// Records it.
    pub fn run(self, global: &Global) -> Done {
        let outcome = values::outcome(&self.outcome)?;
        let detail = self.detail.as_deref().map(|text| values::value("--detail", text)).transpose()?;
        let held = Held::of(&self.state)?;
        let run = graph::record(&held.run, &self.node, outcome, detail, &runs::now()).run;
        held.replace(&run)?;
        if let Some(said) = strange(global, &run, &self.node) {
            terminal::note(&said);
        }
        global.tell(&run, |paint| {
            vec![
                format!("{} {} {}", paint.good("recorded"), self.node, self.outcome),
                format!("next: {}", paint.typed(super::status(global, &self.state))),
            ]
        })
    }
}

/// What is odd about a key, as far as the Provider is at hand: a Run is kept without it.
fn strange(global: &Global, run: &Run, node: &str) -> Option<String> {
    let provider = global.open(None).ok()?.provider;
    if provider.id() == run.provider { crate::select::overlooked(&provider, &run.graph, node) } else { None }
}
