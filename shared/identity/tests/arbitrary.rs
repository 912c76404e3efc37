//! No header whatever brings the verifier down, and none is accepted that its issuer did not sign. `PROPTEST_CASES` set to
//! a large number searches for hours instead of a moment.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{AuthError, Caller, Config, FetchError, FetchKeys, IssuerConfig, Verifier};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
const ISSUER: &str = "https://id.example";

/// An Ed25519 key in PKCS #8: the fixed prefix of that form, then the seed.
fn signing_key() -> EncodingKey {
    let mut der = vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    der.extend_from_slice(&[1; 32]);
    EncodingKey::from_ed_der(&der)
}

struct Issuer;

#[async_trait]
impl FetchKeys for Issuer {
    async fn fetch(&self, _url: &str) -> Result<Vec<u8>, FetchError> {
        let mut jwk = Jwk::from_encoding_key(&signing_key(), Algorithm::EdDSA).unwrap();
        jwk.common.key_id = Some("one".to_owned());
        Ok(json!({ "keys": [jwk] }).to_string().into_bytes())
    }
}

/// A token that is accepted, without its scheme.
static GOOD: LazyLock<String> = LazyLock::new(|| {
    let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::EdDSA) };
    encode(&header, &claims(), &signing_key()).unwrap()
});

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "procession", "sub": "u_mira", "exp": NOW + 600, "org": "acme", "kind": "person" })
}

/// The verifier has seen the good token, so that it has the issuer's keys and remembers the caller.
static VERIFIER: LazyLock<Verifier> = LazyLock::new(|| {
    let issuer =
        IssuerConfig { jwks_uri: Some("https://id.example/jwks".into()), ..IssuerConfig::new(ISSUER, "procession") };
    let verifier = Verifier::new(Config { issuers: vec![issuer] }, Arc::new(Issuer)).unwrap();
    wait(verifier.verify(Some(&format!("Bearer {}", *GOOD)), NOW)).expect("the good token is good");
    verifier
});

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn verify(header: &str) -> Result<Arc<Caller>, AuthError> {
    wait(VERIFIER.verify(Some(header), NOW))
}

fn verify_token(token: &str) -> Result<Arc<Caller>, AuthError> {
    verify(&format!("Bearer {token}"))
}

/// Header and claims that are nearly right, or any.
fn part(right: Value) -> impl Strategy<Value = String> {
    let names: Vec<String> = right.as_object().unwrap().keys().cloned().collect();
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!(["procession", {}])),
    ];
    let changes = prop::collection::vec((prop_oneof![prop::sample::select(names), "[a-z]{1,4}"], value), 0..3);
    let nearly = changes.prop_map(move |changes| {
        let mut object = right.clone();
        changes.into_iter().for_each(|(name, value)| object[name] = value);
        URL_SAFE_NO_PAD.encode(object.to_string())
    });
    let bytes = prop::collection::vec(any::<u8>(), 0..80).prop_map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    prop_oneof![4 => nearly, 1 => bytes]
}

proptest! {
    #[test]
    fn any_text_is_refused(text in any::<String>()) {
        prop_assert!(verify(&text).is_err());
        prop_assert!(verify_token(&text).is_err());
    }

    #[test]
    fn what_nobody_signed_is_refused(
        header in part(json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" })),
        claims in part(claims()),
        signature in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let token = format!("{header}.{claims}.{}", URL_SAFE_NO_PAD.encode(signature));
        prop_assert!(verify_token(&token).is_err());
    }

    #[test]
    fn a_token_changed_anywhere_is_refused(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3, "[A-Za-z0-9_.=+/ -]"), 1..4),
    ) {
        let mut token = GOOD.clone();
        for (place, edit, text) in edits {
            let place = place.index(token.len());
            match edit {
                0 => token.replace_range(place..=place, &text),
                1 => token.insert_str(place, &text),
                _ => drop(token.remove(place)),
            }
            // Blanks around a token are none of it.
            if token.trim() == *GOOD {
                prop_assert!(verify_token(&token).is_ok());
            } else {
                prop_assert!(verify_token(&token).is_err(), "{token}");
            }
        }
    }
}
