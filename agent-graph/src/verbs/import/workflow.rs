//! `agent-graph import workflow`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use clap::Args;
use graph::{Diagnostic, Failure, Severity};
use serde_json::{Value, json};

use crate::authoring::import::{Made, Step, Target, slug};
use crate::call::{Done, Global};
use crate::limits::WORKFLOW_STEPS;
use crate::{files, values};

/// Turns commands that depend on each other into Actions and a Graph with the same order.
///
/// The file is YAML or JSON: {id, steps: [{id, command, description?, dependsOn?: [id], effect?: read|write|external}]}.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  agent-graph import workflow release.yaml --into providers/release

Exit codes: 0 imported; 1 nothing was written, and why.")]
pub struct ImportWorkflow {
    /// The workflow.
    workflow: PathBuf,
    /// The folder of the Provider.
    #[arg(long, value_name = "FOLDER")]
    into: PathBuf,
    /// The id of the Graph; that of the workflow, or its file's name, unless said.
    #[arg(long, value_name = "ID")]
    graph: Option<String>,
}

/// A workflow whose steps hold together.
#[derive(Debug)]
struct Workflow {
    id: Option<String>,
    steps: Vec<Given>,
    /// Where keys stand that nothing here looks at.
    passed_over: Vec<String>,
}

/// One step.
#[derive(Debug)]
struct Given {
    /// Its id as it was written.
    id: String,
    /// Its node.
    node: String,
    command: String,
    description: Option<String>,
    depends_on: Vec<String>,
    effect: String,
}

impl ImportWorkflow {
    /// Imports it.
    pub fn run(self, global: &Global) -> Done {
        let of_file = |failure: Failure| Failure {
            message: format!("{}: {}", self.workflow.display(), failure.message),
            ..failure
        };
        let workflow = read(&values::document(&self.workflow)?).map_err(of_file)?;
        let name = self.workflow.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let id = slug(self.graph.as_deref().or(workflow.id.as_deref()).unwrap_or(&name))?;
        let mut target = Target::of(&self.into)?;
        let mut action = |node: &str, effect: &str, command: &str| {
            let path = format!("actions/{id}-{node}.yaml");
            let action = json!({
                "schema": "agent-graph.action.v1",
                "id": format!("{id}.{node}"),
                "runner": "command",
                "effect": effect,
                "command": command,
            });
            target.action(&path, &action);
            path
        };
        let mut made = Made { id: id.clone(), nodes: Vec::new(), edges: Vec::new() };
        made.nodes.push(Step {
            id: START.to_owned(),
            action: action(START, "read", "true"),
            description: Some("Begin".to_owned()),
            summary: format!("The workflow {id} has not begun"),
        });
        let nodes: BTreeMap<&str, &str> =
            workflow.steps.iter().map(|step| (step.id.as_str(), step.node.as_str())).collect();
        for step in &workflow.steps {
            made.nodes.push(Step {
                id: step.node.clone(),
                action: action(&step.node, &step.effect, &step.command),
                description: step.description.clone(),
                summary: format!("The step {} is next", step.id),
            });
            let from = step.depends_on.iter().filter_map(|id| nodes.get(id.as_str()).copied());
            let from: Vec<&str> = if step.depends_on.is_empty() { vec![START] } else { from.collect() };
            made.edges.extend(from.into_iter().map(|from| (from.to_owned(), step.node.clone())));
        }
        let lost = left_out(&workflow.passed_over);
        let report = format!(
            "`{}` became Graph `{id}`, with its commands and the order that its steps depend on each other in.\n\n\
             The node `{START}` was added: the steps that depend on nothing come after it, and its Action does nothing.\n\n\
             A step without an effect got `write`, and every edge is taken at `completed`. To look through: the effect of each \
             Action, where a person has to decide, which facts prove a step done, what an agent has to read, and where a \
             failure leads.{}",
            files::absolute(&self.workflow).display(),
            lost.as_ref().map(|lost| format!("\n\nOf the workflow, {lost}.")).unwrap_or_default(),
        );
        if let Some(lost) = lost {
            terminal::note(&lost);
        }
        let graph = target.finish(&made, &format!("Workflow as Graph {id}"), &report)?;
        super::tell(global, "workflow", &self.into, &id, &graph)
    }
}

