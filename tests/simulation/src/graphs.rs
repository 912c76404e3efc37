//! Runs of Graphs in the simulation: bundles that are published, and many who record at once.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use graph::documents::Outcome;
use run::Actor;
use serde_json::{Map, Value, json};
use store::{Error, GraphCommand, GraphRun, Pin, Request, Store};

use crate::World;
use crate::actors::{ROUNDS, agents, call, people, read, think};
use crate::calls::{Act, Answer, Call, insist};
use crate::collisions::at_once;

/// The Provider.
pub const PROVIDER: &str = "sim/guide";

/// Its Graph.
pub const GRAPH: &str = "main";

/// The keys of its nodes that have an outcome of their own: an action, a gate that the authority `lead` may resolve, one
/// that only people do, and an action of the Graph that it enters.
pub const KEYS: [&str; 4] = ["main/make", "main/approve", "main/sign", "main/checks>checks/lint"];

/// Keys that have none.
const NO_KEYS: [&str; 4] = ["main/done", "main/checks", "checks/lint", "main/none"];

const OUTCOMES: [Outcome; 4] = [Outcome::Completed, Outcome::Failed, Outcome::Pending, Outcome::Partial];

const MAIN_FILE: &str = "schema: agent-graph.graph.v1
id: main
entrypoints: { default: make }
nodes:
  - { id: make, kind: action, reasonCode: route.make, action: do.yaml }
  - { id: checks, kind: subgraph, graph: checks, entry: default }
  - { id: approve, kind: gate, reasonCode: route.approve, gate: { id: a, prompt: Well?, authority: lead, delegatable: true } }
  - { id: sign, kind: gate, reasonCode: route.sign, gate: { id: s, prompt: Well?, authority: lead } }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges:
  - { from: make, to: approve }
  - { from: approve, to: checks }
  - { from: checks, to: sign }
  - { from: sign, to: done }
";

const CHECKS_FILE: &str = "schema: agent-graph.graph.v1
id: checks
entrypoints: { default: lint }
nodes:
  - { id: lint, kind: action, reasonCode: route.lint, action: do.yaml }
  - { id: done, kind: terminal, terminalOutcome: completed }
edges: [{ from: lint, to: done }]
";

const ACTION_FILE: &str = "schema: agent-graph.action.v1\nid: do\nrunner: command\neffect: write\ncommand: make\n";

/// The versions that may be published, each as two bundles: whichever comes first is the one.
const VERSIONS: [&str; 5] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0-rc.1", "1.3.0-rc.2"];

type Files = BTreeMap<String, Vec<u8>>;

static BUNDLES: LazyLock<Vec<Files>> = LazyLock::new(|| {
    VERSIONS.iter().flat_map(|version| ["One.", "Other."].map(|description| bundle(version, description))).collect()
});

fn bundle(version: &str, description: &str) -> Files {
    let manifest = format!(
        "schema: agent-graph.provider.v1\nid: {PROVIDER}\nversion: {version}\ndescription: {description}\n\
         graphs: [main.yaml, checks.yaml]\n"
    );
    let files = [
        ("provider.yaml", manifest.as_str()),
        ("main.yaml", MAIN_FILE),
        ("checks.yaml", CHECKS_FILE),
        ("do.yaml", ACTION_FILE),
    ];
    let source = graph::Memory(files.map(|(path, text)| (path.to_owned(), text.as_bytes().into())).into());
    let built = graph::build(&source, &graph::load(&source, "provider.yaml").unwrap()).unwrap();
    built.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect()
}

/// What a call about Graphs asks for.
#[derive(Debug, Clone)]
pub enum GraphAct {
    /// `publish_provider`, one of the bundles.
    Publish(usize),
    /// `start_graph_run`
    Start {
        /// The version; the latest when there is none.
        version: Option<&'static str>,
        /// The Facts.
        facts: Map<String, Value>,
    },
    /// A change of a run.
    Change {
        /// The run.
        run: String,
        /// What is asked.
        command: GraphCommand,
        /// The event after which the revision was read that the command names.
        seen: Option<u64>,
    },
    /// `resume_graph_run`
    Resume(String),
}

impl GraphAct {
    /// The tool.
    pub fn tool(&self) -> &'static str {
        match self {
            GraphAct::Publish(_) => "publish_provider",
            GraphAct::Start { .. } => "start_graph_run",
            GraphAct::Resume(_) => "resume_graph_run",
            GraphAct::Change { command, .. } => match command {
                GraphCommand::Record { .. } => "record_outcome",
                GraphCommand::Facts { .. } => "set_facts",
                GraphCommand::Authorities { .. } => "set_authorities",
                GraphCommand::Checkpoint => "checkpoint_graph_run",
            },
        }
    }

    /// All that the call says, as one value.
    pub fn arguments(&self) -> Value {
        json!(format!("{self:?}"))
    }

    /// Makes the call.
    pub async fn perform(&self, store: &Store, request: &Request<'_>) -> Result<Value, Error> {
        let done = match self {
            GraphAct::Publish(n) => {
                let reference = store.publish_provider(request, BUNDLES[*n].clone()).await?;
                return Ok(serde_json::to_value(reference).unwrap());
            }
            GraphAct::Start { version, facts } => {
                let pin = version.map_or(Pin::Latest, Pin::Version);
                store.start_graph_run(request, PROVIDER, pin, GRAPH, "default", facts.clone()).await
            }
            GraphAct::Change { run, command, .. } => store.change_graph_run(request, run, command.clone()).await,
            GraphAct::Resume(checkpoint) => store.resume_graph_run(request, checkpoint).await,
        };
        Ok(shown(&done?))
    }
}

