//! Runs as a pure machine: a Run and a change in, the Run after and its new event out (section-run).
//!
//! Times and ids come from outside. Every change adds one event, numbered on from the last; nothing takes one away. The
//! methods of [`Run`] change it in place, for whoever folds many events; the functions leave the Run they are given alone.

use serde_json::{Map, Value, json};

use crate::documents::{Outcome, OutcomeRecord, Run, RunEvent, RunSchema};
use crate::evaluate::{State, selected};
use crate::failure::Failure;
use crate::faults::Faults;
use crate::load::Provider;
use crate::schemas;

/// A Run with the event that a change added.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The Run after it.
    pub run: Run,
    /// What was added to its events, the last of them.
    pub event: RunEvent,
}

impl Run {
    /// What routing is decided from.
    pub fn state(&self) -> State {
        State {
            facts: self.facts.clone(),
            outcomes: self.outcomes.iter().map(|(key, record)| (key.clone(), record.outcome)).collect(),
            authorities: self.authorities.iter().cloned().collect(),
        }
    }

    /// Records an Outcome under a state key, in the place of the one before.
    pub fn record(&mut self, node: &str, outcome: Outcome, detail: Option<Value>, at: &str) -> RunEvent {
        let record = OutcomeRecord { outcome, recorded_at: at.to_owned(), detail: detail.clone() };
        self.outcomes.insert(node.to_owned(), record);
        self.note(at, |event| {
            event.r#type = "node.outcome-recorded".to_owned();
            event.node = Some(node.to_owned());
            event.outcome = Some(outcome);
            event.detail = detail;
        })
    }

    /// Sets Facts: merged over those there are, or in their place. The event names the Facts that were given.
    pub fn set_facts(&mut self, facts: Map<String, Value>, replace: bool, at: &str) -> RunEvent {
        let keys: Vec<_> = facts.keys().cloned().collect();
        if replace {
            self.facts = facts;
        } else {
            self.facts.extend(facts);
        }
        self.happened("facts.updated", json!({ "keys": keys }), at)
    }

    /// Sets the authorities of this session, in the place of those there were; each once, sorted.
    pub fn set_authorities(&mut self, mut authorities: Vec<String>, at: &str) -> RunEvent {
        authorities.sort_unstable();
        authorities.dedup();
        self.authorities = authorities;
        self.happened("authorities.updated", json!({ "authorities": self.authorities }), at)
    }

    /// Notes a checkpoint of this name.
    pub fn checkpointed(&mut self, name: &str, at: &str) -> RunEvent {
        self.happened("run.checkpointed", json!({ "checkpoint": name }), at)
    }

    /// Goes on from a checkpoint of this name: whoever goes on has no authorities until they are set.
    pub fn resumed(&mut self, name: &str, at: &str) -> RunEvent {
        self.authorities.clear();
        self.happened("run.resumed", json!({ "checkpoint": name }), at)
    }

    fn happened(&mut self, r#type: &str, detail: Value, at: &str) -> RunEvent {
        self.note(at, |event| {
            event.r#type = r#type.to_owned();
            event.detail = Some(detail);
        })
    }

