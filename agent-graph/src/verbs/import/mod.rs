//! `agent-graph import`: what there is already becomes parts of a Provider, as a draft for its author.

mod scripts;
mod skill;
mod workflow;

use std::path::Path;

use clap::Subcommand;
use serde_json::json;

use crate::call::{Done, Global};
use crate::{files, shell};

/// What can be imported.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Import {
    #[command(about = "Import a Skill with all files of its folder")]
    Skill(skill::ImportSkill),
    #[command(about = "Import scripts that run one after the other")]
    Scripts(scripts::ImportScripts),
    #[command(about = "Import commands that depend on each other")]
    Workflow(workflow::ImportWorkflow),
}

impl Import {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Import::Skill(verb) => verb.run(global),
            Import::Scripts(verb) => verb.run(global),
            Import::Workflow(verb) => verb.run(global),
        }
    }
}

/// Tells what was imported.
fn tell(global: &Global, kind: &str, into: &Path, id: &str, graph: &Path) -> Done {
    let path = files::text(graph);
    global.tell(&json!({ "state": "imported", "kind": kind, "graph": path }), |paint| {
        let manifest = files::text(&into.join("provider.yaml"));
        let mut words = vec!["agent-graph"];
        if into != Path::new(".") {
            words.extend(["--manifest", manifest.as_str()]);
        }
        words.extend(["evaluate", id]);
        vec![
            format!("{} {kind} as Graph {id}: {path}", paint.good("imported")),
            "IMPORT_REPORT.md lists what to look through before it is used".to_owned(),
            format!("next: {}", paint.typed(shell::line(words))),
        ]
    })
}
