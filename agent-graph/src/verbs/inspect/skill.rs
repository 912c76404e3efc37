//! `agent-graph inspect skill`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::call::{self, Done, Global};
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
        let binding = global.binding(&self.skill)?;
        let (provider, _, places) = call::open(Path::new(&binding.manifest_path), None)?;
        let answer = json!({ "binding": binding, "provider": graph::inspect(&provider, &places) });
        global.tell(&answer, |paint| {
            let mut lines = vec![
                format!("Skill {}", binding.skill_path),
                format!("bound to {}  Graph {}, entry {}", binding.locator, binding.graph, binding.entry),
            ];
            lines.extend(super::lines(&provider, paint));
            let skill = shell::quote(&files::text(&self.skill));
            lines.push(format!("next: {}", paint.typed(format!("agent-graph --skill {skill} evaluate"))));
            lines
        })
    }
}
