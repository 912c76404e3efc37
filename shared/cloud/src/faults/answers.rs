//! What AWS answers when it does not do what it was asked, as each service spells it.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};

type Answer = Result<HttpResponse, ConnectorError>;

/// Too many requests, with the service's usual code or this one.
pub(super) fn throttled(service: &str, code: Option<&str>) -> Answer {
    match service {
        "s3" => xml(503, code.unwrap_or("SlowDown")),
        "dynamodb" => {
            let code = code.unwrap_or("ProvisionedThroughputExceededException");
            error(400, &format!("com.amazonaws.dynamodb.v20120810#{code}"), json!({}))
        }
        "scheduler" => error(429, code.unwrap_or("ThrottlingException"), json!({})),
        _ => error(400, code.unwrap_or("ThrottlingException"), json!({})),
    }
}

/// Another transaction holds an item of this one.
pub(super) fn conflict() -> Answer {
    let reasons = json!({ "CancellationReasons": [{ "Code": "TransactionConflict", "Message": "on purpose" }] });
    error(400, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", reasons)
}

/// The service broke.
pub(super) fn failed(service: &str) -> Answer {
    match service {
        "s3" => xml(500, "InternalError"),
        "dynamodb" => error(500, "com.amazonaws.dynamodb.v20120810#InternalServerError", json!({})),
        _ => error(500, "InternalFailure", json!({})),
    }
}

fn error(status: u16, code: &str, more: Value) -> Answer {
    let mut body = more;
    if let Some(body) = body.as_object_mut() {
        body.insert("__type".to_owned(), Value::from(code));
        // Services differ in how they begin it.
        body.insert("message".to_owned(), Value::from("on purpose"));
        body.insert("Message".to_owned(), Value::from("on purpose"));
    }
    let mut answer = response(status, body.to_string(), "application/x-amz-json-1.0")?;
    answer.headers_mut().insert("x-amzn-errortype", code.to_owned());
    Ok(answer)
}

fn xml(status: u16, code: &str) -> Answer {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>on purpose</Message></Error>");
    response(status, body, "application/xml")
}

fn response(status: u16, body: String, content_type: &'static str) -> Answer {
    let status = status.try_into().map_err(|error| ConnectorError::other(Box::new(error), None))?;
    let mut answer = HttpResponse::new(status, SdkBody::from(body));
    answer.headers_mut().insert("content-type", content_type);
    Ok(answer)
}
