//! Command lines that say nothing that can be done, and those that only ask for help.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use graph::Failure;

use crate::call::Format;
use crate::hints;

/// Tells what a command line came to instead of a verb.
///
/// A program is told one line of `agent-graph.error.v1`, but for an unknown command, which the reference command tells both in
/// the same words.
pub fn tell(error: &clap::Error, format: Format) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that went away has read enough.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        ErrorKind::InvalidSubcommand => {
            let mut message = format!("error: unknown command '{}'", text(error, ContextKind::InvalidSubcommand));
            let near = text(error, ContextKind::SuggestedSubcommand);
            if !near.is_empty() {
                message.push_str(&format!("\nDid you mean {near}?"));
            }
            let _ = writeln!(std::io::stderr(), "{}", terminal::clean(&message));
        }
        ErrorKind::InvalidValue if text(error, ContextKind::InvalidArg).starts_with("--format") => {
            let given = text(error, ContextKind::InvalidValue);
            let message = format!("--format is human or json, not `{given}`");
            hints::tell(&Failure::new("format-invalid", message), Format::Human);
        }
        _ if format == Format::Json => hints::tell(&Failure::new("option-invalid", line(error)), format),
        _ => {
            let _ = error.print();
        }
    }
    ExitCode::FAILURE
}

/// The format that a command line asks for, when it cannot be read as a whole.
pub fn format(args: &[OsString]) -> Format {
    let asked = |at: usize, word: &OsString| match word.to_str() {
        Some("--format") => args.get(at + 1).is_some_and(|next| next == "json"),
        Some(word) => word == "--format=json",
        None => false,
    };
    let json = args.iter().take_while(|word| *word != "--").enumerate().any(|(at, word)| asked(at, word));
    if json { Format::Json } else { Format::Human }
}

/// What is wrong with a command line, and how it should be, as one line.
fn line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "a command is missing; --help lists them".to_owned();
    }
    let told = error.render().to_string();
    let lines =
        told.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let text = lines.collect::<Vec<_>>().join("; ");
    text.trim_start_matches("error: ").replace(":; ", ": ")
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        // The likeliest is last there.
        Some(ContextValue::Strings(texts)) => texts.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    }
}
