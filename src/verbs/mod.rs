//! The verbs of the command, one a file. Each one's doc comment is its help.

pub mod bench;
pub mod check;
pub mod dev;
pub mod hash;
pub mod map;
pub mod publish;
pub mod token;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A process server without servers: runs PROCESS.md processes for agents and people over MCP.
#[derive(Debug, Parser)]
#[command(name = "procession", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
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
    /// Measure the embedded server on this machine.
    Bench(bench::Bench),
}

/// Runs a verb. What went wrong is printed to standard error, with what to do about it.
pub async fn run(cli: Cli) -> ExitCode {
    let done = match cli.verb {
        Verb::Dev(verb) => verb.run().await,
        Verb::Token(verb) => verb.run(),
        Verb::Check(verb) => verb.run(),
        Verb::Hash(verb) => verb.run(),
        Verb::Map(verb) => verb.run(),
        Verb::Publish(verb) => verb.run().await,
        Verb::Bench(verb) => verb.run().await,
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("procession: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the future unless the process is interrupted; then it is dropped, with everything that it would have left behind.
pub(crate) async fn interruptible<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::select! {
        done = future => done,
        _ = dev::interrupted() => Err(anyhow::anyhow!("interrupted")),
    }
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
    let bytes = std::fs::read(&file).with_context(|| format!("{}: cannot be read", file.display()))?;
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
