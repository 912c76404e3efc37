//! What a host hands back, held to what it was asked for.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod acme;

use acme::{installed, provider};
use graph::documents::{HostActionLocation, ReadState, ResourceLocation};
use graph::{
    Failure, RouteRequest, State, digest_value, input_digest, locate, read_receipt, route, validate_host_action_result,
    validate_host_action_result_of,
};
use serde_json::{Value, json};

fn location() -> HostActionLocation {
    match locate(&provider(), &installed(), "release.policy").unwrap() {
        ResourceLocation::HostAction(location) => location,
        other => panic!("{other:?}"),
    }
}

/// A result that is all right.
fn result() -> Value {
    json!({
        "schema": "agent-graph.host-action-result.v1",
        "handler": "acme.policy/v1",
        "input_digest": input_digest(&location()),
        "output": { "schema": "acme.policy/v1", "inline": { "rules": ["be brief"] } },
        "receipt": { "adapter": "acme-host", "adapter_version": "2.0.1" },
    })
}

fn held(result: &Value) -> Result<(), Failure> {
    validate_host_action_result(&location(), result).map(|read| {
        assert_eq!(&serde_json::to_value(read).unwrap(), result);
    })
}

/// The code of a refusal, and those of all its faults.
fn codes(failure: &Failure) -> (&str, Vec<&str>) {
    (&failure.code, failure.diagnostics.iter().map(|fault| fault.code.as_ref()).collect())
}

#[test]
fn the_input_digest_is_that_of_handler_and_input() {
    let expected =
        digest_value(&json!({ "input": { "value": { "product": "notes", "protocol": "acme.policy-request/v1" },
        "schema": "acme.policy-request/v1" }, "handler": "acme.policy/v1" }));
    assert_eq!(input_digest(&location()), expected);
    let mut other = location();
    other.materialize.output_schema = "acme.policy/v2".to_owned();
    other.revision = Some(expected.clone());
    assert_eq!(input_digest(&other), expected, "only handler and input count");
    for change in [
        |location: &mut HostActionLocation| location.materialize.handler.push('x'),
        |location: &mut HostActionLocation| location.materialize.input.schema.push('x'),
        |location: &mut HostActionLocation| location.materialize.input.value["more"] = json!(1),
    ] {
        let mut other = location();
        change(&mut other);
        assert_ne!(input_digest(&other), expected);
    }
}

#[test]
fn what_was_asked_for_is_taken_inline_or_by_reference() {
    held(&result()).unwrap();
    validate_host_action_result_of(&provider(), &location(), &result()).unwrap();
    let mut kept = result();
    let digest = digest_value(&json!({ "rules": [] }));
    kept["output"] =
        json!({ "schema": "acme.policy/v1", "resource": { "ref": "acme://policies/7", "digest": digest } });
    held(&kept).unwrap();
    validate_host_action_result_of(&provider(), &location(), &kept).unwrap();
    let mut nothing = result();
    nothing["output"]["inline"] = Value::Null;
    held(&nothing).unwrap();
}

#[test]
fn what_was_taken_and_read_is_current_on_routes_of_its_revision() {
    let request = RouteRequest { graph: "release", entry: "default", ..RouteRequest::default() };
    let told = route(&provider(), &installed(), &State::default(), &request).unwrap();
    let policy = told.resources.required.into_iter().find(|resource| resource.id() == "release.policy");
    let Some(ResourceLocation::HostAction(policy)) = policy else { panic!("{policy:?}") };
    assert_eq!(policy.read_state, Some(ReadState::ReadRequired));

    let taken = validate_host_action_result_of(&provider(), &policy, &result()).unwrap();
    let receipt = read_receipt(&policy, &taken).unwrap();
    assert_eq!(receipt.digest, digest_value(&json!({ "rules": ["be brief"] })));
    let receipts = json!({ "schema": "agent-graph.resource-read-receipts.v1", "provider": "acme/release",
        "receipts": [receipt] });
    let receipts = graph::receipts(&provider(), &receipts).unwrap();
    let request = RouteRequest { receipts: Some(&receipts), ..request };
    let told = route(&provider(), &installed(), &State::default(), &request).unwrap();
    let mut current = policy.clone();
    current.read_state = Some(ReadState::Current);
    assert!(told.resources.required.contains(&ResourceLocation::HostAction(current)));

    let mut kept = result();
    let digest = digest_value(&json!(7));
    kept["output"] = json!({ "schema": "acme.policy/v1", "resource": { "ref": "acme://7", "digest": digest } });
    let kept = validate_host_action_result(&policy, &kept).unwrap();
    assert_eq!(read_receipt(&policy, &kept).unwrap().digest, digest);
    assert_eq!(read_receipt(&location(), &kept), None, "no Route has selected it");
}

