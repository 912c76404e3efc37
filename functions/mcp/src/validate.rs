//! Arguments against a tool's schema: every fault at once, path first, in words that say what to do.
//!
//! The order of the faults is that of the schema's properties, so that the same call is always told the same.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{ValidationError, Validator as Compiled};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashSet;

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

/// One tool's schema, compiled once.
pub struct Validator {
    tool: String,
    schema: Value,
    compiled: Compiled,
    /// The order of the top-level arguments.
    order: Vec<String>,
    /// Those of them that are integers.
    integers: Vec<String>,
}

impl Validator {
    /// Compiles the schema of `tool`'s arguments.
    ///
    /// # Errors
    /// What is wrong with the schema; a fault of this program, not of a caller.
    pub fn new(tool: impl Into<String>, schema: Value) -> Result<Self, String> {
        let tool = tool.into();
        let compiled =
            jsonschema::options().build(&schema).map_err(|error| format!("the schema of {tool} is wrong: {error}"))?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let order = properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
        let integer =
            |kind: &Value| kind == "integer" || kind.as_array().is_some_and(|kinds| kinds.contains(&"integer".into()));
        let integers = properties.into_iter().flatten().filter(|(_, schema)| schema.get("type").is_some_and(integer));
        let integers = integers.map(|(name, _)| name.clone()).collect();
        Ok(Validator { tool, schema, compiled, order, integers })
    }

    /// Checks the arguments.
    ///
    /// # Errors
    /// Every fault, at most [`MOST_ISSUES`], such as `requestId: missing` or `limit: 1 to 100`.
    pub fn check(&self, arguments: &Value) -> Result<(), Vec<String>> {
        // The quick answer first: nearly every call is right.
        if self.compiled.is_valid(arguments) {
            return Ok(());
        }
        let mut issues = Vec::new();
        for error in self.compiled.iter_errors(arguments).take(FAULTS_EXAMINED) {
            // What the validator says of a schema without properties, without a name of what is too much.
            if matches!(error.kind(), ValidationErrorKind::FalseSchema) && self.order.is_empty() {
                let names = arguments.as_object().into_iter().flat_map(Map::keys);
                issues.extend(names.map(|name| self.surplus(shortened(name))));
            } else {
                self.explain(&error, &mut issues);
            }
        }
        issues.sort_by_cached_key(|issue| self.rank(&issue.path));
        let mut seen = HashSet::new();
        let mut texts: Vec<String> = issues.iter().map(|issue| format!("{}: {}", issue.path, issue.fault)).collect();
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
        for name in &self.integers {
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

    fn surplus(&self, path: String) -> Issue {
        Issue { path, fault: format!("not an argument of {}", self.tool) }
    }

    /// Where an argument stands in the schema; what the schema does not know comes last.
    fn rank(&self, path: &str) -> usize {
        let first = path.split(['.', '[']).next().unwrap_or_default();
        self.order.iter().position(|name| name == first).unwrap_or(self.order.len())
    }

    fn explain(&self, error: &ValidationError<'_>, issues: &mut Vec<Issue>) {
        let path = dotted(error);
        let mut tell = |path: String, fault: String| issues.push(Issue { path, fault });
        match error.kind() {
            ValidationErrorKind::Required { property } => tell(join(&path, &plain(property)), "missing".to_owned()),
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    let fault = if path.is_empty() {
                        format!("not an argument of {}", self.tool)
                    } else {
                        "not declared".to_owned()
                    };
                    tell(join(&path, &shortened(name)), fault);
                }
            }
            ValidationErrorKind::AnyOf { context } => self.explain_choice(path, context, issues),
            ValidationErrorKind::OneOfNotValid { context } => self.explain_choice(path, context, issues),
            kind => tell(or_arguments(path), self.fault(kind, error)),
        }
    }

