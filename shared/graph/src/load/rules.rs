//! What holds the documents of a Provider together (section-graph, section-gates, section-codes, section-resources).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::parts::Parts;
use super::{Loaded, structure};
use crate::documents::{
    CodeCatalog, CodeKind, DelegatedInspection, Effect, Graph, HostActionResource, Node, NodeKind, NodeResources,
    Resource, Runner,
};
use crate::limits::{CALL_LEVELS, CYCLE_NODES};
use crate::schemas::{self, Unusable};

/// What a Graph refers to.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The Graphs that it enters.
    pub(super) graphs: BTreeSet<String>,
    /// Its Actions by path.
    pub(super) actions: BTreeSet<String>,
    /// Its Resources by path.
    pub(super) resources: BTreeSet<String>,
}

/// Loads what the nodes name, and makes every path in them normal.
pub(super) fn references(
    parts: &mut Parts<'_>,
    graphs: &mut BTreeMap<String, Loaded<Graph>>,
    order: &[String],
) -> BTreeMap<String, Uses> {
    let entries: BTreeMap<String, BTreeSet<String>> =
        graphs.iter().map(|(id, graph)| (id.clone(), graph.value.entrypoints.keys().cloned().collect())).collect();
    let mut all = BTreeMap::new();
    for id in order {
        let Some(graph) = graphs.get_mut(id) else { continue };
        let mut uses = Uses::default();
        for (at, node) in graph.value.nodes.iter_mut().enumerate() {
            let place = format!("{}#/nodes/{at}", graph.path);
            match node.kind {
                NodeKind::Subgraph => subgraph(parts, &entries, &place, node, &mut uses),
                NodeKind::Action => {
                    if let Some(action) = &mut node.action {
                        acting(parts, &format!("{place}/action"), action, &mut uses);
                    }
                }
                NodeKind::Gate => gate(parts, &place, node, &mut uses),
                NodeKind::Terminal => {}
            }
            if let Some(resources) = &mut node.resources {
                selected(parts, &format!("{place}/resources"), resources, &mut uses);
            }
        }
        all.insert(id.clone(), uses);
    }
    all
}

fn subgraph(
    parts: &mut Parts<'_>,
    entries: &BTreeMap<String, BTreeSet<String>>,
    place: &str,
    node: &Node,
    uses: &mut Uses,
) {
    let (Some(child), Some(entry)) = (&node.graph, &node.entry) else { return };
    match entries.get(child) {
        None => {
            let message =
                format!("the node `{}` enters the Graph `{child}`, which the Provider does not have", node.id);
            parts.faults.say("subgraph-missing", format!("{place}/graph"), message);
        }
        Some(names) if !names.contains(entry) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!(
                "the node `{}` enters `{child}` at `{entry}`, which is no entry of it; there are: {}",
                node.id,
                names.join(", ")
            );
            parts.faults.say("subgraph-entry-missing", format!("{place}/entry"), message);
        }
        Some(_) => {
            uses.graphs.insert(child.clone());
        }
    }
}

/// An Action that a node names, with its id and effect.
fn acting(parts: &mut Parts<'_>, place: &str, reference: &mut String, uses: &mut Uses) -> Option<(String, Effect)> {
    let action = parts.action(place, reference)?;
    let known = (action.value.id.clone(), action.value.effect);
    if !uses.actions.contains(reference) {
        uses.actions.insert(reference.clone());
    }
    Some(known)
}

fn selected(parts: &mut Parts<'_>, place: &str, resources: &mut NodeResources, uses: &mut Uses) {
    for (field, list) in [("required", &mut resources.required), ("recommended", &mut resources.recommended)] {
        for (at, reference) in list.iter_mut().flatten().enumerate() {
            if parts.resource(&format!("{place}/{field}/{at}"), reference).is_some()
                && !uses.resources.contains(reference)
            {
                uses.resources.insert(reference.clone());
            }
        }
    }
}

