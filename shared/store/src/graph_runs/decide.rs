//! Who may record and set what, decided from the run as it stands.

use graph::Evaluated;
use graph::documents::{Availability, NodeKind, StatusCode};
use run::{Actor, ActorKind, Code, Refusal};
use serde_json::Value;

use super::journal::Happened;
use super::{GraphCommand, GraphRun};
use crate::error::{Error, quoted};
use crate::store::Store;

/// Most nodes that a refusal names as open.
const OPEN_TOLD: usize = 5;

impl Store {
    /// What a command comes to.
    ///
    /// # Errors
    ///
    /// As for [`Store::change_graph_run`], but for the limits of the whole run.
    pub(super) fn decide_graph(
        &self,
        actor: &Actor,
        run: &GraphRun,
        command: &GraphCommand,
    ) -> Result<Happened, Error> {
        match command {
            GraphCommand::Record { node, outcome, detail, revision } => {
                self.may_record(actor, run, node, detail.as_ref(), revision.as_deref())?;
                Ok(Happened::Recorded { node: node.clone(), outcome: *outcome, detail: detail.clone() })
            }
            GraphCommand::Facts { facts, replace } => Ok(Happened::Facts { facts: facts.clone(), replace: *replace }),
            GraphCommand::Authorities { authorities } if gives_authority(actor) => {
                Ok(Happened::Authorities { authorities: authorities.clone() })
            }
            GraphCommand::Authorities { .. } => {
                let message = "An authority is a person's to give: only people who may decide, and operators, set the \
                               authorities of a run.";
                Err(Error::refused(Code::Forbidden, message))
            }
            GraphCommand::Checkpoint => Ok(Happened::Checkpointed),
        }
    }

    fn may_record(
        &self,
        actor: &Actor,
        run: &GraphRun,
        key: &str,
        detail: Option<&Value>,
        revision: Option<&str>,
    ) -> Result<(), Error> {
        let provider = &run.provider.provider;
        let found = graph::node_at(provider, &run.run.graph, key);
        let mut issues = Vec::new();
        match found {
            None => issues.push(unknown(run, key)),
            Some(node) if !graph::recordable(node) => issues.push(format!(
                "node: `{}` is a {} node; its outcome follows from others and is not recorded",
                quoted(key),
                if node.kind == NodeKind::Terminal { "terminal" } else { "subgraph" },
            )),
            Some(_) => {}
        }
        let (bytes, most) =
            (detail.map_or(0, |detail| detail.to_string().len()), self.settings.graph_limits.detail_bytes);
        if bytes > most {
            issues.push(format!("detail: {bytes} bytes as JSON, at most {most}"));
        }
        let Some(node) = found.filter(|_| issues.is_empty()) else {
            let message = format!("Nothing was recorded in the run `{}`. Each issue says what to fix.", run.run.id);
            return Err(Refusal::new(Code::Invalid, message).issues(issues).into());
        };
        let evaluated = run.evaluated()?;
        let current = &evaluated.evaluation.revision;
        if revision.is_some_and(|seen| seen != current) {
            let message = format!(
                "The run `{}` went on since you evaluated it: its revision is {current} now. Evaluate it again, and record \
                 the outcome if it still holds.",
                run.run.id
            );
            return Err(Refusal::new(Code::Conflict, message).issue("route_revision_stale").into());
        }
        // Before who may: nobody is to be asked for the word of a person on what is not theirs to judge yet.
        let open = evaluated.candidates.iter().find(|open| open.state_key == key);
        let corrected = node.kind != NodeKind::Gate && run.run.outcomes.contains_key(key);
        if open.is_none() && !corrected {
            return Err(not_open(run, key, &evaluated).into());
        }
        if node.kind != NodeKind::Gate || resolves_gates(actor) {
            return Ok(());
        }
        let message = match actor.kind {
            ActorKind::Agent if open.is_some_and(|open| open.delegated) => return Ok(()),
            ActorKind::Agent => format!(
                "The gate `{key}` is a person's to resolve: no authority of this run resolves it now. Ask a person to record \
                 its outcome or to set the authority."
            ),
            ActorKind::Person => {
                format!("The gate `{key}` is resolved by people who may decide, at a client through which people act.")
            }
        };
        Err(Error::refused(Code::Forbidden, message))
    }
}

/// Whether a gate's outcome is this caller's to record, whatever the run's authorities are.
fn resolves_gates(actor: &Actor) -> bool {
    actor.kind == ActorKind::Person && actor.may_decide
}

/// Whether this caller may give a run authorities.
fn gives_authority(actor: &Actor) -> bool {
    actor.operator || resolves_gates(actor)
}

fn unknown(run: &GraphRun, key: &str) -> String {
    let near = graph::near_keys(&run.provider.provider, &run.run.graph, key);
    let near = match near.as_slice() {
        [] => "a key is `<graph>/<node>`, as `afterAction.recordNode` of a Route names it".to_owned(),
        near => format!("did you mean {}?", near.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")),
    };
    format!("node: the graph `{}` has no node `{}`; {near}", run.run.graph, quoted(key))
}

/// The refusal of an Outcome that would be recorded ahead of its turn: once its turn came, the node would be passed over.
fn not_open(run: &GraphRun, key: &str, evaluated: &Evaluated) -> Refusal {
    let diagnostics = &evaluated.evaluation.diagnostics;
    let lacks = diagnostics.iter().find(|told| {
        told.code == "required-fact-missing"
            && told.detail.as_ref().is_some_and(|detail| detail.get("node").is_some_and(|node| node == key))
    });
    let why = match lacks {
        Some(told) => format!(": {}", told.message),
        None if run.run.outcomes.contains_key(key) => " any more; what was said of a gate stands".to_owned(),
        None => String::new(),
    };
    let message = format!(
        "Nothing was recorded in the run `{}`: an outcome is recorded of a node that is open, or corrects the one that an \
         action has. get_route shows a route that is open now, with the key to record under.",
        run.run.id
    );
    let issue = format!("node_not_open: {} is not open{why}; {}", quoted(key), open_now(evaluated));
    Refusal::new(Code::Conflict, message).issue(issue)
}

/// What is open instead, or why nothing is.
fn open_now(evaluated: &Evaluated) -> String {
    let Evaluated { evaluation, candidates, .. } = evaluated;
    let told = candidates.iter().take(OPEN_TOLD).map(|open| match open.availability {
        Availability::RequiresUser => format!("{} (a person's)", quoted(&open.state_key)),
        _ => quoted(&open.state_key),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    match candidates.len().saturating_sub(OPEN_TOLD) {
        _ if candidates.is_empty() && evaluation.status_code == StatusCode::Complete => {
            "the graph is complete".to_owned()
        }
        _ if candidates.is_empty() => "no node is open now".to_owned(),
        0 => format!("open now: {told}"),
        more => format!("open now: {told} and {more} more"),
    }
}
