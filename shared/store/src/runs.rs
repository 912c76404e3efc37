//! Reading runs: one view, and the lists of runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use run::{Actor, Code, Overlay, Run, RunState, RunView, Time};
use serde_json::{Map, Value, json};

use crate::catalogue::Version;
use crate::error::Error;
use crate::keys;
use crate::lists::{RunEntry, read};
use crate::merge::{Page, merged};
use crate::partition::Partition;
use crate::store::Store;
use crate::work::{Position, bound, opened};
use crate::write::Written;

/// Most published processes whose runs one unfiltered `list_runs` looks at.
const LISTED_PROCESSES: u32 = 1_000;

/// Runs whose inputs are read at a time.
const INPUTS_AT_ONCE: usize = 25;

/// Most pages of inputs that one call reads; then it returns what it found, with a cursor to go on from.
const INPUT_PAGES: usize = 40;

/// What `list_runs` asks for.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs of this process.
    pub process: Option<String>,
    /// Only runs in this state.
    pub state: Option<RunState>,
    /// Only runs whose inputs equal these, field by field; numbers by their value, for who asks did not see the text.
    pub inputs: Option<Map<String, Value>>,
}

/// A run with its inputs.
#[derive(Debug, Clone)]
pub struct RunListed {
    /// What the list keeps.
    pub entry: RunEntry,
    /// What it started with.
    pub inputs: Map<String, Value>,
}

impl Store {
    /// The view of a run at this moment: as the next write will find it, every timer that is due applied whether or not it
    /// has fired. Otherwise a decision would carry the snapshot of a run that is not there any more.
    ///
    /// # Errors
    ///
    /// `not_found` when the organization has no such run.
    pub async fn view(&self, org: &str, id: &str) -> Result<RunView, Error> {
        let Some(partition) = Partition::load(self.table.as_ref(), org, id).await? else {
            return Err(Error::refused(Code::NotFound, format!("No run `{id}` in this organization.")));
        };
        let version = self.version_of(org, &partition.run.meta).await?;
        let now = self.clock.now().max(partition.run.updated_at);
        let (run, attempts) = run::catch_up(self.context(&version), partition.run, partition.attempts, now)?;
        let overlay = Overlay::of(&run, &attempts, now);
        self.shown(org, &version, &run, &overlay, now).await
    }

    /// The view that a write returns.
    pub async fn written_view(&self, org: &str, written: &Written) -> Result<RunView, Error> {
        self.shown(org, &written.version, &written.run, &written.overlay, written.at).await
    }

    async fn shown(
        &self,
        org: &str,
        version: &Arc<Version>,
        run: &Run,
        overlay: &Overlay,
        now: Time,
    ) -> Result<RunView, Error> {
        let mut view = RunView::of(&self.context(version), run, overlay, now);
        self.link(org, &mut view).await?;
        Ok(view)
    }

    /// Runs, newest first, tests included.
    pub async fn list_runs(
        &self,
        org: &str,
        actor: &Actor,
        filter: &RunFilter,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<(Vec<RunListed>, Option<String>), Error> {
        let filters = json!([filter.process, filter.state, filter.inputs]);
        let bound = bound("list_runs", org, actor, &filters);
        let mut after = opened(self, &bound, cursor)?;
        let partitions = self.run_partitions(org, filter).await?;
        let mut found = Vec::new();
        for _ in 0..INPUT_PAGES {
            // Inputs are read a page at a time, so a filter on them reads on until a page is full or the list ends.
            let want = match filter.inputs {
                Some(_) => INPUTS_AT_ONCE,
                None => limit - found.len(),
            };
            let page = self.run_page(&partitions, after.as_deref(), filter, want).await?;
            let keys: Vec<String> =
                page.items.iter().map(|e| keys::runs(org, &e.process, false, e.started_at, &e.run).sort).collect();
            let inputs = self.inputs(org, &page.items).await?;
            for (entry, key) in page.items.into_iter().zip(keys) {
                if found.len() == limit {
                    return Ok((found, after.map(|after| self.seal.cursor(&bound, &Position { after }))));
                }
                after = Some(key);
                let Some(inputs) = inputs.get(&entry.run) else { continue };
                let wanted = |f: &Map<String, Value>| {
                    f.iter().all(|(k, v)| inputs.get(k).is_some_and(|i| process::value::equal(i, v)))
                };
                if filter.inputs.as_ref().is_none_or(wanted) {
                    found.push(RunListed { entry, inputs: inputs.clone() });
                }
            }
            match page.after {
                None => return Ok((found, None)),
                Some(end) => after = Some(end),
            }
            if found.len() == limit || filter.inputs.is_none() {
                break;
            }
        }
        Ok((found, after.map(|after| self.seal.cursor(&bound, &Position { after }))))
    }

    async fn run_partitions(&self, org: &str, filter: &RunFilter) -> Result<Vec<String>, Error> {
        let processes = match &filter.process {
            Some(process) if !keys::storable(process) => Vec::new(),
            Some(process) => vec![process.clone()],
            None => self.processes(org, None, LISTED_PROCESSES).await?.into_iter().map(|l| l.name).collect(),
        };
        let ends: &[bool] = match filter.state {
            None => &[false, true],
            Some(RunState::Active | RunState::Waiting) => &[false],
            Some(RunState::Ended | RunState::Cancelled) => &[true],
        };
        let of = |p: &String| ends.iter().flat_map(|e| keys::runs_partitions(org, p, *e)).collect::<Vec<_>>();
        Ok(processes.iter().flat_map(of).collect())
    }

    async fn run_page(
        &self,
        partitions: &[String],
        after: Option<&str>,
        filter: &RunFilter,
        limit: usize,
    ) -> Result<Page<RunEntry>, Error> {
        merged(self.table.as_ref(), partitions, after, true, limit, |item| {
            let entry: RunEntry = read(item)?;
            Ok(filter.state.is_none_or(|s| s == entry.state).then_some(entry))
        })
        .await
    }

    /// The inputs of runs, from the first entries of their journals.
    async fn inputs(&self, org: &str, runs: &[RunEntry]) -> Result<BTreeMap<String, Map<String, Value>>, Error> {
        let mut all = BTreeMap::new();
        let keys: Vec<_> = runs.iter().map(|e| keys::journal(org, &e.run, 1)).collect();
        let reads = keys.chunks(INPUTS_AT_ONCE).map(|some| self.table.get(some));
        for read_at_once in futures::future::join_all(reads).await {
            for item in read_at_once?.into_iter().flatten() {
                let entry: run::Entry = read(item)?;
                for event in entry.events {
                    if let run::Event::Started { meta, inputs } = event {
                        all.insert(meta.id, inputs);
                    }
                }
            }
        }
        Ok(all)
    }
}
