//! The verbs of the command, one a file. Each one's doc comment is its help.

pub mod build;
pub mod code;
pub mod completions;
pub mod evaluate;
pub mod import;
pub mod init;
pub mod inspect;
pub mod resource;
pub mod route;
pub mod run;
pub mod schema;
pub mod test;
pub mod usage;
pub mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::call::{Done, Global};
use crate::hints;

/// The version of the protocols' toolchain that the command stands in for, which scripts ask for, and its own.
const VERSION: &str = concat!("0.3.1 (procession ", env!("CARGO_PKG_VERSION"), ")");

/// Providers of agent-graph v1: check them, evaluate their Graphs, resolve Routes, keep Runs, build bundles.
///
/// A Graph says what may be done next from the facts and the outcomes so far. Nothing is ever run but the materializer of a
/// Resource that `resource materialize` asks for.
#[derive(Debug, Parser)]
#[command(
    name = "agent-graph",
    version = VERSION,
    propagate_version = true,
    arg_required_else_help = true,
    subcommand_required = true,
    // Scripts put theirs behind what a wrapper gave: the last one counts.
    args_override_self = true,
    after_help = "\
To begin with:
  agent-graph init demo --id company/demo      make a small Provider
  cd demo
  agent-graph validate                         check it
  agent-graph evaluate main                    what can be done now
  agent-graph route main                       the first Route, with all that is needed to take it
  agent-graph test && agent-graph build        its tests, and its bundle

Every verb has its own --help with examples. Exit codes: 0 done; 1 not done, and why (with --format json one line of
agent-graph.error.v1 on standard error)."
)]
pub struct Cli {
    /// What every verb takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Verb {
    #[command(about = "Make a small Provider to begin with")]
    Init(init::Init),
    #[command(about = "Turn a Skill, scripts or a workflow into parts of a Provider")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Import(import::Import),
    #[command(about = "Check a Provider and print every fault")]
    Validate(validate::Validate),
    #[command(about = "Show what a Provider or a Skill's binding holds")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Inspect(inspect::Inspect),
    #[command(about = "The JSON Schemas of the documents")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Schema(schema::Schema),
    #[command(about = "Say what can be done now")]
    Evaluate(evaluate::Evaluate),
    #[command(about = "Resolve a Route into all that is needed to take it")]
    Route(route::Route),
    #[command(about = "Keep a Run in a file: facts, outcomes, authorities, events")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Run(run::Run),
    #[command(about = "Find a Resource, make one, or check what a host made")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Resource(resource::Resource),
    #[command(about = "The codes of the Provider's catalog")]
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Code(code::Code),
    #[command(about = "Run the tests of a Provider's Graphs")]
    Test(test::Test),
    #[command(about = "Build a bundle: complete, relocatable, the same every time")]
    Build(build::Build),
    #[command(about = "Print a script that completes command lines in a shell")]
    Completions(completions::Completions),
}

/// Runs the command line. What went wrong is told on standard error, with what to do about it.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return usage::tell(&error, usage::format(&args)),
    };
    match cli.verb.run(&cli.global) {
        Ok(_) if terminal::failed() => ExitCode::FAILURE,
        Ok(code) => code,
        Err(failure) => {
            hints::tell(&failure, cli.global.format);
            ExitCode::FAILURE
        }
    }
}

impl Verb {
    fn run(self, global: &Global) -> Done {
        match self {
            Verb::Init(verb) => verb.run(global),
            Verb::Import(verb) => verb.run(global),
            Verb::Validate(verb) => verb.run(global),
            Verb::Inspect(verb) => verb.run(global),
            Verb::Schema(verb) => verb.run(global),
            Verb::Evaluate(verb) => verb.run(global),
            Verb::Route(verb) => verb.run(global),
            Verb::Run(verb) => verb.run(global),
            Verb::Resource(verb) => verb.run(global),
            Verb::Code(verb) => verb.run(global),
            Verb::Test(verb) => verb.run(global),
            Verb::Build(verb) => verb.run(global),
            Verb::Completions(verb) => verb.run(global),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every command without commands of its own.
    fn leaves(command: &clap::Command) -> Vec<clap::Command> {
        if !command.has_subcommands() {
            return vec![command.clone()];
        }
        command.get_subcommands().flat_map(leaves).collect()
    }

    #[test]
    fn every_help_teaches_with_examples_and_exit_codes() {
        let mut route = Cli::command().find_subcommand("route").unwrap().clone();
        assert!(route.render_long_help().to_string().contains("when the state has changed since"));
        let all = leaves(&Cli::command());
        assert_eq!(all.len(), 28);
        for mut verb in all {
            let help = verb.render_long_help().to_string();
            for part in ["Example", "Exit codes: 0", "agent-graph "] {
                assert!(help.contains(part), "{} has no {part:?}:\n{help}", verb.get_name());
            }
            // The list of verbs has a line of its own for each; the help of the verb is its doc comment.
            let (short, long) = (verb.get_about().unwrap().to_string(), verb.get_long_about().map(ToString::to_string));
            assert!(long.is_none_or(|long| !long.starts_with(&short)), "{}", verb.get_name());
        }
    }

    #[test]
    fn command_lines_of_the_protocols_are_read() {
        for line in [
            "init . --id a/b",
            "init --id a",
            "import skill s/SKILL.md --into . --graph g",
            "import scripts a.sh b.py --into .",
            "import workflow w.yaml --into p",
            "validate -m p/manifest.json",
            "--manifest p.yaml --format json inspect provider",
            "inspect skill SKILL.md --registry r.yaml",
            "schema list",
            "schema path run",
            "schema extract run --output r.json",
            "evaluate main --entry e --state s --facts {} --outcomes @o.json --authority a b",
            "--skill SKILL.md evaluate",
            "route main route:1 --revision r --resource-receipts @r.json --workspace w --authority a",
            "--skill SKILL.md route",
            "run start main --state r --entry e --workspace w --facts {} --authority a b",
            "run status --state r",
            "run record a/b completed --state r --detail -5",
            "run facts --state r --set {} --replace",
            "run authority --state r",
            "run authority --state r --set a b",
            "run checkpoint --state r --to c",
            "run resume c --state r",
            "run events --state r",
            "resource locate x",
            "resource materialize x --cache c --revision r --workspace w --input 1 --timeout-ms 1 --max-output-bytes 1",
            "resource verify-host x --result @r.json --revision r",
            "code list",
            "code locate c",
            "test",
            "test t",
            "build",
            "build out",
            "completions bash",
        ] {
            let words = std::iter::once("agent-graph").chain(line.split_whitespace());
            let read = Cli::try_parse_from(words);
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
        }
    }
}
