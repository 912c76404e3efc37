//! `procession dev`: the server on this machine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::server::{self, Options};

/// Serves processes at http://ADDRESS/mcp until interrupted. Everything is kept in one folder and survives a crash.
///
/// Requests are logged to standard error as JSON lines. Escalated steps go to the people of the group `operators`, and to
/// whoever has the operator right.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession dev                                     http://127.0.0.1:8484/mcp, everything in .procession
  procession dev --data /srv/processes --listen 127.0.0.1:9000
  procession dev --speed 1440                        a day takes a minute
  procession dev --listen 127.0.0.1:0 --json         a free port, told as one JSON line

Exit codes: 0 interrupted or told to terminate; 1 it cannot start, and why; 2 a wrong command line.")]
pub struct Dev {
    /// Where to listen. Keep it on loopback: the development issuer trusts whoever can read the data folder.
    #[arg(long, default_value = "127.0.0.1:8484")]
    listen: SocketAddr,
    /// Where everything is kept; made when it is missing. One server at a time.
    #[arg(long, default_value = server::DATA)]
    data: PathBuf,
    /// How long a claim lasts, in seconds of the server's clock; 600 times the speed when left out, so ten minutes of real
    /// time.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    lease_seconds: Option<u64>,
    /// Runs the server's clock this many times as fast, to rehearse a long process in minutes. The clock of a folder never
    /// goes back: take a folder of its own for a rehearsal.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    speed: u32,
    /// The organization of tokens that `procession token` makes here when it is not told one.
    #[arg(long, default_value = server::ORG)]
    org: String,
    /// Takes the tokens of other issuers too: a JSON file {"issuers": [{"issuer": …, "audiences": […]}]}, as the README
    /// describes it.
    #[arg(long, value_name = "FILE")]
    issuers: Option<PathBuf>,
    /// Prints one JSON line when ready, instead of text for people.
    #[arg(long)]
    json: bool,
}

impl Dev {
    /// Serves until interrupted or told to terminate.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let lines = mcp::log::subscriber(std::io::stderr, tracing::level_filters::LevelFilter::INFO);
        tracing::subscriber::set_global_default(lines)?;
        let Dev { listen, data, lease_seconds, speed, org, issuers, json } = self;
        let trusted = issuers.map(|file| issuers_of(&file)).transpose()?.unwrap_or_default();
        let lease_seconds = lease_seconds.unwrap_or(run::Limits::default().lease_seconds * u64::from(speed));
        let running = server::start(Options { listen, data, lease_seconds, speed, org, trusted }).await?;
        let data = running.data.display();
        if json {
            let line =
                serde_json::json!({ "mcp": running.mcp, "issuer": running.issuer.issuer_url(), "data": running.data });
            crate::say!("{line}");
        } else {
            crate::say!("Procession serves processes at {}", running.mcp);
            crate::say!("Everything is kept in {data}");
            if speed > 1 || running.clock_is_ahead() {
                let times = if speed == 1 { "as fast as time".to_owned() } else { format!("{speed} times as fast") };
                crate::say!("The clock here says {}, and runs {times}", running.store.now());
            }
            crate::say!("");
            crate::say!("A token for an agent:    procession token --data {data} --kind agent --subject my-agent");
            crate::say!(
                "A token for a person:    procession token --data {data} --kind person --subject me@example.com"
            );
            crate::say!("… who may also publish:  … --operator\n");
            crate::say!("To add it to an MCP client, for example:");
            crate::say!(
                "  claude mcp add --transport http procession {} --header \"Authorization: Bearer $TOKEN\"\n",
                running.mcp
            );
            crate::say!("Press Ctrl-C to stop. Requests are logged to standard error; 2>/dev/null is quiet.");
        }
        interrupted().await?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The issuers that a configuration file names.
fn issuers_of(file: &std::path::Path) -> anyhow::Result<Vec<identity::IssuerConfig>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let config = identity::Config::from_json(&text).map_err(|problems| {
        anyhow::anyhow!("{}: these issuers cannot be trusted:\n{}", file.display(), problems.join("\n"))
    })?;
    Ok(config.issuers)
}

/// Returns when the process is interrupted or told to terminate.
pub(super) async fn interrupted() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            done = tokio::signal::ctrl_c() => done,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
