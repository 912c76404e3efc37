//! What the evaluator is asked, for which call, and what it said: never too often, never again about what is settled, and
//! always about what was really submitted (check-1).

use process::Check;
use run::{Answer, Attempt, Decision, Inquiry, Ruling, Submission, Time, Verdict};
use serde_json::{Value, json};
use store::EvidenceRef;

use super::{Checker, RunCopy, verdict};
use crate::calls::{Act, Call};

/// Most questions to the evaluator for one call made once: it may fail once.
const MOST_ASKED: u32 = 2;

/// One making of a call: its organization, its `requestId`, and how often it was made before.
pub type Making = (String, String, usize);

/// What went on between a call and its answer.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The transactions that had been written when it was made.
    pub(super) invoked: u64,
    run: String,
    step: Option<String>,
    asked: u32,
    /// When the evaluator was first asked, by the clock of the server that asked.
    pub(super) asked_at: Option<Time>,
    /// The length of the run's journal then.
    pub(super) journal: usize,
    answers: Option<Vec<Answer>>,
}

impl Made {
    /// Whether this verdict is what was said meanwhile, or that nothing was.
    pub(super) fn came_to(&self, check: &Check, found: &Verdict) -> bool {
        match &self.answers {
            Some(answers) => verdict::is_of(found, check, Some(answers)),
            None => self.asked == MOST_ASKED && verdict::is_of(found, check, None),
        }
    }
}

/// What a call submits.
pub(super) fn submitted(act: &Act) -> Option<(&Submission, &[EvidenceRef])> {
    match act {
        Act::Submit { submission, evidence, .. }
        | Act::Decide { decision: Decision::Completed(submission), evidence, .. } => Some((submission, evidence)),
        _ => None,
    }
}

/// Names what a call submits.
fn named(act: &Act) -> Value {
    let Some((s, evidence)) = submitted(act) else { return Value::Null };
    json!([s.output, s.summary, s.next, s.reason, format!("{evidence:?}")])
}

impl Checker {
    /// A call is about to be made.
    pub fn made(&mut self, call: &Call) -> Making {
        let id = (call.org.to_owned(), call.id.clone());
        let known = self.requests.entry(id.clone()).or_default();
        known.call.get_or_insert_with(|| call.clone());
        known.made.push(Made { invoked: self.transactions, ..Made::default() });
        (id.0, id.1, known.made.len() - 1)
    }

    fn making(&mut self, making: &Making) -> &mut Made {
        &mut self.requests.get_mut(&(making.0.clone(), making.1.clone())).unwrap().made[making.2]
    }

    /// The run that a call is about, and the step where its token names one.
    pub fn meant(&mut self, making: &Making, run: &str, step: Option<&str>) {
        let made = self.making(making);
        made.run = run.to_owned();
        made.step = step.map(str::to_owned);
    }

