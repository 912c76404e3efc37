//! The AWS client, with this program's own HTTP.
//!
//! Invariants: what is asked of AWS goes through [`outbound`], so its limits hold here as well, for credentials too; the
//! client repeats nothing by itself, because whoever asks an evaluator does.

use aws_config::{BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_sdk_bedrockruntime::Client;
use aws_sdk_bedrockruntime::config::retry::RetryConfig;
use aws_sdk_bedrockruntime::config::{StalledStreamProtectionConfig, Token};
use aws_smithy_runtime_api::client::auth::http::HTTP_BEARER_AUTH_SCHEME_ID;

use crate::ANSWER_BYTES;
use crate::config::{Config, Problems};
use crate::secret::Secret;

/// Where the usual AWS settings come from. With a key of Bedrock's own, no other credentials are looked for.
pub(super) fn settings(config: &Config, keyed: bool) -> ConfigLoader {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .http_client(outbound::client(ANSWER_BYTES))
        .retry_config(RetryConfig::disabled())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    if let Some(region) = &config.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if keyed { loader.no_credentials() } else { loader }
}

/// The same from settings that the program has.
pub(super) fn settings_of(config: &Config, settings: &SdkConfig, keyed: bool) -> SdkConfig {
    let mut builder = settings
        .to_builder()
        .http_client(outbound::client(ANSWER_BYTES))
        .retry_config(RetryConfig::disabled())
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
    // Whoever asks bounds the time: a model thinks longer than a table.
    builder.set_timeout_config(None);
    if let Some(region) = &config.region {
        builder.set_region(Region::new(region.clone()));
    }
    if keyed {
        builder.set_credentials_provider(None);
    }
    builder.build()
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
