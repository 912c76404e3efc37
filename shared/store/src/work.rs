//! `get_work`: what an agent may claim, what a person may decide. Oldest first, paged, never a scan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use run::{Actor, Code, Refusal, Time, WorkItem};
use serde::{Deserialize, Serialize};

use crate::catalogue::Version;
use crate::error::Error;
use crate::keys;
use crate::lists::{ItemEntry, StepEntry, read};
use crate::merge::{Page, merged};
use crate::store::Store;
use crate::table::{Item, Key, Range};

/// Most steps with an ended lease that one call takes from each shard, the longest ended first. They are few: each is an
/// agent that went away, until another one claims its step.
const EXPIRED_ITEMS: u32 = 2_000;

/// Candidates that are read at a time: each is as large as a submission.
const CANDIDATES_AT_ONCE: usize = 10;

/// Most bytes of candidates on one page, after the first item.
const CANDIDATE_BYTES: usize = 2 * 1024 * 1024;

/// A page of work.
#[derive(Debug)]
pub struct WorkPage<T> {
    /// The work, oldest first.
    pub items: Vec<T>,
    /// The next page's cursor.
    pub next_cursor: Option<String>,
}

/// A work item with the run it belongs to.
#[derive(Debug)]
pub struct PersonWork {
    /// What the list keeps.
    pub entry: ItemEntry,
    /// The work item as the person reads it.
    pub work_item: WorkItem,
}

/// A position in a list, in a cursor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) after: String,
}

/// Opens a cursor that was made for the same caller and filters.
///
/// # Errors
///
/// `invalid` for any other text.
pub(crate) fn opened(store: &Store, bound: &str, cursor: Option<&str>) -> Result<Option<String>, Error> {
    let Some(text) = cursor else { return Ok(None) };
    match store.seal.read_cursor::<Position>(bound, text) {
        Some(position) => Ok(Some(position.after)),
        None => {
            let message = "This cursor is not one that this call returned to you. Leave it out to start from the top.";
            Err(Refusal::new(Code::Invalid, message).issue("cursor: not a cursor of this list").into())
        }
    }
}

/// Everything a cursor is bound to, as one text.
pub(crate) fn bound(tool: &str, org: &str, actor: &Actor, filters: &serde_json::Value) -> String {
    let kind = match actor.kind {
        run::ActorKind::Agent => "agent",
        run::ActorKind::Person => "person",
    };
    run::canonical(&serde_json::json!([tool, org, kind, actor.subject, filters]))
}

