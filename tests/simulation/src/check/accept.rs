//! Acceptance (core §6.3), judged anew: what a recorded completion of a submission must look like.

use process::{EvidenceKind, Field, FieldType, Next, Work};
use run::{Evidence, Record};
use serde_json::Value;

/// Everything that is wrong with a completion.
pub(super) fn wrong(work: &Work, record: &Record, by_agent: bool) -> Vec<String> {
    let mut bad = Vec::new();
    let output = record.output.clone().unwrap_or_default();
    for (name, field) in work.output.iter() {
        match output.get(name) {
            None if field.optional => {}
            None => bad.push(format!("output.{name} is missing")),
            Some(value) if !fits(field, value) => bad.push(format!("output.{name} does not fit: {value}")),
            Some(_) => {}
        }
    }
    for name in output.keys().filter(|n| work.output.get(n).is_none()) {
        bad.push(format!("output.{name} is not declared"));
    }
    let attached = record.evidence.clone().unwrap_or_default();
    for kind in &work.evidence {
        let met = attached.iter().any(|e| match (kind, e) {
            (EvidenceKind::File, Evidence::File(f)) => f.sha256.len() == 64,
            (EvidenceKind::Link, Evidence::Link { r#ref }) => !r#ref.trim().is_empty(),
            _ => false,
        });
        if !met {
            bad.push(format!("evidence {} is not attached", kind.name()));
        }
    }
    match &work.next {
        Next::To(_) if record.next.is_some() || record.reason.is_some() => bad.push("a route where none is".to_owned()),
        Next::To(_) => {}
        Next::Routes(routes) => {
            let to = record.next.as_deref().unwrap_or("");
            let reason = record.reason.as_deref().unwrap_or("").trim();
            if !routes.iter().any(|r| r.to == to) || reason.is_empty() {
                bad.push(format!("route {to} for the reason `{reason}`"));
            }
        }
    }
    if by_agent && record.summary.as_deref().unwrap_or("").trim().is_empty() {
        bad.push("no summary".to_owned());
    }
    bad
}

fn fits(field: &Field, value: &Value) -> bool {
    let right = match field.kind {
        FieldType::String | FieldType::Date => value.is_string(),
        FieldType::Datetime => value.as_str().is_some_and(|t| run::Time::parse(t).is_some()),
        FieldType::Person => value.as_str().is_some_and(|t| t.contains('@')),
        FieldType::Number => value.is_number(),
        FieldType::Boolean => value.is_boolean(),
        FieldType::Object => value.is_object(),
        FieldType::List => {
            value.as_array().is_some_and(|l| field.items.as_ref().is_none_or(|items| l.iter().all(|v| fits(items, v))))
        }
    };
    right && field.one_of.as_ref().is_none_or(|allowed| allowed.contains(value))
}
