//! Faults that strike the functions of the stack: the plan that they read, kept by this program.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::{fresh, stack};

/// The rules of the plan as it stands.
static RULES: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Most matches of a rule; the functions count no further.
const MATCHES: u32 = 2_000;

/// A fault to come.
#[derive(Debug, Clone)]
pub struct Fault {
    rule: Value,
}

/// A fault that may strike, until this is dropped.
pub struct Struck {
    name: String,
    skip: u32,
}

impl Fault {
    /// Strikes the first call of this operation whose path or body has this text.
    pub fn of(fault: &str, service: &str, operation: &str, text: &str) -> Fault {
        Fault { rule: json!({ "fault": fault, "service": service, "operation": operation, "contains": [text] }) }
    }

    /// Only where this text stands as well.
    pub fn and(mut self, text: &str) -> Fault {
        self.rule["contains"].as_array_mut().unwrap().push(json!(text));
        self
    }

    /// Strikes so many.
    pub fn times(mut self, times: u32) -> Fault {
        self.rule["times"] = json!(times);
        self
    }

    /// Strikes all.
    pub fn always(self) -> Fault {
        self.times(MATCHES)
    }

    /// With this code.
    pub fn code(mut self, code: &str) -> Fault {
        self.rule["code"] = json!(code);
        self
    }
}

/// From now on this fault strikes.
pub fn strike(fault: Fault) -> Struck {
    let mut rule = fault.rule;
    let name = fresh();
    rule["name"] = json!(name);
    let skip = rule["skip"].as_u64().and_then(|skip| u32::try_from(skip).ok()).unwrap_or(0);
    change(|rules| rules.push(rule));
    Struck { name, skip }
}

impl Struck {
    /// How often it struck.
    pub fn times(&self) -> u32 {
        let count = (1..=MATCHES).take_while(|number| ticket(&self.name, *number).exists()).count();
        u32::try_from(count).unwrap().saturating_sub(self.skip)
    }
}

impl Drop for Struck {
    fn drop(&mut self) {
        change(|rules| rules.retain(|rule| rule["name"] != self.name.as_str()));
        for number in 1..=MATCHES {
            // The first that is not there is the last.
            if std::fs::remove_file(ticket(&self.name, number)).is_err() {
                break;
            }
        }
    }
}

fn change(change: impl FnOnce(&mut Vec<Value>)) {
    let mut rules = RULES.lock().unwrap_or_else(|e| e.into_inner());
    change(&mut rules);
    let new = beside("new");
    std::fs::write(&new, json!({ "rules": *rules }).to_string()).unwrap();
    std::fs::rename(new, &stack().plan).unwrap();
}

fn ticket(name: &str, number: u32) -> std::path::PathBuf {
    beside(&format!("{name}.{number}"))
}

/// A file beside the plan.
fn beside(ending: &str) -> std::path::PathBuf {
    let mut name = stack().plan.file_name().unwrap().to_owned();
    name.push(".");
    name.push(ending);
    stack().plan.with_file_name(name)
}
