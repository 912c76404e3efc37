//! A function's surroundings on loopback: Lambda's runtime API with one event to work on, and the services of AWS that a
//! function asks, as far as it needs them to start.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::sync::mpsc;

/// Longest that a function may take to answer, in seconds: it is built for tests, and others build beside it.
const ANSWER_SECONDS: u64 = 60;

const SECRET: &str = r#"{"key":"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk","publicUrl":"https://p.example/mcp"}"#;

/// What a function is told by its environment, but for where everything is.
pub const SETTINGS: [(&str, &str); 11] = [
    ("PROCESSION_TABLE", "procession-table"),
    ("PROCESSION_BUCKET", "procession-evidence"),
    ("PROCESSION_SECRET", "procession-claims"),
    ("PROCESSION_SCHEDULE_GROUP", "procession"),
    ("PROCESSION_SCHEDULE_ROLE", "arn:aws:iam::1:role/schedules"),
    ("PROCESSION_TIMER", "arn:aws:lambda:eu-central-1:1:function:timer"),
    ("PROCESSION_DEAD_LETTERS", "arn:aws:sqs:eu-central-1:1:dead"),
    ("PROCESSION_ISSUERS", r#"{"issuers":[{"issuer":"https://id.example","audiences":["p"]}]}"#),
    ("AWS_REGION", "eu-central-1"),
    ("AWS_ACCESS_KEY_ID", "id"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
];

/// How one event ended: `response` or `error`, and what the function said.
pub type Ended = (String, Value);

async fn listen(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    address.to_string()
}

/// Secrets Manager with one version of every secret, and DynamoDB with nothing in it. `asked` gets the name of each call.
async fn aws(asked: Arc<Mutex<Vec<String>>>) -> String {
    let answer = move |headers: HeaderMap, body: Bytes| {
        let target = headers.get("x-amz-target").and_then(|t| t.to_str().ok()).unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let answer = match (target.as_str(), body["VersionStage"].as_str()) {
            ("secretsmanager.GetSecretValue", Some("AWSCURRENT")) => {
                (200, json!({ "VersionId": "0aaaaaaa-1", "SecretString": SECRET, "CreatedDate": 1 }))
            }
            ("DynamoDB_20120810.Query", _) => (200, json!({ "Items": [], "Count": 0, "ScannedCount": 0 })),
            _ => (400, json!({ "__type": "ResourceNotFoundException", "message": "no" })),
        };
        asked.lock().expect("not poisoned").push(target);
        let status = StatusCode::from_u16(answer.0).expect("a status");
        std::future::ready((status, [("content-type", "application/x-amz-json-1.1")], answer.1.to_string()))
    };
    format!("http://{}", listen(Router::new().fallback(answer)).await)
}

/// Runs the function with this environment on these events, one after the other, and returns how each ended, and which
/// services of AWS it asked.
pub async fn run(program: &str, environment: &[(&str, &str)], events: &[Value]) -> (Vec<Ended>, Vec<String>) {
    let (send, mut ended) = mpsc::unbounded_channel::<Ended>();
    let waiting: Arc<Mutex<VecDeque<Value>>> = Arc::new(Mutex::new(events.iter().cloned().collect()));
    let next = move || {
        let event = waiting.lock().expect("not poisoned").pop_front();
        async move {
            let Some(event) = event else { return std::future::pending().await };
            let headers = [
                ("lambda-runtime-aws-request-id", "8476a536"),
                ("lambda-runtime-deadline-ms", "4102444800000"),
                ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-central-1:1:function:f"),
                ("lambda-runtime-trace-id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700"),
            ];
            (headers, event.to_string())
        }
    };
    let end = move |Path((_, how)): Path<(String, String)>, body: Bytes| {
        let _ = send.send((how, serde_json::from_slice(&body).unwrap_or_default()));
        std::future::ready(StatusCode::ACCEPTED)
    };
    let runtime = Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{id}/{how}", post(end));
    let asked = Arc::default();
    let mut function = Command::new(program)
        .env_clear()
        .envs(SETTINGS)
        .envs(environment.iter().copied())
        .env("AWS_ENDPOINT_URL", aws(Arc::clone(&asked)).await)
        .env("AWS_LAMBDA_RUNTIME_API", listen(runtime).await)
        .env("AWS_LAMBDA_FUNCTION_NAME", "f")
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
        .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
        .env("AWS_LAMBDA_LOG_GROUP_NAME", "g")
        .env("AWS_LAMBDA_LOG_STREAM_NAME", "s")
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the function starts");
    let mut all = Vec::new();
    for _ in events {
        let one = tokio::time::timeout(Duration::from_secs(ANSWER_SECONDS), ended.recv());
        all.push(one.await.expect("in time").expect("an answer"));
    }
    function.kill().await.expect("ended");
    let asked = asked.lock().expect("not poisoned").clone();
    (all, asked)
}

/// What the function says when it cannot start with this environment.
pub async fn refusal(program: &str, environment: &[(&str, &str)]) -> String {
    let mut function = Command::new(program);
    function.env_clear().envs(environment.iter().copied()).stdout(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(Duration::from_secs(ANSWER_SECONDS), function.output());
    let ended = ended.await.expect("in time").expect("the function starts");
    assert!(!ended.status.success());
    String::from_utf8_lossy(&ended.stderr).into_owned()
}
