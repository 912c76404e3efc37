//! The graph that guides a step (profile graph-1): what it is told of run data, and what it says of a submission.
//!
//! No graph is evaluated here. [`crate::decide`] answers with [`crate::Fault::Graph`] when a step asks for a complete
//! graph; whoever called evaluates it with the facts that the fault carries, and decides again with the [`GraphStanding`]
//! in the submission.

use process::{DataPath, Document, GraphBinding};
use serde_json::{Map, Value};

use crate::Run;

/// Facts as a step maps them from run data, by their paths; what run data does not hold is left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MappedFacts(Vec<(String, Value)>);

impl MappedFacts {
    /// The facts of a step that is not submitted yet. What it recorded itself in an earlier attempt is no fact of this one.
    pub fn of(document: &Document, run: &Run, step: &str) -> MappedFacts {
        let binding = document.step(step).and_then(|s| s.graph());
        binding.map(|binding| MappedFacts::with(binding, run, step, None)).unwrap_or_default()
    }

    /// The facts as a submission with this output would leave them.
    pub(crate) fn with(
        binding: &GraphBinding,
        run: &Run,
        step: &str,
        submitted: Option<&Map<String, Value>>,
    ) -> MappedFacts {
        let value = |from: &DataPath| match from {
            DataPath::Input(field) => run.inputs.get(field),
            DataPath::Output { step: own, field } if own == step => submitted?.get(field),
            DataPath::Output { step, field } => run.step(step)?.current.as_ref()?.output.as_ref()?.get(field),
        };
        let facts = binding.facts.iter();
        MappedFacts(facts.filter_map(|(path, from)| Some((path.clone(), value(from)?.clone()))).collect())
    }

    /// Facts with these laid over them, each at its path. What stands in the way of a path gives way to it.
    #[must_use]
    pub fn over(&self, facts: &Map<String, Value>) -> Map<String, Value> {
        let mut facts = facts.clone();
        for (path, value) in &self.0 {
            let names: Vec<&str> = path.split('.').collect();
            if let [first, within @ ..] = names.as_slice() {
                put(facts.entry(*first).or_insert(Value::Null), within, value.clone());
            }
        }
        facts
    }
}

/// Puts a value in its place: an element where there is a list that has one of this number, else a field. A path has at
/// most [`process::limits::FACT_PATH_NAMES`] names, so this goes no deeper.
fn put(place: &mut Value, path: &[&str], value: Value) {
    let [name, within @ ..] = path else {
        *place = value;
        return;
    };
    if let Value::Array(list) = place
        && let Some(element) = name.parse::<usize>().ok().and_then(|n| list.get_mut(n))
    {
        return put(element, within, value);
    }
    if !place.is_object() {
        *place = Value::Object(Map::new());
    }
    if let Value::Object(fields) = place {
        put(fields.entry(*name).or_insert(Value::Null), within, value);
    }
}

/// What a graph is to be evaluated for, before a submission is decided on.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphInquiry {
    /// The step.
    pub step: String,
    /// The step's attempt, whose run of the graph counts.
    pub attempt: u32,
    /// What the submission would make the facts of that run.
    pub facts: MappedFacts,
}

/// What can be done in a graph, as its evaluation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphStatus {
    /// A route can be taken at once.
    Actionable,
    /// A person must act.
    WaitingUser,
    /// No route is open.
    Blocked,
    /// The graph has ended.
    Complete,
    /// The state contradicts itself.
    Error,
}

impl GraphStatus {
    /// The word of agent-graph.
    pub fn name(self) -> &'static str {
        match self {
            GraphStatus::Actionable => "actionable",
            GraphStatus::WaitingUser => "waiting-user",
            GraphStatus::Blocked => "blocked",
            GraphStatus::Complete => "complete",
            GraphStatus::Error => "error",
        }
    }
}

/// The outcome with which a graph must end.
const COMPLETED: &str = "completed";

/// Where the graph of a step stands with a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphStanding {
    /// What can be done.
    pub status: GraphStatus,
    /// The outcome that it ended with.
    pub outcome: Option<String>,
    /// The key that the first route is recorded under; where there is none, the code of the first diagnostic.
    pub place: Option<String>,
    /// What the first diagnostic says.
    pub why: Option<String>,
}

