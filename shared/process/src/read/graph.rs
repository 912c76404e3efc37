//! `graph` of a step (profile graph-1): which graph of which provider guides the work, and what it is told of run data.
//!
//! Whether the paths into run data lead anywhere is looked at with the other steps, in [`super::order`].

use std::collections::HashSet;

use super::person::{self, Reference};
use super::{keys, words};
use crate::limits::{FACT_PATH_CHARACTERS, FACT_PATH_NAMES, GRAPH_FACTS, GRAPH_ID_CHARACTERS};
use crate::problem::{Path, Position, Report, shorten};
use crate::yaml::Node;

/// The keys of a `graph`.
pub(super) const GRAPH: &[&str] = &["provider", "graph", "entry", "facts", "require_complete"];

/// A `graph` as far as it can be told alone. What is missing here was reported.
#[derive(Debug, Default)]
pub(super) struct GraphDraft<'n> {
    /// The provider and its version.
    pub(super) provider: Option<(&'n str, Option<&'n str>)>,
    pub(super) graph: Option<&'n str>,
    pub(super) entry: Option<&'n str>,
    pub(super) facts: Vec<FactDraft<'n>>,
    pub(super) require_complete: bool,
}

/// A fact and where it comes from.
#[derive(Debug)]
pub(super) struct FactDraft<'n> {
    pub(super) path: &'n str,
    pub(super) from: Reference<'n>,
    /// Where `from` stands.
    pub(super) at: Position,
}

/// The `graph` at `path`; `None` when it is no mapping.
pub(super) fn graph<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<GraphDraft<'n>> {
    let wanted = "a mapping with `provider` and `graph`, such as `{ provider: acme/release, graph: release }`";
    let entries = keys::map(node, path, wanted, report)?;
    let mut draft = GraphDraft::default();
    let mut missing = vec!["provider", "graph"];
    for entry in entries {
        let (value, here) = (&entry.value, path.key(&entry.key));
        missing.retain(|key| *key != entry.key);
        match entry.key.as_str() {
            "provider" => draft.provider = provider(value, &here, report),
            "graph" => draft.graph = name(value, "a graph", "`release`", &here, report),
            "entry" => draft.entry = name(value, "an entry", "`default`", &here, report),
            "facts" => draft.facts = facts(value, &here, report),
            "require_complete" => draft.require_complete = keys::boolean(value, &here, report).unwrap_or_default(),
            _ => {
                if let Some(meant) = keys::unknown(entry, path, "`graph`", GRAPH, report) {
                    missing.retain(|key| *key != meant);
                }
            }
        }
    }
    for key in missing {
        let what = match key {
            "provider" => "`provider` is missing; name the provider of the graph, such as `acme/release`",
            _ => "`graph` is missing; name the graph of the provider, such as `release`",
        };
        report.error(node.at, path, what);
    }
    Some(draft)
}

/// `acme/release`, or `acme/release@1.2.0`.
fn provider<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<(&'n str, Option<&'n str>)> {
    let text = keys::filled(node, path, "a provider, such as `acme/release`", report)?;
    let (id, version) = match text.split_once('@') {
        Some((id, version)) => (id, Some(version)),
        None => (text, None),
    };
    let mut sound = true;
    if !words::is_graph_id(id) {
        sound = false;
        report.error(node.at, path, id_rule(id, "the id of a provider"));
    }
    if let Some(version) = version
        && !words::is_version(version)
    {
        sound = false;
        let what = format!(
            "`{}` ends in no version of a provider; write three numbers, such as `acme/release@1.2.0`, or no `@` for the \
             latest",
            shorten(text)
        );
        report.error(node.at, path, what);
    }
    sound.then_some((id, version))
}

fn name<'n>(node: &'n Node, what: &str, example: &str, path: &Path<'_>, report: &mut Report) -> Option<&'n str> {
    let text = keys::filled(node, path, &format!("the name of {what}, such as {example}"), report)?;
    if !words::is_graph_id(text) {
        report.error(node.at, path, id_rule(text, &format!("the name of {what}")));
        return None;
    }
    Some(text)
}

fn id_rule(text: &str, what: &str) -> String {
    format!(
        "`{}` is not {what}; use lower-case letters, digits, `.`, `_`, `/` and `-`, a letter or digit at each end, \
         {GRAPH_ID_CHARACTERS} characters at most",
        shorten(text)
    )
}

/// The facts that could be read; of the others the report says why.
fn facts<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Vec<FactDraft<'n>> {
    let wanted = "a mapping from each fact to where it comes from, such as `{ release.version: inputs.version }`";
    let Some(entries) = keys::map(node, path, wanted, report) else { return Vec::new() };
    if let Some(first_over) = entries.get(GRAPH_FACTS) {
        let what = format!("there are {} facts; at most {GRAPH_FACTS} are allowed: leave some out", entries.len());
        report.error(first_over.key_at, &path.key(&first_over.key), what);
        return Vec::new();
    }
    let known: HashSet<&str> = entries.iter().map(|e| e.key.as_str()).collect();
    let mut facts = Vec::new();
    for entry in entries {
        let here = path.key(&entry.key);
        if !words::is_fact_path(&entry.key) {
            let what = format!(
                "`{}` is not the path of a fact; join names of letters, digits, `_` and `-` by dots, \
                 {FACT_PATH_NAMES} names and {FACT_PATH_CHARACTERS} characters at most",
                shorten(&entry.key)
            );
            report.error(entry.key_at, &here, what);
        } else if let Some(above) = above(&entry.key).find(|above| known.contains(above)) {
            let what = format!("lies within `{}`, which is a fact of its own here; keep one of them", shorten(above));
            report.error(entry.key_at, &here, what);
        }
        let wanted = "a path into run data, such as `inputs.version`";
        let from = keys::filled(&entry.value, &here, wanted, report)
            .and_then(|text| person::reference(text, &entry.value, &here, report));
        if let Some(from) = from {
            facts.push(FactDraft { path: &entry.key, from, at: entry.value.at });
        }
    }
    facts
}

/// The paths that a path lies within.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('.').filter_map(|(at, _)| path.get(..at))
}
