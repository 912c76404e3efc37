//! `agent-graph route`: a Route with all that is needed to take it.

use std::path::{Path, PathBuf};

use clap::Args;
use graph::documents::{Outcome, PlannedCommand, ReadState, Resolution, ResourceLocation, Route as Resolved};
use graph::{Failure, RouteRequest};
use serde_json::json;
use terminal::Paint;

use super::evaluate::word;
use crate::call::{Done, Global, Opened};
use crate::select::{Selected, StateOptions};
use crate::{files, values};

/// Resolves a Route into its commands, Resources and Gate, and the key to record its outcome under. Nothing is run.
///
/// Give the revision of the evaluation that named the Route: when the state has changed since, the Route is refused.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  agent-graph route release                                       the first Route
  agent-graph route release route:0123456789abcdef0123 --revision sha256:…
  agent-graph --skill skills/release/SKILL.md route --state run.json
  agent-graph route release --resource-receipts @read.json        what was read already is marked current

Exit codes: 0 resolved; 1 no such Route in this state, and why.")]
pub struct Route {
    /// The Graph, and the Route; the first Route unless said. With --skill or --state the Graph can be left out.
    #[arg(value_name = "GRAPH] [ROUTE-ID", num_args = 0..=2)]
    what: Vec<String>,
    /// The revision that the evaluation told.
    #[arg(long, value_name = "DIGEST")]
    revision: Option<String>,
    /// What this conversation has read: agent-graph.resource-read-receipts.v1.
    #[arg(long, value_name = "JSON|@FILE")]
    resource_receipts: Option<String>,
    /// The folder that Actions run in; that of the Run, or this one.
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    #[command(flatten)]
    options: StateOptions,
}

impl Route {
    /// Resolves it.
    pub fn run(self, global: &Global) -> Done {
        let run = self.options.run()?;
        let of_run = run.as_ref().and_then(|run| run.workspace.as_deref()).map(Path::new);
        let opened = global.open(self.workspace.as_deref().or(of_run))?;
        let (graph, route_id) = self.named()?;
        let selected = self.options.select(&opened, graph, run.as_ref())?;
        let receipts = self.resource_receipts.as_deref().map(|text| values::value("--resource-receipts", text));
        let receipts = receipts.transpose()?.map(|value| graph::receipts(&opened.provider, &value)).transpose()?;
        let request = RouteRequest {
            graph: &selected.graph,
            entry: &selected.entry,
            route_id,
            revision: self.revision.as_deref(),
            receipts: receipts.as_ref(),
        };
        let route = graph::route(&opened.provider, &opened.places, &selected.state, &request)?;
        global.tell(&route, |paint| {
            let mut lines = lines(&route, global, paint);
            let (provider, graph, entry) = (&opened.provider, &selected.graph, &selected.entry);
            lines.extend(graph::notes(provider, graph, entry, &selected.state, &route));
            let next = route.after_action.record_node.as_deref().map(|key| self.next(key, &selected, &opened, global));
            lines.extend(next.map(|next| format!("afterwards: {}", paint.typed(next))));
            lines
        })
    }

    /// How to go on after the Route: the outcome goes into the Run, or beside those that were given.
    fn next(&self, key: &str, selected: &Selected, opened: &Opened, global: &Global) -> String {
        if let Some(state) = &self.options.state {
            return global.command(["run", "record", key, "completed", "--state", &files::text(state)]);
        }
        let mut outcomes = selected.state.outcomes.clone();
        outcomes.insert(key.to_owned(), Outcome::Completed);
        let options = StateOptions { outcomes: Some(json!(outcomes).to_string()), ..self.options.clone() };
        match opened.binding {
            Some(_) => options.command(global, &["evaluate"]),
            None => options.command(global, &["evaluate", &selected.graph]),
        }
    }

    /// The Graph and the Route that are named: an id of a Route begins with `route:`, which no Graph's does.
    fn named(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        let is_route = |word: &str| word.starts_with("route:");
        match self.what.as_slice() {
            [] => Ok((None, None)),
            [one] if is_route(one) => Ok((None, Some(one))),
            [graph] => Ok((Some(graph), None)),
            [graph, route] if !is_route(graph) => Ok((Some(graph), Some(route))),
            _ => {
                let message = "name a Graph and then a Route, or with --skill or --state the Route alone";
                Err(Failure::new("route-arguments-invalid", message))
            }
        }
    }
}

/// A Route for people.
fn lines(route: &Resolved, global: &Global, paint: Paint) -> Vec<String> {
    let node = paint.title(format!("{}/{}", route.graph, route.node));
    let hint = route.hint.as_deref().map(|hint| format!(": {hint}")).unwrap_or_default();
    let mut lines = vec![format!("{node}  {} ({}{hint})", word(&route.availability), route.reason_code)];
    if let Some(action) = &route.action {
        lines.push(format!("Action {}  {}, effect {}", action.id, word(&action.runner), word(&action.effect)));
    }
    lines.extend(route.command_plan.iter().flat_map(|step| plan(step, paint)));
    if let Some(gate) = &route.gate {
        let who = match gate.resolution {
            Resolution::User => paint.waiting("a person must answer"),
            Resolution::SessionAuthority => paint.good("an authority of this session answers"),
        };
        lines.push(format!("Gate {}  {who}: {}", gate.id, gate.prompt));
        for (what, action) in [("look first", &gate.inspection_action), ("once answered", &gate.resolution_action)] {
            if let Some(action) = action {
                lines.push(format!("  {what}: Action {}, effect {}", action.action.id, word(&action.action.effect)));
                lines.extend(
                    action.command_plan.iter().flat_map(|step| plan(step, paint)).map(|line| format!("  {line}")),
                );
            }
        }
    }
    for (what, resources) in [("read", &route.resources.required), ("may help", &route.resources.recommended)] {
        lines.extend(resources.iter().map(|resource| format!("{what}: {}", place(resource, route, global, paint))));
    }
    lines.extend(route.diagnostics.iter().map(crate::hints::line));
    lines.push(paint.dim(format!("{} at revision {}", route.route_id, route.revision)));
    lines
}

fn plan(step: &PlannedCommand, paint: Paint) -> Vec<String> {
    let what = match (&step.command, &step.handler) {
        (Some(command), _) => format!("run: {}", paint.title(command)),
        (None, handler) => format!("host: {}", paint.title(handler.as_deref().unwrap_or_default())),
    };
    vec![what, format!("  in {}", step.working_directory)]
}

fn place(resource: &ResourceLocation, route: &Resolved, global: &Global, paint: Paint) -> String {
    let (text, state) = match resource {
        ResourceLocation::File(file) => (file.file_path.clone(), file.read_state),
        ResourceLocation::GraphAction(made) => {
            let words =
                ["resource", "materialize", made.id.as_str(), "--cache", "CACHE", "--revision", &route.revision];
            (format!("{}  {}", made.id, paint.typed(global.command(words))), made.read_state)
        }
        ResourceLocation::HostAction(made) => {
            (format!("{}  made by the host's {}", made.id, made.materialize.handler), made.read_state)
        }
    };
    match state {
        Some(ReadState::Current) => format!("{text} {}", paint.dim("(read already)")),
        _ => text,
    }
}
