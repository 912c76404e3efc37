//! Refusals as they are told, with what to do about them.

use std::io::Write as _;

use graph::{Diagnostic, Failure, Severity};
use serde_json::json;
use terminal::clean;

use crate::call::Format;

/// Tells a refusal on standard error: one line of `agent-graph.error.v1`, or lines for people.
pub fn tell(failure: &Failure, format: Format) {
    let text = match format {
        Format::Json => envelope(failure),
        Format::Human => lines(failure).join("\n"),
    };
    // Where this cannot be written there is nobody left to tell.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// `agent-graph.error.v1`.
fn envelope(failure: &Failure) -> String {
    let Failure { code, message, diagnostics } = failure;
    json!({
        "schema": "agent-graph.error.v1",
        "state": "error",
        "error": { "code": code, "message": message, "diagnostics": diagnostics },
    })
    .to_string()
}

fn lines(failure: &Failure) -> Vec<String> {
    let mut lines = vec![format!("error: {} [{}]", clean(&failure.message), failure.code)];
    // One fault alone is all that the first line says.
    if !matches!(failure.diagnostics.as_slice(), [one] if failure.message.contains(&one.message)) {
        lines.extend(failure.diagnostics.iter().map(|diagnostic| format!("  {}", line(diagnostic))));
    }
    let mut broken = failure.diagnostics.iter().filter_map(|fault| fault.detail.as_ref()?.get("schema")?.as_str());
    let hint = match broken.next() {
        Some(name) => {
            Some(format!("agent-graph schema extract {name} --output FILE shows the shape of such a document"))
        }
        None => hint(&failure.code).map(str::to_owned),
    };
    lines.extend(hint.map(|hint| format!("hint: {hint}")));
    lines
}

/// A diagnostic as one line.
pub fn line(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "",
        Severity::Warning => "warning: ",
        Severity::Info => "info: ",
    };
    let place = diagnostic.path.as_deref().map(|path| format!("{}: ", clean(path))).unwrap_or_default();
    let more = diagnostic.document_ref.as_deref().map(|path| format!(" (see {})", clean(path))).unwrap_or_default();
    format!("{place}{severity}{} [{}]{more}", clean(&diagnostic.message), diagnostic.code)
}

/// What to do, where the message alone may leave the reader with a question.
fn hint(code: &str) -> Option<&'static str> {
    let hint = match code {
        "graph-missing" | "entry-missing" | "graph-selection-missing" => {
            "agent-graph inspect provider lists the Graphs and their entries"
        }
        "route-stale" | "route-revision-stale" => "evaluate again, and take a Route of that evaluation",
        "route-unavailable" | "no-route" => "agent-graph evaluate says why no Route is open",
        "resource-missing" => "agent-graph inspect provider lists the Resources",
        "resource-static" => "agent-graph resource locate says where the file is",
        "code-missing" => "agent-graph code list lists the codes",
        "schema-type-unknown" => "agent-graph schema list lists the schemas",
        "schema-invalid" => "agent-graph schema extract NAME --output FILE shows the shape of a document",
        "skill-binding-missing" | "skill-graph-missing" | "skill-entry-missing" => {
            "a bound SKILL.md has agent-graph, agent-graph.graph and agent-graph.entry under metadata in its frontmatter"
        }
        "provider-unresolved" | "registry-invalid" => {
            "a registry is a file such as `providers: {company/name: ../installed/manifest.json}`; name it with --registry"
        }
        "run-target-exists" => {
            "name another path, or go on with a Run that is there: agent-graph run status --state PATH"
        }
        "import-target-exists" => "import under another name with --graph ID",
        "materializer-timeout" => "allow more with --timeout-ms",
        "materializer-output-limit" => "allow more with --max-output-bytes",
        "materializer-error-limit" => "allow more with --max-error-bytes",
        "test-path-missing" | "test-cases-empty" => "name the folder of the tests: agent-graph test PATH",
        _ => return None,
    };
    Some(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_to_programs_and_to_people() {
        let faults = vec![
            Diagnostic::new("schema.required", Severity::Error, "`id` is missing").at("a.yaml#/nodes/0"),
            Diagnostic::new("x", Severity::Warning, "odd\u{1b}[2J"),
        ];
        let failure = Failure::new("schema-invalid", "a.yaml is no Graph").with(faults);
        assert_eq!(
            lines(&failure),
            [
                "error: a.yaml is no Graph [schema-invalid]",
                "  a.yaml#/nodes/0: `id` is missing [schema.required]",
                "  warning: odd\u{fffd}[2J [x]",
                "hint: agent-graph schema extract NAME --output FILE shows the shape of a document",
            ]
        );
        let told: serde_json::Value = serde_json::from_str(&envelope(&failure)).unwrap();
        assert_eq!(told["schema"], "agent-graph.error.v1");
        assert_eq!(told["error"]["diagnostics"][0]["path"], "a.yaml#/nodes/0");
        assert!(!envelope(&failure).contains('\n'));
    }
}
