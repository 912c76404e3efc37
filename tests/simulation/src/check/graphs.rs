//! Runs of Graphs as they are stored: followed event by event with rules of their own, and held to every answer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use store::request::{Did, Record};
use store::table::{Item, Key};

use crate::calls::{Act, Call};
use crate::graphs::{GraphAct, KEYS};

/// Where a run stands after an event.
#[derive(Debug, Clone, Default, PartialEq)]
struct Standing {
    facts: Map<String, Value>,
    outcomes: BTreeMap<String, String>,
    authorities: BTreeSet<String>,
}

/// One event that was stored.
#[derive(Debug)]
struct Event {
    kind: &'static str,
    after: Standing,
}

/// One run: the number of its first stored event, and all of them.
#[derive(Debug)]
struct Followed {
    first: u64,
    digest: String,
    events: Vec<Event>,
    at: String,
}

impl Followed {
    fn last(&self) -> u64 {
        self.first + self.events.len() as u64 - 1
    }

    fn event(&self, sequence: u64) -> Option<&Event> {
        self.events.get(usize::try_from(sequence.checked_sub(self.first)?).unwrap())
    }
}

/// The nodes in the order in which each opens the next one by being completed.
const ORDER: [&str; 4] = ["main/make", "main/approve", "main/checks>checks/lint", "main/sign"];

/// Whether a node is open: all before it are completed, and of itself nothing is said, or that it is to be done.
fn open(at: &Standing, node: &str) -> bool {
    let said = |node: &str| at.outcomes.get(node).map(String::as_str);
    ORDER.iter().take_while(|before| **before != node).all(|before| said(before) == Some("completed"))
        && said(node).is_none_or(|said| said == "pending")
}

/// What is known of Graphs.
#[derive(Debug, Default)]
pub struct Graphs {
    runs: BTreeMap<(String, String), Followed>,
    /// Digest by organization and version.
    versions: BTreeMap<(String, String), String>,
    /// How many items there must be of each kind.
    pub(super) stored: BTreeMap<&'static str, usize>,
    seen: Vec<&'static str>,
}

/// An event that a transaction stored.
pub(super) struct Stored<'a> {
    pub(super) org: &'a str,
    pub(super) run: &'a str,
    pub(super) key: &'a Key,
    pub(super) item: Option<&'a Item>,
    /// The record of the request in the same transaction, and its call.
    pub(super) record: Option<&'a Record>,
    pub(super) call: Option<&'a Call>,
}

impl Graphs {
    /// The runs of an organization.
    pub fn runs_of(&self, org: &str) -> Vec<String> {
        self.runs.keys().filter(|(of, _)| of == org).map(|(_, run)| run.clone()).collect()
    }

    /// The checkpoints of an organization.
    pub fn checkpoints_of(&self, org: &str) -> Vec<String> {
        let of = self.runs.iter().filter(|((of, _), _)| of == org);
        of.flat_map(|((_, run), followed)| {
            let noted = (followed.first..).zip(&followed.events).filter(|(_, event)| event.kind == "checkpointed");
            noted.map(move |(sequence, _)| format!("{run}@{sequence}"))
        })
        .collect()
    }

    /// Several callers changed a run at one moment.
    pub fn met(&mut self) {
        self.seen.push("events of a graph's run at once");
    }

