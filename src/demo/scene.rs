//! Calls a tool, prints the call and what it changed, and holds the answer to what it should be.

use std::collections::BTreeMap;
use std::fmt::Debug;

use anyhow::{anyhow, bail};
use serde_json::{Map, Value};
use terminal::Paint;

use super::cast::Player;
use crate::client::{Failure, Refused, arguments, at};

/// Longest that a printed argument may be, in characters.
const SHOWN_CHARACTERS: usize = 44;

/// Longest that a printed token or hash may be, in characters: they only have to be told apart.
const OPAQUE_CHARACTERS: usize = 12;

/// Columns for who calls.
const NAME_COLUMNS: usize = 17;

/// The demo under way.
pub(super) struct Scene {
    paint: Paint,
    /// What each step's state was when it was last seen, to tell what a call changed.
    states: BTreeMap<String, Value>,
    run_state: Value,
    calls: usize,
    refusals: usize,
}

impl Scene {
    pub(super) fn new(paint: Paint) -> Scene {
        Scene { paint, states: BTreeMap::new(), run_state: Value::Null, calls: 0, refusals: 0 }
    }

    /// How many calls were made, and how many of them were refused.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.calls, self.refusals)
    }

    /// Begins a part.
    pub(super) fn part(&self, title: &str) {
        terminal::say!("\n{}", self.paint.title(title));
    }

    /// Calls a tool that must not refuse.
    pub(super) async fn call(&mut self, who: &Player, tool: &str, with: Value) -> anyhow::Result<Value> {
        let with = self.announce(who, tool, with);
        match who.client.write(tool, &with).await {
            Ok(data) => {
                self.show_changes(&data);
                Ok(data)
            }
            Err(failure) => Err(anyhow::Error::from(failure).context(format!("{tool} of {} should succeed", who.name))),
        }
    }

    /// Calls a tool that must refuse with this code.
    pub(super) async fn refused(
        &mut self,
        who: &Player,
        tool: &str,
        with: Value,
        code: &str,
    ) -> anyhow::Result<Refused> {
        let with = self.announce(who, tool, with);
        self.refusals += 1;
        match who.client.call(tool, with).await {
            Err(Failure::Refused(refused)) if refused.code == code => {
                self.line(&self.paint.waiting(format!("{}: {}", refused.code, refused.message)));
                for issue in &refused.issues {
                    self.line(&self.paint.waiting(format!("  {issue}")));
                }
                Ok(refused)
            }
            Err(Failure::Refused(refused)) => bail!("{tool} of {} should be refused as {code}: {refused}", who.name),
            Err(failure) => Err(failure.into()),
            Ok(data) => bail!("{tool} of {} should be refused as {code}, and answered {data}", who.name),
        }
    }

    /// Prints what the last call means.
    pub(super) fn note(&self, text: &str) {
        self.line(&self.paint.good(text));
    }

    fn announce(&mut self, who: &Player, tool: &str, with: Value) -> Map<String, Value> {
        self.calls += 1;
        let with = arguments(with);
        let name = format!("{:NAME_COLUMNS$}", who.name);
        let line = format!("  {} {} {}", self.paint.actor(name), self.paint.typed(tool), self.paint.dim(shown(&with)));
        terminal::say!("{}", line.trim_end());
        with
    }

    fn line(&self, text: &str) {
        terminal::say!("  {:NAME_COLUMNS$} → {text}", "");
    }

    /// When the answer is a run view: which steps moved, and whether the run did.
    fn show_changes(&mut self, data: &Value) {
        let Some(steps) = at(data, "/steps").as_array().filter(|_| data.get("run").is_some()) else { return };
        let mut changes = Vec::new();
        for step in steps {
            let id = at(step, "/id").as_str().unwrap_or_default();
            let state = at(step, "/state");
            let before = self.states.insert(id.to_owned(), state.clone()).unwrap_or_default();
            if before != *state {
                changes.push(format!("{id}: {} ⇒ {}", word(&before), word(state)));
            }
        }
        let state = at(data, "/run/state");
        if self.run_state != *state {
            let outcome = at(data, "/run/outcome").as_str().map_or(String::new(), |o| format!(", outcome {o}"));
            changes.push(format!("run: {} ⇒ {}{outcome}", word(&self.run_state), word(state)));
            self.run_state = state.clone();
        }
        if !changes.is_empty() {
            self.line(&changes.join("   "));
        }
    }

    /// Remembers that a step is claimed; claims return no view.
    pub(super) fn claimed(&mut self, step: &str) {
        let before = self.states.insert(step.to_owned(), Value::from("claimed")).unwrap_or_default();
        self.line(&format!("{step}: {} ⇒ claimed", word(&before)));
    }
}

/// Fails unless the two are the same.
pub(super) fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> anyhow::Result<()> {
    if found == expected { Ok(()) } else { Err(anyhow!("{what}: expected {expected:?}, found {found:?}")) }
}

/// A text of an answer.
pub(super) fn text<'a>(answer: &'a Value, pointer: &str) -> anyhow::Result<&'a str> {
    at(answer, pointer).as_str().ok_or_else(|| anyhow!("an answer should have a text at {pointer}: {answer}"))
}

fn word(state: &Value) -> &str {
    state.as_str().unwrap_or("–")
}

/// Arguments as one line: long texts cut, request ids left out, since they say nothing.
fn shown(with: &Map<String, Value>) -> String {
    let shown: Vec<String> = with
        .iter()
        .filter(|(name, _)| *name != "requestId")
        .map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned).replace('\n', " ");
            let most = match name.as_str() {
                "token" | "snapshot" | "contentBase64" => OPAQUE_CHARACTERS,
                _ => SHOWN_CHARACTERS,
            };
            match text.char_indices().nth(most) {
                Some((end, _)) => format!("{name}={}…", text.get(..end).unwrap_or_default()),
                None => format!("{name}={text}"),
            }
        })
        .collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_one_short_line() {
        let with =
            json!({ "token": "a".repeat(50), "n": 1.5, "text": "a\nb", "note": "é".repeat(50), "requestId": "r" });
        let line = shown(&arguments(with));
        assert_eq!(line, format!("token=aaaaaaaaaaaa… n=1.5 text=a b note={}…", "é".repeat(SHOWN_CHARACTERS)));
    }

    #[test]
    fn a_deviation_says_what_was_expected() {
        assert!(expect("x", 1, 1).is_ok());
        assert_eq!(expect("x", 1, 2).expect_err("differs").to_string(), "x: expected 2, found 1");
        assert!(text(&json!({ "a": 1 }), "/a").is_err());
    }
}
