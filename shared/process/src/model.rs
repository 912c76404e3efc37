//! The document model: what a valid `PROCESS.md` says, in the words of the specification (core §2).
//!
//! A [`Document`] only ever comes out of [`crate::read()`], so whoever holds one may rely on every rule of §2: ids are
//! unique, every edge names a step, every step is reachable, defaults are filled in (a missing `next` already names the
//! following step), and every data path names a declared field of the right type.

mod check;
mod fields;
mod graph;

use std::time::Duration;

use serde_json::{Map, Value};

pub use check::{Check, Question, QuestionKind};
pub use fields::{Field, FieldType, Fields};
pub use graph::{DEFAULT_ENTRY, GraphBinding};

/// What `next` and `on_timeout` of a branch step name to finish their branch (parallel-1). Only there is it a word of its
/// own: a process without a parallel step may call a step so.
pub const JOIN: &str = "join";

/// A valid process: the frontmatter as typed data, and the body exactly as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `name`, 1–64 characters matching `^[a-z0-9]+(-[a-z0-9]+)*$` (§2.1).
    pub name: String,
    /// `description`: what it is for, and when to begin one.
    pub description: String,
    /// `inputs`: what a run starts with; empty when the file declares none.
    pub inputs: Fields,
    /// `requires.systems`: names of external systems, `None` when the file does not say.
    pub requires: Option<Requires>,
    /// The steps in file order; at least one. The first is where a run starts.
    pub steps: Vec<Step>,
    /// The parallel steps with their branches, in file order (parallel-1); empty when the file has none.
    pub regions: Vec<Region>,
    /// The bytes behind the closing `---` and its line break, exactly as written.
    pub body: String,
    /// The parsed frontmatter as JSON, key order and number text kept: what the content hash covers (§6.5).
    pub frontmatter: Map<String, Value>,
}

impl Document {
    /// The step with this id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.id == id)
    }

    /// Every role name used in `person:`, once each, in file order: what an importer binds to groups (§7).
    pub fn roles(&self) -> Vec<&str> {
        let mut roles: Vec<&str> = Vec::new();
        for step in &self.steps {
            if let Some(Person::Role(role)) = step.person()
                && !roles.contains(&role.as_str())
            {
                roles.push(role);
            }
        }
        roles
    }

    /// The branch that a step is in, with its region; `None` for a step outside every branch.
    pub fn branch_of(&self, id: &str) -> Option<(&Region, &Branch)> {
        self.regions.iter().find_map(|r| r.branches.iter().find(|b| b.steps.iter().any(|s| s == id)).map(|b| (r, b)))
    }

    /// The region that a parallel step opens.
    pub fn region(&self, id: &str) -> Option<&Region> {
        self.regions.iter().find(|r| r.step == id)
    }

    /// The steps that `step` may continue at: [`Step::forward`] without the word for the end of a branch.
    pub fn forward<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = &'a Step> {
        step.forward().into_iter().filter_map(|id| self.step(id))
    }

    /// The profiles that the file's keys need, in alphabetical order (core §8).
    pub fn profiles(&self) -> Vec<&'static str> {
        let checks = self.steps.iter().any(|s| s.work().is_some_and(|w| w.check.is_some()));
        let graphs = self.graphs().next().is_some();
        let parallel = !self.regions.is_empty();
        [(checks, CHECK_1), (graphs, GRAPH_1), (parallel, PARALLEL_1)]
            .into_iter()
            .filter(|(used, _)| *used)
            .map(|(_, name)| name)
            .collect()
    }

    /// The steps that a graph guides, with its binding, in file order (graph-1).
    pub fn graphs(&self) -> impl Iterator<Item = (&Step, &GraphBinding)> {
        self.steps.iter().filter_map(|step| Some((step, step.graph()?)))
    }

    /// Whether any step is assigned to `initiator`; an agent cannot start such a process (§3.4).
    pub fn needs_initiator(&self) -> bool {
        self.steps.iter().any(|s| matches!(s.person(), Some(Person::Initiator)))
    }
}

