//! `agent-graph run authority`.

use std::path::PathBuf;

use clap::Args;

use crate::call::{Done, Global};
use crate::runs::{self, Held};

/// Sets the authorities of this session, in the place of those there are; without --set there are none.
///
/// An authority is a person's to give. It lets Gates be resolved that may be delegated, and proves nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph run authority --state r.json --set release.approve
  agent-graph run authority --state r.json                          takes all of them back

Exit codes: 0 set; 1 not set, and why.")]
pub struct RunAuthority {
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
    /// The authorities.
    #[arg(long, value_name = "ID", num_args = 0..)]
    set: Vec<String>,
}

impl RunAuthority {
    /// Sets them.
    pub fn run(self, global: &Global) -> Done {
        let held = Held::of(&self.state)?;
        let run = graph::set_authorities(&held.run, self.set, &runs::now()).run;
        held.replace(&run)?;
        global.tell(&run, |paint| {
            let names = if run.authorities.is_empty() { "none".to_owned() } else { run.authorities.join(", ") };
            vec![
                format!("{} of Run {}: {names}", paint.good("authorities"), run.id),
                format!("next: {}", paint.typed(super::status(global, &self.state))),
            ]
        })
    }
}
