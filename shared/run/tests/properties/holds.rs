//! What holds after every step: of an accepted command, of a refused one, and of a run at rest.

use std::collections::{BTreeMap, BTreeSet};

use process::{EvidenceKind, Kind, Next, value::check_fields};
use run::{
    Actor, ActorKind, Change, Code, Command, Decided, Decision, Entry, Event, Evidence, Record, Refusal, RunData,
    RunState, Status, assigned_to, data_bytes, fold, snapshot,
};
use serde_json::Value;

use crate::checks;
use crate::common::Play;
use crate::order::branch;
use crate::session::{Session, Token};

/// The guarantees, seen from a command that was accepted.
pub fn accepted(session: &Session, before: &Play, actor: &Actor, command: &Command, change: &Change) {
    assert!(before.run.ended.is_none() || change.is_empty(), "an ended run changed");
    match command {
        Command::Claim { step } => {
            assert_eq!(actor.kind, ActorKind::Agent);
            let live = |t: &Token| t.claimed.step == *step && t.current && change.at < t.expires_at;
            assert!(!session.tokens.iter().any(live), "two live leases");
        }
        Command::Renew { token, .. } | Command::Submit { token, .. } | Command::Escalate { token, .. } => {
            let latest = session.tokens.iter().rfind(|t| t.claimed.step == token.step).expect("a token was given out");
            assert!(latest.current && latest.claimed == *token, "only the latest token of a step works");
            assert!(change.at < latest.expires_at, "only while its lease lasts");
            assert_eq!((actor.kind, &actor.subject), (ActorKind::Agent, &token.subject), "only for its holder");
        }
        Command::Decide { item, snapshot: seen, .. } => {
            assert!(actor.kind == ActorKind::Person && actor.may_decide, "people decide");
            let (run, _) = before.caught_up();
            let (_, item) = run.open_item(item).expect("an open item");
            assert!(assigned_to(&before.world.context(), actor, &item.assigned));
            assert_eq!(*seen, snapshot(&run), "on what they saw");
        }
        Command::Cancel { .. } => assert!(actor.operator),
        Command::SendEvent { .. } => assert!(actor.kind == ActorKind::Agent || actor.operator),
        Command::Tick => {}
    }
    for (n, event) in change.events.iter().enumerate() {
        match event {
            Event::Completed { step, record } | Event::Rejected { step, record } | Event::Failed { step, record } => {
                assert!(record.at <= change.at && record.at >= before.run.meta.started_at);
                completion(before, actor, command, step, record);
                if before.world.document.step(step).unwrap().work().is_some() && record.decision.is_none() {
                    checks::completed(before, &session.play, command, step, record);
                }
                if matches!(command, Command::Submit { .. })
                    || matches!(command, Command::Decide { decision: Decision::Completed(_), .. })
                {
                    within_size(before, change, n, record);
                }
            }
            Event::Escalated { step, item } => checks::escalated(before, &session.play, command, change, step, item),
            Event::Returned { .. } => assert!(matches!(command, Command::Decide { .. })),
            Event::Ended { ended, .. } if ended.cancelled => assert!(matches!(command, Command::Cancel { .. })),
            _ => {}
        }
    }
    checks::asked(before, &session.play, command);
    data_and_snapshot(before, change);
    siblings(before, change);
}

/// Whatever a write does in one branch, nobody's claim or handoff in another one moves, while the run goes on.
fn siblings(before: &Play, change: &Change) {
    let branch = |step: &str| branch(&before.world.document, step);
    let mut branches: Vec<_> = change.attempts.keys().filter_map(|step| branch(step)).collect();
    branches.dedup();
    assert!(branches.len() <= 1 || change.run.ended.is_some(), "a write moved the attempts of {branches:?}");
    for event in &change.events {
        let Event::Rejected { step, .. } = event else { continue };
        let Some(own) = branch(step) else { continue };
        assert!(change.attempts.keys().all(|step| own.contains(step)), "rework left its branch");
    }
}

