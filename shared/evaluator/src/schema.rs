//! The form of an answer, and reading one. Pure.
//!
//! Invariant: what is read fits the form exactly, with no field more and none twice, and lies in the question's domain;
//! anything else is refused without repeating it. Bounds of numbers do not stand in the schema, because some endpoints
//! refuse a schema that has them; they are checked here.

use process::QuestionKind;
use run::Answer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The field that every answer has first.
pub(crate) const ANSWER: &str = "answer";

/// The JSON Schema of an answer to a question of this kind.
pub(crate) fn of(kind: &QuestionKind) -> Value {
    match kind {
        QuestionKind::YesNo { .. } => {
            let yes = json!({ "type": "number", "description": "From 0 to 1." });
            object(json!({ "type": "string", "enum": ["yes", "no"] }), "probability_of_yes", yes)
        }
        QuestionKind::Choice { one_of, .. } => {
            let names: Vec<&str> = one_of.iter().map(|(name, _)| name.as_str()).collect();
            object(json!({ "type": "string", "enum": names }), "confidence", confidence())
        }
        QuestionKind::Rubric { levels, .. } => {
            let levels: Vec<usize> = (0..levels.len()).collect();
            object(json!({ "type": "integer", "enum": levels }), "confidence", confidence())
        }
    }
}

fn confidence() -> Value {
    json!({ "type": "number", "description": "From 0 to 1." })
}

fn object(answer: Value, number: &str, of: Value) -> Value {
    json!({
        "type": "object",
        "properties": { ANSWER: answer, number: of },
        "required": [ANSWER, number],
        "additionalProperties": false
    })
}

/// An answer to a yes/no question, as a model words it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct YesNo {
    yes: bool,
    probability: f64,
}

impl YesNo {
    /// What the model itself gives as the probability.
    pub(crate) fn by_number(self) -> Result<Answer, String> {
        let YesNo { yes, probability } = self;
        // A model that means how sure it is of its no would otherwise pass for one that means yes.
        if (yes && probability < 0.5) || (!yes && probability > 0.5) {
            return Err("the answer and its probability contradict each other".to_owned());
        }
        Ok(Answer::Yes(probability))
    }
}

/// Reads the answer to a yes/no question.
pub(crate) fn yes_no(text: &str) -> Result<YesNo, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        answer: String,
        probability_of_yes: f64,
    }
    let Form { answer, probability_of_yes } = form(text)?;
    let yes = match answer.to_ascii_lowercase().as_str() {
        "yes" => true,
        "no" => false,
        _ => return Err("the answer is neither yes nor no".to_owned()),
    };
    Ok(YesNo { yes, probability: share(probability_of_yes)? })
}

/// Reads the answer to a question of this kind.
pub(crate) fn answer(kind: &QuestionKind, text: &str) -> Result<Answer, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form<T> {
        answer: T,
        confidence: f64,
    }
    match kind {
        QuestionKind::YesNo { .. } => yes_no(text)?.by_number(),
        QuestionKind::Choice { one_of, .. } => {
            let Form { answer: name, confidence } = form::<Form<String>>(text)?;
            if !one_of.iter().any(|(known, _)| *known == name) {
                return Err("the answer is none of the names".to_owned());
            }
            Ok(Answer::Name { name, confidence: share(confidence)? })
        }
        QuestionKind::Rubric { levels, .. } => {
            let Form { answer: level, confidence } = form::<Form<usize>>(text)?;
            if level >= levels.len() {
                return Err("the answer is none of the levels".to_owned());
            }
            Ok(Answer::Level { level, confidence: share(confidence)? })
        }
    }
}

fn share(number: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("a probability is not from 0 to 1".to_owned()) }
}

