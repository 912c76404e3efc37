//! Which issuers are trusted, and where their tokens say what.
//!
//! A JSON document. [`Config::check`] reports every problem at once; a [`crate::Verifier`] is only made from a checked
//! configuration.

use crate::caller::Kind;
use jsonwebtoken::Algorithm;
use serde::{Deserialize, Serialize};

/// Every algorithm that may be allowed: all asymmetric, so that a public key can never be used to sign.
pub const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"];

/// Trusted issuers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Config {
    /// At least one, each issuer once.
    pub issuers: Vec<IssuerConfig>,
}

/// One issuer of tokens: any OpenID Connect provider or OAuth 2 authorization server that signs JWT access tokens.
///
/// Issuers that speak for the same organization must not give one subject to two different identities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct IssuerConfig {
    /// The exact value of the `iss` claim.
    pub issuer: String,
    /// Accepted values of the `aud` claim; a token names at least one of them.
    pub audiences: Vec<String>,
    /// Where the keys are. Found through `<issuer>/.well-known/openid-configuration` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks_uri: Option<String>,
    /// Accepted signature algorithms, a subset of [`ALGORITHMS`]; all of them by default.
    #[serde(default = "all_algorithms")]
    pub algorithms: Vec<String>,
    /// Clients through which people act. A person's token that was issued to any other client may not decide.
    #[serde(default)]
    pub people_clients: Vec<String>,
    /// The one organization of all this issuer's tokens. When set, the organization claim is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// The kind of a token that has no kind claim. Such a token is refused when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind_when_absent: Option<Kind>,
    /// Groups whose members are operators, besides the operator claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operator_groups: Vec<String>,
    /// The claims that say who the caller is.
    #[serde(default)]
    pub claims: ClaimNames,
}

/// Names of claims. A name that starts with `/` is a JSON pointer into the claims, such as `/realm_access/roles`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct ClaimNames {
    /// The organization: a string. Default `org`.
    pub org: String,
    /// `agent` or `person`. Default `kind`.
    pub kind: String,
    /// A list of strings, or one string. Default `groups`.
    pub groups: String,
    /// `true` or `"true"`. Default `operator`.
    pub operator: String,
    /// The caller's `person` value. Default `email`; ignored when the token says `email_verified: false`.
    pub person: String,
    /// The client the token was issued to. By default `client_id`, and `azp` when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

impl Default for ClaimNames {
    fn default() -> Self {
        ClaimNames {
            org: "org".into(),
            kind: "kind".into(),
            groups: "groups".into(),
            operator: "operator".into(),
            person: "email".into(),
            client: None,
        }
    }
}

fn all_algorithms() -> Vec<String> {
    ALGORITHMS.iter().map(|name| (*name).to_owned()).collect()
}

impl IssuerConfig {
    /// An issuer with every default: only what cannot be guessed is given.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        IssuerConfig {
            issuer: issuer.into(),
            audiences: vec![audience.into()],
            jwks_uri: None,
            algorithms: all_algorithms(),
            people_clients: Vec::new(),
            organization: None,
            kind_when_absent: None,
            operator_groups: Vec::new(),
            claims: ClaimNames::default(),
        }
    }

    pub(crate) fn allowed(&self) -> Vec<Algorithm> {
        self.algorithms.iter().filter_map(|name| algorithm(name)).collect()
    }
}

/// An algorithm by its registered name, when it is one of [`ALGORITHMS`].
pub(crate) fn algorithm(name: &str) -> Option<Algorithm> {
    if ALGORITHMS.contains(&name) { name.parse().ok() } else { None }
}

