//! The evaluator that the servers under test ask (profile check-1): an endpoint of this program on loopback that speaks
//! the chat-completions protocol, and answers what the scenario wants.
//!
//! What it is to answer stands in the submission's summary, so that nothing has to be arranged beforehand:
//!
//! | mark | answer |
//! | --- | --- |
//! | `[[p=0.93]]` | to a yes/no question: yes, with this probability |
//! | `[[name=dodges:0.7]]` | to a choice: this name, with this confidence |
//! | `[[level=1:0.6]]` | to a rubric: this level, with this confidence |
//! | `[[is it so\|p=0.4]]` | any of these to the question alone that has this text in it |
//! | `[[no-logprobs]]` | answers come without the probabilities of their tokens, as some services give none |
//!
//! A question without a mark has the answer that is best by the order of the file: yes, the first name, the last level.
//! A [`Script`] writes the marks, and adds one of its own by which the endpoint knows whose request it was: so a scenario
//! can hold an answer back, spoil it, and see afterwards how often it was asked and what was shown.
//!
//! The endpoint knows of a request what the protocol says. Of the prompt it knows that the question stands in it, and that
//! the submission is one JSON object in it; of the answer, that its form is in the request: one answer of those that are
//! listed, and one number.

mod reply;
mod script;

use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::{Org, RUNTIME, Server, fresh};
use reply::{answer, completion, failure, stranger};
use script::Known;
pub use script::{Asked, Script, Trouble};

/// The name of the model that the servers ask for.
pub const MODEL: &str = "scripted-1";

/// Where a server reads the key from; the endpoint takes the same one.
pub const KEY_VARIABLE: &str = "PROCESSION_EVALUATOR_KEY";

/// Where the endpoint listens, when a server that somebody else runs is to ask it.
const LISTEN_VARIABLE: &str = "PROCESSION_EVALUATOR_LISTEN";

/// The endpoint of this program.
pub struct Endpoint {
    /// The base address, such as `http://127.0.0.1:4567/v1`.
    pub url: String,
    /// The key that it takes.
    pub key: String,
}

static ENDPOINT: LazyLock<Endpoint> = LazyLock::new(|| {
    let listen = std::env::var(LISTEN_VARIABLE).unwrap_or_else(|_| "127.0.0.1:0".to_owned());
    let key = std::env::var(KEY_VARIABLE).unwrap_or_else(|_| format!("sk-{}", fresh()));
    let listener = std::net::TcpListener::bind(&listen).unwrap_or_else(|e| panic!("evaluator at {listen}: {e}"));
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router = Router::new().route("/v1/chat/completions", post(completions)).with_state(key.clone());
    RUNTIME.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, router).await.unwrap();
    });
    Endpoint { url, key }
});

/// Whether a verdict names the model of the endpoint. A server that somebody else runs may call it as it likes.
pub fn is_model(model: &Value) -> bool {
    model.as_str().is_some_and(|m| if super::is_remote() { !m.is_empty() } else { m == MODEL })
}

/// The endpoint that every server of the suite asks.
pub fn endpoint() -> &'static Endpoint {
    &ENDPOINT
}

/// Whether the server that any scenario runs on asks this endpoint. Of one that somebody else runs, two things tell it: the
/// suite was given the address where the server is to find the endpoint, and the server offers the profile.
pub fn is_asked() -> bool {
    if !super::is_remote() {
        return true;
    }
    let offers = || {
        let described = Org::new(&Server::shared(), "describe").agent.ok("describe", json!({}));
        described["profiles"].as_array().is_some_and(|offered| offered.contains(&json!("check-1")))
    };
    // It listens from then on, whether or not a scenario scripts anything.
    std::env::var_os(LISTEN_VARIABLE).is_some() && !endpoint().url.is_empty() && offers()
}

async fn completions(State(key): State<String>, headers: HeaderMap, body: Bytes) -> Response {
    let raw = String::from_utf8_lossy(&body).into_owned();
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return failure(StatusCode::BAD_REQUEST, "not JSON", &key, "");
    };
    let prompt = prompt(&request);
    let bearer = headers.get(header::AUTHORIZATION).and_then(|h| h.to_str().ok()).unwrap_or_default();
    if bearer != format!("Bearer {key}") {
        return failure(StatusCode::UNAUTHORIZED, "Incorrect API key provided", bearer, &prompt);
    }
    let Some((around, submission)) = split(&prompt) else {
        return failure(StatusCode::BAD_REQUEST, "there is no submission in the prompt", &key, &prompt);
    };
    let marks = marks(submission["summary"].as_str().unwrap_or_default());
    let asked = Asked { raw, prompt, around, submission };
    let trouble = match Known::of(&marks) {
        Some(known) => known.note(asked.clone()).await,
        None => None,
    };
    match trouble {
        Some(Trouble::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap();
            failure(status, "the service is not well", &key, &asked.prompt)
        }
        Some(Trouble::Garbage) => (StatusCode::OK, format!("<html>{}</html>", asked.prompt)).into_response(),
        Some(Trouble::Prose) => completion(json!({ "role": "assistant", "content": "It depends." }), Value::Null),
        Some(Trouble::Refusal) => {
            let message = json!({ "role": "assistant", "content": null, "refusal": "I cannot help with that." });
            completion(message, Value::Null)
        }
        Some(Trouble::Stranger) => stranger(&request),
        None => answer(&request, &asked, &marks),
    }
}

/// All text of the messages.
fn prompt(request: &Value) -> String {
    let mut texts = Vec::new();
    for message in request["messages"].as_array().into_iter().flatten() {
        match &message["content"] {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => texts.extend(parts.iter().filter_map(|p| p["text"].as_str().map(str::to_owned))),
            _ => {}
        }
    }
    texts.join("\n\n")
}

/// The prompt without the submission, and the submission.
fn split(prompt: &str) -> Option<(String, Value)> {
    let mut at = 0;
    while let Some(start) = prompt.get(at..)?.find('{').map(|n| at + n) {
        let mut values = serde_json::Deserializer::from_str(prompt.get(start..)?).into_iter::<Value>();
        at = start + 1;
        if let Some(Ok(value)) = values.next() {
            at = start + values.byte_offset();
            if value.get("output").is_some() && value.get("evidence").is_some() && value.get("by").is_none() {
                return Some((format!("{}{}", prompt.get(..start)?, prompt.get(at..)?), value));
            }
        }
    }
    None
}

/// What stands between double brackets.
fn marks(text: &str) -> Vec<String> {
    let mut marks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("[[") {
        let Some((mark, after)) = after.split_once("]]") else { break };
        marks.push(mark.to_owned());
        rest = after;
    }
    marks
}
