//! Reading what an endpoint answered. Pure.
//!
//! Invariant: an error names a status, a code of the endpoint, or what is missing; never a text of the endpoint or of the
//! model, which may repeat a key or what was submitted.

use http::StatusCode;
use process::QuestionKind;
use run::Answer;
use serde::Deserialize;
use serde_json::Value;

use super::tokens;
use crate::schema;

/// Most characters of an endpoint's error code in a reason.
const CODE_CHARACTERS: usize = 48;

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    /// Gateways answer 200 with an error when the model behind them fails.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    logprobs: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

/// The answer in a completion.
pub(super) fn read(kind: &QuestionKind, body: &[u8]) -> Result<Answer, String> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| "answered with something else than a completion".to_owned())?;
    if let Some(error) = &completion.error {
        return Err(format!("answered with an error{}", codes(error)));
    }
    let [Choice { message, finish_reason, logprobs, error }] = completion.choices.as_slice() else {
        return Err(format!("answered with {} choices where one was asked for", completion.choices.len()));
    };
    if let Some(error) = error {
        return Err(format!("answered with an error{}", codes(error)));
    }
    if message.refusal.as_deref().is_some_and(|text| !text.is_empty()) {
        return Err("the model refuses to answer".to_owned());
    }
    match finish_reason.as_deref() {
        Some("length") => return Err("the answer was cut off at the limit of tokens".to_owned()),
        Some("content_filter") => return Err("a content filter kept the answer back".to_owned()),
        Some("tool_calls" | "function_call") => return Err("the model called a tool that it does not have".to_owned()),
        Some("error") => return Err("the model failed while it answered".to_owned()),
        // Otherwise it ended by itself, whatever an endpoint calls that.
        _ => {}
    }
    let text = unfenced(message.content.as_deref().unwrap_or_default());
    if text.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let QuestionKind::YesNo { .. } = kind else { return schema::answer(kind, text) };
    let given = schema::yes_no(text)?;
    match logprobs.as_ref().and_then(|logprobs| tokens::yes(logprobs, text)) {
        Some(probability) => Ok(Answer::Yes(probability)),
        None => given.by_number(),
    }
}

/// Why there is no completion.
pub(super) fn failure(status: StatusCode, body: &[u8]) -> String {
    let codes = serde_json::from_slice(body).map(|body| codes(&body)).unwrap_or_default();
    let hint = match status.as_u16() {
        300..=399 => ", a redirect, which is not followed: give the URL that it leads to",
        401 => ": the key is missing or not accepted",
        404 | 405 => ": is the URL the base of the API, such as https://api.openai.com/v1, and the model there?",
        429 => ": too many requests, or no credit",
        _ => "",
    };
    format!("answered {}{codes}{hint}", status.as_u16())
}

/// The answer without the fence that models without a schema like to put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}