/// Reads an object and nothing around it. What it holds is not repeated.
fn form<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    // A list of the values would do for serde as well.
    let object = text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    object.ok_or_else(|| "the answer is not the JSON object that was asked for".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{choice, rubric, yes_no};

    #[test]
    fn schemas_are_strict_and_put_the_answer_first() {
        assert_eq!(
            of(&rubric("?").kind).to_string(),
            r#"{"type":"object","properties":{"answer":{"type":"integer","enum":[0,1,2]},"confidence":{"type":"number","description":"From 0 to 1."}},"required":["answer","confidence"],"additionalProperties":false}"#
        );
        assert_eq!(of(&choice("?").kind)["properties"]["answer"]["enum"], json!(["clear", "unclear", "listed"]));
        assert_eq!(of(&yes_no("?").kind)["required"], json!(["answer", "probability_of_yes"]));
    }

    #[test]
    fn answers_of_each_kind_are_read() {
        let yes = yes_no("?").kind;
        assert_eq!(answer(&yes, r#"{"answer":"yes","probability_of_yes":0.75}"#), Ok(Answer::Yes(0.75)));
        assert_eq!(answer(&yes, r#"{"probability_of_yes":0,"answer":"No"}"#), Ok(Answer::Yes(0.0)));
        assert_eq!(answer(&yes, r#"{"answer":"no","probability_of_yes":5e-1}"#), Ok(Answer::Yes(0.5)));
        assert_eq!(
            answer(&choice("?").kind, r#"{"answer":"unclear","confidence":1}"#),
            Ok(Answer::Name { name: "unclear".to_owned(), confidence: 1.0 })
        );
        assert_eq!(
            answer(&rubric("?").kind, r#"{"answer":2,"confidence":0.4}"#),
            Ok(Answer::Level { level: 2, confidence: 0.4 })
        );
    }

    #[test]
    fn anything_else_is_refused_without_repeating_it() {
        let (unfit, yes, choice, rubric) =
            ("not the JSON object", yes_no("?").kind, choice("?").kind, rubric("?").kind);
        for (kind, text, why) in [
            (&yes, r#"{"answer":"maybe","probability_of_yes":0.5}"#, "neither yes nor no"),
            (&yes, r#"{"answer":"yes","probability_of_yes":1.01}"#, "not from 0 to 1"),
            (&yes, r#"{"answer":"no","probability_of_yes":-0.1}"#, "not from 0 to 1"),
            (&yes, r#"{"answer":"no","probability_of_yes":0.97}"#, "contradict"),
            (&yes, r#"{"answer":"yes","probability_of_yes":0.3}"#, "contradict"),
            (&yes, r#"{"answer":"yes","probability_of_yes":1e999}"#, unfit),
            (&yes, r#"{"answer":"yes","probability_of_yes":"0.9"}"#, unfit),
            (&yes, r#"{"answer":"yes","probability_of_yes":null}"#, unfit),
            (&yes, r#"{"answer":true,"probability_of_yes":1}"#, unfit),
            (&yes, r#"{"answer":"yes"}"#, unfit),
            (&yes, r#"{"answer":"no","answer":"yes","probability_of_yes":1}"#, unfit),
            (&yes, r#"{"answer":"yes","probability_of_yes":1,"because":"secret"}"#, unfit),
            (&choice, r#"{"answer":"Clear","confidence":1}"#, "none of the names"),
            (&choice, r#"{"answer":"clear","confidence":2}"#, "not from 0 to 1"),
            (&choice, r#"{"answer":0,"confidence":1}"#, unfit),
            (&rubric, r#"{"answer":3,"confidence":1}"#, "none of the levels"),
            (&rubric, r#"{"answer":-1,"confidence":1}"#, unfit),
            (&rubric, r#"{"answer":1.5,"confidence":1}"#, unfit),
            (&rubric, r#"{"answer":"1","confidence":1}"#, unfit),
            (&rubric, "[1,1]", unfit),
            (&rubric, r#"Sure! {"answer":1,"confidence":1}"#, unfit),
            (&rubric, r#"{"answer":1,"confidence":1} I hope this helps."#, unfit),
            (&rubric, r#"{"answer":1,"confid"#, unfit),
            (&rubric, "", unfit),
        ] {
            let said = answer(kind, text).expect_err(text);
            assert!(said.contains(why) && !said.contains("secret"), "{text}: {said}");
        }
    }
}
