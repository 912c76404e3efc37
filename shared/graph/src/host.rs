//! What a host hands back for a Host-action Resource (section-resources).
//!
//! A result is taken for exactly what was asked: the same handler, the same input, the output protocol that the Action
//! promises. Everything that is wrong with a result is told at once.

use serde_json::{Value, json};

use crate::digest::{Digest, digest_value};
use crate::documents::{HostActionLocation, HostActionResult, HostMaterialize, ReadReceipt, Resource};
use crate::failure::{Diagnostic, Failure, Severity};
use crate::faults::Faults;
use crate::limits::QUOTE_CHARACTERS;
use crate::load::Provider;
use crate::locate::{Way, at};
use crate::schemas;

/// The digest of `{handler, input.schema, input.value}`.
pub fn input_digest(location: &HostActionLocation) -> Digest {
    let HostMaterialize { handler, input, .. } = &location.materialize;
    digest_value(&json!({ "handler": handler, "input": { "schema": input.schema, "value": input.value } }))
}

/// Holds a host's result to the location that was asked for.
///
/// # Errors
///
/// `schema-invalid` (the form: unknown and missing fields, `inline` and `resource` both or neither, digests),
/// `host-action-handler-mismatch`, `host-action-input-mismatch`, `host-action-output-mismatch`: the code of the first fault,
/// with all of them as diagnostics.
pub fn validate_host_action_result(location: &HostActionLocation, result: &Value) -> Result<HostActionResult, Failure> {
    let mut faults = Faults::default();
    let read = held(location, result, &mut faults);
    settle(read, faults)
}

/// The same, and an inline output held to the output schema of the Action that the Provider names for the Resource.
///
/// # Errors
///
/// As for [`validate_host_action_result`]; `host-action-output-invalid` for each fault of the output; `resource-missing` when
/// the Provider has no such Host-action Resource.
pub fn validate_host_action_result_of(
    provider: &Provider,
    location: &HostActionLocation,
    result: &Value,
) -> Result<HostActionResult, Failure> {
    let (path, schema) = output_schema(provider, location)?;
    let mut faults = Faults::default();
    let read = held(location, result, &mut faults);
    if let Some(inline) = result.pointer("/output/inline") {
        for fault in faults_of(path, schema, inline)? {
            let said = format!("the output is not what the Action promises: {}", fault.message);
            faults.add(Diagnostic {
                code: "host-action-output-invalid".into(),
                message: said,
                detail: Some(json!({ "rule": fault.code })),
                ..fault
            });
        }
    }
    settle(read, faults)
}

/// The receipt of a result that was taken and read: it makes the Resource current on Routes of the revision that selected it.
/// `None` when the location is of no Route.
pub fn read_receipt(location: &HostActionLocation, result: &HostActionResult) -> Option<ReadReceipt> {
    let digest = match (&result.output.resource, &result.output.inline) {
        (Some(kept), _) => kept.digest.clone(),
        (None, inline) => digest_value(inline),
    };
    let revision = location.revision.clone()?;
    Some(ReadReceipt { id: location.id.clone(), digest, revision: Some(revision) })
}

/// The result in its type, when its form allows, and everything in which it is not what was asked for.
fn held(location: &HostActionLocation, result: &Value, faults: &mut Faults) -> Option<HostActionResult> {
    let read = faults.hold(schemas::valid::<HostActionResult>("host-action-result", "result", result));
    let asked = &location.materialize;
    let digest = input_digest(location);
    for (code, field, at, expected) in [
        ("host-action-handler-mismatch", "handler", "/handler", &asked.handler),
        ("host-action-input-mismatch", "input_digest", "/input_digest", &digest),
        ("host-action-output-mismatch", "output.schema", "/output/schema", &asked.output_schema),
    ] {
        // What is missing or no text is a fault of form.
        if let Some(got) = result.pointer(at).and_then(Value::as_str).filter(|got| got != expected) {
            let said = format!("{field} must be {expected}, as it was asked for, not {}", short(got));
            faults.say(code, format!("result#{at}"), said);
        }
    }
    read
}

fn settle(read: Option<HostActionResult>, faults: Faults) -> Result<HostActionResult, Failure> {
    faults.done()?;
    read.ok_or_else(|| Failure::new("schema-invalid", "this is no result of a host action"))
}

/// The schema that the Resource's Action promises to keep, and its path.
fn output_schema<'a>(provider: &'a Provider, location: &HostActionLocation) -> Result<(&'a str, &'a Value), Failure> {
    let resource = provider.resources.values().find(|resource| resource.value.id() == location.id);
    let action = match resource.map(|resource| &resource.value) {
        Some(Resource::HostAction(made)) => at(&provider.actions, &made.materializer),
        _ => None,
    };
    let path = action.and_then(|action| Way::Output.path(&action.value));
    path.and_then(|path| Some((path, at(&provider.schemas, path)?.as_ref()))).ok_or_else(|| {
        let said = format!("Provider {} has no Host-action Resource {}", provider.id(), location.id);
        Failure::new("resource-missing", said)
    })
}

/// In which an output is not what its schema says.
fn faults_of(path: &str, schema: &Value, output: &Value) -> Result<Vec<Diagnostic>, Failure> {
    let validator = schemas::compile(schema);
    let validator = validator.map_err(|why| Failure::new("schema-compile-failed", format!("{path}: {}", why.said)))?;
    if let Err(said) = schemas::affordable(schema, output) {
        let fault = Diagnostic::new("host-action-output-mismatch", Severity::Error, said);
        return Ok(vec![fault.at("result#/output/inline")]);
    }
    let mut faults = Faults::default();
    for error in validator.iter_errors(output) {
        schemas::tell(&error, "", &Value::Null, &mut faults);
    }
    let mut told = faults.done().err().map(|failure| failure.diagnostics).unwrap_or_default();
    for fault in &mut told {
        let inside = fault.path.take().unwrap_or_default();
        fault.path = Some(format!("result#/output/inline{}", inside.trim_start_matches('#')));
    }
    Ok(told)
}

/// A host's own text, short and on one line.
fn short(text: &str) -> String {
    let mut out: String = text.chars().take(QUOTE_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTE_CHARACTERS).is_some() {
        out.push('…');
    }
    out
}