#[test]
fn each_thing_that_differs_is_refused_with_its_code() {
    for (field, other, code) in [
        ("/handler", json!("acme.policy/v2"), "host-action-handler-mismatch"),
        ("/input_digest", json!(digest_value(&json!(0))), "host-action-input-mismatch"),
        ("/output/schema", json!("acme.policy/v2"), "host-action-output-mismatch"),
    ] {
        let mut result = result();
        *result.pointer_mut(field).unwrap() = other;
        let failure = held(&result).unwrap_err();
        assert_eq!(failure.code, code, "{failure:?}");
        assert!(failure.message.contains(&field[1..].replace('/', ".")), "{}", failure.message);
    }
}

#[test]
fn each_fault_of_form_is_refused() {
    let digest = digest_value(&json!(0));
    let resource = json!({ "ref": "acme://7", "digest": digest });
    for (what, output) in [
        ("neither", json!({ "schema": "acme.policy/v1" })),
        ("both", json!({ "schema": "acme.policy/v1", "inline": {}, "resource": resource })),
        ("no digest", json!({ "schema": "acme.policy/v1", "resource": { "ref": "acme://7" } })),
        ("no ref", json!({ "schema": "acme.policy/v1", "resource": { "digest": digest } })),
        ("an empty ref", json!({ "schema": "acme.policy/v1", "resource": { "ref": "", "digest": digest } })),
        (
            "a short digest",
            json!({ "schema": "acme.policy/v1", "resource": { "ref": "acme://7", "digest": "sha256:0" } }),
        ),
        ("no schema", json!({ "inline": {} })),
        ("more", json!({ "schema": "acme.policy/v1", "inline": {}, "note": "x" })),
    ] {
        let mut result = result();
        result["output"] = output;
        let failure = held(&result).unwrap_err();
        assert_eq!(failure.code, "schema-invalid", "{what}: {failure:?}");
        assert!(codes(&failure).1.iter().all(|code| code.starts_with("schema.")), "{what}: {failure:?}");
    }
    for (field, other) in [
        ("schema", json!("agent-graph.host-action-result.v2")),
        ("input_digest", json!("0a")),
        ("receipt", json!({ "adapter": "acme-host" })),
        ("receipt", json!({ "adapter": "", "adapter_version": "1" })),
        ("handler", json!(7)),
        ("more", json!(1)),
    ] {
        let mut result = result();
        result[field] = other;
        let failure = held(&result).unwrap_err();
        assert_eq!(failure.code, "schema-invalid", "{field}: {failure:?}");
    }
    assert_eq!(held(&json!("no object")).unwrap_err().code, "schema-invalid");
}

#[test]
fn everything_wrong_is_told_at_once() {
    let wrong = json!({
        "schema": "agent-graph.host-action-result.v1", "handler": "x", "input_digest": digest_value(&json!(0)),
        "output": { "schema": "y.z/v1", "inline": { "rules": [1] } },
    });
    let failure = validate_host_action_result_of(&provider(), &location(), &wrong).unwrap_err();
    let expected = [
        "schema.required",
        "host-action-handler-mismatch",
        "host-action-input-mismatch",
        "host-action-output-mismatch",
        "host-action-output-invalid",
    ];
    assert_eq!(codes(&failure), ("schema-invalid", expected.to_vec()));
}

#[test]
fn an_inline_output_is_held_to_the_schema_that_its_action_promises() {
    let mut wrong = result();
    wrong["output"]["inline"] = json!({ "rules": ["a", 1, 2], "more": true });
    held(&wrong).unwrap();
    let failure = validate_host_action_result_of(&provider(), &location(), &wrong).unwrap_err();
    assert_eq!(codes(&failure), ("host-action-output-invalid", vec!["host-action-output-invalid"; 3]));
    let places: Vec<&str> = failure.diagnostics.iter().filter_map(|fault| fault.path.as_deref()).collect();
    assert!(places.contains(&"result#/output/inline/rules/1"), "{places:?}");

    let mut other = location();
    other.id = "release.guide".to_owned();
    let failure = validate_host_action_result_of(&provider(), &other, &result()).unwrap_err();
    assert_eq!(failure.code, "resource-missing");
}