/// The profile of `check` and `advisory`.
pub const CHECK_1: &str = "check-1";

/// The profile of `graph`.
pub const GRAPH_1: &str = "graph-1";

/// The profile of `parallel` and `join`.
pub const PARALLEL_1: &str = "parallel-1";

/// A parallel step and what runs between its fork and its join (parallel-1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The parallel step's id.
    pub step: String,
    /// Its branches, in the order in which it lists their entries; two or more.
    pub branches: Vec<Branch>,
}

/// One branch: its entry and every step reachable from it before the join. No step is in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The step that the fork makes ready.
    pub entry: String,
    /// Its steps in file order, the entry among them.
    pub steps: Vec<String>,
}

/// What the organization must have outside the server (§2.1). Shown, never checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requires {
    /// Names of external systems, each once, in file order.
    pub systems: Vec<String>,
}

/// One step (§2.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// `id`, matching `^[a-z][a-z0-9_-]{0,63}$`.
    pub id: String,
    /// The kind key and everything that goes with it.
    pub kind: Kind,
}

/// The kind of a step with the keys that the kind allows (§2.2).
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `agent:` — an agent completes it.
    Agent(Work),
    /// `task:` — a person completes it.
    Task {
        /// Who does it.
        person: Person,
        /// What is to be done.
        work: Work,
    },
    /// `approve:` — a person approves or rejects.
    Approve {
        /// Who decides.
        person: Person,
        /// What they are approving.
        text: String,
        /// Where an approval continues.
        next: String,
        /// Where a rejection returns to; `None` ends the run with outcome `rejected`.
        on_reject: Option<String>,
        /// How long after it becomes ready the step is overdue.
        due: Option<Span>,
    },
    /// `wait:` — the server continues after a duration.
    Wait {
        /// How long.
        span: Span,
        /// Where it continues.
        next: String,
    },
    /// `wait_until:` — the server continues at a time held in run data.
    WaitUntil {
        /// A path to a declared `datetime` field.
        path: DataPath,
        /// Where it continues.
        next: String,
    },
    /// `wait_for:` — the server continues when the event arrives.
    WaitFor {
        /// The event name.
        event: String,
        /// Where it continues when the event arrives.
        next: String,
        /// How long it waits at most.
        timeout: Option<Span>,
        /// Where it continues when `timeout` passes; the same as `next` when the file does not say.
        on_timeout: String,
    },
    /// `parallel:` — begins its branches together and goes on after the last of them (parallel-1).
    Parallel {
        /// The ids of the branch entries, in file order; two or more. [`Document::regions`] has the branches whole.
        entries: Vec<String>,
        /// Where the run continues after the join.
        next: String,
    },
    /// `finish:` — ends the run.
    Finish {
        /// The run's outcome.
        outcome: String,
    },
}

/// What an `agent` or `task` step asks for (§2.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The instructions, exactly as written.
    pub instructions: String,
    /// Fields the submission must contain; empty when none are declared.
    pub output: Fields,
    /// Evidence kinds that must be attached, in file order; empty when none are declared.
    pub evidence: Vec<EvidenceKind>,
    /// Where it continues.
    pub next: Next,
    /// How long after it becomes ready the step is overdue.
    pub due: Option<Span>,
    /// What a model is asked about a submission before the step completes (check-1).
    pub check: Option<Check>,
    /// The graph that guides the work; on `agent` alone (graph-1).
    pub graph: Option<GraphBinding>,
}