/// The node before all steps, and the Terminal after them.
const START: &str = "start";
const DONE: &str = "done";

/// Most places of keys that a note names.
const PLACES_TOLD: usize = 20;

/// What keeps a workflow from being imported, or a step of it: the code, where it is, and the words.
type Fault = (&'static str, String, String);

/// The keys of a workflow and of its steps.
const KEYS: [&str; 2] = ["id", "steps"];
const STEP_KEYS: [&str; 5] = ["id", "command", "description", "dependsOn", "effect"];

/// Reads a workflow, with all its faults at once.
fn read(value: &Value) -> Result<Workflow, Failure> {
    let invalid = |message: &str| Failure::new("workflow-invalid", message);
    let (mut read, mut faults, mut passed_over) = (Vec::new(), Vec::new(), unknown("#", value, &KEYS));
    let id = match value.get("id") {
        None => None,
        Some(Value::String(id)) if !id.is_empty() => Some(id.clone()),
        Some(_) => {
            faults.push(("workflow-invalid", "#/id".to_owned(), "the id of the workflow must be a text".to_owned()));
            None
        }
    };
    let steps = match value.get("steps").and_then(Value::as_array) {
        Some(steps) if (1..=WORKFLOW_STEPS).contains(&steps.len()) => steps,
        Some(steps) if !steps.is_empty() => {
            return Err(invalid(&format!("{} steps are over the limit of {WORKFLOW_STEPS}", steps.len())));
        }
        _ => return Err(invalid("a workflow has a list of `steps` with at least one step")),
    };
    for (index, given) in steps.iter().enumerate() {
        let place = format!("#/steps/{index}");
        passed_over.extend(unknown(&place, given, &STEP_KEYS));
        match step(given) {
            Ok(step) => read.push(step),
            Err(messages) => {
                faults.extend(messages.into_iter().map(|message| ("workflow-invalid", place.clone(), message)));
            }
        }
    }
    let ids: BTreeSet<&str> = steps.iter().filter_map(|step| step.get("id")?.as_str()).collect();
    let unread = !faults.is_empty();
    together(&mut read, &ids, &mut faults);
    // What cannot be read may be what a circle is cut by.
    if !unread && !faults.iter().any(|(code, ..)| *code == "workflow-step-duplicate") {
        faults.extend(acyclic(&read));
    }
    refuse(faults)?;
    Ok(Workflow { id, steps: read, passed_over })
}

/// What is said of keys that nothing looks at.
fn left_out(places: &[String]) -> Option<String> {
    let told = places.iter().take(PLACES_TOLD).cloned().collect::<Vec<_>>().join(", ");
    let more = match places.len().saturating_sub(PLACES_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!places.is_empty()).then(|| format!("these keys were left out, for nothing looks at them: {told}{more}"))
}

/// The keys that nothing here looks at.
fn unknown(place: &str, given: &Value, keys: &[&str]) -> Vec<String> {
    let given = given.as_object().into_iter().flat_map(|given| given.keys());
    given.filter(|key| !keys.contains(&key.as_str())).map(|key| format!("{place}/{key}")).collect()
}

/// Reads one step.
fn step(given: &Value) -> Result<Given, Vec<String>> {
    if !given.is_object() {
        return Err(vec!["a step is an object with `id` and `command`".to_owned()]);
    }
    let mut faults = Vec::new();
    let mut text = |key: &str, needed: bool| match given.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        // A description may be left empty as well as out.
        Some(Value::String(_)) if key == "description" => None,
        None if !needed => None,
        None => {
            faults.push(format!("a step has `{key}`"));
            None
        }
        Some(_) => {
            faults.push(format!("`{key}` must be a text that is not empty"));
            None
        }
    };
    let (id, command) = (text("id", true), text("command", true));
    let (description, effect) = (text("description", false), text("effect", false));
    let depends_on = match given.get("dependsOn") {
        None => Some(Vec::new()),
        Some(Value::Array(ids)) => ids.iter().map(|id| id.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    if depends_on.is_none() {
        faults.push("`dependsOn` must be a list of ids".to_owned());
    }
    let effect = effect.unwrap_or_else(|| "write".to_owned());
    if !["read", "write", "external"].contains(&effect.as_str()) {
        faults.push(format!("`effect` must be read, write or external, not `{effect}`"));
    }
    match (id, command, depends_on) {
        (Some(id), Some(command), Some(depends_on)) if faults.is_empty() => {
            Ok(Given { id, node: String::new(), command, description, depends_on, effect })
        }
        _ => Err(faults),
    }
}

/// Holds the steps to each other. The ids are those of all steps, the ones that cannot be read among them.
fn together(steps: &mut [Given], ids: &BTreeSet<&str>, faults: &mut Vec<Fault>) {
    let mut seen = BTreeSet::new();
    for step in steps.iter().filter(|step| !seen.insert(&step.id)) {
        let message = "there is another step with this id";
        faults.push(("workflow-step-duplicate", step.id.clone(), message.to_owned()));
    }
    for step in steps.iter_mut() {
        match slug(&step.id) {
            Ok(node) => step.node = node,
            Err(failure) => faults.push(("id-invalid", step.id.clone(), failure.message)),
        }
    }
    let mut nodes: BTreeMap<&str, &str> = BTreeMap::new();
    for step in steps.iter().filter(|step| !step.node.is_empty()) {
        if let Some(other) = nodes.insert(&step.node, &step.id).filter(|other| *other != step.id) {
            let message = format!("as the id of a node it is `{}`, and so is {other}", step.node);
            faults.push(("workflow-step-id-collision", step.id.clone(), message));
        }
    }
    for step in steps.iter().filter(|step| [START, DONE].contains(&step.node.as_str())) {
        let message = format!("a Graph has its own `{}`", step.node);
        faults.push(("workflow-step-id-reserved", step.id.clone(), message));
    }
    for step in steps.iter_mut() {
        let mut once = BTreeSet::new();
        step.depends_on.retain(|id| once.insert(id.clone()));
        for id in step.depends_on.iter().filter(|id| !ids.contains(id.as_str())) {
            let message = format!("it depends on `{id}`, and there is no such step");
            faults.push(("workflow-dependency-missing", step.id.clone(), message));
        }
    }
}

/// Takes away what depends on nothing that is left, until nothing is left or only what goes in a circle.
fn acyclic(steps: &[Given]) -> Option<Fault> {
    let mut waits: BTreeMap<&str, usize> = steps.iter().map(|step| (step.id.as_str(), 0)).collect();
    let ids: BTreeSet<&str> = waits.keys().copied().collect();
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in steps {
        // One that is not there is told as that.
        for id in step.depends_on.iter().filter(|id| ids.contains(id.as_str())) {
            *waits.entry(&step.id).or_default() += 1;
            after.entry(id).or_default().push(&step.id);
        }
    }
    let mut ready: Vec<&str> = waits.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = ready.pop() {
        waits.remove(id);
        for next in after.get(id).into_iter().flatten() {
            if let Some(count) = waits.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    ready.push(next);
                }
            }
        }
    }
    // Whatever is left waits for something that is left: following that leads into a circle.
    let mut id = waits.keys().next().copied()?;
    let mut trail: Vec<&str> = Vec::new();
    while !trail.contains(&id) {
        trail.push(id);
        let step = steps.iter().find(|step| step.id == id);
        let Some(next) = step.and_then(|step| step.depends_on.iter().find(|id| waits.contains_key(id.as_str()))) else {
            break;
        };
        id = next;
    }
    let circle: Vec<&str> = trail.iter().skip_while(|step| **step != id).copied().chain([id]).collect();
    let message = format!("steps depend on each other in a circle: {}", circle.join(" needs "));
    Some(("workflow-cycle", id.to_owned(), message))
}

