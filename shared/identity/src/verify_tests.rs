//! Every refusal with its own variant, against really signed tokens.

use super::*;
use crate::fetch::FetchError;
use async_trait::async_trait;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

const NOW: u64 = 1_800_000_000;
const ISSUER: &str = "https://id.example";

/// An Ed25519 key in PKCS #8: the fixed prefix of that form, then the seed.
fn signing_key(seed: u8) -> EncodingKey {
    let mut der = vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    der.extend_from_slice(&[seed; 32]);
    EncodingKey::from_ed_der(&der)
}

fn public(seed: u8, id: &str) -> Value {
    let mut jwk = Jwk::from_encoding_key(&signing_key(seed), Algorithm::EdDSA).expect("a public key");
    jwk.common.key_id = Some(id.to_owned());
    serde_json::to_value(jwk).expect("JSON")
}

struct Issuer {
    keys: Value,
    fetches: AtomicUsize,
}

#[async_trait]
impl FetchKeys for Issuer {
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, FetchError> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        match url {
            "https://id.example/jwks" => Ok(self.keys.to_string().into_bytes()),
            _ => Err(FetchError { url: url.into(), reason: "unreachable".into() }),
        }
    }
}

fn issuer_config() -> IssuerConfig {
    IssuerConfig {
        jwks_uri: Some("https://id.example/jwks".into()),
        people_clients: vec!["portal".into()],
        ..IssuerConfig::new(ISSUER, "procession")
    }
}

fn verifier_of(config: IssuerConfig, keys: &[Value]) -> Verifier {
    let dead =
        IssuerConfig { jwks_uri: Some("https://dead.example/".into()), ..IssuerConfig::new("https://dead", "p") };
    let issuer = Issuer { keys: json!({ "keys": keys }), fetches: AtomicUsize::new(0) };
    Verifier::new(Config { issuers: vec![config, dead] }, Arc::new(issuer)).expect("a valid configuration")
}

fn verifier() -> Verifier {
    verifier_of(issuer_config(), &[public(1, "one"), public(2, "two")])
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "procession", "sub": "u_mira", "exp": NOW + 600, "org": "acme", "kind": "person",
            "groups": ["g_finance"], "email": "mira@acme.example", "client_id": "portal" })
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().expect("an object").remove(name);
    claims
}

fn sign(claims: &Value, id: Option<&str>, seed: u8) -> String {
    let header = Header { kid: id.map(str::to_owned), ..Header::new(Algorithm::EdDSA) };
    format!("Bearer {}", encode(&header, claims, &signing_key(seed)).expect("a token"))
}

async fn outcome(header: &str) -> Result<Arc<Caller>, AuthError> {
    verifier().verify(Some(header), NOW).await
}

async fn refused(claims: &Value) -> AuthError {
    outcome(&sign(claims, Some("one"), 1)).await.expect_err("refused")
}

async fn accepted(config: IssuerConfig, claims: &Value) -> Arc<Caller> {
    let verifier = verifier_of(config, &[public(1, "one")]);
    verifier.verify(Some(&sign(claims, Some("one"), 1)), NOW).await.expect("accepted")
}

fn raw(header: &Value, claims: &Value, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("Bearer {}.{}.{signature}", part(header), part(claims))
}

#[tokio::test]
async fn a_good_token_gives_the_caller() {
    let caller = outcome(&sign(&claims(), Some("one"), 1)).await.expect("accepted");
    let expected = Caller {
        org: "acme".into(),
        subject: "u_mira".into(),
        kind: Kind::Person,
        groups: vec!["g_finance".into()],
        operator: false,
        person: Some("mira@acme.example".into()),
        client: Some("portal".into()),
        may_decide: true,
    };
    assert_eq!(*caller, expected);
}

#[tokio::test]
async fn no_token_at_all_is_missing() {
    for header in [None, Some(""), Some("  ")] {
        assert_eq!(verifier().verify(header, NOW).await, Err(AuthError::Missing), "{header:?}");
    }
}

