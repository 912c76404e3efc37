//! Bytes to a [`Document`](crate::Document) and every problem (core §2).
//!
//! The file is split into frontmatter and body, the frontmatter is loaded as YAML, each value is checked where it
//! stands, and then the steps are checked as a graph. A problem never hides another of a later stage unless the later
//! one could not be told from a consequence of it.

mod branches;
mod build;
mod check;
mod choice;
mod document;
mod edges;
mod fields;
mod graph;
mod keys;
mod next;
mod order;
mod parallel;
mod person;
mod sides;
mod split;
mod step;
mod targets;
mod words;

use crate::problem::{Path, Reading, Report, shorten};
use crate::yaml;

/// How a file is read. By default it may use everything that this crate knows, and has any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions<'a> {
    /// The folder that the file travels in, which must have the process's name (core §2.1).
    pub folder_name: Option<&'a str>,
    /// Whether `check` and `advisory` are offered (profile check-1). Where they are not, a file that uses them is refused
    /// with [`Problem::profile`](crate::Problem::profile).
    pub check: bool,
    /// Whether `graph` is offered (profile graph-1), as for `check`.
    pub graph: bool,
}

impl Default for ReadOptions<'_> {
    fn default() -> Self {
        ReadOptions { folder_name: None, check: true, graph: true }
    }
}

/// Reads a `PROCESS.md`: the document, or every problem at once with its line and column in the file.
pub fn read(bytes: &[u8]) -> Reading {
    read_with(bytes, &ReadOptions::default())
}

/// Reads a `PROCESS.md` that travels as a folder: as [`read()`], and the folder must have the process's name (core §2.1).
pub fn read_in_folder(bytes: &[u8], folder_name: &str) -> Reading {
    read_with(bytes, &ReadOptions { folder_name: Some(folder_name), ..ReadOptions::default() })
}

/// Reads a `PROCESS.md` as the options say: the document, or every problem at once with its line and column in the file.
pub fn read_with(bytes: &[u8], options: &ReadOptions<'_>) -> Reading {
    let mut report = Report::default();
    let document = split::split(bytes, &mut report).and_then(|parts| {
        let root = yaml::load(parts.frontmatter, split::FRONTMATTER_LINE, &mut report)?;
        document::document(&root, parts.body, options, &mut report)
    });
    if document.is_none() && !report.has_errors() {
        // Every rule that withholds a document reports why; this keeps the promise should one forget.
        report.error(split::START, &Path::Root, "this file could not be read to its end; please report it");
    }
    report.finish(document)
}

/// `folder` differs from `name`.
fn folder_mismatch(folder: &str, name: &str) -> String {
    format!("the folder is called `{}`; give it the name of the process, `{name}`", shorten(folder))
}
