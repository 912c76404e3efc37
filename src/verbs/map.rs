//! `procession map`: a process as a picture.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::read_document;

/// Draws a PROCESS.md: its steps, the routes with their `when`, and the ways back after a rejection.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession map examples/parcel-return                      Mermaid, to paste into a document
  procession map examples/parcel-return --format svg > parcel-return.svg

Exit codes: 0 drawn; 1 the file cannot be run, and why; 2 a wrong command line.")]
pub struct Map {
    /// A PROCESS.md, or the folder that holds it.
    path: PathBuf,
    /// What to draw.
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
}

/// A form of the map.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Text that Mermaid draws.
    Mermaid,
    /// A picture that any browser shows.
    Svg,
}

impl Map {
    /// Prints the map.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let document = read_document(&self.path)?;
        let text = match self.format {
            Format::Mermaid => process::map::mermaid(&document),
            Format::Svg => process::map::svg(&document),
        };
        terminal::say!("{}", text.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}
