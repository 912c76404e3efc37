//! The plan: which calls are struck, and how often.
//!
//! Every match of a rule draws a number, by making a file beside the plan that nobody else made. So numbers are the same
//! for all processes that read one plan, and outlive those that a fault ends.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::call::Called;

/// Most matches of one rule that are counted, those that are let through included.
pub const MATCHES: u32 = 2_000;

/// What strikes: the rules in the order in which they are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The rules. Each call is struck by one at most: the first that matches and whose turn it is.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, of letters, digits, `-` and `_`; matches are counted by it, so a new rule needs a new one.
    pub name: String,
    /// The service, as requests to it are signed: `dynamodb`, `s3`, `scheduler`, `events`, `secretsmanager`. Not given, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The operation, such as `TransactWriteItems`. Not given, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Texts that the request's path or body must have, all of them, such as a run's id.
    #[serde(default)]
    pub contains: Vec<String>,
    /// How many matches are let through first.
    #[serde(default)]
    pub skip: u32,
    /// How many are struck then.
    #[serde(default = "once")]
    pub times: u32,
    /// What happens to those.
    pub fault: Fault,
    /// How long [`Fault::Delay`] lasts, in milliseconds.
    #[serde(default)]
    pub millis: u64,
    /// The code that [`Fault::Throttle`] answers with; not given, the service's usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fault {
    /// It is not carried out; the service says that there are too many.
    Throttle,
    /// It is not carried out; the table says that another transaction is in the way.
    Conflict,
    /// It is not carried out; the service answers 500.
    Fail,
    /// It is not carried out; the connection is closed.
    Close,
    /// It is carried out; the connection is closed before the answer.
    Lose,
    /// It is carried out after a while.
    Delay,
    /// The process ends before it.
    AbortBefore,
    /// The process ends when it was carried out and answered.
    AbortAfter,
}

fn once() -> u32 {
    1
}

impl Plan {
    /// The plan in this file; an empty one if there is no file.
    pub(super) fn read(path: &Path) -> Result<Plan, String> {
        let wrong = |why: String| format!("the fault plan {}: {why}", path.display());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Plan::default()),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let plan: Plan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        for rule in &plan.rules {
            rule.check().map_err(|why| wrong(format!("rule `{}`: {why}", rule.name)))?;
        }
        Ok(plan)
    }

    /// Writes the plan to this file, at once for all who read it.
    ///
    /// # Errors
    ///
    /// Whatever the file system refuses.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let new = beside(path, "new");
        std::fs::write(&new, serde_json::to_vec(self)?)?;
        std::fs::rename(new, path)
    }

    /// The rule that strikes this call. Every rule that matches counts it, up to the first that strikes.
    pub(super) fn strikes(self, path: &Path, called: &Called) -> Result<Option<Rule>, String> {
        for rule in self.rules.into_iter().filter(|rule| rule.matches(called)) {
            if rule.draw(path).map_err(|error| format!("a match could not be counted: {error}"))? {
                return Ok(Some(rule));
            }
        }
        Ok(None)
    }
}

impl Rule {
    /// A rule that strikes the first match of any call.
    pub fn new(name: impl Into<String>, fault: Fault) -> Rule {
        Rule {
            name: name.into(),
            service: None,
            operation: None,
            contains: Vec::new(),
            skip: 0,
            times: once(),
            fault,
            millis: 0,
            code: None,
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || !self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
            return Err("a name has letters, digits, `-` and `_`, and at least one of them".to_owned());
        }
        if self.skip.saturating_add(self.times) > MATCHES {
            return Err(format!("skip and times are at most {MATCHES} together"));
        }
        Ok(())
    }

    fn matches(&self, called: &Called) -> bool {
        let is = |wanted: &Option<String>, is: &str| wanted.as_deref().is_none_or(|wanted| wanted == is);
        is(&self.service, &called.service)
            && is(&self.operation, &called.operation)
            && self.contains.iter().all(|text| called.text.contains(text.as_str()))
    }

    /// Draws the next number, and says whether it is one that is struck.
    fn draw(&self, path: &Path) -> std::io::Result<bool> {
        for number in 1..=self.skip.saturating_add(self.times) {
            match File::create_new(ticket(path, &self.name, number)) {
                Ok(_) => return Ok(number > self.skip),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// How many calls a rule of the plan in this file has matched so far, those that it let through included; it counts up to
/// the last one that it strikes.
pub fn hits(path: &Path, name: &str) -> u32 {
    (1..=MATCHES).take_while(|number| ticket(path, name, *number).exists()).last().unwrap_or(0)
}

fn ticket(path: &Path, name: &str, number: u32) -> PathBuf {
    beside(path, &format!("{name}.{number}"))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}
