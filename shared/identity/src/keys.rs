//! One issuer's public keys, kept by key id.
//!
//! Invariants: one fetch at a time; an unknown key id makes it fetch again, but not more often than
//! [`REFRESH_SECONDS`], so that made-up key ids cannot be turned into load on the issuer; keys stay in use while the
//! issuer does not answer, up to [`STALE_SECONDS`]; symmetric keys, encryption keys and short RSA keys are never loaded.

use crate::config::{IssuerConfig, algorithm};
use crate::fetch::{FetchKeys, is_safe_url};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::Mutex;

/// Keys older than this are fetched again before the next signature is verified, in seconds.
pub(crate) const FRESH_SECONDS: u64 = 3_600;

/// Keys older than this are no longer used, however long the issuer has not answered, in seconds.
pub(crate) const STALE_SECONDS: u64 = 86_400;

/// Shortest time between two fetches, in seconds, when keys are in hand.
pub(crate) const REFRESH_SECONDS: u64 = 30;

/// Shortest time between two fetches, in seconds, when there are no keys at all.
pub(crate) const RETRY_SECONDS: u64 = 1;

/// Most keys kept of one issuer.
pub(crate) const MOST_KEYS: usize = 100;

/// Shortest RSA modulus accepted, in bytes.
const RSA_BYTES: usize = 256;

/// One usable key.
pub(crate) struct Key {
    id: Option<String>,
    /// The only algorithm the key may be used with, when it names one.
    algorithm: Option<Algorithm>,
    pub(crate) key: DecodingKey,
}

/// Why no key was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoKey {
    /// The issuer's keys could not be fetched, and none are in hand.
    Unavailable(String),
    /// The issuer has no such key.
    Unknown,
    /// The token names no key, and the issuer has several.
    Ambiguous,
}

#[derive(Default)]
struct Held {
    keys: Arc<Vec<Key>>,
    fetched: Option<u64>,
    tried: Option<u64>,
    failure: String,
}

/// The keys of one issuer.
#[derive(Default)]
pub(crate) struct Keys {
    held: RwLock<Held>,
    fetching: Mutex<()>,
}

/// What was found in the keys at hand.
enum Found {
    Key(usize),
    None,
    Several,
}

impl Keys {
    /// The key for a token's key id and algorithm: an index into the returned set. `now` is in seconds.
    pub(crate) async fn find(
        &self,
        issuer: &IssuerConfig,
        fetch: &dyn FetchKeys,
        id: Option<&str>,
        algorithm: Algorithm,
        now: u64,
    ) -> Result<(Arc<Vec<Key>>, usize), NoKey> {
        let (keys, age, _) = self.in_hand(now);
        if age.is_some_and(|age| age < FRESH_SECONDS)
            && let Found::Key(index) = pick(&keys, id, algorithm)
        {
            return Ok((keys, index));
        }
        self.refresh(issuer, fetch, now).await;
        let (keys, age, failure) = self.in_hand(now);
        if age.is_none_or(|age| age >= STALE_SECONDS) {
            return Err(NoKey::Unavailable(failure));
        }
        match pick(&keys, id, algorithm) {
            Found::Key(index) => Ok((keys, index)),
            Found::None => Err(NoKey::Unknown),
            Found::Several => Err(NoKey::Ambiguous),
        }
    }

    fn in_hand(&self, now: u64) -> (Arc<Vec<Key>>, Option<u64>, String) {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        (Arc::clone(&held.keys), held.fetched.map(|at| now.saturating_sub(at)), held.failure.clone())
    }

    /// Fetches unless somebody just did. A failure leaves the keys in hand as they are.
    async fn refresh(&self, issuer: &IssuerConfig, fetch: &dyn FetchKeys, now: u64) {
        let _one_at_a_time = self.fetching.lock().await;
        {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let pause = if held.fetched.is_some() { REFRESH_SECONDS } else { RETRY_SECONDS };
            if held.tried.is_some_and(|at| now.saturating_sub(at) < pause) {
                return;
            }
            held.tried = Some(now);
        }
        let outcome = load(issuer, fetch).await;
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(keys) => {
                held.keys = Arc::new(keys);
                held.fetched = Some(now);
                held.failure.clear();
            }
            Err(reason) => held.failure = reason,
        }
    }
}

