//! What the validator finds, as diagnostics that say what to do.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

use crate::failure::{Diagnostic, Severity};
use crate::faults::Faults;
use crate::keys::edits;
use crate::limits::QUOTE_CHARACTERS;

/// Adds what one error says. A choice of forms adds the faults of the form that was meant, when that is plain.
/// `schema` is the published one that was broken: it knows which keys may have been meant.
pub(crate) fn tell(error: &ValidationError<'_>, path: &str, schema: &Value, faults: &mut Faults) {
    let place = place(path, error);
    let mut add = |keyword: &str, message: String| {
        faults.add(Diagnostic::new(format!("schema.{keyword}"), Severity::Error, message).at(place.clone()));
    };
    let keyword = error.kind().keyword();
    match error.kind() {
        Kind::AdditionalProperties { unexpected } => {
            for field in unexpected {
                let meant = near(field, fields(schema, error)).map(|near| format!("; did you mean `{near}`?"));
                add(keyword, format!("there is no field {}{}", quote(field), meant.unwrap_or_default()));
            }
        }
        Kind::OneOfNotValid { context } => {
            // What is wrong with the form that was meant says more than that no form fits, so it comes first.
            let another = |fault: &ValidationError<'_>| discriminates(fault) || of_another_type(error, fault);
            let mut meant = context.iter().filter(|branch| !branch.iter().any(another));
            if let (Some(branch), None) = (meant.next(), meant.next()) {
                branch.iter().for_each(|error| tell(error, path, schema, faults));
            }
            let choice = needed(context).unwrap_or_else(|| choice(error.instance(), context));
            faults.add(Diagnostic::new(format!("schema.{keyword}"), Severity::Error, choice).at(place));
        }
        Kind::PropertyNames { error: inner } => {
            add(keyword, format!("the key {} {}", quote(&text(inner.instance())), said(inner)));
        }
        _ => add(keyword, said(error)),
    }
}

/// The fields that the schema knows where an error of `additionalProperties` was found. The way through the schema goes
/// over references in it, and ends at the keyword.
fn fields<'s>(schema: &'s Value, error: &ValidationError<'_>) -> impl Iterator<Item = &'s str> {
    let way = error.evaluation_path().as_str();
    let way = way.rsplit_once('/').map_or("", |(way, _)| way);
    let mut here = Some(schema);
    for step in way.split('/').skip(1) {
        let next = here.and_then(|here| match here {
            Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            other => other.get(step),
        });
        here = match next {
            Some(Value::String(to)) if step == "$ref" => to.strip_prefix('#').and_then(|to| schema.pointer(to)),
            next => next,
        };
    }
    let properties = here.and_then(|here| here.get("properties")).and_then(Value::as_object);
    properties.into_iter().flatten().map(|(field, _)| field.as_str())
}

/// The word that was meant, if one is near enough.
fn near<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let most = (word.chars().count() / 3).clamp(1, 3);
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let far = |other: &str| match word.eq_ignore_ascii_case(other) {
        true => 0,
        // Letters that changed places.
        false if letters(word) == letters(other) => 1,
        false => edits(word, other, most),
    };
    words.map(|other| (far(other), other)).filter(|(far, _)| *far <= most).min().map(|(_, other)| other)
}

/// The place of an error in a file: a JSON pointer behind the file's path, which alone means the whole document.
fn place(path: &str, error: &ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => path.to_owned(),
        pointer => format!("{path}#{pointer}"),
    }
}

/// Whether this error says that a branch of a choice is for another kind of thing.
fn discriminates(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. })
}

/// Whether this error says that a branch of a choice is for a value of another type.
fn of_another_type(choice: &ValidationError<'_>, fault: &ValidationError<'_>) -> bool {
    matches!(fault.kind(), Kind::Type { .. }) && fault.instance_path() == choice.instance_path()
}

/// What to say when every form is a field that must be there.
fn needed(context: &[Vec<ValidationError<'_>>]) -> Option<String> {
    let field = |branch: &Vec<ValidationError<'_>>| match branch.as_slice() {
        [one] => match one.kind() {
            Kind::Required { property } => Some(quote(&text(property))),
            _ => None,
        },
        _ => None,
    };
    let fields: Vec<String> = context.iter().map(field).collect::<Option<_>>()?;
    Some(format!("needs one of the fields {}", fields.join(" and ")))
}

/// What to say of a value that has more than one of the forms it may have.
fn several(value: &Value) -> String {
    const APART: [(&str, &str); 3] = [("exists", "equals"), ("inline", "resource"), ("command", "handler")];
    match APART.iter().find(|(one, other)| value.get(one).is_some() && value.get(other).is_some()) {
        Some((one, other)) => format!("has both of the fields `{one}` and `{other}`; leave one of them out"),
        None => "must have exactly one of the forms it may have".into(),
    }
}

