//! The journal of a Graph's run: what is stored of each event, and the run that they come to.
//!
//! Entries are numbered as the run's events are, so the journal of a resumed run begins after the events that it was
//! resumed with; those stand in its first entry.

use std::sync::Arc;

use graph::documents::{Outcome, Run};
use run::{Actor, ActorKind, Code, Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{GraphRun, RecordedBy, checkpoint_name};
use crate::error::Error;
use crate::keys;
use crate::lists::{doc, read};
use crate::providers::{Pin, ProviderRef, PublishedProvider};
use crate::store::Store;
use crate::table::{Item, Op, Range, When};

/// The version of what is stored.
const ENTRY_VERSION: u32 = 1;

/// One stored event.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    v: u32,
    sequence: u64,
    at: Time,
    by: String,
    kind: ActorKind,
    tool: String,
    /// Bytes of the events up to this one, as JSON.
    total_bytes: usize,
    event: Happened,
}

impl Entry {
    fn recorded_by(&self) -> RecordedBy {
        RecordedBy { sequence: self.sequence, by: self.by.clone(), kind: self.kind }
    }
}

/// What happened, with all that the run after it is made from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Happened {
    /// The run began.
    Started {
        /// The Provider it keeps.
        provider: Kept,
        graph: String,
        entry: String,
        facts: Map<String, Value>,
    },
    /// The run began from a checkpoint of another one.
    Resumed {
        /// The Provider it keeps.
        provider: Kept,
        checkpoint: String,
        /// The checkpoint, under the new run's id.
        run: Box<Run>,
    },
    /// The Outcome of a node was recorded.
    Recorded {
        node: String,
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        detail: Option<Value>,
    },
    /// Facts were set.
    Facts { facts: Map<String, Value>, replace: bool },
    /// The authorities were set.
    Authorities { authorities: Vec<String> },
    /// A checkpoint was noted, named by the run and this event.
    Checkpointed,
}

/// The Provider that a run keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Kept {
    id: String,
    version: String,
    digest: String,
}

/// A detail that was given, null included.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Happened {
    pub(super) fn started(provider: &ProviderRef, graph: &str, entry: &str, facts: Map<String, Value>) -> Happened {
        Happened::Started { provider: Kept::of(provider), graph: graph.to_owned(), entry: entry.to_owned(), facts }
    }

    pub(super) fn resumed(provider: &ProviderRef, checkpoint: &str, run: Run) -> Happened {
        Happened::Resumed { provider: Kept::of(provider), checkpoint: checkpoint.to_owned(), run: Box::new(run) }
    }
}

impl Kept {
    fn of(ProviderRef { provider, version, digest, .. }: &ProviderRef) -> Kept {
        Kept { id: provider.clone(), version: version.clone(), digest: digest.clone() }
    }
}

/// A run as it is stored up to some event.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    /// The run after it.
    pub(super) run: GraphRun,
    /// When it happened.
    pub(super) at: Time,
    total_bytes: usize,
}

impl Journal {
    /// A run that is not there yet.
    pub(super) fn none(id: String, provider: Arc<PublishedProvider>) -> Journal {
        let run = Run {
            schema: graph::documents::RunSchema::V1,
            id,
            provider: String::new(),
            graph: String::new(),
            entry: String::new(),
            workspace: None,
            created_at: String::new(),
            updated_at: String::new(),
            facts: Map::new(),
            outcomes: Default::default(),
            authorities: Vec::new(),
            events: Vec::new(),
        };
        Journal { run: GraphRun { provider, run, recorded_by: Vec::new() }, at: Time::from_millis(0), total_bytes: 0 }
    }

    /// The run after this happened.
    ///
    /// # Errors
    ///
    /// `not_found` for a Graph or an entry that the Provider does not have.
    fn after(mut self, happened: &Happened, at: Time) -> Result<Journal, Error> {
        let when = at.to_string();
        let run = &mut self.run.run;
        match happened {
            Happened::Started { graph, entry, facts, .. } => {
                let (provider, facts) = (&self.run.provider.provider, facts.clone());
                *run = graph::start(provider, graph, entry, &run.id, None, facts, &when)?.run;
            }
            Happened::Resumed { checkpoint, run: begun, .. } => {
                *run = Run::clone(begun);
                run.resumed(checkpoint, &when);
            }
            Happened::Recorded { node, outcome, detail } => drop(run.record(node, *outcome, detail.clone(), &when)),
            Happened::Facts { facts, replace } => drop(run.set_facts(facts.clone(), *replace, &when)),
            Happened::Authorities { authorities } => drop(run.set_authorities(authorities.clone(), &when)),
            Happened::Checkpointed => {
                let sequence = run.events.last().map_or(0, |event| event.sequence) + 1;
                run.checkpointed(&checkpoint_name(&run.id, sequence), &when);
            }
        }
        self.at = at;
        Ok(self)
    }
}

