//! AWS where the stack is, asked past the product and past all faults.

use serde_json::{Value, json};

use super::{fresh, stack};

/// Most pages of a list.
const PAGES: usize = 50;

/// AWS.
pub struct Aws {
    http: reqwest::Client,
    endpoint: String,
    region: String,
}

/// How a function ended that was called by itself.
#[derive(Debug)]
pub struct Invoked {
    /// Nothing when it came to its own end; else what was answered.
    pub error: Option<String>,
}

impl Aws {
    pub fn new(http: reqwest::Client, endpoint: String, region: String) -> Aws {
        Aws { http, endpoint, region }
    }

    fn request(&self, service: &str, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        // Nobody verifies it there; it says which service is meant.
        let scope = format!("test/20260101/{}/{service}/aws4_request", self.region);
        let signed = format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0");
        let request = self.http.request(method, format!("{}{path}", self.endpoint));
        request.header("authorization", signed).header("x-amz-date", "20260101T000000Z")
    }

    async fn answer(request: reqwest::RequestBuilder, what: &str) -> Value {
        let answer = request.send().await.unwrap_or_else(|e| panic!("{what}: {e}"));
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{what}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Calls an operation of a service that speaks JSON.
    pub async fn call(&self, service: &str, target: &str, body: Value) -> Value {
        let request = self.request(service, reqwest::Method::POST, "/");
        let request = request.header("x-amz-target", target).header("content-type", "application/x-amz-json-1.0");
        Aws::answer(request.body(body.to_string()), target).await
    }

    /// Calls the stack's timer and waits for its end.
    pub async fn timer(&self, event: &Value) -> Invoked {
        let path = format!("/2015-03-31/functions/{}-timer/invocations", stack().name);
        let answer = self.request("lambda", reqwest::Method::POST, &path).body(event.to_string()).send().await.unwrap();
        let status = answer.status();
        let failed = answer.headers().contains_key("x-amz-function-error");
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "timer: {status} {text}");
        Invoked { error: failed.then_some(text) }
    }

    /// Sweeps, until a sweep comes to its end: a fault of another test may have struck it.
    pub async fn sweep(&self) {
        super::eventually("a sweep ends well", async || {
            self.timer(&json!({ "sweep": true })).await.error.is_none().then_some(())
        })
        .await;
    }

    /// What a function is set to.
    pub async fn function(&self, name: &str) -> Value {
        let path = format!("/2015-03-31/functions/{name}/configuration");
        Aws::answer(self.request("lambda", reqwest::Method::GET, &path), "GetFunctionConfiguration").await
    }

    /// Lets a function start anew: everything that it had in memory is gone.
    pub async fn restart(&self, name: &str) {
        let path = format!("/2015-03-31/functions/{name}/configuration");
        let described = json!({ "Description": format!("Started anew: {}", fresh()) });
        let request = self.request("lambda", reqwest::Method::PUT, &path).body(described.to_string());
        Aws::answer(request, "UpdateFunctionConfiguration").await;
        super::eventually("the function is updated", async || {
            (self.function(name).await["LastUpdateStatus"] == "Successful").then_some(())
        })
        .await;
    }

    /// All items of a partition of the stack's table.
    pub async fn partition(&self, partition: &str) -> Vec<Value> {
        let (mut items, mut start) = (Vec::new(), Value::Null);
        for _ in 0..PAGES {
            let mut query = json!({
                "TableName": stack().table, "ConsistentRead": true, "KeyConditionExpression": "pk = :pk",
                "ExpressionAttributeValues": { ":pk": { "S": partition } },
            });
            if !start.is_null() {
                query["ExclusiveStartKey"] = start;
            }
            let answer = self.call("dynamodb", "DynamoDB_20120810.Query", query).await;
            items.extend(answer["Items"].as_array().unwrap().iter().cloned());
            start = answer["LastEvaluatedKey"].clone();
            if start.is_null() {
                return items;
            }
        }
        panic!("{partition} has more than {PAGES} pages")
    }

    /// The names of the schedules that call the timer with this text in their input.
    pub async fn schedules(&self, text: &str) -> Vec<String> {
        let (mut names, mut next) = (Vec::new(), String::new());
        for _ in 0..PAGES {
            let path = format!("/schedules?ScheduleGroup={}{next}", stack().name);
            let listed = Aws::answer(self.request("scheduler", reqwest::Method::GET, &path), "ListSchedules").await;
            names
                .extend(listed["Schedules"].as_array().unwrap().iter().map(|s| s["Name"].as_str().unwrap().to_owned()));
            match listed["NextToken"].as_str() {
                Some(token) => next = format!("&NextToken={token}"),
                None => break,
            }
        }
        let mut found = Vec::new();
        for name in names {
            let path = format!("/schedules/{name}?groupName={}", stack().name);
            let answer = self.request("scheduler", reqwest::Method::GET, &path).send().await.unwrap();
            // It may have fired meanwhile.
            let schedule: Value = if answer.status().is_success() { answer.json().await.unwrap() } else { Value::Null };
            if schedule["Target"]["Input"].as_str().is_some_and(|input| input.contains(text)) {
                found.push(name);
            }
        }
        found
    }

    /// Deletes a schedule.
    pub async fn delete_schedule(&self, name: &str) {
        let path = format!("/schedules/{name}?groupName={}", stack().name);
        Aws::answer(self.request("scheduler", reqwest::Method::DELETE, &path), "DeleteSchedule").await;
    }

    /// Everything that has come to a queue since it was looked at last.
    pub async fn receive(&self, queue: &str) -> Vec<Value> {
        let mut bodies = Vec::new();
        for _ in 0..PAGES {
            let ask = json!({ "QueueUrl": queue, "MaxNumberOfMessages": 10, "VisibilityTimeout": 600 });
            let answer = self.call("sqs", "AmazonSQS.ReceiveMessage", ask).await;
            let messages = answer["Messages"].as_array().cloned().unwrap_or_default();
            if messages.is_empty() {
                break;
            }
            bodies.extend(messages.iter().map(|m| serde_json::from_str(m["Body"].as_str().unwrap()).unwrap()));
        }
        bodies
    }
}
