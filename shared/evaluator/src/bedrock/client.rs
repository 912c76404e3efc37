//! The AWS client, with this program's own HTTP.
//!
//! Invariants: what is asked of AWS goes through [`crate::http`], so its limits hold here as well, for credentials too;
//! the client repeats nothing by itself, because whoever asks an evaluator does.

use std::sync::Arc;
use std::time::Duration;

use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::retry::RetryConfig;
use aws_sdk_bedrockruntime::config::{StalledStreamProtectionConfig, Token};
use aws_smithy_runtime_api::client::auth::http::HTTP_BEARER_AUTH_SCHEME_ID;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;

use crate::config::{Config, Problems};
use crate::http::{Fault, Http};
use crate::secret::Secret;

/// Where the usual AWS settings come from. With a key of Bedrock's own, no other credentials are looked for.
pub(super) fn settings(config: &Config, keyed: bool) -> ConfigLoader {
    let http = Arc::new(Http::default());
    let client = http_client_fn(move |settings, _| {
        // Where credentials are looked for has a limit to reading, and needs it: off AWS nobody answers there. An
        // exchange has no seam between connecting and reading that could be seen here, so both are one limit. A limit to
        // connecting alone is not one to thinking.
        let within = settings.read_timeout().map(|read| read + settings.connect_timeout().unwrap_or_default());
        SharedHttpConnector::new(Connector { http: Arc::clone(&http), within })
    });
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(client)
        .retry_config(RetryConfig::disabled())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Some(region) = &config.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if keyed { loader.no_credentials() } else { loader }
}

/// The client of these settings.
///
/// # Errors
///
/// No region is known, or the key is none.
pub(super) fn of(config: &Config, settings: &SdkConfig, key: Option<Secret>) -> Result<Client, Problems> {
    let mut problems = Vec::new();
    if settings.region().is_none() {
        problems.push("no AWS region is known; set AWS_REGION, or `region` in the configuration".to_owned());
    }
    let mut builder = aws_sdk_bedrockruntime::config::Builder::from(settings);
    if let Some(endpoint) = &config.endpoint {
        builder = builder.endpoint_url(endpoint);
    }
    if let Some(key) = key {
        if key.reveal().chars().any(|c| !c.is_ascii_graphic()) {
            problems.push("the key has characters that no key has".to_owned());
        }
        builder =
            builder.bearer_token(Token::new(key.reveal(), None)).auth_scheme_preference([HTTP_BEARER_AUTH_SCHEME_ID]);
    }
    if problems.is_empty() { Ok(Client::from_conf(builder.build())) } else { Err(Problems(problems)) }
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
    let body = body.bytes().map(Bytes::copy_from_slice);
    let body = body.ok_or_else(|| ConnectorError::user("a streamed body is never sent".into()))?;
    let sent = http.send(http::Request::from_parts(parts, body)).await;
    let answer = sent.map_err(|fault| match fault {
        Fault::TooLong => ConnectorError::other(fault.into(), None),
        Fault::Broken(_) => ConnectorError::io(fault.into()),
    })?;
    HttpResponse::try_from(answer.map(SdkBody::from)).map_err(|error| ConnectorError::other(error.into(), None))
}
