//! A Route with all that is needed to take it (section-evaluation).
//!
//! What was said about the revision is held first: nothing of a Route is told to a caller who has seen another state. A plan
//! is only ever told for what may be done now, and a Gate's Actions keep plans of their own, so that whoever runs
//! `commandPlan` can never run a decision that nobody made.

use crate::documents::{
    Action, AfterAction, Availability, Cwd, DelegatedInspection, GateAction, Node, NodeKind, NodeResources,
    PlannedCommand, ReadReceipts, Resolution, ResourceLocation, Route, RouteAction, RouteGate, RouteResources,
    RouteSchema, Runner, Runtime, StatusCode,
};
use crate::evaluate::{Candidate, State, evaluate};
use crate::failure::Failure;
use crate::load::Provider;
use crate::locate::{Places, Reader, Tell, Way, at, of_provider};
use crate::schemas::{brief, quote};

/// Which Route is asked for.
#[derive(Debug, Clone, Default)]
pub struct RouteRequest<'a> {
    /// The Graph.
    pub graph: &'a str,
    /// The entry.
    pub entry: &'a str,
    /// The Route; the primary one unless said.
    pub route_id: Option<&'a str>,
    /// The revision that the caller has seen.
    pub revision: Option<&'a str>,
    /// What the conversation has read.
    pub receipts: Option<&'a ReadReceipts>,
}

/// Resolves a Route. Nothing is run.
///
/// # Errors
///
/// `graph-missing`, `entry-missing`, `revision-invalid`, `route-revision-stale`, `resource-receipts-provider-mismatch`,
/// `route-stale`, `route-unavailable`.
pub fn route(
    provider: &Provider,
    places: &Places,
    state: &State,
    request: &RouteRequest<'_>,
) -> Result<Route, Failure> {
    if let Some(revision) = request.revision {
        well_formed(revision)?;
    }
    let evaluated = evaluate(provider, request.graph, request.entry, state)?;
    let revision = &evaluated.evaluation.revision;
    if let Some(seen) = request.revision.filter(|seen| seen != revision) {
        let said =
            format!("the state has moved on: revision {seen} was asked for, it is {revision} now; evaluate again");
        return Err(Failure::new("route-revision-stale", said));
    }
    if let Some(receipts) = request.receipts {
        of_provider(provider, receipts)?;
    }
    let candidate = match request.route_id {
        Some(id) => evaluated.candidates.iter().find(|candidate| candidate.route_id == id).ok_or_else(|| {
            let id = brief(id);
            let said = format!("Route {id} is not open at revision {revision}; evaluate again and take one that is");
            Failure::new("route-stale", said)
        })?,
        None => evaluated.candidates.first().ok_or_else(|| {
            let graph = request.graph;
            let said = format!("Graph {graph} has no open Route at revision {revision}; its evaluation says why");
            Failure::new("route-unavailable", said)
        })?,
    };
    let tell = Tell { provider, places, reader: Some(Reader { revision, receipts: request.receipts }) };
    Resolver { provider, places, tell }.resolve(candidate, revision)
}

/// Holds a revision to its form: `sha256:` and 64 lower-case hex digits.
fn well_formed(revision: &str) -> Result<(), Failure> {
    let digits = revision.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() == 64 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Ok(());
    }
    let said = format!("{} is no revision: give the one of the evaluation, sha256: and 64 hex digits", quote(revision));
    Err(Failure::new("revision-invalid", said))
}

struct Resolver<'a> {
    provider: &'a Provider,
    places: &'a Places,
    tell: Tell<'a>,
}

