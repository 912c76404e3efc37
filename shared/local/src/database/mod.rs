//! DynamoDB in this process: the AWS client, its requests handed straight to the engine, no port in between.
//!
//! Invariants: no request leaves the process; nothing is read from the environment.

mod engine;
mod operation;

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::endpoint::{Endpoint, EndpointFuture, Params, ResolveEndpoint};
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, StalledStreamProtectionConfig};
use aws_smithy_runtime_api::client::auth::AuthSchemeId;
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;

use crate::LocalError;
use crate::folder::Folder;
use engine::Engine;
use operation::{Answer, Operation};

/// Most tries of one call, the first included.
const CALL_TRIES: u32 = 3;
/// How long a call may take, all tries included.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens the folder's database and gives the client that reaches it.
pub(crate) fn open(folder: Arc<Folder>) -> Result<Client, LocalError> {
    let connector = SharedHttpConnector::new(Connector { engine: Arc::new(Engine::open(folder)?) });
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("local"))
        .endpoint_resolver(Here)
        .http_client(http_client_fn(move |_, _| connector.clone()))
        // Nobody but this process can reach the engine, so there is no one to prove an identity to.
        .allow_no_auth()
        .auth_scheme_preference([AuthSchemeId::new("noAuth")])
        .retry_config(RetryConfig::standard().with_max_attempts(CALL_TRIES))
        .timeout_config(TimeoutConfig::builder().operation_timeout(CALL_TIMEOUT).build())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build();
    Ok(Client::from_conf(config))
}

/// Where the table is. Nothing is resolved: the connector reads no address, and working one out from a region, as the
/// client does by itself, would cost every call a parse of the address and a search of AWS's partitions.
#[derive(Debug)]
struct Here;

impl ResolveEndpoint for Here {
    fn resolve_endpoint<'a>(&'a self, _: &'a Params) -> EndpointFuture<'a> {
        EndpointFuture::ready(Ok(Endpoint::builder().url("http://table.localhost").build()))
    }
}

#[derive(Debug)]
struct Connector {
    engine: Arc<Engine>,
}

impl HttpConnector for Connector {
    fn call(&self, mut request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").and_then(Operation::of);
        let Some(operation) = operation else {
            return HttpConnectorFuture::ready(response(Answer::error(
                400,
                "UnknownOperationException",
                "the embedded table does not answer this operation",
            )));
        };
        match self.engine.submit(operation, request.take_body()) {
            Err(refused) => HttpConnectorFuture::ready(response(refused)),
            Ok(answer) => HttpConnectorFuture::new(async move {
                match answer.await {
                    Ok(answer) => response(answer),
                    Err(_) => Err(ConnectorError::other("the table's thread ended before it answered".into(), None)),
                }
            }),
        }
    }
}

fn response(answer: Answer) -> Result<HttpResponse, ConnectorError> {
    let status = answer.status.try_into().map_err(|error| ConnectorError::other(Box::new(error), None))?;
    Ok(HttpResponse::new(status, SdkBody::from(answer.body)))
}
