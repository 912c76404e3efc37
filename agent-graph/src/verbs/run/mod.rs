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
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Run {
    #[command(about = "Start a Run of a Graph")]
    Start(start::RunStart),
    #[command(about = "Say where a Run stands")]
    Status(status::RunStatus),
    #[command(about = "Record the outcome of a node")]
    Record(record::RunRecord),
    #[command(about = "Set facts")]
    Facts(facts::RunFacts),
    #[command(about = "Set the authorities of this session")]
    Authority(authority::RunAuthority),
    #[command(about = "Copy a Run, without authorities, to go on from later")]
    Checkpoint(checkpoint::RunCheckpoint),
    #[command(about = "Go on from a checkpoint in a new file")]
    Resume(resume::RunResume),
    #[command(about = "List all that happened")]
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