impl Store {
    /// Agent steps that the caller may claim: those nobody has, and those whose lease has ended.
    pub async fn agent_work(
        &self,
        org: &str,
        actor: &Actor,
        process: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<WorkPage<StepEntry>, Error> {
        let bound = bound("get_work", org, actor, &serde_json::json!(process));
        let after = opened(self, &bound, cursor)?;
        let now = self.clock.now();
        let ready: Vec<String> = (0..keys::SHARDS).map(|s| keys::ready_partition(org, s)).collect();
        let wanted = |entry: &StepEntry| process.is_none_or(|p| p == entry.process);
        let keep = |item: Item| {
            let sort = item.key.sort.clone();
            let entry: StepEntry = read(item)?;
            Ok(wanted(&entry).then_some((sort, entry)))
        };
        let (page, expired) = futures::join!(
            merged(self.table.as_ref(), &ready, after.as_deref(), false, limit, keep),
            self.expired(org, now)
        );
        let page = page?;
        // An ended lease is filed under its end. Here it takes its place by `readySince`, like every other step.
        let mut found = page.items;
        for entry in expired? {
            let sort = keys::ready(org, &entry.run, &entry.step, entry.ready_since).sort;
            let in_page = after.as_deref().is_none_or(|a| sort.as_str() > a)
                && page.after.as_deref().is_none_or(|end| sort.as_str() <= end);
            if in_page && wanted(&entry) {
                found.push((sort, entry));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let cut = found.len() > limit;
        found.truncate(limit);
        let end = if cut { found.last().map(|(sort, _)| sort.clone()) } else { page.after };
        let next_cursor = end.map(|after| self.seal.cursor(&bound, &Position { after }));
        Ok(WorkPage { items: found.into_iter().map(|(_, entry)| entry).collect(), next_cursor })
    }

    async fn expired(&self, org: &str, now: Time) -> Result<Vec<StepEntry>, Error> {
        let ranges: Vec<Range> = (0..keys::SHARDS)
            .map(|shard| Range {
                partition: keys::leased_partition(org, shard),
                from: None,
                to: Some(keys::until(now)),
                backwards: false,
                limit: Some(EXPIRED_ITEMS),
            })
            .collect();
        let pages = futures::future::join_all(ranges.iter().map(|r| self.table.query(r))).await;
        let mut all = Vec::new();
        for page in pages {
            for item in page? {
                all.push(read(item)?);
            }
        }
        Ok(all)
    }

    /// Open work items whose assignment includes the caller: their own, their groups', and for an operator the
    /// escalations of the operator queue.
    pub async fn person_work(
        &self,
        org: &str,
        actor: &Actor,
        process: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<WorkPage<PersonWork>, Error> {
        let bound = bound("get_work", org, actor, &serde_json::json!(process));
        let after = opened(self, &bound, cursor)?;
        let groups = actor.groups.iter().filter(|g| keys::storable(g));
        let mut inboxes: Vec<String> = groups.map(|g| keys::group_inbox(org, g)).collect();
        inboxes.extend(actor.person.as_deref().filter(|p| keys::storable(p)).map(|p| keys::person_inbox(org, p)));
        if actor.operator {
            inboxes.push(keys::group_inbox(org, &self.settings.operators_group));
        }
        inboxes.sort();
        inboxes.dedup();
        let keep = |item: Item| {
            let sort = item.key.sort.clone();
            let entry: ItemEntry = read(item)?;
            Ok(process.is_none_or(|p| p == entry.process).then_some((sort, entry)))
        };
        let mut page = merged(self.table.as_ref(), &inboxes, after.as_deref(), false, limit, keep).await?;
        let mut candidates = self.candidates(org, &mut page).await?;
        let kept: BTreeSet<(&str, u64)> = page.items.iter().map(|(_, e)| (e.process.as_str(), e.version)).collect();
        let reads = kept.iter().map(|(name, number)| self.version(org, name, *number));
        let versions = futures::future::join_all(reads).await;
        let mut known: BTreeMap<(String, u64), Option<Arc<Version>>> = BTreeMap::new();
        for ((name, number), version) in kept.into_iter().zip(versions) {
            known.insert((name.to_owned(), number), version?);
        }
        let mut items = Vec::new();
        for (_, entry) in page.items {
            let version = known.get(&(entry.process.clone(), entry.version)).cloned().flatten();
            let step = version.as_ref().and_then(|v| v.document.step(&entry.step));
            let Some(step) = step else {
                return Err(Error::Invariant(format!("run {} is at a step its process does not have", entry.run)));
            };
            let whole = candidates.remove(&entry.item.id);
            let item = whole.as_ref().unwrap_or(&entry.item);
            let handoff = entry.handoff.clone();
            let mut work_item = WorkItem::of(&entry.run, entry.mode, step, item, entry.due, &entry.snapshot, handoff);
            self.link_files(org, work_item.files_mut()).await?;
            items.push(PersonWork { entry, work_item });
        }
        let next_cursor = page.after.map(|after| self.seal.cursor(&bound, &Position { after }));
        Ok(WorkPage { items, next_cursor })
    }

    /// The listed items that hold a candidate, with it, by id. The page is cut where candidates become too large for one
    /// answer.
    async fn candidates(
        &self,
        org: &str,
        page: &mut Page<(String, ItemEntry)>,
    ) -> Result<BTreeMap<String, run::Item>, Error> {
        let at = |entry: &ItemEntry| entry.candidate_rev.map(|rev| keys::journal(org, &entry.run, rev));
        let wanted: Vec<(usize, Key)> =
            page.items.iter().enumerate().filter_map(|(n, (_, e))| at(e).map(|key| (n, key))).collect();
        let mut found = BTreeMap::new();
        let mut bytes = 0;
        for some in wanted.chunks(CANDIDATES_AT_ONCE) {
            let keys: Vec<Key> = some.iter().map(|(_, key)| key.clone()).collect();
            for ((n, key), stored) in some.iter().zip(self.table.get(&keys).await?) {
                let Some(entry) = page.items.get(*n).map(|(_, entry)| entry) else { continue };
                let stored = stored.ok_or_else(|| Error::Invariant(format!("the journal has no {}", key.sort)))?;
                bytes += stored.doc.to_string().len();
                let before = n.checked_sub(1).and_then(|last| page.items.get(last));
                if let Some((sort, _)) = before.filter(|_| bytes > CANDIDATE_BYTES) {
                    page.after = Some(sort.clone());
                    page.items.truncate(*n);
                    return Ok(found);
                }
                let escalated = read::<run::Entry>(stored)?.events.into_iter().find_map(|event| match event {
                    run::Event::Escalated { item, .. } if item.id == entry.item.id => Some(item),
                    _ => None,
                });
                let item = escalated
                    .ok_or_else(|| Error::Invariant(format!("{} escalated nothing to {}", key.sort, entry.item.id)))?;
                found.insert(entry.item.id.clone(), item);
            }
        }
        Ok(found)
    }
}
