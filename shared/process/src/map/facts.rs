//! What a picture of a process shows: its boxes, who acts in a step, what the step says, and the labelled edges.

use std::collections::HashMap;

use crate::model::{Document, JOIN, Kind, Next, Person, Region, Span, Step};

/// A box of the picture.
#[derive(Debug, Clone, Copy)]
pub(super) enum Node<'d> {
    Step(&'d Step),
    /// Where the branches of a parallel step end, and its `next` begins.
    Join(&'d Region),
}

/// The boxes: the steps in file order, then the joins.
pub(super) fn nodes(document: &Document) -> Vec<Node<'_>> {
    document.steps.iter().map(Node::Step).chain(document.regions.iter().map(Node::Join)).collect()
}

impl Node<'_> {
    /// The box in a few words.
    pub(super) fn name(self) -> String {
        match self {
            Node::Step(step) => step.id.clone(),
            Node::Join(region) => format!("the join of {}", region.step),
        }
    }

    /// Who moves it on.
    pub(super) fn actor(self) -> Actor {
        match self {
            Node::Step(step) => actor(step),
            Node::Join(_) => Actor::Fork,
        }
    }
}

/// Who moves a step on; pictures tell these apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Actor {
    /// An agent does it.
    Agent,
    /// A person does it.
    Person,
    /// A person approves or rejects it.
    Approver,
    /// The server waits.
    Server,
    /// The server begins branches, or goes on when they have joined.
    Fork,
    /// Nobody: the run ends.
    End,
}

/// The actor of a step.
pub(super) fn actor(step: &Step) -> Actor {
    match &step.kind {
        Kind::Agent(_) => Actor::Agent,
        Kind::Task { .. } => Actor::Person,
        Kind::Approve { .. } => Actor::Approver,
        Kind::Wait { .. } | Kind::WaitUntil { .. } | Kind::WaitFor { .. } => Actor::Server,
        Kind::Parallel { .. } => Actor::Fork,
        Kind::Finish { .. } => Actor::End,
    }
}

/// The kind in a few words, with the person it is for.
pub(super) fn headline(step: &Step) -> String {
    let who = match step.person() {
        Some(Person::Role(role)) => role.clone(),
        Some(Person::Initiator) => "initiator".to_owned(),
        Some(Person::Path(path)) => path.to_string(),
        None => String::new(),
    };
    match &step.kind {
        Kind::Agent(_) => "agent".to_owned(),
        Kind::Task { .. } => format!("task for {who}"),
        Kind::Approve { .. } => format!("approval by {who}"),
        Kind::Wait { .. } => "wait".to_owned(),
        Kind::WaitUntil { .. } => "wait until".to_owned(),
        Kind::WaitFor { .. } => "wait for event".to_owned(),
        Kind::Parallel { .. } => "parallel".to_owned(),
        Kind::Finish { .. } => "finish".to_owned(),
    }
}

/// What the step says.
pub(super) fn saying(step: &Step) -> String {
    match &step.kind {
        Kind::Agent(work) | Kind::Task { work, .. } => work.instructions.clone(),
        Kind::Approve { text, .. } => text.clone(),
        Kind::Wait { span, .. } => duration(*span),
        Kind::WaitUntil { path, .. } => path.to_string(),
        Kind::WaitFor { event, timeout: Some(timeout), .. } => format!("{event}, at most {}", duration(*timeout)),
        Kind::WaitFor { event, .. } => event.clone(),
        Kind::Parallel { entries, .. } => format!("{} branches at once", entries.len()),
        Kind::Finish { outcome } => outcome.clone(),
    }
}

