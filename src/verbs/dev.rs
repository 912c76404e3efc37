//! `procession dev`: the server on this machine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;

use crate::server::{self, Options};

/// Where the key to the evaluator's model is read from.
const KEY_VARIABLE: &str = "PROCESSION_EVALUATOR_KEY";

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
  procession dev --evaluator http://127.0.0.1:11434/v1 --evaluator-model qwen3:8b
      a model on this machine answers checks; for one elsewhere put its key in PROCESSION_EVALUATOR_KEY

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
    /// Asks a language model the questions of checks: the base URL of an OpenAI-compatible API, or bedrock:MODEL with the
    /// usual AWS settings. Its key, if it takes one, is read from the environment: PROCESSION_EVALUATOR_KEY.
    #[arg(long, value_name = "URL")]
    evaluator: Option<String>,
    /// The model to ask, as that API knows it.
    #[arg(long, value_name = "NAME", requires = "evaluator")]
    evaluator_model: Option<String>,
    /// How long the model may take for all questions of one submission, in seconds. It is asked once more when it fails.
    #[arg(long, value_name = "SECONDS", default_value_t = evaluator::TIMEOUT_SECONDS, requires = "evaluator",
        value_parser = clap::value_parser!(u64).range(1..=evaluator::MOST_SECONDS))]
    evaluator_seconds: u64,
    /// Prints one JSON line when ready, instead of text for people.
    #[arg(long)]
    json: bool,
}

impl Dev {
    /// Serves until interrupted or told to terminate.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let lines = logs::subscriber(std::io::stderr, tracing::level_filters::LevelFilter::INFO);
        tracing::subscriber::set_global_default(lines)?;
        let Dev {
            listen,
            data,
            lease_seconds,
            speed,
            org,
            issuers,
            evaluator,
            evaluator_model,
            evaluator_seconds,
            json,
        } = self;
        let trusted = issuers.map(|file| issuers_of(&file)).transpose()?.unwrap_or_default();
        let lease_seconds = lease_seconds.unwrap_or(run::Limits::default().lease_seconds * u64::from(speed));
        let asked = evaluator.map(|url| asked(&url, evaluator_model.as_deref(), evaluator_seconds)).transpose()?;
        let evaluator = match &asked {
            Some((config, key)) => Some(evaluator::connect(config.clone(), key.clone()).await.map_err(unaskable)?),
            None => None,
        };
        let options = Options { listen, data, lease_seconds, speed, org, trusted, evaluator };
        let running = server::start(options).await?;
        let ended = interrupted()?;
        let data = running.data.display();
        if json {
            let evaluator = asked.map(|(config, _)| serde_json::json!({ "model": config.model, "at": config.place() }));
            let line = serde_json::json!({
                "mcp": running.mcp,
                "issuer": running.issuer.issuer_url(),
                "data": running.data,
                "evaluator": evaluator,
            });
            terminal::say!("{line}");
        } else {
            terminal::say!("Procession serves processes at {}", running.mcp);
            terminal::say!("Everything is kept in {data}");
            if speed > 1 || running.clock_is_ahead() {
                let times = if speed == 1 { "as fast as time".to_owned() } else { format!("{speed} times as fast") };
                terminal::say!("The clock here says {}, and runs {times}", running.store.now());
            }
            if let Some((config, _)) = &asked {
                terminal::say!("Checks are answered by {config}");
            }
            terminal::say!("");
            terminal::say!("A token for an agent:    procession token --data {data} --kind agent --subject my-agent");
            terminal::say!(
                "A token for a person:    procession token --data {data} --kind person --subject me@example.com"
            );
            terminal::say!("… who may also publish:  … --operator\n");
            terminal::say!("To add it to an MCP client, for example:");
            terminal::say!(
                "  claude mcp add --transport http procession {} --header \"Authorization: Bearer $TOKEN\"\n",
                running.mcp
            );
            terminal::say!("Press Ctrl-C to stop. Requests are logged to standard error; 2>/dev/null is quiet.");
        }
        ended.await?;
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

/// The model that answers checks, and the key to it.
fn asked(
    url: &str,
    model: Option<&str>,
    seconds: u64,
) -> anyhow::Result<(evaluator::Config, Option<evaluator::Secret>)> {
    let config = evaluator::Config::from_url(url, model).map_err(unaskable)?;
    let config = evaluator::Config { timeout_seconds: seconds, ..config };
    // Never from the command line, which other users of the machine can read.
    let key = match std::env::var(KEY_VARIABLE) {
        Ok(text) => evaluator::Secret::new(&text),
        Err(std::env::VarError::NotPresent) => None,
        Err(std::env::VarError::NotUnicode(_)) => anyhow::bail!("{KEY_VARIABLE}: is not text"),
    };
    Ok((config, key))
}

fn unaskable(problems: evaluator::Problems) -> anyhow::Error {
    anyhow::anyhow!("the model of --evaluator and --evaluator-model cannot be asked:\n{problems}")
}

/// What ends when the process is interrupted or told to terminate. Both are heard from the call on, not from the first
/// wait: whoever was told that the server is ready may end it at once.
pub(super) fn interrupted() -> std::io::Result<impl Future<Output = std::io::Result<()>>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => Ok(()),
                _ = terminate.recv() => Ok(()),
            }
        })
    }
    #[cfg(not(unix))]
    Ok(tokio::signal::ctrl_c())
}
