//! Answers the questions of a check by asking a language model (profile check-1).
//!
//! Two kinds of model are asked: any endpoint that speaks OpenAI's chat completions, and Amazon Bedrock through Converse.
//! [`connect`] makes a `store::Evaluator` of a checked [`Config`].
//!
//! Invariants: every question is a request of its own, so none sees the answer to another; what was submitted stands in a
//! request as JSON between lines that it cannot have written; an answer outside a question's domain is no answer; time and
//! bytes are bounded; no error and no log line has the key or anything of a submission in it.

mod asker;
mod bedrock;
mod config;
mod learned;
mod openai;
mod prompt;
mod schema;
mod secret;

#[cfg(test)]
mod testing;

use std::sync::Arc;

use asker::Asker;
use aws_config::SdkConfig;
use bedrock::Bedrock;
use openai::OpenAi;

pub use config::{Config, Kind, MOST_SECONDS, Problems, TIMEOUT_SECONDS};
pub use secret::Secret;

/// Most bytes of an answer.
const ANSWER_BYTES: usize = 1_048_576;

/// An evaluator that asks the model of this configuration. Nothing is asked yet.
///
/// The key is the endpoint's, sent as a bearer token; on Bedrock it is a Bedrock API key, and without one the usual AWS
/// credentials are used: environment, profile, container, instance or web identity.
///
/// # Errors
///
/// Everything that is wrong with the configuration, and a key that no header takes.
pub async fn connect(config: Config, key: Option<Secret>) -> Result<Arc<dyn store::Evaluator>, Problems> {
    config.check()?;
    Ok(match config.kind {
        Kind::OpenAi => Arc::new(Asker::new(&config, OpenAi::new(&config, key)?)),
        Kind::Bedrock => Arc::new(Asker::new(&config, Bedrock::connect(&config, key).await?)),
    })
}

/// The same in a program that has its AWS settings: on Bedrock, their region, credentials and endpoint are used where the
/// configuration says nothing else. Nothing is looked for in the environment.
///
/// # Errors
///
/// As for [`connect`].
pub fn connect_with(
    config: Config,
    key: Option<Secret>,
    settings: &SdkConfig,
) -> Result<Arc<dyn store::Evaluator>, Problems> {
    config.check()?;
    Ok(match config.kind {
        Kind::OpenAi => Arc::new(Asker::new(&config, OpenAi::new(&config, key)?)),
        Kind::Bedrock => Arc::new(Asker::new(&config, Bedrock::connect_with(&config, key, settings)?)),
    })
}
