//! Checked drafts to steps. Nothing is reported here: what is missing was reported where it was missed.

use super::branches::{Branches, Place};
use super::graph::GraphDraft;
use super::keys::KindKey;
use super::next::{NextDraft, Target};
use super::person::{Reference, Who};
use super::step::Draft;
use crate::model::{
    Branch, Check, DEFAULT_ENTRY, DataPath, GraphBinding, Kind, Next, Person, Region, Route, Step, Work,
};

/// The steps; `None` when a draft lacks what its kind needs.
pub(super) fn steps(drafts: Vec<Draft<'_>>) -> Option<Vec<Step>> {
    let following: Vec<Option<String>> =
        drafts.iter().skip(1).map(|d| d.id.map(|(id, _)| id.to_owned())).chain([None]).collect();
    drafts.into_iter().zip(following).map(|(draft, following)| step(draft, following)).collect()
}

/// The parallel steps and their branches; `None` when a step lacks its id.
pub(super) fn regions(drafts: &[Draft<'_>], branches: &Branches) -> Option<Vec<Region>> {
    let id = |step: usize| drafts.get(step).and_then(|d| d.id).map(|(id, _)| id.to_owned());
    let mut regions = Vec::with_capacity(branches.regions.len());
    for region in &branches.regions {
        let entries = region.entries.iter().map(|entry| Some(Branch { entry: id(*entry)?, steps: Vec::new() }));
        regions.push(Region { step: id(region.step)?, branches: entries.collect::<Option<_>>()? });
    }
    for step in 0..drafts.len() {
        let Some(Place { region, branch }) = branches.of(step) else { continue };
        let branch: Option<&mut Branch> = regions.get_mut(region).and_then(|r| r.branches.get_mut(branch));
        branch?.steps.push(id(step)?);
    }
    Some(regions)
}

fn step(draft: Draft<'_>, following: Option<String>) -> Option<Step> {
    let id = draft.id?.0.to_owned();
    let text = draft.text.map(str::to_owned);
    let person = draft.person.map(|(who, _)| person(who));
    let on_reject = draft.on_reject.map(to);
    let kind = match draft.kind? {
        KindKey::Finish => Kind::Finish { outcome: text? },
        kind @ (KindKey::Agent | KindKey::Task) => {
            let work = Work {
                instructions: text?,
                output: draft.output.into_fields()?,
                evidence: draft.evidence,
                next: next(draft.next, following)?,
                due: draft.due,
                check: draft.check.map(|questions| Check { questions, advisory: draft.advisory }),
                graph: match draft.graph {
                    Some(graph) => Some(binding(graph)?),
                    None => None,
                },
            };
            if kind == KindKey::Agent { Kind::Agent(work) } else { Kind::Task { person: person?, work } }
        }
        kind => {
            let Next::To(next) = next(draft.next, following)? else { return None };
            match kind {
                KindKey::Approve => Kind::Approve { person: person?, text: text?, next, on_reject, due: draft.due },
                KindKey::Wait => Kind::Wait { span: draft.span?, next },
                KindKey::WaitUntil => Kind::WaitUntil { path: path(draft.until?.0), next },
                KindKey::WaitFor => {
                    let on_timeout = draft.on_timeout.map(to).unwrap_or_else(|| next.clone());
                    Kind::WaitFor { event: text?, next, timeout: draft.timeout, on_timeout }
                }
                KindKey::Parallel => {
                    let entries = draft.fork?.entries.into_iter().map(|entry| entry.map(to));
                    Kind::Parallel { entries: entries.collect::<Option<_>>()?, next }
                }
                KindKey::Agent | KindKey::Task | KindKey::Finish => return None,
            }
        }
    };
    Some(Step { id, kind })
}

fn next(next: NextDraft<'_>, following: Option<String>) -> Option<Next> {
    match next {
        NextDraft::Absent => following.map(Next::To),
        NextDraft::Broken => None,
        NextDraft::To(target) => Some(Next::To(to(target))),
        NextDraft::Routes(routes) => routes
            .into_iter()
            .map(|route| route.map(|(target, when)| Route { to: to(target), when: when.map(str::to_owned) }))
            .collect::<Option<Vec<_>>>()
            .map(Next::Routes),
    }
}

fn to(target: Target<'_>) -> String {
    target.to.to_owned()
}

fn person(who: Who<'_>) -> Person {
    match who {
        Who::Role(role) => Person::Role(role.to_owned()),
        Who::Initiator => Person::Initiator,
        Who::Path(reference) => Person::Path(path(reference)),
    }
}

fn binding(graph: GraphDraft<'_>) -> Option<GraphBinding> {
    let (provider, version) = graph.provider?;
    Some(GraphBinding {
        provider: provider.to_owned(),
        version: version.map(str::to_owned),
        graph: graph.graph?.to_owned(),
        entry: graph.entry.unwrap_or(DEFAULT_ENTRY).to_owned(),
        facts: graph.facts.into_iter().map(|fact| (fact.path.to_owned(), path(fact.from))).collect(),
        require_complete: graph.require_complete,
    })
}

fn path(reference: Reference<'_>) -> DataPath {
    match reference {
        Reference::Input(field) => DataPath::Input(field.to_owned()),
        Reference::Output { step, field } => DataPath::Output { step: step.to_owned(), field: field.to_owned() },
    }
}
