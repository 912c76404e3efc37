//! The JSON-RPC envelope, read once.
//!
//! The arguments of a tool call are taken out here and reach the tool by a way of their own. So they keep the exact text
//! of their numbers, a large upload is not copied through the protocol layer, and nothing that layer may log can hold
//! them.

use crate::error::{INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR};
use axum::http::StatusCode;
use bytes::Bytes;
use process::limits::RESERVED_KEY;
use serde_json::{Map, Value};

/// A method that calls a tool.
const CALL: &str = "tools/call";

/// One well-formed message.
#[derive(Debug)]
pub(crate) struct Message {
    /// Null for a notification.
    pub(crate) id: Value,
    pub(crate) method: String,
    /// Of a tool call: its arguments.
    pub(crate) arguments: Option<Map<String, Value>>,
    /// Whether the request names its protocol version in its own `_meta`.
    pub(crate) names_version: bool,
    /// The message without the arguments, as JSON.
    pub(crate) rest: Bytes,
}

/// A body that is not one well-formed message; always 400.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) id: Value,
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Malformed {
    pub(crate) const STATUS: StatusCode = StatusCode::BAD_REQUEST;
}

/// Reads a request's body.
pub(crate) fn read(body: &[u8]) -> Result<Message, Malformed> {
    let refuse = |id: &Value, code, message: &str| Err(Malformed { id: id.clone(), code, message: message.to_owned() });
    if has_reserved_key(body) {
        let message = format!("no key of an object can begin with `{RESERVED_KEY}`; choose another name");
        return refuse(&Value::Null, INVALID_REQUEST, &message);
    }
    let mut object = match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => object,
        Ok(Value::Array(_)) => {
            return refuse(&Value::Null, INVALID_REQUEST, "batches are not supported; send each message on its own");
        }
        Ok(_) => return refuse(&Value::Null, INVALID_REQUEST, "the body is not a JSON-RPC message: not an object"),
        Err(error) => return refuse(&Value::Null, PARSE_ERROR, &format!("the body is not JSON: {error}")),
    };
    let id = match object.get("id") {
        None => Value::Null,
        Some(id) if id.is_string() || id.as_i64().is_some() => id.clone(),
        Some(_) => return refuse(&Value::Null, INVALID_REQUEST, "`id` is neither a string nor a 64-bit integer"),
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(&id, INVALID_REQUEST, "`jsonrpc` is not \"2.0\"");
    }
    let method = match object.get("method") {
        Some(Value::String(method)) => method.clone(),
        None if object.contains_key("result") || object.contains_key("error") => {
            return refuse(&id, INVALID_REQUEST, "this server sends no requests, so it takes no responses");
        }
        _ => return refuse(&id, INVALID_REQUEST, "`method` is missing or not a string"),
    };
    match object.get("params") {
        None | Some(Value::Object(_)) => {}
        Some(_) => return refuse(&id, INVALID_PARAMS, "`params` is not an object"),
    }
    let mut params = object.get_mut("params").and_then(Value::as_object_mut);
    let arguments = match params.as_mut().and_then(|params| take_arguments(&method, params)) {
        None => None,
        Some(Value::Object(arguments)) => Some(arguments),
        Some(Value::Null) => Some(Map::new()),
        Some(_) => return refuse(&id, INVALID_PARAMS, "`params.arguments` is not an object"),
    };
    let version = params.and_then(|params| params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion"));
    let names_version = version.is_some_and(Value::is_string);
    let rest = Bytes::from(Value::Object(object).to_string());
    Ok(Message { id, method, arguments, names_version, rest })
}

/// Whether some object has a key that the JSON library keeps for itself. Once parsed it could not be told any more: the
/// object would have become a number, or the text of another value.
fn has_reserved_key(body: &[u8]) -> bool {
    let holds = |part: &[u8]| body.windows(part.len()).any(|window| window == part);
    // Nearly no body holds either, and a large upload is looked through without being taken apart.
    if !holds(RESERVED_KEY.as_bytes()) && !holds(b"\\u") {
        return false;
    }
    let mut rest = body;
    while let Some(start) = rest.iter().position(|b| *b == b'"') {
        let text = rest.get(start..).unwrap_or_default();
        let Some(length) = string_length(text) else { return false };
        let (string, after) = text.split_at_checked(length).unwrap_or((text, &[]));
        let is_key = after.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        if is_key && serde_json::from_slice::<String>(string).is_ok_and(|key| key.starts_with(RESERVED_KEY)) {
            return true;
        }
        rest = after;
    }
    false
}

/// The length of the JSON string that the text begins with, quotes included; `None` when it does not end.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (place, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(place + 1),
            _ => {}
        }
    }
    None
}

