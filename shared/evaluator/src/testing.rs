//! What the tests share: an inquiry, and an endpoint on this machine that answers what it is told and keeps what it was
//! asked, and the log.

use std::future::Future;
use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Response, Uri};
use process::{Question, QuestionKind};
use run::{Inquiry, Reference, ShownKind, Submitted};
use serde_json::{Map, Value, json};

/// An inquiry about a small submission.
pub(crate) fn inquiry(questions: Vec<Question>) -> Inquiry {
    Inquiry {
        step: "screen".to_owned(),
        instructions: "Search.".to_owned(),
        body: "# A page".to_owned(),
        data: json!({ "inputs": { "company": "Nordlys" }, "steps": {} }),
        truncated: false,
        submission: Submitted {
            output: Map::from_iter([("risk".to_owned(), json!("low"))]),
            summary: Some("Searched three lists.".to_owned()),
            evidence: vec![Reference { kind: ShownKind::File, r#ref: "f_1".to_owned() }],
        },
        questions,
    }
}

pub(crate) fn yes_no(ask: &str) -> Question {
    Question { ask: ask.to_owned(), kind: QuestionKind::YesNo { pass: None, fail: None } }
}

pub(crate) fn choice(ask: &str) -> Question {
    let one_of = [("clear", "Nobody is listed"), ("unclear", "Cannot be told"), ("listed", "On a list")];
    let one_of = one_of.map(|(name, means)| (name.to_owned(), means.to_owned())).to_vec();
    let kind = QuestionKind::Choice { one_of, pass: vec!["clear".to_owned()], unsure: vec![], confidence: None };
    Question { ask: ask.to_owned(), kind }
}

pub(crate) fn rubric(ask: &str) -> Question {
    let levels = ["Nothing", "Some", "All"].map(str::to_owned).to_vec();
    Question { ask: ask.to_owned(), kind: QuestionKind::Rubric { levels, pass: 2, confidence: None } }
}

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Asked {
    /// The question that it asks, by its words, in any of the protocols.
    pub(crate) fn asks(&self, question: &str) -> bool {
        self.body.to_string().contains(&format!("Question, about SUBMISSION: \\\"{question}\\\""))
    }
}

/// An endpoint on this machine; it ends with the test.
pub(crate) struct Endpoint {
    pub(crate) base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Endpoint {
    /// Answers every request by this.
    pub(crate) async fn start<F, R>(answer: F) -> Endpoint
    where
        F: Fn(Asked) -> R + Clone + Send + Sync + 'static,
        R: Future<Output = Response<Body>> + Send,
    {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let handle = move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
            let asked = Asked { uri, headers, body };
            kept.lock().expect("not poisoned").push(asked.clone());
            let answer = answer.clone();
            async move { answer(asked).await }
        };
        let router = axum::Router::new().fallback(handle).layer(axum::extract::DefaultBodyLimit::max(8_388_608));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Endpoint { base, asked }
    }

    /// Answers every request with this status and body.
    pub(crate) async fn fixed(status: u16, body: impl Into<String>) -> Endpoint {
        let body = body.into();
        Endpoint::start(move |_| {
            let answer = reply(status, body.clone());
            async move { answer }
        })
        .await
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("not poisoned").clone()
    }
}

/// A JSON response.
pub(crate) fn reply(status: u16, body: impl Into<Body>) -> Response<Body> {
    let built = Response::builder().status(status).header("content-type", "application/json").body(body.into());
    built.expect("a response")
}

/// What is logged on this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("not poisoned").clone()).expect("text")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps everything that is logged on this thread, by anybody, until the guard is dropped.
pub(crate) fn log() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let lines = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || lines.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}
