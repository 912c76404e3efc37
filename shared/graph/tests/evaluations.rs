//! Evaluation against states whose answers are known, and against a second, plain evaluator on random Graphs.
//!
//! Set `EVALUATION_SEEDS` to a large number to search for hours instead of a moment; a failure names its seed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod evaluating;

use std::collections::{BTreeMap, BTreeSet};

use evaluating::naive::{self, Answer};
use evaluating::notation::{Told, read};
use evaluating::random::{self, Seed};
use evaluating::{codes, load, provider, word};
use graph::documents::{Availability, Evaluation, Graph};
use graph::{Evaluated, Provider, State, evaluate};

const CASES: &str = include_str!("cases/evaluations.txt");
const RULES: &str = include_str!("cases/rules.txt");

/// How many random Graphs are tried, each in [`STATES`] states.
const SEEDS: u64 = 500;
const STATES: u64 = 4;

fn seeds() -> u64 {
    std::env::var("EVALUATION_SEEDS").map_or(SEEDS, |text| text.parse().unwrap())
}

fn told(evaluation: &Evaluation) -> Told {
    let routes = evaluation.primary_route.iter().chain(&evaluation.alternative_routes);
    Told {
        status: word(evaluation.status_code),
        outcome: evaluation.outcome.map(word),
        routes: routes.map(|route| format!("{}/{}:{}", route.graph, route.node, word(route.availability))).collect(),
        codes: codes(evaluation),
    }
}

/// Routes of one rank may come in any order: which of them comes first follows from their ids.
fn ranks(provider: &Provider, routes: &[String]) -> Vec<((String, i32), Vec<String>)> {
    let mut ranks: Vec<((String, i32), Vec<String>)> = Vec::new();
    for route in routes {
        let (key, availability) = route.split_once(':').unwrap();
        let (graph, node) = key.split_once('/').unwrap();
        let priority = provider.graphs[graph].value.nodes.iter().find(|found| found.id == node).unwrap().priority;
        let rank = (availability.to_owned(), priority.unwrap_or(0));
        match ranks.last_mut().filter(|(last, _)| *last == rank) {
            Some((_, same)) => same.push(route.clone()),
            None => ranks.push((rank, vec![route.clone()])),
        }
    }
    for (_, same) in &mut ranks {
        same.sort();
    }
    // Where the list is cut, any of the last rank may be the ones that are shown.
    if routes.len() == 4
        && let Some((_, last)) = ranks.last_mut()
    {
        let count = last.len();
        *last = vec![count.to_string()];
    }
    ranks
}

#[test]
fn every_case_evaluates_to_what_is_known() {
    assert_eq!(check(CASES), (555, 25));
}

#[test]
fn each_rule_holds() {
    let (states, _) = check(RULES);
    assert_eq!(states, RULES.lines().filter(|line| line.starts_with("=>")).count());
}

