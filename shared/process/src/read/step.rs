//! One step on its own (core §2.2): its kind, the keys that the kind takes, and the form of every value. What only the
//! other steps can tell (targets, paths, order) is left in the [`Draft`] for the rules after it.

use super::ReadOptions;
use super::check;
use super::fields::{self, Declared};
use super::graph::{self, GraphDraft};
use super::keys::{self, KindKey};
use super::next::{NextDraft, Slot, Target, next, target};
use super::parallel::{self, Fork};
use super::person::{self, Reference, Who};
use super::words;
use crate::limits::ID_CHARACTERS;
use crate::model::{CHECK_1, EvidenceKind, GRAPH_1, Question, Span};
use crate::problem::{Path, Position, Report, shorten};
use crate::yaml::{Data, Entry, Node};

/// A step as far as it can be told alone.
#[derive(Debug)]
pub(super) struct Draft<'n> {
    /// Where the step begins.
    pub(super) at: Position,
    /// The id as written, whether or not it is a proper one: others name it as written.
    pub(super) id: Option<(&'n str, Position)>,
    /// The kind, when there is exactly one.
    pub(super) kind: Option<KindKey>,
    /// Instructions, what is approved, the event or the outcome.
    pub(super) text: Option<&'n str>,
    /// `wait`.
    pub(super) span: Option<Span>,
    /// `wait_until`.
    pub(super) until: Option<(Reference<'n>, Position)>,
    /// `person`.
    pub(super) person: Option<(Who<'n>, Position)>,
    /// `output`.
    pub(super) output: Declared,
    /// `evidence`.
    pub(super) evidence: Vec<EvidenceKind>,
    /// `check`.
    pub(super) check: Option<Vec<Question>>,
    /// `advisory`.
    pub(super) advisory: bool,
    /// `graph`.
    pub(super) graph: Option<GraphDraft<'n>>,
    /// `next`.
    pub(super) next: NextDraft<'n>,
    /// `on_reject`.
    pub(super) on_reject: Option<Target<'n>>,
    /// `due`.
    pub(super) due: Option<Span>,
    /// `timeout`.
    pub(super) timeout: Option<Span>,
    /// `on_timeout`.
    pub(super) on_timeout: Option<Target<'n>>,
    /// `parallel`, or what may be meant for it.
    pub(super) fork: Option<Fork<'n>>,
    /// Whether a key names a step that could not be read.
    pub(super) unclear: bool,
}

impl<'n> Draft<'n> {
    /// Every target that the step names.
    pub(super) fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target<'n>> {
        let entries = self.fork.iter_mut().flat_map(|fork| &mut fork.entries).flatten();
        self.next.targets_mut().chain(self.on_reject.as_mut()).chain(self.on_timeout.as_mut()).chain(entries)
    }

    /// The targets of `next` and `on_timeout`.
    pub(super) fn forward_targets(&self) -> impl Iterator<Item = &Target<'n>> {
        self.next.targets().chain(self.on_timeout.as_ref())
    }

    /// Whether the kind and everything that names a step could be read.
    pub(super) fn readable(&self) -> bool {
        let fork = self.fork.as_ref().is_none_or(|fork| fork.whole);
        self.kind.is_some() && self.next.is_readable() && fork && !self.unclear
    }
}

