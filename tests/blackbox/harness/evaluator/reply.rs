//! Answers of the endpoint, as the protocol writes them.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Asked, MODEL};
use crate::harness::fresh;

/// The marks that are about this question: those with a text that it has, then those without.
fn about<'a>(marks: &'a [String], around: &str) -> Vec<&'a str> {
    let (named, plain): (Vec<_>, Vec<_>) = marks.iter().partition(|m| m.contains('|'));
    // A question of several lines stands in the prompt as JSON.
    let escaped = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
    let has = |text: &str| around.contains(text) || around.contains(&escaped(text));
    let named = named.iter().filter_map(|m| m.split_once('|')).filter(|(text, _)| has(text));
    named.map(|(_, mark)| mark).chain(plain.iter().map(|m| m.as_str())).collect()
}

/// The scripted answer, in the form that the request gives.
pub fn answer(request: &Value, asked: &Asked, marks: &[String]) -> Response {
    let about = about(marks, &asked.around);
    let said = |key: &str| about.iter().find_map(|m| m.strip_prefix(key));
    let Some(form) = Form::of(request) else {
        return failure(StatusCode::BAD_REQUEST, "there is no form of the answer in the request", "", &asked.prompt);
    };
    let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("no number in a mark: {text}"));
    let with_confidence = |text: &str| {
        let (answer, confidence) = text.rsplit_once(':').unwrap_or_else(|| panic!("no confidence in a mark: {text}"));
        (answer.to_owned(), number(confidence))
    };
    let logprobs = request["logprobs"] == true && !about.contains(&"no-logprobs");
    if form.is_yes_no() {
        let p = said("p=").map_or(1.0, number);
        let yes = p >= 0.5;
        // What it says of itself is rough where the tokens tell it exactly.
        let told = if logprobs { if yes { 0.99 } else { 0.01 } } else { p };
        return form.completion(json!(if yes { "yes" } else { "no" }), told, logprobs.then_some(p));
    }
    let (answer, confidence) = match form.answers.first() {
        Some(Value::String(first)) => {
            let (name, confidence) = said("name=").map_or((first.clone(), 1.0), with_confidence);
            (json!(name), confidence)
        }
        _ => {
            let last = form.answers.last().unwrap().to_string();
            let (level, confidence) = said("level=").map_or((last, 1.0), with_confidence);
            (json!(level.parse::<u64>().unwrap()), confidence)
        }
    };
    form.completion(answer, confidence, logprobs.then_some(1.0))
}

/// The form of an answer, as the request's schema has it.
struct Form {
    answer: String,
    answers: Vec<Value>,
    number: String,
}

impl Form {
    fn of(request: &Value) -> Option<Form> {
        let properties = request["response_format"]["json_schema"]["schema"]["properties"].as_object()?;
        let (answer, listed) = properties.iter().find(|(_, p)| p["enum"].is_array())?;
        let (number, _) = properties.iter().find(|(_, p)| p["type"] == "number")?;
        Some(Form { answer: answer.clone(), answers: listed["enum"].as_array()?.clone(), number: number.clone() })
    }

    fn is_yes_no(&self) -> bool {
        self.answers == ["yes", "no"] && self.number.contains("yes")
    }

    /// The answer as a completion, with the probability of yes in its tokens, or of the answer that it is.
    fn completion(&self, answer: Value, number: f64, p: Option<f64>) -> Response {
        let Form { answer: name, number: second, .. } = self;
        let text = answer.as_str().map_or_else(|| answer.to_string(), |text| json!(text).to_string());
        let content = format!("{{\"{name}\":{text},\"{second}\":{number}}}");
        let logprobs = p.map(|p| {
            let bare = text.trim_matches('"').to_owned();
            let start = content.find(&format!(":{text}")).unwrap() + 1 + usize::from(text.starts_with('"'));
            let (before, after) = (content.get(..start).unwrap(), content.get(start + bare.len()..).unwrap());
            let top = if self.is_yes_no() {
                let mut top = vec![token("yes", p), token("no", 1.0 - p)];
                top.rotate_left(usize::from(bare == "no"));
                top
            } else {
                vec![token(&bare, p)]
            };
            let mut tokens = vec![json!({ "token": before, "logprob": 0.0, "bytes": null, "top_logprobs": [] })];
            let mut said = top[0].clone();
            said["top_logprobs"] = json!(top);
            tokens.push(said);
            tokens.push(json!({ "token": after, "logprob": 0.0, "bytes": null, "top_logprobs": [] }));
            json!({ "content": tokens, "refusal": null })
        });
        completion(json!({ "role": "assistant", "content": content, "refusal": null }), json!(logprobs))
    }
}

/// A token with its probability, as the protocol writes it: as a logarithm, and never minus infinity.
fn token(text: &str, p: f64) -> Value {
    json!({ "token": text, "logprob": p.ln().max(-9_999.0), "bytes": text.as_bytes() })
}

/// An answer in the form that was asked for, which is none of those listed.
pub fn stranger(request: &Value) -> Response {
    let Some(form) = Form::of(request) else { return completion(json!({ "content": "{}" }), Value::Null) };
    let answer = if form.answers.first().is_some_and(Value::is_string) { json!("stranger") } else { json!(99) };
    form.completion(answer, 1.0, None)
}

/// A whole answer of the service.
pub fn completion(message: Value, logprobs: Value) -> Response {
    let body = json!({
        "id": format!("chatcmpl-{}", fresh()), "object": "chat.completion", "created": 1_790_000_000, "model": MODEL,
        "choices": [{ "index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    });
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// A refusal of the service, which says more than it should.
pub fn failure(status: StatusCode, why: &str, key: &str, prompt: &str) -> Response {
    let body = json!({ "error": { "message": format!("{why}: {key}. {prompt}"), "type": "error", "code": null } });
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