/// The arguments of a tool call; nothing for other methods.
fn take_arguments(method: &str, params: &mut Map<String, Value>) -> Option<Value> {
    (method == CALL).then(|| params.remove("arguments").unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn arguments_leave_the_message_and_keep_their_text() {
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.10,"big":1E400}}}"#;
        let message = read(body.as_bytes()).expect("well-formed");
        assert_eq!(Value::Object(message.arguments.expect("arguments")).to_string(), r#"{"n":1.10,"big":1e+400}"#);
        let rest = std::str::from_utf8(&message.rest).expect("text");
        assert_eq!(rest, r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#);
        assert!(!message.names_version);
    }

    #[test]
    fn keys_that_the_json_library_keeps_for_itself_are_refused_however_they_are_spelled() {
        let body = |arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"e","arguments":{arguments}}}}}"#
            )
        };
        for bad in [
            r#"{"a":{"$serde_json::private::Number":"5"}}"#,
            r#"{"a":[{"b":1,"$serde_json::private::RawValue" : "{}"}]}"#,
            r#"{"\u0024serde_json::private::Number":"5"}"#,
            r#"{"q":"\"","$serde_json\u003a:private::Number":"x"}"#,
        ] {
            let refused = read(body(bad).as_bytes()).expect_err(bad);
            assert!(refused.message.contains("choose another name"), "{bad}: {}", refused.message);
        }
        for good in [
            r#"{"a":"$serde_json::private::Number"}"#,
            r#"{"a":"\u0024serde_json::private::Number: x","b":1.10}"#,
            r#"{"a":"\"$serde_json::private::Number\":"}"#,
            r#"{"my $serde_json::private::Number":1}"#,
        ] {
            assert!(read(body(good).as_bytes()).is_ok(), "{good}");
        }
    }

    #[test]
    fn every_other_body_is_told_what_is_wrong() {
        for (body, code, words) in [
            ("", PARSE_ERROR, "not JSON"),
            ("{", PARSE_ERROR, "not JSON"),
            ("\u{feff}{}", PARSE_ERROR, "not JSON"),
            ("{} {}", PARSE_ERROR, "not JSON"),
            ("[]", INVALID_REQUEST, "batches"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST, "batches"),
            ("7", INVALID_REQUEST, "not an object"),
            ("{}", INVALID_REQUEST, "`jsonrpc`"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST, "`jsonrpc`"),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST, "`method`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST, "`method`"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, INVALID_REQUEST, "no responses"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST, "`id`"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST, "`id`"),
            (r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, INVALID_REQUEST, "`id`"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, INVALID_PARAMS, "`params`"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":[]}}"#,
                INVALID_PARAMS,
                "arguments",
            ),
        ] {
            let error = read(body.as_bytes()).expect_err(body);
            assert_eq!(error.code, code, "{body}: {}", error.message);
            assert!(error.message.contains(words), "{body}: {}", error.message);
        }
        assert_eq!(read(b"\xff").expect_err("not text").code, PARSE_ERROR);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(deep.as_bytes()).expect_err("too deep").code, PARSE_ERROR);
    }

    #[test]
    fn a_known_id_is_told_back() {
        let error = read(br#"{"jsonrpc":"2.0","id":"a"}"#).expect_err("no method");
        assert_eq!(error.id, Value::from("a"));
    }

    /// JSON text without blanks, numbers spelled as the JSON library spells them: what it must come out as again.
    fn json_text() -> impl Strategy<Value = String> {
        let quoted = |text: String| Value::from(text).to_string();
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|truth| truth.to_string()),
            r"-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,40})?(e[+-][0-9]{1,5})?",
            any::<String>().prop_map(quoted),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",")));
            prop_oneof![list, object_of(inner)]
        })
    }

    fn object_of(member: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
        prop::collection::btree_map(any::<String>(), member, 0..4).prop_map(|members: BTreeMap<String, String>| {
            let members: Vec<String> =
                members.into_iter().map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
            format!("{{{}}}", members.join(","))
        })
    }

    fn call_of(arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        )
    }

    /// Whatever is accepted says the same as its body does.
    fn is_faithful(body: &[u8]) {
        let Ok(message) = read(body) else { return };
        let mut whole: Value = serde_json::from_slice(body).expect("what is accepted is JSON");
        let sent = whole.get_mut("params").and_then(|params| take_arguments(&message.method, params.as_object_mut()?));
        let sent = if sent == Some(Value::Null) { Some(Value::Object(Map::new())) } else { sent };
        let text = |value: Value| value.to_string();
        assert_eq!(message.arguments.map(Value::Object).map(text), sent.map(text));
        assert_eq!(message.rest, whole.to_string());
        assert_eq!(whole["method"], message.method.as_str());
        assert_eq!(whole.get("id").cloned().unwrap_or_default(), message.id);
    }

    // `PROPTEST_CASES` set to a large number searches for hours instead of a moment.
    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..400)) {
            is_faithful(&body);
        }

        #[test]
        fn arguments_come_out_as_they_were_sent(arguments in object_of(json_text())) {
            let message = read(call_of(&arguments).as_bytes()).expect("well-formed");
            prop_assert_eq!(Value::Object(message.arguments.expect("arguments")).to_string(), arguments);
        }

        #[test]
        fn a_damaged_message_is_read_or_refused(
            arguments in object_of(json_text()),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3, any::<u8>()), 1..6),
        ) {
            let mut body = call_of(&arguments).into_bytes();
            for (place, edit, byte) in edits {
                let place = place.index(body.len());
                match edit {
                    0 => body[place] = byte,
                    1 => body.insert(place, byte),
                    _ => drop(body.remove(place)),
                }
                is_faithful(&body);
            }
        }
    }
}