/// What a pattern of the published schemas asks for, in words.
fn meant(pattern: &str) -> Option<&'static str> {
    Some(match pattern {
        "^[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?$" => "lower-case letters and digits, with . _ / or - between them",
        r"^route\.[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?$" => {
            "`route.` and then lower-case letters and digits, with . _ / or - between them, such as route.release.inspect"
        }
        r"^route\." => "a code that begins with `route.`",
        "^[A-Za-z0-9_.-]+$" => "a dotted path of letters, digits, _ and -, such as items.0.digest",
        "^sha256:[a-f0-9]{64}$" => "`sha256:` and 64 lower-case hex digits",
        "^route:[a-f0-9]{20}$" => "`route:` and 20 lower-case hex digits",
        r"^\S+[./]v[0-9]+$" => "a protocol identity that ends in its version, such as company.request/v1",
        "^(?:path:|provider:).+" => "`path:` with a path or `provider:` with an id",
        r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?$" => {
            "a version of three numbers, such as 1.2.0 or 1.2.0-beta.1"
        }
        _ => return None,
    })
}

/// What to say of a value that has none of the forms it may have.
fn choice(value: &Value, context: &[Vec<ValidationError<'_>>]) -> String {
    for field in ["kind", "runner"] {
        if let Some(kind) = value.get(field).and_then(Value::as_str) {
            // No form is for this kind: its fields cannot be held to anything.
            let pointer = format!("/{field}");
            let of_kind = |fault: &ValidationError<'_>| {
                discriminates(fault) && fault.instance_path().as_str().ends_with(&pointer)
            };
            if context.iter().all(|branch| branch.iter().any(of_kind)) {
                return format!("there is no {field} {}, so its fields are not looked at", quote(kind));
            }
            return format!("the fields are not those of the {field} {}", quote(kind));
        }
    }
    "has none of the forms it may have, or more than one of them".into()
}

/// What one error says of its value.
pub(crate) fn said(error: &ValidationError<'_>) -> String {
    let value = error.instance();
    match error.kind() {
        Kind::Constant { expected_value } => format!("must be {}, not {}", text(expected_value), quote(&text(value))),
        Kind::Enum { options } => {
            let options: Vec<String> = options.as_array().into_iter().flatten().map(text).collect();
            let meant = value.as_str().and_then(|word| near(word, options.iter().map(String::as_str)));
            let meant = meant.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("must be one of {}, not {}{meant}", options.join(", "), quote(&text(value)))
        }
        Kind::Type { kind: TypeKind::Single(one) } => format!("must be of type {one}, not {}", what(value)),
        Kind::Type { kind: TypeKind::Multiple(many) } => {
            let many: Vec<String> = many.iter().map(|one| one.to_string()).collect();
            format!("must be of type {}, not {}", many.join(" or "), what(value))
        }
        Kind::Required { property } => format!("the field {} is missing", quote(&text(property))),
        Kind::Not { schema } if schema.get("pattern").is_some() => {
            format!("must be a path below the Provider root, without `..`, not {}", quote(&text(value)))
        }
        Kind::Not { schema } => {
            let unfit: Vec<String> = unfit(schema, value).map(quote).collect();
            format!("must not have the fields {}", unfit.join(", "))
        }
        Kind::Pattern { pattern } => match meant(pattern) {
            Some(words) => format!("must be {words}, unlike {}", quote(&text(value))),
            None => format!("must match {pattern}, unlike {}", quote(&text(value))),
        },
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} elements"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::Minimum { limit } => format!("must be at least {limit}, not {}", quote(&text(value))),
        Kind::Maximum { limit } => format!("must be at most {limit}, not {}", quote(&text(value))),
        Kind::AdditionalProperties { unexpected } => {
            let fields: Vec<String> = unexpected.iter().map(|field| quote(field)).collect();
            format!("must not have the fields {}", fields.join(", "))
        }
        Kind::UniqueItems => "must not have an element twice".into(),
        Kind::Format { format } => format!("must have the format {format}, unlike {}", quote(&text(value))),
        Kind::OneOfMultipleValid { .. } => several(value),
        Kind::Referencing(error) => error.to_string(),
        other => format!("breaks the rule `{}`", other.keyword()),
    }
}

