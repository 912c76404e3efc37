//! The links to evidence, opened over HTTP: `GET /evidence/<key>?X-Amz-…`.
//!
//! Invariants: only a correctly signed link, before it expires, to an object that is there opens; everything else is 403
//! or 404 without a word about the object. Nothing is listed or written through this door. What is shown runs nothing:
//! it shares an origin with the server's own pages.

use std::collections::HashSet;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method, Response, StatusCode};
use axum::response::IntoResponse;
use s3s::access::{S3Access, S3AccessContext};
use s3s::service::S3Service;
use s3s::{S3Result, s3_error};

/// Lets nothing pass but the reading of an object with a valid signature.
pub(super) struct OnlyReads;

#[async_trait::async_trait]
impl S3Access for OnlyReads {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        if context.credentials().is_some() && context.s3_op().name() == "GetObject" {
            Ok(())
        } else {
            Err(s3_error!(AccessDenied))
        }
    }
}

/// The router to merge into the server's own.
pub(super) fn router(bucket: &str, service: S3Service) -> Router {
    Router::new().route(&format!("/{bucket}/{{*key}}"), axum::routing::any(open)).with_state(service)
}

async fn open(State(service): State<S3Service>, request: Request) -> Response<Body> {
    let signed = request.uri().query().is_some_and(|query| query.contains("X-Amz-Signature="));
    if request.method() != Method::GET || !signed {
        return refuse(StatusCode::FORBIDDEN);
    }
    let (parts, _) = request.into_parts();
    let Ok(answer) = service.call(http::Request::from_parts(parts, s3s::Body::empty())).await else {
        return refuse(StatusCode::FORBIDDEN);
    };
    match answer.status() {
        StatusCode::OK => show(answer),
        StatusCode::NOT_FOUND => refuse(StatusCode::NOT_FOUND),
        _ => refuse(StatusCode::FORBIDDEN),
    }
}

/// Passes on the bytes with the headers that say what they are, and those that keep them from doing anything.
fn show(answer: Response<s3s::Body>) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    let kept = HashSet::from([CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE]);
    let dropped: Vec<_> = parts.headers.keys().filter(|name| !kept.contains(*name)).cloned().collect();
    for name in dropped {
        parts.headers.remove(name);
    }
    for (name, value) in [
        (CACHE_CONTROL, "private, no-store"),
        (CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; style-src 'unsafe-inline'"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        parts.headers.insert(name, HeaderValue::from_static(value));
    }
    Response::from_parts(parts, Body::new(body))
}

fn refuse(status: StatusCode) -> Response<Body> {
    let text = if status == StatusCode::NOT_FOUND {
        "There is no such file.\n"
    } else {
        "This link is not valid, or no longer. Ask for a new one.\n"
    };
    (status, [(CACHE_CONTROL, "no-store")], text).into_response()
}