fn pick(keys: &[Key], id: Option<&str>, algorithm: Algorithm) -> Found {
    let fits = |key: &Key| {
        key.key.family() == algorithm.family()
            && key.algorithm.is_none_or(|own| own == algorithm)
            && id.is_none_or(|id| key.id.as_deref() == Some(id))
    };
    let mut fitting = keys.iter().enumerate().filter(|(_, key)| fits(key)).map(|(index, _)| index);
    match (fitting.next(), fitting.next()) {
        (None, _) => Found::None,
        // Several keys under one id are a fault of the issuer; the first is as good as any, the signature decides.
        (Some(_), Some(_)) if id.is_none() => Found::Several,
        (Some(index), _) => Found::Key(index),
    }
}

async fn load(issuer: &IssuerConfig, fetch: &dyn FetchKeys) -> Result<Vec<Key>, String> {
    let uri = match &issuer.jwks_uri {
        Some(uri) => uri.clone(),
        None => discover(&issuer.issuer, fetch).await?,
    };
    let document = document(fetch, &uri).await?;
    let Some(listed) = document.get("keys").and_then(Value::as_array) else {
        return Err(format!("{uri}: not a key set: no `keys` list"));
    };
    let keys: Vec<Key> = listed.iter().filter_map(usable).take(MOST_KEYS).collect();
    if keys.is_empty() { Err(format!("{uri}: no key that can verify a signature")) } else { Ok(keys) }
}

async fn discover(issuer: &str, fetch: &dyn FetchKeys) -> Result<String, String> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let document = document(fetch, &url).await?;
    let text = |name: &str| document.get(name).and_then(Value::as_str);
    if text("issuer") != Some(issuer) {
        return Err(format!("{url}: its `issuer` is not exactly {issuer}"));
    }
    match text("jwks_uri") {
        Some(uri) if is_safe_url(uri) => Ok(uri.to_owned()),
        Some(uri) => Err(format!("{url}: its `jwks_uri` {uri} is not an https URL")),
        None => Err(format!("{url}: no `jwks_uri`")),
    }
}

async fn document(fetch: &dyn FetchKeys, url: &str) -> Result<Value, String> {
    let bytes = fetch.fetch(url).await.map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{url}: not JSON: {error}"))
}

/// A key of the set, when it can verify signatures of an allowed algorithm. One strange key must not spoil the others,
/// so each is read on its own.
fn usable(value: &Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
    if matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption)) {
        return None;
    }
    let named = match value.get("alg").and_then(Value::as_str) {
        Some(name) => Some(algorithm(name)?),
        None => None,
    };
    match &jwk.algorithm {
        AlgorithmParameters::RSA(rsa) if bytes_of(&rsa.n) < RSA_BYTES => return None,
        AlgorithmParameters::OctetKey(_) | AlgorithmParameters::Other(_) => return None,
        _ => {}
    }
    Some(Key { id: jwk.common.key_id.clone(), algorithm: named, key: DecodingKey::from_jwk(&jwk).ok()? })
}