impl GraphStanding {
    /// Why a submission is not accepted; `None` when the graph ended as it should.
    pub(crate) fn issue(&self) -> Option<String> {
        let or_why = |otherwise| self.why.as_deref().unwrap_or(otherwise);
        let (word, todo) = match (self.status, self.outcome.as_deref()) {
            (GraphStatus::Complete, Some(COMPLETED)) => return None,
            (GraphStatus::Complete, outcome) => (outcome.unwrap_or("complete"), "it must end as completed"),
            (status @ GraphStatus::Actionable, _) => (status.name(), "take this route and record its outcome first"),
            (status @ GraphStatus::WaitingUser, _) => (status.name(), "a person must decide this first"),
            (status @ GraphStatus::Blocked, _) => (status.name(), or_why("get_graph_run tells what is in the way")),
            (status @ GraphStatus::Error, _) => (status.name(), or_why("get_graph_run tells what contradicts itself")),
        };
        let place = self.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!("graph: {word}{place}: {todo}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn over(mapped: &[(&str, Value)], facts: Value) -> Value {
        let mapped = MappedFacts(mapped.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect());
        let Value::Object(facts) = facts else { panic!("{facts} is no object") };
        Value::Object(mapped.over(&facts))
    }

    #[test]
    fn facts_are_laid_over_at_their_paths() {
        assert_eq!(over(&[], json!({ "a": 1 })), json!({ "a": 1 }));
        assert_eq!(
            over(&[("a.b", json!(2)), ("a.c.d", json!([3])), ("e", json!(null))], json!({ "a": { "b": 1, "x": 0 } })),
            json!({ "a": { "b": 2, "x": 0, "c": { "d": [3] } }, "e": null })
        );
        assert_eq!(
            over(&[("a.b", json!(2))], json!({ "a": 1 })),
            json!({ "a": { "b": 2 } }),
            "what is in the way goes"
        );
        assert_eq!(over(&[("a", json!(2))], json!({ "a": { "b": 1 } })), json!({ "a": 2 }));
        let list = json!({ "items": [{ "id": 1 }, { "id": 2 }] });
        assert_eq!(
            over(&[("items.1.id", json!(3)), ("items.0.state", json!("ok"))], list.clone()),
            json!({ "items": [{ "id": 1, "state": "ok" }, { "id": 3 }] })
        );
        assert_eq!(over(&[("items.2.id", json!(3))], list), json!({ "items": { "2": { "id": 3 } } }));
        assert_eq!(over(&[("items.0", json!(3))], json!({})), json!({ "items": { "0": 3 } }));
    }

    #[test]
    fn the_longest_path_is_laid_over() {
        let path = vec!["x"; process::limits::FACT_PATH_NAMES].join(".");
        let mut found = &over(&[(&path, json!(true))], json!({}));
        for name in path.split('.') {
            found = &found[name];
        }
        assert_eq!(found, &json!(true));
    }

    #[test]
    fn what_is_not_complete_is_told_with_what_to_do() {
        let told = |status, outcome: Option<&str>, place: Option<&str>| {
            let text = |t: Option<&str>| t.map(str::to_owned);
            GraphStanding { status, outcome: text(outcome), place: text(place), why: None }.issue()
        };
        use GraphStatus::{Actionable, Blocked, Complete, Error, WaitingUser};
        assert_eq!(told(Complete, Some("completed"), None), None);
        assert_eq!(told(Complete, Some("completed"), Some("note")), None, "whatever else is worth knowing");
        for (status, outcome, place, expect) in [
            (
                Actionable,
                None,
                Some("verify"),
                "graph: actionable (verify): take this route and record its outcome first",
            ),
            (WaitingUser, None, Some("approve"), "graph: waiting-user (approve): a person must decide this first"),
            (
                Blocked,
                None,
                Some("required-fact-missing"),
                "graph: blocked (required-fact-missing): get_graph_run tells what is in the way",
            ),
            (Blocked, None, None, "graph: blocked: get_graph_run tells what is in the way"),
            (Complete, Some("partial"), None, "graph: partial: it must end as completed"),
            (Complete, None, None, "graph: complete: it must end as completed"),
            (Error, Some("completed"), Some("x"), "graph: error (x): get_graph_run tells what contradicts itself"),
        ] {
            assert_eq!(told(status, outcome, place).as_deref(), Some(expect));
        }
        let why = |status, place: &str| {
            let why = Some("What is in the way.".to_owned());
            GraphStanding { status, outcome: None, place: Some(place.to_owned()), why }.issue().unwrap()
        };
        assert_eq!(why(Blocked, "no-route"), "graph: blocked (no-route): What is in the way.");
        assert_eq!(why(Error, "x"), "graph: error (x): What is in the way.");
        assert!(why(Actionable, "g/n").ends_with("(g/n): take this route and record its outcome first"));
    }
}