fn gate(parts: &mut Parts<'_>, place: &str, node: &mut Node, uses: &mut Uses) {
    let inspected = node.inspection_action.is_some();
    if let Some(reference) = &mut node.inspection_action {
        let place = format!("{place}/inspectionAction");
        if let Some((action, effect)) = acting(parts, &place, reference, uses)
            && effect != Effect::Read
        {
            let message = format!("the Action `{action}` may run while the Gate waits, so its effect must be read");
            parts.faults.say("gate-inspection-effect-invalid", place, message);
        }
    }
    if let Some(reference) = &mut node.resolution_action {
        resolution(parts, format!("{place}/resolutionAction"), reference, uses);
    }
    let Some(delegated) = &mut node.delegated else { return };
    let place = format!("{place}/delegated");
    if !node.gate.as_ref().is_some_and(|gate| gate.delegatable == Some(true) && gate.authority.is_some()) {
        let message = "no authority of a session can resolve the Gate: it needs an `authority` and `delegatable: true`";
        parts.faults.say("gate-delegated-policy-invalid", &*place, message);
    }
    if delegated.inspection == Some(DelegatedInspection::Skip) && !inspected {
        let message = "there is no `inspectionAction` to skip";
        parts.faults.say("gate-delegated-inspection-missing", format!("{place}/inspection"), message);
    }
    if let Some(reference) = &mut delegated.resolution_action {
        resolution(parts, format!("{place}/resolutionAction"), reference, uses);
    }
    if let Some(resources) = &mut delegated.resources {
        selected(parts, &format!("{place}/resources"), resources, uses);
    }
}

fn resolution(parts: &mut Parts<'_>, place: String, reference: &mut String, uses: &mut Uses) {
    if let Some((action, Effect::Read)) = acting(parts, &place, reference, uses) {
        let message = format!("the Action `{action}` applies the decision, so its effect must be write or external");
        parts.faults.say("gate-resolution-effect-invalid", place, message);
    }
}

/// No Graph enters itself, whatever lies between, and none lies too deep.
pub(super) fn recursion(
    parts: &mut Parts<'_>,
    graphs: &BTreeMap<String, Loaded<Graph>>,
    order: &[String],
    uses: &BTreeMap<String, Uses>,
) {
    let index: BTreeMap<&str, usize> = order.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let children = |id: &String| {
        let children = uses.get(id).into_iter().flat_map(|uses| &uses.graphs);
        children.filter_map(|child| index.get(child.as_str()).copied()).collect()
    };
    let targets: Vec<Vec<usize>> = order.iter().map(children).collect();
    let place = |at: usize| order.get(at).and_then(|id| graphs.get(id)).map_or_else(String::new, |g| g.path.clone());
    if let Some(cycle) = structure::cycle(&targets) {
        let mut ids: Vec<&str> = cycle.iter().filter_map(|at| order.get(*at)).map(String::as_str).collect();
        if ids.len() > CYCLE_NODES {
            ids.truncate(CYCLE_NODES);
            ids.push("…");
        }
        let message = format!("the Graphs enter each other in a circle: {}", ids.join(" -> "));
        parts.faults.say("graph-recursion", place(cycle.first().copied().unwrap_or_default()), message);
        return;
    }
    // Rounds, not recursion: in each round one level more is reached.
    let mut reached: BTreeSet<usize> = (0..targets.len()).collect();
    for _ in 0..=CALL_LEVELS {
        reached = reached.iter().filter_map(|at| targets.get(*at)).flatten().copied().collect();
    }
    if let Some(deep) = reached.first() {
        let message = format!("this Graph lies below more than {CALL_LEVELS} others that enter each other");
        parts.faults.say("graph-recursion", place(*deep), message);
    }
}

/// Every reason is a route-reason of the Code Catalog, when there is one.
pub(super) fn reasons(
    parts: &mut Parts<'_>,
    graphs: &BTreeMap<String, Loaded<Graph>>,
    order: &[String],
    catalog: Option<&Loaded<CodeCatalog>>,
) {
    let Some(catalog) = catalog else { return };
    let kinds: BTreeMap<&str, CodeKind> =
        catalog.value.codes.iter().map(|entry| (entry.code.as_str(), entry.kind)).collect();
    for graph in order.iter().filter_map(|id| graphs.get(id)) {
        for (at, node) in graph.value.nodes.iter().enumerate() {
            let Some(reason) = &node.reason_code else { continue };
            let place = || format!("{}#/nodes/{at}/reasonCode", graph.path);
            match kinds.get(reason.as_str()) {
                None => {
                    let message = format!("the code `{reason}` is not in the Code Catalog {}", catalog.path);
                    parts.faults.say("code-missing", place(), message);
                }
                Some(CodeKind::Diagnostic) => {
                    let message =
                        format!("the code `{reason}` is of kind diagnostic in the Code Catalog, not route-reason");
                    parts.faults.say("route-reason-code-kind-invalid", place(), message);
                }
                Some(CodeKind::RouteReason) => {}
            }
        }
    }
}