/// The step that the value at `path` describes. Keys of a profile that is not offered are refused for that.
pub(super) fn step<'n>(node: &'n Node, path: &Path<'_>, options: &ReadOptions<'_>, report: &mut Report) -> Draft<'n> {
    let checks = options.check;
    let mut draft = Draft {
        at: node.at,
        id: None,
        kind: None,
        text: None,
        span: None,
        until: None,
        person: None,
        output: Declared::default(),
        evidence: Vec::new(),
        check: None,
        advisory: false,
        graph: None,
        next: NextDraft::Absent,
        on_reject: None,
        due: None,
        timeout: None,
        on_timeout: None,
        fork: None,
        unclear: false,
    };
    let Some(entries) = keys::map(node, path, "a step, a mapping with `id` and a kind", report) else {
        draft.next = NextDraft::Broken;
        return draft;
    };
    let kinds: Vec<(KindKey, &Entry)> =
        entries.iter().filter_map(|e| KindKey::of(&e.key).map(|kind| (kind, e))).collect();
    let mut kind_meant = false;
    let mut check_meant = false;
    if let [(kind, _)] = kinds.as_slice() {
        draft.kind = Some(*kind);
    }
    if let [(first, _), others @ ..] = kinds.as_slice() {
        for (_, entry) in others {
            let what = format!("a step has exactly one kind, and this one is already `{}`; keep one", first.name());
            report.error(entry.key_at, &path.key(&entry.key), what);
        }
    }
    let mut has_id = false;
    for entry in entries {
        let here = path.key(&entry.key);
        if KindKey::of(&entry.key).is_none() && !allowed(draft.kind, entry, &here, report) {
            continue;
        }
        match entry.key.as_str() {
            "id" => {
                has_id = true;
                draft.id = id(&entry.value, &here, report).map(|text| (text, entry.value.at));
            }
            key if !checks && keys::CHECK.contains(&key) => {
                report.profile(entry.key_at, &here, CHECK_1, format!("`{key}`"), "evaluator");
            }
            keys::GRAPH if !options.graph => {
                report.profile(entry.key_at, &here, GRAPH_1, format!("`{}`", keys::GRAPH), "graphs");
            }
            _ if value(&mut draft, entry, &here, report) => {}
            key if check::QUESTION.contains(&key) && entries.iter().any(|e| e.key == "check") => {
                let what = format!("is a key of a question; put it within `check`: `check: [{{ ask: …, {key}: … }}]`");
                report.error(entry.key_at, &here, what);
            }
            key if graph::GRAPH.contains(&key) && entries.iter().any(|e| e.key == keys::GRAPH) => {
                let what = format!("is a key of `graph`; put it within: `graph: {{ provider: …, {key}: … }}`");
                report.error(entry.key_at, &here, what);
            }
            _ => {
                let meant = keys::unknown(entry, path, "a step", &keys::step(options), report);
                has_id |= meant == Some("id");
                check_meant |= meant == Some("check");
                kind_meant |= meant.is_some_and(|key| KindKey::of(key).is_some());
                if meant == Some("parallel") {
                    draft.fork = Some(Fork::unclear(entry.key_at));
                }
            }
        }
    }
    if !has_id {
        report.error(node.at, path, "`id` is missing; give the step one");
    }
    if kinds.is_empty() && !kind_meant {
        let what = "has no kind; add one of agent, task, approve, wait, wait_until, wait_for, parallel, finish";
        report.error(node.at, path, what);
    }
    if let Some(kind @ (KindKey::Task | KindKey::Approve)) = draft.kind
        && !entries.iter().any(|e| e.key == "person")
    {
        let what = format!("`{}` needs `person`: a role, `initiator`, or a path to a person", kind.name());
        report.error(node.at, path, what);
    }
    if draft.kind == Some(KindKey::WaitFor)
        && !entries.iter().any(|e| e.key == "timeout")
        && let Some(entry) = entries.iter().find(|e| e.key == "on_timeout")
    {
        let what = "there is no `timeout` after which to continue here; add one or remove this";
        report.error(entry.key_at, &path.key("on_timeout"), what);
    }
    if checks
        && !check_meant
        && matches!(draft.kind, Some(KindKey::Agent | KindKey::Task))
        && !entries.iter().any(|e| e.key == "check")
        && let Some(entry) = entries.iter().find(|e| e.key == "advisory")
    {
        let what = "there is no `check` here whose verdict could be advisory; add one or remove this";
        report.error(entry.key_at, &path.key("advisory"), what);
    }
    draft
}

/// Whether a step of this kind takes the key; reports when it does not.
fn allowed(kind: Option<KindKey>, entry: &Entry, path: &Path<'_>, report: &mut Report) -> bool {
    let takers = keys::takers(&entry.key);
    let Some(kind) = kind else { return true };
    if takers.is_empty() || kind.takes(&entry.key) {
        return true;
    }
    let what = if kind == KindKey::Finish && entry.key == "next" {
        "a finish ends the run, so it has no `next`; remove it".to_owned()
    } else {
        let takers: Vec<&str> = takers.iter().map(|k| k.name()).collect();
        format!("`{}` is only for {}, and this step is `{}`; remove it", entry.key, takers.join(" and "), kind.name())
    };
    report.error(entry.key_at, path, what);
    false
}

