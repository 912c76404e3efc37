//! One write, start to finish: read at once, decide, commit in one transaction; a repeated call gets its first answer.
//!
//! Reading is one round: the request record and the run's partition in parallel. Committing is the other. The journal's
//! next place is the lock on the run: whoever puts an entry there first has won, and the other one reads and decides
//! again.

use std::collections::BTreeMap;
use std::sync::Arc;

use run::{Attempt, Change, Cited, Command, Context, Evaluation, Fault, Overlay, Refusal, Reply, Run, Time};
use serde_json::Value;

use crate::catalogue::Version;
use crate::changes::{apply, attempt_op, change_ops, notice_op};
use crate::context::Alarm;
use crate::error::Error;
use crate::evidence::EvidenceRef;
use crate::graph_runs::GraphRun;
use crate::guided::GraphGiven;
use crate::keys;
use crate::lists::{self, doc, read};
use crate::partition::Partition;
use crate::request::{Did, LeaseGiven, Record, Request, RunWrite, Sent};
use crate::store::Store;
use crate::table::{Item, Op, TableError, When};
use crate::tries::{Tries, WRITE_ATTEMPTS};

/// A write that happened: now, or when the same call was made first.
#[derive(Debug)]
pub struct Written {
    /// The version the run keeps.
    pub version: Arc<Version>,
    /// The run as the answer shows it.
    pub run: Run,
    /// What the answer shows beside it.
    pub overlay: Overlay,
    /// When it happened.
    pub at: Time,
    /// Set on a lease.
    pub lease: Option<LeaseGiven>,
    /// Set on a claim of a step that a graph guides: the run of the graph (graph-1).
    pub graph: Option<GraphRun>,
    /// Set on an event.
    pub sent: Option<Sent>,
}

/// What goes into the transaction of a write, and the run of a graph that its answer shows.
#[derive(Default)]
struct Beside {
    ops: Vec<Op>,
    graph: Option<GraphRun>,
}

impl Store {
    /// The record of this request, when it was made before.
    ///
    /// # Errors
    ///
    /// `conflict` when the id was used for another call.
    pub(crate) async fn recorded(&self, request: &Request<'_>) -> Result<Option<Record>, Error> {
        let found = self.table.get(&[keys::request(request.org, request.id)]).await?;
        match found.into_iter().flatten().next() {
            Some(item) => self.record(request, item).map(Some),
            None => Ok(None),
        }
    }

    /// A stored record, when it is of this request.
    ///
    /// # Errors
    ///
    /// `conflict` when the id was used for another call.
    pub(crate) fn record(&self, request: &Request<'_>, item: Item) -> Result<Record, Error> {
        let record: Record = read(item)?;
        record.same(request)?;
        Ok(record)
    }

    /// The operation that records a request; it refuses when the id was used meanwhile.
    pub(crate) fn record_op(&self, request: &Request<'_>, record: &Record) -> Result<Op, Error> {
        let key = keys::request(request.org, request.id);
        Ok(Op::Put { item: Item { key, tag: String::new(), doc: doc(record)? }, when: When::Absent })
    }

    /// Commits operations that only the request's own repetition can be in the way of.
    pub(crate) async fn commit_or_replay(
        &self,
        request: &Request<'_>,
        ops: Vec<Op>,
        value: Value,
    ) -> Result<Value, Error> {
        for _ in 0..WRITE_ATTEMPTS {
            match self.table.transact(&ops).await {
                Ok(()) => return Ok(value),
                Err(TableError::Invalid(why)) => return Err(Error::Invariant(why)),
                Err(_) => {}
            }
            if let Some(record) = self.recorded(request).await? {
                return crate::catalogue::other(record);
            }
            self.pause().await;
        }
        Err(Error::Retry("the write did not get through".to_owned()))
    }

