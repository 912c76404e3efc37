//! Who may call what (core §4, §6.4): every tool, as every kind of caller. A tool that is listed and has no row fails.

use std::collections::BTreeSet;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use crate::harness::{Bundle, Client, Org, PARCEL, Server, anonymous, file, fresh, scenarios};

scenarios! {
    any: [every_tool_as_every_caller],
    own: [a_person_through_another_client],
}

/// Who calls, in the order of the columns.
const CALLERS: [&str; 8] = ["agent", "member", "outsider", "other client", "operator", "machine", "foreign", "nobody"];

/// What each of them is told. `ok`, or the code of the refusal.
///
/// member: a person of the group that the work is assigned to. other client: the same person, whose token was given to a
/// client through which people do not act. machine: an agent with the operator right, in the same group. foreign: such a
/// machine of another organization.
const TABLE: [(&str, [&str; 8]); 29] = [
    ("describe", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("list_processes", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("start_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("get_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("get_work", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("claim", ["ok", "forbidden", "forbidden", "forbidden", "forbidden", "ok", "not_found", "401"]),
    ("renew", ["ok", "forbidden", "forbidden", "forbidden", "forbidden", "ok", "invalid", "401"]),
    ("upload", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("submit", ["ok", "forbidden", "forbidden", "forbidden", "forbidden", "ok", "invalid", "401"]),
    ("escalate", ["ok", "forbidden", "forbidden", "forbidden", "forbidden", "ok", "invalid", "401"]),
    ("decide", ["forbidden", "ok", "forbidden", "forbidden", "forbidden", "forbidden", "not_found", "401"]),
    ("cancel", ["forbidden", "forbidden", "forbidden", "forbidden", "ok", "ok", "not_found", "401"]),
    ("send_event", ["ok", "forbidden", "forbidden", "forbidden", "ok", "ok", "not_found", "401"]),
    ("list_runs", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("import_process", ["forbidden", "forbidden", "forbidden", "forbidden", "ok", "ok", "ok", "401"]),
    ("publish_process", ["forbidden", "forbidden", "forbidden", "forbidden", "ok", "ok", "not_found", "401"]),
    ("get_process", ["forbidden", "forbidden", "forbidden", "forbidden", "ok", "ok", "not_found", "401"]),
    ("publish_provider", ["forbidden", "forbidden", "forbidden", "forbidden", "ok", "ok", "ok", "401"]),
    ("list_providers", ["ok", "ok", "ok", "ok", "ok", "ok", "ok", "401"]),
    ("evaluate_graph", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("get_route", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("start_graph_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("record_outcome", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("set_facts", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("set_authorities", ["forbidden", "ok", "ok", "forbidden", "ok", "ok", "not_found", "401"]),
    ("get_graph_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("checkpoint_graph_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("resume_graph_run", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
    ("locate_resource", ["ok", "ok", "ok", "ok", "ok", "ok", "not_found", "401"]),
];

const STEPS: &str = "
steps:
  - { id: work, agent: Work., next: look }
  - { id: look, task: Look., person: clerk }
  - { id: end, finish: over }
";

/// A token of the same issuer for the same person, given to another client. The issuer's key lies in the data folder.
pub(super) fn of_another_client(org: &Org, person: &Client) -> Client {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let token = person.token();
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let mut claims: Value = serde_json::from_slice(&payload).unwrap();
    assert!(claims["client_id"].is_string());
    claims["client_id"] = json!("some-agent-framework");
    let key = std::fs::read(org.server.data().join("keys/issuer.json")).unwrap();
    let key: Value = serde_json::from_slice(&key).unwrap();
    let mut der = vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    der.extend(URL_SAFE_NO_PAD.decode(key["seed"].as_str().unwrap()).unwrap());
    let header = Header { kid: key["id"].as_str().map(str::to_owned), ..Header::new(Algorithm::EdDSA) };
    person.with_token(jsonwebtoken::encode(&header, &claims, &EncodingKey::from_ed_der(&der)).unwrap())
}

fn every_tool_as_every_caller(org: &Org) {
    org.publish(&file("open", STEPS));
    org.provide(&Bundle::parcel());
    let listed = org.agent.rpc("tools/list", json!({}));
    let listed: BTreeSet<&str> =
        listed["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    let rows: BTreeSet<&str> = TABLE.iter().map(|(tool, _)| *tool).collect();
    assert_eq!(listed, rows, "a tool without a row, or a row without a tool");
    let foreign = org.foreign().client("agent", "pipeline", &["staff"], true);
    let machine = org.client("agent", "pipeline", &["staff"], true);
    let callers = [
        ("agent", &org.agent),
        ("member", &org.staff),
        ("outsider", &org.outsider),
        ("operator", &org.operator),
        ("machine", &machine),
        ("foreign", &foreign),
    ];
    let wrong: Vec<String> = callers.into_iter().flat_map(|(name, caller)| differences(org, name, caller)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (tool, row) in TABLE {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments(org, tool, &org.agent) },
        });
        let told = anonymous("POST", &org.server.mcp(), Some(body)).status.to_string();
        assert_eq!(told, row[column("nobody")], "{tool} as nobody");
    }
}

fn a_person_through_another_client() {
    let org = Org::new(&Server::shared(), "another-client");
    org.publish(&file("open", STEPS));
    org.provide(&Bundle::parcel());
    let other = of_another_client(&org, &org.staff);
    let wrong = differences(&org, "other client", &other);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn column(name: &str) -> usize {
    CALLERS.iter().position(|caller| *caller == name).unwrap()
}

/// Where what this caller is told is not what the table says.
fn differences(org: &Org, name: &str, caller: &Client) -> Vec<String> {
    let told = TABLE.map(|(tool, row)| {
        let told = match caller.exact(tool, arguments(org, tool, caller)) {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.code,
        };
        let expected = row[column(name)];
        (told != expected).then(|| format!("{tool} as {name}: {told}, not {expected}"))
    });
    told.into_iter().flatten().collect()
}

/// Arguments with which the call succeeds for whoever may make it.
fn arguments(org: &Org, tool: &str, caller: &Client) -> Value {
    let once = |tool: &str, client: &Client, mut arguments: Value| {
        arguments["requestId"] = json!(fresh());
        client.exact(tool, arguments).unwrap()
    };
    let run = || once("start_run", &org.agent, json!({ "process": "open", "inputs": {} }));
    let graph_run = || {
        let start = json!({ "provider": PARCEL, "graph": "parcel" });
        once("start_graph_run", &org.agent, start)["run"]["id"].clone()
    };
    // A token is its caller's; who cannot have one is given somebody else's.
    let token = || {
        let own = caller.who.kind == "agent" && caller.who.org == org.name;
        let holder = if own { caller } else { &org.agent };
        once("claim", holder, json!({ "runId": run()["run"]["id"], "stepId": "work" }))["token"].clone()
    };
    let mut arguments = match tool {
        "describe" | "list_processes" | "get_work" | "list_runs" => return json!({}),
        "start_run" => json!({ "process": "open", "inputs": {} }),
        "get_run" => return json!({ "runId": run()["run"]["id"] }),
        "claim" => json!({ "runId": run()["run"]["id"], "stepId": "work" }),
        "renew" => json!({ "token": token() }),
        "upload" => json!({ "fileName": "a", "contentType": "text/plain", "contentBase64": "aGVsbG8=" }),
        "submit" => json!({ "token": token(), "output": {}, "summary": "Done." }),
        "escalate" => json!({ "token": token(), "note": "Stuck." }),
        "decide" => {
            let run = run();
            let claimed = once("claim", &org.agent, json!({ "runId": run["run"]["id"], "stepId": "work" }));
            let submit = json!({ "token": claimed["token"], "output": {}, "summary": "Done." });
            let view = once("submit", &org.agent, submit);
            let mut call = view["workItems"][0]["decide"]["arguments"].clone();
            call["decision"] = json!("completed");
            call
        }
        "cancel" => json!({ "runId": run()["run"]["id"], "reason": "Enough." }),
        "send_event" => json!({ "runId": run()["run"]["id"], "name": "event" }),
        "import_process" => json!({ "source": file("other", STEPS) }),
        "publish_process" => {
            once("import_process", &org.operator, json!({ "source": file("other", STEPS) }));
            json!({ "name": if caller.who.org == org.name { "other" } else { "open" }, "roles": { "clerk": "staff" } })
        }
        "get_process" => return json!({ "name": "open" }),
        "publish_provider" => Bundle::changed(&[("provider.yaml", PARCEL, "acme/other")]).arguments(),
        "list_providers" => return json!({}),
        "evaluate_graph" | "get_route" => return json!({ "provider": PARCEL, "graph": "parcel" }),
        "start_graph_run" => json!({ "provider": PARCEL, "graph": "parcel" }),
        "record_outcome" => json!({ "graphRunId": graph_run(), "node": "parcel/weigh", "outcome": "completed" }),
        "set_facts" => json!({ "graphRunId": graph_run(), "facts": { "parcel": { "weight": 7 } } }),
        "set_authorities" => json!({ "graphRunId": graph_run(), "authorities": ["shipping"] }),
        "get_graph_run" => return json!({ "graphRunId": graph_run() }),
        "checkpoint_graph_run" => json!({ "graphRunId": graph_run() }),
        "resume_graph_run" => {
            let kept = once("checkpoint_graph_run", &org.agent, json!({ "graphRunId": graph_run() }));
            json!({ "checkpoint": kept["checkpoint"] })
        }
        "locate_resource" => return json!({ "provider": PARCEL, "id": "scales" }),
        other => panic!("no arguments for {other}"),
    };
    arguments["requestId"] = json!(fresh());
    arguments
}
