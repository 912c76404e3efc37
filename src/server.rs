//! The embedded server: storage, issuer, timers and the endpoint in one process, on one port.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use identity::{HttpFetch, Verifier};
use local::clock::PacedClock;
use local::issuer::Issuer;
use local::timers::{self, Wake};
use local::{Local, LocalOptions};
use mcp::{App, EndpointConfig, ProcessTools};
use serde::{Deserialize, Serialize};
use store::counting::Counting;
use store::table::Table;
use store::{Clock as _, Parts, RandomIds, Seal, SealKey, Settings, Store};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The data folder when none is named.
pub const DATA: &str = ".procession";

/// The organization of tokens when none is named.
pub const ORG: &str = "local";

/// The file of the data folder that says what the last server there was.
const KNOWN: &str = "server.json";

/// How far ahead a clock may be before people are told, in milliseconds.
const AHEAD_MILLIS: i64 = 1_000;

/// How a server is started.
#[derive(Debug, Clone)]
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
    /// The table behind the store, which counts what it is asked.
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
}

impl Running {
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
    let Options { listen, data, lease_seconds, speed, org } = options;
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
    let table = Arc::new(Counting::new(local.table()));
    let store = Arc::new(Store::new(Parts {
        table: Arc::clone(&table) as Arc<dyn Table>,
        files: local.files(),
        clock: Arc::new(clock),
        ids: Arc::new(RandomIds),
        alarms: wake.clone(),
        seal,
        settings: Settings { limits, ..Settings::default() },
    }));

    let trusted = issuer.config(&format!("{base}{}", local::issuer::JWKS_PATH));
    let verifier = Verifier::new(trusted, Arc::new(HttpFetch::new())).map_err(|p| anyhow!(p.join("\n")))?;
    let tools = ProcessTools::new(Arc::clone(&store)).map_err(|e| anyhow!(e))?;
    let config = EndpointConfig {
        authorization_servers: vec![issuer.issuer_url()],
        loopback_origins: true,
        ..EndpointConfig::new(&mcp)
    };
    config.check().map_err(|p| anyhow!(p.join("\n")))?;
    let app = Arc::new(App { config, verifier, tools: Arc::new(tools) });
    let router = mcp::router(app).merge(local.links()).merge(issuer.router(&base));

    let serving = tokio::spawn(async move {
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Answers are small; waiting to fill a packet would cost each of them a delayed acknowledgement.
            let _ = stream.set_nodelay(true);
        });
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(%error, "the server stopped");
        }
    });
    let ticking = tokio::spawn(timers::run(Arc::clone(&store), wake, speed));
    Ok(Running { mcp, issuer, data, store, table, tasks: vec![serving, ticking] })
}