/// A refusal of all faults, under the code of the first one.
fn refuse(faults: Vec<Fault>) -> Result<(), Failure> {
    match faults.as_slice() {
        [] => Ok(()),
        [(code, place, message)] => Err(Failure::new(*code, format!("{place}: {message}"))),
        [(code, ..), ..] => {
            let message = format!("this workflow has {} faults", faults.len());
            let diagnostics =
                faults.iter().map(|(code, place, text)| Diagnostic::new(*code, Severity::Error, text).at(place));
            Err(Failure::new(*code, message).with(diagnostics.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(steps: Value) -> String {
        read(&json!({ "steps": steps })).map_or_else(|failure| failure.code.into_owned(), |_| "ok".to_owned())
    }

    #[test]
    fn every_fault_has_its_code() {
        let ok = json!([{"id": "b", "command": "x", "dependsOn": ["A x", "A x"]}, {"id": "A x", "command": "y", "effect": "read"}]);
        assert_eq!(code(ok), "ok");
        for (steps, want) in [
            (json!([]), "workflow-invalid"),
            (json!("x"), "workflow-invalid"),
            (json!([{"id": "a"}]), "workflow-invalid"),
            (json!([{"id": "a", "command": ""}]), "workflow-invalid"),
            (json!([{"id": "a", "command": "x", "effect": "none"}]), "workflow-invalid"),
            (json!([{"id": "a", "command": "x", "dependsOn": "b"}]), "workflow-invalid"),
            (json!([{"id": "a", "command": "x"}, {"id": "a", "command": "y"}]), "workflow-step-duplicate"),
            (json!([{"id": "a b", "command": "x"}, {"id": "a-b", "command": "y"}]), "workflow-step-id-collision"),
            (json!([{"id": "Start", "command": "x"}]), "workflow-step-id-reserved"),
            (json!([{"id": "done", "command": "x"}]), "workflow-step-id-reserved"),
            (json!([{"id": "a", "command": "x", "dependsOn": ["b"]}]), "workflow-dependency-missing"),
            (json!([{"id": "a", "command": "x", "dependsOn": ["a"]}]), "workflow-cycle"),
            (json!([{"id": "→", "command": "x"}]), "id-invalid"),
        ] {
            assert_eq!(code(steps.clone()), want, "{steps}");
        }
    }

    #[test]
    fn faults_of_every_kind_are_told_at_once() {
        let steps = json!([
            {"id": "a", "command": 1, "effect": "none"}, {"id": "b b", "command": "x", "dependsOn": ["a", "c"]},
            {"id": "b-b", "command": "x"}, {"id": "start", "command": "x", "dependsOn": ["start"]},
            {"id": "d", "command": "x"}, {"id": "d", "command": "x"}, "e",
        ]);
        let failure = read(&json!({ "id": 1, "steps": steps })).unwrap_err();
        let told: Vec<_> = failure.diagnostics.iter().map(|d| (&*d.code, d.path.as_deref().unwrap())).collect();
        assert_eq!(
            told,
            [
                ("workflow-invalid", "#/id"),
                ("workflow-invalid", "#/steps/0"),
                ("workflow-invalid", "#/steps/0"),
                ("workflow-invalid", "#/steps/6"),
                ("workflow-step-duplicate", "d"),
                ("workflow-step-id-collision", "b-b"),
                ("workflow-step-id-reserved", "start"),
                ("workflow-dependency-missing", "b b"),
            ]
        );
        assert_eq!((&*failure.code, failure.message.as_str()), ("workflow-invalid", "this workflow has 8 faults"));
        let steps = json!([{"id": "a", "command": "x", "dependsOn": ["b", "z"]}, {"id": "b", "command": "x", "dependsOn": ["a"]}]);
        let failure = read(&json!({ "steps": steps })).unwrap_err();
        let codes: Vec<_> = failure.diagnostics.iter().map(|told| &*told.code).collect();
        assert_eq!(codes, ["workflow-dependency-missing", "workflow-cycle"]);
    }

    #[test]
    fn keys_that_nothing_looks_at_are_known() {
        let steps = json!([{"id": "a", "command": "x", "needs": ["b"]}, {"id": "b", "command": "x"}]);
        let workflow = read(&json!({ "name": "x", "steps": steps })).unwrap();
        assert_eq!(workflow.passed_over, ["#/name", "#/steps/0/needs"]);
    }

    #[test]
    fn a_circle_is_told_and_faults_are_told_together() {
        let step = |id: &str, needs: &str| json!({"id": id, "command": "x", "dependsOn": [needs]});
        let steps =
            json!([{"id": "z", "command": "x"}, step("a", "b"), step("b", "c"), step("c", "b"), step("d", "z")]);
        let failure = read(&json!({ "steps": steps })).unwrap_err();
        assert!(failure.message.ends_with("b needs c needs b"), "{failure}");
        let failure = read(&json!({ "steps": [1, {"id": "a"}, {"id": "b", "command": "x"}] })).unwrap_err();
        assert_eq!(failure.diagnostics.len(), 2);
        assert_eq!(failure.diagnostics[1].path.as_deref(), Some("#/steps/1"));
    }
}
