//! `agent-graph import scripts`.

use std::path::{Path, PathBuf};

use clap::Args;
use graph::Failure;
use serde_json::json;

use crate::authoring::import::{Made, Step, Target, slug};
use crate::call::{Done, Global};
use crate::files;
use crate::limits::{FILES, IMPORT_BYTES};

/// Copies scripts into a Provider, with an Action each and a Graph that runs one after the other.
///
/// What runs a script follows from its name: .js .mjs .cjs node; .ts .mts .cts bun; .py python; all others the shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph import scripts inspect.sh package.py --into providers/release --graph package

Exit codes: 0 imported; 1 nothing was written, and why.")]
pub struct ImportScripts {
    /// The scripts, in their order.
    scripts: Vec<PathBuf>,
    /// The folder of the Provider.
    #[arg(long, value_name = "FOLDER")]
    into: PathBuf,
    /// The id of the Graph.
    #[arg(long, value_name = "ID", default_value = "imported-scripts")]
    graph: String,
}

impl ImportScripts {
    /// Imports them.
    pub fn run(self, global: &Global) -> Done {
        match self.scripts.len() {
            0 => return Err(Failure::new("import-empty", "name at least one script")),
            1..=FILES => {}
            many => {
                return Err(Failure::new("option-invalid", format!("{many} scripts are over the limit of {FILES}")));
            }
        }
        let id = slug(&self.graph)?;
        let mut target = Target::of(&self.into)?;
        let mut made = Made { id: id.clone(), nodes: Vec::new(), edges: Vec::new() };
        let mut list = String::new();
        let mut bytes = 0;
        for (number, script) in (1..).zip(&self.scripts) {
            let content = files::read(script)?;
            bytes += content.len() as u64;
            if bytes > IMPORT_BYTES {
                let message = format!("the scripts have more than {IMPORT_BYTES} bytes together");
                return Err(Failure::new("file-read-failed", message));
            }
            let name = name(script)?;
            let (entry, action) = (format!("scripts/{id}/{number:02}-{name}"), format!("actions/{id}-{number}.yaml"));
            let (runtime, known) = runtime(script);
            target.draft.copy(&entry, content, script);
            target.action(
                &action,
                &json!({
                    "schema": "agent-graph.action.v1",
                    "id": format!("{id}.step-{number}"),
                    "runner": "script",
                    "effect": "write",
                    "entry": entry,
                    "runtime": runtime,
                }),
            );
            let guess = if known { "" } else { " (a guess: its name does not say)" };
            list.push_str(&format!("{number}. `{entry}`, run by {runtime}{guess}\n"));
            let node = format!("step-{number}");
            if let Some(before) = made.nodes.last() {
                made.edges.push((before.id.clone(), node.clone()));
            }
            let summary = format!("The script {name} is next");
            made.nodes.push(Step { id: node, action, description: Some(name), summary });
        }
        let report = format!(
            "Graph `{id}` runs these scripts in their order:\n\n{list}\n\
             The order was taken from the command line and every effect set to `write`. To look through: the effect of each \
             Action, its arguments and folder, what else a script reads, which facts prove it done, and where a failure leads."
        );
        let graph = target.finish(&made, &format!("Scripts as Graph {id}"), &report)?;
        super::tell(global, "scripts", &self.into, &id, &graph)
    }
}

/// The name that a script is kept under.
fn name(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let kept = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    match name.is_empty() {
        true => Err(Failure::new("file-missing", format!("{} is no script", path.display()))),
        false => Ok(name.chars().map(kept).collect()),
    }
}

/// What runs a script, and whether its name says so.
fn runtime(path: &Path) -> (&'static str, bool) {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "js" | "mjs" | "cjs" => ("node", true),
        "ts" | "mts" | "cts" => ("bun", true),
        "py" => ("python", true),
        "sh" | "bash" => ("shell", true),
        _ => ("shell", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_runs_a_script() {
        for (name, want) in [("a.MJS", "node"), ("a.ts", "bun"), ("a.py", "python"), ("a.sh", "shell"), ("a", "shell")]
        {
            assert_eq!(runtime(Path::new(name)).0, want);
        }
        assert!(!runtime(Path::new("a.rb")).1);
        assert_eq!(name(Path::new("x/a b'c.sh")).unwrap(), "a-b-c.sh");
    }
}
