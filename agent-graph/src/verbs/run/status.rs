//! `agent-graph run status`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::call::{Done, Global};
use crate::select::same_provider;
use crate::{files, runs};

/// Says where a Run stands: its Graph is evaluated with what the Run remembers and the Provider as it is now.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph run status --state .runtime/release.json

Exit codes: 0 told, whatever the status; 1 not told, and why.")]
pub struct RunStatus {
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
}

impl RunStatus {
    /// Tells it.
    pub fn run(self, global: &Global) -> Done {
        let run = runs::read(&self.state)?;
        let opened = global.open(run.workspace.as_deref().map(Path::new))?;
        same_provider(&run, &opened.provider)?;
        let evaluation = graph::evaluate(&opened.provider, &run.graph, &run.entry, &run.state())?.evaluation;
        let state = files::text(&files::absolute(&self.state));
        let answer = json!({
            "run": { "id": run.id, "state": state, "updatedAt": run.updated_at },
            "evaluation": evaluation,
        });
        global.tell(&answer, |paint| {
            let mut lines = vec![format!("Run {}, changed last at {}", run.id, run.updated_at)];
            lines.extend(super::super::evaluate::lines(&evaluation, paint));
            if let Some(route) = &evaluation.primary_route {
                let given = files::text(&self.state);
                let words =
                    ["route", &run.graph, &route.route_id, "--state", &given, "--revision", &evaluation.revision];
                lines.push(format!("next: {}", paint.typed(global.command(words))));
            }
            lines
        })
    }
}
