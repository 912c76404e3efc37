//! What a walk found, put in order and into words.

use serde_json::{Value, json};

use super::noted::Fault;
use super::walk::{Open, Walk};
use super::{Candidate, State, facts, revision};
use crate::documents::{Availability, CodeKind, FactCheck, Node, Outcome, RouteSummary, StatusCode};
use crate::failure::{Diagnostic, Severity};
use crate::limits::{ALTERNATIVE_ROUTES, EVALUATION_DIAGNOSTICS, NAMED_FACTS};
use crate::load::Provider;

/// The open Routes in order: availability, priority, route id.
pub(super) fn ranked<'a>(walk: &Walk<'a>, revision: &str) -> Vec<(Candidate, &'a Node)> {
    let mut ranked: Vec<_> = walk.open.iter().filter_map(|open| candidate(walk, open, revision)).collect();
    ranked.sort_unstable_by(|(left, left_node), (right, right_node)| {
        let priority = |node: &Node| std::cmp::Reverse(node.priority.unwrap_or(0));
        let rank = (left.availability, priority(left_node)).cmp(&(right.availability, priority(right_node)));
        rank.then_with(|| left.route_id.cmp(&right.route_id))
    });
    ranked
}

fn candidate<'a>(walk: &Walk<'a>, open: &Open<'a>, revision: &str) -> Option<(Candidate, &'a Node)> {
    let (frame, node) = (walk.frames.get(open.frame as usize)?, open.node);
    let candidate = Candidate {
        route_id: revision::route_id(revision, &frame.prefix, frame.graph, &node.id),
        graph: frame.graph.to_owned(),
        node: node.id.clone(),
        call_path: frame.path.clone(),
        state_key: format!("{}{}", frame.prefix, node.id),
        availability: open.availability,
        delegated: open.delegated,
        set_back_by: open.set_back_by.iter().map(|id| format!("{}{id}", frame.prefix)).collect(),
    };
    Some((candidate, node))
}

/// What can be done with a Route.
pub(super) fn status(availability: Availability) -> StatusCode {
    match availability {
        Availability::Immediate => StatusCode::Actionable,
        Availability::RequiresUser => StatusCode::WaitingUser,
        Availability::Blocked => StatusCode::Blocked,
    }
}

/// A Route in short.
pub(super) fn summary(provider: &Provider, candidate: &Candidate, node: &Node) -> RouteSummary {
    let reason_code = node.reason_code.clone().unwrap_or_default();
    RouteSummary {
        route_id: candidate.route_id.clone(),
        graph: candidate.graph.clone(),
        node: candidate.node.clone(),
        status_code: status(candidate.availability),
        hint: provider.code(&reason_code).map(|entry| entry.summary.clone()),
        reason_code,
        availability: candidate.availability,
        label: node.description.clone().unwrap_or_else(|| candidate.node.clone()),
    }
}

/// What was in the way, by state key, and what is not shown.
pub(super) fn diagnostics(provider: &Provider, walk: &Walk<'_>, state: &State) -> Vec<Diagnostic> {
    let mut faults: Vec<_> = walk.faults.kept.iter().collect();
    faults.sort_unstable_by(|left, right| left.cmp_in(right, &walk.frames));
    let shown = faults.iter().take(EVALUATION_DIAGNOSTICS);
    let mut told: Vec<_> = shown.filter_map(|fault| diagnostic(provider, walk, fault, state)).collect();
    let all = walk.faults.all();
    if all > EVALUATION_DIAGNOSTICS {
        told.push(truncated(provider, "diagnostics-truncated", "diagnostics", all, EVALUATION_DIAGNOSTICS));
    }
    let alternatives = walk.open.len().saturating_sub(1);
    if alternatives > ALTERNATIVE_ROUTES {
        told.push(truncated(
            provider,
            "route-alternatives-truncated",
            "alternative routes",
            alternatives,
            ALTERNATIVE_ROUTES,
        ));
    }
    told
}

fn truncated(provider: &Provider, code: &'static str, what: &str, available: usize, returned: usize) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::new(code, Severity::Info, format!("Of {available} {what}, {returned} are shown here."));
    diagnostic.detail = Some(json!({ "available": available, "returned": returned }));
    diagnostic.document_ref = document(provider, code);
    diagnostic
}