/// Acceptance, by a look at the record alone.
fn completion(before: &Play, actor: &Actor, command: &Command, step: &str, record: &Record) {
    let declared = before.world.document.step(step).unwrap();
    let by_server = record.by == run::SERVER;
    assert!(
        by_server
            || matches!(command, Command::SendEvent { .. })
            || record.by == actor.subject
            || declared.kind_name() == "wait_for"
    );
    if record.decision == Some(Decided::Failed) {
        assert!(record.note.as_ref().is_some_and(|n| !n.trim().is_empty()));
        return;
    }
    match declared.kind_name() {
        "agent" | "task" => {
            let work = declared.work().unwrap();
            assert_eq!(check_fields("output", &work.output, record.output.as_ref().unwrap()), [""; 0]);
            let evidence = record.evidence.as_ref().unwrap();
            for kind in &work.evidence {
                assert!(evidence.iter().any(|e| match e {
                    Evidence::File(_) => *kind == EvidenceKind::File,
                    Evidence::Link { .. } => *kind == EvidenceKind::Link,
                }));
            }
            match &work.next {
                Next::To(_) => assert_eq!((&record.next, &record.reason), (&None, &None)),
                Next::Routes(_) => assert!(record.reason.as_ref().is_some_and(|r| !r.trim().is_empty())),
            }
            match command {
                Command::Submit { .. } => assert!(record.summary.is_some()),
                Command::Decide { .. } => {}
                other => panic!("{other:?} completed an agent's or a person's step"),
            }
            assert!(record.decision.is_none() && record.note.is_none() && !by_server);
        }
        "approve" => {
            assert!(matches!(command, Command::Decide { .. }) && !by_server);
            assert!(record.output.is_none() && record.evidence.is_none() && record.next.is_none());
            assert!(record.note.is_some() || record.decision == Some(Decided::Approved));
        }
        kind => {
            assert_eq!(record.output.is_some(), kind == "wait_for" && !by_server);
            assert!(record.decision.is_none() && record.note.is_none() && record.summary.is_none());
        }
    }
}

/// Run data stays within its limit at the completion that somebody submitted.
fn within_size(before: &Play, change: &Change, n: usize, record: &Record) {
    if record.by == run::SERVER || record.evidence.is_none() {
        return;
    }
    let rev = change.run.rev;
    let events = change.events[..=n].to_vec();
    let upto = Entry { v: run::ENTRY_VERSION, rev, at: change.at, by: String::new(), tool: String::new(), events };
    let run = fold(before.entries.iter().chain([&upto])).unwrap().unwrap();
    assert!(data_bytes(&run) <= before.world.limits.run_data_bytes);
}

/// The snapshot is of run data, and of nothing else.
fn data_and_snapshot(before: &Play, change: &Change) {
    let data = |run: &run::Run| {
        let order = before.world.document.steps.iter().map(|s| s.id.as_str());
        serde_json::to_value(RunData::of(run, order)).unwrap()
    };
    assert_eq!(
        data(&before.run) == data(&change.run),
        snapshot(&before.run) == snapshot(&change.run),
        "the snapshot follows the data"
    );
}

/// A refusal changes nothing but, when a submission is refused, the handoff.
pub fn refused(before: &Play, after: &Play, actor: &Actor, command: &Command, refused: &Refusal) {
    checks::asked(before, after, command);
    checks::refused(before, after, actor, command, refused);
    assert_eq!((&before.run, &before.entries), (&after.run, &after.entries));
    match &refused.attempt {
        None => assert_eq!(before.attempts, after.attempts),
        Some(trace) => {
            assert_eq!(refused.code, Code::NotAccepted);
            let (step, new) = &**trace;
            let lease = |play: &Play| play.attempts.get(step).and_then(|a| a.lease.clone());
            assert_eq!(lease(before), new.lease, "the claim stands");
            assert_eq!(new.handoff.issues.as_ref(), Some(&refused.issues));
        }
    }
    assert_eq!(refused.code == Code::NotAccepted, refused.attempt.is_some());
    if before.run.ended.is_some() && refused.code != Code::Invalid {
        assert_eq!((refused.code, refused.issues.as_slice()), (Code::Conflict, &["run_ended".to_owned()][..]));
    }
    assert_ne!(*command, Command::Tick, "time is not refused");
}

