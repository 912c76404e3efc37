//! Field declarations of `inputs` and `output` (core §2.3).

use std::collections::{HashMap, HashSet};

use super::keys;
use crate::model::{Field, FieldType, Fields};
use crate::problem::{Path, Report, did_you_mean, shorten};
use crate::value;
use crate::yaml::{Data, Node};

const TYPES: [FieldType; 8] = [
    FieldType::String,
    FieldType::Number,
    FieldType::Boolean,
    FieldType::Date,
    FieldType::Datetime,
    FieldType::List,
    FieldType::Object,
    FieldType::Person,
];

/// The fields that a mapping declares, those with problems among them: a path to a field whose declaration is broken
/// deserves no second problem.
#[derive(Debug, Default)]
pub(super) struct Declared {
    list: Vec<(String, Option<Field>)>,
    by_name: HashMap<String, usize>,
}

impl Declared {
    /// The field of this name: not declared, declared with a problem, or a field.
    pub(super) fn get(&self, name: &str) -> Option<Option<&Field>> {
        self.by_name.get(name).and_then(|at| self.list.get(*at)).map(|(_, f)| f.as_ref())
    }

    /// The names, in file order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(n, _)| n.as_str())
    }

    /// The fields, when none has a problem.
    pub(super) fn into_fields(self) -> Option<Fields> {
        let list = self.list.into_iter().map(|(n, f)| f.map(|f| (n, f))).collect::<Option<Vec<_>>>()?;
        Some(Fields { list })
    }
}

/// The fields that the mapping at `path` declares.
pub(super) fn fields(node: &Node, path: &Path<'_>, report: &mut Report) -> Declared {
    let wanted = "a mapping from field names to types, such as `{ amount: number }`";
    let Some(entries) = keys::map(node, path, wanted, report) else { return Declared::default() };
    let mut list = Vec::new();
    for entry in entries {
        let path = path.key(&entry.key);
        if entry.key.trim().is_empty() {
            report.error(entry.key_at, &path, "a field needs a name; this one is blank");
            continue;
        }
        list.push((entry.key.clone(), field(&entry.value, &path, report)));
    }
    let by_name = list.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    Declared { list, by_name }
}

/// One declaration: a type name or a field object. `None` when it has a problem. Recurses along `items`, which the
/// depth of the file bounds.
fn field(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Field> {
    let entries = match &*node.data {
        Data::Map(entries) => entries,
        Data::Broken => return None,
        _ => {
            let kind = field_type(node, path, report)?;
            let declared = node.to_json();
            return Some(Field { kind, description: None, optional: false, one_of: None, items: None, declared });
        }
    };
    let mut sound = true;
    let mut kind = None;
    let mut typed = false;
    let mut description = None;
    let mut optional = false;
    let mut one_of = None;
    let mut items = None;
    for entry in entries {
        let value = &entry.value;
        let path = path.key(&entry.key);
        match entry.key.as_str() {
            "type" => {
                typed = true;
                kind = field_type(value, &path, report);
            }
            "description" => {
                description = keys::text(value, &path, "text", report);
                sound &= description.is_some();
            }
            "optional" => match keys::boolean(value, &path, report) {
                Some(said) => optional = said,
                None => sound = false,
            },
            "one_of" => one_of = Some(entry),
            "items" => items = Some(entry),
            _ => {
                sound = false;
                let meant = keys::unknown(entry, path_of(&path), "a field object", keys::FIELD, report);
                typed |= meant == Some("type");
            }
        }
    }
    if !typed {
        report.error(node.at, path, format!("`type` is missing; a field object names one of {}", type_names()));
    }
    let mut allowed = None;
    if let Some(entry) = one_of {
        allowed = self::one_of(&entry.value, &path.key("one_of"), kind, report);
        sound &= allowed.is_some();
    }
    let mut element = None;
    if let Some(entry) = items {
        let path = path.key("items");
        if let Some(kind) = kind
            && kind != FieldType::List
        {
            let what = format!("only a list has `items`, and this field is {}", keys::a(kind));
            report.error(entry.key_at, &path, what);
            sound = false;
        }
        element = field(&entry.value, &path, report).map(Box::new);
        sound &= element.is_some();
    }
    let kind = kind.filter(|_| sound)?;
    let description = description.map(str::to_owned);
    Some(Field { kind, description, optional, one_of: allowed, items: element, declared: node.to_json() })
}

/// The path of the mapping that a key's path lies in.
fn path_of<'p>(path: &'p Path<'p>) -> &'p Path<'p> {
    match path {
        Path::Key(parent, _) | Path::Element(parent, _) => parent,
        Path::Root => path,
    }
}

fn field_type(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<FieldType> {
    let text = keys::text(node, path, &format!("a type, one of {}", type_names()), report)?;
    let found = TYPES.into_iter().find(|t| t.name() == text);
    if found.is_none() {
        let meant = report.suggest(text, TYPES.iter().map(|t| t.name()));
        let what = match meant {
            Some(_) => format!("`{}` is not a type{}", shorten(text), did_you_mean(meant)),
            None => format!("`{}` is not a type; use one of {}", shorten(text), type_names()),
        };
        report.error(node.at, path, what);
    }
    found
}

fn type_names() -> String {
    TYPES.map(FieldType::name).join(", ")
}

/// The allowed values; `None` when something is wrong with them.
fn one_of(
    node: &Node,
    path: &Path<'_>,
    kind: Option<FieldType>,
    report: &mut Report,
) -> Option<Vec<serde_json::Value>> {
    let list = keys::list(node, path, "a list of the allowed values", report)?;
    if list.is_empty() {
        report.error(node.at, path, "is empty, so no value would be allowed; list the allowed values or remove it");
        return None;
    }
    let kind = kind?;
    if matches!(kind, FieldType::List | FieldType::Object) {
        report.error(
            node.at,
            path,
            format!("{} cannot have `one_of`; use it on the items or remove it", keys::a(kind)),
        );
        return None;
    }
    let mut sound = true;
    let mut seen = HashSet::new();
    let mut values = Vec::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        if item.is_broken() {
            sound = false;
            continue;
        }
        let value = item.to_json();
        if !value::is_of_type(kind, &value) {
            sound = false;
            let wanted = value::expectation(kind);
            let what = match item.text() {
                Some(text) => format!("expected {wanted}, found the text `{}`", shorten(text)),
                None => format!("expected {wanted}, found {}; every value has the field's type", item.what()),
            };
            report.error(item.at, &path, what);
        } else if !seen.insert(value::identity(kind, &value)) {
            sound = false;
            report.error(item.at, &path, "this value is listed twice; list each value once");
        } else {
            values.push(value);
        }
    }
    sound.then_some(values)
}
