//! From the `Authorization` header to a [`Caller`].
//!
//! Order: shape, issuer, algorithm, key, signature, then the claims. Nothing but the issuer and the key id is used of a
//! token before its signature was verified, and those two only to look keys up.
//!
//! `now` is real time, in whole seconds since 1970. A development server may run its processes on a faster clock; tokens
//! must not see that clock, or they would expire within minutes of their issue.

use crate::caller::{Caller, Kind};
use crate::config::{ClaimNames, Config, IssuerConfig, algorithm};
use crate::fetch::FetchKeys;
use crate::keys::{Keys, NoKey};
use crate::remembered::{Remembered, fingerprint};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Validation;
use serde_json::Value;
use std::sync::Arc;

/// Longest token that is looked at, in bytes.
pub const TOKEN_BYTES: usize = 16_384;

/// Longest subject, and longest organization, in bytes. They become parts of keys and of claim tokens, whose lengths are
/// bounded; OpenID Connect bounds a subject at 255.
pub const NAME_BYTES: usize = 512;

/// Clocks of issuer and server may differ by this much, in seconds.
pub const LEEWAY_SECONDS: u64 = 30;

/// Why a request is not authenticated. The text is safe to send and to log: it holds nothing of the token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// No `Authorization` header.
    #[error("no bearer token: send `Authorization: Bearer <token>`")]
    Missing,
    /// Not a bearer token, or not a signed JSON Web Token.
    #[error("the token is malformed: {0}")]
    Malformed(&'static str),
    /// `alg: none`.
    #[error("the token is not signed")]
    Unsigned,
    /// An algorithm that the issuer's configuration does not allow; all symmetric ones are such.
    #[error("the token's signature algorithm is not allowed")]
    Algorithm,
    /// No such issuer is configured.
    #[error("the token's issuer is not trusted here")]
    Issuer,
    /// The issuer has no such key.
    #[error("the token is signed with a key that its issuer does not publish")]
    UnknownKey,
    /// The token names no key and the issuer publishes several.
    #[error("the token does not name its key and its issuer publishes several")]
    AmbiguousKey,
    /// The issuer's keys cannot be fetched now. The only fault that is not the token's.
    #[error("the issuer's keys cannot be fetched: {0}")]
    KeysUnavailable(String),
    /// The signature is not the key's.
    #[error("the token's signature does not verify")]
    Signature,
    /// Past `exp`.
    #[error("the token has expired")]
    Expired,
    /// Before `nbf`.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// For someone else.
    #[error("the token is for another audience")]
    Audience,
    /// A claim is missing, blank, or of the wrong type.
    #[error("the token's {0}")]
    Claim(&'static str),
}

struct Trusted {
    config: IssuerConfig,
    keys: Keys,
}

/// Verifies tokens of the configured issuers.
pub struct Verifier {
    trusted: Vec<Trusted>,
    fetch: Arc<dyn FetchKeys>,
    remembered: Remembered,
}

impl Verifier {
    /// A verifier; nothing is fetched before the first token.
    ///
    /// # Errors
    /// Every problem of the configuration.
    pub fn new(config: Config, fetch: Arc<dyn FetchKeys>) -> Result<Self, Vec<String>> {
        config.check()?;
        let trusted = config.issuers.into_iter().map(|config| Trusted { config, keys: Keys::default() }).collect();
        Ok(Verifier { trusted, fetch, remembered: Remembered::default() })
    }

    /// The identity behind an `Authorization` header. `now`: real time, in seconds.
    ///
    /// # Errors
    /// [`AuthError`]: one variant for each reason.
    pub async fn verify(&self, authorization: Option<&str>, now: u64) -> Result<Arc<Caller>, AuthError> {
        let token = bearer(authorization)?;
        let key = fingerprint(token);
        if let Some(caller) = self.remembered.get(&key, now) {
            return Ok(caller);
        }
        let (claims, issuer) = self.verified_claims(token, now).await?;
        let expires = check_times(&claims, now)?;
        check_audience(&claims, &issuer.audiences)?;
        let caller = Arc::new(read_caller(&claims, issuer)?);
        self.remembered.put(key, Arc::clone(&caller), expires.saturating_add(LEEWAY_SECONDS), now);
        Ok(caller)
    }

    async fn verified_claims(&self, token: &str, now: u64) -> Result<(Value, &IssuerConfig), AuthError> {
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(AuthError::Malformed("not three parts separated by dots"));
        };
        let header = object(header).ok_or(AuthError::Malformed("its header is not a JSON object"))?;
        let claims = object(payload).ok_or(AuthError::Malformed("its payload is not a JSON object"))?;
        let name = header.get("alg").and_then(Value::as_str).ok_or(AuthError::Malformed("its header has no `alg`"))?;
        if name.eq_ignore_ascii_case("none") {
            return Err(AuthError::Unsigned);
        }
        // An extension that must be understood is one that this verifier does not understand.
        if header.get("crit").is_some() {
            return Err(AuthError::Malformed("its header demands an extension (`crit`)"));
        }
        let iss = claims.get("iss").and_then(Value::as_str).ok_or(AuthError::Claim("`iss` is missing"))?;
        let trusted = self.trusted.iter().find(|trusted| trusted.config.issuer == iss).ok_or(AuthError::Issuer)?;
        let algorithm = algorithm(name)
            .filter(|algorithm| trusted.config.allowed().contains(algorithm))
            .ok_or(AuthError::Algorithm)?;
        let id = match header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(id.as_str()),
            Some(_) => return Err(AuthError::Malformed("its `kid` is not a string")),
        };
        let found = trusted.keys.find(&trusted.config, self.fetch.as_ref(), id, algorithm, now).await;
        let (keys, index) = found.map_err(|none| match none {
            NoKey::Unknown => AuthError::UnknownKey,
            NoKey::Ambiguous => AuthError::AmbiguousKey,
            NoKey::Unavailable(reason) => AuthError::KeysUnavailable(reason),
        })?;
        let key = keys.get(index).ok_or(AuthError::UnknownKey)?;
        // Only the signature is asked of the library: it would compare times with its own clock, and the claims are
        // checked below, each with an error of its own.
        let mut validation = Validation::new(algorithm);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        let data = jsonwebtoken::decode::<Value>(token, &key.key, &validation).map_err(|error| match error.kind() {
            jsonwebtoken::errors::ErrorKind::InvalidAlgorithm => AuthError::Algorithm,
            _ => AuthError::Signature,
        })?;
        Ok((data.claims, &trusted.config))
    }
}

