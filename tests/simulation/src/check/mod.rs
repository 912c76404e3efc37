//! The checker: looks at what is stored after every transaction and at every answer, and says what must not be so.
//!
//! It keeps its own copy of what is stored, read back from the table key by key, and follows each run's journal with
//! rules of its own ([`follow`]). Folding and list entries are the product's functions; that they are what is stored is
//! what is checked here.

mod accept;
mod asked;
mod completed;
mod escalated;
mod follow;
mod graphs;
mod leases;
mod regions;
mod seen;
mod verdict;
mod whole;

use std::collections::BTreeMap;

use run::{Attempt, Entry, Event, Run};
use serde_json::Value;
use store::lists;
use store::request::{Did, Record};
use store::table::{Item, Key};

use crate::calls::{Answer, Call};
pub use asked::Making;
use follow::Follow;
use graphs::{Graphs, Stored};

/// What is known of one run.
#[derive(Debug, Default)]
pub struct RunCopy {
    /// The journal.
    pub entries: Vec<Entry>,
    /// The journal folded.
    pub run: Option<Run>,
    /// The attempts.
    pub attempts: BTreeMap<String, Attempt>,
    /// The list entries.
    pub lists: BTreeMap<Key, Value>,
    follow: Follow,
    /// What each attempt remembers to have failed a check, and since which transaction.
    failed: BTreeMap<String, (String, u64)>,
    /// The submissions that have such names.
    names: BTreeMap<String, Value>,
}

/// What is known of one `requestId`.
#[derive(Debug, Default)]
struct Known {
    written: Option<(u64, Record)>,
    answer: Option<Value>,
    call: Option<Call>,
    made: Vec<asked::Made>,
    refusals: u64,
    unknown: u64,
}

/// What a transaction did to a run: the attempts before it, and the entry it wrote.
type Touched = (BTreeMap<String, Attempt>, Option<Entry>);

/// The checker.
#[derive(Debug, Default)]
pub struct Checker {
    /// Transactions so far.
    pub transactions: u64,
    /// Runs by organization and id.
    pub runs: BTreeMap<(String, String), RunCopy>,
    requests: BTreeMap<(String, String), Known>,
    versions: BTreeMap<(String, String, u64), process::Document>,
    numbers: BTreeMap<String, u64>,
    /// Notices by run and revision, sent or not.
    notices: BTreeMap<(String, String, u64), usize>,
    /// Graphs and their runs.
    pub graphs: Graphs,
    /// What happened that no journal tells.
    noted: Vec<&'static str>,
}

fn segments(key: &Key) -> Vec<&str> {
    key.partition.split('/').collect()
}

fn read<T: serde::de::DeserializeOwned>(item: &Item) -> T {
    serde_json::from_value(item.doc.clone()).unwrap()
}

impl Checker {
    /// Looks at what a transaction left under the keys it wrote. Returns everything that must not be so.
    pub fn written(&mut self, stored: &[(Key, Option<Item>)]) -> Vec<String> {
        self.transactions += 1;
        let mut bad = Vec::new();
        let mut touched: BTreeMap<(String, String), Touched> = BTreeMap::new();
        let mut record: Option<(String, Record)> = None;
        let mut of_graphs = Vec::new();
        for (key, item) in stored {
            let parts = segments(key);
            match (parts[0], item) {
                ("run", item) => {
                    let id = (parts[1].to_owned(), parts[2].to_owned());
                    let copy = self.runs.entry(id.clone()).or_default();
                    let touch = touched.entry(id).or_insert_with(|| (copy.attempts.clone(), None));
                    match (key.sort.split_at(2), item) {
                        (("j/", rev), Some(item)) => {
                            let rev: usize = rev.parse().unwrap();
                            let entry: Entry = read(item);
                            if rev != copy.entries.len() + 1 || entry.rev as usize != rev {
                                let held = copy.entries.len();
                                bad.push(format!("journal entry {rev} was written onto a journal of {held}: {key:?}"));
                                continue;
                            }
                            if copy.entries.last().is_some_and(|last| last.at > entry.at) {
                                bad.push(format!("time goes back at {key:?}"));
                            }
                            copy.entries.push(entry.clone());
                            touch.1 = Some(entry);
                        }
                        (("a/", step), Some(item)) => {
                            let attempt: Attempt = read(item);
                            copy.remembers(step, Some(&attempt), self.transactions);
                            copy.attempts.insert(step.to_owned(), attempt);
                        }
                        (("a/", step), None) => {
                            copy.remembers(step, None, self.transactions);
                            copy.attempts.remove(step);
                        }
                        _ => bad.push(format!("{key:?} was removed")),
                    }
                }
                ("request", Some(item)) => {
                    let id = (parts[1].to_owned(), parts[2].to_owned());
                    let now: Record = read(item);
                    let known = self.requests.entry(id.clone()).or_default();
                    if known.written.is_some() {
                        bad.push(format!("request {id:?} was recorded twice"));
                    }
                    known.written = Some((self.transactions, now.clone()));
                    record = Some((id.1, now));
                }
                ("process", Some(item)) if key.sort.starts_with("v/") => {
                    let number = item.doc["number"].as_u64().unwrap();
                    let source = item.doc["source"].as_str().unwrap();
                    let document = process::read(source.as_bytes()).document.unwrap();
                    if item.doc["hash"] != process::content_hash(&document) {
                        bad.push(format!("{key:?} has another content hash"));
                    }
                    let (org, name) = (parts[1].to_owned(), parts[2].to_owned());
                    let known = self.versions.keys().filter(|k| k.0 == org && k.1 == name).count() as u64;
                    if number != known + 1 {
                        bad.push(format!("{key:?} was published when there were {known} versions"));
                    }
                    self.versions.insert((org, name, number), document);
                }
                ("ready" | "leased" | "inbox" | "runs" | "timer", item) => {
                    bad.extend(self.listed(key, item.as_ref()));
                }
                ("outbox" | "notices", Some(item)) => {
                    let notices: lists::Notices = read(item);
                    self.notices.insert((notices.org, notices.run, notices.rev), notices.notices.len());
                }
                ("graphrun", item) => of_graphs.push((parts[1].to_owned(), parts[2].to_owned(), key, item.as_ref())),
                ("provider", item) => bad.extend(self.graphs.published(parts[1], key, item.as_ref())),
                ("providers", item) => bad.extend(self.graphs.listed(parts[1], key, item.as_ref())),
                ("catalogue" | "file", Some(_)) | ("process", _) | ("outbox", None) => {}
                _ => bad.push(format!("{key:?} was removed")),
            }
        }
        for (org, run, key, item) in of_graphs {
            let request = record.as_ref().and_then(|(id, _)| self.requests.get(&(org.clone(), id.clone())));
            let (record, call) =
                (record.as_ref().map(|(_, record)| record), request.and_then(|known| known.call.as_ref()));
            bad.extend(self.graphs.written(&Stored { org: &org, run: &run, key, item, record, call }));
        }
        for (id, (attempts, entry)) in touched {
            bad.extend(self.moved(&id, &attempts, entry, record.as_ref()));
        }
        bad
    }