/// Loads and evaluates every case; gives how many states and refusals there were.
fn check(cases: &str) -> (usize, usize) {
    let (mut states, mut refusals, mut wrong) = (0, 0, String::new());
    for case in read(cases) {
        let provider = match (load(&case.graphs), &case.refused) {
            (Ok(provider), None) => provider,
            (Err(failure), Some(code)) if failure.code == *code => {
                refusals += 1;
                continue;
            }
            (loaded, _) => {
                wrong += &format!("line {}: {:?}\n", case.line, loaded.map(|_| "it loads"));
                continue;
            }
        };
        for stated in case.states {
            states += 1;
            let found = told(&evaluate(&provider, "main", "default", &stated.state).unwrap().evaluation);
            let ranked = |told: &Told| (ranks(&provider, &told.routes), Told { routes: Vec::new(), ..told.clone() });
            if ranked(&found) != ranked(&stated.told) {
                wrong += &format!("line {}: {:?}\n     found {found:?}\n", stated.line, stated.told);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    (states, refusals)
}

/// What ours found, in the terms of the plain evaluator.
fn answer(provider: &Provider, found: &Evaluated) -> Answer {
    let evaluation = &found.evaluation;
    let priority = |graph: &str, node: &str| {
        provider.graphs[graph].value.nodes.iter().find(|found| found.id == node).unwrap().priority.unwrap_or(0)
    };
    let status = ["actionable", "waiting-user", "blocked", "complete", "error"];
    let faults = evaluation.diagnostics.iter().filter_map(|diagnostic| {
        let code = ["required-fact-missing", "no-route", "terminal-outcome-ambiguous"];
        let code = code.into_iter().find(|code| *code == diagnostic.code)?;
        let node = diagnostic.detail.as_ref().and_then(|detail| detail.get("node")?.as_str().map(str::to_owned));
        Some((code, node.unwrap_or_else(|| format!("{}/", diagnostic.message.split_whitespace().nth(1).unwrap()))))
    });
    Answer {
        status: status.into_iter().find(|status| *status == word(evaluation.status_code)).unwrap(),
        outcome: evaluation.outcome,
        routes: found
            .candidates
            .iter()
            .map(|candidate| {
                let person = candidate.availability == Availability::RequiresUser;
                (candidate.state_key.clone(), person, priority(&candidate.graph, &candidate.node))
            })
            .collect(),
        faults: faults.collect(),
    }
}

fn each_random(mut look: impl FnMut(u64, &mut Seed, &[Graph], &Provider, &State)) {
    for number in 0..seeds() {
        let mut seed = Seed(number);
        let graphs = random::graphs(&mut seed);
        let provider = provider(graphs.clone());
        for _ in 0..STATES {
            let state = random::state(&mut seed, &graphs);
            look(number, &mut seed, &graphs, &provider, &state);
        }
    }
}

#[test]
fn a_plain_evaluator_comes_to_the_same() {
    let mut met = BTreeMap::new();
    each_random(|seed, _, _, provider, state| {
        let found = evaluate(provider, "g0", "default", state).unwrap();
        let plain = naive::evaluate(provider, "g0", "default", "", state);
        assert_eq!(answer(provider, &found), plain, "seed {seed}: {state:?}\n{:#?}", provider.graphs);
        *met.entry(plain.status).or_insert(0) += 1;
        for (code, _) in plain.faults {
            *met.entry(code).or_insert(0) += 1;
        }
    });
    // The random Graphs are worth something only as long as they come to everything often.
    for what in ["actionable", "waiting-user", "blocked", "complete", "error", "required-fact-missing", "no-route"] {
        assert!(met.get(what).is_some_and(|count| *count > seeds() / 20), "{what} is too rare: {met:?}");
    }
}

#[test]
fn routes_come_in_order_and_no_more_than_four_are_shown() {
    each_random(|seed, _, _, provider, state| {
        let found = evaluate(provider, "g0", "default", state).unwrap();
        let priority = |graph: &str, node: &str| {
            provider.graphs[graph].value.nodes.iter().find(|found| found.id == node).unwrap().priority.unwrap_or(0)
        };
        let ranks: Vec<_> = found
            .candidates
            .iter()
            .map(|route| (route.availability, -priority(&route.graph, &route.node), route.route_id.clone()))
            .collect();
        assert!(ranks.is_sorted(), "seed {seed}");
        let ids: BTreeSet<_> = found.candidates.iter().map(|route| &route.route_id).collect();
        assert_eq!(ids.len(), found.candidates.len(), "seed {seed}");
        let evaluation = &found.evaluation;
        let shown = evaluation.primary_route.iter().chain(&evaluation.alternative_routes);
        let shown: Vec<_> = shown.map(|route| &route.route_id).collect();
        let first: Vec<_> = found.candidates.iter().map(|route| &route.route_id).take(4).collect();
        assert_eq!(shown, first, "seed {seed}");
        let cut = codes(evaluation).contains(&"route-alternatives-truncated".to_owned());
        assert_eq!(cut, found.candidates.len() > 4, "seed {seed}");
    });
}

#[test]
fn the_order_in_the_file_shows_nowhere() {
    each_random(|number, seed, graphs, provider, state| {
        let mut other = graphs.to_vec();
        for graph in &mut other {
            seed.shuffle(&mut graph.nodes);
            seed.shuffle(&mut graph.edges);
        }
        let mut other = evaluating::provider(other);
        // The files are others, and so their digests and the revision; what is left must be the same.
        other.files = provider.files.clone();
        let found = evaluate(provider, "g0", "default", state).unwrap();
        let again = evaluate(&other, "g0", "default", state).unwrap();
        assert_eq!(found.evaluation, again.evaluation, "seed {number}");
        assert_eq!(found.candidates, again.candidates, "seed {number}");
        assert_eq!(found.visited, again.visited, "seed {number}");
    });
}

#[test]
fn a_revision_follows_from_what_it_names_and_from_nothing_else() {
    each_random(|number, seed, graphs, provider, state| {
        let found = evaluate(provider, "g0", "default", state).unwrap().evaluation;
        let revision = |provider: &Provider, entry: &str, state: &State| {
            evaluate(provider, "g0", entry, state).unwrap().evaluation.revision
        };
        assert_eq!(revision(provider, "default", state), found.revision);

        // A Graph that the first one does not depend on.
        let mut unrelated = graphs.to_vec();
        let mut more = random::graphs(seed).remove(0);
        more.id = "unrelated".into();
        more.nodes.retain(|node| node.graph.is_none());
        unrelated.push(more);
        let unrelated = evaluating::provider(unrelated);
        assert_eq!(evaluate(&unrelated, "g0", "default", state).unwrap().evaluation, found, "seed {number}");

        let mut changed = vec![revision(provider, "other", state)];
        let mut file = provider.clone();
        let path = file.closures["g0"].last().unwrap().clone();
        file.files.insert(path, "sha256:other".into());
        changed.push(revision(&file, "default", state));
        let mut facts = state.clone();
        facts.facts.insert("more".into(), serde_json::json!({ "deep": [1, null] }));
        changed.push(revision(provider, "default", &facts));
        facts.facts.insert("more".into(), serde_json::json!({ "deep": [1, false] }));
        changed.push(revision(provider, "default", &facts));
        let mut outcomes = state.clone();
        outcomes.outcomes.insert("g0/none".into(), graph::documents::Outcome::Failed);
        changed.push(revision(provider, "default", &outcomes));
        outcomes.outcomes.insert("g0/none".into(), graph::documents::Outcome::Partial);
        changed.push(revision(provider, "default", &outcomes));
        let mut authorities = state.clone();
        authorities.authorities.insert("more".into());
        changed.push(revision(provider, "default", &authorities));
        changed.push(found.revision);
        let count = changed.len();
        assert_eq!(changed.into_iter().collect::<BTreeSet<_>>().len(), count, "seed {number}");
    });
}

#[test]
fn a_graph_without_a_route_tells_what_holds_it_up() {
    let action = |id: &str, checks: &str| {
        format!("  - {{ id: {id}, kind: action, action: actions/a.yaml, reasonCode: route.{id}{checks} }}\n")
    };
    let proof = ", satisfiedBy: [{ path: draft.file, exists: true }, { path: draft.ok, equals: true }]";
    let graph = format!(
        "schema: agent-graph.graph.v1\nid: main\nentrypoints: {{ default: draft }}\nnodes:\n{}{}  - {{ id: end, kind: terminal, \
         terminalOutcome: completed }}\nedges:\n  - {{ from: draft, to: check }}\n  - {{ from: check, to: end }}\n",
        action("draft", proof),
        action("check", "")
    );
    let files = [
        ("provider.yaml", "schema: agent-graph.provider.v1\nid: p\nversion: 1.0.0\ngraphs: [graphs/main.yaml]\n"),
        ("actions/a.yaml", "schema: agent-graph.action.v1\nid: a\nrunner: command\neffect: read\ncommand: 'true'\n"),
        ("graphs/main.yaml", graph.as_str()),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().into()));
    let provider = graph::load(&graph::Memory(files.into()), "provider.yaml").unwrap();
    let evaluate = |facts: serde_json::Value, outcomes: &[(&str, graph::documents::Outcome)]| {
        let outcomes = outcomes.iter().map(|(key, outcome)| ((*key).to_owned(), *outcome)).collect();
        let state = State { facts: facts.as_object().unwrap().clone(), outcomes, ..State::default() };
        graph::evaluate(&provider, "main", "default", &state).unwrap().evaluation.diagnostics
    };
    use graph::documents::Outcome::{Completed, Failed};
    let told = evaluate(serde_json::json!({ "draft": { "ok": true } }), &[("main/draft", Completed)]);
    assert_eq!(told.len(), 1);
    let said = &told[0].message;
    assert!(said.ends_with("draft is recorded, but not proved: draft.file must be there."), "{said}");
    let detail = serde_json::json!({ "heldUpBy": [{
        "node": "main/draft", "outcome": "unverified", "missingFacts": [{ "path": "draft.file", "exists": true }],
    }] });
    assert_eq!(told[0].detail, Some(detail));
    let proved = serde_json::json!({ "draft": { "ok": true, "file": "x" } });
    let told = evaluate(proved.clone(), &[("main/check", Failed)]);
    let detail = serde_json::json!({ "heldUpBy": [{ "node": "main/check", "outcome": "failed" }] });
    assert_eq!(told[0].detail, Some(detail));
    assert!(told[0].message.ends_with("check is failed, and no edge leads on from that."), "{}", told[0].message);
    assert!(evaluate(proved, &[]).is_empty());
    let draft = &provider.graphs["main"].value.nodes[0];
    assert_eq!(graph::proof(draft).unwrap(), "draft.file must be there, draft.ok must be true");
}
