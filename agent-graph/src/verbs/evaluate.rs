//! `agent-graph evaluate`: what can be done now.

use clap::Args;
use graph::documents::{Evaluation, StatusCode};
use terminal::Paint;

use crate::call::{Done, Global};
use crate::hints;
use crate::select::StateOptions;

/// Says what can be done now, from the facts, the outcomes so far and the authorities. Nothing is run or written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph evaluate release
  agent-graph evaluate release --facts @facts.json --outcomes '{\"release/inspect\": \"completed\"}'
  agent-graph evaluate release --state run.json --authority release.approve
  agent-graph --skill skills/release/SKILL.md evaluate

Exit codes: 0 evaluated, whatever the status; 1 not evaluated, and why.")]
pub struct Evaluate {
    /// The Graph; that of the Skill or the Run where one is named.
    graph: Option<String>,
    #[command(flatten)]
    options: StateOptions,
}

impl Evaluate {
    /// Evaluates.
    pub fn run(self, global: &Global) -> Done {
        let opened = global.open(None)?;
        let run = self.options.run()?;
        let selected = self.options.select(&opened, self.graph.as_deref(), run.as_ref())?;
        let evaluated = graph::evaluate(&opened.provider, &selected.graph, &selected.entry, &selected.state)?;
        let evaluation = evaluated.evaluation;
        global.tell(&evaluation, |paint| {
            let mut lines = lines(&evaluation, paint);
            if let Some(route) = &evaluation.primary_route {
                let bound = opened.binding.is_some();
                let mut words = vec!["route"];
                words.extend((!bound).then_some(selected.graph.as_str()));
                words.extend([route.route_id.as_str(), "--revision", evaluation.revision.as_str()]);
                lines.push(format!("next: {}", paint.typed(self.options.command(global, &words))));
            }
            lines
        })
    }
}

/// An Evaluation for people.
pub(super) fn lines(evaluation: &Evaluation, paint: Paint) -> Vec<String> {
    let status = word(&evaluation.status_code);
    let status = match evaluation.status_code {
        StatusCode::Actionable | StatusCode::Complete => paint.good(status),
        StatusCode::WaitingUser => paint.waiting(status),
        StatusCode::Blocked | StatusCode::Error => paint.bad(status),
    };
    let outcome = evaluation.outcome.map(|outcome| format!(", outcome {}", word(&outcome))).unwrap_or_default();
    let mut lines =
        vec![format!("{status}{outcome}  {} {} {}", evaluation.provider, evaluation.graph, evaluation.entry)];
    let primary = evaluation.primary_route.iter().map(|route| ("first", route));
    for (rank, route) in primary.chain(evaluation.alternative_routes.iter().map(|route| ("also", route))) {
        let node = paint.title(format!("{}/{}", route.graph, route.node));
        let label = if route.label == route.node { String::new() } else { format!("  {}", route.label) };
        let hint = route.hint.as_deref().map(|hint| format!(": {hint}")).unwrap_or_default();
        lines.push(format!("{rank:>5} {node}{label}  ({}, {}{hint})", word(&route.availability), route.reason_code));
        lines.push(paint.dim(format!("      {}", route.route_id)));
    }
    lines.extend(evaluation.diagnostics.iter().map(hints::line));
    lines.push(paint.dim(format!("revision {}", evaluation.revision)));
    lines
}

/// A word of the protocols.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
