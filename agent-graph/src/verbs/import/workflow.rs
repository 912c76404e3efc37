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
        let report = format!(
            "`{}` became Graph `{id}`, with its commands and the order that its steps depend on each other in.\n\n\
             The node `{START}` was added: the steps that depend on nothing come after it, and its Action does nothing.\n\n\
             A step without an effect got `write`, and every edge is taken at `completed`. To look through: the effect of each \
             Action, where a person has to decide, which facts prove a step done, what an agent has to read, and where a \
             failure leads.",
            files::absolute(&self.workflow).display()
        );
        let graph = target.finish(&made, &format!("Workflow as Graph {id}"), &report)?;
        super::tell(global, "workflow", &self.into, &id, &graph)
    }
}

/// The node before all steps, and the Terminal after them.
const START: &str = "start";
const DONE: &str = "done";

/// Reads a workflow: every fault of the first kind that there is.
fn read(value: &Value) -> Result<Workflow, Failure> {
    let invalid = |message: &str| Failure::new("workflow-invalid", message);
    let id = match value.get("id") {
        None => None,
        Some(Value::String(id)) if !id.is_empty() => Some(id.clone()),
        Some(_) => return Err(invalid("the id of the workflow must be a text")),
    };
    let steps = match value.get("steps").and_then(Value::as_array) {
        Some(steps) if (1..=WORKFLOW_STEPS).contains(&steps.len()) => steps,
        Some(steps) if !steps.is_empty() => {
            return Err(invalid(&format!("{} steps are over the limit of {WORKFLOW_STEPS}", steps.len())));
        }
        _ => return Err(invalid("a workflow has a list of `steps` with at least one step")),
    };
    let (mut read, mut faults) = (Vec::new(), Vec::new());
    for (index, given) in steps.iter().enumerate() {
        match step(given) {
            Ok(step) => read.push(step),
            Err(message) => faults.push((format!("#/steps/{index}"), message)),
        }
    }
    refuse("workflow-invalid", "steps of the workflow cannot be read", faults)?;
    together(&mut read)?;
    Ok(Workflow { id, steps: read })
}

/// Reads one step.
fn step(given: &Value) -> Result<Given, String> {
    let text = |key: &str| match given.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        None => Ok(None),
        Some(_) => Err(format!("`{key}` must be a text that is not empty")),
    };
    let needed = |key: &str| text(key)?.ok_or_else(|| format!("a step has `{key}`"));
    let depends_on = match given.get("dependsOn") {
        None => Vec::new(),
        Some(Value::Array(ids)) => {
            let ids: Option<Vec<_>> = ids.iter().map(|id| id.as_str().map(str::to_owned)).collect();
            ids.ok_or("`dependsOn` must be a list of ids")?
        }
        Some(_) => return Err("`dependsOn` must be a list of ids".to_owned()),
    };
    let effect = text("effect")?.unwrap_or_else(|| "write".to_owned());
    if !["read", "write", "external"].contains(&effect.as_str()) {
        return Err(format!("`effect` must be read, write or external, not `{effect}`"));
    }
    let description = match given.get("description") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
        Some(_) => return Err("`description` must be a text".to_owned()),
    };
    Ok(Given { id: needed("id")?, node: String::new(), command: needed("command")?, description, depends_on, effect })
}

/// Holds the steps to each other.
fn together(steps: &mut [Given]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    let twice = steps.iter().filter(|step| !seen.insert(step.id.clone()));
    let twice = twice.map(|step| (step.id.clone(), "there is another step with this id".to_owned())).collect();
    refuse("workflow-step-duplicate", "ids of steps stand for more than one", twice)?;
    for step in steps.iter_mut() {
        step.node = slug(&step.id)?;
    }
    let mut nodes: BTreeMap<&str, &str> = BTreeMap::new();
    let mut same = Vec::new();
    for step in steps.iter() {
        if let Some(other) = nodes.insert(&step.node, &step.id) {
            same.push((step.id.clone(), format!("as the id of a node it is `{}`, and so is {other}", step.node)));
        }
    }
    refuse("workflow-step-id-collision", "ids of steps are the same as ids of nodes", same)?;
    let reserved = steps.iter().filter(|step| [START, DONE].contains(&step.node.as_str()));
    let reserved = reserved.map(|step| (step.id.clone(), format!("a Graph has its own `{}`", step.node))).collect();
    refuse("workflow-step-id-reserved", "ids of steps are kept for the Graph's beginning and end", reserved)?;
    let missing = steps.iter().flat_map(|step| {
        let missing = step.depends_on.iter().filter(|id| !seen.contains(*id));
        missing.map(|id| (step.id.clone(), format!("it depends on `{id}`, and there is no such step")))
    });
    let missing = missing.collect();
    refuse("workflow-dependency-missing", "steps depend on steps that are not there", missing)?;
    for step in steps.iter_mut() {
        let mut once = BTreeSet::new();
        step.depends_on.retain(|id| once.insert(id.clone()));
    }
    acyclic(steps)
}

/// Takes away what depends on nothing that is left, until nothing is left or only what goes in a circle.
fn acyclic(steps: &[Given]) -> Result<(), Failure> {
    let mut waits: BTreeMap<&str, usize> = steps.iter().map(|step| (step.id.as_str(), step.depends_on.len())).collect();
    let mut after: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for step in steps {
        for id in &step.depends_on {
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
    let Some(mut id) = waits.keys().next().copied() else { return Ok(()) };
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
    Err(Failure::new("workflow-cycle", message))
}

/// A refusal of all faults of one kind.
fn refuse(code: &'static str, what: &str, faults: Vec<(String, String)>) -> Result<(), Failure> {
    match faults.as_slice() {
        [] => Ok(()),
        [(place, message)] => Err(Failure::new(code, format!("{place}: {message}"))),
        _ => {
            let diagnostics =
                faults.into_iter().map(|(place, text)| Diagnostic::new(code, Severity::Error, text).at(place));
            Err(Failure::new(code, what.to_owned()).with(diagnostics.collect()))
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
