//! `agent-graph run events`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::super::evaluate::word;
use crate::call::{Done, Global};
use crate::runs;

/// Lists all that happened in a Run, in order.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph run events --state r.json

Exit codes: 0 listed; 1 there is no such Run.")]
pub struct RunEvents {
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
}

impl RunEvents {
    /// Lists them.
    pub fn run(self, global: &Global) -> Done {
        let run = runs::read(&self.state)?;
        global.tell(&json!({ "run": run.id, "events": run.events }), |paint| {
            let event = |event: &graph::documents::RunEvent| {
                let node = event.node.as_deref().map(|node| format!(" {node}")).unwrap_or_default();
                let outcome = event.outcome.map(|outcome| format!(" {}", word(&outcome))).unwrap_or_default();
                let detail = event.detail.as_ref().map(|detail| format!("  {detail}")).unwrap_or_default();
                let at = paint.dim(&event.at);
                format!("{:>4} {at} {}{node}{outcome}{}", event.sequence, event.r#type, paint.dim(detail))
            };
            run.events.iter().map(event).collect()
        })
    }
}
