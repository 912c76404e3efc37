//! Which model is asked, where, and for how long.
//!
//! [`Config::check`] reports every problem at once. A configuration has no key in it: that is given beside it.

use std::fmt;
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How long one inquiry may take when nothing else is said, in seconds. It is asked twice at most, and that fits the 30
/// seconds that a function is given.
pub const TIMEOUT_SECONDS: u64 = store::CHECK_SECONDS - 1;

/// Longest that one inquiry may be given, in seconds: for a slow model where no function's deadline is near.
pub const MOST_SECONDS: u64 = 240;

/// Most characters of a model's name. Every verdict records it.
const MODEL_CHARACTERS: usize = 256;

/// The scheme that stands for Amazon Bedrock on a command line.
const BEDROCK: &str = "bedrock:";

/// What every chat completions URL ends with.
const COMPLETIONS: &str = "/chat/completions";

/// Fields of a request that are never the operator's to set.
const RESERVED: [&str; 4] = ["messages", "model", "n", "stream"];

/// What kind of endpoint is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Anything that speaks OpenAI's chat completions.
    OpenAi,
    /// Amazon Bedrock, by its Converse operation.
    Bedrock,
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Config {
    /// What kind of endpoint is asked.
    pub kind: Kind,
    /// The base URL of an OpenAI-compatible API, such as `https://api.openai.com/v1`; its `/chat/completions` is added
    /// unless it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The model, as the endpoint knows it; on Bedrock the id or ARN of a model or of an inference profile.
    pub model: String,
    /// Bedrock's AWS region; otherwise where AWS settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Another address than Bedrock's own, such as that of a VPC endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// How long all questions of one submission may take, in seconds; from 1 to [`MOST_SECONDS`].
    #[serde(default = "timeout_seconds")]
    pub timeout_seconds: u64,
    /// Fields laid over every request to an OpenAI-compatible API, such as `{"reasoning_effort": "low"}`; null leaves a
    /// field out.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

fn timeout_seconds() -> u64 {
    TIMEOUT_SECONDS
}

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Problems(pub Vec<String>);

impl Config {
    /// The configuration that a command line names: a URL with a model, or `bedrock:MODEL`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the two.
    pub fn from_url(url: &str, model: Option<&str>) -> Result<Config, Problems> {
        let mut problems = Vec::new();
        let (kind, url, named) = match url.strip_prefix(BEDROCK) {
            Some(named) => (Kind::Bedrock, None, Some(named).filter(|named| !named.is_empty())),
            None => (Kind::OpenAi, Some(url.to_owned()), None),
        };
        if let (Some(named), Some(model)) = (named, model)
            && named != model
        {
            problems.push(format!("two models are named, {named} and {model}; name one"));
        }
        let model = named.or(model).unwrap_or_default().to_owned();
        let config = Config {
            kind,
            url,
            model,
            region: None,
            endpoint: None,
            timeout_seconds: TIMEOUT_SECONDS,
            fields: Map::new(),
        };
        problems.extend(config.problems());
        if problems.is_empty() { Ok(config) } else { Err(Problems(problems)) }
    }

    /// Whether an evaluator can be made of it.
    ///
    /// # Errors
    ///
    /// Everything that is wrong.
    pub fn check(&self) -> Result<(), Problems> {
        let problems = self.problems();
        if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
    }

    /// Where the model is asked, without anything of the URL that could be a secret.
    pub fn place(&self) -> String {
        match (self.kind, self.completions()) {
            (Kind::Bedrock, _) => "Amazon Bedrock".to_owned(),
            (Kind::OpenAi, Ok(mut url)) => {
                url.set_query(None);
                url.to_string()
            }
            (Kind::OpenAi, Err(_)) => "no address".to_owned(),
        }
    }

    /// How long one inquiry may take.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }

    /// Where completions are asked for.
    pub(crate) fn completions(&self) -> Result<Url, String> {
        let mut url = address("url", self.url.as_deref().unwrap_or_default())?;
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&if path.ends_with(COMPLETIONS) { path } else { path + COMPLETIONS });
        Ok(url)
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.model.trim().is_empty() {
            problems.push("no model is named; name the one that the endpoint is to ask".to_owned());
        } else if self.model.chars().any(char::is_control) || self.model.chars().count() > MODEL_CHARACTERS {
            problems.push(format!("model: at most {MODEL_CHARACTERS} characters on one line"));
        }
        if !(1..=MOST_SECONDS).contains(&self.timeout_seconds) {
            problems.push(format!("timeoutSeconds: {}; take 1 to {MOST_SECONDS}", self.timeout_seconds));
        }
        let strange: &[(&str, bool)] = match self.kind {
            Kind::OpenAi => {
                problems.extend(self.completions().err());
                for name in RESERVED.iter().filter(|name| self.fields.contains_key(**name)) {
                    problems.push(format!("fields.{name}: is not for a configuration to set"));
                }
                &[("region", self.region.is_some()), ("endpoint", self.endpoint.is_some())]
            }
            Kind::Bedrock => {
                problems.extend(self.endpoint.as_deref().and_then(|text| address("endpoint", text).err()));
                if self.region.as_deref().is_some_and(|region| region.trim().is_empty()) {
                    problems.push("region: is blank; name an AWS region or leave it out".to_owned());
                }
                &[("url", self.url.is_some()), ("fields", !self.fields.is_empty())]
            }
        };
        for (key, _) in strange.iter().filter(|(_, given)| *given) {
            problems.push(format!("{key}: means nothing for this kind of endpoint; leave it out"));
        }
        problems
    }
}

