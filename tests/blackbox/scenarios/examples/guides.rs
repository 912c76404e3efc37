//! The graphs of the examples: their providers are built and published, and their routes taken one after another.

use std::collections::BTreeSet;
use std::path::Path;

use graph::disk::Disk;
use serde_json::{Value, json};

use super::once;
use crate::harness::{Bundle, Org};

/// Most routes that one claim is followed for.
const ROUTES: usize = 50;

/// Publishes the provider that lies beside a process, if one does.
pub fn provide(org: &Org, folder: &Path) {
    let manifest = folder.join("provider/provider.yaml");
    if !manifest.is_file() {
        return;
    }
    let (disk, name) = Disk::of(&manifest).unwrap();
    let provider = graph::load(&disk, &name).unwrap_or_else(|e| panic!("{}: {e}: {:#?}", e.code, e.diagnostics));
    let built = graph::build(&disk, &provider).unwrap();
    org.provide(&Bundle {
        files: built.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect(),
        version: built.manifest.provider.version,
        digest: built.manifest.digest,
    });
}

/// Takes every route that the graph of a claimed step offers, what it asks of people as a person. Ends where it offers none,
/// or one that was taken: what proves that one is not the player's to record.
pub fn follow(org: &Org, claimed: &Value) {
    let graph = &claimed["extensions"]["graph"];
    let mut evaluation = graph["evaluation"].clone();
    let mut taken = BTreeSet::new();
    for _ in 0..ROUTES {
        let primary = &evaluation["primaryRoute"];
        if primary.is_null() {
            return;
        }
        let asked = json!({ "graphRunId": graph["graphRunId"], "routeId": primary["routeId"],
            "revision": evaluation["revision"] });
        let route = org.agent.ok("get_route", asked)["route"].clone();
        let node = route["afterAction"]["recordNode"].clone();
        if !taken.insert(node.as_str().unwrap().to_owned()) {
            return;
        }
        let who = if route["availability"] == "requires-user" { &org.staff } else { &org.agent };
        let outcome = json!({ "graphRunId": graph["graphRunId"], "node": node, "outcome": "completed",
            "revision": evaluation["revision"] });
        evaluation = once(who, "record_outcome", outcome).unwrap()["evaluation"].clone();
    }
    panic!("more than {ROUTES} routes: {evaluation}");
}