/// What makes a Resource is a read-only Action of the right runner, and takes the input it is given.
pub(super) fn materializers(parts: &mut Parts<'_>) {
    let made: Vec<(String, Resource)> = parts
        .resources
        .iter()
        .filter(|(_, resource)| resource.value.dynamic())
        .map(|(path, resource)| (path.clone(), resource.value.clone()))
        .collect();
    for (path, resource) in made {
        let (mut reference, by_host) = match &resource {
            Resource::File(_) => continue,
            Resource::GraphAction(made) => (made.materializer.clone(), false),
            Resource::HostAction(made) => (made.materializer.clone(), true),
        };
        let place = format!("{path}#/materializer");
        let Some(action) = parts.action(&place, &mut reference) else { continue };
        let action = action.value.clone();
        if action.effect != Effect::Read {
            let message = format!("the Action `{}` makes a Resource, so its effect must be read", action.id);
            parts.faults.say("materializer-effect-invalid", &*place, message);
        }
        let (fits, wanted) = match by_host {
            true => (action.runner == Runner::Host, "host"),
            false => (matches!(action.runner, Runner::Command | Runner::Script), "command or script"),
        };
        if !fits {
            let message = format!("the Action `{}` makes this Resource, so its runner must be {wanted}", action.id);
            parts.faults.say("materializer-runner-invalid", &*place, message);
        } else if let Resource::HostAction(made) = &resource {
            host_input(parts, &path, made, action.input_schema.as_deref(), action.output_schema.as_deref());
        }
    }
}

/// The schemas of a host Action have versioned identities, and the input is valid.
fn host_input(parts: &mut Parts<'_>, path: &str, made: &HostActionResource, input: Option<&str>, output: Option<&str>) {
    for (field, schema) in [("inputSchema", input), ("outputSchema", output)] {
        let Some(schema) = schema else {
            let message = format!("a host Action that makes a Resource needs an `{field}` with a versioned `$id`");
            parts.faults.say("materializer-schema-identity-invalid", &*made.materializer, message);
            continue;
        };
        let value = parts.schemas.get(schema).map(|schema| &schema.value);
        let identity = value.and_then(|value| value.get("$id")).and_then(Value::as_str);
        if !identity.is_some_and(versioned) {
            let message = "the `$id` is the protocol's identity and ends in its version: `/v1` or `.v1`";
            parts.faults.say("materializer-schema-identity-invalid", format!("{schema}#/$id"), message);
        }
        let compiled = parts.schemas.get(schema).map(|schema| &schema.compiled);
        if let Some(Err(Unusable { said, elsewhere: true, .. })) = compiled {
            let message = format!("a Resource is held to this schema, so all of it must be in this file: {said}");
            parts.faults.say("schema-compile-failed", schema, message);
        }
    }
    let Some(schema) = input.and_then(|path| parts.schemas.get(path)) else { return };
    let Ok(compiled) = &schema.compiled else { return };
    if let Err(said) = schemas::affordable(&schema.value, &made.input) {
        parts.faults.say("materializer-input-invalid", format!("{path}#/input"), said);
        return;
    }
    for error in compiled.iter_errors(&made.input) {
        let place = format!("{path}#/input{}", error.instance_path());
        parts.faults.say("materializer-input-invalid", place, schemas::said(&error));
    }
}

/// Whether a protocol's identity ends in its version.
fn versioned(identity: &str) -> bool {
    let digits = identity.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = digits.strip_suffix("/v").or_else(|| digits.strip_suffix(".v"));
    digits.len() < identity.len()
        && name.is_some_and(|name| !name.is_empty())
        && !identity.contains(char::is_whitespace)
        && identity.chars().count() <= crate::limits::PROTOCOL_CHARACTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_names_its_version() {
        for good in ["company.request/v1", "urn:acme:request.v12", "https://acme.test/request/v0"] {
            assert!(versioned(good), "{good}");
        }
        for bad in ["", "company.request", "company.request/v", "v1", "/v1", "request-v1", "a b/v1", "company/v1/more"]
        {
            assert!(!versioned(bad), "{bad}");
        }
    }
}
