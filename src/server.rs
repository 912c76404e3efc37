//! The embedded server: storage, issuer, timers and the endpoint in one process, on one port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use identity::{HttpFetch, Verifier};
use local::clock::PacedClock;
use local::issuer::Issuer;
use local::timers::{self, Wake};
use local::{Local, LocalOptions};
use mcp::{App, EndpointConfig, ProcessTools};
use serde::{Deserialize, Serialize};
use store::counting::{Counting, CountingFiles};
use store::table::Table;
use store::{Clock as _, Parts, RandomIds, Seal, SealKey, Settings, Store};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// The data folder when none is named.
pub const DATA: &str = ".procession";

/// The organization of tokens when none is named.
pub const ORG: &str = "local";

/// The file of the data folder that says what the last server there was.
const KNOWN: &str = "server.json";

/// Longest that a client may take to send a request's headers, or leave a kept connection idle.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// Most connections that are open at once. A further client waits, unaccepted, until one of them ends.
const CONNECTIONS: usize = 1_024;

/// How long accepting rests after a fault, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How far ahead a clock may be before people are told, in milliseconds.
const AHEAD_MILLIS: i64 = 1_000;

/// How a server is started.
#[derive(Clone)]
pub struct Options {
    /// Where it listens; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Where it keeps everything.
    pub data: PathBuf,
    /// How long a claim lasts, in seconds.
    pub lease_seconds: u64,
    /// How many times as fast as real time its clock runs.
    pub speed: u32,
    /// The organization of tokens that name none.
    pub org: String,
    /// Issuers whose tokens are taken beside those of the folder's own.
    pub trusted: Vec<identity::IssuerConfig>,
    /// Who answers the questions of checks. Without one, processes that have checks are refused.
    pub evaluator: Option<Arc<dyn store::Evaluator>>,
}

impl Default for Options {
    /// On a free port of this machine, in the usual folder, by the usual clock.
    fn default() -> Options {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: PathBuf::from(DATA),
            lease_seconds: run::Limits::default().lease_seconds,
            speed: 1,
            org: ORG.to_owned(),
            trusted: Vec::new(),
            evaluator: None,
        }
    }
}

/// What a data folder says of its server, so that other verbs find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The endpoint's address.
    pub mcp: String,
    /// The organization of tokens that name none.
    pub org: String,
}

impl Known {
    /// What the folder says, when a server ever ran there.
    pub fn read(data: &Path) -> Option<Known> {
        serde_json::from_slice(&std::fs::read(data.join(KNOWN)).ok()?).ok()
    }
}

