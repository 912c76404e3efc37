//! Bundles of a provider of graphs, and what every answer about graphs is held to.
//!
//! The provider's sources are in `tests/blackbox/parcel`; a bundle is built of them anew, as `agent-graph build` builds one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Value, json};

use super::{Org, fresh};

/// A bundle.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// Each file's bytes by its path, the manifest among them.
    pub files: BTreeMap<String, Vec<u8>>,
    pub version: String,
    pub digest: String,
}

/// The provider of every bundle here.
pub const PARCEL: &str = "acme/parcel";

impl Bundle {
    /// The provider as its sources have it.
    pub fn parcel() -> Bundle {
        Bundle::changed(&[])
    }

    /// The same under this version.
    pub fn version(version: &str) -> Bundle {
        Bundle::changed(&[("provider.yaml", "version: 1.0.0", &format!("version: {version}"))])
    }

    /// The same with some text of some sources replaced: path, what it says, what it is to say.
    pub fn changed(changes: &[(&str, &str, &str)]) -> Bundle {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blackbox/parcel");
        let mut sources = BTreeMap::new();
        read(&folder, "", &mut sources);
        for (path, from, to) in changes {
            let text = String::from_utf8(sources[*path].clone()).unwrap();
            assert!(text.contains(from), "{path} does not say {from}");
            sources.insert((*path).to_owned(), text.replace(from, to).into_bytes());
        }
        let sources = sources.into_iter().map(|(path, bytes)| (path, Arc::from(bytes))).collect();
        let source = graph::Memory(sources);
        let provider =
            graph::load(&source, "provider.yaml").unwrap_or_else(|e| panic!("{}: {e}: {:#?}", e.code, e.diagnostics));
        let built =
            graph::build(&source, &provider).unwrap_or_else(|e| panic!("{}: {e}: {:#?}", e.code, e.diagnostics));
        Bundle {
            files: built.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect(),
            version: built.manifest.provider.version,
            digest: built.manifest.digest,
        }
    }

    /// The arguments that publish it, without a request id.
    pub fn arguments(&self) -> Value {
        let file =
            |(path, bytes): (&String, &Vec<u8>)| json!({ "path": path, "contentBase64": STANDARD.encode(bytes) });
        json!({ "files": self.files.iter().map(file).collect::<Vec<_>>() })
    }

    /// Which provider an answer says was asked.
    pub fn asked(&self) -> Value {
        json!({ "id": PARCEL, "version": self.version, "digest": self.digest })
    }
}

fn read(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => read(&entry.path(), &format!("{path}/"), found),
            false => drop(found.insert(path, std::fs::read(entry.path()).unwrap())),
        }
    }
}

impl Org {
    /// Publishes a bundle. Gives what the publication returned.
    #[track_caller]
    pub fn provide(&self, bundle: &Bundle) -> Value {
        let mut arguments = bundle.arguments();
        arguments["requestId"] = json!(fresh());
        self.operator.exact("publish_provider", arguments).unwrap_or_else(|e| panic!("not published: {e:?}"))
    }

    /// Publishes the parcel provider and starts a run of its graph as an agent.
    #[track_caller]
    pub fn parcel(&self) -> Value {
        self.provide(&Bundle::parcel());
        self.agent.ok("start_graph_run", json!({ "provider": PARCEL, "graph": "parcel" }))
    }
}

/// Published schemas refer to each other by their identities, and to nothing else.
struct Published;

impl Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.as_str().rsplit(':').next().unwrap();
        Ok(serde_json::from_str(graph::schema_named(name)?)?)
    }
}

/// A published schema of agent-graph.
fn document(name: &str) -> Validator {
    let schema = serde_json::from_str(graph::schema_named(name).unwrap()).unwrap();
    jsonschema::options().with_retriever(Published).should_validate_formats(true).build(&schema).unwrap()
}

/// The documents that answers hold, by their identity.
static DOCUMENTS: LazyLock<BTreeMap<&'static str, Validator>> = LazyLock::new(|| {
    let named = [
        ("agent-graph.evaluation.v1", "evaluation"),
        ("agent-graph.route.v1", "route"),
        ("agent-graph.run.v1", "run"),
        ("agent-graph.resource-location.file.v1", "resource-location-file"),
        ("agent-graph.resource-location.graph-action.v1", "resource-location-graph-action"),
        ("agent-graph.resource-location.host-action.v1", "resource-location-host-action"),
    ];
    named.into_iter().map(|(identity, name)| (identity, document(name))).collect()
});

/// Holds the documents of an answer to their schemas, and a run to what must be true of every one.
pub fn consistent(tool: &str, data: &Value) {
    if tool == "claim" {
        return consistent("extensions.graph of claim", &data["extensions"]["graph"]);
    }
    for key in ["evaluation", "route", "run", "location"] {
        let Some(identity) = data[key]["schema"].as_str() else { continue };
        let schema = DOCUMENTS.get(identity).unwrap_or_else(|| panic!("{tool}: {identity} is no known document"));
        let faults: Vec<String> =
            schema.iter_errors(&data[key]).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{tool}: {key} is no {identity}: {faults:?} in {data}");
    }
    if data["run"]["schema"] == "agent-graph.run.v1" {
        run_is_consistent(tool, data);
    }
}

fn run_is_consistent(tool: &str, data: &Value) {
    let (run, evaluation) = (&data["run"], &data["evaluation"]);
    let fail = |why: &str| panic!("{tool}: {why}: {data}");
    for (key, other) in [("provider", "provider"), ("graph", "graph"), ("entry", "entry")] {
        if run[key] != evaluation[other] {
            fail("the evaluation is of another run");
        }
    }
    if run["provider"] != data["provider"]["id"] {
        fail("the run is of another provider");
    }
    let events = run["events"].as_array().unwrap();
    if events.iter().enumerate().any(|(place, event)| event["sequence"] != place + 1) {
        fail("events are numbered from 1, none left out");
    }
    if events[0]["type"] != "run.started" || events.last().unwrap()["at"] != run["updatedAt"] {
        fail("a run begins with its start and was changed last by its last event");
    }
    for (node, record) in run["outcomes"].as_object().unwrap() {
        let mut recorded = events.iter().filter(|e| e["type"] == "node.outcome-recorded" && e["node"] == node.as_str());
        let Some(last) = recorded.next_back() else { return fail("an outcome that nobody recorded") };
        if (&last["outcome"], &last["at"], &last["detail"])
            != (&record["outcome"], &record["recordedAt"], &record["detail"])
        {
            fail("an outcome is the one recorded last");
        }
    }
    let recorded = events.iter().filter(|e| e["type"] == "node.outcome-recorded");
    for event in recorded {
        if run["outcomes"].get(event["node"].as_str().unwrap()).is_none() {
            fail("an outcome was recorded and is not there");
        }
    }
}
