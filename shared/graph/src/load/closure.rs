//! The files that each Graph depends on, with those of the Graphs it enters (section-evaluation).

use std::collections::{BTreeMap, BTreeSet};

use super::Loaded;
use super::parts::Parts;
use super::rules::Uses;
use crate::documents::{Graph, Resource};

/// For each Graph, its files, sorted. The Graphs enter each other without a circle.
pub(super) fn closures(
    parts: &Parts<'_>,
    graphs: &BTreeMap<String, Loaded<Graph>>,
    uses: &BTreeMap<String, Uses>,
) -> BTreeMap<String, Vec<String>> {
    let mut done: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for start in graphs.keys() {
        let mut way = vec![start.as_str()];
        while let Some(id) = way.last().copied() {
            let entered = uses.get(id).map(|uses| &uses.graphs);
            let open = || entered.into_iter().flatten().filter(|child| !done.contains_key(*child));
            if done.contains_key(id) {
                way.pop();
            } else if open().next().is_some() {
                way.extend(open().map(String::as_str));
            } else {
                let mut files = own(parts, graphs.get(id), uses.get(id));
                for child in entered.into_iter().flatten() {
                    files.extend(done.get(child).into_iter().flatten().map(String::as_str));
                }
                let files = files.into_iter().map(str::to_owned).collect();
                done.insert(id.to_owned(), files);
                way.pop();
            }
        }
    }
    done
}

/// The files of a Graph alone.
fn own<'a>(parts: &'a Parts<'_>, graph: Option<&'a Loaded<Graph>>, uses: Option<&'a Uses>) -> BTreeSet<&'a str> {
    let mut files: BTreeSet<&str> = graph.map(|graph| graph.path.as_str()).into_iter().collect();
    let mut actions: BTreeSet<&str> = BTreeSet::new();
    if let Some(uses) = uses {
        actions.extend(uses.actions.iter().map(String::as_str));
        for path in &uses.resources {
            files.insert(path);
            match parts.resources.get(path).map(|resource| &resource.value) {
                Some(Resource::File(file)) => drop(files.insert(&file.path)),
                Some(Resource::GraphAction(made)) => drop(actions.insert(&made.materializer)),
                Some(Resource::HostAction(made)) => drop(actions.insert(&made.materializer)),
                None => {}
            }
        }
    }
    for path in actions {
        files.insert(path);
        files.extend(parts.action_files.get(path).into_iter().flatten().map(String::as_str));
    }
    files
}