#[tokio::test]
async fn what_is_no_token_is_malformed() {
    let long = format!("Bearer {}", "a".repeat(TOKEN_BYTES + 1));
    let good = sign(&claims(), Some("one"), 1);
    let critical = raw(&json!({ "alg": "EdDSA", "kid": "one", "crit": ["x"] }), &claims(), "AA");
    let numbered = raw(&json!({ "alg": "EdDSA", "kid": 1 }), &claims(), "AA");
    let list = raw(&json!(["EdDSA"]), &claims(), "AA");
    let five_parts = format!("{good}.a.b");
    for header in [
        "Bearer",
        "Bearer ",
        "Basic dTpw",
        "Bearer abc",
        "Bearer a.b.c",
        "Bearer ..",
        &long,
        &critical,
        &numbered,
        &list,
        &five_parts,
        &raw(&json!({ "typ": "JWT" }), &claims(), ""),
    ] {
        let error = outcome(header).await.expect_err(header);
        assert!(matches!(error, AuthError::Malformed(_)), "{header}: {error:?}");
    }
}

#[tokio::test]
async fn alg_none_is_unsigned() {
    for name in ["none", "None", "NONE"] {
        let header = json!({ "alg": name, "kid": "one" });
        assert_eq!(outcome(&raw(&header, &claims(), "")).await, Err(AuthError::Unsigned), "{name}");
    }
}

#[tokio::test]
async fn a_public_key_is_no_secret() {
    // The attack: the server's public key, which everybody has, used as an HMAC secret.
    let public = URL_SAFE_NO_PAD.decode(public(1, "one")["x"].as_str().expect("x")).expect("base64");
    let header = Header { kid: Some("one".into()), ..Header::new(Algorithm::HS256) };
    let token = encode(&header, &claims(), &EncodingKey::from_secret(&public).expect("a secret")).expect("a token");
    assert_eq!(outcome(&format!("Bearer {token}")).await, Err(AuthError::Algorithm));
}

#[tokio::test]
async fn an_algorithm_outside_the_list_is_refused() {
    let config = IssuerConfig { algorithms: vec!["RS256".into()], ..issuer_config() };
    let verifier = verifier_of(config, &[public(1, "one")]);
    let token = sign(&claims(), Some("one"), 1);
    assert_eq!(verifier.verify(Some(&token), NOW).await, Err(AuthError::Algorithm));
    assert_eq!(outcome(&raw(&json!({ "alg": "ES999" }), &claims(), "AA")).await, Err(AuthError::Algorithm));
}

#[tokio::test]
async fn keys_are_found_by_their_id() {
    assert!(outcome(&sign(&claims(), Some("two"), 2)).await.is_ok());
    assert_eq!(outcome(&sign(&claims(), Some("three"), 1)).await, Err(AuthError::UnknownKey));
    assert_eq!(outcome(&sign(&claims(), None, 1)).await, Err(AuthError::AmbiguousKey));
    let lone = verifier_of(issuer_config(), &[public(1, "one")]);
    assert!(lone.verify(Some(&sign(&claims(), None, 1)), NOW).await.is_ok());
}

#[tokio::test]
async fn a_signature_of_another_key_or_text_is_refused() {
    assert_eq!(outcome(&sign(&claims(), Some("one"), 2)).await, Err(AuthError::Signature));
    let good = sign(&claims(), Some("one"), 1);
    let (rest, signature) = good.rsplit_once('.').expect("parts");
    let header = rest.strip_prefix("Bearer ").and_then(|rest| rest.split('.').next()).expect("header");
    let forged = URL_SAFE_NO_PAD.encode(with("operator", json!(true)).to_string());
    assert_eq!(outcome(&format!("Bearer {header}.{forged}.{signature}")).await, Err(AuthError::Signature));
    assert_eq!(outcome(&format!("{rest}.")).await, Err(AuthError::Signature));
}

