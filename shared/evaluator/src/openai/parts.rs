//! The parts of a request that an endpoint may refuse, and how it says so. Pure.
//!
//! There is no agreed form: the name of the part stands in `error.param`, in a sentence, or in a list of places, below
//! `error`, `message` or `detail`. So every text of the answer is searched for the names, except where a server repeats
//! what it was sent. A name that is found for another reason does no harm: see [`crate::learned`].

use std::fmt;

use http::StatusCode;
use serde_json::Value;

/// Most bytes of text that are searched.
const SEARCHED_BYTES: usize = 8_192;

/// The keys under which servers repeat the request.
const REPEATED: [&str; 3] = ["input", "body", "ctx"];

/// Parts that are left out of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Refused(pub(super) u8);

impl Refused {
    /// The limit of tokens.
    pub(super) const LIMIT: u8 = 1;
    /// The temperature.
    pub(super) const TEMPERATURE: u8 = 2;
    /// The probabilities of tokens.
    pub(super) const LOGPROBS: u8 = 4;
    /// A schema for the answer; JSON is asked for instead.
    pub(super) const SCHEMA: u8 = 8;
    /// Any form for the answer at all.
    pub(super) const FORMAT: u8 = 16;

    pub(super) fn has(self, part: u8) -> bool {
        self.0 & part != 0
    }

    /// These and those that an answer refuses; `None` when it refuses nothing that was sent.
    pub(super) fn and_named_in(self, status: StatusCode, body: &[u8]) -> Option<Refused> {
        // Some endpoints forbid what others call a bad request, or one that cannot be processed.
        if !matches!(status.as_u16(), 400 | 403 | 422) {
            return None;
        }
        let mut text = String::new();
        collect(&serde_json::from_slice(body).ok()?, &mut text);
        let text = text.to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let mut more = self.0;
        if names(&["max_completion_tokens", "max_tokens"]) {
            more |= Refused::LIMIT;
        }
        if names(&["temperature"]) {
            more |= Refused::TEMPERATURE;
        }
        if names(&["logprobs"]) {
            more |= Refused::LOGPROBS;
        }
        if names(&["response_format", "response format", "json_schema", "json schema", "json_object"]) {
            more |= if self.has(Refused::SCHEMA) { Refused::FORMAT } else { Refused::SCHEMA };
        }
        (more != self.0).then_some(Refused(more))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Refused::LIMIT, "max_completion_tokens"),
            (Refused::TEMPERATURE, "temperature"),
            (Refused::LOGPROBS, "logprobs"),
            (Refused::SCHEMA, "json_schema"),
            (Refused::FORMAT, "response_format"),
        ];
        let left: Vec<&str> = names.iter().filter(|(part, _)| self.has(*part)).map(|(_, name)| *name).collect();
        f.write_str(&left.join(", "))
    }
}

/// Every text below this value, up to the limit.
fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(part) if text.len() + part.len() <= SEARCHED_BYTES => {
            text.push_str(part);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(entries) => {
            let said = entries.iter().filter(|(key, _)| !REPEATED.contains(&key.as_str()));
            said.for_each(|(_, item)| collect(item, text));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_as_endpoints_word_them_are_understood() {
        const NONE: u8 = 0;
        for (status, before, body, after) in [
            // OpenAI, a reasoning model.
            (
                400,
                NONE,
                r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
                Some(Refused::TEMPERATURE),
            ),
            (
                403,
                Refused::TEMPERATURE,
                r#"{"error":{"message":"You are not allowed to request logprobs from this model","type":"invalid_request_error","param":null,"code":null}}"#,
                Some(Refused::TEMPERATURE | Refused::LOGPROBS),
            ),
            // OpenAI, a model from before schemas.
            (
                400,
                NONE,
                r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","type":"invalid_request_error","param":null,"code":null}}"#,
                Some(Refused::SCHEMA),
            ),
            // Mistral: everything at once, with what was sent repeated.
            (
                422,
                NONE,
                r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted","input":4096},{"type":"extra_forbidden","loc":["body","top_logprobs"],"msg":"Extra inputs are not permitted","input":"temperature"}]},"type":"invalid_request_error","param":null,"code":null}"#,
                Some(Refused::LIMIT | Refused::LOGPROBS),
            ),
            // Gemini's compatible endpoint wraps the error in a list.
            (
                400,
                NONE,
                r#"[{"error":{"code":400,"message":"Logprobs is not enabled for models/gemini-2.5-pro","status":"INVALID_ARGUMENT"}}]"#,
                Some(Refused::LOGPROBS),
            ),
            // LM Studio has a text for an error.
            (
                400,
                Refused::SCHEMA,
                r#"{"error":"'response_format.type' must be 'json_schema'"}"#,
                Some(Refused::SCHEMA | Refused::FORMAT),
            ),
            // Nothing that was sent is refused, or all of it already is.
            (400, Refused::TEMPERATURE, r#"{"error":{"message":"temperature"}}"#, None),
            (400, NONE, r#"{"error":{"message":"This model's maximum context length is 8192 tokens"}}"#, None),
            (401, NONE, r#"{"error":{"message":"temperature"}}"#, None),
            (500, NONE, r#"{"error":{"message":"logprobs"}}"#, None),
            (400, NONE, "temperature", None),
            // What is repeated of a request says nothing.
            (422, NONE, r#"{"detail":[{"loc":["body","messages"],"input":"about logprobs and temperature"}]}"#, None),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let found = Refused(before).and_named_in(status, body.as_bytes());
            assert_eq!(found, after.map(Refused), "{body}");
        }
    }

    #[test]
    fn a_long_answer_is_not_searched_to_its_end() {
        let body = format!(r#"{{"error":{{"message":"{}","param":"logprobs"}}}}"#, "x".repeat(SEARCHED_BYTES + 1));
        assert_eq!(Refused(0).and_named_in(StatusCode::BAD_REQUEST, body.as_bytes()), Some(Refused(Refused::LOGPROBS)));
        let many: Vec<String> = (0..2_000).map(|_| r#""xxxxxxx""#.to_owned()).collect();
        let body = format!(r#"{{"detail":[{},"logprobs"]}}"#, many.join(","));
        assert_eq!(Refused(0).and_named_in(StatusCode::BAD_REQUEST, body.as_bytes()), None);
    }
}
