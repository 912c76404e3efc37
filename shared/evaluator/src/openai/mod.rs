//! Endpoints that speak OpenAI's chat completions: OpenAI, Azure, vLLM, llama.cpp, Ollama, gateways and many more.
//!
//! They differ in what they take. The request asks for everything that makes an answer surer, and an endpoint that refuses
//! a part of it is asked again without that part.

mod parts;
mod reply;
mod request;
mod tokens;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Request, StatusCode, Uri};
use outbound::Http;
use process::Question;
use run::Answer;

use crate::asker::Model;
use crate::config::{Config, Problems};
use crate::learned::Learned;
use crate::prompt::Prompt;
use crate::secret::Secret;
use parts::Refused;
use request::Form;

/// Most requests for one answer: one more than there are parts to leave out.
const ROUNDS: u32 = 6;

/// The path by which Azure's older API is known: it takes a key in a header of its own.
const AZURE_DEPLOYMENTS: &str = "/openai/deployments/";

/// An OpenAI-compatible endpoint.
pub(crate) struct OpenAi {
    http: Http,
    uri: Uri,
    key: Option<(HeaderName, HeaderValue)>,
    form: Form,
    learned: Learned,
}

impl OpenAi {
    /// # Errors
    ///
    /// An address or a key that no request takes.
    pub(crate) fn new(config: &Config, key: Option<Secret>) -> Result<Self, Problems> {
        let problem = |why: String| Problems(vec![why]);
        let url = config.completions().map_err(problem)?;
        let uri: Uri = url.as_str().parse().map_err(|_| problem("url: is no address for a request".to_owned()))?;
        let key = key.map(|key| header(&key, url.path().contains(AZURE_DEPLOYMENTS))).transpose().map_err(problem)?;
        let loopback = matches!(url.host_str().map(|host| host.trim_matches(['[', ']'])), Some(host)
            if host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()));
        if key.is_some() && url.scheme() == "http" && !loopback {
            tracing::warn!("the evaluator's key and all submissions leave this machine unencrypted; use an https URL");
        }
        let form = Form { model: config.model.clone(), fields: config.fields.clone() };
        Ok(OpenAi { http: Http::new(crate::ANSWER_BYTES), uri, key, form, learned: Learned::default() })
    }

    async fn post(&self, body: Bytes) -> Result<(StatusCode, Bytes), String> {
        let mut request = Request::post(self.uri.clone()).header(CONTENT_TYPE, "application/json");
        if let Some((name, key)) = &self.key {
            request = request.header(name, key);
        }
        let request = request.body(body).map_err(|error| format!("no request: {error}"))?;
        let answer = self.http.send(request).await.map_err(|fault| fault.to_string())?;
        Ok((answer.status(), answer.into_body()))
    }
}

/// The header that carries the key.
fn header(key: &Secret, azure: bool) -> Result<(HeaderName, HeaderValue), String> {
    let (name, text) = match azure {
        true => (HeaderName::from_static("api-key"), key.reveal().to_owned()),
        false => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
    };
    let mut value = HeaderValue::try_from(text).map_err(|_| "the key has characters that no key has".to_owned())?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[async_trait]
impl Model for OpenAi {
    async fn ask(&self, prompt: &Prompt, question: &Question) -> Result<Answer, String> {
        let mut refused = Refused(self.learned.get());
        for _ in 0..ROUNDS {
            let body = self.form.request(prompt, &question.kind, refused);
            let (status, body) = self.post(Bytes::from(body.to_string())).await?;
            if status == StatusCode::OK {
                if self.learned.add(refused.0) {
                    tracing::info!(parts = %refused, "the evaluator's endpoint is asked without what it refuses");
                }
                return reply::read(&question.kind, &body);
            }
            match refused.and_named_in(status, &body) {
                Some(more) => refused = more,
                None => return Err(reply::failure(status, &body)),
            }
        }
        Err("refuses every form of request".to_owned())
    }
}
