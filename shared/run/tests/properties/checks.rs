//! Checks of all kinds, answers of all kinds, and what holds of them: a verdict that fails changes nothing, one that is
//! unsure completes nothing, what a person decides in its place is not checked, and what is adopted is what was submitted.

use process::{Question, QuestionKind};
use run::{
    Answer, Candidate, Change, Cited, Code, Command, Decision, Escalation, Event, Evidence, Inquiry, Item, Record,
    Refusal, Ruling, RunData, Submission, decide,
};
use serde_json::{Value, json};

use crate::common::{JUDGE, OPERATORS, Play, refusal};

/// The check of a step, if it has one, and whether it is advisory.
pub fn check(r: u8) -> Option<(Value, bool)> {
    let yes_no = json!({ "ask": "Is it done?", "pass": 0.8, "fail": 0.4 });
    let choice = json!({ "ask": "Which is it?", "one_of": { "good": "Good.", "odd": "Odd.", "bad": "Bad." },
        "pass": ["good"], "unsure": ["odd"] });
    let rubric =
        json!({ "ask": "How good\n is it?", "levels": ["Bad.", "Fair.", "Good."], "pass": 1, "confidence": 0.5 });
    let check = match r % 10 {
        0 => json!("Is it done?"),
        1 => json!([yes_no]),
        2 => json!([choice]),
        3 => json!([rubric]),
        4 => json!([yes_no, rubric, choice]),
        _ => return None,
    };
    Some((check, r / 10 % 4 == 0))
}

/// What an evaluator answers in this mood.
pub fn answers(questions: &[Question], mood: u8) -> Option<Vec<Answer>> {
    if mood % 6 == 5 && mood / 6 % 2 == 0 {
        return None;
    }
    let answer = |(n, question): (usize, &Question)| {
        // Alike to every question in most moods, and to each as it comes in one.
        let one = match mood % 6 {
            1 => 4,
            2 => [0, 3, 4][((usize::from(mood) / 6) >> n) % 3],
            alike => alike,
        };
        match (&question.kind, one) {
            (QuestionKind::YesNo { .. }, 5) => Answer::Yes(1.5),
            (QuestionKind::Choice { .. }, 5) => Answer::Name { name: "none".to_owned(), confidence: 1.0 },
            (QuestionKind::Rubric { levels, .. }, 5) => Answer::Level { level: levels.len(), confidence: 1.0 },
            (QuestionKind::YesNo { .. }, 3) => Answer::Yes(0.123_456),
            (QuestionKind::YesNo { .. }, 4) => Answer::Yes(0.6),
            (QuestionKind::YesNo { .. }, _) => Answer::Yes(0.95),
            (QuestionKind::Choice { .. }, 3) => Answer::Name { name: "bad".to_owned(), confidence: 1.0 },
            (QuestionKind::Choice { .. }, 4) => Answer::Name { name: "odd".to_owned(), confidence: 0.987_65 },
            (QuestionKind::Choice { .. }, _) => Answer::Name { name: "good".to_owned(), confidence: 0.8 },
            (QuestionKind::Rubric { .. }, 3) => Answer::Level { level: 0, confidence: 0.5 },
            (QuestionKind::Rubric { .. }, 4) => Answer::Level { level: 2, confidence: 0.1 },
            (QuestionKind::Rubric { .. }, _) => Answer::Level { level: 1, confidence: 0.75 },
        }
    };
    Some(questions.iter().enumerate().map(answer).collect())
}

/// The work that a command hands in, and its step.
fn handed_in<'a>(before: &Play, command: &'a Command) -> Option<(String, &'a Submission)> {
    match command {
        Command::Submit { token, submission } => Some((token.step.clone(), submission)),
        Command::Decide { item, decision: Decision::Completed(submission), .. } => {
            let (run, _) = before.caught_up();
            run.open_item(item).map(|(step, _)| (step.to_owned(), submission))
        }
        _ => None,
    }
}