fn bearer(authorization: Option<&str>) -> Result<&str, AuthError> {
    let header = authorization.map(str::trim).filter(|header| !header.is_empty()).ok_or(AuthError::Missing)?;
    let not_bearer = AuthError::Malformed("the Authorization header is not `Bearer <token>`");
    let (scheme, token) = header.split_once(' ').ok_or(not_bearer.clone())?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(not_bearer);
    }
    if token.len() > TOKEN_BYTES {
        return Err(AuthError::Malformed("longer than 16384 bytes"));
    }
    Ok(token)
}

fn object(part: &str) -> Option<serde_json::Map<String, Value>> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// Whole seconds of a time claim. Issuers write fractions now and then; they are cut off.
fn seconds(value: &Value) -> Option<u64> {
    let whole = value.as_u64().or_else(|| {
        let seconds = value.as_f64()?;
        // Up to 2^53 the conversion is exact; later is not a time.
        (0.0..9_007_199_254_740_992.0).contains(&seconds).then_some(seconds as u64)
    });
    value.is_number().then_some(whole).flatten()
}

/// Checks `exp` and `nbf`; gives `exp`.
fn check_times(claims: &Value, now: u64) -> Result<u64, AuthError> {
    let expires = claims.get("exp").ok_or(AuthError::Claim("`exp` is missing"))?;
    let expires = seconds(expires).ok_or(AuthError::Claim("`exp` is not a time in seconds"))?;
    if now >= expires.saturating_add(LEEWAY_SECONDS) {
        return Err(AuthError::Expired);
    }
    if let Some(from) = claims.get("nbf") {
        let from = seconds(from).ok_or(AuthError::Claim("`nbf` is not a time in seconds"))?;
        if now.saturating_add(LEEWAY_SECONDS) < from {
            return Err(AuthError::NotYetValid);
        }
    }
    Ok(expires)
}

