//! The part of JSON Schema that the tools' arguments use.
//!
//! Everything that an arguments' schema says is either checked or known to say nothing about validity; whatever else it
//! holds is refused when it is read. So no rule is ever left out silently, and a full implementation, a third of the
//! endpoint's size with what it brings, is needed by the tests only, which hold this one against it.

use serde_json::{Map, Value};

use super::number;
use super::{NOT_BLANK, join, shortened};

/// Deepest that a schema is read, in levels; the tools' types are not deeper than a few.
const SCHEMA_LEVELS: usize = 16;

/// Keywords that say nothing about validity. A format is for whoever generates code.
const ANNOTATIONS: [&str; 6] = ["$schema", "$id", "title", "description", "default", "format"];

/// One schema.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// Any of these; empty: any at all.
    types: Vec<Type>,
    /// The values that it may be; empty: any at all.
    words: Vec<Value>,
    least: Option<i64>,
    most: Option<i64>,
    least_chars: usize,
    most_chars: Option<usize>,
    not_blank: bool,
    most_items: Option<usize>,
    items: Option<Box<Schema>>,
    required: Vec<String>,
    properties: Vec<(String, Schema)>,
    others: Others,
}

/// What properties that the schema does not name may be.
#[derive(Debug, Default)]
enum Others {
    #[default]
    Anything,
    Nothing,
    Each(Box<Schema>),
}

/// A type of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl Type {
    const NAMED: [(&str, Type); 7] = [
        ("array", Type::Array),
        ("boolean", Type::Boolean),
        ("integer", Type::Integer),
        ("null", Type::Null),
        ("number", Type::Number),
        ("object", Type::Object),
        ("string", Type::String),
    ];

    /// As JSON Schema calls it.
    pub(super) fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    fn has(self, value: &Value) -> bool {
        match self {
            Type::Array => value.is_array(),
            Type::Boolean => value.is_boolean(),
            Type::Integer => value.as_number().is_some_and(number::is_integer),
            Type::Null => value.is_null(),
            Type::Number => value.is_number(),
            Type::Object => value.is_object(),
            Type::String => value.is_string(),
        }
    }
}

/// What is wrong with one value.
#[derive(Debug)]
pub(super) struct Fault<'s> {
    /// Where it is, as `evidence[0].kind`; empty for the arguments as a whole.
    pub(super) path: String,
    pub(super) kind: FaultKind<'s>,
}

#[derive(Debug)]
pub(super) enum FaultKind<'s> {
    Type(&'s [Type]),
    Words(&'s [Value]),
    Limits(Option<i64>, Option<i64>),
    Shorter(usize),
    Longer(usize),
    More(usize),
    /// Not there, or a text that says nothing.
    Missing,
    /// A top-level name that the schema does not have.
    NoArgument,
    /// Such a name further down.
    Undeclared,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// What it holds that is not checked here, and where.
    pub(super) fn read(schema: &Value) -> Result<Schema, String> {
        read(schema, "#", SCHEMA_LEVELS)
    }

    /// The names of the properties, in the schema's order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(|(name, _)| name.as_str())
    }

    /// Those of them that are integers.
    pub(super) fn integers(&self) -> impl Iterator<Item = &str> {
        let integers = self.properties.iter().filter(|(_, schema)| schema.types.contains(&Type::Integer));
        integers.map(|(name, _)| name.as_str())
    }

    /// Looks for every fault of a value that stands at `path`, and at no more once there are so many.
    pub(super) fn check<'s>(&'s self, value: &Value, path: &str, most: usize, faults: &mut Vec<Fault<'s>>) {
        let mut tell = |kind| faults.push(Fault { path: path.to_owned(), kind });
        if !self.types.is_empty() && !self.types.iter().any(|kind| kind.has(value)) {
            tell(FaultKind::Type(&self.types));
        }
        if !self.words.is_empty() && !self.words.contains(value) {
            tell(FaultKind::Words(&self.words));
        }
        match value {
            Value::Number(value) => {
                let below = self.least.is_some_and(|least| number::compare(value, least).is_lt());
                let above = self.most.is_some_and(|most| number::compare(value, most).is_gt());
                if below || above {
                    tell(FaultKind::Limits(self.least, self.most));
                }
            }
            Value::String(text) => {
                // Bytes first: a text of megabytes is not counted when it is long enough by any count.
                if text.len() < self.least_chars || !reaches(text, self.least_chars) {
                    tell(FaultKind::Shorter(self.least_chars));
                }
                if let Some(most) = self.most_chars
                    && reaches(text, most + 1)
                {
                    tell(FaultKind::Longer(most));
                }
                if self.not_blank && text.chars().all(is_blank) {
                    tell(FaultKind::Missing);
                }
            }
            Value::Array(list) => {
                if let Some(most) = self.most_items
                    && list.len() > most
                {
                    tell(FaultKind::More(most));
                }
                let Some(schema) = &self.items else { return };
                for (index, item) in list.iter().enumerate() {
                    if faults.len() >= most {
                        return;
                    }
                    schema.check(item, &format!("{path}[{index}]"), most, faults);
                }
            }
            Value::Object(members) => self.check_members(members, path, most, faults),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn check_members<'s>(&'s self, members: &Map<String, Value>, path: &str, most: usize, faults: &mut Vec<Fault<'s>>) {
        for name in self.required.iter().filter(|name| !members.contains_key(*name)) {
            faults.push(Fault { path: join(path, name), kind: FaultKind::Missing });
        }
        let mut surplus = Vec::new();
        for (name, value) in members {
            if faults.len() >= most {
                break;
            }
            let named = self.properties.iter().find(|(known, _)| known == name).map(|(_, schema)| schema);
            match (named, &self.others) {
                (Some(schema), _) => schema.check(value, &join(path, name), most, faults),
                (None, Others::Each(schema)) => schema.check(value, &join(path, &shortened(name)), most, faults),
                (None, Others::Nothing) => surplus.push(join(path, &shortened(name))),
                (None, Others::Anything) => {}
            }
        }
        let kind = || if path.is_empty() { FaultKind::NoArgument } else { FaultKind::Undeclared };
        faults.extend(surplus.into_iter().map(|path| Fault { path, kind: kind() }));
    }
}

