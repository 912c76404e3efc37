//! Which keys seal and which verify, with Secrets Manager spoken to over HTTP.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use store::ClaimToken;

use super::*;
use crate::testing::{Asked, Service, error};

const OLD: &str = "0aaaaaaa-1111-4111-8111-111111111111";
const NEW: &str = "0bbbbbbb-2222-4222-8222-222222222222";

fn text(key: &str) -> String {
    json!({ "publicUrl": "https://p.example/mcp", "key": key.repeat(16) }).to_string()
}

/// A version as it is answered, created so many seconds ago.
fn version(id: &str, text: &str, age: i64) -> (u16, Value) {
    (200, json!({ "VersionId": id, "SecretString": text, "CreatedDate": now() - age }))
}

/// A secret whose stages are these.
fn secret(stages: impl Fn(&str) -> (u16, Value) + Send + Sync + 'static) -> Service {
    Service::by(move |asked: &Asked| {
        assert_eq!(asked.target, "secretsmanager.GetSecretValue");
        assert_eq!(asked.body["SecretId"], "claims");
        stages(asked.body["VersionStage"].as_str().unwrap())
    })
}

async fn read(service: &Service) -> Result<ClaimKeys, String> {
    ClaimKeys::read(Client::new(&service.config(1).await), "claims").await
}

fn token() -> ClaimToken {
    let text = |text: &str| text.to_owned();
    ClaimToken { org: text("o"), run: text("r_1"), step: text("s"), attempt: 1, lease: 1, subject: text("a") }
}

#[tokio::test]
async fn two_versions_both_verify_and_the_current_one_seals() {
    let service = secret(|stage| match stage {
        CURRENT => version(NEW, &text("nw"), 10_000),
        _ => version(OLD, &text("ol"), 20_000),
    });
    let keys = read(&service).await.unwrap();
    let seal = keys.seal();
    assert_eq!(seal.key_id(), "0bbbbbbb");
    assert_eq!(keys.public_url(), Some("https://p.example/mcp"));
    for id in ["0aaaaaaa", "0bbbbbbb"] {
        let sealed = seal.claim(&token(), id);
        assert!(sealed.starts_with(id), "{sealed}");
        assert_eq!(seal.read_claim(&sealed), Some(token()));
    }
}

#[tokio::test]
async fn a_version_that_some_functions_may_not_know_yet_only_verifies() {
    let service = secret(|stage| match stage {
        CURRENT => version(NEW, &text("nw"), SETTLE_SECONDS - 60),
        _ => version(OLD, &text("ol"), 20_000),
    });
    let seal = read(&service).await.unwrap().seal();
    assert_eq!(seal.key_id(), "0aaaaaaa");
    assert_eq!(seal.read_claim(&seal.claim(&token(), "0bbbbbbb")), Some(token()));
}

#[tokio::test]
async fn one_version_is_enough_however_new_it_is() {
    let service = secret(|stage| match stage {
        CURRENT => version(NEW, &text("nw"), 0),
        _ => error(400, "ResourceNotFoundException"),
    });
    assert_eq!(read(&service).await.unwrap().seal().key_id(), "0bbbbbbb");
}

#[tokio::test]
async fn ids_that_begin_alike_are_told_apart() {
    let (current, previous) = ("0aaaaaaa-3333", "0aaaaaaa-4444");
    let service = secret(move |stage| match stage {
        CURRENT => version(current, &text("nw"), 10_000),
        _ => version(previous, &text("ol"), 20_000),
    });
    let seal = read(&service).await.unwrap().seal();
    assert_eq!(seal.key_id(), current);
    assert!(seal.claim(&token(), previous).starts_with(previous));
}

