//! `agent-graph init`: a small Provider, complete.

use std::path::PathBuf;

use clap::Args;
use graph::Failure;
use serde_json::json;

use crate::authoring::draft::Draft;
use crate::authoring::yaml;
use crate::call::{Done, Global};
use crate::{files, shell};

/// Makes a small Provider: one Graph, one Action with its Skill, a procedure, a Code Catalog and a test.
///
/// Nothing is written when any of its files is there already. What was made passes `validate`, `test` and `build` as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph init --id company/release               here
  agent-graph init providers/release --id release     in a folder, which is made

Exit codes: 0 made; 1 not made, and why.")]
pub struct Init {
    /// The folder of the Provider.
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// The Provider's id, such as company/release.
    #[arg(long)]
    id: String,
}

impl Init {
    /// Makes the Provider.
    pub fn run(self, global: &Global) -> Done {
        id(&self.id)?;
        let root = files::absolute(&self.directory);
        let draft = starter(&self.id);
        draft.vacant(&root, "provider-target-exists")?;
        draft.load(None, "provider.yaml")?;
        draft.write(&root, "provider-target-exists")?;
        let manifest = files::text(&root.join("provider.yaml"));
        global.tell(&json!({ "state": "created", "manifest": manifest }), |paint| {
            let folder = shell::quote(&files::text(&self.directory));
            let enter = if self.directory.as_os_str() == "." { String::new() } else { format!("cd {folder} && ") };
            vec![
                format!("{} {manifest}", paint.good("created")),
                format!("next: {}", paint.typed(format!("{enter}agent-graph evaluate main"))),
            ]
        })
    }
}

/// Holds an id to its form.
fn id(id: &str) -> Result<(), Failure> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let ends = id.starts_with(inner) && id.ends_with(inner);
    if ends && id.len() <= 160 && id.chars().all(|c| inner(c) || "._/-".contains(c)) {
        return Ok(());
    }
    let message = format!(
        "`{id}` is no Provider id: at most 160 lower-case letters, digits and . _ / - between them, such as company/release"
    );
    Err(Failure::new("id-invalid", message))
}

fn starter(id: &str) -> Draft {
    let mut draft = Draft::default();
    let mut add = |path: &str, value: serde_json::Value| draft.add(path, yaml::text(&value));
    add(
        "provider.yaml",
        json!({
            "schema": "agent-graph.provider.v1",
            "id": id,
            "version": "0.1.0",
            "graphs": ["graphs/main.yaml"],
            "catalogs": { "codes": "codes.yaml" },
            "compatibility": { "agentGraph": "^0.3.0" },
        }),
    );
    add(
        "graphs/main.yaml",
        json!({
            "schema": "agent-graph.graph.v1",
            "id": "main",
            "description": "One piece of work, from its beginning to its end",
            "entrypoints": { "default": "work" },
            "nodes": [
                {
                    "id": "work",
                    "kind": "action",
                    "description": "Do the work",
                    "action": "actions/work.yaml",
                    "reasonCode": "route.main.work",
                    "resources": { "required": ["resources/procedure.md"] },
                },
                { "id": "done", "kind": "terminal", "terminalOutcome": "completed" },
            ],
            "edges": [{ "from": "work", "to": "done", "outcomes": ["completed"] }],
        }),
    );
    add(
        "actions/work.yaml",
        json!({
            "schema": "agent-graph.action.v1",
            "id": "work",
            "runner": "agent",
            "effect": "write",
            "skill": "skills/getting-started/SKILL.md",
        }),
    );
    add(
        "codes.yaml",
        json!({
            "schema": "agent-graph.code-catalog.v1",
            "codes": [{
                "code": "route.main.work",
                "kind": "route-reason",
                "summary": "The work has no outcome yet",
                "document": "resources/procedure.md",
            }],
        }),
    );
    add(
        "tests/main.yaml",
        json!({
            "schema": "agent-graph.test.v1",
            "name": "a new Run begins with the work",
            "graph": "main",
            "entry": "default",
            "expect": {
                "statusCode": "actionable",
                "primaryNode": "work",
                "requiredResources": ["skill.getting-started", "procedure.work"],
                "recordNode": "main/work",
            },
        }),
    );
    draft.add(
        "skills/getting-started/SKILL.md",
        "\
---
name: getting-started
description: Carries out one piece of work as its Graph says. Use it when somebody asks for that work.
metadata:
  agent-graph: path:../../provider.yaml
  agent-graph.graph: main
  agent-graph.entry: default
---

# Getting started

1. Ask what can be done: `agent-graph --skill SKILL.md evaluate`.
2. Resolve the Route it names, at the revision it tells: `agent-graph --skill SKILL.md route --revision REVISION`.
3. Read every required Resource of the Route before you act.
4. Do what the Route says and nothing beyond it. Where a Gate waits for a person, stop and ask.
5. Record what came of it under the Route's `recordNode`, and ask again.
",
    );
    draft.add(
        "resources/procedure.md",
        "\
---
id: procedure.work
kind: procedure
media-type: text/markdown
---

# How the work is done

Write down here what somebody needs to know to do the work, and how to tell that it is done. Only a Route that selects this
file makes an agent read it.
",
    );
    draft
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_form() {
        for good in ["a", "acme/demo", "a.b_c-d/e1"] {
            assert!(id(good).is_ok(), "{good}");
        }
        for bad in ["", "/a", "a/", "A", "a b", "é", &"a".repeat(161)] {
            assert_eq!(id(bad).unwrap_err().code, "id-invalid", "{bad}");
        }
    }
}