fn diagnostic(provider: &Provider, walk: &Walk<'_>, fault: &Fault<'_>, state: &State) -> Option<Diagnostic> {
    let frame = walk.frames.get(fault.frame as usize)?;
    let place = match fault.node {
        Some(node) => format!("{}{}", frame.prefix, node.id),
        None => frame.prefix.trim_end_matches('/').to_owned(),
    };
    let message = match fault.code {
        "required-fact-missing" => {
            let checks = fault.node.and_then(|node| node.requires_facts.as_deref()).unwrap_or_default();
            let missing = checks.iter().filter(|check| !facts::holds(&state.facts, check)).map(wanted);
            format!("Node {place} requires Facts that do not hold: {}.", missing.collect::<Vec<_>>().join("; "))
        }
        "terminal-outcome-ambiguous" => {
            format!("Graph {place} reaches Terminals of different Outcomes; its edges must tell them apart.")
        }
        _ => {
            let held: Vec<String> = fault.held.iter().map(|(node, outcome)| holds_up(node, *outcome, state)).collect();
            let held = if held.is_empty() { String::new() } else { format!(" {}.", held.join("; ")) };
            let entry = frame.entry;
            format!("Graph {place} reaches neither a Terminal nor a node that can be done, from entry {entry}.{held}")
        }
    };
    let mut diagnostic = Diagnostic::new(fault.code, Severity::Error, message);
    diagnostic.path = provider.graphs.get(frame.graph).map(|graph| graph.path.clone());
    diagnostic.document_ref = document(provider, fault.code);
    if fault.node.is_some() {
        diagnostic.detail = Some(json!({ "node": place }));
    } else if !fault.held.is_empty() {
        let held = fault.held.iter().map(|(node, outcome)| {
            let key = format!("{}{}", frame.prefix, node.id);
            let facts: Vec<&FactCheck> = unproved(node, *outcome, state).take(NAMED_FACTS).collect();
            match facts.is_empty() {
                true => json!({ "node": key, "outcome": outcome }),
                false => json!({ "node": key, "outcome": outcome, "missingFacts": facts }),
            }
        });
        diagnostic.detail = Some(json!({ "heldUpBy": held.collect::<Vec<Value>>() }));
    }
    Some(diagnostic)
}

/// Why nothing comes after a node.
fn holds_up(node: &Node, outcome: Outcome, state: &State) -> String {
    let id = &node.id;
    let facts: Vec<String> = unproved(node, outcome, state).map(wanted).collect();
    if !facts.is_empty() {
        return format!("{id} is recorded, but not proved: {}", few(&facts));
    }
    let outcome = serde_json::to_value(outcome).ok().and_then(|word| word.as_str().map(str::to_owned));
    format!("{id} is {}, and no edge leads on from that", outcome.unwrap_or_default())
}

/// The Facts that are missing for the proof of a node that is said to be completed.
fn unproved<'a>(node: &'a Node, outcome: Outcome, state: &'a State) -> impl Iterator<Item = &'a FactCheck> {
    let checks = node.satisfied_by.iter().flatten().filter(move |_| outcome == Outcome::Unverified);
    checks.filter(|check| !facts::holds(&state.facts, check))
}

/// Some of them, and how many more there are.
fn few(facts: &[String]) -> String {
    let more = facts.len().saturating_sub(NAMED_FACTS);
    let named = facts.iter().take(NAMED_FACTS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// The Facts that prove a node done, in words, such as `draft.file must be there`; none for a node that only its recorded
/// Outcome completes.
pub fn proof(node: &Node) -> Option<String> {
    let facts: Vec<String> = node.satisfied_by.iter().flatten().map(wanted).collect();
    (!facts.is_empty()).then(|| few(&facts))
}

/// A check in words.
fn wanted(check: &FactCheck) -> String {
    match (&check.equals, check.exists) {
        (Some(expected), _) => format!("{} must be {expected}", check.path),
        (None, Some(false)) => format!("{} must not be there", check.path),
        _ => format!("{} must be there", check.path),
    }
}

/// The document that the Code Catalog gives for a diagnostic.
fn document(provider: &Provider, code: &str) -> Option<String> {
    provider.code(code).filter(|entry| entry.kind == CodeKind::Diagnostic)?.document.clone()
}