#[tokio::test]
async fn what_is_no_key_is_said_without_repeating_it() {
    let hidden = "hunter2 hunter2 hunter2 hunter2 hunter2";
    for (answer, expected) in [
        (version(NEW, hidden, 0), "AWSCURRENT is not JSON"),
        (version(NEW, &json!({ "key": 7, "publicUrl": hidden }).to_string(), 0), "AWSCURRENT is not JSON"),
        (version(NEW, &json!({ "publicUrl": hidden }).to_string(), 0), "AWSCURRENT is not JSON"),
        (version(NEW, r#"{"key":"hunter2"}"#, 0), "AWSCURRENT has a key of less than 32 bytes"),
        (version("a.b", &text("nw"), 0), "AWSCURRENT has no version id"),
        ((200, json!({ "VersionId": NEW })), "AWSCURRENT is not JSON"),
        (error(400, "ResourceNotFoundException"), "AWSCURRENT could not be read: answered 400 (ResourceNotFound"),
        (error(403, "AccessDeniedException"), "AWSCURRENT could not be read: answered 403 (AccessDeniedException)"),
    ] {
        let service = secret(move |stage| match stage {
            CURRENT => answer.clone(),
            _ => error(400, "ResourceNotFoundException"),
        });
        let failed = read(&service).await.map(drop).expect_err(expected);
        assert!(failed.starts_with(expected), "{failed}");
        assert!(!failed.contains("hunter2"), "{failed}");
    }
    // The one before counts as well: without it, tokens that are in use would not verify.
    let service = secret(|stage| match stage {
        CURRENT => version(NEW, &text("nw"), 0),
        _ => error(500, "InternalServiceError"),
    });
    let failed = read(&service).await.map(drop).expect_err("refused");
    assert!(failed.starts_with("AWSPREVIOUS could not be read"), "{failed}");
}

#[tokio::test]
async fn a_rotation_reaches_a_running_function_and_a_failure_changes_nothing() {
    let stages: Arc<Mutex<&str>> = Arc::new(Mutex::new("before"));
    let shown = Arc::clone(&stages);
    let service = secret(move |stage| match (*shown.lock().unwrap(), stage) {
        ("before", CURRENT) => version(OLD, &text("ol"), 20_000),
        ("after", CURRENT) => version(NEW, &text("nw"), 10_000),
        ("after", _) => version(OLD, &text("ol"), 30_000),
        ("down", _) => error(500, "InternalServiceError"),
        _ => error(400, "ResourceNotFoundException"),
    });
    let keys = read(&service).await.unwrap();
    let (seal, asked) = (keys.seal(), service.asked().len());
    let old = seal.claim(&token(), "0aaaaaaa");

    keys.refresh().await;
    assert_eq!(service.asked().len(), asked, "they are fresh");

    *stages.lock().unwrap() = "down";
    let later = now() + KEYS_SECONDS + 1;
    keys.refresh_at(later).await;
    let asked_down = service.asked().len();
    assert!(asked_down > asked);
    assert_eq!((seal.key_id().as_str(), seal.read_claim(&old)), ("0aaaaaaa", Some(token())));
    keys.refresh_at(later + 1).await;
    assert_eq!(service.asked().len(), asked_down, "it rests after a failure");

    *stages.lock().unwrap() = "after";
    keys.refresh_at(later + REST_SECONDS).await;
    assert_eq!((seal.key_id().as_str(), seal.read_claim(&old)), ("0bbbbbbb", Some(token())));
}

#[tokio::test]
async fn the_text_of_another_secret_is_its_current_version() {
    let service = Service::answering([(200, json!({ "VersionId": NEW, "SecretString": "sk-1" }))]);
    let client = Client::new(&service.config(1).await);
    assert_eq!(super::text(&client, "evaluator").await.as_deref(), Ok("sk-1"));
    assert_eq!(service.asked()[0].body, json!({ "SecretId": "evaluator", "VersionStage": "AWSCURRENT" }));
    let service = Service::answering([(200, json!({ "VersionId": NEW }))]);
    let client = Client::new(&service.config(1).await);
    assert_eq!(super::text(&client, "evaluator").await, Err("the secret has no text".to_owned()));
}