fn reaches(text: &str, chars: usize) -> bool {
    chars == 0 || text.chars().nth(chars - 1).is_some()
}

/// What `\S` does not match: the white space of ECMAScript, in which patterns of JSON Schema are written.
fn is_blank(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}

fn read(schema: &Value, at: &str, levels: usize) -> Result<Schema, String> {
    let wrong = |keyword: &str| format!("{at}/{keyword} is not a rule that arguments are checked by");
    let Some(levels) = levels.checked_sub(1) else { return Err(format!("{at} is too deep")) };
    let members = match schema {
        Value::Bool(true) => return Ok(Schema::default()),
        Value::Object(members) => members,
        _ => return Err(format!("{at} is no schema")),
    };
    let mut read_in = Schema::default();
    for (keyword, rule) in members {
        let within = format!("{at}/{keyword}");
        let unknown = || wrong(keyword);
        let count = || rule.as_u64().and_then(|count| usize::try_from(count).ok()).ok_or_else(unknown);
        match keyword.as_str() {
            "type" => read_in.types = types(rule).ok_or_else(unknown)?,
            "enum" => read_in.words = rule.as_array().cloned().ok_or_else(unknown)?,
            "oneOf" => read_in.words = words(rule).ok_or_else(unknown)?,
            "minimum" => read_in.least = Some(rule.as_i64().ok_or_else(unknown)?),
            "maximum" => read_in.most = Some(rule.as_i64().ok_or_else(unknown)?),
            "minLength" => read_in.least_chars = count()?,
            "maxLength" => read_in.most_chars = Some(count()?),
            "pattern" if rule == NOT_BLANK => read_in.not_blank = true,
            "maxItems" => read_in.most_items = Some(count()?),
            "items" => read_in.items = Some(Box::new(read(rule, &within, levels)?)),
            "required" => read_in.required = names(rule).ok_or_else(unknown)?,
            "properties" => {
                for (name, property) in rule.as_object().ok_or_else(unknown)? {
                    read_in.properties.push((name.clone(), read(property, &format!("{within}/{name}"), levels)?));
                }
            }
            "additionalProperties" => {
                read_in.others = match rule {
                    Value::Bool(false) => Others::Nothing,
                    rule => Others::Each(Box::new(read(rule, &within, levels)?)),
                }
            }
            annotation if ANNOTATIONS.contains(&annotation) => {}
            _ => return Err(unknown()),
        }
    }
    // Words are compared as they are written; that of a number has several ways.
    if read_in.words.iter().any(|word| !word.is_string() && !word.is_null()) {
        return Err(format!("{at} has a word that is no text"));
    }
    Ok(read_in)
}

fn types(rule: &Value) -> Option<Vec<Type>> {
    let one = |name: &Value| Type::NAMED.iter().find(|(known, _)| name == known).map(|(_, kind)| *kind);
    match rule {
        Value::Array(several) => several.iter().map(one).collect(),
        single => one(single).map(|kind| vec![kind]),
    }
}

/// A choice between texts, each a schema of its own because each has a description of its own.
fn words(rule: &Value) -> Option<Vec<Value>> {
    let word = |branch: &Value| {
        let branch = branch.as_object()?;
        let known = |keyword: &String| matches!(keyword.as_str(), "const" | "type" | "description" | "title");
        let text = branch.get("const").filter(|word| word.is_string())?;
        let fits = branch.get("type").is_none_or(|kind| kind == "string") && branch.keys().all(known);
        fits.then(|| text.clone())
    };
    rule.as_array()?.iter().map(word).collect()
}

fn names(rule: &Value) -> Option<Vec<String>> {
    rule.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}