fn check_audience(claims: &Value, accepted: &[String]) -> Result<(), AuthError> {
    let named: Vec<&str> = match claims.get("aud") {
        None => return Err(AuthError::Claim("`aud` is missing")),
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err(AuthError::Claim("`aud` is neither a string nor a list")),
    };
    if named.iter().any(|name| accepted.iter().any(|own| own == name)) { Ok(()) } else { Err(AuthError::Audience) }
}

fn claim<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    let found = if name.starts_with('/') { claims.pointer(name) } else { claims.get(name) };
    found.filter(|value| !value.is_null())
}

fn text(claims: &Value, name: &str) -> Option<String> {
    claim(claims, name)?.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn read_caller(claims: &Value, issuer: &IssuerConfig) -> Result<Caller, AuthError> {
    let names = &issuer.claims;
    let subject = text(claims, "sub").ok_or(AuthError::Claim("subject (`sub`) is missing or blank"))?;
    let org = match &issuer.organization {
        Some(org) => org.clone(),
        None => text(claims, &names.org).ok_or(AuthError::Claim("organization claim is missing or blank"))?,
    };
    if subject.len() > NAME_BYTES {
        return Err(AuthError::Claim("subject (`sub`) is longer than 512 bytes"));
    }
    if org.len() > NAME_BYTES {
        return Err(AuthError::Claim("organization claim is longer than 512 bytes"));
    }
    let kind = match claim(claims, &names.kind) {
        None => issuer.kind_when_absent.ok_or(AuthError::Claim("kind claim is missing"))?,
        Some(Value::String(kind)) if kind == Kind::Agent.as_str() => Kind::Agent,
        Some(Value::String(kind)) if kind == Kind::Person.as_str() => Kind::Person,
        Some(_) => return Err(AuthError::Claim("kind claim is neither agent nor person")),
    };
    let groups = read_groups(claims, &names.groups)?;
    let flagged = match claim(claims, &names.operator) {
        None => false,
        Some(Value::Bool(operator)) => *operator,
        Some(Value::String(operator)) if operator == "true" => true,
        Some(Value::String(operator)) if operator == "false" => false,
        Some(_) => return Err(AuthError::Claim("operator claim is neither true nor false")),
    };
    let operator = flagged || groups.iter().any(|group| issuer.operator_groups.contains(group));
    let client = match &names.client {
        Some(name) => text(claims, name),
        None => text(claims, "client_id").or_else(|| text(claims, "azp")),
    };
    let listed = client.as_ref().is_some_and(|client| issuer.people_clients.contains(client));
    let person = read_person(claims, names);
    Ok(Caller { org, subject, kind, groups, operator, person, client, may_decide: kind == Kind::Person && listed })
}

fn read_groups(claims: &Value, name: &str) -> Result<Vec<String>, AuthError> {
    let wrong = AuthError::Claim("groups claim is neither a list of strings nor a string");
    match claim(claims, name) {
        None => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(several)) => {
            several.iter().map(|group| group.as_str().map(str::to_owned).ok_or(wrong.clone())).collect()
        }
        Some(_) => Err(wrong),
    }
}

/// An address that the issuer says it did not verify would let anybody take another's work items, so it counts as none.
fn read_person(claims: &Value, names: &ClaimNames) -> Option<String> {
    let unverified = match claims.get("email_verified") {
        Some(Value::Bool(verified)) => !verified,
        Some(Value::String(verified)) => verified == "false",
        _ => false,
    };
    if names.person == "email" && unverified { None } else { text(claims, &names.person) }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
