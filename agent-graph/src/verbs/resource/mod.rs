//! `agent-graph resource`: Resources, which are files or are made when they are asked for.

mod locate;
mod materialize;
mod verify_host;

use clap::Subcommand;

use crate::call::{Done, Global};

/// What can be done with a Resource.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Resource {
    #[command(about = "Say where a Resource is, or how it is made")]
    Locate(locate::ResourceLocate),
    #[command(about = "Make a Resource that an Action of the Provider makes")]
    Materialize(materialize::ResourceMaterialize),
    #[command(about = "Check what the host made against what was asked of it")]
    VerifyHost(verify_host::ResourceVerifyHost),
}

impl Resource {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Resource::Locate(verb) => verb.run(global),
            Resource::Materialize(verb) => verb.run(global),
            Resource::VerifyHost(verb) => verb.run(global),
        }
    }
}
