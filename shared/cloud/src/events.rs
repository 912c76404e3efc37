//! Notices as events of a bus. Pure; `docs/events.md` shows what they look like.
//!
//! Invariants: an event names a run, a step and who has it, and holds no run data, no output and no text that somebody
//! wrote; the same notice is the same event again, `id` included, so that whoever gets one twice can tell.

use run::Time;
use serde_json::{Map, Value, json};
use store::lists::{Notice, Notices};

/// What all events name as their source.
pub const SOURCE: &str = "procession";

/// The type of event that says that somebody has new work.
pub const WORK: &str = "Work assigned";

/// The type of event that says that somebody has the work that an agent could not finish or a check could not judge.
pub const ESCALATED: &str = "Work escalated";

/// The type of event that says that a step is overdue.
pub const OVERDUE: &str = "Step overdue";

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its type: [`WORK`], [`ESCALATED`] or [`OVERDUE`].
    pub detail_type: &'static str,
    /// When it came to be.
    pub at: Time,
    /// What it says.
    pub detail: Value,
}

/// The events of one write's notices, in order.
pub fn events(notices: &Notices) -> Vec<Event> {
    notices.notices.iter().enumerate().map(|(place, notice)| event(notices, place, notice)).collect()
}

fn event(notices: &Notices, place: usize, notice: &Notice) -> Event {
    let Notices { org, run, process, rev, at, .. } = notices;
    let id = format!("{run}/{rev}/{place}");
    let mut detail = Map::new();
    for (key, value) in [("id", json!(id)), ("org", json!(org)), ("process", json!(process)), ("run", json!(run))] {
        detail.insert(key.to_owned(), value);
    }
    detail.insert("rev".to_owned(), json!(rev));
    let mut say = |key: &str, value: Value| detail.insert(key.to_owned(), value);
    let detail_type = match notice {
        Notice::Work { step, item, assigned, escalation } => {
            say("step", json!(step));
            say("item", json!(item));
            say("assigned", json!(assigned));
            if escalation.is_some() { ESCALATED } else { WORK }
        }
        Notice::Overdue { step, due, assigned } => {
            say("step", json!(step));
            say("due", json!(due));
            if let Some(assigned) = assigned {
                say("assigned", json!(assigned));
            }
            OVERDUE
        }
    };
    say("at", json!(at));
    Event { detail_type, at: *at, detail: Value::Object(detail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::notices;

    /// The examples of the page, in order: each block of JSON is an event as a rule of the bus sees it.
    fn documented() -> Vec<Value> {
        let page = include_str!("../../../docs/events.md");
        let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
        blocks.map(|block| serde_json::from_str(block).expect("an example")).collect()
    }

    #[test]
    fn events_are_as_documented() {
        let made: Vec<Value> = events(&notices("r_7k2m", 12))
            .into_iter()
            .map(|event| json!({ "source": SOURCE, "detail-type": event.detail_type, "detail": event.detail }))
            .collect();
        let documented = documented();
        assert_eq!(documented.len(), 3);
        assert_eq!(made, documented);
    }

    #[test]
    fn nothing_that_somebody_wrote_is_in_an_event() {
        let made = events(&notices("r_7k2m", 12));
        assert!(made.iter().all(|event| !event.detail.to_string().contains("cannot tell")), "{made:#?}");
    }
}