impl Config {
    /// Reads and checks a JSON document.
    ///
    /// # Errors
    /// Every problem, each naming its place and what to do.
    pub fn from_json(text: &str) -> Result<Self, Vec<String>> {
        let config: Config = serde_json::from_str(text).map_err(|error| vec![format!("identity: {error}")])?;
        config.check()?;
        Ok(config)
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// Every problem, each naming its place and what to do.
    pub fn check(&self) -> Result<(), Vec<String>> {
        let mut problems = Vec::new();
        if self.issuers.is_empty() {
            problems.push("issuers: name at least one issuer".to_owned());
        }
        for (index, issuer) in self.issuers.iter().enumerate() {
            issuer.check(&format!("issuers[{index}]"), &mut problems);
            if self.issuers.iter().take(index).any(|earlier| earlier.issuer == issuer.issuer) {
                problems.push(format!("issuers[{index}].issuer: {} is listed twice; list it once", issuer.issuer));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl IssuerConfig {
    fn check(&self, at: &str, problems: &mut Vec<String>) {
        let blank = |text: &String| text.trim().is_empty();
        if blank(&self.issuer) {
            problems.push(format!("{at}.issuer: blank; give the exact `iss` value of the tokens"));
        }
        if self.audiences.is_empty() || self.audiences.iter().any(blank) {
            problems.push(format!("{at}.audiences: name at least one audience, none of them blank"));
        }
        if self.algorithms.is_empty() {
            problems.push(format!("{at}.algorithms: empty; allow one of {}", ALGORITHMS.join(", ")));
        }
        for name in self.algorithms.iter().filter(|name| algorithm(name).is_none()) {
            problems.push(format!("{at}.algorithms: {name} is not allowed; use one of {}", ALGORITHMS.join(", ")));
        }
        let (key, uri) = match &self.jwks_uri {
            Some(uri) => ("jwksUri", uri),
            None => ("issuer", &self.issuer),
        };
        if !blank(&self.issuer) && !crate::fetch::is_safe_url(uri) {
            problems.push(format!(
                "{at}.{key}: {uri} is not an https URL, so no keys can be fetched safely; plain http is for loopback only"
            ));
        }
        if self.people_clients.iter().any(blank) {
            problems.push(format!("{at}.peopleClients: a client id is blank; remove it"));
        }
        if self.organization.as_ref().is_some_and(blank) {
            problems.push(format!("{at}.organization: blank; name the organization or leave the key out"));
        }
        let claims = &self.claims;
        let named = [
            ("org", Some(&claims.org)),
            ("kind", Some(&claims.kind)),
            ("groups", Some(&claims.groups)),
            ("operator", Some(&claims.operator)),
            ("person", Some(&claims.person)),
            ("client", claims.client.as_ref()),
        ];
        for (key, _) in named.iter().filter(|(_, name)| name.is_some_and(blank)) {
            problems.push(format!("{at}.claims.{key}: blank; name the claim or leave the key out"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_document_has_every_default() {
        let config = Config::from_json(r#"{"issuers":[{"issuer":"https://id.example","audiences":["procession"]}]}"#)
            .expect("a valid configuration");
        assert_eq!(config.issuers, vec![IssuerConfig::new("https://id.example", "procession")]);
        assert_eq!(config.issuers[0].allowed().len(), ALGORITHMS.len());
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let problems = Config::from_json(
            r#"{"issuers":[
                {"issuer":"http://id.example","audiences":[],"algorithms":["HS256","none","RS256"],
                 "peopleClients":[" "],"organization":"","claims":{"org":""}},
                {"issuer":"https://b.example","audiences":["p"],"jwksUri":"http://keys.example/"},
                {"issuer":"https://b.example","audiences":["p"],"algorithms":[]}]}"#,
        )
        .expect_err("refused");
        for expected in [
            "issuers[0].audiences",
            "HS256 is not allowed",
            "none is not allowed",
            "issuers[0].issuer: http://id.example is not an https URL",
            "issuers[0].peopleClients",
            "issuers[0].organization",
            "issuers[0].claims.org",
            "issuers[1].jwksUri: http://keys.example/ is not an https URL",
            "issuers[2].algorithms: empty",
            "issuers[2].issuer: https://b.example is listed twice",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected} in {problems:#?}");
        }
        assert_eq!(problems.len(), 10, "{problems:#?}");
    }

    #[test]
    fn no_symmetric_algorithm_has_a_name_here() {
        for name in ["HS256", "HS384", "HS512", "none", "None", "rs256", ""] {
            assert_eq!(algorithm(name), None, "{name}");
        }
        for name in ALGORITHMS {
            assert!(algorithm(name).is_some(), "{name}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let problems = Config::from_json(r#"{"issuers":[{"issuer":"https://a","audiences":["b"],"audience":"c"}]}"#)
            .expect_err("refused");
        assert!(problems[0].contains("audience"), "{problems:?}");
        assert!(Config::from_json(r#"{"issuers":[]}"#).is_err());
    }
}
