//! Evidence in the data folder, and the links that open it over HTTP.

// The lints that let a test panic know only the test functions, not what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use local::{Local, LocalOptions};
use store::files::{FilesError, Shown};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// An embedded server that serves its links on a port of its own until the test ends.
struct Served {
    _dir: tempfile::TempDir,
    local: Local,
    address: String,
}

async fn serve() -> Served {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let options = LocalOptions { dir: dir.path().join("data"), public_url: format!("http://{address}") };
    let local = Local::open(options).await.unwrap();
    let router = local.links();
    tokio::spawn(async move { axum::serve(listener, router).await });
    Served { _dir: dir, local, address }
}

fn shown(file_name: &str, content_type: &str) -> Shown {
    Shown { file_name: file_name.into(), content_type: content_type.into() }
}

async fn request(method: Method, url: &str) -> (StatusCode, HeaderMap, Bytes) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let request = Request::builder().method(method).uri(url).body(Empty::new()).unwrap();
    let (parts, body) = client.request(request).await.unwrap().into_parts();
    (parts.status, parts.headers, body.collect().await.unwrap().to_bytes())
}

async fn status(method: Method, url: &str) -> StatusCode {
    request(method, url).await.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_opens_the_file_it_was_made_for() {
    let served = serve().await;
    let files = served.local.files();
    let key = "acme/upload 1/ä+&=?#%.pdf";
    files.put(key, b"the bytes".to_vec(), "application/pdf").await.unwrap();
    let link = files.link(key, &shown("Angebot ä.pdf", "text/html"), Duration::from_secs(60)).await.unwrap();
    let (status, headers, bytes) = request(Method::GET, &link).await;
    assert_eq!(status, StatusCode::OK, "{link}");
    for (name, value) in [
        ("content-type", "text/html"),
        ("content-disposition", "attachment; filename=\"Angebot _.pdf\"; filename*=UTF-8''Angebot%20%C3%A4.pdf"),
        ("content-length", "9"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "private, no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(headers.get(name).map(|found| found.to_str().unwrap()), Some(value), "{name}");
    }
    assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox;"));
    assert_eq!(bytes, "the bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_else_opens() {
    let served = serve().await;
    let files = served.local.files();
    files.put("acme/1", b"one".to_vec(), "text/plain").await.unwrap();
    files.put("acme/2", b"two".to_vec(), "text/plain").await.unwrap();
    let shown = shown("a.txt", "text/plain");
    let minute = Duration::from_secs(60);
    let link = files.link("acme/1", &shown, minute).await.unwrap();
    assert_eq!(status(Method::GET, &link).await, StatusCode::OK);

    let base = format!("http://{}", served.address);
    let (path, query) = link.split_once('?').unwrap();
    let signature = link.split("X-Amz-Signature=").nth(1).unwrap().split('&').next().unwrap();
    let flipped: String = signature.chars().rev().collect();
    let altered = [
        link.replace(signature, &flipped),
        link.replace(signature, ""),
        link.replace("acme/1", "acme/2"),
        link.replace("a.txt", "b.exe"),
        link.replace("X-Amz-Expires=60", "X-Amz-Expires=6000"),
        link.replace(&served.address, &served.address.replace("127.0.0.1", "localhost")),
        format!("{link}&list-type=2"),
        format!("{link}&acl"),
        path.to_owned(),
        format!("{path}?X-Amz-Signature={signature}"),
        format!("{base}/evidence/?list-type=2&{query}"),
        format!("{base}/evidence?list-type=2"),
        format!("{base}/?{query}"),
    ];
    for url in &altered {
        assert_ne!(*url, link);
        let status = status(Method::GET, url).await;
        assert!([StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&status), "{status} for {url}");
    }
    for method in [Method::HEAD, Method::PUT, Method::POST, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        assert_eq!(status(method.clone(), &link).await, StatusCode::FORBIDDEN, "{method}");
    }
    let missing = files.link("acme/3", &shown, minute).await.unwrap();
    assert_eq!(status(Method::GET, &missing).await, StatusCode::NOT_FOUND);

    // A correctly signed request of another kind, made with the folder's own key: still refused at this door.
    let signing = aws_sdk_s3::presigning::PresigningConfig::expires_in(minute).unwrap();
    let (client, bucket) = served.local.s3();
    let put = client.put_object().bucket(bucket).key("acme/4").presigned(signing.clone()).await.unwrap();
    assert_eq!(status(Method::PUT, put.uri()).await, StatusCode::FORBIDDEN);
    let head = client.head_object().bucket(bucket).key("acme/1").presigned(signing).await.unwrap();
    assert_eq!(status(Method::GET, head.uri()).await, StatusCode::FORBIDDEN);
    assert_eq!(files.get("acme/4").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_expires() {
    let served = serve().await;
    let files = served.local.files();
    files.put("acme/1", b"one".to_vec(), "text/plain").await.unwrap();
    let link = files.link("acme/1", &shown("a.txt", "text/plain"), Duration::from_secs(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    let (status, _, text) = request(Method::GET, &link).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(String::from_utf8_lossy(&text).contains("Ask for a new one"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_path_leaves_the_folder() {
    let served = serve().await;
    // Written by hand: a client would tidy these paths up before it sent them.
    for path in ["/evidence/../keys/storage", "/evidence/%2e%2e/keys/storage", "/evidence//etc/passwd", "/../lock"] {
        let mut stream = TcpStream::connect(&served.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let line = answer.lines().next().unwrap();
        assert!(line.contains(" 403 ") || line.contains(" 404 "), "{path}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_writers_of_one_object_one_wins() {
    let served = serve().await;
    let (client, bucket) = served.local.s3();
    let write = |number: u32| {
        let request = client.put_object().bucket(bucket).key("one").if_none_match("*");
        let body = number.to_string().repeat(20_000).into_bytes();
        tokio::spawn(async move { (number, request.body(body.into()).send().await) })
    };
    let mut winners = Vec::new();
    for answer in futures::future::join_all((0..50).map(write)).await {
        match answer.unwrap() {
            (number, Ok(_)) => winners.push(number),
            (_, Err(error)) => {
                let code = aws_sdk_s3::error::ProvideErrorMetadata::code(&error);
                assert_eq!(code, Some("PreconditionFailed"), "{error:?}");
            }
        }
    }
    let [winner] = winners[..] else { panic!("winners: {winners:?}") };
    let stored = served.local.files().get("one").await.unwrap();
    assert!(stored == Some(winner.to_string().repeat(20_000).into_bytes()));
}

fn only_file(dir: &Path) -> std::path::PathBuf {
    let mut files = fs::read_dir(dir).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    file
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_bytes_again_are_harmless_other_bytes_are_not_taken() {
    let served = serve().await;
    let files = served.local.files();
    let bytes = vec![7_u8; 10 * 1024 * 1024];
    for _ in 0..2 {
        files.put("acme/1", bytes.clone(), "image/png").await.unwrap();
    }
    let refused = files.put("acme/1", b"other".to_vec(), "image/png").await;
    assert!(matches!(refused, Err(FilesError::Unavailable(_))), "{refused:?}");
    assert!(files.get("acme/1").await.unwrap() == Some(bytes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tampered_object_is_read_back_changed() {
    let served = serve().await;
    let files = served.local.files();
    files.put("acme/1", b"ten dollar".to_vec(), "text/plain").await.unwrap();
    let file = only_file(&served.local.keys().with_file_name("evidence"));
    let mut stored = fs::read(&file).unwrap();
    let at = stored.len() - "ten dollar".len();
    stored[at..].copy_from_slice(b"999 dollar");
    fs::write(&file, stored).unwrap();
    assert_eq!(files.get("acme/1").await.unwrap().as_deref(), Some(&b"999 dollar"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_backend_refuses_what_evidence_does_not_need() {
    let served = serve().await;
    let (client, bucket) = served.local.s3();
    assert!(client.list_objects_v2().bucket(bucket).send().await.is_err());
    assert!(client.delete_object().bucket(bucket).key("a").send().await.is_err());
    assert!(client.create_bucket().bucket("keys").send().await.is_err());
    assert!(client.put_object().bucket("keys").key("storage").send().await.is_err());
    store::s3::create_bucket(client, bucket).await.unwrap();
}
