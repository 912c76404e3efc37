//! Routes, locations and receipts, on a Provider with one of everything.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod acme;

use acme::{at_the_gate, digest, held, hosted, installed, provider, state};
use graph::documents::{ReadReceipts, Route};
use graph::{RouteRequest, State, code_list, code_locate, evaluate, locate, receipts, route};
use serde_json::{Value, json};

const RELEASE: RouteRequest<'static> =
    RouteRequest { graph: "release", entry: "default", route_id: None, revision: None, receipts: None };

fn primary(state: &State) -> Route {
    let told = route(&provider(), &installed(), state, &RELEASE).unwrap();
    held("route", &told);
    told
}

fn value(of: &impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap()
}

/// A file location as it is told on a Route.
fn file(id: &str, kind: &str, media_type: &str, path: &str, read: &str) -> Value {
    json!({ "schema": "agent-graph.resource-location.file.v1", "id": id, "kind": kind, "mediaType": media_type,
        "digest": digest(path), "filePath": format!("/opt/acme/{path}"), "readState": read })
}

fn refused(request: &RouteRequest<'_>) -> (String, String) {
    let failure = route(&provider(), &installed(), &State::default(), request).unwrap_err();
    (failure.code.into_owned(), failure.message)
}

#[test]
fn an_agents_route_lists_its_skill_first_and_plans_nothing() {
    let state = State::default();
    let evaluation = evaluate(&provider(), "release", "default", &state).unwrap().evaluation;
    let primary_route = evaluation.primary_route.unwrap();
    let skill = file("skill.draft-notes", "skill", "text/markdown", "skills/draft/SKILL.md", "read-required");
    let expected = json!({
        "schema": "agent-graph.route.v1",
        "provider": "acme/release",
        "revision": evaluation.revision,
        "routeId": primary_route.route_id,
        "graph": "release",
        "node": "draft",
        "statusCode": "actionable",
        "reasonCode": "route.draft",
        "hint": "The notes are to be drafted.",
        "availability": "immediate",
        "callPath": [],
        "action": { "id": "draft", "runner": "agent", "effect": "write", "skill": skill },
        "commandPlan": [],
        "resources": {
            "required": [
                skill,
                file("release.guide", "procedure", "text/markdown", "resources/guide.md", "read-required"),
                { "schema": "agent-graph.resource-location.graph-action.v1", "id": "release.context",
                    "kind": "context-view", "mediaType": "application/json", "revision": evaluation.revision,
                    "materialize": { "resourceId": "release.context" }, "readState": "read-required" },
                { "schema": "agent-graph.resource-location.host-action.v1", "id": "release.policy",
                    "kind": "procedure", "mediaType": "application/json", "revision": evaluation.revision,
                    "materialize": { "handler": "acme.policy/v1", "input": { "schema": "acme.policy-request/v1",
                        "value": { "protocol": "acme.policy-request/v1", "product": "notes" } },
                        "output_schema": "acme.policy/v1" }, "readState": "read-required" },
            ],
            "recommended":
                [file("release.form", "schema", "application/schema+json", "resources/form.json", "read-required")],
        },
        "diagnostics": [],
        "afterAction": { "evaluate": true, "recordNode": "release/draft" },
    });
    assert_eq!(value(&primary(&state)), expected);
}

#[test]
fn a_script_is_planned_as_one_quoted_command_in_its_folder() {
    let drafted = state(json!({ "release/draft": "completed" }), &[]);
    let told = primary(&drafted);
    let schema = |end: &str, path: &str| {
        file(&format!("schema.check.{end}"), "schema", "application/schema+json", path, "read-required")
    };
    let action = json!({ "id": "check", "runner": "script", "effect": "read",
        "inputSchema": schema("input", "schemas/check-input.json"),
        "outputSchema": schema("output", "schemas/check-output.json") });
    assert_eq!(value(&told.action), action);
    let plan = json!([{ "command": "python3 '/opt/acme/scripts/check.py' '--strict' 'it'\"'\"'s'", "effect": "read",
        "cwd": "provider", "workingDirectory": "/opt/acme" }]);
    assert_eq!(value(&told.command_plan), plan);
    assert_eq!(value(&told.resources), json!({ "required": [], "recommended": [] }));

    let told = route(&provider(), &hosted(), &drafted, &RELEASE).unwrap();
    held("route", &told);
    let plan = json!([{ "command": "python3 'scripts/check.py' '--strict' 'it'\"'\"'s'", "effect": "read",
        "cwd": "provider", "workingDirectory": "." }]);
    assert_eq!(value(&told.command_plan), plan);
    assert_eq!(value(&told.action)["inputSchema"]["filePath"], "schemas/check-input.json");
}

