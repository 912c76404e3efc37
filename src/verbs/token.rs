//! `procession token`: a token of the development issuer.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use local::issuer::{Issuer, TokenRequest};

use crate::server::Known;

/// Prints a bearer token that the server on this data folder accepts. Anyone who can read the folder can make one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  procession token --kind agent --subject screener
  procession token --kind person --subject frida@example.com --group g_finance --ttl 8h
  procession token --kind agent --subject pipeline --operator        may import, publish and cancel, never decide

Exit codes: 0 printed; 1 the folder is no server's, or the request is not right; 2 a wrong command line.")]
pub struct Token {
    /// The server's data folder.
    #[arg(long, default_value = crate::server::DATA)]
    data: PathBuf,
    /// A program, or a person.
    #[arg(long, value_enum)]
    kind: TokenKind,
    /// Who it is for: what runs record under `by`. For a person an e-mail address is best, since run data names people so.
    #[arg(long)]
    subject: String,
    /// The organization; the server's own when left out.
    #[arg(long)]
    org: Option<String>,
    /// A group the subject is a member of. Repeat it for more.
    #[arg(long = "group")]
    groups: Vec<String>,
    /// Gives the operator right: import, publish, cancel, and for a person the escalations. People of the group `operators`
    /// get escalations too, and nothing else of it.
    #[arg(long)]
    operator: bool,
    /// The person value, when it is not the subject.
    #[arg(long)]
    person: Option<String>,
    /// How long it is good for: a number and s, m, h or d.
    #[arg(long, default_value = "1h", value_parser = ttl)]
    ttl: Duration,
}

/// A program, or a person.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TokenKind {
    /// A program.
    Agent,
    /// A human identity.
    Person,
}

impl Token {
    /// Prints the token.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let known = Known::read(&self.data);
        if known.is_none() && !self.data.is_dir() {
            bail!(
                "{}: no such data folder. Start `procession dev --data {0}` first, or name the folder it uses.",
                self.data.display()
            );
        }
        let issuer = Issuer::open(&self.data).with_context(|| format!("the issuer of {}", self.data.display()))?;
        let org = self.org.or(known.map(|k| k.org)).unwrap_or_else(|| crate::server::ORG.to_owned());
        let kind = match self.kind {
            TokenKind::Agent => identity::Kind::Agent,
            TokenKind::Person => identity::Kind::Person,
        };
        let token = issuer.token(&TokenRequest {
            kind,
            subject: self.subject,
            org,
            groups: self.groups,
            operator: self.operator,
            person: self.person,
            ttl: self.ttl,
        })?;
        terminal::say!("{token}");
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads `90s`, `30m`, `1h` or `7d`.
fn ttl(text: &str) -> Result<Duration, String> {
    let fault = || format!("`{text}` is not a duration; write a number and s, m, h or d, such as 1h");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        _ => return Err(fault()),
    };
    let number = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
    let number: u64 = number.parse().map_err(|_| fault())?;
    number.checked_mul(unit).filter(|s| *s > 0).map(Duration::from_secs).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::ttl;

    #[test]
    fn durations_have_one_unit() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("1h", 3_600), ("7d", 604_800)] {
            assert_eq!(ttl(text).map(|d| d.as_secs()), Ok(seconds));
        }
        for text in ["", "h", "1", "1w", "-1h", "0s", "1.5h", "é", "99999999999999999999d"] {
            assert!(ttl(text).is_err(), "{text}");
        }
    }
}