/// How many bytes a base64url text stands for.
fn bytes_of(base64url: &str) -> usize {
    base64url.len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::FetchError;
    use async_trait::async_trait;
    use serde_json::json;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    const X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

    struct Served {
        documents: std::sync::Mutex<Vec<(String, Value)>>,
        down: AtomicBool,
        fetches: AtomicUsize,
    }

    impl Served {
        fn new(documents: &[(&str, Value)]) -> Self {
            let documents = documents.iter().map(|(url, value)| ((*url).to_owned(), value.clone())).collect();
            Served {
                documents: std::sync::Mutex::new(documents),
                down: AtomicBool::new(false),
                fetches: AtomicUsize::new(0),
            }
        }

        fn fetches(&self) -> usize {
            self.fetches.load(Ordering::SeqCst)
        }
    }

    #[async_trait]
    impl FetchKeys for Served {
        async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
            self.fetches.fetch_add(1, Ordering::SeqCst);
            let found = self.documents.lock().expect("lock").iter().find(|(at, _)| at == url).cloned();
            match found {
                Some((_, value)) if !self.down.load(Ordering::SeqCst) => Ok(value.to_string().into_bytes()),
                _ => Err(FetchError { url: url.into(), reason: "down".into() }),
            }
        }
    }

    fn ed(id: &str) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "x": X, "kid": id, "alg": "EdDSA", "use": "sig", "nbf": 1.5 })
    }

    fn issuer() -> IssuerConfig {
        IssuerConfig { jwks_uri: Some("https://id/jwks".into()), ..IssuerConfig::new("https://id", "p") }
    }

    async fn find(keys: &Keys, served: &Served, id: Option<&str>, now: u64) -> Result<usize, NoKey> {
        keys.find(&issuer(), served, id, Algorithm::EdDSA, now).await.map(|(_, index)| index)
    }

    #[tokio::test]
    async fn a_known_key_costs_one_fetch_an_hour() {
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a"), ed("b")] }))]);
        let keys = Keys::default();
        for now in 1_000..1_100 {
            assert_eq!(find(&keys, &served, Some("b"), now).await, Ok(1));
        }
        assert_eq!(served.fetches(), 1);
        assert_eq!(find(&keys, &served, Some("b"), 1_000 + FRESH_SECONDS).await, Ok(1));
        assert_eq!(served.fetches(), 2);
    }

    #[tokio::test]
    async fn an_unknown_key_fetches_again_but_not_often() {
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a")] }))]);
        let keys = Keys::default();
        for now in 1_000..1_000 + REFRESH_SECONDS {
            assert_eq!(find(&keys, &served, Some("new"), now).await, Err(NoKey::Unknown));
        }
        assert_eq!(served.fetches(), 1);
        served.documents.lock().expect("lock")[0].1 = json!({ "keys": [ed("a"), ed("new")] });
        assert_eq!(find(&keys, &served, Some("new"), 1_000 + REFRESH_SECONDS).await, Ok(1));
        assert_eq!(served.fetches(), 2);
    }

    #[tokio::test]
    async fn keys_stay_in_use_while_the_issuer_is_down_but_not_for_ever() {
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a")] }))]);
        let keys = Keys::default();
        assert_eq!(find(&keys, &served, Some("a"), 1_000).await, Ok(0));
        served.down.store(true, Ordering::SeqCst);
        assert_eq!(find(&keys, &served, Some("a"), 1_000 + STALE_SECONDS - 1).await, Ok(0));
        let error = find(&keys, &served, Some("a"), 1_000 + STALE_SECONDS).await.expect_err("too old");
        assert_eq!(error, NoKey::Unavailable("https://id/jwks: down".into()));
    }

    #[tokio::test]
    async fn an_issuer_that_comes_up_late_is_asked_again_soon() {
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a")] }))]);
        served.down.store(true, Ordering::SeqCst);
        let keys = Keys::default();
        assert!(matches!(find(&keys, &served, Some("a"), 1_000).await, Err(NoKey::Unavailable(_))));
        served.down.store(false, Ordering::SeqCst);
        assert!(matches!(find(&keys, &served, Some("a"), 1_000).await, Err(NoKey::Unavailable(_))));
        assert_eq!(find(&keys, &served, Some("a"), 1_000 + RETRY_SECONDS).await, Ok(0));
    }

    #[tokio::test]
    async fn a_token_without_a_key_id_needs_a_lone_key() {
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a")] }))]);
        assert_eq!(find(&Keys::default(), &served, None, 1_000).await, Ok(0));
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [ed("a"), ed("b")] }))]);
        assert_eq!(find(&Keys::default(), &served, None, 1_000).await, Err(NoKey::Ambiguous));
    }

    #[tokio::test]
    async fn keys_that_must_not_verify_are_never_loaded() {
        let secret = json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "s", "alg": "HS256" });
        let encryption = json!({ "kty": "OKP", "crv": "Ed25519", "x": X, "kid": "e", "use": "enc" });
        let short = json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "r" });
        let strange = json!({ "kty": "new", "kid": "x" });
        let served = Served::new(&[("https://id/jwks", json!({ "keys": [secret, encryption, short, strange, 7] }))]);
        let error = find(&Keys::default(), &served, Some("s"), 1_000).await.expect_err("no key");
        assert!(matches!(&error, NoKey::Unavailable(reason) if reason.contains("no key")), "{error:?}");
    }

    #[tokio::test]
    async fn discovery_finds_the_keys_of_exactly_this_issuer() {
        let at = "https://id/.well-known/openid-configuration";
        let discovered = IssuerConfig::new("https://id/", "p");
        for (said, uri, fine) in [
            ("https://id/", "https://id/k", true),
            ("https://id", "https://id/k", false),
            ("https://other/", "https://id/k", false),
            ("https://id/", "http://id/k", false),
        ] {
            let served = Served::new(&[
                (at, json!({ "issuer": said, "jwks_uri": uri })),
                ("https://id/k", json!({ "keys": [ed("a")] })),
                ("http://id/k", json!({ "keys": [ed("a")] })),
            ]);
            let found = Keys::default().find(&discovered, &served, Some("a"), Algorithm::EdDSA, 1_000).await;
            assert_eq!(found.is_ok(), fine, "{said} {uri}");
        }
    }
}