#[test]
fn a_command_is_told_exactly_and_a_handler_by_its_name() {
    let late = RouteRequest { entry: "late", ..RELEASE };
    let told = route(&provider(), &installed(), &State::default(), &late).unwrap();
    let plan = json!([{ "command": "tar -c . | acme upload \"$HOME\"", "effect": "external", "cwd": "workspace",
        "workingDirectory": "/home/w" }]);
    assert_eq!(value(&told.command_plan), plan);

    let uploaded = state(json!({ "release/publish>publish/upload": "completed" }), &[]);
    let told = route(&provider(), &installed(), &uploaded, &late).unwrap();
    let plan = json!([{ "handler": "acme.tell", "effect": "external", "cwd": "workspace",
        "workingDirectory": "/home/w" }]);
    assert_eq!(value(&told.command_plan), plan);
}

#[test]
fn a_route_in_a_subgraph_says_what_is_above_it_and_where_to_record() {
    let late = RouteRequest { entry: "late", ..RELEASE };
    let told = route(&provider(), &installed(), &State::default(), &late).unwrap();
    assert_eq!((told.graph.as_str(), told.node.as_str()), ("publish", "upload"));
    assert_eq!(told.call_path, ["release/publish"]);
    assert_eq!(told.after_action.record_node.as_deref(), Some("release/publish>publish/upload"));

    let uploaded = state(json!({ "release/publish>publish/upload": "completed" }), &[]);
    let told = route(&provider(), &installed(), &uploaded, &late).unwrap();
    assert_eq!((told.graph.as_str(), told.node.as_str()), ("notify", "tell"));
    assert_eq!(told.call_path, ["release/publish", "publish/notify"]);
    assert_eq!(told.after_action.record_node.as_deref(), Some("release/publish>publish/notify>notify/tell"));
}

#[test]
fn a_gate_without_the_authority_waits_with_both_actions_beside_it() {
    let told = value(&primary(&at_the_gate(&["something.else"])));
    assert_eq!(told["statusCode"], "waiting-user");
    assert_eq!(told["availability"], "requires-user");
    assert_eq!(told["commandPlan"], json!([]));
    assert_eq!(told.get("action"), None);
    let required = file("release.guide", "procedure", "text/markdown", "resources/guide.md", "read-required");
    assert_eq!(told["resources"], json!({ "required": [required], "recommended": [] }));
    let skill = file("skill.look-at-it", "skill", "text/markdown", "skills/look/SKILL.md", "read-required");
    let schema =
        file("schema.decide.input", "schema", "application/schema+json", "schemas/decision.json", "read-required");
    let gate = json!({
        "id": "approval", "prompt": "Publish it?", "authority": "release.approve", "delegatable": true,
        "resolution": "user",
        "inspectionAction": {
            "action": { "id": "look", "runner": "agent", "effect": "read", "skill": skill }, "commandPlan": [] },
        "resolutionAction": {
            "action": { "id": "decide", "runner": "host", "effect": "write", "inputSchema": schema },
            "commandPlan": [{ "handler": "acme.decide", "effect": "write", "cwd": "workspace",
                "workingDirectory": "/home/w" }] },
    });
    assert_eq!(told["gate"], gate);
}

#[test]
fn a_delegated_gate_keeps_its_decision_out_of_the_plan_and_follows_its_policy() {
    let told = value(&primary(&at_the_gate(&["release.approve"])));
    assert_eq!(told["statusCode"], "actionable");
    assert_eq!(told["availability"], "immediate");
    assert_eq!(told["commandPlan"], json!([]));
    let form = file("release.form", "schema", "application/schema+json", "resources/form.json", "read-required");
    assert_eq!(told["resources"], json!({ "required": [], "recommended": [form] }));
    let gate = json!({
        "id": "approval", "prompt": "Publish it?", "authority": "release.approve", "delegatable": true,
        "resolution": "session-authority",
        "resolutionAction": {
            "action": { "id": "accept", "runner": "command", "effect": "external" },
            "commandPlan": [{ "command": "acme accept --now", "effect": "external", "cwd": "workspace",
                "workingDirectory": "/home/w" }] },
    });
    assert_eq!(told["gate"], gate);
}