/// The escalation that a command decides.
fn escalation(before: &Play, command: &Command) -> Option<Escalation> {
    let Command::Decide { item, .. } = command else { return None };
    before.caught_up().0.open_item(item).and_then(|(_, item)| item.escalation.clone())
}

/// The questions that a command's step has, where anybody may be asked about it.
pub fn questions(before: &Play, command: &Command) -> Option<Vec<Question>> {
    let (step, _) = handed_in(before, command).filter(|_| escalation(before, command).is_none())?;
    before.world.document.step(&step)?.work()?.check.as_ref().map(|check| check.questions.clone())
}

/// Whoever asked, asked once at most, and showed what may be shown.
pub fn asked(before: &Play, after: &Play, command: &Command) {
    let new = &after.asked[before.asked.len()..];
    assert!(new.len() <= 1, "asked twice");
    let Some(inquiry) = new.first() else { return };
    let (step, _) = handed_in(before, command).expect("something was handed in");
    assert_eq!((&inquiry.step, Some(&inquiry.questions)), (&step, questions(before, command).as_ref()));
    shown(before, inquiry);
}

fn shown(before: &Play, inquiry: &Inquiry) {
    let most = before.world.limits.check_state_bytes;
    let size = inquiry.data.to_string().len();
    let nothing = json!({ "inputs": {}, "steps": {} });
    assert!(size <= most || inquiry.data == nothing, "{size} bytes of {most}");
    let order = before.world.document.steps.iter().map(|s| s.id.as_str());
    let whole = serde_json::to_value(RunData::of(&before.caught_up().0, order)).unwrap();
    assert_eq!(inquiry.truncated, inquiry.data != whole);
    for part in ["inputs", "steps"] {
        let kept = inquiry.data[part].as_object().unwrap();
        assert!(kept.iter().all(|(key, value)| whole[part].get(key) == Some(value)), "what is shown is as it is");
    }
    assert!(!inquiry.data.to_string().contains(r#""url""#));
}

/// Of an agent's or a person's work that completed its step.
pub fn completed(before: &Play, after: &Play, command: &Command, step: &str, record: &Record) {
    let asked = after.asked.len() - before.asked.len();
    let check = before.world.document.step(step).unwrap().work().unwrap().check.as_ref();
    let (_, submission) = handed_in(before, command).expect("something was handed in");
    match (escalation(before, command), check) {
        (Some(Escalation { candidate: Some(candidate), check, .. }), _) if submission.output.is_none() => {
            let adopted = Candidate {
                output: record.output.clone().unwrap(),
                evidence: record.evidence.clone().unwrap(),
                summary: record.summary.clone(),
                next: record.next.clone(),
                reason: record.reason.clone(),
                by: candidate.by.clone(),
                at: candidate.at,
            };
            assert_eq!((&adopted, &record.check, asked), (&*candidate, &check, 0), "adopted whole, and not checked");
        }
        (Some(_), _) | (None, None) => assert_eq!((&record.check, asked), (&None, 0), "nobody is asked"),
        (None, Some(check)) => {
            let verdict = record.check.as_ref().expect("a verdict");
            assert_eq!((asked, verdict.advisory, verdict.model.as_str()), (1, check.advisory, JUDGE));
            assert!(verdict.advisory || verdict.verdict == Ruling::Pass, "only a pass completes");
            assert_eq!(verdict.truncated, after.asked.last().unwrap().truncated);
        }
    }
}

/// Of a step that was escalated.
pub fn escalated(before: &Play, after: &Play, command: &Command, change: &Change, step: &str, item: &Item) {
    let escalation = item.escalation.as_ref().expect("why");
    assert_eq!(item.assigned, run::Assigned::Group(OPERATORS.to_owned()));
    assert_eq!(escalation.check.is_some(), escalation.candidate.is_some());
    let (Some(verdict), Some(candidate)) = (&escalation.check, &escalation.candidate) else {
        return assert!(matches!(command, Command::Escalate { .. }));
    };
    let (of, submission) = handed_in(before, command).expect("something was handed in");
    assert_eq!((of.as_str(), verdict.verdict, verdict.advisory), (step, Ruling::Unsure, false));
    assert_eq!(after.asked.len(), before.asked.len() + 1);
    let completes = |e: &Event| matches!(e, Event::Completed { step: s, .. } if s == step);
    assert!(!change.events.iter().any(completes), "what is unsure completes nothing");
    let given = |text: &Option<String>| text.clone().filter(|t| !t.trim().is_empty());
    let evidence = submission.evidence.iter().map(|cited| match cited {
        Cited::Link(text) => Evidence::Link { r#ref: text.clone() },
        Cited::File(file) => Evidence::File(file.clone()),
        other => panic!("{other:?} was accepted"),
    });
    let submitted = Candidate {
        output: submission.output.clone().unwrap_or_default(),
        evidence: evidence.collect(),
        summary: given(&submission.summary),
        next: given(&submission.next),
        reason: given(&submission.reason),
        by: escalation.by.clone(),
        at: change.at,
    };
    assert_eq!(**candidate, submitted, "held as it was submitted");
    assert_eq!(after.run.step(step).and_then(|s| s.escalated_rev), Some(change.run.rev));
}

/// Of a refusal, beside what holds of every one. `by` sent the command.
pub fn refused(before: &Play, after: &Play, by: &run::Actor, command: &Command, refused: &Refusal) {
    let asked = after.asked.len() - before.asked.len();
    if refused.code == Code::Retry {
        return assert_eq!(asked, 1, "nobody answered, so somebody was asked");
    }
    let Some((step, new)) = refused.attempt.as_deref() else { return assert_eq!(asked, 0) };
    let known = before.attempts.get(step).filter(|a| a.attempt == new.attempt);
    if !refused.issues.iter().all(|issue| issue.starts_with("check: ")) {
        let of = |a: &run::Attempt| (a.handoff.check.clone(), a.failed.clone());
        return assert_eq!(of(new), known.map(of).unwrap_or_default(), "the rules are not the check");
    }
    let verdict = new.handoff.check.as_ref().expect("the verdict that failed");
    let failed = verdict.questions.iter().filter(|q| q.result == run::Outcome::Fail).count();
    assert_eq!((verdict.verdict, verdict.advisory, failed), (Ruling::Fail, false, refused.issues.len()));
    assert!(asked == 1 || known.is_some_and(|a| a.failed == new.failed), "it had failed before");
    let again = refusal(decide(after.world.context(), &after.run, &after.attempts, by, command, after.clock));
    let again = again.expect_err("the same submission gets the same refusal, and nobody is asked");
    assert_eq!((again.code, &again.message, &again.issues), (refused.code, &refused.message, &refused.issues));
}

/// What of checks a run has at rest.
pub fn at_rest(play: &Play) {
    for (step, attempt) in &play.attempts {
        let fails = attempt.handoff.check.as_ref().is_some_and(|v| v.verdict == Ruling::Fail);
        // A person who gives the step back takes the memory and leaves the verdict.
        let remembers = attempt.failed.is_some() || attempt.handoff.returned.is_some();
        assert!(fails || attempt.failed.is_none(), "`{step}` remembers what no verdict failed");
        assert!(!fails || remembers, "`{step}` forgot what failed");
    }
}

/// What a write did with verdicts, beside its single events.
pub fn seen(entry: &run::Entry) -> Vec<String> {
    let word = |ruling: Ruling| format!("{ruling:?}").to_lowercase();
    let of = |event: &Event| match event {
        Event::Completed { record, .. } => {
            let verdict = record.check.as_ref()?;
            let how = if verdict.advisory { "advisory" } else { "recorded" };
            Some(format!("{how} {}", word(verdict.verdict)))
        }
        Event::Escalated { item, .. } => {
            let candidate = item.escalation.as_ref()?.candidate.as_ref()?;
            Some(if entry.tool == "submit" { "held" } else { "held task" }.to_owned())
                .filter(|_| candidate.at == entry.at)
        }
        Event::Returned { item, .. } => item.as_ref().map(|_| "returned task".to_owned()),
        _ => None,
    };
    entry.events.iter().filter_map(of).collect()
}