/// Between two writes.
pub fn at_rest(play: &Play) {
    let run = &play.run;
    let view = play.view();
    let open = |s: &&Value| matches!(s["state"].as_str(), Some("ready" | "claimed" | "waiting"));
    let steps = view["steps"].as_array().unwrap();
    let any = |words: &[&str]| steps.iter().any(|s| s["state"].as_str().is_some_and(|w| words.contains(&w)));
    let wanted = match &run.ended {
        Some(ended) if ended.cancelled => RunState::Cancelled,
        Some(_) => RunState::Ended,
        None if any(&["ready", "claimed"]) => RunState::Active,
        None => RunState::Waiting,
    };
    assert_eq!(run.state(), wanted);
    for (step, declared) in steps.iter().zip(&play.world.document.steps) {
        let due = open(&step) && declared.due().is_some();
        assert_eq!((step.get("due").is_some(), step.get("overdue").is_some()), (due, due), "{step}");
    }

    let items: Vec<&Value> = view["workItems"].as_array().unwrap().iter().collect();
    for (id, state) in &run.steps {
        let kind = play.world.document.step(id).unwrap().kind_name();
        let waits = state.status == Some(Status::Waiting) && matches!(kind, "agent" | "task" | "approve");
        assert_eq!(state.item.is_some(), waits, "{id}");
        assert_eq!(items.iter().any(|i| i["stepId"] == **id), waits);
        assert!(state.item.as_ref().is_none_or(|i| match (&i.escalation, kind) {
            (Some(escalation), "task") => escalation.check.is_some(),
            (escalation, kind) => escalation.is_some() == (kind == "agent"),
        }));
        assert_eq!(state.ready_since.is_some(), matches!(state.status, Some(Status::Ready | Status::Waiting)));
    }
    for (step, attempt) in &play.attempts {
        assert_eq!(run.step(step).unwrap().attempt, attempt.attempt, "an attempt outlived its step");
        assert!(run.ended.is_none());
        assert!(attempt.lease.is_none() || run.step(step).unwrap().status == Some(Status::Ready));
    }
    assert!(run.ended.is_none() || run.held.is_empty());
    checks::at_rest(play);

    let mut issued: Vec<String> = Vec::new();
    let mut completions: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut received, mut held) = (0, Vec::new());
    let mut last = run.meta.started_at;
    for entry in &play.entries {
        assert!(entry.at >= last);
        last = entry.at;
        for event in &entry.events {
            match event {
                Event::Assigned { item, .. }
                | Event::Escalated { item, .. }
                | Event::Returned { item: Some(item), .. } => {
                    assert!(!issued.contains(&item.id), "an id of its own");
                    assert!(run.issued(&item.id));
                    issued.push(item.id.clone());
                }
                Event::Completed { step, .. } | Event::Rejected { step, .. } | Event::Failed { step, .. } => {
                    *completions.entry(step).or_default() += 1;
                }
                Event::Held { held: event } => {
                    received += 1;
                    assert_eq!(event.number, received, "events are numbered as they come");
                    held.push((event.number, &event.name));
                }
                Event::Consumed { number, step } => {
                    let Kind::WaitFor { event: name, .. } = &play.world.document.step(step).unwrap().kind else {
                        panic!("`{step}` waits for no event")
                    };
                    match held.iter().position(|(_, held)| *held == name) {
                        Some(oldest) => assert_eq!(held.remove(oldest).0, *number, "the oldest first"),
                        None => {
                            received += 1;
                            assert_eq!(*number, received);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    assert_eq!((run.updated_at, run.events_received), (last, received));
    data_shape(play, &view, &completions);
}

fn data_shape(play: &Play, view: &Value, completions: &BTreeMap<&str, usize>) {
    let shown = view["data"]["steps"].as_object().unwrap();
    let unsure = |id: &str| play.run.step(id).and_then(|s| s.escalation()).is_some_and(|e| e.check.is_some());
    let waiting = play.run.steps.keys().map(String::as_str).filter(|id| unsure(id));
    assert_eq!(
        shown.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        completions.keys().copied().chain(waiting).collect()
    );
    for (id, entry) in shown {
        let kind = play.world.document.step(id).unwrap().kind_name();
        assert!(!matches!(kind, "finish" | "parallel"), "it records nothing");
        let history = entry["history"].as_array().expect("always a history");
        let current = entry.get("by").is_some();
        assert_eq!(
            history.len() + usize::from(current),
            completions.get(id.as_str()).copied().unwrap_or(0),
            "no completion is lost: {entry}"
        );
        let keys = |v: &Value| v.as_object().unwrap().keys().filter(|k| *k != "history").cloned().collect::<Vec<_>>();
        let alone: &[&str] = if unsure(id) { &["check"] } else { &[] };
        assert!(current || keys(entry) == alone, "a rewound step has its history alone");
        assert!(!unsure(id) || entry["check"]["verdict"] == "unsure", "the verdict that waits");
        assert!(history.iter().all(|h| h.get("history").is_none() && h.get("by").is_some()), "never nested");
        let times: Vec<_> = history.iter().map(|h| h["at"].as_str().unwrap()).collect();
        assert!(times.is_sorted(), "oldest first");
        if kind == "approve" {
            let allowed = ["decision", "note", "by", "at"];
            assert!(history.iter().chain([entry]).flat_map(keys).all(|k| allowed.contains(&k.as_str())));
        }
    }
}
