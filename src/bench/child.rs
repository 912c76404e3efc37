//! The server under test: this very program in a process of its own, and what the system says about a process.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Longest that the server may take to start, in seconds.
const START_SECONDS: u64 = 30;

/// Ticks of processor time a second in `/proc`; the same on every Linux.
const TICKS_A_SECOND: f64 = 100.0;

/// A running server. It is killed when this is dropped.
pub(super) struct Server {
    child: Child,
    /// Its endpoint.
    pub(super) mcp: String,
}

#[derive(Deserialize)]
struct Ready {
    mcp: String,
}

impl Server {
    /// Starts a server that keeps everything in `dir`.
    pub(super) async fn start(dir: &Path) -> anyhow::Result<Server> {
        let log = dir.join("log");
        // The log goes where a server's log goes, so that writing it is part of what is measured.
        let lines = std::fs::File::create(&log).with_context(|| log.display().to_string())?;
        let program = std::env::current_exe().context("this program's own file cannot be found")?;
        let mut child = Command::new(program)
            .args(["dev", "--json", "--listen", "127.0.0.1:0", "--data"])
            .arg(dir.join("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(lines)
            .kill_on_drop(true)
            .spawn()
            .context("the server cannot be started")?;
        let output = child.stdout.take().context("the server's output is not ours")?;
        let mut lines = BufReader::new(output).lines();
        let first = tokio::time::timeout(Duration::from_secs(START_SECONDS), lines.next_line()).await;
        let Ok(Ok(Some(line))) = first else {
            bail!("the server did not start: {}", std::fs::read_to_string(&log).unwrap_or_default().trim());
        };
        let ready: Ready = serde_json::from_str(&line).with_context(|| format!("the server said {line}"))?;
        Ok(Server { child, mcp: ready.mcp })
    }

    /// Processor time that it used so far, in milliseconds.
    pub(super) fn cpu_ms(&self) -> Option<f64> {
        cpu_ms(&self.child.id()?.to_string())
    }

    /// Most memory that it ever held, in bytes.
    pub(super) fn peak_memory_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
    }

    /// Ends it, and returns when it is gone.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("the server cannot be ended")
    }
}

/// Processor time of a process so far, in milliseconds; nothing where the system does not tell it in `/proc`.
pub(super) fn cpu_ms(process: &str) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything; after it, user and system time are the 12th and 13th fields.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_A_SECOND * 1e3)
}

/// How many tasks want to run on this machine, averaged over a minute.
pub(super) fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}
