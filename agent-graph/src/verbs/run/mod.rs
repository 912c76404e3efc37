//! `agent-graph run`: a Run in a file of the caller's choice.

mod authority;
mod checkpoint;
mod events;
mod facts;
mod record;
mod resume;
mod start;
mod status;

use clap::Subcommand;

use crate::call::{Done, Global};

/// What can be done with a Run.
#[derive(Debug, Subcommand)]
pub enum Run {
    /// Start a Run of a Graph.
    Start(start::RunStart),
    /// Say where a Run stands.
    Status(status::RunStatus),
    /// Record the outcome of a node.
    Record(record::RunRecord),
    /// Set facts.
    Facts(facts::RunFacts),
    /// Set the authorities of this session.
    Authority(authority::RunAuthority),
    /// Copy a Run, without authorities, to go on from later.
    Checkpoint(checkpoint::RunCheckpoint),
    /// Go on from a checkpoint in a new file.
    Resume(resume::RunResume),
    /// List all that happened.
    Events(events::RunEvents),
}

impl Run {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Run::Start(verb) => verb.run(global),
            Run::Status(verb) => verb.run(global),
            Run::Record(verb) => verb.run(global),
            Run::Facts(verb) => verb.run(global),
            Run::Authority(verb) => verb.run(global),
            Run::Checkpoint(verb) => verb.run(global),
            Run::Resume(verb) => verb.run(global),
            Run::Events(verb) => verb.run(global),
        }
    }
}

/// The command line that says where a Run stands.
fn status(global: &Global, state: &std::path::Path) -> String {
    global.command(["run", "status", "--state", &crate::files::text(state)])
}
