//! The HTTP of the AWS SDK's clients, with this program's own.
//!
//! Invariants: what is asked of AWS goes through [`Http`], so its limits hold here as well, for credentials too; a body is
//! sent whole.

use std::sync::Arc;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt as _;

use crate::http::{Fault, Http};

/// A client for the SDK that reads at most so many bytes of an answer.
pub fn client(answer_bytes: usize) -> SharedHttpClient {
    let http = Arc::new(Http::new(answer_bytes));
    http_client_fn(move |settings, _| {
        // Where credentials are looked for has a limit to reading, and needs it: off AWS nobody answers there. An
        // exchange has no seam between connecting and reading that could be seen here, so both are one limit. A limit to
        // connecting alone is not one to thinking.
        let within = settings.read_timeout().map(|read| read + settings.connect_timeout().unwrap_or_default());
        SharedHttpConnector::new(Connector { http: Arc::clone(&http), within })
    })
}

/// Carries the SDK's requests.
#[derive(Debug)]
struct Connector {
    http: Arc<Http>,
    within: Option<Duration>,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (http, within) = (Arc::clone(&self.http), self.within);
        HttpConnectorFuture::new(async move {
            let exchange = exchange(&http, request);
            match within {
                None => exchange.await,
                Some(within) => {
                    let late = |late: tokio::time::error::Elapsed| ConnectorError::timeout(late.into());
                    tokio::time::timeout(within, exchange).await.map_err(late)?
                }
            }
        })
    }
}

async fn exchange(http: &Http, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
    let request = request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(ConnectorError::user)?.to_bytes();
    let sent = http.send(::http::Request::from_parts(parts, body)).await;
    let answer = sent.map_err(|fault| match fault {
        Fault::TooLong(_) => ConnectorError::other(fault.into(), None),
        Fault::Broken(_) => ConnectorError::io(fault.into()),
    })?;
    HttpResponse::try_from(answer.map(SdkBody::from)).map_err(|error| ConnectorError::other(error.into(), None))
}