    /// A list entry was put or removed.
    fn listed(&mut self, key: &Key, item: Option<&Item>) -> Option<String> {
        let Some(item) = item else {
            // Whose it was is known to whoever holds it.
            self.runs.values_mut().for_each(|copy| {
                copy.lists.remove(key);
            });
            return None;
        };
        let parts = segments(key);
        let org = item.doc.get("org").and_then(Value::as_str).unwrap_or(parts[1]);
        let run = item.doc["run"].as_str().unwrap();
        self.runs.entry((org.to_owned(), run.to_owned())).or_default().lists.insert(key.clone(), item.doc.clone());
        None
    }

    /// A run or one of its attempts moved.
    fn moved(
        &mut self,
        id: &(String, String),
        before: &BTreeMap<String, Attempt>,
        entry: Option<Entry>,
        record: Option<&(String, Record)>,
    ) -> Vec<String> {
        let mut bad = Vec::new();
        let copy = self.runs.get_mut(id).unwrap();
        let run = match run::fold(&copy.entries) {
            Ok(Some(run)) => run,
            other => return vec![format!("the journal of {id:?} does not fold: {other:?}")],
        };
        copy.run = Some(run.clone());
        let meta = &run.meta;
        let Some(document) = self.versions.get(&(id.0.clone(), meta.process.clone(), meta.version)) else {
            return vec![format!("{id:?} keeps a version that is not published")];
        };
        let request = record.and_then(|(request, _)| self.requests.get(&(id.0.clone(), request.clone())));
        if let Some(entry) = &entry {
            bad.extend(copy.follow.entry(document, entry, request).into_iter().map(|b| format!("{id:?}: {b}")));
            bad.extend(Checker::given_back(copy, document, entry));
            if leases::outlived(before, entry) {
                self.noted.push("a lease that ended while the evaluator thought");
            }
            if request
                .is_some_and(|r| r.made.iter().any(|m| m.asked_at.is_some() && m.journal + 1 < copy.entries.len()))
            {
                self.noted.push("others wrote while the evaluator thought");
            }
            for (at, timer) in run::timers(&run) {
                if at <= entry.at {
                    bad.push(format!("{id:?} moved at {} and left {timer:?} of {at} unapplied", entry.at));
                }
            }
            let told = told(&run, entry);
            let filed = self.notices.get(&(id.0.clone(), id.1.clone(), entry.rev)).copied().unwrap_or(0);
            if told != filed {
                bad.push(format!("{id:?} revision {} owes {told} notices, filed {filed}", entry.rev));
            }
        }
        match lists::entries(&id.0, &run, &copy.attempts) {
            Ok(entries) if entries == copy.lists => {}
            Ok(entries) => bad.push(format!("the lists of {id:?} disagree with it: {}", differ(&entries, &copy.lists))),
            Err(e) => bad.push(format!("the lists of {id:?} cannot be made: {e}")),
        }
        match (record, &entry) {
            (Some((request, record)), _) => bad.extend(recorded(id, request, record, &run, entry.as_ref())),
            (None, Some(entry)) if entry.tool != "timer" => {
                bad.push(format!("{id:?} revision {} has no request record", entry.rev));
            }
            _ => {}
        }
        bad.extend(leases::wrong(before, &copy.attempts, record.map(|(_, r)| r), entry.as_ref(), request));
        if run.ended.is_some() && !copy.attempts.is_empty() {
            bad.push(format!("{id:?} has ended and keeps attempts {:?}", copy.attempts.keys()));
        }
        bad
    }

