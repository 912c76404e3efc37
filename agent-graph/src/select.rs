//! Which Graph and entry are meant, and the state they are evaluated in.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use graph::documents::{NodeKind, Run};
use graph::{Failure, Provider, State};

use crate::call::{Global, Opened};
use crate::{files, runs, values};

/// The options that say what state is evaluated.
#[derive(Debug, Clone, Args)]
pub struct StateOptions {
    /// The entry of the Graph; `default` unless a Skill or a Run says otherwise.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// A Run to take facts, outcomes and authorities from.
    #[arg(long, value_name = "RUN")]
    pub state: Option<PathBuf>,
    /// Facts, over those of the Run.
    #[arg(long, value_name = "JSON|@FILE")]
    pub facts: Option<String>,
    /// Outcomes by state key, such as {"release/inspect": "completed"}, over those of the Run.
    #[arg(long, value_name = "JSON|@FILE")]
    pub outcomes: Option<String>,
    /// Authorities of this session, beside those of the Run.
    #[arg(long = "authority", value_name = "ID", num_args = 1..)]
    pub authorities: Vec<String>,
}

/// What is evaluated.
#[derive(Debug)]
pub struct Selected {
    /// The Graph.
    pub graph: String,
    /// The entry.
    pub entry: String,
    /// The state.
    pub state: State,
}

impl StateOptions {
    /// The Run that is named, if one is.
    ///
    /// # Errors
    ///
    /// As for [`runs::read`].
    pub fn run(&self) -> Result<Option<Run>, Failure> {
        self.state.as_deref().map(runs::read).transpose()
    }

    /// The Graph, the entry and the state.
    ///
    /// # Errors
    ///
    /// `graph-selection-missing`, `option-invalid` where the binding says otherwise, `run-provider-mismatch`, and what can
    /// be wrong with the values.
    pub fn select(&self, opened: &Opened, graph: Option<&str>, run: Option<&Run>) -> Result<Selected, Failure> {
        let mut state = State::default();
        if let Some(run) = run {
            same_provider(run, &opened.provider)?;
            state = run.state();
        }
        let binding = opened.binding.as_ref();
        let bound = binding.map(|binding| binding.graph.as_str());
        let graph = agreed("Graph", graph, bound)?.or(run.map(|run| run.graph.as_str()));
        let graph = graph.ok_or_else(|| unselected(&opened.provider, &self.authorities))?.to_owned();
        // A Run knows the entry of its own Graph only.
        let of_run = run.filter(|run| run.graph == graph).map(|run| run.entry.as_str());
        let entry = agreed("entry", self.entry.as_deref(), binding.map(|binding| binding.entry.as_str()))?;
        let entry = entry.or(of_run).unwrap_or("default").to_owned();
        if let Some(facts) = &self.facts {
            let facts = values::object("--facts", facts)?;
            dotted(&facts);
            state.facts.extend(facts);
        }
        if let Some(outcomes) = &self.outcomes {
            let outcomes = values::outcomes("--outcomes", outcomes)?;
            for key in outcomes.keys() {
                if let Some(said) = overlooked(&opened.provider, &graph, key) {
                    terminal::note(&said);
                }
            }
            state.outcomes.extend(outcomes);
        }
        state.authorities.extend(self.authorities.iter().cloned().collect::<BTreeSet<_>>());
        Ok(Selected { graph, entry, state })
    }

    /// These options as they were given, to go on with.
    pub fn command(&self, global: &Global, verb: &[&str]) -> String {
        let mut words: Vec<&str> = verb.to_vec();
        let state = self.state.as_deref().map(files::text);
        let given =
            [("--entry", &self.entry), ("--state", &state), ("--facts", &self.facts), ("--outcomes", &self.outcomes)];
        for (option, value) in given {
            if let Some(value) = value {
                words.extend([option, value.as_str()]);
            }
        }
        if !self.authorities.is_empty() {
            words.push("--authority");
            words.extend(self.authorities.iter().map(String::as_str));
        }
        global.command(words)
    }
}

/// What is odd about a state key that an evaluation of the Graph looks at no outcome under.
pub fn overlooked(provider: &Provider, graph: &str, key: &str) -> Option<String> {
    if let Some(node) = graph::node_at(provider, graph, key) {
        let kind = crate::verbs::evaluate::word(&node.kind);
        let said = format!("Graph {graph} looks at no outcome under {key}: that of a {kind} follows from other nodes");
        // What a terminal ends with is looked at like any other Outcome, if somebody records it.
        return (node.kind == NodeKind::Subgraph).then_some(said);
    }
    let near = graph::near_keys(provider, graph, key);
    let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
    Some(format!("Graph {graph} looks at no outcome under {key}{near}"))
}

/// Notes Facts whose names are dotted paths: checks look below objects, and never at such a name.
fn dotted(facts: &serde_json::Map<String, serde_json::Value>) {
    for (name, value) in facts.iter().filter(|(name, _)| name.contains('.')) {
        let meant = name.rsplit('.').fold(value.clone(), |inner, name| serde_json::json!({ name: inner }));
        terminal::note(&format!("the fact `{name}` is found by no check; write {meant}"));
    }
}

/// Holds a Run to the Provider.
///
/// # Errors
///
/// `run-provider-mismatch`.
pub fn same_provider(run: &Run, provider: &Provider) -> Result<(), Failure> {
    if run.provider == provider.id() {
        return Ok(());
    }
    let message = format!(
        "the Run is one of Provider {}, not of {}; name that Provider with --manifest",
        run.provider,
        provider.id()
    );
    Err(Failure::new("run-provider-mismatch", message))
}

/// What the command line and the binding agree on.
fn agreed<'a>(what: &str, given: Option<&'a str>, bound: Option<&'a str>) -> Result<Option<&'a str>, Failure> {
    match (given, bound) {
        (Some(given), Some(bound)) if given != bound => {
            let message = format!("the Skill is bound to the {what} `{bound}`, not to `{given}`; leave `{given}` out");
            Err(Failure::new("option-invalid", message))
        }
        (given, bound) => Ok(given.or(bound)),
    }
}

fn unselected(provider: &Provider, authorities: &[String]) -> Failure {
    if let Some(graph) = authorities.iter().find(|id| provider.graphs.contains_key(*id)) {
        let message =
            format!("--authority takes every word after it, `{graph}` too; write the Graph before it, or after `--`");
        return Failure::new("graph-selection-missing", message);
    }
    let graphs = provider.graphs.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let message =
        format!("say which Graph of {} is meant: {graphs}; or name a bound Skill with --skill", provider.id());
    Failure::new("graph-selection-missing", message)
}
