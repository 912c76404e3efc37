//! The clients of the AWS services, all over this program's own HTTP.
//!
//! Invariants: every call has a limit of time and of tries, and all of them together fit a function's deadline.

use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::identity::IdentityCache;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;

use crate::settings::Settings;

/// Most bytes of an answer: the largest object that is read, and more than the 16 MB that DynamoDB answers with at most,
/// escaped.
const ANSWER_BYTES: usize = store::s3::OBJECT_BYTES + 1_048_576;

/// Most tries of one call, the first included.
pub const CALL_TRIES: u32 = 3;

/// Longest that a connection may take to be made, in seconds.
const CONNECT_SECONDS: u64 = 2;

/// Longest that an answer may take once there is a connection, in seconds.
const READ_SECONDS: u64 = 6;

/// Longest that a call may take, all tries included, in seconds.
const CALL_SECONDS: u64 = 15;

/// Longest that a call of the table or of Scheduler may take, all tries included, in seconds. A write that finds one of them
/// away is tried again as a whole, [`store::WRITE_ATTEMPTS`] times, and has to say `retry` before the function's time is up.
const WRITE_CALL_SECONDS: u64 = 4;

/// The shortest time that a function may be given, in seconds, with some left for the answer.
const FUNCTION_SECONDS: u64 = 30 - 5;

const _: () = assert!(store::WRITE_ATTEMPTS as u64 * WRITE_CALL_SECONDS <= FUNCTION_SECONDS);

/// What all clients share: region, limits, and credentials as Lambda gives them, in the environment. They are looked for
/// nowhere else: what could read profiles, instances and web identities would be 0.3 MB of a zip.
pub fn shared(settings: &Settings) -> SdkConfig {
    let http = outbound::client(ANSWER_BYTES);
    #[cfg(feature = "faults")]
    let http = crate::faults::of_environment(http);
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(settings.region.clone()))
        .credentials_provider(SharedCredentialsProvider::new(EnvironmentVariableCredentialsProvider::new()))
        .identity_cache(IdentityCache::lazy().build())
        .http_client(http)
        .retry_config(RetryConfig::standard().with_max_attempts(CALL_TRIES))
        .timeout_config(within(CALL_SECONDS));
    config.set_endpoint_url(settings.endpoint.clone());
    config.build()
}

/// The client of S3. Behind another address than AWS's own, buckets are parts of the path: names of hosts do not lead there.
pub fn s3(shared: &SdkConfig) -> aws_sdk_s3::Client {
    let config = aws_sdk_s3::config::Builder::from(shared).force_path_style(shared.endpoint_url().is_some());
    aws_sdk_s3::Client::from_conf(config.build())
}

/// The client of DynamoDB.
pub fn dynamodb(shared: &SdkConfig) -> aws_sdk_dynamodb::Client {
    let config = aws_sdk_dynamodb::config::Builder::from(shared).timeout_config(within(WRITE_CALL_SECONDS));
    aws_sdk_dynamodb::Client::from_conf(config.build())
}

/// The client of EventBridge Scheduler.
pub fn scheduler(shared: &SdkConfig) -> aws_sdk_scheduler::Client {
    let config = aws_sdk_scheduler::config::Builder::from(shared).timeout_config(within(WRITE_CALL_SECONDS));
    aws_sdk_scheduler::Client::from_conf(config.build())
}

fn within(seconds: u64) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(CONNECT_SECONDS))
        .read_timeout(Duration::from_secs(READ_SECONDS))
        .operation_timeout(Duration::from_secs(seconds))
        .build()
}
