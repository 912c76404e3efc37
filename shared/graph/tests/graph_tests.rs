//! Graph tests: each expectation that holds, and each that does not.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod acme;

use acme::{installed, provider};
use graph::run_test;

fn failures(test: &str) -> Vec<String> {
    let report = run_test(&provider(), &installed(), "tests/t.yaml", test.as_bytes()).unwrap();
    assert_eq!((report.name.as_str(), report.path.as_str()), ("it", "tests/t.yaml"));
    assert_eq!(report.passed, report.failures.is_empty());
    report.failures
}

const TEST: &str = "schema: agent-graph.test.v1\nname: it\ngraph: release\nentry: default\n";
const GATE: &str = "state:\n  outcomes:\n    release/draft: completed\n    \
    release/check: { outcome: completed, recordedAt: '2026-01-01T00:00:00Z' }\n";

#[test]
fn a_graph_test_that_expects_what_is_passes() {
    let draft = "expect:\n  statusCode: actionable\n  primaryNode: draft\n  primaryReasonCode: route.draft\n  \
        alternativeNodes: []\n  availability: immediate\n  \
        requiredResources: [skill.draft-notes, release.guide, release.context, release.policy]\n  \
        recommendedResources: [release.form]\n  recordNode: release/draft\n  diagnosticsInclude: []\n";
    assert_eq!(failures(&format!("{TEST}{draft}")), [""; 0]);
    let gate = "expect:\n  statusCode: waiting-user\n  availability: requires-user\n  gateResolution: user\n  \
        inspectionSkill: skill.look-at-it\n  resolutionHandler: acme.decide\n  \
        resolutionInputSchema: schema.decide.input\n";
    assert_eq!(failures(&format!("{TEST}{GATE}{gate}")), [""; 0]);
    let delegated = "  authorities: [release.approve]\nexpect:\n  statusCode: actionable\n  \
        gateResolution: session-authority\n  resolutionCommand: acme accept --now\n";
    assert_eq!(failures(&format!("{TEST}{GATE}{delegated}")), [""; 0]);
    let check = "state: { outcomes: { release/draft: completed } }\nexpect:\n  statusCode: actionable\n  \
        command: \"python3 '/opt/acme/scripts/check.py' '--strict' 'it'\\\"'\\\"'s'\"\n";
    assert_eq!(failures(&format!("{TEST}{check}")), [""; 0]);
    // The same on every machine: the script's path below the Provider root, quoted or not.
    for path in ["'scripts/check.py'", "scripts/check.py"] {
        assert_eq!(failures(&format!("{TEST}{}", check.replace("'/opt/acme/scripts/check.py'", path))), [""; 0]);
    }
    let other = failures(&format!("{TEST}{}", check.replace("/opt/acme/scripts", "/opt/other/scripts")));
    assert_eq!(other.len(), 1, "{other:?}");
}

#[test]
fn a_status_that_is_another_comes_with_what_is_in_the_way() {
    let failed = "state: { outcomes: { release/draft: skipped } }\nexpect: { statusCode: actionable }\n";
    let said = failures(&format!("{TEST}{failed}"));
    assert!(said[0].starts_with("statusCode: expected actionable, got blocked; Graph release reaches"), "{said:?}");
    assert!(said[0].contains("draft is skipped, and no edge leads on from that. [no-route]"), "{said:?}");
}

#[test]
fn a_graph_test_says_each_expectation_that_does_not_hold() {
    let wrong = "expect:\n  statusCode: complete\n  primaryNode: check\n  primaryReasonCode: route.check\n  \
        alternativeNodes: [a]\n  availability: blocked\n  command: make\n  handler: acme.x\n  \
        requiredResources: [release.guide]\n  recommendedResources: []\n  gateResolution: user\n  \
        inspectionCommand: a\n  inspectionHandler: b\n  inspectionSkill: c\n  inspectionInputSchema: d\n  \
        resolutionCommand: e\n  resolutionHandler: f\n  resolutionSkill: g\n  resolutionInputSchema: h\n  \
        recordNode: release/check\n  outcome: failed\n  diagnosticsInclude: [no-route]\n";
    let expected = [
        "statusCode: expected complete, got actionable",
        "primaryNode: expected check, got draft",
        "primaryReasonCode: expected route.check, got route.draft",
        "alternativeNodes: expected [\"a\"], got []",
        "availability: expected blocked, got immediate",
        "outcome: expected failed, got none",
        "diagnosticsInclude: expected no-route, got []",
        "command: expected make, got none",
        "handler: expected acme.x, got none",
        "requiredResources: expected [\"release.guide\"], got \
            [\"skill.draft-notes\",\"release.guide\",\"release.context\",\"release.policy\"]",
        "recommendedResources: expected [], got [\"release.form\"]",
        "gateResolution: expected user, got none",
        "inspectionCommand: expected a, got none",
        "inspectionHandler: expected b, got none",
        "inspectionSkill: expected c, got none",
        "inspectionInputSchema: expected d, got none",
        "resolutionCommand: expected e, got none",
        "resolutionHandler: expected f, got none",
        "resolutionSkill: expected g, got none",
        "resolutionInputSchema: expected h, got none",
        "recordNode: expected release/check, got release/draft",
    ];
    assert_eq!(failures(&format!("{TEST}{wrong}")), expected);
    let gate = "expect:\n  statusCode: waiting-user\n  inspectionCommand: a\n  inspectionSkill: c\n  \
        resolutionHandler: f\n  resolutionInputSchema: h\n";
    let expected = [
        "inspectionCommand: expected a, got none",
        "inspectionSkill: expected c, got skill.look-at-it",
        "resolutionHandler: expected f, got acme.decide",
        "resolutionInputSchema: expected h, got schema.decide.input",
    ];
    assert_eq!(failures(&format!("{TEST}{GATE}{gate}")), expected);
}

#[test]
fn what_is_no_test_is_refused() {
    let code = |text: &str| run_test(&provider(), &installed(), "t.yaml", text.as_bytes()).unwrap_err().code;
    assert_eq!(code("a: ["), "parse-failed");
    assert_eq!(code(TEST), "schema-invalid");
    assert_eq!(code(&format!("{TEST}expect: {{ statusCode: actionable, primary: x }}\n")), "schema-invalid");
    let elsewhere = format!("{}expect: {{ statusCode: actionable }}\n", TEST.replace("graph: release", "graph: nope"));
    assert_eq!(code(&elsewhere), "graph-missing");
}
