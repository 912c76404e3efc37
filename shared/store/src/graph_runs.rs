//! Runs of Graphs: append-only journals, one entry an accepted write, under the conditional writes, request records and
//! limits that process runs have.

use std::sync::Arc;

use graph::documents::{Outcome, Run};
use run::Time;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::providers::{Pin, PublishedProvider};
use crate::request::Request;
use crate::store::Store;
use crate::table::Op;

/// The limits that bound a run of a Graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphLimits {
    /// Most events of a run, those that it was resumed with included.
    pub run_events: usize,
    /// Most bytes of a run as JSON: its facts, outcomes, authorities and events.
    pub run_bytes: usize,
    /// Most bytes of a run's journal, which every read of the run reads.
    pub journal_bytes: usize,
    /// Most bytes of the detail of one outcome, as JSON.
    pub detail_bytes: usize,
}

impl Default for GraphLimits {
    fn default() -> GraphLimits {
        GraphLimits { run_events: 1_000, run_bytes: 262_144, journal_bytes: 1_048_576, detail_bytes: 16_384 }
    }
}

/// A run of a Graph with the Provider that it keeps.
#[derive(Debug, Clone)]
pub struct GraphRun {
    /// The Provider, as it was when the run began.
    pub provider: Arc<PublishedProvider>,
    /// The run.
    pub run: Run,
}

impl GraphRun {
    /// The number of the run's last event.
    pub fn sequence(&self) -> u64 {
        self.run.events.last().map_or(0, |event| event.sequence)
    }

    /// The name of the checkpoint that the run's last event made, when it made one: `<run id>@<sequence>`.
    pub fn checkpoint(&self) -> Option<String> {
        todo!()
    }
}

/// What is asked of a run of a Graph.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphCommand {
    /// Record the Outcome of a node.
    Record {
        /// The node's state key.
        node: String,
        /// The Outcome.
        outcome: Outcome,
        /// More, for people and programs.
        detail: Option<Value>,
        /// The revision that the caller has seen; the Outcome is recorded only while it is the run's.
        revision: Option<String>,
    },
    /// Set Facts.
    Facts {
        /// The Facts.
        facts: Map<String, Value>,
        /// In place of those there are, instead of merged over them.
        replace: bool,
    },
    /// Set the authorities of this session.
    Authorities {
        /// All of them.
        authorities: Vec<String>,
    },
    /// Note a checkpoint.
    Checkpoint,
}

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
    /// From the Facts that the run has (none while it is not there) to those that it should have.
    pub(crate) facts: &'a (dyn Fn(&Map<String, Value>) -> Map<String, Value> + Send + Sync),
    /// Who claims.
    pub(crate) by: &'a str,
    /// The tool.
    pub(crate) tool: &'a str,
    /// When.
    pub(crate) at: Time,
}

impl Store {
    /// Starts a run of a Graph.
    ///
    /// # Errors
    ///
    /// `not_found` for a Provider, Graph or entry that is not there; `invalid` over a limit.
    pub async fn start_graph_run(
        &self,
        request: &Request<'_>,
        provider: &str,
        pin: Pin<'_>,
        graph: &str,
        entry: &str,
        facts: Map<String, Value>,
    ) -> Result<GraphRun, Error> {
        let _ = (request, provider, pin, graph, entry, facts);
        todo!()
    }

    /// Changes a run of a Graph.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that this organization does not have; `invalid` for a node that the run's Graph does not
    /// have or whose Outcome nobody records, and over a limit; `forbidden` for a caller who may not; `conflict` with the
    /// issue `route_revision_stale` for another revision than the run's.
    pub async fn change_graph_run(
        &self,
        request: &Request<'_>,
        run: &str,
        change: GraphCommand,
    ) -> Result<GraphRun, Error> {
        let _ = (request, run, change);
        todo!()
    }

    /// Begins a new run from a checkpoint, without its authorities.
    ///
    /// # Errors
    ///
    /// `not_found` for a checkpoint that this organization does not have; `invalid` over a limit.
    pub async fn resume_graph_run(&self, request: &Request<'_>, checkpoint: &str) -> Result<GraphRun, Error> {
        let _ = (request, checkpoint);
        todo!()
    }

    /// A run of a Graph.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that this organization does not have.
    pub async fn graph_run(&self, org: &str, run: &str) -> Result<GraphRun, Error> {
        let _ = (org, run);
        todo!()
    }

    /// The run of a step's attempt, as it will be once these operations are committed: they begin it, or bring its Facts up
    /// to date, or only hold it still, and refuse when somebody else wrote to it meanwhile.
    ///
    /// # Errors
    ///
    /// As for [`Store::start_graph_run`].
    #[allow(dead_code, reason = "claims open runs with the profile graph-1")]
    pub(crate) async fn graph_run_opening(
        &self,
        org: &str,
        opening: Opening<'_>,
    ) -> Result<(GraphRun, Vec<Op>), Error> {
        let _ = (org, opening);
        todo!()
    }

    /// The operation that refuses when somebody wrote to this run since it was read.
    #[allow(dead_code, reason = "submissions hold runs still with the profile graph-1")]
    pub(crate) fn graph_run_unchanged(&self, org: &str, run: &GraphRun) -> Op {
        let _ = (org, run);
        todo!()
    }
}
