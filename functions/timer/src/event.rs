//! What the timer is sent.

use serde::Deserialize;
use serde_json::Value;

/// What the timer is to do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// A timer of a run is due, says a schedule.
    Due {
        /// The organization.
        org: String,
        /// The run.
        run: String,
        /// Which of the run's timers; whatever is due on the run is done, this or others.
        timer: String,
    },
    /// `{"sweep": true}`: look after everything.
    #[serde(skip)]
    Sweep,
}

impl Event {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// What it should have been. Nothing of it is repeated.
    pub fn read(event: &Value) -> Result<Event, &'static str> {
        if event.get("sweep") == Some(&Value::Bool(true)) {
            return Ok(Event::Sweep);
        }
        let wrong = r#"it is neither {"org": …, "run": …, "timer": …} nor {"sweep": true}"#;
        Event::deserialize(event).map_err(|_| wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_kinds_are_read_and_nothing_else() {
        let due = Event::Due { org: "acme".into(), run: "r_1".into(), timer: "due/check/1".into() };
        assert_eq!(Event::read(&json!({ "org": "acme", "run": "r_1", "timer": "due/check/1" })), Ok(due));
        assert_eq!(Event::read(&json!({ "sweep": true })), Ok(Event::Sweep));
        for other in [
            json!({ "sweep": false }),
            json!({ "org": "acme", "run": "r_1" }),
            json!({ "org": "acme", "run": 1, "timer": "t" }),
            json!([]),
            json!(null),
            json!("sweep"),
        ] {
            assert!(Event::read(&other).is_err(), "{other}");
        }
    }
}