impl Step {
    /// The kind key's name: `agent`, `task`, `approve`, `wait`, `wait_until`, `wait_for`, `parallel` or `finish`.
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Agent(_) => "agent",
            Kind::Task { .. } => "task",
            Kind::Approve { .. } => "approve",
            Kind::Wait { .. } => "wait",
            Kind::WaitUntil { .. } => "wait_until",
            Kind::WaitFor { .. } => "wait_for",
            Kind::Parallel { .. } => "parallel",
            Kind::Finish { .. } => "finish",
        }
    }

    /// `person`, on the kinds that take one.
    pub fn person(&self) -> Option<&Person> {
        match &self.kind {
            Kind::Task { person, .. } | Kind::Approve { person, .. } => Some(person),
            _ => None,
        }
    }

    /// Instructions, output, evidence and routes, on `agent` and `task`.
    pub fn work(&self) -> Option<&Work> {
        match &self.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => Some(work),
            _ => None,
        }
    }

    /// `graph`, on an agent step that has one.
    pub fn graph(&self) -> Option<&GraphBinding> {
        self.work()?.graph.as_ref()
    }

    /// `due`, on the kinds that take one.
    pub fn due(&self) -> Option<Span> {
        match &self.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => work.due,
            Kind::Approve { due, .. } => *due,
            _ => None,
        }
    }

    /// The ids that this step names in `parallel`, `next` and `on_timeout`, once each, in that order. In a branch one of
    /// them may be [`JOIN`], which is no step; see [`Document::forward`]. `on_reject` is not among them: it is the one
    /// edge that goes back.
    pub fn forward(&self) -> Vec<&str> {
        match &self.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => match &work.next {
                Next::To(id) => vec![id],
                Next::Routes(routes) => routes.iter().map(|r| r.to.as_str()).collect(),
            },
            Kind::Approve { next, .. } | Kind::Wait { next, .. } | Kind::WaitUntil { next, .. } => vec![next],
            Kind::WaitFor { next, on_timeout, .. } if next != on_timeout => vec![next, on_timeout],
            Kind::WaitFor { next, .. } => vec![next],
            Kind::Parallel { entries, next } => entries.iter().map(String::as_str).chain([next.as_str()]).collect(),
            Kind::Finish { .. } => vec![],
        }
    }

    /// `on_reject`, on an approval that has one.
    pub fn on_reject(&self) -> Option<&str> {
        match &self.kind {
            Kind::Approve { on_reject, .. } => on_reject.as_deref(),
            _ => None,
        }
    }
}

/// `next` of an `agent` or `task` step (§3.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// One step; nobody chooses.
    To(String),
    /// Two or more distinct routes of which the submission names one, with a reason.
    Routes(Vec<Route>),
}

/// One of the routes an actor chooses from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The step it leads to.
    pub to: String,
    /// When to take it, in plain language; guides the actor and is not enforced.
    pub when: Option<String>,
}

/// Who a `task` or `approve` step is for (§2.2, §3.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Person {
    /// A role name, bound to a group before publication.
    Role(String),
    /// The person who started the run.
    Initiator,
    /// A path to a declared `person` field.
    Path(DataPath),
}

/// A path into run data (§2.2). It always names a declared field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataPath {
    /// `inputs.<field>`
    Input(String),
    /// `steps.<id>.output.<field>`
    Output {
        /// The step's id.
        step: String,
        /// The field of its output.
        field: String,
    },
}

impl std::fmt::Display for DataPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DataPath::Input(field) => write!(f, "inputs.{field}"),
            DataPath::Output { step, field } => write!(f, "steps.{step}.output.{field}"),
        }
    }
}

/// A duration as written, `30m`, `4h` or `3d` (§2.4), in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The length in seconds.
    pub seconds: u64,
}

impl Span {
    /// The length as a [`Duration`].
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// What kind of evidence must be attached (§5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// An uploaded file, verified by its hash.
    File,
    /// A URL or document number, recorded as stated.
    Link,
}

impl EvidenceKind {
    /// The word used in files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceKind::File => "file",
            EvidenceKind::Link => "link",
        }
    }
}

/// Whether this is a step id, and so also whether it is an event name: `^[a-z][a-z0-9_-]{0,63}$` (core §2.2, §3.6).
pub fn is_step_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && text.len() <= 64
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}