fn shown(done: &GraphRun) -> Value {
    json!({ "run": done.run, "digest": done.provider.reference.digest })
}

/// Publishes bundles, starts runs, and brings recorders to meet over them.
pub async fn guide(world: Arc<World>, org: &'static str) {
    futures::join!(publish(&world, org), publish(&world, org), publish(&world, org));
    for _ in 0..ROUNDS {
        if world.is_broken() {
            return;
        }
        think(&world).await;
        match world.below(10) {
            0 => drop(futures::join!(publish(&world, org), publish(&world, org))),
            1 | 2 => {
                let version = *world.pick(&[None, None, Some("1.0.0"), Some("1.1.0"), Some("9.9.9")]).unwrap();
                let act = GraphAct::Start { version, facts: some_facts(&world) };
                insist(&world, &asked(&world, org, &agents()[0], act)).await;
            }
            _ => over_a_run(&world, org).await,
        }
    }
}

async fn publish(world: &Arc<World>, org: &'static str) {
    let n = usize::try_from(world.below(BUNDLES.len() as u64)).unwrap();
    insist(world, &asked(world, org, &people()[3], GraphAct::Publish(n))).await;
}

fn asked(world: &World, org: &'static str, who: &Actor, act: GraphAct) -> Call {
    call(world, org, who, Act::Graph(act))
}

fn some_facts(world: &World) -> Map<String, Value> {
    let name = *world.pick(&["a", "b", "c"]).unwrap();
    Map::from_iter([(name.to_owned(), json!(world.below(5)))])
}

/// Several callers change one run at one moment, some of them from the same revision.
async fn over_a_run(world: &Arc<World>, org: &'static str) {
    let runs = world.checker().graphs.runs_of(org);
    let Some(run) = world.pick(&runs).cloned() else { return };
    let seen = read(world, async |s| s.graph_run(org, &run).await).await;
    let everybody: Vec<Actor> = agents().into_iter().chain(people()).collect();
    let mut calls = Vec::new();
    for _ in 0..=world.below(5) {
        let who = world.pick(&everybody).unwrap();
        let act = match world.below(12) {
            0 => GraphAct::Resume(some_checkpoint(world, org, &run)),
            1 => changed(&run, GraphCommand::Checkpoint),
            2 | 3 => {
                let replace = world.chance(200);
                changed(&run, GraphCommand::Facts { facts: some_facts(world), replace })
            }
            4 | 5 => {
                let given: &[&str] = world.pick(&[&["lead"][..], &["lead", "other"], &[]]).unwrap();
                let authorities = given.iter().map(|name| (*name).to_owned()).collect();
                changed(&run, GraphCommand::Authorities { authorities })
            }
            _ => recorded(world, &run, seen.as_ref()),
        };
        calls.push(asked(world, org, who, act));
    }
    let answers = at_once(world, &calls).await;
    let done = answers.iter().filter(|answer| matches!(answer, Answer::Done(_))).count();
    if done > 1 {
        world.checker().graphs.met();
    }
}

fn changed(run: &str, command: GraphCommand) -> GraphAct {
    GraphAct::Change { run: run.to_owned(), command, seen: None }
}

fn recorded(world: &World, run: &str, seen: Option<&GraphRun>) -> GraphAct {
    // Mostly what is open; now and then what is not, or not any more.
    let open = seen.and_then(|seen| Some(seen.evaluated().unwrap().candidates.first()?.state_key.clone()));
    let node = match (world.below(20), open) {
        (0, _) => *world.pick(&NO_KEYS).unwrap(),
        (1..=12, Some(open)) => KEYS.into_iter().find(|key| *key == open).unwrap(),
        _ => *world.pick(&KEYS).unwrap(),
    };
    let outcome = if world.chance(700) { Outcome::Completed } else { *world.pick(&OUTCOMES).unwrap() };
    let detail = world.chance(300).then(|| json!(world.below(100)));
    let seen = seen.filter(|_| world.chance(300));
    let revision = seen.map(|seen| seen.evaluated().unwrap().evaluation.revision);
    let command = GraphCommand::Record { node: node.to_owned(), outcome, detail, revision };
    GraphAct::Change { run: run.to_owned(), command, seen: seen.map(GraphRun::sequence) }
}

/// A checkpoint of the organization, or now and then something that is none.
fn some_checkpoint(world: &World, org: &str, run: &str) -> String {
    let made = world.checker().graphs.checkpoints_of(org);
    match world.pick(&made) {
        Some(name) if world.chance(800) => name.clone(),
        _ => format!("{run}@{}", 1 + world.below(6)),
    }
}
