//! `procession provider`: the providers of graphs that a server has.

mod list;
mod publish;

use std::process::ExitCode;

use clap::{Args, Subcommand};

/// Publishes providers of graphs on a server, and lists them.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  agent-graph --manifest provider.yaml build dist    make a bundle of a provider
  procession provider publish dist                   publish it
  procession provider list                           see what is published

Each has its own --help. Exit codes: 0 done; 1 not done, and why; 2 a wrong command line."
)]
pub struct Provider {
    /// What to do.
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Publish a provider's bundle.
    Publish(publish::Publish),
    /// List the published providers.
    List(list::List),
}

impl Provider {
    /// Does it.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Publish(verb) => verb.run().await,
            Verb::List(verb) => verb.run().await,
        }
    }
}
