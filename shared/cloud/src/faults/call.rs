//! Which operation of which service a request is.

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

/// A call of AWS on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    /// As it is signed for: `dynamodb`, `s3`, `scheduler`, `events`, `secretsmanager`.
    pub(super) service: String,
    /// As the API calls it, such as `TransactWriteItems`; of REST APIs that are not told apart here, the method.
    pub(super) operation: String,
    /// The path, and the body if it is at hand: what a rule's texts are looked for in.
    pub(super) text: String,
}

impl Called {
    pub(super) fn of(request: &HttpRequest) -> Called {
        let header = |name: &str| request.headers().get(name).unwrap_or_default();
        let (prefix, target) = header("x-amz-target").split_once('.').unwrap_or_default();
        // The credential's scope: id, day, region, service.
        let scope = header("authorization").split("Credential=").nth(1).unwrap_or_default();
        let signed = scope.split('/').nth(3).unwrap_or_default();
        let service = match signed {
            // What never leaves a process need not be signed.
            "" if prefix.starts_with("DynamoDB_") => "dynamodb",
            signed => signed,
        };
        let method = request.method();
        let operation = match (service, method) {
            _ if !target.is_empty() => target,
            ("scheduler", "POST") => "CreateSchedule",
            ("scheduler", "DELETE") => "DeleteSchedule",
            ("s3", "PUT") => "PutObject",
            ("s3", "GET") => "GetObject",
            (_, method) => method,
        };
        let path = path(request.uri());
        let body = request.body().bytes().map(String::from_utf8_lossy).unwrap_or_default();
        Called { service: service.to_owned(), operation: operation.to_owned(), text: format!("{path}\n{body}") }
    }
}

/// Without scheme and host.
fn path(uri: &str) -> &str {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
}
