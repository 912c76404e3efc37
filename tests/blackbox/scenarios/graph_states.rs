//! Graphs asked in a state that the call gives: what they allow next, and the route in full.

use serde_json::{Value, json};

use crate::harness::{Answer, Bundle, Org, PARCEL, refused, refused_as, scenarios};

scenarios! {
    any: [
        each_state_has_its_status,
        a_run_or_a_provider_is_named,
        a_route_says_all_that_is_needed,
        a_route_of_another_revision_is_refused,
        a_route_is_asked_by_its_id,
        what_was_read_is_current,
        an_authority_is_only_a_persons_to_give,
        the_digits_of_facts_are_kept,
    ],
}

fn with(state: Value) -> Value {
    let mut arguments = json!({ "provider": PARCEL, "graph": "parcel" });
    for (name, value) in state.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

fn evaluate(org: &Org, state: Value) -> Value {
    org.agent.ok("evaluate_graph", with(state))["evaluation"].clone()
}

const DECLARED: &str = "parcel/customs>customs/declare";

/// The state before the gate that an authority may resolve.
fn at_release() -> Value {
    json!({ "facts": { "parcel": { "weight": 812 } }, "outcomes": { DECLARED: "completed" } })
}

fn each_state_has_its_status(org: &Org) {
    org.provide(&Bundle::parcel());
    let told = |state: Value| {
        let evaluation = evaluate(org, state);
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let node = &evaluation["primaryRoute"]["node"];
        format!("{} {} {}", text(&evaluation["statusCode"]), text(node), text(&evaluation["outcome"]))
    };
    assert_eq!(told(json!({})), "actionable weigh -");
    assert_eq!(told(json!({ "outcomes": { "parcel/weigh": "unverified" } })), "blocked - -");
    assert_eq!(told(json!({ "facts": { "parcel": { "weight": null } } })), "actionable declare -");
    assert_eq!(told(at_release()), "waiting-user release -");
    let passed = json!({ DECLARED: "completed", "parcel/release": "completed", "parcel/insure": "completed" });
    let at_send = |outcome: Option<&str>| {
        let mut outcomes = passed.clone();
        if let Some(outcome) = outcome {
            outcomes["parcel/send"] = json!(outcome);
        }
        json!({ "facts": { "parcel": { "weight": 812 } }, "outcomes": outcomes })
    };
    assert_eq!(told(at_send(None)), "actionable send -");
    assert_eq!(told(at_send(Some("completed"))), "complete - completed");
    assert_eq!(told(at_send(Some("failed"))), "complete - failed");
    assert_eq!(told(json!({ "entry": "again" })), "actionable send -");
    assert_eq!(told(json!({ "graph": "customs" })), "actionable declare -");
    let one = evaluate(org, at_release())["revision"].clone();
    assert_eq!(evaluate(org, at_release())["revision"], one, "the same state is the same revision");
    assert_ne!(evaluate(org, json!({}))["revision"], one);
}

fn a_run_or_a_provider_is_named(org: &Org) {
    let run = org.parcel();
    let id = &run["run"]["id"];
    for tool in ["evaluate_graph", "get_route"] {
        refused(org.agent.call(tool, json!({})), "invalid", &["graphRunId: missing, or provider and graph"]);
        refused(org.agent.call(tool, json!({ "facts": {} })), "invalid", &["provider: missing", "graph: missing"]);
        refused(org.agent.call(tool, json!({ "provider": PARCEL })), "invalid", &["graph: missing"]);
        let both = json!({ "graphRunId": id, "provider": PARCEL, "graph": "parcel", "facts": {} });
        let told = ["provider", "graph", "facts"].map(|name| format!("{name}: not together with graphRunId"));
        refused(org.agent.call(tool, both), "invalid", &told.each_ref().map(String::as_str));
        let pinned = with(json!({ "version": "1.0.0", "digest": Bundle::parcel().digest }));
        refused(org.agent.call(tool, pinned), "invalid", &["digest: not together with version"]);
        refused_as(org.agent.call(tool, json!({ "graphRunId": "g_nothing" })), "not_found");
        refused_as(org.foreign().agent.call(tool, json!({ "graphRunId": id })), "not_found");
        let wrong = with(json!({ "outcomes": { "parcel/weigh": "done" }, "facts": [] }));
        let error = refused_as(org.agent.call(tool, wrong), "invalid");
        assert_eq!(error.issues.len(), 2, "{error:?}");
        assert!(error.issues[1].starts_with("outcomes.parcel/weigh: one of completed, "), "{error:?}");
    }
    let evaluated = org.agent.ok("evaluate_graph", json!({ "graphRunId": id }));
    assert_eq!(evaluated["evaluation"], evaluate(org, json!({})), "an empty run is the empty state");
    assert_eq!(evaluated["provider"], run["provider"]);
}

fn a_route_says_all_that_is_needed(org: &Org) {
    let bundle = Bundle::parcel();
    org.provide(&bundle);
    let route = |state: Value| org.agent.ok("get_route", with(state));
    let told = route(json!({}));
    assert_eq!(told["provider"], bundle.asked());
    let weigh = &told["route"];
    assert_eq!((&weigh["node"], &weigh["reasonCode"]), (&json!("weigh"), &json!("route.parcel.weigh")));
    assert_eq!(weigh["hint"], "Nobody knows yet what the parcel weighs.");
    let plan = json!([{ "command": "scales --grams", "effect": "read", "cwd": "workspace", "workingDirectory": "." }]);
    assert_eq!(weigh["commandPlan"], plan);
    let ids = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&weigh["resources"]["required"]), ["scales", "stock"]);
    assert_eq!(ids(&weigh["resources"]["recommended"]), ["tariff", "carriers"]);
    assert_eq!(weigh["resources"]["required"][0]["filePath"], "resources/scales.md", "as in the bundle");
    assert_eq!(weigh["afterAction"], json!({ "evaluate": true, "recordNode": "parcel/weigh" }));
    let declare = &route(json!({ "facts": { "parcel": { "weight": 1 } } }))["route"];
    assert_eq!(declare["callPath"], json!(["parcel/customs"]));
    assert_eq!(declare["afterAction"]["recordNode"], DECLARED);
    assert_eq!(declare["action"]["skill"]["id"], "skill.declare-parcel");
    let release = &route(at_release())["route"];
    assert_eq!((&release["statusCode"], &release["commandPlan"]), (&json!("waiting-user"), &json!([])));
    assert_eq!(release["gate"]["prompt"], "May this parcel leave the house?");
    assert_eq!(release["gate"]["resolution"], "user");
    assert_eq!(release["gate"]["inspectionAction"]["commandPlan"][0]["handler"], "parcel.show");
    let send = &route(json!({ "entry": "again" }))["route"];
    assert_eq!(send["commandPlan"][0]["command"], "sh 'scripts/send.sh'");
}

