//! `agent-graph completions`: command lines completed by the shell.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::call::{Done, Global};

/// Prints the script that completes command lines of agent-graph in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph completions bash > ~/.local/share/bash-completion/completions/agent-graph
  agent-graph completions zsh > \"${fpath[1]}/_agent-graph\"
  agent-graph completions fish > ~/.config/fish/completions/agent-graph.fish

Exit codes: 0 printed; 1 no such shell.")]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run(self, _: &Global) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "agent-graph", &mut script);
        let mut script = String::from_utf8_lossy(&script).into_owned();
        if self.shell == Shell::Bash {
            // The generator takes the hyphen of the name for two underscores where it keeps the verb, and for the mark
            // between verbs where it looks the verb up, so that none is ever found.
            script = script.replace("agent__subcmd__graph", "agent__graph");
        }
        terminal::say!("{}", script.trim_end());
        Ok(std::process::ExitCode::SUCCESS)
    }
}