/// What an error says in code, such as ` (insufficient_quota)`. Anything that is not one plain word is left out.
fn codes(error: &Value) -> String {
    let error = error.get(0).unwrap_or(error);
    let error = error.get("error").unwrap_or(error);
    let mut found: Vec<String> = Vec::new();
    for key in ["type", "status", "code", "param"] {
        let code = match error.get(key) {
            Some(Value::String(code)) => code.clone(),
            Some(Value::Number(code)) => code.to_string(),
            _ => continue,
        };
        let plain = code.chars().all(|c| c.is_ascii_alphabetic() || c == '_' || c == '.')
            || code.chars().all(|c| c.is_ascii_digit());
        if plain && !code.is_empty() && code.len() <= CODE_CHARACTERS && !found.contains(&code) {
            found.push(code);
        }
    }
    if found.is_empty() { String::new() } else { format!(" ({})", found.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{choice, inquiry, rubric, yes_no};
    use proptest::prelude::*;
    use serde_json::json;

    fn completion(choice: Value) -> Vec<u8> {
        json!({ "id": "chatcmpl-1", "object": "chat.completion", "choices": [choice] }).to_string().into_bytes()
    }

    fn said(content: &str) -> Vec<u8> {
        completion(
            json!({ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }),
        )
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        let yes = r#"{"answer":"yes","probability_of_yes":0.9}"#;
        let with = |reason: &str| completion(json!({ "finish_reason": reason, "message": { "content": yes } }));
        for (body, why) in [
            (b"<html>".to_vec(), "something else than a completion"),
            (b"{}".to_vec(), "0 choices"),
            (b"[]".to_vec(), "0 choices"),
            (json!({ "choices": [] }).to_string().into_bytes(), "0 choices"),
            (json!({ "choices": null }).to_string().into_bytes(), "something else"),
            (json!({ "error": { "code": 502, "message": "secret" } }).to_string().into_bytes(), "an error (502)"),
            (completion(json!({ "message": {}, "error": { "code": "bad_gateway" } })), "an error (bad_gateway)"),
            (completion(json!({ "message": { "content": null, "refusal": "secret" } })), "refuses to answer"),
            (completion(json!({ "message": { "content": [{ "type": "text", "text": yes }] } })), "something else"),
            (with("length"), "cut off"),
            (with("content_filter"), "content filter"),
            (with("tool_calls"), "called a tool"),
            (with("error"), "failed"),
            (said(""), "empty"),
            (said("``````"), "empty"),
            (said("<think>secret</think>{}"), "not the JSON object"),
            (said(&format!("The answer is:\n```json\n{yes}\n```")), "not the JSON object"),
        ] {
            let reason = read(&yes_no("?").kind, &body).expect_err(why);
            assert!(reason.contains(why) && !reason.contains("secret"), "{why}: {reason}");
        }
        for body in [said(yes), said(&format!("\n```json\n{yes}\n```\n")), with("eos"), with("stop")] {
            assert_eq!(read(&yes_no("?").kind, &body), Ok(Answer::Yes(0.9)));
        }
    }

    #[test]
    fn a_failure_names_codes_and_no_texts() {
        for (status, body, reason) in [
            (
                401,
                r#"{"error":{"message":"Incorrect API key provided: sk-abc.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                "answered 401 (invalid_request_error, invalid_api_key): the key is missing or not accepted",
            ),
            (
                429,
                r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#,
                "answered 429 (insufficient_quota): too many requests, or no credit",
            ),
            (400, r#"[{"error":{"code":400,"status":"INVALID_ARGUMENT"}}]"#, "answered 400 (INVALID_ARGUMENT, 400)"),
            (
                400,
                r#"{"object":"error","type":"BadRequestError","param":"sk-abc 123","code":"sk-abc-123"}"#,
                "answered 400 (BadRequestError)",
            ),
            (500, "Internal Server Error", "answered 500"),
            (502, "", "answered 502"),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(failure(status, body.as_bytes()), reason);
        }
    }

    /// Anything that JSON can be, with the words of the protocol among it.
    fn any_json() -> impl Strategy<Value = Value> {
        let words = [
            "answer",
            "yes",
            "no",
            "choices",
            "message",
            "content",
            "logprobs",
            "top_logprobs",
            "token",
            "bytes",
            "confidence",
            "probability_of_yes",
            "finish_reason",
            "refusal",
            "error",
            "stop",
            "clear",
            r#"{"answer":"yes","probability_of_yes":1}"#,
        ];
        let word = prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_owned), ".{0,12}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            (-2.0..2.0).prop_map(|number: f64| Value::from(number)),
            word.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 48, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((word.clone(), inner), 0..5)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_answer_whatever_panics_or_leaves_the_domain(
            whole in any_json(), message in any_json(), logprobs in any_json(), content in any_json(),
            bytes in proptest::collection::vec(any::<u8>(), 0..64), status in 100_u16..600,
        ) {
            let asked = inquiry(vec![yes_no("?"), choice("?"), rubric("?")]);
            let texts = [
                whole.to_string(),
                json!({ "choices": [whole] }).to_string(),
                json!({ "choices": [{ "message": message, "logprobs": logprobs }] }).to_string(),
                json!({ "choices": [{ "message": { "content": content.to_string() }, "logprobs": logprobs }] }).to_string(),
                json!({ "choices": [{
                    "message": { "content": json!({ "answer": content, "confidence": logprobs }).to_string() }
                }] }).to_string(),
                json!({ "choices": [{
                    "message": { "content": r#"{"answer":"no","probability_of_yes":0.2}"# },
                    "logprobs": { "content": [
                        { "token": r#"{"answer":""#, "logprob": 0 },
                        { "token": "no", "logprob": message, "top_logprobs": content },
                        { "token": r#"","probability_of_yes":0.2}"#, "logprob": 0 },
                    ] }
                }] }).to_string(),
            ];
            for body in texts.iter().map(String::as_bytes).chain([bytes.as_slice()]) {
                for question in &asked.questions {
                    if let Ok(answer) = read(&question.kind, body) {
                        let one = inquiry(vec![question.clone()]);
                        prop_assert_eq!(one.fits(&[answer]), Ok(()));
                    }
                }
                let status = StatusCode::from_u16(status).expect("a status");
                prop_assert!(failure(status, body).len() < 400);
                let _ = super::super::parts::Refused::default().and_named_in(status, body);
            }
        }

        #[test]
        fn any_probabilities_of_tokens_are_a_probability(
            tops in proptest::collection::vec(
                (proptest::sample::select(vec!["yes", "no", " Yes", "N", "\"no\"", "maybe"]), -12.0..1.0_f64), 0..8),
            sampled in -12.0..1.0_f64,
        ) {
            let tops: Vec<Value> = tops.iter().map(|(token, p)| json!({ "token": token, "logprob": p })).collect();
            let body = completion(json!({
                "message": { "content": r#"{"answer":"no","probability_of_yes":0.2}"# },
                "logprobs": { "content": [
                    { "token": r#"{"answer":""#, "logprob": 0 },
                    { "token": "no", "logprob": sampled, "top_logprobs": tops },
                    { "token": r#"","probability_of_yes":0.2}"#, "logprob": 0 },
                ] }
            }));
            let answer = read(&yes_no("?").kind, &body);
            prop_assert!(matches!(answer, Ok(Answer::Yes(p)) if (0.0..=1.0).contains(&p)), "{answer:?}");
        }
    }
}