fn a_route_of_another_revision_is_refused(org: &Org) {
    org.provide(&Bundle::parcel());
    let route = |state: Value| -> Answer { org.agent.call("get_route", with(state)) };
    let revision = evaluate(org, json!({}))["revision"].clone();
    let seen = |mut state: Value| {
        state["revision"] = revision.clone();
        route(state)
    };
    assert_eq!(seen(json!({})).unwrap()["route"]["revision"], revision);
    refused(seen(at_release()), "conflict", &["route_revision_stale"]);
    let error = refused_as(route(json!({ "revision": "yesterday" })), "invalid");
    assert!(error.issues[0].starts_with("revision-invalid: "), "{error:?}");
}

fn a_route_is_asked_by_its_id(org: &Org) {
    org.provide(&Bundle::parcel());
    let evaluation = evaluate(org, json!({}));
    let id = &evaluation["primaryRoute"]["routeId"];
    let route = |state: Value| org.agent.call("get_route", with(state));
    assert_eq!(&route(json!({ "routeId": id })).unwrap()["route"]["routeId"], id);
    let mut later = at_release();
    later["routeId"] = id.clone();
    refused(route(later), "conflict", &["route_stale"]);
    let done = json!({ "entry": "again", "outcomes": { "parcel/send": "completed" } });
    refused(route(done), "conflict", &["route_unavailable"]);
}

