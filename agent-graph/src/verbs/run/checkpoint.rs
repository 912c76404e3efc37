//! `agent-graph run checkpoint`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::call::{Done, Global};
use crate::runs::{self, Held};
use crate::{files, shell};

/// Copies a Run, without authorities, into a new file to go on from later. Nothing is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph run checkpoint --state r.json --to before-publishing.json

Exit codes: 0 copied; 1 not copied, and why.")]
pub struct RunCheckpoint {
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
    /// The file of the checkpoint.
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

impl RunCheckpoint {
    /// Copies it.
    pub fn run(self, global: &Global) -> Done {
        let to = files::absolute(&self.to);
        let held = Held::of(&self.state)?;
        runs::vacant(&to)?;
        let (change, checkpoint) = graph::checkpoint(&held.run, &name(&to), &runs::now());
        runs::create(&to, &checkpoint)?;
        if let Err(failure) = held.replace(&change.run) {
            // A checkpoint that its Run knows nothing of is none.
            let _ = std::fs::remove_file(&to);
            return Err(failure);
        }
        let answer = json!({ "run": files::text(&files::absolute(&self.state)), "checkpoint": files::text(&to) });
        global.tell(&answer, |paint| {
            let to = shell::quote(&files::text(&self.to));
            vec![
                format!("{} of Run {} in {}", paint.good("checkpoint"), change.run.id, to),
                format!("later: {}", paint.typed(format!("agent-graph run resume {to} --state NEW-RUN"))),
            ]
        })
    }
}

/// The name of a checkpoint: that of its file.
pub(super) fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
