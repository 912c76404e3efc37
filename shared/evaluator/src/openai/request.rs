//! The body of a request. Pure.

use process::QuestionKind;
use serde_json::{Map, Value, json};

use super::parts::Refused;
use crate::prompt::Prompt;
use crate::schema;

/// Most tokens of an answer, those of thinking before it included: more than come in the time there is.
const ANSWER_TOKENS: u32 = 4_096;

/// How many alternatives are asked for at each token. The least of what known endpoints give at most.
const ALTERNATIVES: u32 = 5;

/// What is the same in every request.
pub(super) struct Form {
    pub(super) model: String,
    /// Laid over the request; null leaves a field out.
    pub(super) fields: Map<String, Value>,
}

impl Form {
    /// The request for one answer, without the parts that the endpoint refuses.
    pub(super) fn request(&self, prompt: &Prompt, kind: &QuestionKind, refused: Refused) -> Value {
        let mut body = Map::new();
        body.insert("model".to_owned(), self.model.as_str().into());
        let messages =
            json!([{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.user }]);
        body.insert("messages".to_owned(), messages);
        if !refused.has(Refused::FORMAT) {
            body.insert("response_format".to_owned(), response_format(kind, refused));
        }
        if !refused.has(Refused::TEMPERATURE) {
            body.insert("temperature".to_owned(), 0.into());
        }
        if !refused.has(Refused::LIMIT) {
            body.insert("max_completion_tokens".to_owned(), ANSWER_TOKENS.into());
        }
        if matches!(kind, QuestionKind::YesNo { .. }) && !refused.has(Refused::LOGPROBS) {
            body.insert("logprobs".to_owned(), true.into());
            body.insert("top_logprobs".to_owned(), ALTERNATIVES.into());
        }
        for (name, value) in &self.fields {
            match value {
                Value::Null => drop(body.shift_remove(name)),
                value => drop(body.insert(name.clone(), value.clone())),
            }
        }
        Value::Object(body)
    }
}

fn response_format(kind: &QuestionKind, refused: Refused) -> Value {
    if refused.has(Refused::SCHEMA) {
        return json!({ "type": "json_object" });
    }
    json!({
        "type": "json_schema",
        "json_schema": { "name": schema::ANSWER, "strict": true, "schema": schema::of(kind) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{rubric, yes_no};

    fn request(kind: &QuestionKind, fields: Value, refused: Refused) -> Value {
        let form = Form { model: "m".to_owned(), fields: fields.as_object().expect("an object").clone() };
        form.request(&Prompt { system: "S".to_owned(), user: "U".to_owned() }, kind, refused)
    }

    #[test]
    fn a_yes_no_question_asks_for_everything() {
        let kind = yes_no("?").kind;
        let body = request(&kind, json!({}), Refused::default());
        assert_eq!(
            body,
            json!({
                "model": "m",
                "messages": [{ "role": "system", "content": "S" }, { "role": "user", "content": "U" }],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": { "name": "answer", "strict": true, "schema": schema::of(&kind) }
                },
                "temperature": 0,
                "max_completion_tokens": 4096,
                "logprobs": true,
                "top_logprobs": 5
            })
        );
    }

    #[test]
    fn what_is_refused_is_left_out() {
        let keys = |body: &Value| body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        let all = Refused(u8::MAX);
        assert_eq!(keys(&request(&yes_no("?").kind, json!({}), all)), ["model", "messages"]);
        let body = request(&yes_no("?").kind, json!({}), Refused(Refused::SCHEMA | Refused::LOGPROBS));
        assert_eq!(body["response_format"], json!({ "type": "json_object" }));
        assert_eq!(keys(&body), ["model", "messages", "response_format", "temperature", "max_completion_tokens"]);
        assert!(!keys(&request(&rubric("?").kind, json!({}), Refused::default())).contains(&"logprobs".to_owned()));
    }

    #[test]
    fn an_operators_fields_rule() {
        let fields = json!({ "temperature": null, "max_completion_tokens": 9, "reasoning_effort": "low" });
        let body = request(&rubric("?").kind, fields, Refused::default());
        assert_eq!(body.get("temperature"), None);
        assert_eq!((&body["max_completion_tokens"], &body["reasoning_effort"]), (&json!(9), &json!("low")));
    }
}
