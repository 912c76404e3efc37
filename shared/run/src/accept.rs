//! Acceptance: the objective rules a submission meets before its step completes (core §6.3). All issues at once, in the
//! words of the tool contracts.

use process::{EvidenceKind, Next, Work};

use crate::command::{Cited, Submission};

/// Most characters of a submission's summary.
pub const SUMMARY_CHARACTERS: usize = 2_000;

/// Whether the summary must be there: it is required from agents and optional from people (core §3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summary {
    Required,
    Optional,
}

/// Every issue of the submission: summary, output, evidence, route. The size of run data is the caller's to check.
pub(crate) fn issues(work: &Work, submission: &Submission, summary: Summary) -> Vec<String> {
    let mut issues = Vec::new();
    match submission.summary.as_deref() {
        None if summary == Summary::Required => issues.push("summary: missing".to_owned()),
        Some(text) if blank(text) && summary == Summary::Required => issues.push("summary: missing".to_owned()),
        Some(text) => {
            let characters = text.chars().count();
            if characters > SUMMARY_CHARACTERS {
                issues.push(format!("summary: {characters} characters, at most {SUMMARY_CHARACTERS}"));
            }
        }
        None => {}
    }
    let nothing = serde_json::Map::new();
    let output = submission.output.as_ref().unwrap_or(&nothing);
    issues.extend(process::value::check_fields("output", &work.output, output));
    evidence(work, &submission.evidence, &mut issues);
    route(&work.next, submission, &mut issues);
    issues
}

fn evidence(work: &Work, cited: &[Cited], issues: &mut Vec<String>) {
    for kind in &work.evidence {
        let attached = cited.iter().any(|c| match (kind, c) {
            (EvidenceKind::File, Cited::File(_) | Cited::Missing(_) | Cited::Altered(_)) => true,
            (EvidenceKind::Link, Cited::Link(text)) => !blank(text),
            _ => false,
        });
        if !attached {
            issues.push(format!("evidence: {} required", kind.name()));
        }
    }
    for c in cited {
        match c {
            Cited::Missing(id) => issues.push(format!("evidence {id}: not found")),
            Cited::Altered(id) => {
                issues.push(format!("evidence {id}: the stored bytes no longer match the hash recorded at upload"));
            }
            Cited::Link(text) if blank(text) => issues.push("evidence: a link has a blank ref".to_owned()),
            Cited::Link(_) | Cited::File(_) => {}
        }
    }
}

fn route(next: &Next, submission: &Submission, issues: &mut Vec<String>) {
    match next {
        Next::Routes(routes) => {
            let allowed = || routes.iter().map(|r| r.to.as_str()).collect::<Vec<_>>().join(", ");
            match given(submission.next.as_deref()) {
                None => issues.push(format!("next: required, one of {}", allowed())),
                Some(to) if !routes.iter().any(|r| r.to == to) => {
                    issues.push(format!("next: expected one of {}", allowed()));
                }
                Some(_) => {}
            }
            if given(submission.reason.as_deref()).is_none() {
                issues.push("reason: required".to_owned());
            }
        }
        Next::To(_) => {
            if given(submission.next.as_deref()).is_some() {
                issues.push("next: not allowed, this step has no list of routes".to_owned());
            }
            if given(submission.reason.as_deref()).is_some() {
                issues.push("reason: not allowed, this step has no list of routes".to_owned());
            }
        }
    }
}

/// A text that says something; blank counts as missing.
pub(crate) fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|t| !blank(t))
}

pub(crate) fn blank(text: &str) -> bool {
    text.trim().is_empty()
}
