//! Runs of Graphs: append-only journals, one entry an accepted write, under the conditional writes, request records and
//! limits that process runs have.
//!
//! Reading is one round: the request record and the run's journal in parallel; the Provider that a run keeps is in memory
//! from its first use on. Committing is the other. The journal's next place is the lock on the run: whoever puts an entry
//! there first has won, and the other one reads and decides again. What a write writes is its event, never the run.

mod decide;
mod journal;
mod opening;

use std::sync::Arc;

use graph::documents::{Outcome, Run};
use run::{ActorKind, Code};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalogue::other;
use crate::error::{Error, quoted};
use crate::lists::doc;
use crate::providers::{Pin, PublishedProvider};
use crate::request::{Did, Record, Request};
use crate::store::Store;
use crate::table::{Op, TableError};
use crate::tries::Tries;

use journal::{Happened, Journal};
pub(crate) use opening::Opening;

/// What a checkpoint is noted as in a run's events.
const CHECKPOINTED: &str = "run.checkpointed";

/// The limits that bound a run of a Graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphLimits {
    /// Most events of a run, those that it was resumed with included.
    pub run_events: usize,
    /// Most bytes of a run as JSON: its facts, outcomes, authorities and events. An item of the table must have room for it.
    pub run_bytes: usize,
    /// Most bytes of a run's journal as JSON, which every read of the run reads.
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
    /// Who recorded each of its events, by their numbers. Those that a resumed run began with are told by the run that its
    /// checkpoint names.
    pub recorded_by: Vec<RecordedBy>,
}

/// Who recorded an event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedBy {
    /// The event's number.
    pub sequence: u64,
    /// The caller's subject.
    pub by: String,
    /// Whether that is a person.
    pub kind: ActorKind,
}

impl GraphRun {
    /// The number of the run's last event.
    pub fn sequence(&self) -> u64 {
        self.run.events.last().map_or(0, |event| event.sequence)
    }

