//! The verbs of the command, one a file. Each one's doc comment is its help.

pub mod bench;
pub mod check;
pub mod demo;
pub mod dev;
pub mod hash;
pub mod map;
pub mod provider;
pub mod publish;
pub mod token;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::client::Client;

/// A process server without servers: runs PROCESS.md processes for agents and people over MCP.
#[derive(Debug, Parser)]
#[command(
    name = "procession",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "\
To begin with:
  procession demo                                    watch one run from start to end
  procession dev                                     serve on this machine
  procession publish examples/supplier-onboarding --bind finance=g_finance --token \"$TOKEN\"

Every verb has its own --help with examples. Exit codes: 0 done; 1 not done, and why; 2 a wrong command line."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Play one run from start to end, to be watched.
    Demo(demo::Demo),
    /// Serve processes on this machine until interrupted.
    Dev(dev::Dev),
    /// Print a bearer token of a data folder's development issuer.
    Token(token::Token),
    /// Check PROCESS.md files and print every problem.
    Check(check::Check),
    /// Print the content hash of a PROCESS.md.
    Hash(hash::Hash),
    /// Draw a PROCESS.md as a Mermaid text or an SVG picture.
    Map(map::Map),
    /// Publish PROCESS.md files on a server.
    Publish(publish::Publish),
    /// Publish providers of graphs on a server, and list them.
    Provider(provider::Provider),
    /// Measure the embedded server on this machine, and count what calls cost on AWS.
    Bench(bench::Bench),
}

/// Runs a verb. What went wrong is printed to standard error, with what to do about it.
pub async fn run(cli: Cli) -> ExitCode {
    let done = match cli.verb {
        Verb::Demo(verb) => verb.run().await,
        Verb::Dev(verb) => verb.run().await,
        Verb::Token(verb) => verb.run(),
        Verb::Check(verb) => verb.run(),
        Verb::Hash(verb) => verb.run(),
        Verb::Map(verb) => verb.run(),
        Verb::Publish(verb) => verb.run().await,
        Verb::Provider(verb) => verb.run().await,
        Verb::Bench(verb) => verb.run().await,
    };
    match done {
        Ok(_) if terminal::failed() => ExitCode::FAILURE,
        Ok(code) => code,
        Err(error) => {
            // Where this cannot be written there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "procession: {}", terminal::clean(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Runs the future unless the process is interrupted; then it is dropped, with everything that it would have left behind.
pub(crate) async fn interruptible<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let ended = dev::interrupted()?;
    tokio::select! {
        done = future => done,
        _ = ended => Err(anyhow::anyhow!("interrupted")),
    }
}

/// Connects to a server with the token that was given.
pub(crate) async fn connect(url: &str, token: Option<&str>) -> anyhow::Result<Client> {
    let Some(token) = token else {
        anyhow::bail!(
            "nothing was sent: there is no token. Give one with --token or in PROCESSION_TOKEN; for a server on this \
             machine: export PROCESSION_TOKEN=$(procession token --kind person --subject me@example.com --operator)"
        );
    };
    Client::connect(url, token).await
}

/// Reads a PROCESS.md, or the one in a folder, and says which file it was. A folder's name must be the process's (core
/// §2.1).
pub(crate) fn read_file(path: &std::path::Path) -> anyhow::Result<(std::path::PathBuf, Vec<u8>, Option<String>)> {
    use anyhow::Context;
    let (file, folder) = if path.is_dir() {
        let whole = path.canonicalize().with_context(|| format!("{}: cannot be read", path.display()))?;
        let name = whole.file_name().map(|n| n.to_string_lossy().into_owned());
        (path.join("PROCESS.md"), name)
    } else {
        (path.to_owned(), None)
    };
    let bytes = std::fs::read(&file).with_context(|| match folder.is_some() && !file.exists() {
        true => format!("{}: holds no PROCESS.md; name the folders that do, such as {0}/*/", path.display()),
        false => format!("{}: cannot be read", file.display()),
    })?;
    Ok((file, bytes, folder))
}

/// Reads and checks a file: the document, or every problem as one error.
pub(crate) fn read_document(path: &std::path::Path) -> anyhow::Result<process::Document> {
    let (file, bytes, folder) = read_file(path)?;
    let reading = match &folder {
        Some(folder) => process::read_in_folder(&bytes, folder),
        None => process::read(&bytes),
    };
    let problems: Vec<String> = reading.problems.iter().map(|p| format!("{}:{p}", file.display())).collect();
    reading.document.ok_or_else(|| anyhow::anyhow!("this file cannot be run:\n{}", problems.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn parsed(line: &str) -> Result<Verb, String> {
        let words = std::iter::once("procession").chain(line.split_whitespace());
        Cli::try_parse_from(words).map(|cli| cli.verb).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_teaches_with_examples_and_exit_codes() {
        fn teaches(verb: &mut clap::Command) {
            let help = verb.render_long_help().to_string();
            for part in ["Example", "Exit codes: 0", "procession "] {
                assert!(help.contains(part), "{} has no {part:?}:\n{help}", verb.get_name());
            }
            verb.get_subcommands_mut().filter(|verb| verb.get_name() != "help").for_each(teaches);
        }
        Cli::command().get_subcommands_mut().for_each(teaches);
    }

    #[test]
    fn command_lines_are_read() {
        for line in [
            "demo",
            "demo --keep",
            "dev",
            "dev --listen 127.0.0.1:0 --data d --lease-seconds 60 --speed 10 --org o --json",
            "token --kind agent --subject a",
            "token --data d --kind person --subject a@b.example --org o --group g --group h --operator --ttl 30m",
            "check a b",
            "hash a",
            "map a --format svg",
            "publish a b --url http://127.0.0.1:1/mcp --token t --bind r=g --bind s=h",
            "provider list",
            "provider list --url http://127.0.0.1:1/mcp --token t",
            "provider publish dist --url http://127.0.0.1:1/mcp --token t",
            "bench",
            "bench --users 1,2 --units 10 --json",
        ] {
            assert!(parsed(line).is_ok(), "{line}: {:?}", parsed(line).err());
        }
    }

    #[test]
    fn a_wrong_command_line_says_what_is_wrong() {
        for (line, words) in [
            ("", "Usage"),
            ("serve", "unrecognized subcommand 'serve'"),
            ("dev --listen here", "--listen"),
            ("dev --lease-seconds 0", "1..=604800"),
            ("dev --speed 0", "1..=1000000"),
            ("token --kind robot --subject a", "possible values: agent, person"),
            ("token --kind agent", "--subject"),
            ("token --kind agent --subject a --ttl 1w", "such as 1h"),
            ("check", "<PATHS>"),
            ("map a --format png", "possible values: mermaid, svg"),
            ("publish a --token t --bind finance", "ROLE=GROUP"),
            ("publish --token t", "<PATHS>"),
            ("provider", "Usage"),
            ("provider publish", "<BUNDLE>"),
            ("provider remove a", "unrecognized subcommand 'remove'"),
            ("bench --users 0", "from 1 to 1024"),
            ("bench --users 1,x", "such as 1,16,64"),
            ("bench --seconds 0", "1..=600"),
            ("bench --units 1 --seconds 1", "cannot be used with"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}
