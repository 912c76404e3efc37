//! The servers under test: started from the command, each on a free port of loopback with a folder of its own, or one
//! that somebody else runs.
//!
//! No server outlives this program: a shell stands guard over each, and kills it as soon as its own standard input ends,
//! which it does when the server is stopped, and however this program ends.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use local::issuer::{Issuer, TokenRequest};
use serde_json::Value;
use tempfile::TempDir;

use super::{Identity, evaluator};

/// Starts the server, tells its process id, and kills it when standard input ends.
const GUARD: &str = r#"
"$@" &
server=$!
echo "$server"
exec >&-
cat >/dev/null
kill -9 "$server" 2>/dev/null
wait "$server"
"#;

/// How long a lease lasts on [`Server::brief`], in seconds: long enough for a few calls on a busy machine.
pub const BRIEF_SECONDS: u64 = 2;

/// How a server is started.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub lease_seconds: u64,
    pub speed: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { lease_seconds: 600, speed: 1 }
    }
}

/// Whom a server asks about submissions (profile check-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// The evaluator of this suite.
    Endpoint,
    /// The same, with this key, which it does not take.
    WithKey(&'static str),
    /// Nobody, so that the profile is not offered.
    Nobody,
}

/// A server under test.
pub struct Server {
    place: Place,
}

enum Place {
    Own { folder: TempDir, running: Mutex<Option<Running>>, issuer: OnceLock<Issuer> },
    Remote { mcp: String, token_command: String },
}

struct Running {
    mcp: String,
    guard: Child,
    /// Dropping it ends the server.
    alive: Option<ChildStdin>,
}

static SHARED: OnceLock<Arc<Server>> = OnceLock::new();
static FAST: OnceLock<Arc<Server>> = OnceLock::new();
static BRIEF: OnceLock<Arc<Server>> = OnceLock::new();

/// Whether the suite is aimed at a server that it did not start.
pub fn is_remote() -> bool {
    std::env::var_os("PROCESSION_URL").is_some()
}

/// Every server that was started and may still run.
static STARTED: Mutex<Vec<Weak<Server>>> = Mutex::new(Vec::new());