impl Resolver<'_> {
    fn resolve(&self, candidate: &Candidate, revision: &str) -> Result<Route, Failure> {
        let graph = self.provider.graphs.get(&candidate.graph).map(|graph| &graph.value);
        let node = graph.and_then(|graph| graph.nodes.iter().find(|node| node.id == candidate.node));
        let Some(node) = node else {
            let said = format!("Graph {} has no node {}", candidate.graph, candidate.node);
            return Err(Failure::new("graph-edge-node-missing", said));
        };
        let delegated = candidate.delegated && node.kind == NodeKind::Gate;
        let action = match node.kind {
            NodeKind::Action => node.action.as_deref().map(|path| self.action(path)).transpose()?,
            _ => None,
        };
        let plan = match candidate.availability {
            Availability::Immediate => action.map(|action| self.plan(action)).unwrap_or_default(),
            Availability::RequiresUser | Availability::Blocked => Vec::new(),
        };
        let reason_code = node.reason_code.clone().unwrap_or_default();
        Ok(Route {
            schema: RouteSchema::V1,
            provider: self.provider.id().to_owned(),
            revision: revision.to_owned(),
            route_id: candidate.route_id.clone(),
            graph: candidate.graph.clone(),
            node: candidate.node.clone(),
            status_code: match candidate.availability {
                Availability::Immediate => StatusCode::Actionable,
                Availability::RequiresUser => StatusCode::WaitingUser,
                Availability::Blocked => StatusCode::Blocked,
            },
            hint: self.provider.code(&reason_code).map(|code| code.summary.clone()),
            reason_code,
            availability: candidate.availability,
            call_path: candidate.call_path.to_vec(),
            action: action.map(|action| self.told(action)).transpose()?,
            command_plan: plan,
            resources: self.resources(node, action, delegated)?,
            gate: self.gate(node, delegated)?,
            diagnostics: Vec::new(),
            after_action: AfterAction { evaluate: true, record_node: Some(candidate.state_key.clone()) },
        })
    }

    fn action(&self, path: &str) -> Result<&Action, Failure> {
        let loaded = at(&self.provider.actions, path);
        loaded.map(|loaded| &loaded.value).ok_or_else(|| {
            Failure::new("file-missing", format!("Provider {} has no Action at {path}", self.provider.id()))
        })
    }

    /// What an Action is; its files are told as locations.
    fn told(&self, action: &Action) -> Result<RouteAction, Failure> {
        Ok(RouteAction {
            id: action.id.clone(),
            runner: action.runner,
            effect: action.effect,
            skill: self.skill(action)?,
            input_schema: self.tell.schema(action, Way::Input)?,
            output_schema: self.tell.schema(action, Way::Output)?,
        })
    }

    fn skill(&self, action: &Action) -> Result<Option<ResourceLocation>, Failure> {
        match (action.runner, &action.skill) {
            (Runner::Agent, Some(path)) => self.tell.skill(path).map(Some),
            _ => Ok(None),
        }
    }

    /// What to run for an Action: nothing when an agent carries it out, since it reads its Skill.
    fn plan(&self, action: &Action) -> Vec<PlannedCommand> {
        let (command, handler) = match action.runner {
            Runner::Agent => return Vec::new(),
            Runner::Command => (action.command.clone(), None),
            Runner::Script => (Some(self.script(action)), None),
            Runner::Host => (None, action.handler.clone()),
        };
        let cwd = action.cwd.unwrap_or(Cwd::Workspace);
        let working_directory = self.places.folder(cwd);
        vec![PlannedCommand { command, handler, effect: action.effect, cwd, working_directory }]
    }

    /// The shell command of a script.
    fn script(&self, action: &Action) -> String {
        script(action, &quoted(&self.places.file(action.entry.as_deref().unwrap_or_default())))
    }

    /// A Gate's own Skills stay with its Actions: what is listed here is what the Route itself needs.
    fn resources(&self, node: &Node, action: Option<&Action>, delegated: bool) -> Result<RouteResources, Failure> {
        let instead = node.delegated.as_ref().filter(|_| delegated).and_then(|policy| policy.resources.as_ref());
        let empty = NodeResources::default();
        let selected = instead.or(node.resources.as_ref()).unwrap_or(&empty);
        let mut required: Vec<ResourceLocation> = Vec::new();
        required.extend(action.map(|action| self.skill(action)).transpose()?.flatten());
        for path in selected.required.iter().flatten() {
            required.push(self.tell.named(path)?);
        }
        let recommended = selected.recommended.iter().flatten().map(|path| self.tell.named(path));
        Ok(RouteResources { required, recommended: recommended.collect::<Result<_, _>>()? })
    }

    fn gate(&self, node: &Node, delegated: bool) -> Result<Option<RouteGate>, Failure> {
        let Some(gate) = node.gate.as_ref().filter(|_| node.kind == NodeKind::Gate) else { return Ok(None) };
        let policy = node.delegated.as_ref().filter(|_| delegated);
        let skipped = policy.is_some_and(|policy| policy.inspection == Some(DelegatedInspection::Skip));
        let inspection = node.inspection_action.as_deref().filter(|_| !skipped);
        let instead = policy.and_then(|policy| policy.resolution_action.as_deref());
        let resolution = instead.or(node.resolution_action.as_deref());
        let gate_action = |path: &str| {
            let action = self.action(path)?;
            Ok::<_, Failure>(GateAction { action: self.told(action)?, command_plan: self.plan(action) })
        };
        Ok(Some(RouteGate {
            id: gate.id.clone(),
            prompt: gate.prompt.clone(),
            authority: gate.authority.clone(),
            delegatable: gate.delegatable,
            resolution: if delegated { Resolution::SessionAuthority } else { Resolution::User },
            inspection_action: inspection.map(gate_action).transpose()?,
            resolution_action: resolution.map(gate_action).transpose()?,
        }))
    }
}

/// The shell command of a script that this word names: every word but the runtime's name is quoted, whatever is in it.
fn script(action: &Action, entry: &str) -> String {
    let runtime = match action.runtime {
        Some(Runtime::Node) => "node",
        Some(Runtime::Bun) => "bun",
        Some(Runtime::Python) => "python3",
        Some(Runtime::Shell) | None => "sh",
    };
    let args = action.args.iter().flatten();
    args.fold(format!("{runtime} {entry}"), |command, word| command + " " + &quoted(word))
}

/// The command of a script Action as it is written where nobody knows where the Provider is: with the script's path below
/// the Provider root, quoted and not. None for other Actions.
pub(crate) fn relative_commands(action: &Action) -> Vec<String> {
    let entry = action.entry.as_deref().filter(|_| action.runner == Runner::Script);
    entry.into_iter().flat_map(|entry| [script(action, &quoted(entry)), script(action, entry)]).collect()
}

/// One word for a POSIX shell: nothing is special between single quotes, and a single quote is put in between double ones.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[cfg(test)]
mod tests {
    use super::{quoted, well_formed};

    #[test]
    fn a_shell_reads_back_every_word() {
        for word in ["plain", "two words", "it's", "''", "$HOME `id` \"x\" \\ *", "", "a\nb", "ä→"] {
            let command = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").arg("-c").arg(&command).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word, "{command}");
        }
    }

    #[test]
    fn a_revision_is_a_digest() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        assert_eq!(well_formed(&digest), Ok(()));
        for wrong in ["", "sha256:", "x", &digest.to_uppercase(), &digest[..70], &format!("{digest}0"), &digest[7..]] {
            assert_eq!(well_formed(wrong).unwrap_err().code, "revision-invalid", "{wrong}");
        }
    }
}
