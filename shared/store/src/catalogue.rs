//! Processes: drafts, published versions, and which version is the latest (core §6.5, §7).
//!
//! A published version never changes, so it is read once and kept in memory; what changes is which one is the latest.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use process::{Document, ReadOptions};
use run::{Code, Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::guided::GraphPin;
use crate::keys;
use crate::lists::read;
use crate::request::{Did, Record};
use crate::store::Store;
use crate::table::Range;
use crate::work::{Position, bound, opened};

/// Most versions kept in memory. One is at most 200 KB of text.
const KEPT_VERSIONS: usize = 256;

/// A published version, ready to run.
#[derive(Debug)]
pub struct Version {
    /// Its number, from 1.
    pub number: u64,
    /// The process as published.
    pub document: Document,
    /// Role name to group id.
    pub roles: BTreeMap<String, String>,
    /// By step, what its graph is pinned to (graph-1).
    pub graphs: BTreeMap<String, GraphPin>,
    /// The content hash, lower-case hex (core §6.5).
    pub hash: String,
    /// PROCESS.md exactly as imported.
    pub source: String,
    /// Who published it.
    pub published_by: String,
    /// When.
    pub published_at: Time,
}

/// The versions in memory.
#[derive(Default)]
pub(crate) struct Versions(Mutex<HashMap<(String, String, u64), Arc<Version>>>);

impl Versions {
    fn get(&self, key: &(String, String, u64)) -> Option<Arc<Version>> {
        self.0.lock().ok()?.get(key).cloned()
    }

    fn keep(&self, key: (String, String, u64), version: Arc<Version>) {
        if let Ok(mut kept) = self.0.lock() {
            if kept.len() >= KEPT_VERSIONS
                && let Some(some) = kept.keys().next().cloned()
            {
                kept.remove(&some);
            }
            kept.insert(key, version);
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionDoc {
    pub(crate) number: u64,
    pub(crate) source: String,
    pub(crate) hash: String,
    pub(crate) roles: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) graphs: BTreeMap<String, GraphPin>,
    pub(crate) published_by: String,
    pub(crate) published_at: Time,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftDoc {
    pub(crate) source: String,
    pub(crate) hash: String,
    pub(crate) imported_by: String,
    pub(crate) imported_at: Time,
}

/// A process in the catalogue: its latest version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What it does and when to start it.
    pub description: String,
    /// The latest version's number.
    pub version: u64,
    /// The declared inputs, as the file has them.
    pub inputs: Map<String, Value>,
    /// `requires.systems`, when declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub systems: Option<Vec<String>>,
}

/// An imported draft.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The process as imported.
    pub document: Document,
    /// PROCESS.md exactly as imported.
    pub source: String,
    /// The content hash it would be published with.
    pub hash: String,
    /// What reads well but may not be meant, as `line:column: message`.
    pub warnings: Vec<String>,
}

/// Everything that is known of a process.
#[derive(Debug, Clone)]
pub struct Known {
    /// The asked-for version, or the latest one; `None` while there is only a draft.
    pub version: Option<Arc<Version>>,
    /// The number of the latest version; 0 while there is only a draft.
    pub latest: u64,
    /// The draft, when one was imported since the last publication.
    pub draft: Option<Draft>,
}

/// Reads a PROCESS.md to the document and the warnings, or says everything that is wrong with it. What is stored is read
/// with everything allowed: a run keeps its version, whatever the server offers since.
pub(crate) fn parse(source: &str, options: &ReadOptions<'_>) -> Result<(Document, Vec<String>), Vec<String>> {
    let reading = process::read_with(source.as_bytes(), options);
    let of = |severity| reading.problems.iter().filter(move |p| p.severity == severity).map(ToString::to_string);
    let issues: Vec<String> = of(process::Severity::Error).collect();
    let warnings: Vec<String> = of(process::Severity::Warning).collect();
    match reading.document {
        Some(document) if issues.is_empty() => Ok((document, warnings)),
        _ => Err(issues),
    }
}

pub(crate) fn no_process(name: &str) -> Error {
    Error::refused(Code::NotFound, format!("No process `{name}` here. Call list_processes for the published ones."))
}

impl Store {
    /// A published version; `None` when there is none with this number.
    pub async fn version(&self, org: &str, name: &str, number: u64) -> Result<Option<Arc<Version>>, Error> {
        let key = (org.to_owned(), name.to_owned(), number);
        if let Some(version) = self.versions.get(&key) {
            return Ok(Some(version));
        }
        let found = self.table.get(&[keys::version(org, name, number)]).await?;
        let Some(item) = found.into_iter().flatten().next() else { return Ok(None) };
        let stored: VersionDoc = read(item)?;
        let (document, _) = parse(&stored.source, &ReadOptions::default()).map_err(|issues| {
            Error::Invariant(format!("published process {name} version {number} does not read: {issues:?}"))
        })?;
        let version = Arc::new(Version {
            number,
            document,
            roles: stored.roles,
            graphs: stored.graphs,
            hash: stored.hash,
            source: stored.source,
            published_by: stored.published_by,
            published_at: stored.published_at,
        });
        self.versions.keep(key, version.clone());
        Ok(Some(version))
    }

    /// The version that a run keeps.
    pub(crate) async fn version_of(&self, org: &str, meta: &run::Meta) -> Result<Arc<Version>, Error> {
        self.version(org, &meta.process, meta.version).await?.ok_or_else(|| {
            Error::Invariant(format!("run {} keeps {} version {}, which is gone", meta.id, meta.process, meta.version))
        })
    }

    /// The catalogue's entry of one process.
    pub(crate) async fn latest(&self, org: &str, name: &str) -> Result<Option<Listed>, Error> {
        let found = self.table.get(&[keys::catalogue(org, name)]).await?;
        found.into_iter().flatten().next().map(read).transpose()
    }

    /// Published processes by name, after this one, at most so many.
    pub async fn processes(&self, org: &str, after: Option<&str>, most: u32) -> Result<Vec<Listed>, Error> {
        let range = Range {
            partition: keys::catalogue_partition(org),
            // A name has no character below `-`, so this is the least key above it.
            from: after.map(|name| format!("{name} ")),
            to: None,
            backwards: false,
            limit: Some(most),
        };
        self.table.query(&range).await?.into_iter().map(read).collect()
    }

    /// A page of published processes, by name.
    ///
    /// # Errors
    ///
    /// `invalid` for a cursor that this list did not return to this caller.
    pub async fn list_processes(
        &self,
        org: &str,
        actor: &run::Actor,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<(Vec<Listed>, Option<String>), Error> {
        let bound = bound("list_processes", org, actor, &Value::Null);
        let after = opened(self, &bound, cursor)?;
        let most = u32::try_from(limit).unwrap_or(u32::MAX).saturating_add(1);
        let mut list = self.processes(org, after.as_deref(), most).await?;
        let more = list.len() > limit;
        list.truncate(limit);
        let end = list.last().filter(|_| more).map(|l| l.name.clone());
        Ok((list, end.map(|after| self.seal.cursor(&bound, &Position { after }))))
    }

    /// What is known of a process.
    pub async fn process(&self, org: &str, name: &str, number: Option<u64>) -> Result<Known, Error> {
        if !keys::storable(name) {
            return Err(no_process(name));
        }
        let found = self.table.get(&[keys::draft(org, name), keys::catalogue(org, name)]).await?;
        let mut found = found.into_iter();
        let draft: Option<DraftDoc> = found.next().flatten().map(read).transpose()?;
        let latest: Option<Listed> = found.next().flatten().map(read).transpose()?;
        let latest = latest.map_or(0, |l| l.version);
        let draft = match draft {
            Some(stored) => {
                let (document, warnings) = parse(&stored.source, &ReadOptions::default()).map_err(|issues| {
                    let message = format!("The draft of `{name}` cannot be run any more. Import its PROCESS.md again.");
                    Refusal::new(Code::Invalid, message).issues(issues)
                })?;
                Some(Draft { document, source: stored.source, hash: stored.hash, warnings })
            }
            None => None,
        };
        let version = match number.unwrap_or(latest) {
            0 => None,
            number => self.version(org, name, number).await?,
        };
        if version.is_none() && (number.is_some() || draft.is_none()) {
            return match number {
                Some(number) if latest > 0 => {
                    let message = format!("`{name}` has no version {number}; the latest is {latest}.");
                    Err(Error::refused(Code::NotFound, message))
                }
                _ => Err(no_process(name)),
            };
        }
        Ok(Known { version, latest, draft })
    }

    /// The version a new run keeps: the asked-for one, or the latest.
    pub(crate) async fn version_to_start(
        &self,
        org: &str,
        name: &str,
        number: Option<u64>,
    ) -> Result<Arc<Version>, Error> {
        if !keys::storable(name) {
            return Err(no_process(name));
        }
        let number = match number {
            Some(number) => number,
            None => self.latest(org, name).await?.ok_or_else(|| no_process(name))?.version,
        };
        match self.version(org, name, number).await? {
            Some(version) => Ok(version),
            None => match self.latest(org, name).await? {
                Some(latest) => {
                    let message = format!("`{name}` has no version {number}; the latest is {}.", latest.version);
                    Err(Error::refused(Code::NotFound, message))
                }
                None => Err(no_process(name)),
            },
        }
    }
}

/// The recorded answer of a call that is not about a run.
pub(crate) fn other(record: Record) -> Result<Value, Error> {
    match record.did {
        Did::Other(value) => Ok(value),
        Did::Run(_) => Err(Error::Invariant("a request record says that a run was moved".to_owned())),
    }
}
