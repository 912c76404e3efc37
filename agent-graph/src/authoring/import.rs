//! What the imports share: the Provider they go into, and all that is added to it besides their own files.

use std::path::{Path, PathBuf};

use graph::disk::Disk;
use graph::{Failure, Source as _};
use serde_json::{Map, Value, json};

use super::draft::Draft;
use super::yaml;
use crate::files;

/// The manifest that an import goes into.
const MANIFEST: &str = "provider.yaml";

/// The report that every import adds a section to.
const REPORT: &str = "IMPORT_REPORT.md";

/// The Provider that something is imported into.
#[derive(Debug)]
pub struct Target {
    /// Its folder.
    pub root: PathBuf,
    disk: Disk,
    manifest: Vec<u8>,
    /// What is to be written.
    pub draft: Draft,
}

/// A Graph that an import makes.
#[derive(Debug)]
pub struct Made {
    /// Its id.
    pub id: String,
    /// Its nodes but for the Terminal.
    pub nodes: Vec<Step>,
    /// Edges between nodes, by their ids.
    pub edges: Vec<(String, String)>,
}

/// One Action node of it.
#[derive(Debug)]
pub struct Step {
    /// The node's id.
    pub id: String,
    /// The Action's path.
    pub action: String,
    /// What it does.
    pub description: Option<String>,
    /// Why it is there, for the Code Catalog.
    pub summary: String,
}

impl Target {
    /// The Provider of a folder.
    ///
    /// # Errors
    ///
    /// `file-missing` when there is none, and what reading can come to.
    pub fn of(into: &Path) -> Result<Target, Failure> {
        let manifest = into.join(MANIFEST);
        let bytes = files::read(&manifest).map_err(|failure| match failure.code.as_ref() {
            "file-missing" => {
                let folder = crate::shell::quote(&files::text(into));
                let first = format!("make a Provider there first: agent-graph init {folder} --id company/name");
                Failure { message: format!("{}; {first}", failure.message), ..failure }
            }
            _ => failure,
        })?;
        let (disk, _) = Disk::of(&manifest)?;
        Ok(Target { root: disk.folder().to_owned(), disk, manifest: bytes, draft: Draft::default() })
    }

    /// Adds an Action.
    pub fn action(&mut self, path: &str, action: &Value) {
        self.draft.add(path, yaml::text(action));
    }

    /// Adds the Graph, names it in the manifest and its reasons in the Code Catalog, adds a section to the report, and
    /// writes everything. Returns the Graph's file.
    ///
    /// # Errors
    ///
    /// `import-target-exists`; whatever would be wrong with the Provider after it.
    pub fn finish(mut self, made: &Made, heading: &str, report: &str) -> Result<PathBuf, Failure> {
        let path = format!("graphs/{}.yaml", made.id);
        self.draft.add(&path, yaml::text(&graph(made)));
        self.draft.vacant(&self.root, "import-target-exists")?;
        let (text, manifest) = document(MANIFEST, &self.manifest)?;
        let grown = yaml::extended(text, "graphs", &[json!(path)]).ok_or_else(|| {
            Failure::new("schema-invalid", format!("{MANIFEST} has no list of `graphs` to add one to"))
        })?;
        self.draft.change(MANIFEST, Some(self.manifest.clone()), grown);
        if let Some(codes) = manifest.pointer("/catalogs/codes").and_then(Value::as_str) {
            self.codes(codes, made)?;
        }
        self.report(heading, report)?;
        self.draft.load(Some(&self.disk), MANIFEST)?;
        self.draft.write(&self.root, "import-target-exists")?;
        Ok(self.root.join(path))
    }

    /// Names the reasons of the Graph's nodes in the Code Catalog, since it must have all of them.
    fn codes(&mut self, path: &str, made: &Made) -> Result<(), Failure> {
        let bytes = self.disk.read(path)?;
        let bytes = bytes.ok_or_else(|| Failure::new("file-missing", format!("there is no Code Catalog at {path}")))?;
        let (text, catalog) = document(path, &bytes)?;
        let known = |code: &str| {
            let codes = catalog.get("codes").and_then(Value::as_array);
            codes.into_iter().flatten().any(|entry| entry.get("code").and_then(Value::as_str) == Some(code))
        };
        let reasons = made.nodes.iter().map(|step| (reason(&made.id, &step.id), &step.summary));
        let entries: Vec<Value> = reasons
            .filter(|(code, _)| !known(code))
            .map(|(code, summary)| json!({ "code": code, "kind": "route-reason", "summary": summary }))
            .collect();
        if entries.is_empty() {
            return Ok(());
        }
        let grown = yaml::extended(text, "codes", &entries)
            .ok_or_else(|| Failure::new("schema-invalid", format!("{path} has no list of `codes` to add to")))?;
        self.draft.change(path, Some(bytes.to_vec()), grown);
        Ok(())
    }