    /// Runs one command of a caller on a run. The evidence it cites is read and verified in the same round as the run,
    /// and handed to `command` in the order it was cited.
    ///
    /// # Errors
    ///
    /// `not_found` for a run that this organization does not have, whatever [`run::decide`] refuses, and
    /// [`Error::Retry`] after [`WRITE_ATTEMPTS`] lost races or storage faults.
    pub async fn write(
        &self,
        request: &Request<'_>,
        run_id: &str,
        evidence: &[EvidenceRef],
        command: impl Fn(Vec<Cited>) -> Command + Send + Sync,
    ) -> Result<Written, Error> {
        let (mut tries, mut asked) = (Tries::default(), None);
        while self.again(&mut tries).await {
            match self.write_once(request, run_id, evidence, &command, &mut asked).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    async fn write_once(
        &self,
        request: &Request<'_>,
        run_id: &str,
        evidence: &[EvidenceRef],
        command: &(impl Fn(Vec<Cited>) -> Command + Send + Sync),
        asked: &mut Option<Evaluation>,
    ) -> Result<Written, Error> {
        let (recorded, loaded, cited) = futures::join!(
            self.recorded(request),
            Partition::load(self.table.as_ref(), request.org, run_id),
            self.cited(request.org, evidence),
        );
        let (recorded, loaded) = (recorded?, loaded?);
        if let Some(record) = recorded {
            return self.replay(request, record, loaded).await;
        }
        let Some(partition) = loaded else {
            return Err(Error::refused(run::Code::NotFound, format!("No run `{run_id}` in this organization.")));
        };
        let mut command = command(cited?);
        // What a person adopts is accepted anew, and its files may have been altered since they were submitted.
        let held = command.adopts(&partition.run);
        if !held.is_empty() {
            let held: Vec<EvidenceRef> = held.iter().map(EvidenceRef::of).collect();
            command.verified(self.cited(request.org, &held).await?);
        }
        let version = self.version_of(request.org, &partition.run.meta).await?;
        let context = self.context(&version);
        let decide = |command: &Command, clock| {
            run::decide(context, &partition.run, &partition.attempts, request.actor, command, clock)
        };
        if let Some(evaluation) = asked.as_ref() {
            command.evaluated(evaluation);
        }
        let mut beside = Beside::default();
        let clock = self.clock.now();
        let mut decided = decide(&command, clock);
        if let Err(Fault::Graph(inquiry)) = &decided {
            // Anew at every attempt: what was lost may be the race with an outcome.
            let (standing, unchanged) = self.standing(request.org, run_id, inquiry).await?;
            beside.ops.push(unchanged);
            command.stands(standing);
            decided = decide(&command, clock);
        }
        if let Err(Fault::Check(inquiry)) = &decided
            && asked.is_none()
        {
            command.evaluated(asked.insert(self.evaluate(request.org, run_id, inquiry, clock).await));
            decided = decide(&command, self.clock.now());
        }
        match decided {
            Ok(change) => {
                if matches!(command, Command::Claim { .. })
                    && let Some((graph, ops)) = self.guide(request, &version, &change).await?
                {
                    beside = Beside { ops, graph: Some(graph) };
                }
                self.commit(request, version, &partition, change, beside).await
            }
            Err(Fault::Invariant(why)) => Err(Error::Invariant(format!("run {run_id}: {why}"))),
            Err(fault @ (Fault::Check(_) | Fault::Graph(_))) => Err(fault.into()),
            Err(Fault::Refused(refusal)) => {
                // The same call may have been accepted after the record was looked for and before the run was read: it
                // is this call's first answer then, and the refusal is only of its repetition.
                if let Some(record) = self.recorded(request).await? {
                    return self.replay(request, record, None).await;
                }
                self.leave_trace(request.org, &partition, refusal).await
            }
        }
    }

    /// Starts a run: there is no partition yet, and the request record is what two starts would meet at.
    pub async fn start(
        &self,
        request: &Request<'_>,
        process: &str,
        number: Option<u64>,
        inputs: serde_json::Map<String, Value>,
        mode: run::Mode,
    ) -> Result<Written, Error> {
        let mut tries = Tries::default();
        while self.again(&mut tries).await {
            let (recorded, version) =
                futures::join!(self.recorded(request), self.version_to_start(request.org, process, number));
            let version = match recorded {
                Ok(Some(record)) => return self.replay(request, record, None).await,
                Ok(None) => version,
                Err(error) => Err(error),
            };
            let version = match version {
                Err(Error::Retry(why)) => {
                    tries.failed(why);
                    continue;
                }
                version => version?,
            };
            let id = format!("r_{}", self.ids.fresh());
            let start = run::Start { id, version: version.number, inputs: inputs.clone(), mode };
            let change = run::start(self.context(&version), request.actor, start, self.clock.now())?;
            match self.commit_first(request, version, change).await {
                Err(Error::Retry(why)) => tries.failed(why),
                done => return done,
            }
        }
        Err(tries.gave_up())
    }

    pub(crate) fn context<'a>(&'a self, version: &'a Version) -> Context<'a> {
        Context {
            document: &version.document,
            roles: &version.roles,
            operators_group: &self.settings.operators_group,
            limits: self.settings.limits,
        }
    }

    async fn commit(
        &self,
        request: &Request<'_>,
        version: Arc<Version>,
        partition: &Partition,
        change: Change,
        mut beside: Beside,
    ) -> Result<Written, Error> {
        let ops = change_ops(request.org, Some(partition), &change, &request.actor.subject, request.tool)?;
        beside.ops.extend(ops);
        let mut attempts = partition.attempts.clone();
        apply(&mut attempts, &change);
        self.finish(request, version, Some(&partition.run), &attempts, change, beside).await
    }

    async fn commit_first(
        &self,
        request: &Request<'_>,
        version: Arc<Version>,
        change: Change,
    ) -> Result<Written, Error> {
        let ops = change_ops(request.org, None, &change, &request.actor.subject, request.tool)?;
        let beside = Beside { ops, graph: None };
        self.finish(request, version, None, &BTreeMap::new(), change, beside).await
    }

    /// Adds the request record and the notices, sets the alarms, commits, and clears alarms that nothing needs.
    async fn finish(
        &self,
        request: &Request<'_>,
        version: Arc<Version>,
        before: Option<&Run>,
        attempts: &BTreeMap<String, Attempt>,
        change: Change,
        beside: Beside,
    ) -> Result<Written, Error> {
        let Beside { mut ops, graph } = beside;
        let overlay = Overlay::of(&change.run, attempts, change.at).told(&change.run, &change.reply);
        let (lease, sent) = match &change.reply {
            Reply::View => (None, None),
            Reply::Leased { step, attempt, lease, expires_at } => {
                let key = self.seal.key_id();
                let step = step.clone();
                (Some(LeaseGiven { step, attempt: *attempt, lease: *lease, expires_at: *expires_at, key }), None)
            }
            Reply::Sent { consumed_by } => (None, Some(Sent { consumed_by: consumed_by.clone() })),
        };
        let write = RunWrite {
            run: change.run.meta.id.clone(),
            rev: change.run.rev,
            overlay: overlay.clone(),
            lease: lease.clone(),
            graph: graph
                .as_ref()
                .map(|graph| GraphGiven { graph_run: graph.run.id.clone(), sequence: graph.sequence() }),
            sent: sent.clone(),
        };
        ops.push(self.record_op(request, &Record::of(request, change.at, Did::Run(write)))?);
        ops.extend(notice_op(request.org, &change)?);
        let alarms = self.set_alarms(request.org, before, &change.run).await?;
        self.table.transact(&ops).await?;
        self.alarms.clear(&alarms).await;
        Ok(Written { version, run: change.run, overlay, at: change.at, lease, graph, sent })
    }

    /// A refused submission leaves its issues in the handoff: the one trace a refusal has.
    ///
    /// # Errors
    ///
    /// The refusal; [`Error::Retry`] when the trace could not be left, so that the submission is decided again.
    async fn leave_trace(&self, org: &str, partition: &Partition, mut refusal: Refusal) -> Result<Written, Error> {
        if let Some(trace) = refusal.attempt.take() {
            let (step, attempt) = *trace;
            let run = &partition.run;
            if run.step(&step).is_none_or(|s| s.attempt != attempt.attempt) {
                // Time has made this step ready and nothing has written that yet: first it is written, so that the trace
                // has an attempt to stay with.
                self.tick_once(org, &run.meta.id).await?;
                return Err(Error::Retry("time had moved the run on".to_owned()));
            }
            let mut after = partition.attempts.clone();
            after.insert(step.clone(), attempt.clone());
            let next = keys::journal(org, &run.meta.id, run.rev + 1);
            let mut ops = vec![Op::Check { key: next, when: When::Absent }];
            ops.extend(attempt_op(org, &run.meta.id, &step, partition.attempts.get(&step), Some(&attempt))?);
            let was = lists::entries(org, run, &partition.attempts)?;
            ops.extend(lists::difference(&was, &lists::entries(org, run, &after)?));
            match self.table.transact(&ops).await {
                Ok(()) => {}
                // Somebody else moved the step: whether this submission is refused must be decided again.
                Err(e) => return Err(e.into()),
            }
        }
        Err(Error::Refused(refusal))
    }

    /// The first answer of a call that is repeated.
    async fn replay(&self, request: &Request<'_>, record: Record, loaded: Option<Partition>) -> Result<Written, Error> {
        let Did::Run(write) = record.did else {
            return Err(Error::Invariant(format!("request {} of {} moved no run", request.id, request.tool)));
        };
        // The partition may have been read just before the write that the record is of.
        let loaded = loaded.filter(|p| p.run.meta.id == write.run && p.run.rev >= write.rev);
        let partition = match loaded {
            Some(partition) => partition,
            None => Partition::load(self.table.as_ref(), request.org, &write.run)
                .await?
                .ok_or_else(|| Error::Invariant(format!("run {} of a recorded request is gone", write.run)))?,
        };
        let version = self.version_of(request.org, &partition.run.meta).await?;
        let graph = match &write.graph {
            Some(given) => Some(self.given(request.org, given).await?),
            None => None,
        };
        Ok(Written {
            version,
            run: partition.at(write.rev)?,
            overlay: write.overlay,
            at: record.at,
            lease: write.lease,
            graph,
            sent: write.sent,
        })
    }

    /// Sets the alarms that the run after needs and the run before did not; returns those nobody needs any more.
    pub(crate) async fn set_alarms(&self, org: &str, before: Option<&Run>, after: &Run) -> Result<Vec<Alarm>, Error> {
        let of = |run: &Run| -> Vec<Alarm> {
            let alarm = |(at, timer): (Time, run::Timer)| Alarm {
                at,
                org: org.to_owned(),
                run: run.meta.id.clone(),
                timer: lists::timer_name(run, &timer),
            };
            run::timers(run).into_iter().map(alarm).collect()
        };
        let was = before.map(of).unwrap_or_default();
        let will = of(after);
        let new: Vec<Alarm> = will.iter().filter(|a| !was.contains(a)).cloned().collect();
        if !new.is_empty() {
            self.alarms.set(&new).await?;
        }
        Ok(was.into_iter().filter(|a| !will.contains(a)).collect())
    }
}
