//! `agent-graph code`: the Code Catalog.

mod list;
mod locate;

use clap::Subcommand;

use crate::call::{Done, Global};

/// What can be asked of the Code Catalog.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Code {
    #[command(about = "List the codes")]
    List(list::CodeList),
    #[command(about = "Say what a code means and where its document is")]
    Locate(locate::CodeLocate),
}

impl Code {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Code::List(verb) => verb.run(global),
            Code::Locate(verb) => verb.run(global),
        }
    }
}