    fn report(&mut self, heading: &str, section: &str) -> Result<(), Failure> {
        let path = self.root.join(REPORT);
        let before = if files::taken(&path) { Some(files::read(&path)?) } else { None };
        let so_far = match &before {
            Some(bytes) => String::from_utf8_lossy(bytes).trim_end().to_owned(),
            None => "# Import report".to_owned(),
        };
        let after = format!("{so_far}\n\n## {heading}\n\n{}\n", section.trim());
        self.draft.change(REPORT, before, after);
        Ok(())
    }
}

fn document<'a>(path: &str, bytes: &'a [u8]) -> Result<(&'a str, Value), Failure> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Failure::new("parse-failed", format!("{path} is not UTF-8 text")))?;
    Ok((text, crate::values::parsed(Path::new(path), text)?))
}

/// The Graph's document.
fn graph(made: &Made) -> Value {
    let first = made.nodes.first().map(|step| step.id.as_str()).unwrap_or_default();
    let mut nodes: Vec<Value> = made.nodes.iter().map(|step| node(&made.id, step)).collect();
    let sources: Vec<&str> = made.edges.iter().map(|(from, _)| from.as_str()).collect();
    let ends = made.nodes.iter().map(|step| step.id.as_str()).filter(|id| !sources.contains(id));
    let edge = |from: &str, to: &str| json!({ "from": from, "to": to, "outcomes": ["completed"] });
    let mut edges: Vec<Value> = made.edges.iter().map(|(from, to)| edge(from, to)).collect();
    edges.extend(ends.map(|id| edge(id, "done")));
    nodes.push(json!({ "id": "done", "kind": "terminal", "terminalOutcome": "completed", "join": "all" }));
    json!({
        "schema": "agent-graph.graph.v1",
        "id": made.id,
        "entrypoints": { "default": first },
        "nodes": nodes,
        "edges": edges,
    })
}

fn node(graph: &str, step: &Step) -> Value {
    let mut node = Map::new();
    node.insert("id".to_owned(), json!(step.id));
    node.insert("kind".to_owned(), json!("action"));
    node.insert("action".to_owned(), json!(step.action));
    if let Some(description) = &step.description {
        node.insert("description".to_owned(), json!(description));
    }
    node.insert("reasonCode".to_owned(), json!(reason(graph, &step.id)));
    Value::Object(node)
}

fn reason(graph: &str, node: &str) -> String {
    format!("route.{graph}.{node}")
}

/// An id and file name from what somebody wrote: lower-case letters, digits, `.`, `_` and `-`.
///
/// # Errors
///
/// `id-invalid` when nothing is left.
pub fn slug(text: &str) -> Result<String, Failure> {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        let kept = c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        match (kept, slug.chars().last()) {
            (true, _) => slug.push(c),
            // `-` and `.` stand alone, between two others.
            (false, Some(last)) if last != '-' && last != '.' => slug.push(if c == '.' { '.' } else { '-' }),
            _ => {}
        }
    }
    let slug = slug.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
    match slug.len() {
        1..=100 => Ok(slug),
        0 => {
            let message =
                format!("no id can be made of `{text}`: an id has letters and digits; give one with --graph ID");
            Err(Failure::new("id-invalid", message))
        }
        _ => Err(Failure::new("id-invalid", format!("`{slug}` is too long for an id: give one with --graph ID"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_what_was_written() {
        for (text, want) in [
            ("release", "release"),
            ("Release Notes!", "release-notes"),
            ("a..b", "a.b"),
            ("--x--", "x"),
            ("a/b\\c", "a-b-c"),
            ("Ünder_score", "nder_score"),
            ("v1.2", "v1.2"),
        ] {
            assert_eq!(slug(text).unwrap(), want);
        }
        for text in ["", "---", "→", &"x".repeat(101)] {
            assert_eq!(slug(text).unwrap_err().code, "id-invalid");
        }
    }
}