    /// The fault of one value on its own.
    fn fault(&self, kind: &ValidationErrorKind, error: &ValidationError<'_>) -> String {
        match kind {
            ValidationErrorKind::Type { kind } => format!("expected {}", types(kind).join(" or ")),
            ValidationErrorKind::Minimum { .. } | ValidationErrorKind::Maximum { .. } => {
                match (self.beside(error, "minimum"), self.beside(error, "maximum")) {
                    (Some(least), Some(most)) => format!("{least} to {most}"),
                    (Some(least), None) => format!("at least {least}"),
                    (None, Some(most)) => format!("at most {most}"),
                    (None, None) => "outside its limits".to_owned(),
                }
            }
            ValidationErrorKind::MinLength { limit: 1 } => "missing".to_owned(),
            ValidationErrorKind::Pattern { pattern } if pattern == NOT_BLANK => "missing".to_owned(),
            ValidationErrorKind::Pattern { pattern } => format!("does not match {pattern}"),
            ValidationErrorKind::MinLength { limit } => format!("shorter than {limit} characters"),
            ValidationErrorKind::MaxLength { limit } => format!("longer than {limit} characters"),
            ValidationErrorKind::MinItems { limit: 1 } => "empty".to_owned(),
            ValidationErrorKind::MinItems { limit } => format!("fewer than {limit} items"),
            ValidationErrorKind::MaxItems { limit } => format!("more than {limit} items"),
            ValidationErrorKind::MinProperties { limit: 1 } => "empty".to_owned(),
            ValidationErrorKind::MinProperties { limit } => format!("fewer than {limit} entries"),
            ValidationErrorKind::MaxProperties { limit } => format!("more than {limit} entries"),
            ValidationErrorKind::UniqueItems => "holds an item twice".to_owned(),
            ValidationErrorKind::Enum { options } => one_of(options.as_array().map(Vec::as_slice).unwrap_or_default()),
            ValidationErrorKind::Constant { expected_value } => format!("must be {}", plain(expected_value)),
            _ => error.masked_with("the value").to_string(),
        }
    }

    /// A value that fits none of several schemas: of those of its type the one it misses least, or else the types.
    fn explain_choice(&self, path: String, branches: &[Vec<ValidationError<'static>>], issues: &mut Vec<Issue>) {
        let words: Vec<Value> = branches.iter().filter_map(|branch| constant(branch)).flatten().collect();
        let worded = branches.iter().filter(|branch| constant(branch).is_some()).count();
        let mistyped = |branch: &[ValidationError<'static>]| {
            branch.iter().any(|error| matches!(error.kind(), ValidationErrorKind::Type { .. }) && dotted(error) == path)
        };
        let fitting = branches.iter().filter(|branch| !mistyped(branch) && constant(branch).is_none());
        if let Some(nearest) = fitting.min_by_key(|branch| branch.len()) {
            for error in nearest {
                self.explain(error, issues);
            }
        } else if worded > 0 {
            issues.push(Issue { path: or_arguments(path), fault: one_of(&words) });
        } else {
            let mut named: Vec<String> = Vec::new();
            for error in branches.iter().flatten() {
                if let ValidationErrorKind::Type { kind } = error.kind() {
                    named.extend(types(kind));
                }
            }
            named.dedup();
            named.retain(|name| name != "null");
            issues.push(Issue { path: or_arguments(path), fault: format!("expected {}", named.join(" or ")) });
        }
    }

    /// Another keyword of the schema whose keyword was broken.
    fn beside(&self, error: &ValidationError<'_>, keyword: &str) -> Option<String> {
        let pointer = error.schema_path().as_str().rsplit_once('/')?.0.to_owned();
        Some(plain(self.schema.pointer(&pointer)?.get(keyword)?))
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

struct Issue {
    path: String,
    fault: String,
}

/// The words of a branch that is nothing but a word or a list of words.
fn constant(branch: &[ValidationError<'static>]) -> Option<Vec<Value>> {
    branch.iter().find_map(|error| match error.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(vec![Value::clone(expected_value)]),
        ValidationErrorKind::Enum { options } => options.as_array().cloned(),
        _ => None,
    })
}

/// The types that a value may have; that it may also be absent or null helps nobody to mend it.
fn types(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(several) => {
            let named: Vec<String> = several.iter().map(|one| one.to_string()).filter(|name| name != "null").collect();
            if named.is_empty() { vec!["null".to_owned()] } else { named }
        }
    }
}

fn one_of(options: &[Value]) -> String {
    let words: Vec<String> = options.iter().filter(|option| !option.is_null()).map(plain).collect();
    format!("one of {}", words.join(", "))
}

/// A value as people write it: texts without quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Where a fault is, as `evidence[0].kind`; empty for the arguments as a whole.
fn dotted(error: &ValidationError<'_>) -> String {
    let mut path = String::new();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Property(name) => path = join(&path, &shortened(&name)),
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn or_arguments(path: String) -> String {
    if path.is_empty() { "arguments".to_owned() } else { path }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_CHARS) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
