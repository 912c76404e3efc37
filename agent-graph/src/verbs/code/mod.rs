//! `agent-graph code`: the Code Catalog.

mod list;
mod locate;

use clap::Subcommand;

use crate::call::{Done, Global};

/// What can be asked of the Code Catalog.
#[derive(Debug, Subcommand)]
pub enum Code {
    /// List the codes.
    List(list::CodeList),
    /// Say what a code means and where its document is.
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
