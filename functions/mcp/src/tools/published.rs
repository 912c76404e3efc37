//! The published schemas: what `schemas/core-2` and `schemas/graph-1` hold, made from the types that the tools read and write.

use run::{EvidenceShown, RunData, RunView, Verdict, WorkItem};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{
    Tool, cancel, checkpoint_graph_run, claim, decide, describe, escalate, evaluate_graph, get_graph_run, get_process,
    get_route, get_run, get_work, import_process, list_processes, list_providers, list_runs, locate_resource,
    publish_process, publish_provider, record_outcome, refuse_blank, renew, resume_graph_run, send_event,
    set_authorities, set_facts, start_graph_run, start_run, submit, upload,
};
use crate::error::Code;
use crate::schemas;

/// The schemas of each of these tools.
macro_rules! tools {
    ($base:expr; $($tool:ty),* $(,)?) => {{
        let mut all = Vec::new();
        $( all.extend(tool::<$tool>($base)); )*
        all
    }};
}

/// Every published schema of the protocol, by its path below `schemas/core-2`.
pub fn published() -> Vec<(String, Value)> {
    let mut all = vec![
        shape::<RunView>("run-view", "What start_run, get_run, submit, decide, escalate and cancel return"),
        shape::<RunData>("run-data", "What a run started with, and what its steps recorded"),
        shape::<WorkItem>("work-item", "What a person decides, with the exact call that decides it"),
        shape::<EvidenceShown>("evidence-item", "An attached file or link, as run data shows it"),
        shape::<Verdict>("check-verdict", "What a check of a submission came to"),
        tool_error(),
    ];
    all.extend(tools![
        CORE;
        describe::Describe,
        list_processes::ListProcesses,
        start_run::StartRun,
        get_run::GetRun,
        get_work::GetWork,
        claim::Claim,
        renew::Renew,
        upload::Upload,
        submit::Submit,
        escalate::Escalate,
        decide::Decide,
        cancel::Cancel,
        send_event::SendEvent,
        list_runs::ListRuns,
        import_process::ImportProcess,
        publish_process::PublishProcess,
        get_process::GetProcess,
    ]);
    indexed(all, json!({ "protocol": "agentprocess", "version": "core-2", "base": CORE }))
}

/// Every published schema of the tools of graphs, by its path below `schemas/graph-1`. The documents of agent-graph are in
/// them as they are in `schemas/agent-graph`.
pub fn published_graphs() -> Vec<(String, Value)> {
    let all = tools![
        GRAPHS;
        publish_provider::PublishProvider,
        list_providers::ListProviders,
        evaluate_graph::EvaluateGraph,
        get_route::GetRoute,
        start_graph_run::StartGraphRun,
        record_outcome::RecordOutcome,
        set_facts::SetFacts,
        set_authorities::SetAuthorities,
        get_graph_run::GetGraphRun,
        checkpoint_graph_run::CheckpointGraphRun,
        resume_graph_run::ResumeGraphRun,
        locate_resource::LocateResource,
    ];
    indexed(all, json!({ "protocol": "agentprocess", "profile": "graph-1", "base": GRAPHS }))
}

/// What the `$id`s of the protocol begin with.
const CORE: &str = "urn:procession:schemas:core-2:";

/// What the `$id`s of the tools of graphs begin with.
const GRAPHS: &str = "urn:procession:schemas:graph-1:";

/// The same with an index of them.
fn indexed(mut all: Vec<(String, Value)>, mut index: Value) -> Vec<(String, Value)> {
    let files: Map<String, Value> = all.iter().map(|(path, _)| (name(path).to_owned(), json!(path))).collect();
    if let Value::Object(index) = &mut index {
        index.insert("schemas".to_owned(), Value::Object(files));
    }
    all.push(("index.json".to_owned(), index));
    all
}

fn tool<T: Tool>(base: &str) -> [(String, Value); 2] {
    let mut arguments = schemas::arguments::<T::Arguments>();
    refuse_blank(&mut arguments);
    let named = |part: &str| format!("tools/{}.{part}", T::NAME);
    [
        file(base, &named("arguments"), &format!("Arguments of the tool {}", T::NAME), arguments),
        file(
            base,
            &named("result"),
            &format!("Result of the tool {}, inside {{ ok: true, data }}", T::NAME),
            schemas::data::<T::Data>(),
        ),
    ]
}

fn shape<T: JsonSchema>(name: &str, description: &str) -> (String, Value) {
    file(CORE, name, description, schemas::data::<T>())
}

fn tool_error() -> (String, Value) {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "enum": codes },
            "message": { "type": "string" },
            "issues": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["code", "message"],
        "additionalProperties": false,
    });
    let Value::Object(schema) = schema else { return ("tool-error.json".to_owned(), Value::Null) };
    file(CORE, "tool-error", "What a tool refuses with, inside { ok: false, error }", schema)
}

fn file(base: &str, name: &str, description: &str, mut schema: Map<String, Value>) -> (String, Value) {
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".to_owned(), json!(format!("{base}{name}")));
    whole.insert("title".to_owned(), json!(name.replace(['/', '.'], " ").trim_start_matches("tools ")));
    whole.insert("description".to_owned(), json!(description));
    for key in ["$schema", "$id", "title", "description"] {
        schema.remove(key);
    }
    whole.extend(schema);
    (format!("{name}.json"), Value::Object(whole))
}

fn name(path: &str) -> &str {
    path.trim_end_matches(".json")
}
