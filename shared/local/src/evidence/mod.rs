//! S3 in this process: the AWS client, its requests handed straight to a file backend, no port in between; and the one
//! door that is a port's, the links.
//!
//! Invariants: no request of the client leaves the process; nothing is read from the environment; the key that signs is
//! the folder's own.

mod backend;
mod links;
mod object;

use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::timeout::TimeoutConfig;
use aws_sdk_s3::config::{
    BehaviorVersion, Region, RequestChecksumCalculation, ResponseChecksumValidation, StalledStreamProtectionConfig,
};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use axum::Router;
use bytes::Bytes;
use http_body_util::BodyExt;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use serde::{Deserialize, Serialize};

use crate::LocalError;
use crate::folder::Folder;
use backend::Backend;

/// The bucket's name, and the first part of every link's path.
pub(crate) const BUCKET: &str = "evidence";

/// Most tries of one call, the first included.
const CALL_TRIES: u32 = 3;
/// How long a call may take, all tries included.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// What signs the requests and the links.
#[derive(Serialize, Deserialize)]
struct Signer {
    id: String,
    secret: String,
}

impl Signer {
    fn of(folder: &Folder) -> Result<Self, LocalError> {
        let text = folder.key("storage", || {
            let id = format!("LOCAL{:016X}", rand::random::<u64>());
            let secret = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
            serde_json::json!({ "id": id, "secret": secret }).to_string()
        })?;
        serde_json::from_str(&text)
            .map_err(|error| LocalError::Io { path: folder.keys().join("storage"), source: error.into() })
    }
}

/// Opens the folder's evidence and gives the client that reaches it and the router that opens links.
///
/// Links begin with `public_url`, which must have no path: it is part of what is signed.
pub(crate) fn open(folder: Arc<Folder>, public_url: &str) -> Result<(Client, Router), LocalError> {
    let signer = Signer::of(&folder)?;
    let path = folder.evidence();
    let backend = Backend::open(BUCKET, folder).map_err(|source| LocalError::Io { path, source })?;
    let service = |access: Option<links::OnlyReads>| {
        let mut builder = S3ServiceBuilder::new(backend.clone());
        builder.set_auth(SimpleAuth::from_single(signer.id.as_str(), signer.secret.as_str()));
        if let Some(access) = access {
            builder.set_access(access);
        }
        builder.build()
    };
    let connector = SharedHttpConnector::new(Connector { service: service(None) });
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("us-east-1"))
        .endpoint_url(public_url)
        .force_path_style(true)
        .credentials_provider(Credentials::new(&signer.id, &signer.secret, None, None, "data folder"))
        .http_client(http_client_fn(move |_, _| connector.clone()))
        // The bytes do not travel, and whoever reads them compares their hash.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
        .retry_config(RetryConfig::standard().with_max_attempts(CALL_TRIES))
        .timeout_config(TimeoutConfig::builder().operation_timeout(CALL_TIMEOUT).build())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        .build();
    Ok((Client::from_conf(config), links::router(BUCKET, service(Some(links::OnlyReads)))))
}

#[derive(Debug)]
struct Connector {
    service: S3Service,
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let service = self.service.clone();
        HttpConnectorFuture::new(async move {
            let other = |error: Box<dyn std::error::Error + Send + Sync>| ConnectorError::other(error, None);
            let mut request = request.try_into_http1x().map_err(|error| other(error.into()))?;
            // What a client on a wire adds, and the signature covers.
            let host = request.uri().authority().map(|host| host.as_str().to_owned()).unwrap_or_default();
            let host = host.parse().map_err(|error: http::header::InvalidHeaderValue| other(error.into()))?;
            request.headers_mut().entry(http::header::HOST).or_insert(host);
            let (parts, body) = request.into_parts();
            let body = body.collect().await.map_err(other)?.to_bytes();
            let request = http::Request::from_parts(parts, s3s::Body::from(body));
            let answer = service.call(request).await.map_err(|error| other(error.into()))?;
            let (parts, body) = answer.into_parts();
            let body: Bytes = body.collect().await.map_err(other)?.to_bytes();
            let answer = http::Response::from_parts(parts, SdkBody::from(body));
            HttpResponse::try_from(answer).map_err(|error| other(error.into()))
        })
    }
}
