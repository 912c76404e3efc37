//! `agent-graph inspect skill`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::call::{Done, Global};
use crate::{files, shell};

/// Shows what a SKILL.md is bound to, and the Provider that is meant.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph inspect skill skills/release/SKILL.md
  agent-graph inspect skill skills/release/SKILL.md --registry providers.yaml

Exit codes: 0 the binding leads somewhere; 1 it does not, and why.")]
pub struct InspectSkill {
    /// The SKILL.md.
    skill: PathBuf,
}

impl InspectSkill {
    /// Shows it.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.bound(&self.skill, None)?;
        let provider = &opened.provider;
        let answer = json!({ "binding": opened.binding, "provider": graph::inspect(provider, &opened.places) });
        global.tell(&answer, |paint| {
            let mut lines = Vec::new();
            if let Some(binding) = &opened.binding {
                lines.push(format!("Skill {}", binding.skill_path));
                lines.push(format!("bound to {}  Graph {}, entry {}", binding.locator, binding.graph, binding.entry));
            }
            lines.extend(super::lines(provider, paint));
            let registry = global.registry.as_deref().map(files::text);
            let skill = files::text(&self.skill);
            let mut words = vec!["agent-graph", "--skill", skill.as_str()];
            words.extend(registry.iter().flat_map(|path| ["--registry", path.as_str()]));
            words.push("evaluate");
            lines.push(format!("next: {}", paint.typed(shell::line(words))));
            lines
        })
    }
}
