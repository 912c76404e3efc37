//! What the player submits: some value for each field, and a summary that makes a check come to a verdict.

use std::sync::LazyLock;

use process::{FieldType, Fields, QuestionKind, Step};
use serde_json::{Map, Value, json};

/// What a check finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Pass,
    Fail,
    Unsure,
}

/// The mark in a summary by which the check of this step comes to this verdict; `None` when it never does.
pub fn verdict(step: &Step, verdict: Verdict) -> Option<String> {
    let check = step.work()?.check.as_ref().filter(|c| !c.advisory)?;
    check.questions.iter().find_map(|question| {
        let answer = match (verdict, &question.kind) {
            (Verdict::Pass, _) => return None,
            (Verdict::Fail, QuestionKind::YesNo { .. }) => "p=0".to_owned(),
            (Verdict::Unsure, QuestionKind::YesNo { fail: None, .. }) => return None,
            (Verdict::Unsure, QuestionKind::YesNo { fail: Some(fail), .. }) => format!("p={fail}"),
            (Verdict::Fail, QuestionKind::Choice { one_of, pass, unsure, .. }) => {
                let fails = |name: &String| !pass.contains(name) && !unsure.contains(name);
                format!("name={}:1", one_of.iter().map(|(name, _)| name).find(|name| fails(name))?)
            }
            (Verdict::Unsure, QuestionKind::Choice { one_of, .. }) => format!("name={}:0", one_of.first()?.0),
            (Verdict::Fail, QuestionKind::Rubric { pass: 0, .. }) => return None,
            (Verdict::Fail, QuestionKind::Rubric { .. }) => "level=0:1".to_owned(),
            (Verdict::Unsure, QuestionKind::Rubric { pass, .. }) => format!("level={pass}:0"),
        };
        Some(format!("[[{}|{answer}]]", question.ask))
    })
}

/// A summary by which the check of this step comes to this verdict.
pub fn summary(step: &Step, found: Verdict) -> Value {
    json!(format!("Done as written. {}", verdict(step, found).unwrap_or_default()))
}

static PERSON: LazyLock<Value> = LazyLock::new(|| json!("pat@acme.example"));

/// Some value for each declared field.
pub fn values(fields: &Fields) -> Value {
    let mut values = Map::new();
    for (name, field) in fields.iter() {
        let value = match (&field.one_of, field.kind) {
            (Some(allowed), _) => allowed[0].clone(),
            (None, FieldType::String) => json!("some text"),
            (None, FieldType::Number) => json!(12.50),
            (None, FieldType::Boolean) => json!(true),
            (None, FieldType::Date) => json!("2026-02-28"),
            (None, FieldType::Datetime) => json!("2026-02-28T08:00:00+01:00"),
            (None, FieldType::List) => json!([]),
            (None, FieldType::Object) => json!({}),
            (None, FieldType::Person) => PERSON.clone(),
        };
        values.insert(name.to_owned(), value);
    }
    Value::Object(values)
}
