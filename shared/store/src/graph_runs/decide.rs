//! Who may record and set what, decided from the run as it stands.

use graph::documents::NodeKind;
use run::{Actor, ActorKind, Code, Refusal};
use serde_json::Value;

use super::journal::Happened;
use super::{GraphCommand, GraphRun};
use crate::error::{Error, quoted};
use crate::store::Store;

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
        let gate = node.kind == NodeKind::Gate && !resolves_gates(actor);
        if !gate && revision.is_none() {
            return Ok(());
        }
        let evaluated = run.evaluated()?;
        let delegated = || evaluated.candidates.iter().any(|open| open.delegated && open.state_key == key);
        if gate && !(actor.kind == ActorKind::Agent && delegated()) {
            let message = match actor.kind {
                ActorKind::Agent => format!(
                    "The gate `{key}` is a person's to resolve: no authority of this run resolves it now. Ask a person to \
                     record its outcome or to set the authority."
                ),
                ActorKind::Person => {
                    format!(
                        "The gate `{key}` is resolved by people who may decide, at a client through which people act."
                    )
                }
            };
            return Err(Error::refused(Code::Forbidden, message));
        }
        let current = &evaluated.evaluation.revision;
        if revision.is_some_and(|seen| seen != current) {
            let message = format!(
                "The run `{}` went on since you evaluated it: its revision is {current} now. Evaluate it again, and record \
                 the outcome if it still holds.",
                run.run.id
            );
            return Err(Refusal::new(Code::Conflict, message).issue("route_revision_stale").into());
        }
        Ok(())
    }
}

/// Whether a gate's outcome is this caller's to record, whatever the run's authorities are.
fn resolves_gates(actor: &Actor) -> bool {
    actor.kind == ActorKind::Person && (actor.may_decide || actor.operator)
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