    pub(super) fn seen(&self) -> impl Iterator<Item = &'static str> {
        self.seen.iter().copied()
    }

    /// An event was stored.
    pub(super) fn written(&mut self, stored: &Stored<'_>) -> Vec<String> {
        let name = format!("{}/{} {}", stored.org, stored.run, stored.key.sort);
        match self.follow(stored) {
            Ok(()) => Vec::new(),
            Err(bad) => bad.into_iter().map(|what| format!("the Graph's run {name}: {what}")).collect(),
        }
    }

    fn follow(&mut self, stored: &Stored<'_>) -> Result<(), Vec<String>> {
        let one = |what: &str| vec![what.to_owned()];
        let item = stored.item.ok_or_else(|| one("an event was removed"))?;
        let (Some(record), Some(call)) = (stored.record, stored.call) else {
            return Err(one("an event has no request record that was written with it"));
        };
        let sequence: u64 =
            stored.key.sort.strip_prefix("j/").and_then(|n| n.parse().ok()).ok_or_else(|| one("no event"))?;
        let mut bad = Vec::new();
        let entry = &item.doc;
        if entry["sequence"] != sequence {
            bad.push(format!("it says that it is {}", entry["sequence"]));
        }
        let told = match &record.did {
            Did::Other(told) => told["graphRun"] == stored.run && told["sequence"] == sequence,
            Did::Run(_) => false,
        };
        let (kind, subject) = record.caller.split_once(':').unwrap_or_default();
        let at = entry["at"].as_str().unwrap().to_owned();
        let by = entry["by"] == subject && entry["kind"] == kind;
        if !told || !by || entry["tool"] != record.tool.as_str() || record.at.to_string() != at {
            bad.push(format!("the record of its request tells something else: {record:?}"));
        }
        let id = (stored.org.to_owned(), stored.run.to_owned());
        let before = self.runs.get(&id);
        if let Some(before) = before {
            if sequence != before.last() + 1 {
                bad.push(format!("it was stored after event {}", before.last()));
            }
            if before.at > at {
                bad.push("time goes back".to_owned());
            }
        }
        let standing = before.and_then(|b| b.events.last()).map(|event| event.after.clone());
        let (kind, after, began) = self.after(stored.org, sequence, standing.as_ref(), &entry["event"], call)?;
        bad.extend(self.allowed(&id, standing.as_ref(), kind, &entry["event"], call));
        match began {
            Some(digest) => {
                let begun = Followed { first: sequence, digest, events: vec![Event { kind, after }], at };
                if self.runs.insert(id, begun).is_some() {
                    bad.push("it began twice".to_owned());
                }
            }
            None => {
                let followed = self.runs.get_mut(&id).ok_or_else(|| one("it did not begin"))?;
                followed.events.push(Event { kind, after });
                followed.at = at;
            }
        }
        *self.stored.entry("graphrun").or_default() += 1;
        if bad.is_empty() { Ok(()) } else { Err(bad) }
    }

    /// What an event makes of where the run stood, and the digest it keeps when it begins one.
    fn after(
        &mut self,
        org: &str,
        sequence: u64,
        before: Option<&Standing>,
        event: &Value,
        call: &Call,
    ) -> Result<(&'static str, Standing, Option<String>), Vec<String>> {
        let Act::Graph(act) = &call.act else { return Err(vec![format!("it is of another call: {call:?}")]) };
        let mut after = before.cloned().unwrap_or_default();
        let digest = |begun: &Value| begun["provider"]["digest"].as_str().map(str::to_owned);
        let same =
            |what: bool| if what { Ok(()) } else { Err(vec![format!("{event} is not what was asked: {act:?}")]) };
        let (kind, began) = match (event.as_object().and_then(|e| e.iter().next()), act) {
            (Some((kind, begun)), GraphAct::Start { version, facts }) if kind == "started" => {
                same(begun["facts"].as_object() == Some(facts))?;
                let kept = begun["provider"]["version"].as_str().unwrap();
                let known = self.versions.get(&(org.to_owned(), kept.to_owned()));
                same(known.is_some() && known == digest(begun).as_ref() && version.is_none_or(|v| v == kept))?;
                after.facts = facts.clone();
                same(sequence == 1)?;
                ("started", digest(begun))
            }
            (Some((kind, begun)), GraphAct::Resume(name)) if kind == "resumed" => {
                let (run, at) = name.rsplit_once('@').ok_or_else(|| vec![format!("{name} is no checkpoint")])?;
                let at: u64 = at.parse().unwrap();
                let from = self.runs.get(&(org.to_owned(), run.to_owned()));
                let noted = from.and_then(|from| from.event(at)).filter(|event| event.kind == "checkpointed");
                let noted = noted.ok_or_else(|| vec![format!("{name} is no checkpoint")])?;
                same(from.map(|from| &from.digest) == digest(begun).as_ref() && sequence == at + 1)?;
                after = Standing { authorities: BTreeSet::new(), ..noted.after.clone() };
                self.seen.push("a graph's run resumed");
                ("resumed", digest(begun))
            }
            (
                Some((kind, told)),
                GraphAct::Change { command: store::GraphCommand::Record { node, outcome, detail, .. }, .. },
            ) if kind == "recorded" => {
                let word = serde_json::to_value(outcome).unwrap();
                same(
                    told["node"] == node.as_str() && told["outcome"] == word && told.get("detail") == detail.as_ref(),
                )?;
                after.outcomes.insert(node.clone(), word.as_str().unwrap().to_owned());
                ("recorded", None)
            }
            (Some((kind, told)), GraphAct::Change { command: store::GraphCommand::Facts { facts, replace }, .. })
                if kind == "facts" =>
            {
                same(told["facts"].as_object() == Some(facts) && told["replace"] == *replace)?;
                if *replace {
                    after.facts.clear();
                }
                after.facts.extend(facts.clone());
                ("facts", None)
            }
            (
                Some((kind, told)),
                GraphAct::Change { command: store::GraphCommand::Authorities { authorities }, .. },
            ) if kind == "authorities" => {
                same(told["authorities"] == serde_json::to_value(authorities).unwrap())?;
                after.authorities = authorities.iter().cloned().collect();
                ("authorities", None)
            }
            (None, GraphAct::Change { command: store::GraphCommand::Checkpoint, .. }) if event == "checkpointed" => {
                ("checkpointed", None)
            }
            _ => return Err(vec![format!("{event} is not what was asked: {act:?}")]),
        };
        Ok((kind, after, began))
    }

    /// What was not allowed about an event.
    fn allowed(
        &mut self,
        id: &(String, String),
        before: Option<&Standing>,
        kind: &str,
        event: &Value,
        call: &Call,
    ) -> Vec<String> {
        let person = call.actor.kind == run::ActorKind::Person;
        let mut bad = Vec::new();
        if kind == "authorities" && !person {
            bad.push(format!("{} gave authorities", call.actor.subject));
        }
        let (Some(before), "recorded") = (before, kind) else { return bad };
        let node = event["recorded"]["node"].as_str().unwrap();
        if !KEYS.contains(&node) {
            bad.push(format!("there is no node {node} to record"));
        }
        if !person && node == "main/sign" {
            bad.push("an agent resolved a gate that is not to be delegated".to_owned());
        }
        let gate = ["main/approve", "main/sign"].contains(&node);
        match (open(before, node), before.outcomes.contains_key(node) && !gate) {
            (true, _) => {}
            (false, true) => self.seen.push("an outcome corrected"),
            (false, false) => bad.push(format!("{node} was recorded while it was not open, at {before:?}")),
        }
        if !person && node == "main/approve" {
            if !before.authorities.contains("lead") {
                bad.push(format!("an agent resolved a gate at {before:?}"));
            }
            self.seen.push("a gate resolved by an authority");
        }
        if let Act::Graph(GraphAct::Change { seen: Some(seen), .. }) = &call.act {
            let there = self.runs.get(id).and_then(|run| run.event(*seen)).map(|event| &event.after);
            if there != Some(before) {
                bad.push(format!(
                    "it was recorded for the revision after event {seen}, and the run has moved on since"
                ));
            }
            self.seen.push("an outcome for a revision");
        }
        bad
    }

    /// A version was stored: once, and never otherwise.
    pub(super) fn published(&mut self, org: &str, key: &Key, item: Option<&Item>) -> Vec<String> {
        let Some(item) = item else { return vec![format!("{key:?} was removed")] };
        let text = |name: &str| item.doc[name].as_str().unwrap().to_owned();
        *self.stored.entry("provider").or_default() += 1;
        if key.sort == format!("d/{}", text("digest")) {
            return Vec::new();
        }
        if key.sort != format!("v/{}", text("version")) {
            return vec![format!("{key:?} holds another version: {}", item.doc)];
        }
        match self.versions.insert((org.to_owned(), text("version")), text("digest")) {
            Some(_) => vec![format!("{key:?} was published twice")],
            None => Vec::new(),
        }
    }

    /// The latest version was stored: the highest release, or the highest version while none is released.
    pub(super) fn listed(&self, org: &str, key: &Key, item: Option<&Item>) -> Vec<String> {
        let Some(item) = item else { return vec![format!("{key:?} was removed")] };
        // Of the versions that are published here, the order of their text is their order.
        let known = self.versions.keys().filter(|(of, _)| of == org).map(|(_, version)| version.as_str());
        let highest = known.max_by_key(|version| (!version.contains('-'), *version));
        let listed = item.doc["version"].as_str();
        match listed == highest {
            true => Vec::new(),
            false => vec![format!("{key:?} lists {listed:?}, and the highest is {highest:?}")],
        }
    }

    /// A call about Graphs was answered with this.
    pub(super) fn answered(&mut self, call: &Call, record: Option<&Record>, answer: &Value) -> Vec<String> {
        let Act::Graph(act) = &call.act else { return Vec::new() };
        let name = format!("request {} of {}", call.id, call.org);
        if matches!(act, GraphAct::Publish(_)) {
            let version = answer["version"].as_str().unwrap().to_owned();
            let known = self.versions.get(&(call.org.to_owned(), version));
            let same = known.map(String::as_str) == answer["digest"].as_str();
            return if same {
                Vec::new()
            } else {
                vec![format!("{name} was answered {answer}, published is {known:?}")]
            };
        }
        let run = &answer["run"];
        let id = (call.org.to_owned(), run["id"].as_str().unwrap().to_owned());
        let sequence = match record.map(|record| &record.did) {
            Some(Did::Other(told)) if told["graphRun"] == id.1.as_str() => told["sequence"].as_u64().unwrap(),
            other => return vec![format!("{name} was answered with {id:?}, its record says {other:?}")],
        };
        let followed = self.runs.get(&id);
        let Some((event, digest)) = followed.and_then(|f| Some((f.event(sequence)?, &f.digest))) else {
            return vec![format!("{name} was answered with event {sequence} of {id:?}, which was not stored")];
        };
        let word = |(node, record): (&String, &Value)| (node.clone(), record["outcome"].as_str().unwrap().to_owned());
        let told = Standing {
            facts: run["facts"].as_object().unwrap().clone(),
            outcomes: run["outcomes"].as_object().unwrap().iter().map(word).collect(),
            authorities: run["authorities"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| a.as_str().unwrap().to_owned())
                .collect(),
        };
        let numbers = run["events"].as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap());
        let mut bad = Vec::new();
        if told != event.after || answer["digest"] != digest.as_str() {
            bad.push(format!("{name} was answered {told:?} with {}, stored is {:?}", answer["digest"], event.after));
        }
        if !numbers.eq(1..=sequence) {
            bad.push(format!("{name} was answered with events that are not 1 to {sequence}: {}", run["events"]));
        }
        bad
    }
}
