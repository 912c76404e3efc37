//! Arguments against a tool's schema: every fault at once, path first, in words that say what to do.
//!
//! The order of the faults is that of the schema's properties, so that the same call is always told the same.

mod number;
mod schema;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashSet;

use schema::{Fault, FaultKind, Schema};

/// Most faults that are told of one call.
pub const MOST_ISSUES: usize = 100;

/// Deepest that arguments may be nested, in levels. What is stored and shown is nested some levels deeper than what was
/// sent, and everything that reads JSON bounds its depth, at 128 levels or even less: what is accepted must stay readable.
pub const DEPTH_LEVELS: usize = 64;

/// Most faults of one call that are looked at, before those that are told are chosen.
const FAULTS_EXAMINED: usize = 10_000;

/// Longest piece of a client's own text that is told back, in characters.
const NAME_CHARS: usize = 100;

/// The pattern of a text that is not blank. A text that breaks it is told to be missing: blank counts as missing.
pub const NOT_BLANK: &str = r"\S";

/// One tool's schema, read once.
#[derive(Debug)]
pub struct Validator {
    tool: String,
    schema: Schema,
}

impl Validator {
    /// Reads the schema of `tool`'s arguments.
    ///
    /// # Errors
    /// What is wrong with the schema, or what of it is no rule that is checked here; a fault of this program, not of a
    /// caller.
    pub fn new(tool: impl Into<String>, schema: &Value) -> Result<Self, String> {
        let tool = tool.into();
        let schema = Schema::read(schema).map_err(|error| format!("the schema of {tool} is wrong: {error}"))?;
        Ok(Validator { tool, schema })
    }

    /// Checks the arguments.
    ///
    /// # Errors
    /// Every fault, at most [`MOST_ISSUES`], such as `requestId: missing` or `limit: 1 to 100`.
    pub fn check(&self, arguments: &Value) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        self.schema.check(arguments, "", FAULTS_EXAMINED, &mut faults);
        if faults.is_empty() {
            return Ok(());
        }
        faults.sort_by_cached_key(|fault| self.rank(&fault.path));
        let mut seen = HashSet::new();
        let mut texts: Vec<String> = faults.iter().map(|fault| self.text(fault)).collect();
        texts.retain(|text| seen.insert(text.clone()));
        let over = texts.len().saturating_sub(MOST_ISSUES);
        if over > 0 {
            texts.truncate(MOST_ISSUES);
            texts.push(format!("and {over} more"));
        }
        Err(texts)
    }

    /// Checks the arguments and reads them into the tool's own type.
    ///
    /// # Errors
    /// As for [`Validator::check`], and for what is nested deeper than [`DEPTH_LEVELS`].
    pub fn read<T: DeserializeOwned>(&self, mut arguments: Map<String, Value>) -> Result<T, Vec<String>> {
        let mut issues: Vec<String> = arguments
            .iter()
            .filter(|(_, value)| deeper(value, DEPTH_LEVELS - 1))
            .take(MOST_ISSUES)
            .map(|(name, _)| format!("{}: nested deeper than {DEPTH_LEVELS} levels", shortened(name)))
            .collect();
        for name in self.schema.integers() {
            // To JSON `1.0` is an integer like any other; to a type of ours it is none.
            if let Some(value) = arguments.get_mut(name)
                && let Some(integer) = written_as_float(value)
            {
                *value = Value::from(integer);
            }
        }
        let arguments = Value::Object(arguments);
        if let Err(more) = self.check(&arguments) {
            issues.extend(more);
        }
        if !issues.is_empty() {
            return Err(issues);
        }
        run::typed(arguments).map_err(|error| vec![format!("arguments: {error}")])
    }

    /// Where an argument stands in the schema; what the schema does not know comes last.
    fn rank(&self, path: &str) -> usize {
        let first = path.split(['.', '[']).next().unwrap_or_default();
        self.schema.names().position(|name| name == first).unwrap_or(usize::MAX)
    }

    fn text(&self, Fault { path, kind }: &Fault<'_>) -> String {
        let fault = match kind {
            FaultKind::Type(types) => format!("expected {}", named(types)),
            FaultKind::Words(words) => one_of(words),
            FaultKind::Limits(Some(least), Some(most)) => format!("{least} to {most}"),
            FaultKind::Limits(Some(least), None) => format!("at least {least}"),
            FaultKind::Limits(None, Some(most)) => format!("at most {most}"),
            FaultKind::Limits(None, None) => "outside its limits".to_owned(),
            FaultKind::Shorter(1) | FaultKind::Missing => "missing".to_owned(),
            FaultKind::Shorter(least) => format!("shorter than {least} characters"),
            FaultKind::Longer(most) => format!("longer than {most} characters"),
            FaultKind::More(most) => format!("more than {most} items"),
            FaultKind::NoArgument => format!("not an argument of {}", self.tool),
            FaultKind::Undeclared => "not declared".to_owned(),
        };
        // A surplus argument may have the empty name.
        let whole = path.is_empty() && !matches!(kind, FaultKind::NoArgument);
        format!("{}: {fault}", if whole { "arguments" } else { path })
    }
}

/// The integer that a number with a fraction or an exponent is, such as `1.0`.
fn written_as_float(value: &Value) -> Option<u64> {
    let number = value.as_number().filter(|number| number.as_u64().is_none())?;
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..INTEGERS_END).contains(float))?;
    format!("{float:.0}").parse().ok()
}

/// Below this, every integer is a double, and every double without a fraction is the integer it was written for.
const INTEGERS_END: f64 = 9_007_199_254_740_992.0;

/// Whether a value has more levels of lists and objects than this. Looks no deeper than that.
fn deeper(value: &Value, levels: usize) -> bool {
    let Some(within) = levels.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(list) => list.iter().any(|item| deeper(item, within)),
        Value::Object(map) => map.values().any(|item| deeper(item, within)),
        _ => false,
    }
}

/// The types that a value may have; that it may also be null helps nobody to mend it.
fn named(types: &[schema::Type]) -> String {
    let names: Vec<&str> = types.iter().map(|one| one.name()).filter(|name| *name != "null").collect();
    if names.is_empty() { "null".to_owned() } else { names.join(" or ") }
}

fn one_of(options: &[Value]) -> String {
    let words: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
    format!("one of {}", words.join(", "))
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