/// Stops all servers, and removes their folders.
pub fn stop_servers() {
    let started = std::mem::take(&mut *STARTED.lock().unwrap_or_else(|e| e.into_inner()));
    for server in started.iter().filter_map(Weak::upgrade) {
        server.kill();
        if let Place::Own { folder, .. } = &server.place {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

impl Server {
    /// The server that all scenarios share which can run on any.
    pub fn shared() -> Arc<Server> {
        let make = || match std::env::var("PROCESSION_URL") {
            Ok(mcp) => {
                let token_command = std::env::var("PROCESSION_TOKEN_COMMAND")
                    .expect("PROCESSION_TOKEN_COMMAND: name the command that makes tokens for PROCESSION_URL");
                Arc::new(Server { place: Place::Remote { mcp, token_command } })
            }
            Err(_) => Server::start(Options::default()),
        };
        SHARED.get_or_init(make).clone()
    }

    /// A server on which an hour takes a second; a lease lasts a day there.
    pub fn fast() -> Arc<Server> {
        FAST.get_or_init(|| Server::start(Options { lease_seconds: 86_400, speed: 3_600 })).clone()
    }

    /// A server on which a lease lasts two seconds.
    pub fn brief() -> Arc<Server> {
        BRIEF.get_or_init(|| Server::start(Options { lease_seconds: BRIEF_SECONDS, speed: 1 })).clone()
    }

    /// Starts a server in a new folder.
    pub fn start(options: Options) -> Arc<Server> {
        Server::start_asking(options, Asks::Endpoint)
    }

    /// Starts a server in a new folder that asks this evaluator.
    pub fn start_asking(options: Options, asks: Asks) -> Arc<Server> {
        let folder = TempDir::with_prefix("procession-blackbox-").unwrap();
        let server = Server { place: Place::Own { folder, running: Mutex::new(None), issuer: OnceLock::new() } };
        server.restart_asking(options, asks);
        let server = Arc::new(server);
        STARTED.lock().unwrap().push(Arc::downgrade(&server));
        server
    }

    /// The folder that the server keeps everything in.
    pub fn data(&self) -> PathBuf {
        match &self.place {
            Place::Own { folder, .. } => folder.path().join("data"),
            Place::Remote { .. } => panic!("this scenario needs a server of its own"),
        }
    }

    /// What the server wrote to standard error so far.
    pub fn log(&self) -> String {
        match &self.place {
            Place::Own { folder, .. } => std::fs::read_to_string(folder.path().join("log")).unwrap(),
            Place::Remote { .. } => panic!("this scenario needs a server of its own"),
        }
    }

    /// Kills the server without warning, as `kill -9` does, and returns when it is gone.
    pub fn kill(&self) {
        let Place::Own { running, .. } = &self.place else { return };
        if let Some(mut running) = running.lock().unwrap_or_else(|e| e.into_inner()).take() {
            running.alive.take();
            let _ = running.guard.wait();
        }
    }

    /// Starts the server on its folder, after killing the one that runs there.
    pub fn restart(&self, options: Options) {
        self.restart_asking(options, Asks::Endpoint);
    }

    /// The same, asking this evaluator.
    pub fn restart_asking(&self, options: Options, asks: Asks) {
        self.kill();
        let Place::Own { folder, running, .. } = &self.place else { panic!("this scenario needs a server of its own") };
        let log = std::fs::File::options().create(true).append(true).open(folder.path().join("log")).unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", GUARD, "guard", env!("CARGO_BIN_EXE_procession"), "dev", "--json"])
            .args(["--listen", "127.0.0.1:0", "--org", "blackbox", "--data"])
            .arg(self.data())
            .args(["--lease-seconds", &options.lease_seconds.to_string(), "--speed", &options.speed.to_string()]);
        let endpoint = evaluator::endpoint();
        let key = match asks {
            Asks::Endpoint => Some(endpoint.key.as_str()),
            Asks::WithKey(key) => Some(key),
            Asks::Nobody => None,
        };
        if let Some(key) = key {
            command.args(["--evaluator", &endpoint.url, "--evaluator-model", evaluator::MODEL]);
            command.env(evaluator::KEY_VARIABLE, key);
        } else {
            command.env_remove(evaluator::KEY_VARIABLE);
        }
        let mut guard = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let alive = guard.stdin.take();
        let lines = BufReader::new(guard.stdout.take().unwrap()).lines();
        // The guard's line and the server's may come in either order.
        let ready = lines.map_while(Result::ok).find(|line| line.starts_with('{'));
        let Some(ready) = ready else {
            drop(alive);
            let _ = guard.wait();
            panic!("the server did not start:\n{}", self.log());
        };
        let ready: Value = serde_json::from_str(&ready).unwrap();
        let mcp = ready["mcp"].as_str().unwrap().to_owned();
        *running.lock().unwrap() = Some(Running { mcp, guard, alive });
    }

    /// The endpoint's address, while the server runs.
    pub fn try_mcp(&self) -> Option<String> {
        match &self.place {
            Place::Own { running, .. } => running.lock().unwrap().as_ref().map(|r| r.mcp.clone()),
            Place::Remote { mcp, .. } => Some(mcp.clone()),
        }
    }

    /// The endpoint's address.
    pub fn mcp(&self) -> String {
        self.try_mcp().expect("the server runs")
    }

    /// The address without the endpoint's path.
    pub fn base(&self) -> String {
        self.mcp().trim_end_matches("/mcp").to_owned()
    }

    /// A bearer token for this identity. Of a server of our own it is made in this process, as the command would: that is
    /// quicker, and there are hundreds.
    pub fn token(&self, identity: &Identity) -> String {
        match &self.place {
            Place::Own { issuer, .. } => {
                let issuer = issuer.get_or_init(|| Issuer::open(&self.data()).unwrap());
                let kind = if identity.kind == "agent" { identity::Kind::Agent } else { identity::Kind::Person };
                let Identity { subject, org, groups, operator, person, .. } = identity.clone();
                let ttl = Duration::from_secs(3_600);
                issuer.token(&TokenRequest { kind, subject, org, groups, operator, person, ttl }).unwrap()
            }
            Place::Remote { token_command, .. } => {
                let script = format!("{token_command} \"$@\"");
                made(Command::new("sh").args(["-c", &script, "token"]), identity)
            }
        }
    }

    /// The same, made by the command.
    pub fn token_by_command(&self, identity: &Identity) -> String {
        made(Command::new(env!("CARGO_BIN_EXE_procession")).arg("token").arg("--data").arg(self.data()), identity)
    }
}

/// The token that a command prints.
fn made(command: &mut Command, identity: &Identity) -> String {
    let output = command.args(identity.arguments()).output().unwrap();
    assert!(output.status.success(), "no token: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
