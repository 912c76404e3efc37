//! `agent-graph inspect`: what is there, without running anything.

mod provider;
mod skill;

use clap::Subcommand;
use graph::Provider;
use terminal::Paint;

use crate::call::{Done, Global};

/// What can be looked into.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "a doc comment here would take the place of the verb's own in its help")]
pub enum Inspect {
    #[command(about = "Show a Provider's Graphs, entries, nodes, Actions, Resources and codes")]
    Provider(provider::InspectProvider),
    #[command(about = "Show what a SKILL.md is bound to, and that Provider")]
    Skill(skill::InspectSkill),
}

impl Inspect {
    /// Runs it.
    pub fn run(self, global: &Global) -> Done {
        match self {
            Inspect::Provider(verb) => verb.run(global),
            Inspect::Skill(verb) => verb.run(global),
        }
    }
}

/// How much of everything there is, on one line.
pub(super) fn counts(provider: &Provider) -> String {
    let graphs = provider.graphs.values().map(|graph| &graph.value);
    let nodes: usize = graphs.map(|graph| graph.nodes.len()).sum();
    [
        count(provider.graphs.len(), "Graph"),
        count(nodes, "node"),
        count(provider.actions.len(), "Action"),
        count(provider.resources.len(), "Resource"),
    ]
    .join(", ")
}

/// A number of things.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A Provider for people.
fn lines(provider: &Provider, paint: Paint) -> Vec<String> {
    let manifest = &provider.manifest.value;
    let mut lines = vec![format!("{} {}", paint.title(&manifest.id), manifest.version), counts(provider)];
    for (id, graph) in &provider.graphs {
        let entries = graph.value.entrypoints.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let enters = provider.dependencies.get(id).filter(|graphs| !graphs.is_empty());
        let enters = enters.map(|graphs| format!(", enters {}", graphs.join(", "))).unwrap_or_default();
        let nodes = count(graph.value.nodes.len(), "node");
        lines.push(format!("Graph {}  {nodes}, entries {entries}{enters}", paint.title(id)));
        for node in &graph.value.nodes {
            let reason = node.reason_code.as_deref().map(|code| format!(", {code}")).unwrap_or_default();
            lines.push(format!("  {} {}{reason}", crate::verbs::evaluate::word(&node.kind), node.id));
        }
    }
    for (path, action) in &provider.actions {
        lines.push(format!("Action {}  {}", paint.title(&action.value.id), paint.dim(path)));
    }
    // The Skills of Actions are Resources of the Routes that select them.
    for (path, resource) in provider.resources.iter().chain(&provider.skills) {
        lines.push(format!("Resource {}  {}", paint.title(resource.value.id()), paint.dim(path)));
    }
    for code in provider.catalog.iter().flat_map(|catalog| &catalog.value.codes) {
        lines.push(format!("Code {}  {}", paint.title(&code.code), code.summary));
    }
    lines
}