/// The model and where it is asked.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.model, self.place())
    }
}

/// An http or https URL that names no user and no place within.
fn address(key: &str, text: &str) -> Result<Url, String> {
    if text.is_empty() {
        return Err(format!("{key}: is missing; give the base URL of the API, such as https://api.openai.com/v1"));
    }
    let url = Url::parse(text)
        .map_err(|error| format!("{key}: is no URL ({error}); give one such as https://api.openai.com/v1"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("{key}: has the scheme {}:; give an https or http URL, or bedrock:MODEL", url.scheme()));
    }
    // The text itself is not repeated: a password may stand in it.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(format!("{key}: names a user; give the key apart from the URL"));
    }
    if url.fragment().is_some() {
        return Err(format!("{key}: has a part after #; leave it out"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_line_names_an_endpoint_or_bedrock() {
        for (url, model, is, shown) in [
            ("https://api.openai.com/v1", Some("m"), Kind::OpenAi, "m at https://api.openai.com/v1/chat/completions"),
            ("http://localhost:8000/v1/", Some("m"), Kind::OpenAi, "m at http://localhost:8000/v1/chat/completions"),
            ("http://h/v1/chat/completions", Some("m"), Kind::OpenAi, "m at http://h/v1/chat/completions"),
            (
                "https://h/a/chat/completions/?api-version=1&key=s",
                Some("m"),
                Kind::OpenAi,
                "m at https://h/a/chat/completions",
            ),
            ("bedrock:eu.a.b-v1:0", None, Kind::Bedrock, "eu.a.b-v1:0 at Amazon Bedrock"),
            ("bedrock:a", Some("a"), Kind::Bedrock, "a at Amazon Bedrock"),
            ("bedrock:", Some("a"), Kind::Bedrock, "a at Amazon Bedrock"),
        ] {
            let config = Config::from_url(url, model).unwrap_or_else(|e| panic!("{url}: {e}"));
            assert_eq!((config.kind, config.to_string().as_str()), (is, shown), "{url}");
        }
        let with_query = Config::from_url("https://h/v1?api-version=1", Some("m")).expect("a configuration");
        assert_eq!(with_query.completions().expect("a URL").as_str(), "https://h/v1/chat/completions?api-version=1");
    }

    #[test]
    fn everything_wrong_is_said_at_once_and_no_password_is_repeated() {
        for (url, model, problems) in [
            ("https://api.openai.com/v1", None, &["no model is named"][..]),
            ("bedrock:", None, &["no model is named"]),
            ("bedrock:a", Some("b"), &["two models are named, a and b"]),
            ("api.openai.com/v1", Some("m"), &["url: is no URL"]),
            ("", None, &["no model is named", "url: is missing"]),
            ("ftp://h", Some(" "), &["no model is named", "url: has the scheme ftp:; give an https or http URL"]),
            ("https://me:hunter2@h/v1", Some("m"), &["url: names a user"]),
            ("https://h/v1#key", Some("m\nn"), &["model: at most 256 characters", "url: has a part after #"]),
        ] {
            let found = Config::from_url(url, model).expect_err(url).0;
            assert_eq!(found.len(), problems.len(), "{url}: {found:?}");
            for (found, problem) in found.iter().zip(problems) {
                assert!(found.starts_with(problem), "{url}: {found}");
                assert!(!found.contains("hunter2"), "{found}");
            }
        }
    }

    #[test]
    fn a_configuration_is_read_from_json() {
        let config: Config = serde_json::from_value(json!({
            "kind": "openai", "url": "https://h/v1", "model": "m", "timeoutSeconds": 5, "fields": {"temperature": null}
        }))
        .expect("a configuration");
        assert_eq!(config.check(), Ok(()));
        assert_eq!(config.timeout(), Duration::from_secs(5));
        let config: Config = serde_json::from_value(json!({"kind": "bedrock", "model": "m", "region": "eu-north-1"}))
            .expect("a configuration");
        assert_eq!((config.check(), config.timeout_seconds), (Ok(()), TIMEOUT_SECONDS));
        let config: Config = serde_json::from_value(json!({
            "kind": "openai", "model": "m", "region": "r", "endpoint": "e", "timeoutSeconds": 241,
            "fields": {"stream": true, "top_p": 1, "n": 2}
        }))
        .expect("well formed");
        assert_eq!(
            config.check().expect_err("wrong").to_string(),
            "timeoutSeconds: 241; take 1 to 240\n\
             url: is missing; give the base URL of the API, such as https://api.openai.com/v1\n\
             fields.n: is not for a configuration to set\n\
             fields.stream: is not for a configuration to set\n\
             region: means nothing for this kind of endpoint; leave it out\n\
             endpoint: means nothing for this kind of endpoint; leave it out"
        );
        let config: Config = serde_json::from_value(json!({
            "kind": "bedrock", "model": "m", "url": "https://h", "endpoint": "ws://h", "region": " "
        }))
        .expect("well formed");
        assert_eq!(config.check().expect_err("wrong").0.len(), 3);
        assert!(serde_json::from_value::<Config>(json!({"kind": "openai", "model": "m", "key": "k"})).is_err());
    }
}
