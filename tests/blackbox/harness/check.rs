//! What every answer is held to: the schemas that the server lists, those of `schemas/core-2` and `schemas/graph-1`, and the
//! consistency of a run view.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{Client, verdict};

/// A tool as `tools/list` shows it, and as `schemas` publishes it.
struct Listed {
    input: Validator,
    output: Validator,
    published_arguments: Validator,
    published_result: Validator,
    takes_request_id: bool,
}

/// One product, so one list of tools, however many servers run.
static TOOLS: OnceLock<BTreeMap<String, Listed>> = OnceLock::new();

/// What every refusal is, as it is published.
static TOOL_ERROR: LazyLock<Validator> = LazyLock::new(|| published("core-2/tool-error"));

/// A published schema of the tools, by its path below `schemas` without `.json`.
fn published(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{name}.json"));
    let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    jsonschema::options().build(&serde_json::from_slice(&text).unwrap()).unwrap()
}

fn listed<'a>(client: &Client, tool: &str) -> &'a Listed {
    let tools = TOOLS.get_or_init(|| {
        let list = client.rpc("tools/list", json!({}));
        let tools = list["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| {
                let name = tool["name"].as_str().unwrap().to_owned();
                let folder = if identity::GRAPH_TOOLS.contains(&&*name) { "graph-1" } else { "core-2" };
                let mut required = tool["inputSchema"]["required"].as_array().into_iter().flatten();
                let listed = Listed {
                    input: jsonschema::options().build(&tool["inputSchema"]).unwrap(),
                    output: jsonschema::options().build(&tool["outputSchema"]).unwrap(),
                    published_arguments: published(&format!("{folder}/tools/{name}.arguments")),
                    published_result: published(&format!("{folder}/tools/{name}.result")),
                    takes_request_id: required.any(|name| name == "requestId"),
                };
                (name, listed)
            })
            .collect()
    });
    tools.get(tool).unwrap_or_else(|| panic!("{tool} is not listed"))
}

/// Whether a tool writes.
pub fn takes_request_id(client: &Client, tool: &str) -> bool {
    listed(client, tool).takes_request_id
}

/// Holds a call to the schemas of the tool, listed and published: the result always, the arguments if they were accepted.
pub fn against_schemas(client: &Client, tool: &str, arguments: &Value, result: &Value) {
    let schemas = listed(client, tool);
    holds(&schemas.output, result, tool, "its listed result");
    if result["ok"] == true {
        holds(&schemas.input, arguments, tool, "its listed arguments");
        holds(&schemas.published_arguments, arguments, tool, "its published arguments");
        holds(&schemas.published_result, &result["data"], tool, "its published result");
    } else {
        holds(&TOOL_ERROR, &result["error"], tool, "the published tool error");
    }
}

fn holds(schema: &Validator, value: &Value, tool: &str, what: &str) {
    let faults: Vec<String> = schema.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(faults.is_empty(), "{tool} does not keep the schema of {what}: {faults:?} in {value}");
}

/// Holds a run view to what must be true of every one (core §3.5, §6).
pub fn consistent(tool: &str, data: &Value) {
    if data.get("workItems").is_none() || data.get("run").is_none() {
        return;
    }
    let (run, steps, items) = (&data["run"], data["steps"].as_array().unwrap(), data["workItems"].as_array().unwrap());
    let state = |step: &Value| step["state"].as_str().unwrap_or("-").to_owned();
    let fail = |why: &str| panic!("{tool}: {why}: {data}");
    let ended = matches!(run["state"].as_str(), Some("ended" | "cancelled"));
    let busy = steps.iter().any(|s| matches!(state(s).as_str(), "ready" | "claimed"));
    let open = steps.iter().any(|s| matches!(state(s).as_str(), "ready" | "claimed" | "waiting"));
    if (run["state"] == "active") != busy {
        fail("a run is active exactly when some step is ready or claimed");
    }
    if ended == open {
        fail("a run has open steps exactly while it has not ended");
    }
    if ended == run["ended"].is_null() || (run["state"] == "ended") == run["outcome"].is_null() {
        fail("ended and outcome do not fit the run's state");
    }
    if ended && !items.is_empty() {
        fail("an ended run has open work items");
    }
    if !ended && steps.iter().any(|s| matches!(state(s).as_str(), "failed" | "cancelled")) {
        fail("a step failed or was cancelled in a run that goes on");
    }
    if let Err(why) = verdict::consistent(data) {
        fail(why);
    }
    for item in items {
        let step = steps.iter().find(|s| s["id"] == item["stepId"]);
        if step.is_none_or(|s| state(s) != "waiting" || s["kind"] != item["kind"]) {
            fail("a work item's step is not waiting");
        }
        let decide = &item["decide"]["arguments"];
        if decide["runId"] != run["id"] || decide["workItemId"] != item["id"] || decide["snapshot"] != item["snapshot"]
        {
            fail("the decide call is not about its own work item");
        }
        if item["snapshot"] != items[0]["snapshot"] {
            fail("two work items of one read have two snapshots");
        }
        if (item.get("mode") == Some(&json!("test"))) != (run["mode"] == "test") {
            fail("a work item does not say that its run is a test");
        }
    }
    for step in steps {
        let is_open = matches!(state(step).as_str(), "ready" | "claimed" | "waiting");
        if step["kind"] == "parallel" && matches!(state(step).as_str(), "ready" | "claimed" | "failed") {
            fail("a parallel step does no work itself");
        }
        if step.get("due").is_some() != step.get("overdue").is_some() || (step.get("due").is_some() && !is_open) {
            fail("due and overdue belong to open steps, both or none");
        }
    }
    for (id, entry) in data["data"]["steps"].as_object().unwrap() {
        let Some(step) = steps.iter().find(|s| s["id"] == id.as_str()) else { return fail("data of an unknown step") };
        if step["kind"] == "finish" || step["kind"] == "parallel" {
            fail("a finish or a parallel step records nothing");
        }
        let Some(history) = entry["history"].as_array() else { return fail("an entry without history") };
        let current = entry.get("by").is_some();
        // While a check is unsure, its verdict alone may be there.
        if !current && history.is_empty() && entry.get("check").is_none() {
            fail("an entry that holds nothing");
        }
        if matches!(state(step).as_str(), "done" | "failed") != current && state(step) == "done" {
            fail("a done step without a completion");
        }
        if history.iter().any(|h| h.get("history").is_some() || h.get("by").is_none() || h.get("at").is_none()) {
            fail("a history that is nested, or does not say who and when");
        }
    }
    for step in steps.iter().filter(|s| state(s) == "done" && s["kind"] != "finish" && s["kind"] != "parallel") {
        if data["data"]["steps"].get(step["id"].as_str().unwrap()).is_none() {
            fail("a done step without data");
        }
    }
}