#[tokio::test]
async fn times_are_checked_with_a_little_leeway() {
    for (name, value, expected) in [
        ("exp", json!(NOW), None),
        ("exp", json!(NOW - LEEWAY_SECONDS + 1), None),
        ("exp", json!(NOW - LEEWAY_SECONDS), Some(AuthError::Expired)),
        ("exp", json!(0), Some(AuthError::Expired)),
        ("exp", json!(NOW as f64 + 0.5), None),
        ("nbf", json!(NOW + LEEWAY_SECONDS), None),
        ("nbf", json!(NOW + LEEWAY_SECONDS + 1), Some(AuthError::NotYetValid)),
        ("exp", json!("soon"), Some(AuthError::Claim("`exp` is not a time in seconds"))),
        ("exp", json!(-1), Some(AuthError::Claim("`exp` is not a time in seconds"))),
        ("exp", json!(1e300), Some(AuthError::Claim("`exp` is not a time in seconds"))),
        ("nbf", json!([]), Some(AuthError::Claim("`nbf` is not a time in seconds"))),
    ] {
        let got = outcome(&sign(&with(name, value.clone()), Some("one"), 1)).await.err();
        assert_eq!(got, expected, "{name} {value}");
    }
    assert_eq!(refused(&without("exp")).await, AuthError::Claim("`exp` is missing"));
}

#[tokio::test]
async fn a_remembered_token_still_expires() {
    let verifier = verifier();
    let token = sign(&with("exp", json!(NOW + 60)), Some("one"), 1);
    assert!(verifier.verify(Some(&token), NOW).await.is_ok());
    assert!(verifier.verify(Some(&token), NOW + 60 + LEEWAY_SECONDS - 1).await.is_ok());
    assert_eq!(verifier.verify(Some(&token), NOW + 60 + LEEWAY_SECONDS).await, Err(AuthError::Expired));
}

#[tokio::test]
async fn the_audience_must_be_this_server() {
    assert_eq!(refused(&with("aud", json!("other"))).await, AuthError::Audience);
    assert_eq!(refused(&with("aud", json!([]))).await, AuthError::Audience);
    assert_eq!(refused(&with("aud", json!(["a", 1]))).await, AuthError::Audience);
    assert!(matches!(refused(&with("aud", json!(1))).await, AuthError::Claim(_)));
    assert!(matches!(refused(&without("aud")).await, AuthError::Claim(_)));
    assert!(outcome(&sign(&with("aud", json!(["other", "procession"])), Some("one"), 1)).await.is_ok());
}

#[tokio::test]
async fn the_issuer_must_be_configured_and_reachable() {
    assert_eq!(refused(&with("iss", json!("https://evil.example"))).await, AuthError::Issuer);
    assert_eq!(refused(&with("iss", json!("https://id.example/"))).await, AuthError::Issuer);
    assert!(matches!(refused(&without("iss")).await, AuthError::Claim(_)));
    assert!(matches!(refused(&with("iss", json!("https://dead"))).await, AuthError::KeysUnavailable(_)));
}

#[tokio::test]
async fn blank_or_missing_identity_is_refused() {
    for name in ["sub", "org"] {
        for value in [json!(""), json!(" \t"), json!(7), json!(null)] {
            assert!(matches!(refused(&with(name, value)).await, AuthError::Claim(_)), "{name}");
        }
        assert!(matches!(refused(&without(name)).await, AuthError::Claim(_)), "{name}");
    }
    assert!(matches!(refused(&without("kind")).await, AuthError::Claim(_)));
    assert!(matches!(refused(&with("kind", json!("robot"))).await, AuthError::Claim(_)));
    assert!(matches!(refused(&with("groups", json!([1]))).await, AuthError::Claim(_)));
    assert!(matches!(refused(&with("operator", json!(1))).await, AuthError::Claim(_)));
}

