//! What is run for a Graph-action Resource, where, and with what environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use graph::documents::{Action, Cwd, Effect, GraphActionResource, Resource, ResourceLocation, Runner, Runtime};
use graph::{Failure, locate};

use crate::call::Opened;

/// A program to run.
#[derive(Debug)]
pub struct Plan {
    /// The Action, for messages.
    pub action: String,
    /// The program.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// All of its environment.
    pub environment: Vec<(&'static str, OsString)>,
    /// The Resource that it makes.
    pub resource: GraphActionResource,
}

/// What the caller says about the call.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// The Route revision that selected the Resource.
    pub revision: &'a str,
    /// The input as JSON.
    pub input: &'a str,
}

/// What is passed on from the environment of the command, where it is set there.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT"];

/// Plans how a Resource is made.
///
/// # Errors
///
/// `resource-missing`, `resource-static`, `materializer-missing`, `materializer-runner-invalid`,
/// `materializer-effect-invalid`, `file-missing` when the folder that it runs in is not there.
pub fn plan(opened: &Opened, id_or_path: &str, given: Given<'_>) -> Result<Plan, Failure> {
    let resource = made_by_graph(opened, id_or_path)?;
    let action = action(opened, &resource)?;
    let root = PathBuf::from(&opened.places.provider_root);
    let workspace = PathBuf::from(&opened.places.workspace);
    let folder = match action.cwd.unwrap_or_default() {
        Cwd::Workspace => workspace.clone(),
        Cwd::Provider => root.clone(),
    };
    if !folder.is_dir() {
        let message = format!(
            "there is no folder {} to run Action {} in; name one with --workspace",
            folder.display(),
            action.id
        );
        return Err(Failure::new("file-missing", message));
    }
    let (program, arguments) = command(action, &root)?;
    let mut environment: Vec<(&'static str, OsString)> =
        PASSED_ON.iter().filter_map(|name| std::env::var_os(name).map(|value| (*name, value))).collect();
    environment.extend([
        ("AGENT_GRAPH_PROVIDER_ROOT", root.into_os_string()),
        ("AGENT_GRAPH_WORKSPACE", workspace.into_os_string()),
        ("AGENT_GRAPH_REVISION", OsString::from(given.revision)),
        ("AGENT_GRAPH_INPUT", OsString::from(given.input)),
    ]);
    Ok(Plan { action: action.id.clone(), program, arguments, folder, environment, resource })
}

/// The Resource, when an Action of the Provider makes it.
fn made_by_graph(opened: &Opened, id_or_path: &str) -> Result<GraphActionResource, Failure> {
    let id = match locate(&opened.provider, &opened.places, id_or_path)? {
        ResourceLocation::GraphAction(location) => location.id,
        ResourceLocation::File(location) => {
            let message = format!("Resource {} is a file already: {}", location.id, location.file_path);
            return Err(Failure::new("resource-static", message));
        }
        ResourceLocation::HostAction(location) => {
            let message = format!(
                "Resource {} is made by the host's {}: ask the host for it, and check its result with resource verify-host",
                location.id, location.materialize.handler
            );
            return Err(Failure::new("materializer-runner-invalid", message));
        }
    };
    let found = opened.provider.resources.values().find_map(|loaded| match &loaded.value {
        Resource::GraphAction(resource) if resource.id == id => Some(resource.clone()),
        _ => None,
    });
    found.ok_or_else(|| {
        Failure::new("resource-missing", format!("Provider {} has no Resource {id}", opened.provider.id()))
    })
}

fn action<'a>(opened: &'a Opened, resource: &GraphActionResource) -> Result<&'a Action, Failure> {
    let actions = &opened.provider.actions;
    let path = resource.materializer.trim_start_matches("./");
    let found = actions.get(&resource.materializer).or_else(|| actions.get(path));
    let action = &found
        .ok_or_else(|| {
            let message = format!("Resource {} names no Action at {}", resource.id, resource.materializer);
            Failure::new("materializer-missing", message)
        })?
        .value;
    if action.effect != Effect::Read {
        let message = format!("Action {} changes things, so it makes no Resource: its effect must be read", action.id);
        return Err(Failure::new("materializer-effect-invalid", message));
    }
    Ok(action)
}

fn command(action: &Action, root: &Path) -> Result<(&'static str, Vec<String>), Failure> {
    match (action.runner, &action.command, &action.entry) {
        (Runner::Command, Some(command), _) => Ok(("sh", vec!["-c".to_owned(), command.clone()])),
        (Runner::Script, _, Some(entry)) => {
            let program = match action.runtime {
                Some(Runtime::Node) => "node",
                Some(Runtime::Bun) => "bun",
                Some(Runtime::Python) => "python3",
                Some(Runtime::Shell) | None => "sh",
            };
            let mut arguments = vec![crate::files::text(&root.join(entry))];
            arguments.extend(action.args.iter().flatten().cloned());
            Ok((program, arguments))
        }
        _ => {
            let message =
                format!("Action {} is neither a command nor a script, so it makes no Resource here", action.id);
            Err(Failure::new("materializer-runner-invalid", message))
        }
    }
}
