//! The published schemas: what `schemas/core-2` holds, made from the types that the tools read and write.

use run::{EvidenceShown, RunData, RunView, Verdict, WorkItem};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{
    Tool, cancel, claim, decide, describe, escalate, get_process, get_run, get_work, import_process, list_processes,
    list_runs, publish_process, refuse_blank, renew, send_event, start_run, submit, upload,
};
use crate::error::Code;
use crate::schemas;

/// Every published schema, by its path below `schemas/core-2`.
pub fn published() -> Vec<(String, Value)> {
    let mut all = vec![
        shape::<RunView>("run-view", "What start_run, get_run, submit, decide, escalate and cancel return"),
        shape::<RunData>("run-data", "What a run started with, and what its steps recorded"),
        shape::<WorkItem>("work-item", "What a person decides, with the exact call that decides it"),
        shape::<EvidenceShown>("evidence-item", "An attached file or link, as run data shows it"),
        shape::<Verdict>("check-verdict", "What a check of a submission came to"),
        tool_error(),
    ];
    macro_rules! tools {
        ($($tool:ty),* $(,)?) => { $( all.extend(tool::<$tool>()); )* };
    }
    tools!(
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
    );
    let files: Map<String, Value> = all.iter().map(|(path, _)| (name(path).to_owned(), json!(path))).collect();
    let index = json!({ "protocol": "agentprocess", "version": "core-2", "base": BASE, "schemas": files });
    all.push(("index.json".to_owned(), index));
    all
}

/// What the `$id`s begin with.
const BASE: &str = "urn:procession:schemas:core-2:";

fn tool<T: Tool>() -> [(String, Value); 2] {
    let mut arguments = schemas::arguments::<T::Arguments>();
    refuse_blank(&mut arguments);
    let named = |part: &str| format!("tools/{}.{part}", T::NAME);
    [
        file(&named("arguments"), &format!("Arguments of the tool {}", T::NAME), arguments),
        file(
            &named("result"),
            &format!("Result of the tool {}, inside {{ ok: true, data }}", T::NAME),
            schemas::data::<T::Data>(),
        ),
    ]
}

fn shape<T: JsonSchema>(name: &str, description: &str) -> (String, Value) {
    file(name, description, schemas::data::<T>())
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
    file("tool-error", "What a tool refuses with, inside { ok: false, error }", schema)
}

fn file(name: &str, description: &str, mut schema: Map<String, Value>) -> (String, Value) {
    let mut whole = Map::new();
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".to_owned(), json!(format!("{BASE}{name}")));
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
