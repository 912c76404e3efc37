//! What a decided change writes: the journal entry, attempts, list entries and notices, as operations of one
//! transaction. Pure: nothing is read here.

use std::collections::BTreeMap;

use run::{Attempt, Change};

use crate::error::Error;
use crate::keys;
use crate::lists::{self, Notice, Notices, doc};
use crate::partition::Partition;
use crate::table::{Item, Op, When};

/// The operations of a change: the journal entry (or the check that nobody put one there), attempts, lists.
pub(crate) fn change_ops(
    org: &str,
    before: Option<&Partition>,
    change: &Change,
    by: &str,
    tool: &str,
) -> Result<Vec<Op>, Error> {
    let id = &change.run.meta.id;
    let next = keys::journal(org, id, before.map_or(0, |p| p.run.rev) + 1);
    let mut ops = Vec::new();
    if change.events.is_empty() {
        ops.push(Op::Check { key: next, when: When::Absent });
    } else {
        let entry = run::Entry {
            v: run::ENTRY_VERSION,
            rev: change.run.rev,
            at: change.at,
            by: by.to_owned(),
            tool: tool.to_owned(),
            events: change.events.clone(),
        };
        ops.push(Op::Put { item: Item { key: next, tag: String::new(), doc: doc(&entry)? }, when: When::Absent });
    }
    let none = BTreeMap::new();
    let stored = before.map_or(&none, |p| &p.attempts);
    for (step, attempt) in &change.attempts {
        ops.extend(attempt_op(org, id, step, stored.get(step), attempt.as_ref())?);
    }
    let mut attempts = stored.clone();
    apply(&mut attempts, change);
    let will = lists::work(org, &change.run, &attempts)?;
    let after = lists::with_work(org, &change.run, &will)?;
    let Some(before) = before else {
        ops.extend(lists::difference(&BTreeMap::new(), &after));
        return Ok(ops);
    };
    let was = lists::work(org, &before.run, &before.attempts)?;
    for (step, entry) in &was {
        // A claim moves an entry without moving the journal. Whoever changes the entry too must meet it here, or the
        // entry that the claim made would stay behind.
        if !change.attempts.contains_key(step) && will.get(step) != Some(entry) {
            let when = stored.get(step).map_or(When::Absent, |a| When::Tag(a.tag()));
            ops.push(Op::Check { key: keys::attempt(org, id, step), when });
        }
    }
    ops.extend(lists::difference(&lists::with_work(org, &before.run, &was)?, &after));
    Ok(ops)
}

pub(crate) fn apply(attempts: &mut BTreeMap<String, Attempt>, change: &Change) {
    for (step, attempt) in &change.attempts {
        match attempt {
            Some(attempt) => attempts.insert(step.clone(), attempt.clone()),
            None => attempts.remove(step),
        };
    }
}

/// The operation that leads from the stored attempt to the new one.
pub(crate) fn attempt_op(
    org: &str,
    run: &str,
    step: &str,
    stored: Option<&Attempt>,
    new: Option<&Attempt>,
) -> Result<Option<Op>, Error> {
    let key = keys::attempt(org, run, step);
    Ok(match (stored, new) {
        (None, None) => None,
        (Some(old), None) => Some(Op::Delete { key, when: When::Tag(old.tag()) }),
        (old, Some(new)) => {
            let when = old.map_or(When::Absent, |old| When::Tag(old.tag()));
            Some(Op::Put { item: Item { key, tag: new.tag(), doc: doc(new)? }, when })
        }
    })
}

/// What people are told of a change, in the same transaction. A test run tells nobody (core §3.3).
pub(crate) fn notice_op(org: &str, change: &Change) -> Result<Option<Op>, Error> {
    let run = &change.run;
    if run.meta.mode == run::Mode::Test {
        return Ok(None);
    }
    let mut notices = Vec::new();
    for event in &change.events {
        match event {
            // A branch may end the run in the write that gave another one's work to somebody: that work is gone again.
            run::Event::Assigned { step, item, .. }
            | run::Event::Escalated { step, item }
            | run::Event::Returned { step, item: Some(item), .. }
                if run.open_item(&item.id).is_some() =>
            {
                notices.push(Notice::Work {
                    step: step.clone(),
                    item: item.id.clone(),
                    assigned: item.assigned.clone(),
                    escalation: item.escalation.as_ref().map(|e| run::Note {
                        note: e.note.clone(),
                        by: e.by.clone(),
                        at: e.at,
                    }),
                });
            }
            run::Event::Overdue { step, at } => {
                let assigned = run.step(step).and_then(|s| s.item.as_ref()).map(|i| i.assigned.clone());
                notices.push(Notice::Overdue { step: step.clone(), due: *at, assigned });
            }
            _ => {}
        }
    }
    if notices.is_empty() {
        return Ok(None);
    }
    let key = keys::outbox(org, &run.meta.id, change.at, run.rev);
    let value = Notices {
        org: org.to_owned(),
        run: run.meta.id.clone(),
        process: run.meta.process.clone(),
        rev: run.rev,
        at: change.at,
        notices,
    };
    Ok(Some(Op::Put { item: Item { key, tag: String::new(), doc: doc(&value)? }, when: When::Always }))
}