/// A running server. It ends when this is dropped.
pub struct Running {
    /// The endpoint, such as `http://127.0.0.1:8484/mcp`.
    pub mcp: String,
    /// The `iss` of the tokens it takes.
    pub issuer: Arc<Issuer>,
    /// The data folder.
    pub data: PathBuf,
    /// The store behind the endpoint.
    pub store: Arc<Store>,
    /// The table behind the store, which counts what it and the bucket are asked.
    pub table: Arc<Counting<dyn Table>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Running {
    /// Ends the server, and returns when its folder is free.
    pub async fn stop(mut self) {
        for task in std::mem::take(&mut self.tasks) {
            task.abort();
            // Aborted, which is no fault.
            let _ = task.await;
        }
    }

    /// Whether the server's clock shows another time than the machine's: it ran faster in this folder before.
    pub fn clock_is_ahead(&self) -> bool {
        self.store.now().millis() > store::SystemClock.now().millis() + AHEAD_MILLIS
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Starts a server and returns once it answers.
///
/// # Errors
///
/// An address that is taken, a data folder that is another server's or cannot be used.
pub async fn start(options: Options) -> anyhow::Result<Running> {
    launch(options, true, |table| table).await
}

/// Starts a server without a timer loop, so that storage is asked by calls alone, and with `around` wrapped around the
/// table that it counts.
///
/// # Errors
///
/// As for [`start`].
pub async fn start_untimed(
    options: Options,
    around: impl FnOnce(Arc<dyn Table>) -> Arc<dyn Table>,
) -> anyhow::Result<Running> {
    launch(options, false, around).await
}

async fn launch(
    options: Options,
    timed: bool,
    around: impl FnOnce(Arc<dyn Table>) -> Arc<dyn Table>,
) -> anyhow::Result<Running> {
    let Options { listen, data, lease_seconds, speed, org, trusted, evaluator } = options;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("{listen} cannot be listened on; name another with --listen"))?;
    let address = listener.local_addr()?;
    let base = format!("http://{address}");
    let mcp = format!("{base}{}", mcp::MCP_PATH);

    let local = Local::open(LocalOptions { dir: data.clone(), public_url: base.clone() }).await?;
    let issuer = Arc::new(Issuer::open(&data)?);
    let clock = PacedClock::open(&data, speed).with_context(|| format!("the clock of {}", data.display()))?;
    let known = Known { mcp: mcp.clone(), org };
    let path = data.join(KNOWN);
    std::fs::write(&path, serde_json::to_vec(&known)?).with_context(|| path.display().to_string())?;

    let wake = Arc::new(Wake::default());
    let seal = Seal::new(vec![SealKey { id: "local".to_owned(), secret: local.key("claims")?.into_bytes() }])
        .ok_or_else(|| anyhow!("no key to seal claim tokens with"))?;
    let limits = run::Limits { lease_seconds, ..run::Limits::default() };
    let table = Arc::new(Counting::new(around(local.table())));
    let store = Arc::new(Store::new(Parts {
        table: Arc::clone(&table) as Arc<dyn Table>,
        files: Arc::new(CountingFiles::new(local.files(), &table)),
        clock: Arc::new(clock),
        ids: Arc::new(RandomIds),
        alarms: wake.clone(),
        evaluator,
        seal,
        settings: Settings { limits, ..Settings::default() },
    }));

    let mut identities = issuer.config(&format!("{base}{}", local::issuer::JWKS_PATH));
    let mut authorization_servers = vec![issuer.issuer_url()];
    authorization_servers.extend(trusted.iter().map(|t| t.issuer.clone()));
    identities.issuers.extend(trusted);
    let verifier = Verifier::new(identities, Arc::new(HttpFetch::new())).map_err(|p| anyhow!(p.join("\n")))?;
    let tools = ProcessTools::new(Arc::clone(&store)).map_err(|e| anyhow!(e))?;
    // A page elsewhere whose name was made to lead here is told apart by the name it calls.
    let allowed_hosts = match address.ip().is_loopback() {
        true => ["127.0.0.1", "localhost", "[::1]"].map(str::to_owned).to_vec(),
        false => Vec::new(),
    };
    let config =
        EndpointConfig { allowed_hosts, authorization_servers, loopback_origins: true, ..EndpointConfig::new(&mcp) };
    config.check().map_err(|p| anyhow!(p.join("\n")))?;
    let app = Arc::new(App { config, verifier, tools: Arc::new(tools) });
    let router = mcp::router(app).merge(local.links()).merge(issuer.router(&base));

    let mut tasks = vec![tokio::spawn(accept(listener, router, CONNECTIONS))];
    if timed {
        tasks.push(tokio::spawn(timers::run(Arc::clone(&store), wake, speed)));
    }
    Ok(Running { mcp, issuer, data, store, table, tasks })
}

/// Serves connections until it is dropped, at most so many at once. A client that does not finish its headers does
/// not keep its connection.
async fn accept(listener: TcpListener, router: axum::Router, most_connections: usize) {
    let mut connections = tokio::task::JoinSet::new();
    let places = Arc::new(Semaphore::new(most_connections));
    loop {
        // The semaphore is never closed, so a place always comes.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Answers are small; waiting to fill a packet would cost each of them a delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        connections.spawn(async move {
            // A client that goes away in the middle is no fault of the server's.
            let _ = connection.await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    /// Long enough for an answer on loopback, were one to come.
    const NO_ANSWER: Duration = Duration::from_millis(300);

    async fn asked(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.expect("sent");
        stream
    }

    #[tokio::test]
    async fn a_client_too_many_waits_until_another_leaves() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = tokio::spawn(accept(listener, axum::Router::new(), 1));
        let mut byte = [0];
        let mut first = asked(address).await;
        first.read_exact(&mut byte).await.expect("answered");
        let mut second = asked(address).await;
        assert!(tokio::time::timeout(NO_ANSWER, second.read_exact(&mut byte)).await.is_err(), "answered too early");
        drop(first);
        let answered = tokio::time::timeout(HEADER_TIMEOUT, second.read_exact(&mut byte)).await;
        answered.expect("in time").expect("answered");
        serving.abort();
    }
}
