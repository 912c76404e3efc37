//! The run of a step's attempt, as part of the transaction that a claim or a submission is (profile graph-1).

use std::sync::Arc;

use run::{Actor, Time};
use serde_json::{Map, Value};

use super::GraphRun;
use super::journal::{Happened, Journal};
use crate::error::Error;
use crate::keys;
use crate::providers::PublishedProvider;
use crate::store::Store;
use crate::table::{Op, When};

/// From the Facts that a run has (none while it is not there) to those that it should have.
pub(crate) type FactsAfter<'a> = &'a (dyn Fn(&Map<String, Value>) -> Map<String, Value> + Send + Sync);

/// The run of a step's attempt, as a claim opens it.
pub(crate) struct Opening<'a> {
    /// The run's id, made from the process run, the step and its attempt: a repeated claim finds it again.
    pub(crate) id: &'a str,
    /// The Provider that the process's version pins.
    pub(crate) provider: Arc<PublishedProvider>,
    /// The Graph.
    pub(crate) graph: &'a str,
    /// The entry.
    pub(crate) entry: &'a str,
    /// The Facts.
    pub(crate) facts: FactsAfter<'a>,
    /// Who claims.
    pub(crate) actor: &'a Actor,
    /// The tool.
    pub(crate) tool: &'a str,
    /// When.
    pub(crate) at: Time,
}

impl Store {
    /// The run of a step's attempt, as it will be once these operations are committed: they begin it, or bring its Facts up
    /// to date, or only hold it still, and refuse when somebody else wrote to it meanwhile. One round.
    ///
    /// # Errors
    ///
    /// As for [`Store::start_graph_run`].
    pub(crate) async fn graph_run_opening(
        &self,
        org: &str,
        opening: Opening<'_>,
    ) -> Result<(GraphRun, Vec<Op>), Error> {
        let Opening { id, provider, graph, entry, facts, actor, tool, at } = opening;
        let (before, happened) = match self.graph_journal(org, id, None).await? {
            None => {
                let began = Happened::started(&provider.reference, graph, entry, facts(&Map::new()));
                (Journal::none(id.to_owned(), provider), began)
            }
            Some(there) => {
                let wanted = facts(&there.run.run.facts);
                if wanted == there.run.run.facts {
                    let unchanged = self.graph_run_unchanged(org, &there.run);
                    return Ok((there.run, vec![unchanged]));
                }
                (there, Happened::Facts { facts: wanted, replace: true })
            }
        };
        let (after, op) = self.graph_step(org, before, happened, at, actor, tool)?;
        Ok((after.run, vec![op]))
    }

    /// A run as it was after this event, for a claim that is repeated; `None` when it never came so far.
    pub(crate) async fn graph_run_at(&self, org: &str, id: &str, sequence: u64) -> Result<Option<GraphRun>, Error> {
        let journal = self.graph_journal(org, id, Some(sequence)).await?;
        Ok(journal.map(|journal| journal.run).filter(|run| run.sequence() == sequence))
    }

    /// The operation that refuses when somebody wrote to this run since it was read.
    pub(crate) fn graph_run_unchanged(&self, org: &str, run: &GraphRun) -> Op {
        let key = keys::graph_journal(org, &run.run.id, run.sequence() + 1);
        Op::Check { key, when: When::Absent }
    }
}