#[tokio::test]
async fn only_a_person_through_a_listed_client_may_decide() {
    for (claims, may) in [
        (claims(), true),
        (with("client_id", json!("agent-runner")), false),
        (without("client_id"), false),
        (with("kind", json!("agent")), false),
    ] {
        assert_eq!(accepted(issuer_config(), &claims).await.may_decide, may, "{claims}");
    }
    let mut azp = without("client_id");
    azp["azp"] = json!("portal");
    assert!(accepted(issuer_config(), &azp).await.may_decide);
}

#[tokio::test]
async fn claims_are_read_where_the_configuration_says() {
    let config = IssuerConfig {
        organization: Some("acme".into()),
        kind_when_absent: Some(Kind::Agent),
        operator_groups: vec!["admins".into()],
        claims: ClaimNames {
            groups: "/realm_access/roles".into(),
            person: "https://acme.example/person".into(),
            ..ClaimNames::default()
        },
        ..issuer_config()
    };
    let mut claims = without("kind");
    claims["org"] = json!("globex");
    claims["realm_access"] = json!({ "roles": ["admins"] });
    claims["https://acme.example/person"] = json!("E-7");
    let caller = accepted(config, &claims).await;
    assert_eq!((caller.org.as_str(), caller.kind, caller.operator), ("acme", Kind::Agent, true));
    assert_eq!(caller.person.as_deref(), Some("E-7"));
}

#[tokio::test]
async fn an_unverified_address_names_nobody() {
    for (verified, person) in
        [(json!(false), None), (json!("false"), None), (json!(true), Some("mira@acme.example".to_owned()))]
    {
        assert_eq!(accepted(issuer_config(), &with("email_verified", verified)).await.person, person);
    }
}

#[tokio::test]
async fn names_that_become_keys_are_bounded() {
    for name in ["sub", "org"] {
        assert!(outcome(&sign(&with(name, json!("x".repeat(NAME_BYTES))), Some("one"), 1)).await.is_ok(), "{name}");
        let long = with(name, json!("x".repeat(NAME_BYTES + 1)));
        assert!(matches!(refused(&long).await, AuthError::Claim(_)), "{name}");
    }
}

#[tokio::test]
async fn a_symmetric_key_in_the_set_verifies_nothing() {
    let secret = json!({ "kty": "oct", "k": URL_SAFE_NO_PAD.encode("secret"), "kid": "s" });
    let verifier = verifier_of(issuer_config(), &[public(1, "one"), secret]);
    let header = Header { kid: Some("s".into()), ..Header::new(Algorithm::HS256) };
    let token = encode(&header, &claims(), &EncodingKey::from_secret(b"secret").expect("a secret")).expect("a token");
    assert_eq!(verifier.verify(Some(&format!("Bearer {token}")), NOW).await, Err(AuthError::Algorithm));
}

#[tokio::test]
async fn no_error_text_holds_anything_of_the_token() {
    const MARK: &str = "SECRETMARK";
    for name in ["iss", "aud", "exp", "nbf", "kind", "operator", "groups"] {
        // A list suits the groups claim, so that one gets an object.
        let value = if name == "groups" { json!({ MARK: 1 }) } else { json!(MARK) };
        let error = refused(&with(name, value)).await;
        assert!(!error.to_string().contains(MARK), "{name}: {error}");
        assert!(!format!("{error:?}").contains(MARK), "{name}: {error:?}");
    }
    for header in [
        json!({ "alg": MARK }),
        json!({ "alg": "none", "kid": MARK }),
        json!({ "alg": "EdDSA", "kid": MARK }),
        json!({ "alg": "EdDSA", "crit": [MARK] }),
    ] {
        let error = outcome(&raw(&header, &claims(), MARK)).await.expect_err("refused");
        assert!(!format!("{error} {error:?}").contains(MARK), "{header}: {error:?}");
    }
}