#[test]
fn a_gate_without_a_delegated_policy_is_the_same_for_a_session_authority() {
    let graph = include_str_of("graphs/release.yaml");
    let (before, _) = graph.split_once("  delegated:").unwrap();
    let (_, after) = graph.split_once("recommended: [resources/form.yaml] }\n").unwrap();
    let plain =
        graph::load(&acme::with(&[("graphs/release.yaml", &format!("{before}{after}"))]), "provider.yaml").unwrap();
    let told = route(&plain, &installed(), &at_the_gate(&["release.approve"]), &RELEASE).unwrap();
    let gate = told.gate.unwrap();
    assert_eq!(gate.inspection_action.unwrap().action.id, "look");
    assert_eq!(gate.resolution_action.unwrap().action.id, "decide");
    let required: Vec<&str> = told.resources.required.iter().map(|resource| resource.id()).collect();
    assert_eq!(required, ["release.guide"]);
}

fn include_str_of(path: &str) -> &'static str {
    acme::FILES.iter().find(|(at, _)| *at == path).unwrap().1
}

#[test]
fn the_revision_is_held_before_anything_is_told() {
    let revision = evaluate(&provider(), "release", "default", &State::default()).unwrap().evaluation.revision;
    let seen = RouteRequest { revision: Some(&revision), ..RELEASE };
    assert_eq!(route(&provider(), &installed(), &State::default(), &seen).unwrap().node, "draft");

    let other = format!("sha256:{}", "0".repeat(64));
    for (route_id, stale) in [(None, &other), (Some("route:00000000000000000000"), &other)] {
        let (code, said) = refused(&RouteRequest { route_id, revision: Some(stale), ..RELEASE });
        assert_eq!(code, "route-revision-stale");
        assert!(said.contains(stale.as_str()) && said.contains(&revision), "{said}");
    }
    for wrong in ["", "latest", "sha256:00", &other.replace('0', "G"), &revision.to_uppercase()] {
        assert_eq!(refused(&RouteRequest { revision: Some(wrong), ..RELEASE }).0, "revision-invalid", "{wrong}");
    }
}

#[test]
fn only_an_open_route_is_resolved() {
    let gone = "route:00000000000000000000";
    let (code, said) = refused(&RouteRequest { route_id: Some(gone), ..RELEASE });
    assert_eq!(code, "route-stale");
    assert!(said.contains(gone) && said.contains("sha256:"), "{said}");
    assert_eq!(refused(&RouteRequest { graph: "nope", ..RELEASE }).0, "graph-missing");
    assert_eq!(refused(&RouteRequest { entry: "nope", ..RELEASE }).0, "entry-missing");

    let done = state(
        json!({ "release/publish>publish/upload": "completed",
            "release/publish>publish/notify>notify/tell": "completed" }),
        &[],
    );
    let late = RouteRequest { entry: "late", ..RELEASE };
    let failure = route(&provider(), &installed(), &done, &late).unwrap_err();
    assert_eq!(failure.code, "route-unavailable");
    let first = primary(&State::default()).route_id;
    let after = state(json!({ "release/draft": "completed" }), &[]);
    let request = RouteRequest { route_id: Some(&first), ..RELEASE };
    assert_eq!(route(&provider(), &installed(), &after, &request).unwrap_err().code, "route-stale");
}

#[test]
fn however_long_a_name_is_a_message_repeats_its_beginning() {
    let long = "x".repeat(100_000);
    for request in [
        RouteRequest { graph: &long, ..RELEASE },
        RouteRequest { entry: &long, ..RELEASE },
        RouteRequest { route_id: Some(&long), ..RELEASE },
        RouteRequest { revision: Some(&long), ..RELEASE },
    ] {
        let (code, said) = refused(&request);
        assert!(said.len() < 400 && said.contains("xxxx"), "{code}: {} bytes", said.len());
    }
    let failure = locate(&provider(), &installed(), &long).unwrap_err();
    assert!(failure.message.len() < 400 && failure.message.contains("xxxx"));
}

