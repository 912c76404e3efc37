//! Reads `tests/cases/evaluations.txt`; its first lines say how it is written.

use std::collections::BTreeMap;

use graph::State;
use serde_json::{Map, Value, json};

/// A Provider with its states.
#[derive(Debug, Default)]
pub struct Case {
    /// The line that it begins at.
    pub line: usize,
    /// Its Graphs as they would stand in files.
    pub graphs: Vec<Value>,
    /// The states, and what each evaluates to.
    pub states: Vec<Stated>,
    /// The code that the loader refuses it with instead.
    pub refused: Option<String>,
}

/// A state, and what it evaluates to.
#[derive(Debug)]
pub struct Stated {
    /// Its line.
    pub line: usize,
    /// The state.
    pub state: State,
    /// What it evaluates to.
    pub told: Told,
}

/// What an Evaluation tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// The status.
    pub status: String,
    /// The Terminal's Outcome.
    pub outcome: Option<String>,
    /// `graph/node:availability` of the Routes shown, in order.
    pub routes: Vec<String>,
    /// The codes of the diagnostics, sorted.
    pub codes: Vec<String>,
}

/// Reads the cases.
pub fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let Some(first) = words.first().filter(|first| !first.starts_with('#')) else { continue };
        if *first == "provider" {
            cases.push(Case { line: number, ..Case::default() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        match *first {
            "graph" => case.graphs.push(json!({
                "schema": "agent-graph.graph.v1", "id": words[1], "entrypoints": { "default": words[2] }, "nodes": [], "edges": [],
            })),
            "raw" => case.graphs.push(serde_json::from_str(&line["raw ".len()..]).unwrap()),
            "state" => case.states.push(Stated { line: number, state: state(&words), told: Told::default() }),
            "=>" => case.states.last_mut().unwrap().told = told(&words),
            "refused" => case.refused = Some(words[1].to_owned()),
            _ => {
                let graph = case.graphs.last_mut().unwrap();
                let id = graph["id"].as_str().unwrap().to_owned();
                let (list, item) = if words[1] == "->" { ("edges", edge(&words)) } else { ("nodes", node(&id, &words)) };
                graph[list].as_array_mut().unwrap().push(item);
            }
        }
    }
    cases
}

fn node(graph: &str, words: &[&str]) -> Value {
    let (kind, id) = (words[0], words[1]);
    let mut node = json!({ "id": id });
    let mut rest = 2;
    match kind {
        "action" => node["action"] = json!("actions/a.yaml"),
        "gate" => node["gate"] = json!({ "id": format!("gate-{id}"), "prompt": "Go on?" }),
        "sub" => {
            node["graph"] = json!(words[2]);
            node["entry"] = json!("default");
            rest = 3;
        }
        "end" => {
            node["terminalOutcome"] = json!(words[2]);
            rest = 3;
        }
        other => panic!("no kind: {other}"),
    }
    node["kind"] = json!(match kind {
        "sub" => "subgraph",
        "end" => "terminal",
        kind => kind,
    });
    if matches!(kind, "action" | "gate") {
        node["reasonCode"] = json!(format!("route.{graph}.{id}"));
    }
    for word in &words[rest..] {
        if let Some(check) = word.strip_prefix('+') {
            push(&mut node, "requiresFacts", self::check(check));
        } else if let Some(check) = word.strip_prefix('~') {
            push(&mut node, "satisfiedBy", self::check(check));
        } else {
            let (key, value) = word.split_once(':').unwrap();
            match key {
                "by" => node["gate"]["authority"] = json!(value),
                "delegatable" => node["gate"]["delegatable"] = serde_json::from_str(value).unwrap(),
                "priority" => node["priority"] = serde_json::from_str(value).unwrap(),
                "join" => node["join"] = json!(value),
                other => panic!("no key: {other}"),
            }
        }
    }
    node
}

fn push(node: &mut Value, key: &str, item: Value) {
    match node.get_mut(key) {
        Some(list) => list.as_array_mut().unwrap().push(item),
        None => node[key] = json!([item]),
    }
}

fn check(text: &str) -> Value {
    if let Some((path, value)) = text.split_once('=') {
        return json!({ "path": path, "equals": serde_json::from_str::<Value>(value).unwrap() });
    }
    match text.strip_prefix('!') {
        Some(path) => json!({ "path": path, "exists": false }),
        None => json!({ "path": text, "exists": true }),
    }
}

fn edge(words: &[&str]) -> Value {
    let mut edge = json!({ "from": words[0], "to": words[2] });
    for word in &words[3..] {
        match word.strip_prefix("at:") {
            Some(outcomes) => edge["outcomes"] = outcomes.split(',').collect(),
            None => edge["kind"] = json!(word),
        }
    }
    edge
}

fn state(words: &[&str]) -> State {
    let mut outcomes = BTreeMap::new();
    let mut authorities = Vec::new();
    for word in &words[2..] {
        match (word.strip_prefix('@'), word.split_once('=')) {
            (Some(authority), _) => authorities.push(authority.to_owned()),
            (None, Some((key, outcome))) => {
                outcomes.insert(key.to_owned(), serde_json::from_value(json!(outcome)).unwrap());
            }
            _ => panic!("neither an outcome nor an authority: {word}"),
        }
    }
    let facts: Map<String, Value> = serde_json::from_str(words[1]).unwrap();
    State { facts, outcomes, authorities: authorities.into_iter().collect() }
}

fn told(words: &[&str]) -> Told {
    let mut told = Told { status: words[1].to_owned(), ..Told::default() };
    for word in &words[2..] {
        match word.strip_prefix('!') {
            Some(code) => told.codes.push(code.to_owned()),
            None if word.contains(':') => told.routes.push((*word).to_owned()),
            None => told.outcome = Some((*word).to_owned()),
        }
    }
    told
}
