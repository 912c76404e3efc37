//! Tokens of the folder's own issuer, as the verifier takes them, and the files they rest on.

use super::*;
use identity::{HttpFetch, Verifier};
use std::sync::Arc;

fn request() -> TokenRequest {
    TokenRequest {
        kind: Kind::Person,
        subject: "mira@acme.example".into(),
        org: "acme".into(),
        groups: vec!["g_finance".into()],
        operator: true,
        person: None,
        ttl: Duration::from_secs(3_600),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

/// A verifier that fetches the issuer's keys over loopback HTTP.
async fn verifier(issuer: &Issuer) -> Verifier {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let router = issuer.router(&base);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let config = issuer.config(&format!("{base}{JWKS_PATH}"));
    Verifier::new(config, Arc::new(HttpFetch::new())).expect("a valid configuration")
}

#[tokio::test]
async fn its_tokens_verify_over_http_and_outlive_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let token = Issuer::open(dir.path()).expect("opened").token(&request()).expect("a token");
    let restarted = Issuer::open(dir.path()).expect("opened again");
    let verifier = verifier(&restarted).await;
    let caller = verifier.verify(Some(&format!("Bearer {token}")), now()).await.expect("verified");
    assert_eq!((caller.org.as_str(), caller.subject.as_str()), ("acme", "mira@acme.example"));
    assert_eq!(caller.person.as_deref(), Some("mira@acme.example"));
    assert!(caller.operator && caller.may_decide && caller.groups == ["g_finance"]);
}

#[tokio::test]
async fn agents_and_plain_subjects_have_no_person_value_unless_given() {
    let dir = tempfile::tempdir().expect("a folder");
    let issuer = Issuer::open(dir.path()).expect("opened");
    let verifier = verifier(&issuer).await;
    let plain = TokenRequest { subject: "u_mira".into(), ..request() };
    let given = TokenRequest { person: Some("m@acme.example".into()), ..plain.clone() };
    let agent = TokenRequest { kind: Kind::Agent, ..request() };
    for (request, person, may_decide) in
        [(plain, None, true), (given, Some("m@acme.example"), true), (agent, None, false)]
    {
        let token = issuer.token(&request).expect("a token");
        let caller = verifier.verify(Some(&format!("Bearer {token}")), now()).await.expect("verified");
        assert_eq!((caller.person.as_deref(), caller.may_decide), (person, may_decide), "{request:?}");
    }
}

#[tokio::test]
async fn another_folder_is_another_issuer() {
    let (mine, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let (mine, other) = (Issuer::open(mine.path()).expect("opened"), Issuer::open(other.path()).expect("opened"));
    let token = other.token(&request()).expect("a token");
    let refused = verifier(&mine).await.verify(Some(&format!("Bearer {token}")), now()).await;
    assert_eq!(refused, Err(identity::AuthError::Issuer));
}

#[test]
fn every_fault_of_a_request_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let issuer = Issuer::open(dir.path()).expect("opened");
    let bad = TokenRequest {
        subject: " ".into(),
        org: String::new(),
        groups: vec![String::new()],
        person: Some(" ".into()),
        ttl: Duration::ZERO,
        ..request()
    };
    let message = issuer.token(&bad).expect_err("refused").to_string();
    for name in ["subject:", "org:", "group:", "person:", "ttl:"] {
        assert!(message.contains(name), "{name} in {message}");
    }
}

#[test]
fn many_processes_at_once_agree_on_one_key() {
    let dir = tempfile::tempdir().expect("a folder");
    let ids: Vec<String> = std::thread::scope(|scope| {
        let open = || Issuer::open(dir.path()).expect("opened").issuer_url();
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(open)).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
    });
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
    let left: Vec<_> = fs::read_dir(dir.path().join(KEYS)).expect("listed").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_key() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a folder");
    Issuer::open(dir.path()).expect("opened");
    let folder = dir.path().join(KEYS);
    let file = folder.join(KEY);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("changed");
    assert!(matches!(Issuer::open(dir.path()), Err(IssuerError::Open { mode: 0o644, .. })));
}

#[test]
fn a_broken_key_file_is_named_and_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join(KEYS).join(KEY);
    private_folder(&dir.path().join(KEYS)).expect("made");
    for text in ["", "{}", r#"{"id":"a","seed":"AA"}"#, r#"{"id":"","seed":""}"#] {
        let _ = fs::remove_file(&path);
        write_private(&path, text.as_bytes()).expect("written");
        let message = Issuer::open(dir.path()).err().expect("refused").to_string();
        assert!(message.contains(KEY) && message.contains("move it away"), "{message}");
        assert_eq!(fs::read_to_string(&path).expect("kept"), text);
    }
}