    /// The evaluator is asked, at this time of the server that asks.
    pub fn asked(&mut self, making: Option<&Making>, at: Time, inquiry: &Inquiry) -> Vec<String> {
        let Some(making) = making else { return vec![format!("asked about {} for no call", inquiry.step)] };
        let name = format!("request {} of {}", making.1, making.0);
        let run = self.making(making).run.clone();
        let document = self.document(&making.0, &run);
        let check = document.as_ref().and_then(|d| d.step(&inquiry.step)?.work()?.check.as_ref());
        let mut bad = Vec::new();
        let mut must_not = |wrong: bool, what: &str| {
            if wrong {
                bad.push(format!("{name}, about step {} of {run}: {what}", inquiry.step));
            }
        };
        must_not(check.is_none_or(|c| c.questions != inquiry.questions), "asked what the process does not ask");
        let id = (making.0.clone(), run.clone());
        let journal = self.runs.get(&id).map_or(0, |copy| copy.entries.len());
        let known = self.requests.get_mut(&(making.0.clone(), making.1.clone())).unwrap();
        let written = known.written.as_ref().map(|(at, _)| *at);
        let act = known.call.as_ref().map(|c| &c.act);
        let made = &mut known.made[making.2];
        must_not(made.answers.is_some(), "asked again after an answer");
        must_not(made.asked == MOST_ASKED, "asked too often");
        must_not(written.is_some_and(|at| at <= made.invoked), "asked though it was written before");
        let right = act.and_then(submitted).is_some_and(|(s, evidence)| {
            let shown = &inquiry.submission;
            s.output.as_ref().is_some_and(|output| *output == shown.output)
                && s.summary == shown.summary
                && evidence.iter().map(cited).eq(shown.evidence.iter().map(|e| e.r#ref.as_str()))
        });
        must_not(!right, "asked about something that was not submitted");
        let remembered = self.runs.get(&id).and_then(|copy| {
            let (failed, since) = copy.failed.get(&inquiry.step)?;
            (*since <= made.invoked).then(|| copy.names.get(failed))?
        });
        must_not(remembered.is_some() && remembered == act.map(named).as_ref(), "asked about what had failed");
        made.asked += 1;
        made.step = Some(inquiry.step.clone());
        if made.asked_at.is_none() {
            made.asked_at = Some(at);
            made.journal = journal;
        }
        if made.asked > 1 {
            self.noted.push("asked a second time");
        }
        bad
    }

    /// The evaluator answers, in time and as it should.
    pub fn told(&mut self, making: &Making, answers: &[Answer]) {
        self.making(making).answers = Some(answers.to_vec());
    }

    /// Whether an open work item holds a candidate.
    pub fn holds(&self, org: &str, run: &str, item: &str) -> bool {
        let copy = self.runs.get(&(org.to_owned(), run.to_owned()));
        let open = copy.and_then(|c| c.run.as_ref()?.open_item(item));
        open.and_then(|(_, item)| item.escalation.as_ref()?.candidate.as_ref()).is_some()
    }

    /// A call is told that its check was not answered.
    pub fn unanswered(&mut self, making: &Making) -> Vec<String> {
        let made = self.making(making);
        let (asked, answered, run, step) = (made.asked, made.answers.is_some(), made.run.clone(), made.step.clone());
        self.noted.push("a check that was not answered");
        let mut bad = Vec::new();
        if asked != MOST_ASKED || answered {
            bad.push(format!("{making:?} was asked {asked} times, answered: {answered}, and is to try again"));
        }
        let document = self.document(&making.0, &run);
        let work = document.as_ref().and_then(|d| d.step(step.as_deref()?)?.work());
        if work.and_then(|w| w.check.as_ref()).is_none_or(|c| c.advisory) {
            bad.push(format!("{making:?} is held up though nothing blocks it"));
        }
        bad
    }

    /// A submission was refused with what a check said of it.
    pub(super) fn not_passed(&mut self, call: &Call, making: &Making, issues: &[String]) -> Option<String> {
        let made = self.making(making);
        let (asked, run, step) = (made.asked, made.run.clone(), made.step.clone());
        let id = (making.0.clone(), run.clone());
        let document = self.document(&making.0, &run)?;
        let wrong = |what: &str| Some(format!("{making:?} was refused with {issues:?}: {what}"));
        let copy = self.runs.get_mut(&id)?;
        let of_item = match &call.act {
            Act::Decide { item, .. } => copy.run.as_ref().and_then(|r| r.open_item(item)).map(|(s, _)| s.to_owned()),
            _ => None,
        };
        let Some(step) = step.or(of_item) else { return wrong("of no step") };
        let check = document.step(&step).and_then(|s| s.work()).and_then(|w| w.check.as_ref());
        let Some(check) = check.filter(|c| !c.advisory) else { return wrong("nothing blocks it") };
        let attempt = copy.attempts.get(&step);
        let Some((attempt, found)) = attempt.and_then(|a| Some((a, a.handoff.check.as_deref()?))) else {
            return wrong("the attempt has no verdict");
        };
        if found.verdict != Ruling::Fail || verdict::lines(found, check, false) != issues {
            return wrong(&format!("the verdict is {found:?}"));
        }
        if attempt.handoff.issues.as_deref() != Some(issues) {
            return wrong("the attempt has other issues");
        }
        let Some(name) = &attempt.failed else { return wrong("the attempt does not remember it") };
        let submission = named(&call.act);
        if copy.names.entry(name.clone()).or_insert_with(|| submission.clone()) != &submission {
            return wrong("two submissions have one name");
        }
        let all = self.requests.iter().filter(|((org, _), _)| *org == making.0).flat_map(|(_, known)| &known.made);
        let mut here = all.filter(|m| m.run == run && m.step.as_ref() == Some(&step));
        if !here.any(|m| m.came_to(check, found)) {
            return wrong(&format!("nobody said {found:?}"));
        }
        self.noted.push(if asked == 0 { "refused again without being asked about" } else { "refused by a check" });
        None
    }
}

impl RunCopy {
    /// An attempt was written or removed: what it remembers to have failed, and since which transaction.
    pub(super) fn remembers(&mut self, step: &str, attempt: Option<&Attempt>, transaction: u64) {
        match attempt.and_then(|a| a.failed.clone()) {
            None => {
                self.failed.remove(step);
            }
            Some(name) if self.failed.get(step).is_some_and(|(known, _)| *known == name) => {}
            Some(name) => {
                self.failed.insert(step.to_owned(), (name, transaction));
            }
        }
    }
}

/// The text an evidence item is cited by.
pub(super) fn cited(evidence: &EvidenceRef) -> &str {
    match evidence {
        EvidenceRef::File(text) | EvidenceRef::Link(text) => text,
    }
}