/// Evidence, check, graph, due time, and what a rejection does when no edge shows it.
pub(super) fn terms(step: &Step) -> Vec<String> {
    let mut terms = Vec::new();
    if let Some(work) = step.work()
        && !work.evidence.is_empty()
    {
        let kinds: Vec<&str> = work.evidence.iter().map(|e| e.name()).collect();
        terms.push(format!("evidence: {}", kinds.join(", ")));
    }
    if let Some(check) = step.work().and_then(|work| work.check.as_ref()) {
        let questions = match check.questions.len() {
            1 => "1 question".to_owned(),
            many => format!("{many} questions"),
        };
        terms.push(format!("checked: {questions}{}", if check.advisory { ", advisory" } else { "" }));
    }
    if let Some(graph) = step.graph() {
        terms.push(format!("graph: {graph}{}", if graph.require_complete { ", to its end" } else { "" }));
    }
    if let Some(due) = step.due() {
        terms.push(format!("due {}", duration(due)));
    }
    if matches!(&step.kind, Kind::Approve { on_reject: None, .. }) {
        terms.push("rejection ends the run".to_owned());
    }
    terms
}

/// A duration in the largest unit that is whole.
fn duration(span: Span) -> String {
    match span.seconds {
        0 => "0m".to_owned(),
        s if s % 86_400 == 0 => format!("{}d", s / 86_400),
        s if s % 3_600 == 0 => format!("{}h", s / 3_600),
        s => format!("{}m", s / 60),
    }
}

/// Why a run goes along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    Next,
    Reject,
    Timeout,
}

/// An edge between two boxes, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) why: Why,
    pub(super) label: Option<String>,
}

/// Every edge, box by box. A parallel step leads to the first step of each branch, and its join to its `next`.
pub(super) fn edges(document: &Document) -> Vec<Edge> {
    let index: HashMap<&str, usize> = document.steps.iter().enumerate().map(|(n, s)| (s.id.as_str(), n)).collect();
    let mut joins: HashMap<&str, usize> = HashMap::new();
    for (n, region) in document.regions.iter().enumerate() {
        let steps = region.branches.iter().flat_map(|branch| &branch.steps);
        joins.extend(steps.map(|id| (id.as_str(), document.steps.len() + n)));
    }
    let mut edges = Vec::new();
    for (from, step) in document.steps.iter().enumerate() {
        let join = joins.get(step.id.as_str()).copied();
        let mut edge = |to: &str, why: Why, label: Option<String>| {
            if let Some(to) = join.filter(|_| to == JOIN).or_else(|| index.get(to).copied()) {
                edges.push(Edge { from, to, why, label });
            }
        };
        match &step.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => match &work.next {
                Next::To(to) => edge(to, Why::Next, None),
                Next::Routes(routes) => {
                    for route in routes {
                        edge(&route.to, Why::Next, route.when.clone());
                    }
                }
            },
            Kind::Approve { next, on_reject, .. } => {
                edge(next, Why::Next, Some("approved".to_owned()));
                if let Some(to) = on_reject {
                    edge(to, Why::Reject, Some("rejected".to_owned()));
                }
            }
            Kind::Wait { next, .. } | Kind::WaitUntil { next, .. } => edge(next, Why::Next, None),
            Kind::WaitFor { next, timeout: Some(timeout), on_timeout, .. } if next != on_timeout => {
                edge(next, Why::Next, Some("event".to_owned()));
                edge(on_timeout, Why::Timeout, Some(format!("after {}", duration(*timeout))));
            }
            Kind::WaitFor { next, timeout: Some(timeout), .. } => {
                edge(next, Why::Next, Some(format!("event, or after {}", duration(*timeout))));
            }
            Kind::WaitFor { next, .. } => edge(next, Why::Next, None),
            Kind::Parallel { entries, .. } => entries.iter().for_each(|entry| edge(entry, Why::Next, None)),
            Kind::Finish { .. } => {}
        }
    }
    for (n, region) in document.regions.iter().enumerate() {
        if let Some(Kind::Parallel { next, .. }) = document.step(&region.step).map(|step| &step.kind)
            && let Some(to) = index.get(next.as_str()).copied()
        {
            edges.push(Edge { from: document.steps.len() + n, to, why: Why::Next, label: None });
        }
    }
    edges
}
