//! Amazon Bedrock, by its Converse operation: one protocol for all models there.
//!
//! The answer comes as the input of a tool that the model is made to use, so it has a form. Models differ in how far they
//! can be made to; one that refuses is asked more mildly. Converse gives no probabilities of tokens, so the probability
//! and the confidence are the model's own numbers.

mod client;
mod reply;
mod request;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_bedrockruntime::Client;
use process::Question;
use run::Answer;

use crate::asker::Model;
use crate::config::{Config, Problems};
use crate::learned::Learned;
use crate::prompt::Prompt;
use crate::secret::Secret;
use request::Refused;

/// Most requests for one answer: one more than there are parts to leave out.
const ROUNDS: u32 = 4;

/// A model on Amazon Bedrock.
pub(crate) struct Bedrock {
    client: Client,
    model: String,
    learned: Learned,
}

impl Bedrock {
    /// Reads the usual AWS settings.
    ///
    /// # Errors
    ///
    /// No region is known.
    pub(crate) async fn connect(config: &Config, key: Option<Secret>) -> Result<Self, Problems> {
        let settings = client::settings(config, key.is_some()).load().await;
        Bedrock::new(config, &settings, key)
    }

    /// Takes region, credentials and endpoint from these settings.
    ///
    /// # Errors
    ///
    /// No region is known, or the key is none.
    pub(crate) fn connect_with(config: &Config, key: Option<Secret>, settings: &SdkConfig) -> Result<Self, Problems> {
        Bedrock::new(config, &client::settings_of(config, settings, key.is_some()), key)
    }

    fn new(config: &Config, settings: &SdkConfig, key: Option<Secret>) -> Result<Self, Problems> {
        let client = client::of(config, settings, key)?;
        Ok(Bedrock { client, model: config.model.clone(), learned: Learned::default() })
    }
}

#[async_trait]
impl Model for Bedrock {
    async fn ask(&self, prompt: &Prompt, question: &Question) -> Result<Answer, String> {
        let mut refused = Refused(self.learned.get());
        for _ in 0..ROUNDS {
            let input = request::converse(&self.model, prompt, &question.kind, refused)?;
            let error = match input.send_with(&self.client).await {
                Ok(output) => {
                    if self.learned.add(refused.0) {
                        tracing::info!(parts = %refused, "the evaluator's model is asked without what it refuses");
                    }
                    return reply::read(&question.kind, output);
                }
                Err(error) => error,
            };
            match refused.and_named_in(&error) {
                Some(more) => refused = more,
                None => return Err(reply::failure(&error)),
            }
        }
        Err("refuses every form of request".to_owned())
    }
}
