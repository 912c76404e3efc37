//! A run's partition as it is read: the journal and the attempts, in one query.

use std::collections::BTreeMap;

use run::{Attempt, Entry, Run, fold};

use crate::error::Error;
use crate::keys;
use crate::lists::read;
use crate::table::{Item, Range, Table};

/// Everything that is stored of a run.
#[derive(Debug, Clone)]
pub struct Partition {
    /// The journal, oldest first; never empty.
    pub entries: Vec<Entry>,
    /// The run after all of it.
    pub run: Run,
    /// The stored attempts, by step.
    pub attempts: BTreeMap<String, Attempt>,
}

impl Partition {
    /// Reads a run; `None` when there is none.
    pub async fn load(table: &dyn Table, org: &str, id: &str) -> Result<Option<Partition>, Error> {
        if !keys::storable(id) {
            return Ok(None);
        }
        let range = Range { partition: keys::run(org, id), from: None, to: None, backwards: false, limit: None };
        Partition::of(table.query(&range).await?)
    }

    fn of(items: Vec<Item>) -> Result<Option<Partition>, Error> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut attempts = BTreeMap::new();
        for item in items {
            match keys::attempt_step(&item.key.sort).map(str::to_owned) {
                Some(step) => {
                    attempts.insert(step, read::<Attempt>(item)?);
                }
                None => entries.push(read(item)?),
            }
        }
        match fold(&entries)? {
            Some(run) => Ok(Some(Partition { entries, run, attempts })),
            None => Ok(None),
        }
    }

    /// The run as it was after this revision.
    pub fn at(&self, rev: u64) -> Result<Run, Error> {
        if rev == self.run.rev {
            return Ok(self.run.clone());
        }
        fold(self.entries.iter().take_while(|e| e.rev <= rev))?
            .filter(|run| run.rev == rev)
            .ok_or_else(|| Error::Invariant(format!("run {} has no revision {rev}", self.run.meta.id)))
    }
}
