//! `procession check`: every problem of every file, offline.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use terminal::clean;

use super::read_file;

/// Checks files without a server and prints every problem as `file:line:column: message`.
///
/// Every problem of every file is told at once; a warning is well-formed but may not be meant.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession check examples/supplier-onboarding          a folder must have the name of its process
  procession check PROCESS.md examples/*/

Exit codes: 0 every file can be run (warnings aside); 1 some cannot; 2 a wrong command line.")]
pub struct Check {
    /// PROCESS.md files, or folders that hold one.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
}

impl Check {
    /// Checks every path.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let (mut errors, mut good) = (0, 0);
        for path in &self.paths {
            let (file, bytes, folder) = match read_file(path) {
                Ok(read) => read,
                // The other files are still worth checking.
                Err(error) => {
                    terminal::say!("{error:#}");
                    errors += 1;
                    continue;
                }
            };
            let reading = match &folder {
                Some(folder) => process::read_in_folder(&bytes, folder),
                None => process::read(&bytes),
            };
            for problem in &reading.problems {
                let (name, line, column) = (file.display(), problem.line, problem.column);
                match problem.severity {
                    process::Severity::Error => {
                        errors += 1;
                        terminal::say!("{name}:{line}:{column}: {}", clean(&problem.message));
                    }
                    process::Severity::Warning => {
                        terminal::say!("{name}:{line}:{column}: warning: {}", clean(&problem.message))
                    }
                }
            }
            if let Some(document) = reading.document {
                good += 1;
                let steps = match document.steps.len() {
                    1 => "1 step".to_owned(),
                    many => format!("{many} steps"),
                };
                terminal::say!("{}: {} is well-formed, {}", file.display(), document.name, steps);
                if let Some(needs) = needs(&document.profiles()) {
                    terminal::say!("{}: {needs}", file.display());
                }
            }
        }
        if errors == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let problems = if errors == 1 { "problem" } else { "problems" };
        terminal::say!("{errors} {problems}, {good} of {} can be run", files(self.paths.len()));
        Ok(ExitCode::FAILURE)
    }
}

/// What a server must offer to run a file with these profiles; some need what not every server has.
fn needs(profiles: &[&str]) -> Option<String> {
    let (last, others) = profiles.split_last()?;
    let names = match others {
        [] => format!("profile {last}"),
        others => format!("profiles {} and {last}", others.join(", ")),
    };
    let more = [(process::CHECK_1, "an evaluator"), (process::GRAPH_1, "the providers of its graphs")];
    let more: Vec<&str> = more.into_iter().filter(|(name, _)| profiles.contains(name)).map(|(_, what)| what).collect();
    let server = match more.is_empty() {
        true => String::new(),
        false => format!(": the server that runs it needs {}", more.join(" and ")),
    };
    Some(format!("needs {names}{server}"))
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_must_offer_is_one_line() {
        assert_eq!(needs(&[]), None);
        assert_eq!(needs(&["parallel-1"]).as_deref(), Some("needs profile parallel-1"));
        assert_eq!(
            needs(&["check-1"]).as_deref(),
            Some("needs profile check-1: the server that runs it needs an evaluator")
        );
        assert_eq!(
            needs(&["check-1", "parallel-1"]).as_deref(),
            Some("needs profiles check-1 and parallel-1: the server that runs it needs an evaluator")
        );
        assert_eq!(
            needs(&["graph-1"]).as_deref(),
            Some("needs profile graph-1: the server that runs it needs the providers of its graphs")
        );
        assert_eq!(
            needs(&["check-1", "graph-1", "parallel-1"]).as_deref(),
            Some(
                "needs profiles check-1, graph-1 and parallel-1: the server that runs it needs an evaluator and the \
                 providers of its graphs"
            )
        );
    }
}
