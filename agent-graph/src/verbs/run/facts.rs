//! `agent-graph run facts`.

use std::path::PathBuf;

use clap::Args;

use crate::call::{Done, Global};
use crate::runs::{self, Held};
use crate::values;

/// Sets facts of a Run: over those there are, or in their place.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph run facts --state r.json --set '{\"artifact\": {\"digest\": \"sha256:…\"}}'
  agent-graph run facts --state r.json --set @observed.json --replace

Exit codes: 0 set; 1 not set, and why.")]
pub struct RunFacts {
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
    /// The facts.
    #[arg(long, value_name = "JSON|@FILE")]
    set: String,
    /// Forget the facts that are not among them.
    #[arg(long)]
    replace: bool,
}

impl RunFacts {
    /// Sets them.
    pub fn run(self, global: &Global) -> Done {
        let facts = values::object("--set", &self.set)?;
        let held = Held::of(&self.state)?;
        let run = graph::set_facts(&held.run, facts, self.replace, &runs::now()).run;
        held.replace(&run)?;
        global.tell(&run, |paint| {
            let names = run.facts.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let names = if names.is_empty() { "none".to_owned() } else { names };
            vec![
                format!("{} of Run {}: {names}", paint.good("facts"), run.id),
                format!("next: {}", paint.typed(super::status(global, &self.state))),
            ]
        })
    }
}
