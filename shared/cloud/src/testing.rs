//! What the tests of this crate share: a service of AWS on loopback that answers what it is told to, and records what it
//! was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use aws_config::retry::RetryConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use run::{Assigned, Note, Time};
use serde_json::{Value, json};
use store::lists::{Notice, Notices};

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) target: String,
    pub(crate) body: Value,
}

type Answer = (u16, Value);

type Reply = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

/// A service on loopback.
#[derive(Clone, Default)]
pub(crate) struct Service {
    asked: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    reply: Option<Reply>,
}

impl Service {
    /// Answers these in turn, and `200 {}` after them.
    pub(crate) fn answering(answers: impl IntoIterator<Item = Answer>) -> Service {
        Service { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Service::default() }
    }

    /// Answers as this function says.
    pub(crate) fn by(reply: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Service {
        Service { reply: Some(Arc::new(reply)), ..Service::default() }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Listens, and returns its address.
    pub(crate) async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = self.clone();
        let router = axum::Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let answer = service.answer(method, &uri, &headers, &body);
            std::future::ready(answer)
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    /// The settings of a client that asks it, with so many tries.
    pub(crate) async fn config(&self, tries: u32) -> SdkConfig {
        let credentials = Credentials::new("id", "secret", None, None, "test");
        SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("eu-central-1"))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .endpoint_url(self.listen().await)
            .http_client(outbound::client(1_048_576))
            .retry_config(RetryConfig::standard().with_max_attempts(tries))
            .build()
    }

    fn answer(&self, method: Method, uri: &Uri, headers: &HeaderMap, body: &Bytes) -> (StatusCode, HeaderMap, String) {
        let target = headers.get("x-amz-target").map(|t| t.to_str().unwrap().to_owned()).unwrap_or_default();
        let asked = Asked {
            method,
            path: uri.path().to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
            target,
            body: serde_json::from_slice(body).unwrap_or_default(),
        };
        self.asked.lock().unwrap().push(asked.clone());
        let (status, answer) = match &self.reply {
            Some(reply) => reply(&asked),
            None => self.answers.lock().unwrap().pop_front().unwrap_or((200, json!({}))),
        };
        let mut sent = HeaderMap::new();
        sent.insert("content-type", "application/json".parse().unwrap());
        if let Some(code) = answer.get("__type").and_then(Value::as_str) {
            sent.insert("x-amzn-errortype", code.parse().unwrap());
        }
        (StatusCode::from_u16(status).unwrap(), sent, answer.to_string())
    }
}

/// An error as AWS spells it.
pub(crate) fn error(status: u16, code: &str) -> Answer {
    (status, json!({ "__type": code, "message": "a text with what was sent", "Message": "the same" }))
}

/// One notice of every kind, of one write.
pub(crate) fn notices(run: &str, rev: u64) -> Notices {
    let at = Time::parse("2026-03-02T08:15:30Z").unwrap();
    let group = Assigned::Group("managers".into());
    let work = |step: &str, item: &str, assigned: &Assigned, escalation: Option<Note>| Notice::Work {
        step: step.into(),
        item: item.into(),
        assigned: assigned.clone(),
        escalation,
    };
    let note = Note { note: "cannot tell".into(), by: "a_1".into(), at };
    Notices {
        org: "acme".into(),
        run: run.into(),
        process: "access-review".into(),
        rev,
        at,
        notices: vec![
            work("approve", "w_3f9q", &group, None),
            work("collect", "w_8d1x", &Assigned::Person("ann@example.com".into()), Some(note)),
            Notice::Overdue {
                step: "remove".into(),
                due: Time::parse("2026-03-02T08:15:00Z").unwrap(),
                assigned: Some(group),
            },
        ],
    }
}
