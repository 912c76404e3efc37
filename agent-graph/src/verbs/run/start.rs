//! `agent-graph run start`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use serde_json::Map;

use crate::call::{Done, Global};
use crate::select::StateOptions;
use crate::{files, runs, values};

/// Starts a Run of a Graph in a new file. Nothing is replaced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph run start release --state .runtime/release.json
  agent-graph run start release --state r.json --facts '{\"artifact\": {\"digest\": \"sha256:…\"}}' --workspace .

Exit codes: 0 started; 1 not started, and why.")]
pub struct RunStart {
    /// The Graph; that of the Skill where one is named.
    graph: Option<String>,
    /// The file of the Run.
    #[arg(long, value_name = "RUN")]
    state: PathBuf,
    /// The entry of the Graph; `default` unless a Skill says otherwise.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The folder that Actions run in.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    workspace: PathBuf,
    /// Facts to begin with.
    #[arg(long, value_name = "JSON|@FILE")]
    facts: Option<String>,
    /// Authorities of this session.
    #[arg(long = "authority", value_name = "ID", num_args = 1..)]
    authorities: Vec<String>,
}

impl RunStart {
    /// Starts it.
    pub fn run(self, global: &Global) -> Done {
        let state = files::absolute(&self.state);
        let opened = global.open(Some(&self.workspace))?;
        let facts = self.facts.as_deref().map(|text| values::object("--facts", text)).transpose()?;
        let options = StateOptions { entry: self.entry, state: None, facts: None, outcomes: None, authorities: vec![] };
        let selected = options.select(&opened, self.graph.as_deref(), None)?;
        let (id, workspace) = (uuid::Uuid::new_v4().to_string(), Some(opened.places.workspace.as_str()));
        let facts = facts.unwrap_or_else(Map::new);
        let started =
            graph::start(&opened.provider, &selected.graph, &selected.entry, &id, workspace, facts, &runs::now())?;
        let mut run = started.run;
        run.authorities = self.authorities.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        runs::create(&state, &run)?;
        global.tell(&run, |paint| {
            vec![
                format!("{} Run {} of {} {}", paint.good("started"), run.id, run.provider, run.graph),
                format!("in {}", state.display()),
                format!("next: {}", paint.typed(super::status(global, &self.state))),
            ]
        })
    }
}