    /// The name of the checkpoint that the run's last event made, when it made one: `<run id>@<sequence>`.
    pub fn checkpoint(&self) -> Option<String> {
        let last = self.run.events.last().filter(|event| event.r#type == CHECKPOINTED)?;
        Some(checkpoint_name(&self.run.id, last.sequence))
    }

    /// What can be done in the run as it stands.
    ///
    /// # Errors
    ///
    /// [`Error::Invariant`]: the Provider had the run's Graph and entry when the run began.
    pub fn evaluated(&self) -> Result<graph::Evaluated, Error> {
        let Run { id, graph, entry, .. } = &self.run;
        graph::evaluate(&self.provider.provider, graph, entry, &self.run.state())
            .map_err(|failure| Error::Invariant(format!("the run {id} cannot be evaluated: {failure}")))
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

/// What the record of a request keeps: the run and its last event after it. The answer is made from the journal again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Moved {
    graph_run: String,
    sequence: u64,
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
        let mut tries = Tries::default();
        while self.again(&mut tries).await {
            let (recorded, provider) =
                futures::join!(self.recorded(request), self.provider(request.org, provider, pin));
            let started = match recorded {
                Err(error) => Err(error),
                Ok(Some(record)) => self.graph_replay(request.org, record, None).await,
                Ok(None) => self.start_once(request, provider, graph, entry, facts.clone()).await,
            };
            match started {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    async fn start_once(
        &self,
        request: &Request<'_>,
        provider: Result<Arc<PublishedProvider>, Error>,
        graph: &str,
        entry: &str,
        facts: Map<String, Value>,
    ) -> Result<GraphRun, Error> {
        let decided = provider.and_then(|provider| {
            let id = format!("g_{}", self.ids.fresh());
            let began = Happened::started(&provider.reference, graph, entry, facts);
            let journal = Journal::none(id, provider);
            self.graph_step(request.org, journal, began, self.clock.now(), request.actor, request.tool)
        });
        self.graph_decided(request, decided).await
    }

    /// Changes a run of a Graph.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that this organization does not have; `invalid` for a node that the run's Graph does not
    /// have or whose Outcome nobody records, and over a limit; `forbidden` for a caller who may not; `conflict` with the
    /// issue `route_revision_stale` for another revision than the run's, and with an issue that begins `node_not_open` for
    /// an Outcome of a node that is not open, unless it corrects the one that an Action has.
    pub async fn change_graph_run(
        &self,
        request: &Request<'_>,
        run: &str,
        change: GraphCommand,
    ) -> Result<GraphRun, Error> {
        let mut tries = Tries::default();
        while self.again(&mut tries).await {
            match self.change_once(request, run, &change).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    async fn change_once(&self, request: &Request<'_>, run: &str, change: &GraphCommand) -> Result<GraphRun, Error> {
        let (recorded, loaded) = futures::join!(self.recorded(request), self.graph_journal(request.org, run, None));
        let (recorded, loaded) = (recorded?, loaded?);
        if let Some(record) = recorded {
            return self.graph_replay(request.org, record, loaded).await;
        }
        let decided = loaded.ok_or_else(|| no_run(run)).and_then(|journal| {
            let happened = self.decide_graph(request.actor, &journal.run, change)?;
            self.graph_step(request.org, journal, happened, self.clock.now(), request.actor, request.tool)
        });
        self.graph_decided(request, decided).await
    }

    /// Commits what was decided. The same call may have been accepted after its record was looked for and before the rest was
    /// read: it is this call's first answer then, and the refusal is only of its repetition.
    async fn graph_decided(
        &self,
        request: &Request<'_>,
        decided: Result<(Journal, Op), Error>,
    ) -> Result<GraphRun, Error> {
        match decided {
            Ok((after, op)) => self.graph_commit(request, after, op).await,
            Err(refused @ Error::Refused(_)) => match self.recorded(request).await? {
                Some(record) => self.graph_replay(request.org, record, None).await,
                None => Err(refused),
            },
            Err(other) => Err(other),
        }
    }

    /// Begins a new run from a checkpoint, without its authorities.
    ///
    /// # Errors
    ///
    /// `not_found` for a checkpoint that this organization does not have; `invalid` over a limit.
    pub async fn resume_graph_run(&self, request: &Request<'_>, checkpoint: &str) -> Result<GraphRun, Error> {
        let mut tries = Tries::default();
        while self.again(&mut tries).await {
            match self.resume_once(request, checkpoint).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    async fn resume_once(&self, request: &Request<'_>, checkpoint: &str) -> Result<GraphRun, Error> {
        let from = async {
            match checkpoint_parts(checkpoint) {
                Some((run, sequence)) => self.graph_journal(request.org, run, Some(sequence)).await,
                None => Ok(None),
            }
        };
        let (recorded, from) = futures::join!(self.recorded(request), from);
        let (recorded, from) = (recorded?, from?);
        if let Some(record) = recorded {
            return self.graph_replay(request.org, record, None).await;
        }
        let from = from.filter(|journal| journal.run.checkpoint().as_deref() == Some(checkpoint));
        let decided = from.ok_or_else(|| no_checkpoint(checkpoint)).and_then(|from| {
            let id = format!("g_{}", self.ids.fresh());
            let GraphRun { provider, run, .. } = from.run;
            let run = Run { id: id.clone(), authorities: Vec::new(), ..run };
            let resumed = Happened::resumed(&provider.reference, checkpoint, run);
            let journal = Journal::none(id, provider);
            self.graph_step(request.org, journal, resumed, self.clock.now(), request.actor, request.tool)
        });
        self.graph_decided(request, decided).await
    }

    /// A run of a Graph.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that this organization does not have.
    pub async fn graph_run(&self, org: &str, run: &str) -> Result<GraphRun, Error> {
        self.graph_journal(org, run, None).await?.map(|journal| journal.run).ok_or_else(|| no_run(run))
    }

    /// Commits one event together with the record of the request.
    async fn graph_commit(&self, request: &Request<'_>, after: Journal, op: Op) -> Result<GraphRun, Error> {
        let moved = Moved { graph_run: after.run.run.id.clone(), sequence: after.run.sequence() };
        let record = Record::of(request, after.at, Did::Other(doc(&moved)?));
        match self.table.transact(&[op, self.record_op(request, &record)?]).await {
            Ok(()) => Ok(after.run),
            Err(TableError::Invalid(why)) => Err(Error::Invariant(why)),
            // Somebody else wrote, or the answer was lost: read again and see.
            Err(error) => Err(error.into()),
        }
    }

    /// The first answer of a call that is repeated.
    async fn graph_replay(&self, org: &str, record: Record, loaded: Option<Journal>) -> Result<GraphRun, Error> {
        let Moved { graph_run, sequence } = serde_json::from_value(other(record)?)
            .map_err(|e| Error::Invariant(format!("the record of a Graph's run: {e}")))?;
        if let Some(journal) = loaded.filter(|j| j.run.run.id == graph_run && j.run.sequence() == sequence) {
            return Ok(journal.run);
        }
        self.graph_run_at(org, &graph_run, sequence)
            .await?
            .ok_or_else(|| Error::Invariant(format!("the Graph's run {graph_run} has no event {sequence} any more")))
    }
}

fn no_run(run: &str) -> Error {
    Error::refused(
        Code::NotFound,
        format!(
            "No run `{}` of a Graph in this organization. Use the graphRunId that a claim or start_graph_run returned.",
            quoted(run)
        ),
    )
}

fn no_checkpoint(name: &str) -> Error {
    let message = format!("No checkpoint `{}` here. Use the name that checkpoint_graph_run returned.", quoted(name));
    Error::refused(Code::NotFound, message)
}

fn checkpoint_name(run: &str, sequence: u64) -> String {
    format!("{run}@{sequence}")
}

fn checkpoint_parts(name: &str) -> Option<(&str, u64)> {
    let (run, sequence) = name.rsplit_once('@')?;
    Some((run, sequence.parse().ok()?))
}