    /// A call was answered.
    pub fn answered(&mut self, call: &Call, making: &Making, answer: &Answer) -> Vec<String> {
        let id = (call.org.to_owned(), call.id.clone());
        let known = self.requests.entry(id).or_default();
        let invoked = known.made[making.2].invoked;
        let name = format!("request {} of {}", call.id, call.org);
        let mut bad = Vec::new();
        match answer {
            Answer::Nothing => known.unknown += 1,
            Answer::Refused(code, issues) => {
                known.refusals += 1;
                if known.written.as_ref().is_some_and(|(at, _)| *at <= invoked) {
                    bad.push(format!("{name} was written, then refused: {code} {issues:?}"));
                }
                if issues.iter().any(|line| line.starts_with("check: ")) {
                    bad.extend(self.not_passed(call, making, issues));
                }
            }
            Answer::Done(value) => {
                if known.written.is_none() {
                    bad.push(format!("{name} was answered and is not recorded"));
                }
                let record = known.written.as_ref().map(|(_, record)| record);
                bad.extend(self.graphs.answered(call, record, value));
                match &known.answer {
                    Some(first) if first != value => {
                        bad.push(format!("{name} was answered twice and differently:\n{first}\n{value}"));
                    }
                    Some(_) => {}
                    None => known.answer = Some(value.clone()),
                }
            }
        }
        bad
    }

    /// A number that no call of this organization has had.
    pub fn fresh(&mut self, org: &str) -> u64 {
        let number = self.numbers.entry(org.to_owned()).or_default();
        *number += 1;
        *number
    }

    /// Some earlier call that was answered, to be made again.
    pub fn earlier(&self, pick: impl FnOnce(usize) -> usize) -> Option<Call> {
        let answered: Vec<&Call> =
            self.requests.values().filter(|k| k.answer.is_some()).filter_map(|k| k.call.as_ref()).collect();
        (!answered.is_empty()).then(|| answered[pick(answered.len())].clone())
    }

    /// Whether the organization has published this process.
    pub fn published(&self, org: &str, name: &str) -> bool {
        self.versions.keys().any(|k| k.0 == org && k.1 == name)
    }

    /// The document that a run keeps.
    pub fn document(&self, org: &str, run: &str) -> Option<process::Document> {
        let meta = &self.runs.get(&(org.to_owned(), run.to_owned()))?.run.as_ref()?.meta;
        self.versions.get(&(org.to_owned(), meta.process.clone(), meta.version)).cloned()
    }
}

/// How many notices an entry owes.
fn told(run: &Run, entry: &Entry) -> usize {
    if run.meta.mode == run::Mode::Test {
        return 0;
    }
    let owed = |e: &&Event| match e {
        Event::Assigned { item, .. } | Event::Escalated { item, .. } | Event::Returned { item: Some(item), .. } => {
            run.open_item(&item.id).is_some()
        }
        e => matches!(e, Event::Overdue { .. }),
    };
    entry.events.iter().filter(owed).count()
}

/// A request record and what was written with it tell one story.
fn recorded(id: &(String, String), request: &str, record: &Record, run: &Run, entry: Option<&Entry>) -> Option<String> {
    let Did::Run(write) = &record.did else {
        return Some(format!("request {request} moved {id:?} and does not say so"));
    };
    let subject = record.caller.split_once(':').map_or("", |(_, s)| s);
    let same = write.run == id.1
        && write.rev == run.rev
        && match entry {
            Some(entry) => entry.by == subject && entry.tool == record.tool && entry.at == record.at,
            None => matches!(record.tool.as_str(), "claim" | "renew"),
        };
    (!same).then(|| format!("request {request} of {id:?} does not match what was written: {record:?} {entry:?}"))
}

/// Where two sets of list entries differ.
pub(crate) fn differ(right: &BTreeMap<Key, Value>, stored: &BTreeMap<Key, Value>) -> String {
    let mut lines = Vec::new();
    for (key, value) in right {
        match stored.get(key) {
            None => lines.push(format!("missing {} {}", key.partition, key.sort)),
            Some(other) if other != value => {
                lines.push(format!("{} {}: {other} is not {value}", key.partition, key.sort))
            }
            Some(_) => {}
        }
    }
    for key in stored.keys().filter(|k| !right.contains_key(*k)) {
        lines.push(format!("left behind {} {}", key.partition, key.sort));
    }
    lines.join("; ")
}