/// Takes in the value of a key; `false` when the key is none of a step's.
fn value<'n>(draft: &mut Draft<'n>, entry: &'n Entry, path: &Path<'_>, report: &mut Report) -> bool {
    let node = &entry.value;
    match entry.key.as_str() {
        "agent" | "task" => draft.text = keys::filled(node, path, "instructions", report),
        "approve" => draft.text = keys::filled(node, path, "what is to be approved", report),
        "wait" => draft.span = span(node, path, report),
        "wait_until" => draft.until = person::until(node, path, report).map(|r| (r, node.at)),
        "wait_for" => draft.text = event(node, path, report),
        "finish" => draft.text = outcome(node, path, report),
        "parallel" => draft.fork = Some(parallel::fork(entry, path, report)),
        "person" => draft.person = person::who(node, path, report).map(|w| (w, node.at)),
        "output" => draft.output = fields::fields(node, path, report),
        "evidence" => draft.evidence = evidence(node, path, report),
        "check" => draft.check = check::check(node, path, report),
        "advisory" => draft.advisory = keys::boolean(node, path, report).unwrap_or_default(),
        keys::GRAPH => draft.graph = graph::graph(node, path, report),
        "next" => draft.next = next(node, draft.kind, path, report),
        "on_reject" => {
            draft.on_reject = target(node, Slot::OnReject, path, report);
            draft.unclear |= draft.on_reject.is_none();
        }
        "on_timeout" => {
            draft.on_timeout = target(node, Slot::OnTimeout, path, report);
            draft.unclear |= draft.on_timeout.is_none();
        }
        "due" => draft.due = span(node, path, report),
        "timeout" => draft.timeout = span(node, path, report),
        _ => return false,
    }
    true
}

/// The rule for ids and event names, in words.
fn id_rule(text: &str, what: &str) -> String {
    format!(
        "`{}` is not {what}; begin with a lower-case letter and go on with lower-case letters, digits, `_` and `-`, \
         {ID_CHARACTERS} characters at most",
        shorten(text)
    )
}

fn id<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<&'n str> {
    let text = keys::text(node, path, "an id such as `check_vendor`", report)?;
    if !words::is_id(text) {
        report.error(node.at, path, id_rule(text, "an id"));
    }
    Some(text)
}

fn event<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<&'n str> {
    let text = keys::text(node, path, "an event name such as `payment_received`", report)?;
    if !words::is_id(text) {
        report.error(node.at, path, id_rule(text, "an event name"));
        return None;
    }
    Some(text)
}

fn outcome<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<&'n str> {
    let text = keys::filled(node, path, "the run's outcome, a short word such as `onboarded`", report)?;
    if !words::is_outcome(text) {
        let what = format!("`{}` is not an outcome; use one line of at most {ID_CHARACTERS} characters", shorten(text));
        report.error(node.at, path, what);
        return None;
    }
    Some(text)
}

fn span(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Span> {
    if let Data::Number(number) = &*node.data {
        let what = format!("`{}` has no unit; write `30m`, `4h` or `3d`", shorten(&number.to_string()));
        report.error(node.at, path, what);
        return None;
    }
    let text = keys::text(node, path, "a duration such as `30m`, `4h` or `3d`", report)?;
    words::span(text).map_err(|why| report.error(node.at, path, format!("`{}` {why}", shorten(text)))).ok()
}

fn evidence(node: &Node, path: &Path<'_>, report: &mut Report) -> Vec<EvidenceKind> {
    let Some(list) = keys::list(node, path, "a list of `file` and `link`", report) else { return Vec::new() };
    let mut kinds = Vec::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        let kind = match keys::text(item, &path, "`file` or `link`", report) {
            Some("file") => EvidenceKind::File,
            Some("link") => EvidenceKind::Link,
            Some(other) => {
                let what = format!("`{}` is not a kind of evidence; use `file` or `link`", shorten(other));
                report.error(item.at, &path, what);
                continue;
            }
            None => continue,
        };
        if kinds.contains(&kind) {
            report.warning(item.at, &path, format!("`{}` is listed already; once is enough", kind.name()));
        } else {
            kinds.push(kind);
        }
    }
    kinds
}
