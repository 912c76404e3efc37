//! `agent-graph run resume`.

use std::path::PathBuf;

use clap::Args;

use crate::call::{Done, Global};
use crate::{files, runs};

/// Goes on from a checkpoint in a new file: facts, outcomes and events stay, authorities do not. Nothing is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph run resume before-publishing.json --state r2.json

Exit codes: 0 resumed; 1 not resumed, and why.")]
pub struct RunResume {
    /// The file of the checkpoint.
    checkpoint: PathBuf,
    /// The file of the Run that goes on.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
}

impl RunResume {
    /// Resumes it.
    pub fn run(self, global: &Global) -> Done {
        let state = files::absolute(&self.state);
        runs::vacant(&state)?;
        let checkpoint = runs::read(&self.checkpoint)?;
        let run = graph::resume(&checkpoint, &super::checkpoint::name(&self.checkpoint), &runs::now()).run;
        runs::create(&state, &run)?;
        global.tell(&run, |paint| {
            vec![
                format!("{} Run {} in {}", paint.good("resumed"), run.id, state.display()),
                format!("next: {}", paint.typed(super::status(global, &self.state))),
            ]
        })
    }
}