#[test]
fn receipts_say_what_was_read_as_it_is_now() {
    let revision = primary(&State::default()).revision;
    let other = format!("sha256:{}", "1".repeat(64));
    let read = |receipts: Value| -> Vec<String> {
        let value = json!({ "schema": "agent-graph.resource-read-receipts.v1", "provider": "acme/release",
            "receipts": receipts });
        let receipts: ReadReceipts = graph::receipts(&provider(), &value).unwrap();
        let request = RouteRequest { receipts: Some(&receipts), ..RELEASE };
        let told = route(&provider(), &installed(), &State::default(), &request).unwrap();
        assert_eq!(told.revision, revision, "receipts are no part of the state");
        let told = value_of(&told);
        assert_eq!(told["action"]["skill"], told["resources"]["required"][0]);
        let lists = [&told["resources"]["required"], &told["resources"]["recommended"]];
        let all = lists.into_iter().flat_map(|list| list.as_array().unwrap().clone());
        all.filter(|one| one["readState"] == "current").map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(read(json!([])).is_empty());
    let all = json!([
        { "id": "skill.draft-notes", "digest": digest("skills/draft/SKILL.md") },
        { "id": "release.guide", "digest": digest("resources/guide.md") },
        { "id": "release.context", "digest": other, "revision": revision },
        { "id": "release.policy", "digest": other, "revision": revision },
        { "id": "release.form", "digest": digest("resources/form.json") },
    ]);
    let ids = ["skill.draft-notes", "release.guide", "release.context", "release.policy", "release.form"];
    assert_eq!(read(all), ids);
    // Of other bytes, another revision, none, or another Resource.
    assert!(
        read(json!([
            { "id": "skill.draft-notes", "digest": other },
            { "id": "release.form", "digest": digest("resources/form.yaml") },
            { "id": "release.context", "digest": other, "revision": other },
            { "id": "release.policy", "digest": other },
            { "id": "release.other", "digest": digest("resources/guide.md"), "revision": revision },
        ]))
        .is_empty()
    );
    // A newer receipt stands beside an older one of the same Resource.
    let twice = json!([{ "id": "release.guide", "digest": other },
        { "id": "release.guide", "digest": digest("resources/guide.md") }]);
    assert_eq!(read(twice), ["release.guide"]);
}

#[test]
fn a_skill_of_any_name_can_have_been_read() {
    let skill = "---\nname: Release Notes\ndescription: Drafts the notes.\n---\n";
    let source = acme::with(&[("skills/draft/SKILL.md", skill)]);
    let provider = graph::load(&source, "provider.yaml").unwrap();
    let told = route(&provider, &installed(), &State::default(), &RELEASE).unwrap();
    let skill = value(&told)["action"]["skill"].clone();
    let value_read = json!({ "schema": "agent-graph.resource-read-receipts.v1", "provider": "acme/release",
        "receipts": [{ "id": skill["id"], "digest": skill["digest"] }] });
    let read = receipts(&provider, &value_read).unwrap();
    let request = RouteRequest { receipts: Some(&read), ..RELEASE };
    let told = route(&provider, &installed(), &State::default(), &request).unwrap();
    assert_eq!(
        (&skill["id"], &value(&told)["action"]["skill"]["readState"]),
        (&json!("skill.Release Notes"), &json!("current"))
    );
}

fn value_of(route: &Route) -> Value {
    value(route)
}

#[test]
fn receipts_of_another_provider_or_form_are_refused() {
    let mut said =
        json!({ "schema": "agent-graph.resource-read-receipts.v1", "provider": "acme/other", "receipts": [] });
    assert_eq!(receipts(&provider(), &said).unwrap_err().code, "resource-receipts-provider-mismatch");
    let read: ReadReceipts = serde_json::from_value(said.clone()).unwrap();
    assert_eq!(refused(&RouteRequest { receipts: Some(&read), ..RELEASE }).0, "resource-receipts-provider-mismatch");
    said["receipts"] = json!([{ "id": "x" }, { "id": "y", "digest": "sha256:1", "more": 1 }]);
    let failure = receipts(&provider(), &said).unwrap_err();
    assert_eq!(failure.code, "schema-invalid");
    assert_eq!(failure.diagnostics.len(), 3, "{:?}", failure.diagnostics);
}

#[test]
fn a_resource_is_located_by_id_and_by_path() {
    let told = |what: &str| value(&locate(&provider(), &installed(), what).unwrap());
    let guide = json!({ "schema": "agent-graph.resource-location.file.v1", "id": "release.guide", "kind": "procedure",
        "mediaType": "text/markdown", "digest": digest("resources/guide.md"), "filePath": "/opt/acme/resources/guide.md" });
    for what in ["release.guide", "resources/guide.md", "./resources/guide.md", "resources/../resources//guide.md"] {
        assert_eq!(told(what), guide, "{what}");
    }
    let form = told("resources/form.yaml");
    assert_eq!((&form["id"], &form["filePath"]), (&json!("release.form"), &json!("/opt/acme/resources/form.json")));
    let context = json!({ "schema": "agent-graph.resource-location.graph-action.v1", "id": "release.context",
        "kind": "context-view", "mediaType": "application/json", "materialize": { "resourceId": "release.context" } });
    assert_eq!(told("release.context"), context);
    let policy = told("release.policy");
    for (what, protocol) in [("guide", "file"), ("context", "graph-action"), ("policy", "host-action")] {
        held(&format!("resource-location-{protocol}"), &told(&format!("release.{what}")));
    }
    assert_eq!(policy["schema"], "agent-graph.resource-location.host-action.v1");
    assert_eq!((policy.get("revision"), policy.get("readState")), (None, None));
    assert_eq!(told("skill.draft-notes")["filePath"], "/opt/acme/skills/draft/SKILL.md");
    assert_eq!(told("skills/look/SKILL.md")["id"], "skill.look-at-it");
    assert_eq!(told("schema.check.output")["digest"], digest("schemas/check-output.json"));
    let told = value(&locate(&provider(), &hosted(), "release.guide").unwrap());
    assert_eq!(told["filePath"], "resources/guide.md");
    for what in ["nope", "", "notes.txt", "/opt/acme/resources/guide.md", "../x", "schema.decide.output"] {
        let failure = locate(&provider(), &installed(), what).unwrap_err();
        assert_eq!(failure.code, "resource-missing", "{what}");
        assert!(failure.message.contains("acme/release") && failure.message.contains(what));
    }
}

#[test]
fn codes_are_listed_and_lead_to_their_documents() {
    let list = code_list(&provider(), &installed());
    assert_eq!((&list["provider"], &list["catalog"]), (&json!("acme/release"), &json!("/opt/acme/codes.yaml")));
    let codes = list["codes"].as_array().unwrap();
    let first = json!({ "code": "route.draft", "kind": "route-reason", "summary": "The notes are to be drafted.",
        "document": "resources/guide.md" });
    assert_eq!((codes.len(), &codes[0]), (6, &first));

    let told = held("code-location", &code_locate(&provider(), &installed(), "route.draft").unwrap());
    let expected = json!({ "schema": "agent-graph.code-location.v1", "provider": "acme/release", "code": "route.draft",
        "kind": "route-reason", "summary": "The notes are to be drafted.", "document": {
            "schema": "agent-graph.resource-location.file.v1", "id": "release.guide", "kind": "procedure",
            "mediaType": "text/markdown", "digest": digest("resources/guide.md"),
            "filePath": "/opt/acme/resources/guide.md" } });
    assert_eq!(told, expected);
    let told = value(&code_locate(&provider(), &installed(), "check.broken").unwrap());
    assert_eq!((&told["severity"], told.get("document")), (&json!("warning"), None));
    assert_eq!(code_locate(&provider(), &installed(), "route.nope").unwrap_err().code, "code-missing");
}

#[test]
fn a_provider_without_a_catalog_lists_no_codes() {
    let manifest = include_str_of("provider.yaml").replace("catalogs: { codes: codes.yaml }\n", "");
    let bare = graph::load(&acme::with(&[("provider.yaml", &manifest)]), "provider.yaml").unwrap();
    assert_eq!(code_list(&bare, &installed()), json!({ "provider": "acme/release", "codes": [] }));
    assert_eq!(code_locate(&bare, &installed(), "route.draft").unwrap_err().code, "code-missing");
    let told = route(&bare, &installed(), &State::default(), &RELEASE).unwrap();
    assert_eq!((told.reason_code.as_str(), told.hint), ("route.draft", None));
}
