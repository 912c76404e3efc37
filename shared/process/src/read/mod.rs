//! Bytes to a [`Document`](crate::Document) and every problem (core §2).
//!
//! The file is split into frontmatter and body, the frontmatter is loaded as YAML, each value is checked where it
//! stands, and then the steps are checked as a graph. A problem never hides another of a later stage unless the later
//! one could not be told from a consequence of it.

mod build;
mod document;
mod fields;
mod keys;
mod order;
mod person;
mod split;
mod step;
mod targets;
mod words;

use crate::problem::{Path, Reading, Report, shorten};
use crate::yaml;

/// Reads a `PROCESS.md`: the document, or every problem at once with its line and column in the file.
pub fn read(bytes: &[u8]) -> Reading {
    read_file(bytes, None)
}

/// Reads a `PROCESS.md` that travels as a folder: as [`read()`], and the folder must have the process's name (core §2.1).
pub fn read_in_folder(bytes: &[u8], folder_name: &str) -> Reading {
    read_file(bytes, Some(folder_name))
}

fn read_file(bytes: &[u8], folder_name: Option<&str>) -> Reading {
    let mut report = Report::default();
    let document = split::split(bytes, &mut report).and_then(|parts| {
        let root = yaml::load(parts.frontmatter, split::FRONTMATTER_LINE, &mut report)?;
        document::document(&root, parts.body, folder_name, &mut report)
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
