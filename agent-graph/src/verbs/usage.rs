//! Command lines that say nothing that can be done, and those that only ask for help.

use std::io::Write as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use graph::Failure;

use crate::call::Format;
use crate::hints;

/// Tells what a command line came to instead of a verb.
pub fn tell(error: &clap::Error) -> ExitCode {
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
            let _ = writeln!(std::io::stderr(), "{}", crate::out::clean(&message));
        }
        ErrorKind::InvalidValue if text(error, ContextKind::InvalidArg).starts_with("--format") => {
            let given = text(error, ContextKind::InvalidValue);
            let message = format!("--format is human or json, not `{given}`");
            hints::tell(&Failure::new("format-invalid", message), Format::Human);
        }
        _ => {
            let _ = error.print();
        }
    }
    ExitCode::FAILURE
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        // The likeliest is last there.
        Some(ContextValue::Strings(texts)) => texts.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" or "),
        _ => String::new(),
    }
}
