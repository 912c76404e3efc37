//! Where schedules are made and deleted, on loopback: as much of the service as setting alarms needs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::{Value, json};

type Answer = (StatusCode, [(&'static str, &'static str); 1], String);

/// The schedules that exist, by name, with what they call their target with.
#[derive(Clone)]
pub struct Scheduler(Arc<Mutex<BTreeMap<String, Value>>>);

fn answer(status: u16, body: &Value) -> Answer {
    let code = if status == 409 { "ConflictException" } else { "ResourceNotFoundException" };
    (StatusCode::from_u16(status).unwrap(), [("x-amzn-errortype", code)], body.to_string())
}

impl Scheduler {
    /// Listens, and returns its address.
    pub async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (made, deleted) = (self.clone(), self.clone());
        let create = move |Path(name): Path<String>, body: Bytes| std::future::ready(made.create(name, &body));
        let delete = move |Path(name): Path<String>| std::future::ready(deleted.delete(&name));
        let router = Router::new().route("/schedules/{name}", post(create).delete(delete));
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    /// With these already made.
    pub fn with(schedules: BTreeMap<String, Value>) -> Scheduler {
        Scheduler(Arc::new(Mutex::new(schedules)))
    }

    /// All that exist.
    pub fn schedules(&self) -> BTreeMap<String, Value> {
        self.0.lock().unwrap().clone()
    }

    /// Whether a schedule calls with this.
    pub fn calls_with(&self, input: &Value) -> bool {
        self.0.lock().unwrap().values().any(|schedule| schedule == input)
    }

    fn create(&self, name: String, body: &Bytes) -> Answer {
        let body: Value = serde_json::from_slice(body).unwrap();
        let input = serde_json::from_str(body["Target"]["Input"].as_str().unwrap()).unwrap();
        let mut schedules = self.0.lock().unwrap();
        if schedules.contains_key(&name) {
            return answer(409, &json!({ "Message": "exists" }));
        }
        schedules.insert(name, input);
        answer(200, &json!({ "ScheduleArn": "arn:aws:scheduler:eu-central-1:1:schedule/g/s" }))
    }

    fn delete(&self, name: &str) -> Answer {
        match self.0.lock().unwrap().remove(name) {
            Some(_) => answer(200, &json!({})),
            None => answer(404, &json!({ "Message": "none" })),
        }
    }
}
