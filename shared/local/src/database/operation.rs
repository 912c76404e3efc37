//! The DynamoDB operations that the embedded table answers, and how each is run.
//!
//! Invariants: only what `store::dynamo` calls is here; anything else is refused as DynamoDB refuses an operation it does
//! not know. A body is parsed once, straight into the engine's request.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What precedes an operation's name in the request's target.
const TARGET_PREFIX: &str = "DynamoDB_20120810.";

/// An operation of the embedded table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    BatchGetItem,
    CreateTable,
    DeleteItem,
    DescribeTable,
    GetItem,
    PutItem,
    Query,
    TransactWriteItems,
}

impl Operation {
    /// The operation that a request's target names.
    pub(super) fn of(target: &str) -> Option<Self> {
        Some(match target.strip_prefix(TARGET_PREFIX)? {
            "BatchGetItem" => Self::BatchGetItem,
            "CreateTable" => Self::CreateTable,
            "DeleteItem" => Self::DeleteItem,
            "DescribeTable" => Self::DescribeTable,
            "GetItem" => Self::GetItem,
            "PutItem" => Self::PutItem,
            "Query" => Self::Query,
            "TransactWriteItems" => Self::TransactWriteItems,
            _ => return None,
        })
    }

    /// Whether it only reads items, so that it may run beside a write.
    pub(super) fn reads(self) -> bool {
        matches!(self, Self::BatchGetItem | Self::GetItem | Self::Query)
    }

    /// Runs it to its end on this thread.
    pub(super) fn run(self, database: &Database, body: &[u8]) -> Answer {
        match self {
            Self::BatchGetItem => answer(body, |request| database.batch_get_item(request)),
            Self::CreateTable => answer(body, |request| database.create_table(request)),
            Self::DeleteItem => answer(body, |request| database.delete_item(request)),
            Self::DescribeTable => answer(body, |request| database.describe_table(request)),
            Self::GetItem => answer(body, |request| database.get_item(request)),
            Self::PutItem => answer(body, |request| database.put_item(request)),
            Self::Query => answer(body, |request| database.query(request)),
            Self::TransactWriteItems => {
                answer(body, |mut request: dynoxide::actions::transact_write_items::TransactWriteItemsRequest| {
                    // A token guards against an answer lost on the way. None is lost inside a process, and keeping the
                    // tokens costs the engine a second serialization of every item and ten minutes of memory.
                    request.client_request_token = None;
                    database.transact_write_items(request)
                })
            }
        }
    }
}

/// What goes back to the client: an HTTP status and a JSON body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// An error in DynamoDB's words.
    pub(super) fn error(status: u16, code: &str, message: &str) -> Self {
        let body = serde_json::json!({
            "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"),
            "message": message,
        });
        Self { status, body: body.to_string().into_bytes() }
    }
}

fn answer<Request, Response>(body: &[u8], run: impl FnOnce(Request) -> Result<Response, DynoxideError>) -> Answer
where
    Request: DeserializeOwned,
    Response: Serialize,
{
    let request = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return Answer::error(400, "ValidationException", &error.to_string()),
    };
    match run(request) {
        Ok(response) => match serde_json::to_vec(&response) {
            Ok(body) => Answer { status: 200, body },
            Err(error) => Answer::error(500, "InternalServerError", &error.to_string()),
        },
        Err(error) => Answer { status: error.status_code(), body: error.to_json().into_bytes() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_targets_are_operations() {
        assert_eq!(Operation::of("DynamoDB_20120810.GetItem"), Some(Operation::GetItem));
        for target in ["DynamoDB_20120810.Scan", "DynamoDB_20120810.DeleteTable", "GetItem", ""] {
            assert_eq!(Operation::of(target), None, "{target:?}");
        }
    }

    #[test]
    fn a_body_that_is_no_request_is_refused() {
        let database = Database::memory().unwrap();
        for body in ["", "{", "[]", r#"{"TableName":7}"#] {
            assert_eq!(Operation::GetItem.run(&database, body.as_bytes()).status, 400, "{body:?}");
        }
    }
}