/// The fields of the value that the negated schema names.
fn unfit<'a>(schema: &'a Value, value: &'a Value) -> impl Iterator<Item = &'a str> {
    let branches = schema.get("anyOf").and_then(Value::as_array).map_or(std::slice::from_ref(schema), Vec::as_slice);
    let named = branches.iter().filter_map(|branch| branch.get("required")?.as_array()).flatten();
    named.filter_map(Value::as_str).filter(|field| value.get(field).is_some())
}

/// What kind of value this is.
fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A scalar as it was written; of anything else, what it is.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => what(value).into(),
        scalar => scalar.to_string(),
    }
}

/// A piece of somebody's file, short and on one line.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", brief(text))
}

/// Somebody's own text as a message repeats it: its beginning, on one line.
pub(crate) fn brief(text: &str) -> String {
    let mut out: String = text.chars().take(QUOTE_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTE_CHARACTERS).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is told of a value that a published schema refuses.
    fn told(name: &str, value: &Value) -> Vec<String> {
        let failure = super::super::valid::<Value>(name, "x.yaml", value).unwrap_err();
        failure.diagnostics.into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn every_pattern_of_the_published_schemas_has_words() {
        fn patterns(value: &Value, found: &mut Vec<String>) {
            for (key, inner) in value.as_object().into_iter().flatten() {
                match inner {
                    Value::String(pattern) if key == "pattern" => found.push(pattern.clone()),
                    // What must not match is told in words of its own.
                    _ if key == "not" => {}
                    _ => patterns(inner, found),
                }
            }
            value.as_array().into_iter().flatten().for_each(|inner| patterns(inner, found));
        }
        let mut found = Vec::new();
        for (_, text) in super::super::SCHEMAS {
            patterns(&serde_json::from_str(text).unwrap(), &mut found);
        }
        assert!(found.len() > 20, "{found:?}");
        for pattern in found {
            assert!(meant(&pattern).is_some(), "{pattern}");
        }
    }

    #[test]
    fn a_misspelt_word_is_told_with_the_one_that_was_meant() {
        let graph = |node: Value| {
            json!({
                "schema": "agent-graph.graph.v1", "id": "g", "entrypoints": {"default": "a"}, "nodes": [node],
                "edges": [{"form": "a", "to": "a"}],
            })
        };
        let node = json!({"id": "a", "kind": "acton", "action": "a.yaml", "reasonCode": "route.a"});
        let kind = told("graph", &graph(node));
        assert!(kind.iter().any(|said| said.ends_with("not `acton`; did you mean `action`?")), "{kind:?}");
        let unheld = "(a) there is no kind `acton`, so its fields are not looked at";
        assert!(kind.contains(&unheld.to_owned()), "{kind:?}");
        let edge = "there is no field `form`; did you mean `from`?";
        assert!(kind.contains(&edge.to_owned()), "{kind:?}");
        let key =
            told("graph", &graph(json!({"id": "a", "kind": "action", "acton": "a.yaml", "reasonCode": "route.a"})));
        assert!(key.contains(&"(a) there is no field `acton`; did you mean `action`?".to_owned()), "{key:?}");
        let far = told("graph", &graph(json!({"id": "a", "kind": "action", "zzz": 1, "reasonCode": "route.a"})));
        assert!(far.contains(&"(a) there is no field `zzz`".to_owned()), "{far:?}");
    }

    #[test]
    fn fields_that_exclude_each_other_are_named() {
        let graph = |check: Value| {
            json!({
                "schema": "agent-graph.graph.v1", "id": "g", "entrypoints": {"default": "a"}, "edges": [],
                "nodes": [{
                    "id": "a", "kind": "action", "action": "a.yaml", "reasonCode": "route.a", "requiresFacts": [check],
                }],
            })
        };
        let neither = told("graph", &graph(json!({"path": "a.b"})));
        assert!(neither.contains(&"(a) needs one of the fields `equals` and `exists`".to_owned()), "{neither:?}");
        let both = told("graph", &graph(json!({"path": "a.b", "equals": 1, "exists": true})));
        let said = "(a) has both of the fields `exists` and `equals`; leave one of them out";
        assert!(both.contains(&said.to_owned()), "{both:?}");
        let test = json!({
            "schema": "agent-graph.test.v1", "name": "n", "graph": "g", "entry": "default",
            "state": {"outcomes": {"g/a": "done"}}, "expect": {"statusCode": "complete"},
        });
        let word = told("test-case", &test);
        assert!(
            word[0].starts_with("must be one of completed, partial") && word[0].ends_with("not `done`"),
            "{word:?}"
        );
        let odd = told("graph", &graph(json!({"path": "a b", "equals": 1})));
        assert!(odd[0].contains("a dotted path") && odd[0].ends_with("unlike `a b`"), "{odd:?}");
    }
}
