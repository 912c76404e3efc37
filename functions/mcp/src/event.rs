//! What a function URL's event says, in the form that can be read as a request without fail.
//!
//! Anybody can send one. Reading it must not end the function, so of the address only the path stays, and that in a form
//! that is one: host, scheme and query are never looked at by the endpoint, which knows its address from its settings.

use lambda_http::LambdaEvent;
use lambda_http::http::header::{HOST, HeaderValue};
use lambda_http::request::LambdaRequest;

/// The name of the header that would name the scheme.
const FORWARDED_SCHEME: &str = "x-forwarded-proto";

/// The event with an address that can be read, whatever was called.
pub(crate) fn plain(mut event: LambdaEvent<LambdaRequest>) -> LambdaEvent<LambdaRequest> {
    if let LambdaRequest::ApiGatewayV2(request) = &mut event.payload {
        request.headers.insert(HOST, HeaderValue::from_static("localhost"));
        request.headers.remove(FORWARDED_SCHEME);
        request.raw_query_string = None;
        request.query_string_parameters = Default::default();
        request.request_context.stage = None;
        let path = request.raw_path.get_or_insert_default();
        if !path.starts_with('/') {
            path.insert(0, '/');
        }
    }
    event
}
