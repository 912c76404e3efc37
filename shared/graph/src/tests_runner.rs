//! Graph tests: a state in, every expectation that does not hold out. Nothing is run.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::documents::{Evaluation, Expect, GateAction, ResourceLocation, Route, TestCase, TestState};
use crate::evaluate::{State, evaluate};
use crate::failure::Failure;
use crate::load::Provider;
use crate::locate::Places;
use crate::route::{RouteRequest, relative_commands, route};
use crate::schemas;

/// What came of one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestReport {
    /// What it shows.
    pub name: String,
    /// Its file.
    pub path: String,
    /// Whether every expectation held.
    pub passed: bool,
    /// Each one that did not.
    pub failures: Vec<String>,
}

/// Runs one test file.
///
/// # Errors
///
/// `parse-failed`, `schema-invalid`: a file that is no test; `graph-missing`, `entry-missing`: a test of what there is not.
pub fn run_test(provider: &Provider, places: &Places, path: &str, text: &[u8]) -> Result<TestReport, Failure> {
    let case: TestCase = schemas::document("test-case", path, text)?;
    let state = state(case.state.unwrap_or_default());
    let evaluation = evaluate(provider, &case.graph, &case.entry, &state)?.evaluation;
    let primary = match &evaluation.primary_route {
        Some(primary) => {
            let request = RouteRequest {
                graph: &case.graph,
                entry: &case.entry,
                route_id: Some(&primary.route_id),
                revision: Some(&evaluation.revision),
                receipts: None,
            };
            Some(route(provider, places, &state, &request)?)
        }
        None => None,
    };
    let mut check = Check { provider, failures: Vec::new() };
    check.evaluation(&case.expect, &evaluation);
    check.route(&case.expect, primary.as_ref());
    let failures = check.failures;
    Ok(TestReport { name: case.name, path: path.to_owned(), passed: failures.is_empty(), failures })
}

fn state(given: TestState) -> State {
    let outcomes = given.outcomes.unwrap_or_default();
    State {
        facts: given.facts.unwrap_or_default(),
        outcomes: outcomes.into_iter().map(|(key, outcome)| (key, outcome.outcome())).collect(),
        authorities: given.authorities.unwrap_or_default().into_iter().collect::<BTreeSet<_>>(),
    }
}

struct Check<'a> {
    provider: &'a Provider,
    failures: Vec<String>,
}

impl Check<'_> {
    /// One expectation, if there is one.
    fn field<E: Serialize, G: Serialize>(&mut self, name: &str, expected: Option<&E>, got: Option<G>) {
        let Some(expected) = expected.map(shown) else { return };
        let got = got.as_ref().map_or_else(|| "none".to_owned(), shown);
        if expected != got {
            self.failures.push(format!("{name}: expected {expected}, got {got}"));
        }
    }

    /// The command of an Action. That of a script may be expected with the script's path below the Provider root, quoted or
    /// not, so that a test says the same on every machine.
    fn command(&mut self, name: &str, expected: Option<&String>, got: Option<&String>, action: Option<&String>) {
        let action = self.provider.actions.values().map(|action| &action.value).find(|it| Some(&it.id) == action);
        let relative = |expected: &String| action.is_some_and(|it| relative_commands(it).contains(expected));
        if got.is_none() || !expected.is_some_and(relative) {
            self.field(name, expected, got);
        }
    }

    fn evaluation(&mut self, expect: &Expect, got: &Evaluation) {
        let primary = got.primary_route.as_ref();
        self.field("statusCode", Some(&expect.status_code), Some(got.status_code));
        if let Some(failure) = self.failures.last_mut() {
            // What is in the way says more than the status.
            for diagnostic in &got.diagnostics {
                failure.push_str(&format!("; {} [{}]", diagnostic.message, diagnostic.code));
            }
        }
        self.field("primaryNode", expect.primary_node.as_ref(), primary.map(|route| &route.node));
        self.field("primaryReasonCode", expect.primary_reason_code.as_ref(), primary.map(|route| &route.reason_code));
        let others: Vec<&str> = got.alternative_routes.iter().map(|route| route.node.as_str()).collect();
        self.field("alternativeNodes", expect.alternative_nodes.as_ref(), Some(others));
        self.field("availability", expect.availability.as_ref(), primary.map(|route| route.availability));
        self.field("outcome", expect.outcome.as_ref(), got.outcome);
        let codes: BTreeSet<&str> = got.diagnostics.iter().map(|diagnostic| diagnostic.code.as_ref()).collect();
        for code in expect.diagnostics_include.iter().flatten().filter(|code| !codes.contains(code.as_str())) {
            self.failures.push(format!("diagnosticsInclude: expected {}, got {}", shown(code), shown(&codes)));
        }
    }

    fn route(&mut self, expect: &Expect, got: Option<&Route>) {
        let plan = got.and_then(|route| route.command_plan.first());
        let action = got.and_then(|route| route.action.as_ref());
        let command = plan.and_then(|plan| plan.command.as_ref());
        self.command("command", expect.command.as_ref(), command, action.map(|action| &action.id));
        self.field("handler", expect.handler.as_ref(), plan.and_then(|plan| plan.handler.as_ref()));
        let required = got.map(|route| ids(&route.resources.required));
        self.field("requiredResources", expect.required_resources.as_ref(), required);
        let recommended = got.map(|route| ids(&route.resources.recommended));
        self.field("recommendedResources", expect.recommended_resources.as_ref(), recommended);
        let gate = got.and_then(|route| route.gate.as_ref());
        self.field("gateResolution", expect.gate_resolution.as_ref(), gate.map(|gate| gate.resolution));
        let expected = [
            &expect.inspection_command,
            &expect.inspection_handler,
            &expect.inspection_skill,
            &expect.inspection_input_schema,
        ];
        self.gate_action("inspection", expected, gate.and_then(|gate| gate.inspection_action.as_ref()));
        let expected = [
            &expect.resolution_command,
            &expect.resolution_handler,
            &expect.resolution_skill,
            &expect.resolution_input_schema,
        ];
        self.gate_action("resolution", expected, gate.and_then(|gate| gate.resolution_action.as_ref()));
        let record = got.and_then(|route| route.after_action.record_node.as_ref());
        self.field("recordNode", expect.record_node.as_ref(), record);
    }

    /// One of a Gate's Actions: its command, its handler, its Skill and its input schema.
    fn gate_action(&mut self, which: &str, expected: [&Option<String>; 4], got: Option<&GateAction>) {
        let [command, handler, skill, schema] = expected;
        let plan = got.and_then(|gate| gate.command_plan.first());
        let got_command = plan.and_then(|plan| plan.command.as_ref());
        self.command(&format!("{which}Command"), command.as_ref(), got_command, got.map(|gate| &gate.action.id));
        self.field(&format!("{which}Handler"), handler.as_ref(), plan.and_then(|plan| plan.handler.as_ref()));
        let action = got.map(|gate| &gate.action);
        let id = |location: Option<&ResourceLocation>| location.map(|location| location.id().to_owned());
        self.field(&format!("{which}Skill"), skill.as_ref(), id(action.and_then(|action| action.skill.as_ref())));
        let got = id(action.and_then(|action| action.input_schema.as_ref()));
        self.field(&format!("{which}InputSchema"), schema.as_ref(), got);
    }
}

fn ids(locations: &[ResourceLocation]) -> Vec<&str> {
    locations.iter().map(ResourceLocation::id).collect()
}

/// A value as a sentence shows it: a text without quotes, everything else as JSON.
fn shown(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => "nothing".to_owned(),
    }
}