fn what_was_read_is_current(org: &Org) {
    org.provide(&Bundle::parcel());
    let route = |receipts: Value| org.agent.call("get_route", with(json!({ "receipts": receipts })));
    let state = |route: &Value, id: &str| -> Value {
        let resources = &route["route"]["resources"];
        let all = ["required", "recommended"].into_iter().flat_map(|key| resources[key].as_array().unwrap());
        all.into_iter().find(|r| r["id"] == id).unwrap()["readState"].clone()
    };
    let told = org.agent.ok("get_route", with(json!({})));
    assert_eq!(state(&told, "scales"), "read-required");
    let scales = &told["route"]["resources"]["required"][0];
    let receipts = |provider: &str, digest: &Value| {
        let one = json!({ "id": "scales", "digest": digest });
        json!({ "schema": "agent-graph.resource-read-receipts.v1", "provider": provider, "receipts": [one] })
    };
    let told = route(receipts(PARCEL, &scales["digest"])).unwrap();
    assert_eq!((state(&told, "scales"), state(&told, "tariff")), (json!("current"), json!("read-required")));
    let other = format!("sha256:{}", "0".repeat(64));
    let told = route(receipts(PARCEL, &json!(other))).unwrap();
    assert_eq!(state(&told, "scales"), "read-required");
    let error = refused_as(route(receipts("acme/other", &scales["digest"])), "invalid");
    assert!(error.issues[0].starts_with("resource-receipts-provider-mismatch: "), "{error:?}");
    let error = refused_as(route(json!({ "provider": PARCEL, "receipts": [{ "id": "scales" }] })), "invalid");
    assert_eq!(error.issues, ["receipts.schema: missing", "receipts.receipts[0].digest: missing"]);
}

fn an_authority_is_only_a_persons_to_give(org: &Org) {
    org.provide(&Bundle::parcel());
    let machine = org.client("agent", "pipeline", &[], true);
    let mut state = at_release();
    state["authorities"] = json!(["shipping"]);
    for tool in ["evaluate_graph", "get_route"] {
        refused_as(org.agent.call(tool, with(state.clone())), "forbidden");
        for caller in [&org.staff, &org.operator, &machine] {
            caller.ok(tool, with(state.clone()));
        }
    }
    let route = org.staff.ok("get_route", with(state.clone()))["route"].clone();
    assert_eq!(
        (&route["statusCode"], &route["gate"]["resolution"]),
        (&json!("actionable"), &json!("session-authority"))
    );
    // None at all is nothing given.
    state["authorities"] = json!([]);
    assert_eq!(org.agent.ok("get_route", with(state))["route"]["statusCode"], "waiting-user");
}

fn the_digits_of_facts_are_kept(org: &Org) {
    org.provide(&Bundle::parcel());
    let facts: Value = serde_json::from_str(r#"{"parcel":{"weight":12345678901234567890.10,"tiny":1e-400}}"#).unwrap();
    let start = json!({ "provider": PARCEL, "graph": "parcel", "facts": facts });
    let run = org.agent.ok("start_graph_run", start);
    let read = org.agent.ok("get_graph_run", json!({ "graphRunId": run["run"]["id"] }));
    for shown in [&run, &read] {
        assert_eq!(shown["run"]["facts"].to_string(), facts.to_string());
    }
    assert_eq!(run["evaluation"]["primaryRoute"]["node"], "declare");
}
