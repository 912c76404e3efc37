//! Asks a model every question of an inquiry, each by itself and all at once.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::try_join_all;
use process::Question;
use run::{Answer, Inquiry};

use crate::config::Config;
use crate::prompt::{Material, Prompt};

/// A model that answers one question.
#[async_trait]
pub(crate) trait Model: Send + Sync + 'static {
    /// The answer to this one question, whose prompt this is.
    ///
    /// # Errors
    ///
    /// Why there is none, shortly; no key, and nothing of the prompt.
    async fn ask(&self, prompt: &Prompt, question: &Question) -> Result<Answer, String>;
}

/// An evaluator by means of a model.
pub(crate) struct Asker<M> {
    name: String,
    within: Duration,
    model: M,
}

impl<M: Model> Asker<M> {
    pub(crate) fn new(config: &Config, model: M) -> Self {
        Asker { name: config.model.clone(), within: config.timeout(), model }
    }
}

#[async_trait]
impl<M: Model> store::Evaluator for Asker<M> {
    fn model(&self) -> &str {
        &self.name
    }

    /// A second more than the model has, so that the reason in the log is this one's own.
    fn within(&self) -> Duration {
        self.within + Duration::from_secs(1)
    }

    async fn answer(&self, inquiry: &Inquiry) -> Result<Vec<Answer>, String> {
        let material = Material::new(inquiry)?;
        let material = &material;
        // The first that fails ends the others: without it the rest is of no use.
        let asked = inquiry.questions.iter().enumerate().map(|(n, question)| async move {
            let prompt = material.ask(question);
            let answer = self.model.ask(&prompt, question).await;
            answer.map_err(|why| format!("question {}: {why}", n + 1))
        });
        let answers = tokio::time::timeout(self.within, try_join_all(asked)).await;
        let answers = answers.map_err(|_| format!("no answer within {} s", self.within.as_secs()))??;
        inquiry.fits(&answers)?;
        Ok(answers)
    }
}