    fn note(&mut self, at: &str, fill: impl FnOnce(&mut RunEvent)) -> RunEvent {
        let sequence = self.events.last().map_or(0, |event| event.sequence) + 1;
        let at = at.to_owned();
        let mut event = RunEvent { sequence, at, r#type: String::new(), node: None, outcome: None, detail: None };
        fill(&mut event);
        self.updated_at.clone_from(&event.at);
        self.events.push(event.clone());
        event
    }
}

/// Starts a Run of a Graph.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`.
pub fn start(
    provider: &Provider,
    graph: &str,
    entry: &str,
    id: &str,
    workspace: Option<&str>,
    facts: Map<String, Value>,
    at: &str,
) -> Result<Change, Failure> {
    let (graph, entry) = selected(provider, graph, entry)?;
    let run = Run {
        schema: RunSchema::V1,
        id: id.to_owned(),
        provider: provider.id().to_owned(),
        graph: graph.to_owned(),
        entry: entry.to_owned(),
        workspace: workspace.map(str::to_owned),
        created_at: at.to_owned(),
        updated_at: at.to_owned(),
        facts,
        outcomes: Default::default(),
        authorities: Vec::new(),
        events: Vec::new(),
    };
    Ok(changed(run, |run| run.note(at, |event| event.r#type = "run.started".to_owned())))
}

/// Records an Outcome under a state key. Which keys there are is for the caller to know.
pub fn record(run: &Run, node: &str, outcome: Outcome, detail: Option<Value>, at: &str) -> Change {
    changed(run.clone(), |run| run.record(node, outcome, detail, at))
}

/// Sets Facts: merged over those there are, or in their place.
pub fn set_facts(run: &Run, facts: Map<String, Value>, replace: bool, at: &str) -> Change {
    changed(run.clone(), |run| run.set_facts(facts, replace, at))
}

/// Sets the authorities of this session.
pub fn set_authorities(run: &Run, authorities: Vec<String>, at: &str) -> Change {
    changed(run.clone(), |run| run.set_authorities(authorities, at))
}

/// Notes a checkpoint of this name. The checkpoint itself is the Run after it without authorities.
pub fn checkpoint(run: &Run, name: &str, at: &str) -> (Change, Run) {
    let change = changed(run.clone(), |run| run.checkpointed(name, at));
    let checkpoint = Run { authorities: Vec::new(), ..change.run.clone() };
    (change, checkpoint)
}

/// Goes on from a checkpoint of this name: authorities cleared, one event more.
pub fn resume(checkpoint: &Run, name: &str, at: &str) -> Change {
    changed(checkpoint.clone(), |run| run.resumed(name, at))
}

fn changed(mut run: Run, change: impl FnOnce(&mut Run) -> RunEvent) -> Change {
    let event = change(&mut run);
    Change { run, event }
}

/// A Run from its JSON, held to its schema and to its own numbering.
///
/// # Errors
///
/// `schema-invalid`.
pub fn read(path: &str, value: &Value) -> Result<Run, Failure> {
    let run: Run = schemas::valid("run", path, value)?;
    let mut faults = Faults::default();
    for (at, (number, event)) in (1..).zip(&run.events).enumerate() {
        if event.sequence != number {
            let message = format!("event {} must be numbered {number}: events are numbered from 1", event.sequence);
            faults.say("schema-invalid", format!("{path}#/events/{at}/sequence"), message);
        }
    }
    if faults.is_empty() { Ok(run) } else { Err(faults.failure()) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::documents::{Graph, ProviderManifest};
    use crate::load::Loaded;

    fn loaded<T>(path: &str, value: T) -> Loaded<T> {
        Loaded { path: path.to_owned(), digest: "sha256:0".to_owned(), value }
    }

    fn provider() -> Provider {
        let manifest: ProviderManifest = serde_json::from_value(json!({
            "schema": "agent-graph.provider.v1", "id": "acme/review", "version": "1.0.0", "graphs": ["review.yaml"],
        }))
        .unwrap();
        let graph: Graph = serde_json::from_value(json!({
            "schema": "agent-graph.graph.v1", "id": "review", "entrypoints": { "default": "done", "again": "done" },
            "nodes": [{ "id": "done", "kind": "terminal", "terminalOutcome": "completed" }], "edges": [],
        }))
        .unwrap();
        Provider {
            manifest: loaded("provider.yaml", manifest),
            graphs: BTreeMap::from([("review".to_owned(), loaded("review.yaml", graph))]),
            actions: BTreeMap::new(),
            resources: BTreeMap::new(),
            skills: BTreeMap::new(),
            schemas: BTreeMap::new(),
            catalog: None,
            files: BTreeMap::new(),
            closures: BTreeMap::new(),
            dependencies: BTreeMap::new(),
            bundle: None,
        }
    }

    fn at(second: u32) -> String {
        format!("2026-03-01T10:00:{second:02}.000Z")
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn started() -> Run {
        let facts = object(json!({ "a": 1 }));
        start(&provider(), "review", "default", "r1", Some("/w"), facts, &at(0)).unwrap().run
    }

    #[test]
    fn a_run_says_all_that_happened_to_it() {
        let run = started();
        let run = record(&run, "review/draft", Outcome::Completed, Some(json!({ "by": "t" })), &at(1)).run;
        let run = set_facts(&run, object(json!({ "b": 2 })), false, &at(2)).run;
        let run = set_authorities(&run, vec!["ops".into(), "lead".into(), "ops".into()], &at(3)).run;
        let (change, checkpoint) = checkpoint(&run, "c.json", &at(4));
        let resumed = resume(&checkpoint, "c.json", &at(5));
        assert_eq!(change.run.authorities, ["lead", "ops"]);
        assert_eq!(
            serde_json::to_value(&resumed.run).unwrap(),
            json!({
                "schema": "agent-graph.run.v1", "id": "r1", "provider": "acme/review", "graph": "review", "entry": "default",
                "workspace": "/w", "createdAt": at(0), "updatedAt": at(5), "facts": { "a": 1, "b": 2 },
                "outcomes": { "review/draft": { "outcome": "completed", "recordedAt": at(1), "detail": { "by": "t" } } },
                "authorities": [],
                "events": [
                    { "sequence": 1, "at": at(0), "type": "run.started" },
                    { "sequence": 2, "at": at(1), "type": "node.outcome-recorded", "node": "review/draft",
                      "outcome": "completed", "detail": { "by": "t" } },
                    { "sequence": 3, "at": at(2), "type": "facts.updated", "detail": { "keys": ["b"] } },
                    { "sequence": 4, "at": at(3), "type": "authorities.updated", "detail": { "authorities": ["lead", "ops"] } },
                    { "sequence": 5, "at": at(4), "type": "run.checkpointed", "detail": { "checkpoint": "c.json" } },
                    { "sequence": 6, "at": at(5), "type": "run.resumed", "detail": { "checkpoint": "c.json" } },
                ],
            })
        );
        assert_eq!(resumed.event, *resumed.run.events.last().unwrap());
        assert_eq!(read("run.json", &serde_json::to_value(&resumed.run).unwrap()).unwrap(), resumed.run);
    }

    #[test]
    fn a_change_leaves_the_run_it_was_given_alone() {
        let run = started();
        let before = run.clone();
        record(&run, "review/x", Outcome::Failed, None, &at(1));
        set_facts(&run, Map::new(), true, &at(1));
        set_authorities(&run, vec!["lead".into()], &at(1));
        checkpoint(&run, "c", &at(1));
        resume(&run, "c", &at(1));
        assert_eq!(run, before);
    }

    #[test]
    fn the_latest_outcome_counts_and_the_events_keep_the_others() {
        let run = record(&started(), "review/x", Outcome::Failed, Some(json!(1)), &at(1)).run;
        let run = record(&run, "review/x", Outcome::Completed, None, &at(2)).run;
        assert_eq!(run.state().outcomes, BTreeMap::from([("review/x".to_owned(), Outcome::Completed)]));
        assert_eq!(run.outcomes["review/x"].detail, None);
        let outcomes: Vec<_> = run.events.iter().filter_map(|event| event.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed, Outcome::Completed]);
    }

    #[test]
    fn neither_times_nor_details_are_part_of_what_routing_is_decided_from() {
        let recorded =
            |second, detail| record(&started(), "review/x", Outcome::Partial, detail, &at(second)).run.state();
        assert_eq!(recorded(1, None), recorded(9, Some(json!("more"))));
    }

    #[test]
    fn facts_are_merged_or_replaced() {
        let facts = || object(json!({ "b": { "c": 1 } }));
        assert_eq!(set_facts(&started(), facts(), false, &at(1)).run.facts, object(json!({ "a": 1, "b": { "c": 1 } })));
        assert_eq!(set_facts(&started(), facts(), true, &at(1)).run.facts, facts());
    }

    #[test]
    fn a_run_starts_where_there_is_a_graph_and_an_entry() {
        let code = |graph, entry| {
            start(&provider(), graph, entry, "r1", None, Map::new(), &at(0)).unwrap_err().code.into_owned()
        };
        assert_eq!(code("nope", "default"), "graph-missing");
        assert_eq!(code("review", "nope"), "entry-missing");
        let run = start(&provider(), "review", "again", "r1", None, Map::new(), &at(0)).unwrap().run;
        assert_eq!((run.entry.as_str(), run.workspace), ("again", None));
    }

    #[test]
    fn a_file_is_held_to_its_schema_and_its_numbering() {
        let run = serde_json::to_value(record(&started(), "review/x", Outcome::Failed, None, &at(1)).run).unwrap();
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut run = run.clone();
            change(&mut run);
            let failure = read("run.json", &run).unwrap_err();
            let places: Vec<_> =
                failure.diagnostics.iter().map(|fault| fault.path.clone().unwrap_or_default()).collect();
            (failure.code.into_owned(), failure.message, places)
        };
        let (code, message, _) = refused(&|run| run["events"][1]["sequence"] = json!(3));
        assert_eq!(code, "schema-invalid");
        assert_eq!(message, "run.json#/events/1/sequence: event 3 must be numbered 2: events are numbered from 1");
        let (code, _, places) = refused(&|run| {
            run["events"][0]["sequence"] = json!(2);
            run["events"][1]["sequence"] = json!(1);
        });
        assert_eq!(code, "schema-invalid");
        assert_eq!(places, ["run.json#/events/0/sequence", "run.json#/events/1/sequence"]);
        let (code, ..) = refused(&|run| run["outcomes"]["review/x"]["outcome"] = json!("done"));
        assert_eq!(code, "schema-invalid");
        let (code, ..) = refused(&|run| run["colour"] = json!("red"));
        assert_eq!(code, "schema-invalid");
    }
}