impl Store {
    /// Reads a run, up to this event or to its last one; `None` when there is none.
    pub(super) async fn graph_journal(&self, org: &str, id: &str, to: Option<u64>) -> Result<Option<Journal>, Error> {
        if !keys::storable(id) {
            return Ok(None);
        }
        let to = to.map(|sequence| keys::graph_journal(org, id, sequence).sort);
        let range = Range { partition: keys::graph_run(org, id), from: None, to, backwards: false, limit: None };
        let entries: Vec<Entry> = self.table.query(&range).await?.into_iter().map(read).collect::<Result<_, _>>()?;
        let Some(first) = entries.first() else { return Ok(None) };
        let broken = |why: String| Error::Invariant(format!("the journal of the Graph's run {id}: {why}"));
        let (Happened::Started { provider, .. } | Happened::Resumed { provider, .. }) = &first.event else {
            return Err(broken("its first entry begins no run".to_owned()));
        };
        let kept = self.provider(org, &provider.id, Pin::Digest(&provider.digest)).await;
        let kept = kept.map_err(|error| match error {
            Error::Refused(refusal) => broken(format!("the Provider that it keeps is gone: {}", refusal.message)),
            other => other,
        })?;
        let mut journal = Journal::none(id.to_owned(), kept);
        for entry in &entries {
            journal = journal.after(&entry.event, entry.at).map_err(|error| match error {
                Error::Refused(refusal) => broken(refusal.message),
                other => other,
            })?;
            journal.total_bytes = entry.total_bytes;
            journal.run.recorded_by.push(entry.recorded_by());
            let sequence = journal.run.sequence();
            if sequence != entry.sequence {
                return Err(broken(format!("entry {} is the run's event {sequence}", entry.sequence)));
            }
        }
        Ok(Some(journal))
    }

    /// The run after one event more, and the operation that stores it unless somebody else stored one there.
    ///
    /// # Errors
    ///
    /// `invalid` with an issue for every limit that the run would be over, and for a state that the Provider's Graph cannot be
    /// evaluated in; `not_found` for a Graph or an entry that the Provider does not have.
    pub(super) fn graph_step(
        &self,
        org: &str,
        before: Journal,
        happened: Happened,
        at: Time,
        actor: &Actor,
        tool: &str,
    ) -> Result<(Journal, Op), Error> {
        let at = at.max(before.at);
        let mut after = before.after(&happened, at)?;
        after.total_bytes += doc(&happened)?.to_string().len();
        self.within_limits(&after)?;
        // A run that nobody could evaluate again would be lost to everybody: whoever reads one is shown where it stands.
        let Run { graph, entry, .. } = &after.run.run;
        graph::evaluate(&after.run.provider.provider, graph, entry, &after.run.run.state())?;
        let entry = Entry {
            v: ENTRY_VERSION,
            sequence: after.run.sequence(),
            at,
            by: actor.subject.clone(),
            kind: actor.kind,
            tool: tool.to_owned(),
            total_bytes: after.total_bytes,
            event: happened,
        };
        after.run.recorded_by.push(entry.recorded_by());
        let key = keys::graph_journal(org, &after.run.run.id, entry.sequence);
        let item = Item { key, tag: String::new(), doc: doc(&entry)? };
        Ok((after, Op::Put { item, when: When::Absent }))
    }

    fn within_limits(&self, after: &Journal) -> Result<(), Error> {
        let limits = self.settings.graph_limits;
        let run = &after.run.run;
        let run_bytes = doc(run)?.to_string().len();
        let issues: Vec<String> = [
            ("run", run.events.len(), "events", limits.run_events),
            ("run", run_bytes, "bytes as JSON", limits.run_bytes),
            ("journal", after.total_bytes, "bytes as JSON", limits.journal_bytes),
        ]
        .into_iter()
        .filter(|(_, count, _, most)| count > most)
        .map(|(what, count, of, most)| format!("{what}: {count} {of}, at most {most}"))
        .collect();
        if issues.is_empty() {
            return Ok(());
        }
        let message = format!(
            "This is too much for the run `{}`, so nothing was changed. Keep large things elsewhere and their references in \
             the run, or go on in a new run with the facts that still count.",
            run.id
        );
        Err(Refusal::new(Code::Invalid, message).issues(issues).into())
    }
}
